"""The model that a file holds: it predicts and explains, and needs neither numba nor training."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spokeshave.model.inputs import TextInput, VectorInput
from spokeshave.model.scorers import ShapedScorer, SparseScorer


class Contribution(NamedTuple):
    """A feature of a document, and what it adds to the score of a class."""

    name: str
    weight: float


@dataclass(frozen=True)
class Explanation:
    """Why a document has the score that it has.

    Attributes
    ----------
    label : object
        The class.
    score : float
        Its score: the intercept and all contributions.
    intercept : float
        What the class begins with.
    words : list of Contribution
        The words that decided, the strongest first, for the class or against it.
    n_words : int
        How many words of the document the class looks at.
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
    """A trained model, ready to predict; `load_model` makes one.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    multilabel_ : bool
        Whether a document may be of several.
    input : TextInput or VectorInput
        What it reads.
    scorer : SparseScorer or ShapedScorer
        Its weights.
    thresholds_ : ndarray of shape (n_scores,)
        The scores above which classes begin; they have been taken off the intercepts.
    calibration_ : ndarray of shape (2, n_scores) or None
        Slope and offset of each class's sigmoid.
    provenance : dict
        Where it comes from: data, versions, seed, command.
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
        """The words or features that the model knows."""
        return self.input.names

    @property
    def is_binary_(self) -> bool:
        """Whether one score tells two classes apart."""
        return not self.multilabel_ and len(self.classes_) == 2

    def decision_function(self, documents: Any) -> NDArray[np.float64]:
        """Return how far the score of each document is above the threshold of each class.

        Parameters
        ----------
        documents : iterable of str, or matrix of shape (n_documents, n_features)
            Raw texts for a model of text, otherwise vectors, dense or sparse.

        Returns
        -------
        scores : ndarray of shape (n_documents, n_classes), or (n_documents,) for two classes
        """
        pieces = self._score_pieces(documents)
        n_scores = len(self.scorer.intercept)
        scores = np.concatenate(pieces) if pieces else np.zeros((0, n_scores))
        return scores[:, 0] if self.is_binary_ else scores

    def predict(self, documents: Any) -> NDArray[Any]:
        """Return the class of the highest score, or every class of a positive score.

        Parameters
        ----------
        documents : iterable of str, or matrix of shape (n_documents, n_features)
            Raw texts for a model of text, otherwise vectors, dense or sparse.

        Returns
        -------
        labels : ndarray of shape (n_documents,), or indicator matrix (n_documents, n_classes)
        """
        return self.decide(self.decision_function(documents))

    def predict_proba(self, documents: Any) -> NDArray[np.float64]:
        """Return the probability of each class by Platt's sigmoid.

        Parameters
        ----------
        documents : iterable of str, or matrix of shape (n_documents, n_features)
            Raw texts for a model of text, otherwise vectors, dense or sparse.

        Returns
        -------
        probabilities : ndarray of shape (n_documents, n_classes)
            Of each class by itself for multilabel models; otherwise they sum to one.
        """
        return self.calibrate(self.decision_function(documents))

    def explain(self, document: Any, label: Any = None, n_words: int = 10) -> Explanation:
        """Return the words that decided, with what each adds to the score.

        Parameters
        ----------
        document : str, or vector of shape (n_features,)
            One document.
        label : object, optional
            The class to explain; the one of the highest score by default.
        n_words : int, default=10
            How many words to list, at most.

        Returns
        -------
        explanation : Explanation
        """
        is_text = isinstance(self.input, TextInput)
        documents = [document] if is_text else np.reshape(document, (1, -1))
        rows = self.input.read(next(iter(self.input.split(documents))))
        scores = self.scorer.score(rows)[0]
        k, sign = self._find_score(scores, label)
        contribution = sign * self.scorer.contribute(rows)[:, k]
        order = np.argsort(-np.abs(contribution), kind="stable")
        found = [
            Contribution(self.feature_names_[rows.features[i]], float(contribution[i]))
            for i in order
            if contribution[i]
        ]
        return Explanation(
            label=self.classes_[int(sign > 0) if self.is_binary_ else k].item(),
            score=float(sign * scores[k]),
            intercept=float(sign * self.scorer.intercept[k]),
            words=found[:n_words],
            n_words=len(found),
        )

    def decide(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Return what `predict` says of documents with these scores."""
        if self.multilabel_:
            return (scores > 0).astype(int)
        best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
        return np.asarray(self.classes_[best])

    def calibrate(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what `predict_proba` says of documents with these scores."""
        if self.calibration_ is None:
            raise ValueError(
                "The model was saved without probabilities: train it with probability=True."
            )
        slope, offset = self.calibration_
        # Logarithms, as every class may be so unlikely that their probabilities add up to zero.
        logarithm = -np.logaddexp(0, -(scores.reshape(len(scores), slope.size) * slope + offset))
        if self.is_binary_:
            probability = np.exp(logarithm[:, 0])
            return np.column_stack([1 - probability, probability])
        if self.multilabel_:
            return np.asarray(np.exp(logarithm))
        share = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
        return np.asarray(share / share.sum(axis=1, keepdims=True))

    def _score_pieces(self, documents: Any) -> list[NDArray[np.float64]]:
        pieces = self.input.split(documents)
        if "numba" not in sys.modules:  # Python would hold its lock all the time
            return list(map(self._score, pieces))
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            return list(threads.map(self._score, pieces))

    def _score(self, piece: Any) -> NDArray[np.float64]:
        return self.scorer.score(self.input.read(piece))

    def _find_score(self, scores: NDArray[np.float64], label: Any) -> tuple[int, int]:
        """Return the number of the score of a class, and -1 where it tells the opposite."""
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
