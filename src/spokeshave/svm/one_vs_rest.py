"""Mixins of one-vs-rest classifiers: labels and probabilities from scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from spokeshave.svm.calibration import sigmoid
from spokeshave.utils.sparse_format import check_format


class OneVsRestMixin(ClassifierMixin):  # type: ignore[misc]
    """Predict labels from the scores of ``decision_function``."""

    classes_: NDArray[Any]
    multilabel_: bool

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the highest score, or for multilabel targets all positive classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        labels : ndarray of shape (n_documents,), or indicator matrix (n_documents, n_classes)
        """
        scores = self.decision_function(X)
        if self.multilabel_:
            return np.asarray(scores > 0, int)
        best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
        return np.asarray(self.classes_[best])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of documents that have exactly the labels predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
            Targets.
        sample_weight : array-like of shape (n_documents,), optional
            Weights of the documents.

        Returns
        -------
        accuracy : float
        """
        return float(super().score(X, check_format(y, "y"), sample_weight))

    def _shape_scores(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores (documents x classes) as a vector if there are two classes."""
        is_one_column = not self.multilabel_ and len(self.classes_) == 2
        return np.asarray(scores.ravel() if is_one_column else scores)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags


def _has_probability(model: Any) -> bool:
    """Return whether a DualLinearSVC, or the ``estimator`` of a model, has ``probability`` set."""
    if not getattr(getattr(model, "estimator", model), "probability", False):
        raise AttributeError("predict_proba needs an estimator with probability=True.")
    return True


class CalibratedMixin(OneVsRestMixin):
    """Predict probabilities from the scores too, by the sigmoid of each class."""

    calibration_: NDArray[np.float64]

    @available_if(_has_probability)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class by Platt's sigmoid; needs ``probability=True``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        probabilities : ndarray of shape (n_documents, n_classes)
            For multilabel targets, each class separately; otherwise rows sum to one.
        """
        scores = self.decision_function(X)
        if self.multilabel_:
            return sigmoid(scores, *self.calibration_)
        if scores.ndim == 1:
            probability = sigmoid(scores, *self.calibration_)
            return np.column_stack([1 - probability, probability])
        # Logarithms, because the probabilities of a document can all underflow to zero.
        slope, offset = self.calibration_
        return np.asarray(softmax(log_expit(scores * slope + offset), axis=1))

    def _forget_calibration(self) -> None:
        """Delete the calibration of a previous fit."""
        if hasattr(self, "calibration_"):
            del self.calibration_
