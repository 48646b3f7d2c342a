"""What a model says of documents, as columns of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.model import Model

SCORES = ("none", "best", "all")


@dataclass(frozen=True)
class Columns:
    """Which columns are wanted.

    Attributes
    ----------
    scores : {"none", "best", "all"}
        Whether there is a score of the class that is predicted, or one of every class.
    as_probability : bool
        Whether scores are probabilities.
    separator : str or None
        What is put between the labels of a document that may have several; a list without it.
    """

    scores: str = "none"
    as_probability: bool = False
    separator: str | None = None


def choose_columns(
    model: Model,
    scores: str = "none",
    separator: str | None = None,
    *,
    as_probability: bool = False,
) -> Columns:
    """Return the columns that are asked for; raise where a model has no such scores.

    Probabilities without a word on scores are those of the classes predicted.
    """
    if scores not in SCORES:
        listed = ", ".join(map(repr, SCORES))
        raise ValueError(f"scores must be one of {listed}. Got {scores!r} instead.")
    if as_probability and model.calibration_ is None:
        raise ValueError(
            "probability must be False, as the model has no probabilities. Got True instead."
        )
    scores = "best" if as_probability and scores == "none" else scores
    return Columns(scores, as_probability, separator)


def predict_columns(model: Model, documents: Any, wanted: Columns) -> dict[str, Any]:
    """Return the columns that a model adds to documents: labels, and scores where wanted.

    Parameters
    ----------
    model : Model
        The model.
    documents : list of str, or matrix
        The documents.
    wanted : Columns
        The columns.

    Returns
    -------
    columns : dict of str to list or ndarray
        ``label``; ``score`` of the class predicted, the highest of a multilabel model; or a
        ``score_`` of each class. Probabilities are called ``probability``.
    """
    scores = model.decision_function(documents)
    columns: dict[str, Any] = {"label": _list_labels(model, scores, wanted.separator)}
    if wanted.scores == "none":
        return columns
    name = "probability" if wanted.as_probability else "score"
    table = model.calibrate(scores) if wanted.as_probability else _spread(model, scores)
    if wanted.scores == "all":
        return columns | {
            f"{name}_{label}": table[:, k] for k, label in enumerate(model.classes_.tolist())
        }
    if model.multilabel_:
        return columns | {name: table.max(axis=1)}
    predicted = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
    return columns | {name: table[np.arange(len(table)), predicted]}


def _list_labels(model: Model, scores: NDArray[np.float64], separator: str | None) -> list[Any]:
    decided = model.decide(scores)
    if not model.multilabel_:
        labels: list[Any] = decided.tolist()
        return labels
    names = model.classes_.tolist()
    sets = [[names[k] for k in np.flatnonzero(row)] for row in decided]
    return sets if separator is None else [separator.join(map(str, labels)) for labels in sets]


def _spread(model: Model, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a score for each class, also where one tells two apart."""
    return np.column_stack([-scores, scores]) if model.is_binary_ else scores
