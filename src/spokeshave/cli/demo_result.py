"""What the demo found: plain numbers and words, ready for a page or for JSON."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CurveResult:
    """Quality at every cut, by cross-validation on the training documents."""

    n_folds: int
    fractions: list[float]
    mean_words: list[float]
    macro_best_f1: list[float]
    standard_errors: list[float]
    seconds: float
    fit_seconds: float


@dataclass(frozen=True)
class ChoiceResult:
    """The cut that was chosen, and the best one; indexes are places in the curve."""

    index: int
    fraction: float
    mean_words: float
    value: float
    standard_error: float
    best_index: int
    best_fraction: float
    best_value: float
    evaluated_on: str


@dataclass(frozen=True)
class ModelResult:
    """How well a model does on the held-out documents, and the words and weights it uses."""

    accuracy: float
    macro_f1: float
    n_features: int
    n_weights: int


@dataclass(frozen=True)
class DemoResult:
    """The documents, the curve and the choice, both models, and what each step took."""

    n_train: int
    n_test: int
    n_classes: int
    n_features: int
    words_per_document: float
    n_support: int
    relative_gap: float
    curve: CurveResult
    choice: ChoiceResult
    full: ModelResult
    shaved: ModelResult
    seconds: dict[str, float]
    strongest_words: dict[str, list[str]]
