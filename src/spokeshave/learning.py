"""The result of a learning curve: quality against the size of the training set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.evaluation import mean_known

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Quality at every size of the training set, for every class and fold.

    Measures are ``"auc"``, ``"f1"``, ``"accuracy"`` and ``"precision_at_20"``. They are NaN where
    the training documents are all of one class, or no test document is of the class; averages
    leave those out.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Labels; the second of two, or column numbers for multilabel targets.
    sizes : ndarray of shape (n_sizes,)
        The sizes as they were asked for, ascending: fractions or counts.
    n_documents : ndarray of shape (n_folds, n_sizes)
        Training documents.
    C : ndarray of shape (n_classes, n_folds, n_sizes)
        The C that was chosen; NaN where nothing was trained, or the classifier has no C.
    values : dict of str to ndarray of shape (n_classes, n_folds, n_sizes)
        Each measure on each test fold.
    seconds : ndarray of shape (n_classes, n_folds, n_sizes)
        Time that tuning, training and scoring took.
    """

    classes: NDArray[Any]
    sizes: NDArray[Any]
    n_documents: NDArray[np.intp]
    C: NDArray[np.float64]
    values: dict[str, NDArray[np.float64]]
    seconds: NDArray[np.float64]

    def per_class(self, measure: str = "auc") -> NDArray[np.float64]:
        """Return a measure (n_classes, n_sizes), the mean over folds."""
        return mean_known(self._find(measure), axis=1)

    def macro(self, measure: str = "auc") -> NDArray[np.float64]:
        """Return the mean of a measure over classes, at each size."""
        return mean_known(self.per_class(measure), axis=0)

    def standard_error(self, measure: str = "auc") -> NDArray[np.float64]:
        """Return the standard error of the macro-average over folds, at each size."""
        by_fold = mean_known(self._find(measure), axis=0)
        squares = (by_fold - mean_known(by_fold, axis=0)) ** 2
        n_known = np.isfinite(by_fold).sum(axis=0)
        return np.asarray(np.sqrt(mean_known(squares, axis=0) / np.maximum(n_known - 1, 1)))

    def to_frame(self) -> pandas.DataFrame:
        """Return a row per class, fold and size with every measure, as a pandas frame."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas") from error
        class_, fold, size = (index.ravel() for index in np.indices(self.C.shape))
        return pandas.DataFrame(
            {
                "class": self.classes[class_],
                "fold": fold,
                "size": self.sizes[size],
                "n_documents": self.n_documents[fold, size],
                "C": self.C.ravel(),
                **{name: values.ravel() for name, values in self.values.items()},
                "seconds": self.seconds.ravel(),
            }
        )

    def plot(
        self, measure: str = "auc", *, label: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw the macro-average against the number of training documents; needs matplotlib.

        Parameters
        ----------
        measure : str, default="auc"
            The line; its band is one standard error over folds.
        label : str, optional
            Name of the line in the legend.
        ax : matplotlib Axes, optional
            Where to draw, such as the axes of another curve; a new figure by default.

        Returns
        -------
        ax : matplotlib Axes
        """
        from spokeshave.drawing import draw_learning

        return draw_learning(
            self.n_documents.mean(axis=0),
            self.macro(measure),
            self.standard_error(measure),
            label=label,
            value_label=f"macro {measure}",
            ax=ax,
        )

    def _find(self, name: str) -> NDArray[np.float64]:
        if name not in self.values:
            raise ValueError(
                f"The measure must be one of {', '.join(self.values)}. Got {name!r} instead."
            )
        return self.values[name]
