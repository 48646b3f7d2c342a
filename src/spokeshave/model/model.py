"""Model, the content of a model file: it predicts and explains without numba or scikit-learn."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from spokeshave.model.inputs import TextInput, VectorInput, check_vectors
from spokeshave.model.scorers import ShapedScorer, SparseScorer

N_SCORES = 1 << 22  # of a batch of documents, or those of one document if it has more

Found = TypeVar("Found")


class Contribution(NamedTuple):
    """A feature of a document, and its contribution to the score of a class."""

    name: str
    weight: float


@dataclass(frozen=True)
class Explanation:
    """The contributions to the score of one document.

    Attributes
    ----------
    label : object
        The class.
    score : float
        Its score: the sum of the intercept and all contributions.
    intercept : float
        The intercept of the class.
    words : list of Contribution
        The words of largest contribution, positive or negative, largest first.
    n_words : int
        Number of words of the document with a contribution.
    """

    label: Any
    score: float
    intercept: float
    words: list[Contribution]
    n_words: int

    def __str__(self) -> str:
        words = ", ".join(f"{word.name} {word.weight:+.3f}" for word in self.words)
        return f"{self.label} ({self.score:+.3f}): {words or 'no word that the model knows'}"


@dataclass(frozen=True, eq=False)
class Model:
    """A trained model for prediction; `load_model` returns one.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    multilabel_ : bool
        Whether a document can have several classes.
    input : TextInput or VectorInput
        Turns documents into rows of features.
    scorer : SparseScorer or ShapedScorer
        The weights; turns rows into scores.
    thresholds_ : ndarray of shape (n_scores,)
        Decision thresholds; they are already subtracted from the intercepts.
    calibration_ : ndarray of shape (2, n_scores) or None
        Slope and offset of each class's sigmoid.
    provenance : dict
        Origin of the model: data, versions, seed, command.
    """

    classes_: NDArray[Any]
    multilabel_: bool
    input: TextInput | VectorInput
    scorer: SparseScorer | ShapedScorer
    thresholds_: NDArray[np.float64]
    calibration_: NDArray[np.float64] | None
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def feature_names_(self) -> tuple[str, ...]:
        """The words or features of the model."""
        return self.input.names

    @property
    def is_binary_(self) -> bool:
        """Whether there are two classes and one score."""
        return not self.multilabel_ and len(self.classes_) == 2

    def decision_function(self, documents: Any) -> NDArray[np.float64]:
        """Return the score of each document for each class, minus the threshold of the class.

        Parameters
        ----------
        documents : iterable of str, or matrix of shape (n_documents, n_features)
            Raw texts for a model of text, otherwise vectors, dense or sparse.

        Returns
        -------
        scores : ndarray of shape (n_documents, n_classes), or (n_documents,) for two classes
        """
        return _join(map_scores(self, documents, lambda scores: scores))

    def predict(self, documents: Any) -> NDArray[Any]:
        """Return the class of the highest score, or for multilabel models all positive classes.

        Parameters
        ----------
        documents : iterable of str, or matrix of shape (n_documents, n_features)
            Raw texts for a model of text, otherwise vectors, dense or sparse.

        Returns
        -------
        labels : ndarray of shape (n_documents,), or indicator matrix (n_documents, n_classes)
        """
        return _join(map_scores(self, documents, lambda scores: decide(self, scores)))

    def predict_proba(self, documents: Any) -> NDArray[np.float64]:
        """Return the probability of each class by Platt's sigmoid.

        Parameters
        ----------
        documents : iterable of str, or matrix of shape (n_documents, n_features)
            Raw texts for a model of text, otherwise vectors, dense or sparse.

        Returns
        -------
        probabilities : ndarray of shape (n_documents, n_classes)
            For multilabel models, each class separately; otherwise rows sum to one.
        """
        return _join(map_scores(self, documents, lambda scores: calibrate(self, scores)))

    def explain(self, document: Any, label: Any = None, n_words: int = 10) -> Explanation:
        """Return the words that contribute most to the score of a document.

        Parameters
        ----------
        document : str, or vector of shape (n_features,)
            One document.
        label : object, optional
            The class to explain; by default the class of the highest score.
        n_words : int, default=10
            Largest number of words to list.

        Returns
        -------
        explanation : Explanation
        """
        is_text = isinstance(self.input, TextInput)
        documents = [document] if is_text else np.reshape(check_vectors(document), (1, -1))
        rows = self.input.read(next(iter(self.input.split(documents))))
        scores = self.scorer.score(rows)[0]
        k, sign = self._find_score(scores, label)
        contribution = sign * self.scorer.contribute(rows, k)
        order = np.argsort(-np.abs(contribution), kind="stable")
        found = [
            Contribution(self.feature_names_[rows.features[i]], float(contribution[i]))
            for i in order
            if contribution[i]
        ]
        return Explanation(
            label=self.classes_.tolist()[int(sign > 0) if self.is_binary_ else k],
            score=float(sign * scores[k]),
            intercept=float(sign * self.scorer.intercept[k]),
            words=found[:n_words],
            n_words=len(found),
        )

    def _find_score(self, scores: NDArray[np.float64], label: Any) -> tuple[int, int]:
        """Return the column of a class's score, and -1 if it is the score of the other class."""
        if label is None:
            return (0, 1 if scores[0] > 0 else -1) if self.is_binary_ else (int(scores.argmax()), 1)
        names = self.classes_.tolist()
        if label not in names:
            listed = ", ".join(repr(name) for name in names[:10])
            raise ValueError(
                f"label must be a class of the model: {listed}. Got {label!r} instead."
            )
        number = names.index(label)
        return (0, 2 * number - 1) if self.is_binary_ else (number, 1)


def map_scores(
    model: Model, documents: Any, find: Callable[[NDArray[np.float64]], Found]
) -> list[Found]:
    """Return what a function finds for the scores of each batch of documents.

    The first batch has no documents. The scores of a batch are dropped when it is done, so that
    those of all documents for all of very many classes are never in memory at once.
    """
    n_scores = len(model.scorer.intercept)

    def find_batch(batch: Any) -> Found:
        return find_scored(model.scorer.score(model.input.read(batch)))

    def find_scored(scores: NDArray[np.float64]) -> Found:
        return find(scores[:, 0] if model.is_binary_ else scores)

    found = [find_scored(np.zeros((0, n_scores)))]
    batches = model.input.split(documents, max(1, N_SCORES // n_scores))
    if "numba" in sys.modules:
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            found.extend(threads.map(find_batch, batches))
    else:  # without kernels, threads would wait for the interpreter lock
        found.extend(map(find_batch, batches))
    return found


def _join(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the parts as one array; each is dropped once it is copied."""
    whole = np.empty((sum(map(len, parts)), *parts[0].shape[1:]), parts[0].dtype)
    start = 0
    parts.reverse()
    while parts:
        part = parts.pop()
        whole[start : start + len(part)] = part
        start += len(part)
    return whole


def decide(model: Model, scores: NDArray[np.float64]) -> NDArray[Any]:
    """Return the predictions of `Model.predict` for documents with these scores."""
    if model.multilabel_:
        return (scores > 0).astype(int)
    best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
    return np.asarray(model.classes_[best])


def calibrate(model: Model, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities of `Model.predict_proba` for documents with these scores."""
    if model.calibration_ is None:
        raise ValueError(
            "The model was saved without probabilities: train it with probability=True."
        )
    slope, offset = model.calibration_
    # Logarithms, because the probabilities of a document can all underflow to zero.
    logarithm = -np.logaddexp(0, -(scores.reshape(len(scores), slope.size) * slope + offset))
    if model.is_binary_:
        probability = np.exp(logarithm[:, 0])
        return np.column_stack([1 - probability, probability])
    if model.multilabel_:
        return np.asarray(np.exp(logarithm))
    share = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
    return np.asarray(share / share.sum(axis=1, keepdims=True))
