"""What every classifier of one class against the rest does with its scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, softmax
from sklearn.base import ClassifierMixin

from spokeshave.svm.calibration import sigmoid


def has_probability(model: Any) -> bool:
    """Say whether the estimator inside a model asks for probabilities; else there are none."""
    if not getattr(model.estimator, "probability", False):
        raise AttributeError("predict_proba needs an estimator with probability=True.")
    return True


class OneVsRestMixin(ClassifierMixin):  # type: ignore[misc]
    """Turns scores into labels; the class that mixes it in has ``decision_function``."""

    classes_: NDArray[Any]
    multilabel_: bool
    calibration_: NDArray[np.float64]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the highest score, or every class of a positive score.

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

    def _shape_scores(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores (documents x classes) as a vector where they are of two classes."""
        is_one_column = not self.multilabel_ and len(self.classes_) == 2
        return np.asarray(scores.ravel() if is_one_column else scores)

    def _calibrate_scores(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of each class by its sigmoid; of labels they sum to one."""
        if scores.ndim == 1 or self.multilabel_:
            probability = sigmoid(scores, *self.calibration_)
            return (
                probability if self.multilabel_ else np.column_stack([1 - probability, probability])
            )
        # Logarithms, as every class may be so unlikely that their probabilities add up to zero.
        slope, offset = self.calibration_
        share = softmax(log_expit(scores * slope + offset), axis=1)
        return np.asarray(share)

    def _forget_calibration(self) -> None:
        """Forget the probabilities of a fit before."""
        if hasattr(self, "calibration_"):
            del self.calibration_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags
