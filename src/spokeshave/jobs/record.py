"""The record of a run: everything that a report shows, as one JSON file.

A report computes nothing from it. Unknown values are None.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from math import isfinite, nan
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

FORMAT, VERSION = "spokeshave run", 1
ADDED = "trials", "precision_at_k"  # fields that the first records of the version lack

Numbers: TypeAlias = list[float | None]
Table: TypeAlias = list[list[float | None]]  # classes x cuts
Kind: TypeAlias = Literal["labels", "multilabel"]


@dataclass(frozen=True)
class Making:
    """The command of a run, when it finished (UTC), the seconds of each step, and the versions."""

    command: str
    finished: str
    seconds: dict[str, float]
    versions: dict[str, str]
    seed: int | None


@dataclass(frozen=True)
class Data:
    """The documents; ``unit`` is the name of their features: words, or features.

    ``source`` is a name, ``read`` the format and columns, ``fingerprint`` a digest of the documents
    and their labels. ``per_document`` is the mean number of features in a document.
    """

    source: str
    read: str
    fingerprint: str
    kind: Kind
    unit: str
    n_documents: int
    n_features: int
    per_document: float
    n_skipped: int
    test_source: str | None
    n_test: int | None


@dataclass(frozen=True)
class ClassRecord:
    """A class and how many training documents it has."""

    name: str
    n_documents: int


@dataclass(frozen=True)
class MeasureRecord:
    """A measure at every cut: averages, their standard errors if there are folds, and classes."""

    macro: Numbers
    micro: Numbers
    macro_error: Numbers | None
    micro_error: Numbers | None
    classes: Table


@dataclass(frozen=True)
class CurveRecord:
    """Quality at every cut by one method.

    ``names`` are the classes of the rows: all of them, or the second of two. ``n_features`` are
    those that the model of each cut would keep (classes x cuts). ``measures`` have names: auc,
    best_f1, f1, accuracy, precision_at_20, and label_f1 for single labels.
    """

    method: str
    by: str
    evaluated_on: str
    n_folds: int
    names: list[str]
    fractions: list[float]
    n_features: list[list[int]]
    measures: dict[str, MeasureRecord]
    seconds: float
    fit_seconds: float


@dataclass(frozen=True)
class CutsRecord:
    """The cost of each cut of the first curve: an entry per cut.

    ``n_features`` that any class keeps, ``n_weights`` of all classes, ``n_bytes`` of a model file,
    estimated but for the chosen cut, and mean number of the features in a document
    (``per_document``).
    """

    n_features: list[int]
    n_weights: list[int]
    n_bytes: list[int]
    per_document: list[float]


@dataclass(frozen=True)
class ChoiceRecord:
    """The chosen cut of the first curve, and the best one; both are indices of cuts."""

    measure: str
    average: str
    rule: str
    index: int
    value: float
    error: float | None
    best_index: int
    best_value: float
    evaluated_on: str


@dataclass(frozen=True)
class WordRecord:
    """A feature of a class: its weight in the model file, and its rank from 0."""

    name: str
    weight: float
    rank: int


@dataclass(frozen=True)
class EdgeRecord:
    """The last features that a cut keeps, the weakest last, and the first ones that it drops."""

    stay: list[str]
    go: list[str]


@dataclass(frozen=True)
class WordsRecord:
    """Words of one row of the curve: the strongest for and against, and the edge of each cut.

    Words are sorted by weight, strongest first. A word is kept at a cut if its rank is below the
    number of features that the class keeps.
    """

    name: str
    positive: list[WordRecord]
    negative: list[WordRecord]
    edges: list[EdgeRecord]


@dataclass(frozen=True)
class EvaluationRecord:
    """Measures of a model on documents that it was not trained on; ``classes`` has F1 scores.

    ``precision_at_k`` has the precision among the k labels of highest score, by k, if documents can
    have several labels.
    """

    judged_on: str
    n_documents: int
    accuracy: float
    macro_f1: float
    micro_f1: float
    classes: dict[str, float]
    precision_at_k: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelRecord:
    """A model: how it was trained, its size, and its evaluation if there is one."""

    made_by: str
    n_features: int
    n_weights: int
    per_document: float
    n_bytes: int | None
    judgement: EvaluationRecord | None


@dataclass(frozen=True)
class ShapeRecord:
    """The images of the values of a feature for a class, and the documents with each value.

    ``values`` are names if ``is_nominal``. ``sizes`` are documents with each value, and
    ``positives`` are documents of the class among them. ``zero`` and ``n_zero`` are the image and
    the documents of the bin of zeros.
    """

    class_name: str
    feature: str
    is_nominal: bool
    values: list[float | str]
    images: list[float]
    sizes: list[int]
    positives: list[int]
    zero: float
    n_zero: int
    weight: float


@dataclass(frozen=True)
class StabilityRecord:
    """Comparison of masked and retrained SVMs at each cut of a curve.

    ``macro`` and ``classes`` (classes x cuts) hold the measures by name: cosine, pearson, overlap,
    containment.
    """

    names: list[str]
    fractions: list[float]
    macro: dict[str, Numbers]
    classes: dict[str, Table]


@dataclass(frozen=True)
class TrialRecord:
    """A representation and an SVM in words, and their score by cross-validation.

    ``error`` is the standard error of the score; ``is_chosen`` marks the trial that won.
    """

    terms: str
    weighting: str
    prior_strength: float
    loss: str
    C: float
    n_documents: int
    n_features: int
    score: float
    error: float
    seconds: float
    is_chosen: bool
    class_weight: str | None = None


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """A finished run. The cut is chosen from the first curve."""

    title: str
    headline: str
    making: Making
    data: Data
    settings: dict[str, str]
    classes: list[ClassRecord]
    trials: list[TrialRecord] = field(default_factory=list)
    curves: list[CurveRecord] = field(default_factory=list)
    cuts: CutsRecord | None = None
    choice: ChoiceRecord | None = None
    words: list[WordsRecord] = field(default_factory=list)
    model: ModelRecord
    full_model: ModelRecord | None = None
    shapes: list[ShapeRecord] = field(default_factory=list)
    stability: StabilityRecord | None = None


def pack_record(record: RunRecord) -> bytes:
    """Return the bytes of the file of a record, which is JSON."""
    content = {"format": FORMAT, "version": VERSION, **_plain(asdict(record))}
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def read_record(path: str | Path) -> RunRecord:
    """Read a record; raise ValueError, which names the file, if it is not one."""
    try:
        content = json.loads(Path(path).read_bytes())
    except FileNotFoundError:
        raise ValueError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise ValueError(f"{path}: this is a folder; name a run record in it") from None
    except OSError as error:
        raise ValueError(f"{path}: it cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise ValueError(f"{path}: this is not a run record, which is a JSON file") from None
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise ValueError(f"{path}: this is not a run record; spokeshave fit writes one")
    version = content.pop("version", None)
    if type(version) is not int or version < 1:
        raise ValueError(f"{path}: the run record is damaged; its version is {version!r}")
    if version > VERSION:
        raise ValueError(
            f"{path}: the run record is of version {version}, newer than this Spokeshave, which "
            f"reads up to {VERSION}; upgrade Spokeshave"
        )
    try:
        record: RunRecord = _build(RunRecord, content, "record")
    except _Mismatch as mismatch:
        raise ValueError(f"{path}: the run record is damaged; {mismatch}") from None
    return record


class _Mismatch(Exception):
    """A part of a record does not match its type."""


def _plain(value: Any) -> Any:
    """Return a JSON value: numbers rounded to seven digits, None if they are not finite."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.7g}") if isfinite(value) else None
    return value


def _build(kind: Any, value: Any, where: str) -> Any:
    """Return the value as the type of a type hint."""
    if is_dataclass(kind):
        return _build_dataclass(kind, value, where)
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _build_union(parts, value, where)
    if origin is list and isinstance(value, list):
        return [_build(parts[0], part, f"{where}[{i}]") for i, part in enumerate(value)]
    if origin is dict and isinstance(value, dict):
        return {key: _build(parts[1], part, f"{where}.{key}") for key, part in value.items()}
    if origin is Literal and value in parts:
        return value
    if kind is float and isinstance(value, int | float | None) and not isinstance(value, bool):
        return nan if value is None else float(value)
    if kind is NoneType and value is None:
        return None
    if kind in (str, int, bool) and type(value) is kind:
        return value
    raise _Mismatch(f"{where} is not of the right kind")


def _build_dataclass(kind: Any, value: Any, where: str) -> Any:
    hints, names = get_type_hints(kind), [each.name for each in fields(kind)]
    needed = set(names) - set(ADDED)
    if not isinstance(value, dict) or not needed <= set(value) <= set(names):
        raise _Mismatch(f"{where} must hold {', '.join(names)}")
    return kind(**{name: _build(hints[name], value[name], f"{where}.{name}") for name in value})


def _build_union(parts: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and NoneType in parts:
        return None
    for part in parts:
        try:
            return _build(part, value, where)
        except _Mismatch:
            continue
    raise _Mismatch(f"{where} is not of the right kind")
