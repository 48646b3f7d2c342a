"""A measure of quality at every cut, and the choice of a cut from it."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.metrics import (
    LABEL_F1,
    LABEL_MEASURES,
    MEASURES,
    Counts,
    LabelCounts,
    mean_known,
    measure,
    pool,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Choice:
    """A cut chosen from a curve.

    Attributes
    ----------
    measure, average : str
        The measure compared, and its average; ``average`` is None if each class has its own cut.
    index : int or ndarray of shape (n_classes,)
        Number of the cut; one per class if each has its own.
    cut : float, int or ndarray of shape (n_classes,)
        The cut as it was given: a fraction, a count, or nonzeros per document.
    fraction, value : float or ndarray of shape (n_classes,)
        The share of the ranked features that it keeps, and its measure.
    n_features : ndarray of shape (n_classes,)
        Features that each class keeps.
    thresholds : ndarray of shape (n_classes,)
        The score that a document must reach for the best F1 at that cut.
    best_value : float or ndarray of shape (n_classes,)
        The measure of the best cut.
    evaluated_on : {"cross-validation", "test set"}
        The documents that the choice was made on. A choice made on the test set must not be
        evaluated on the same test set.
    against : {"features", "sparsity"}
        The unit of the cut.
    """

    measure: str
    average: str | None
    index: Any
    cut: Any
    fraction: Any
    value: Any
    n_features: NDArray[np.intp]
    thresholds: NDArray[np.float64]
    best_value: Any
    evaluated_on: str
    against: str = "features"

    def __str__(self) -> str:
        is_sparsity = self.against == "sparsity"
        size = np.median(self.cut if is_sparsity else self.fraction)
        share = f"{size:.3g} " + ("nonzeros per document" if is_sparsity else "of the features")
        if self.average is None:
            share += " in the median class"
            value = f"{np.nanmean(self.value):.4f}"
        else:
            value = f"{self.value:.4f}"
        how = f"{'best of each class' if self.average is None else self.average} {self.measure}"
        if self.measure == LABEL_F1:
            how = f"{self.average}_f1"
        where = "by cross-validation" if self.evaluated_on != "test set" else "on the test set"
        return f"{share}: {how} {value}, chosen {where}"


@dataclass(frozen=True, eq=False)
class FeatureCurve:
    """Quality at every cut, per class and averaged.

    Measures are ``"auc"``, ``"best_f1"`` (over all thresholds), ``"f1"`` and ``"accuracy"`` (at
    threshold 0), and ``"precision_at_20"``; each is also an attribute of shape (n_classes,
    n_cuts), the mean over folds. A class without a document to find has NaN and is left out of
    averages.

    With single labels there is also ``"label_f1"``, the F1 of the predicted label, which is the
    class of highest score at each cut; for two classes its macro-average is over both. In `best`,
    `smallest_within`, `average`, `standard_error` and `plot`, ``"macro_f1"`` and ``"micro_f1"``
    name its averages, and ``"accuracy"`` is the share of right labels, which equals the latter.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Labels; the second of two, or column numbers for multilabel targets.
    cuts : ndarray of shape (n_cuts,)
        The cuts as they were given, ascending: fractions, counts, or nonzeros per document.
    fractions : ndarray of shape (n_cuts,)
        Share of the ranked features that each cut keeps.
    n_features : ndarray of shape (n_classes, n_cuts)
        Features kept, the mean over folds.
    nonzeros : ndarray of shape (n_classes, n_cuts)
        Mean nonzeros per training document, the mean over folds.
    thresholds : ndarray of shape (n_classes, n_cuts)
        Score of the best F1 at each cut, the mean over folds.
    counts : Counts of arrays of shape (n_folds, n_classes, n_cuts)
        The counts that the measures are computed from.
    method, by : str
        The method of the cuts, and the ranking criterion.
    evaluated_on : {"cross-validation", "test set"}
        The documents that were scored.
    seconds, fit_seconds : float
        Total time, and the part of it that the first fits took. Curves of several methods from one
        call share the fits, and each counts them.
    objectives : ndarray of shape (n_classes, n_cuts)
        Primal objective that retraining reached, the mean over folds; NaN for "mask" and "sv_set".
    against : {"features", "sparsity"}
        The unit of the cuts.
    labels : LabelCounts of arrays of shape (n_folds, n_labels, n_cuts), or None
        The counts of predicted labels, of both classes if there are two; None for multilabel
        targets.
    """

    classes: NDArray[Any]
    cuts: NDArray[Any]
    fractions: NDArray[np.float64]
    n_features: NDArray[np.intp]
    nonzeros: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    counts: Counts
    method: str
    by: str
    evaluated_on: str
    seconds: float
    fit_seconds: float
    objectives: NDArray[np.float64] | None = None
    against: str = "features"
    labels: LabelCounts | None = None

    @property
    def default_measure(self) -> str:
        """The measure to choose by: of the predicted label, or the best F1 if it has several."""
        return "best_f1" if self.labels is None else "macro_f1"

    @property
    def auc(self) -> NDArray[np.float64]:
        return self.per_class("auc")

    @property
    def best_f1(self) -> NDArray[np.float64]:
        return self.per_class("best_f1")

    @property
    def f1(self) -> NDArray[np.float64]:
        return self.per_class("f1")

    @property
    def accuracy(self) -> NDArray[np.float64]:
        return self.per_class("accuracy")

    @property
    def precision_at_20(self) -> NDArray[np.float64]:
        return self.per_class("precision_at_20")

    def per_class(self, name: str) -> NDArray[np.float64]:
        """Return a measure (n_classes, n_cuts), the mean over folds."""
        if name == LABEL_F1:
            return mean_known(self._require_labels(name).f1, axis=0)[-len(self.classes) :]
        return mean_known(measure(_check_measure(name), self.counts), axis=0)

    def macro(self, name: str = "best_f1") -> NDArray[np.float64]:
        """Return the mean of a measure over classes, at each cut."""
        if name == LABEL_F1:
            return mean_known(self._require_labels(name).macro_f1, axis=0)
        return mean_known(self.per_class(name), axis=0)

    def micro(self, name: str = "best_f1") -> NDArray[np.float64]:
        """Return a measure of all decisions together, at each cut.

        Counts are pooled over the classes, each at its own threshold for the best F1; for the AUC
        they are pairs of documents of one class and of the rest. The F1 of predicted labels is then
        their accuracy.
        """
        if name == LABEL_F1:
            return mean_known(self._require_labels(name).accuracy, axis=0)
        return mean_known(measure(_check_measure(name), pool(self.counts, axis=1)), axis=0)

    def average(self, name: str, average: str) -> NDArray[np.float64]:
        """Return the macro- or micro-average of a measure at each cut."""
        name, average = self._resolve(name, average)
        _check_average(average)
        return self.macro(name) if average == "macro" else self.micro(name)

    def _resolve(self, name: str, average: Any) -> tuple[str, Any]:
        """Return a measure and its average, given a name that may stand for both."""
        if name in LABEL_MEASURES and (self.labels is not None or name not in MEASURES):
            return LABEL_F1, LABEL_MEASURES[name]
        return name, average

    def _require_labels(self, name: str) -> LabelCounts:
        if self.labels is None:
            raise ValueError(
                f"{name} is a measure of single labels, and these targets have none. "
                f"Choose one of {', '.join(MEASURES)}."
            )
        return self.labels

    def standard_error(self, name: str = "best_f1", average: str = "macro") -> NDArray[np.float64]:
        """Return the standard error of an average over the folds that have it, at each cut."""
        by_fold = self._average_folds(name, average)
        n_known = np.isfinite(by_fold).sum(axis=0)
        if n_known.min() < 2:
            raise ValueError("A standard error needs folds: make the curve with cv=5, for example.")
        return np.asarray(np.nanstd(by_fold, axis=0, ddof=1) / np.sqrt(n_known))

    def best(self, name: str = "best_f1", average: str | None = "macro") -> Choice:
        """Return the cut of the highest measure, the smallest of equals.

        Parameters
        ----------
        name : str, default="best_f1"
            The measure.
        average : {"macro", "micro", None}, default="macro"
            The average to maximise; None chooses for each class by itself, as in Table 1 of the
            paper.
        """
        return self._choose(name, average, 0.0)

    def smallest_within(
        self,
        tolerance: float | None = None,
        name: str = "best_f1",
        average: str | None = "macro",
    ) -> Choice:
        """Return the smallest cut that is as good as the best, or nearly so.

        Parameters
        ----------
        tolerance : float, optional
            The accepted loss against the best; one standard error of the best cut over the folds by
            default.
        name : str, default="best_f1"
            The measure.
        average : {"macro", "micro", None}, default="macro"
            The average to compare; None chooses for each class by itself.
        """
        if tolerance is None:
            if average is None:
                raise ValueError("tolerance must be given where each class has its own cut.")
            best = self.best(name, average).index
            tolerance = float(self.standard_error(name, average)[best])
        given: Any = tolerance
        if not isinstance(given, Real) or not 0 <= float(given) < np.inf:
            raise ValueError(
                f"tolerance must be a number that is not negative. Got {tolerance!r} instead."
            )
        return self._choose(name, average, float(tolerance))

    def to_frame(self) -> pandas.DataFrame:
        """Return a row per class and cut with every measure, as a pandas frame."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas") from error
        n_classes, n_cuts = self.n_features.shape
        return pandas.DataFrame(
            {
                "method": self.method,
                "class": np.repeat(self.classes, n_cuts),
                "fraction": np.tile(self.fractions, n_classes),
                "n_features": self.n_features.ravel(),
                "nonzeros": self.nonzeros.ravel(),
                **{name: self.per_class(name).ravel() for name in MEASURES},
                "threshold": self.thresholds.ravel(),
            }
        )

    def plot(
        self,
        name: str = "best_f1",
        average: str = "macro",
        *,
        against: str | None = None,
        choice: Choice | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a measure against the share of features or the sparsity; needs matplotlib.

        Parameters
        ----------
        name : str, default="best_f1"
            The measure.
        average : {"macro", "micro"}, default="macro"
            The line; its band is one standard error over folds, or over classes without folds.
        against : {"features", "sparsity"}, optional
            The horizontal axis: the share of the features, or the mean over classes of the nonzeros
            per document; the unit of the cuts by default.
        choice : Choice, optional
            A cut to mark; the best one by default.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib Axes
        """
        from spokeshave.utils.plotting import draw_curve, lay_features, lay_nonzeros

        if choice is not None and choice.average is None:
            raise ValueError("choice must be of one cut. Got one for each class instead.")
        if against not in (None, "features", "sparsity"):
            raise ValueError(f"against must be 'features' or 'sparsity'. Got {against!r} instead.")
        n_folds = self.counts.won.shape[0]
        if n_folds > 1:
            error, of = self.standard_error(name, average), f"{n_folds} folds"
        else:
            values = self.per_class(name)
            error = np.nanstd(values, axis=0) / np.sqrt(np.isfinite(values[:, 0]).sum())
            of = "classes"
        is_sparsity = (against or self.against) == "sparsity"
        return draw_curve(
            lay_nonzeros(mean_known(self.nonzeros, 0))
            if is_sparsity
            else lay_features(self.fractions),
            self.average(name, average),
            error,
            marked=(choice or self.best(name, average)).index,
            line=f"{self.method}, ranked by {self.by}",
            band=f"± 1 standard error over {of}",
            value_label=f"{average} {name} ({self.evaluated_on})",
            ax=ax,
        )

    def _average_folds(self, name: str, average: str) -> NDArray[np.float64]:
        name, average = self._resolve(name, average)
        if name == LABEL_F1:
            labels = self._require_labels(name)
            return labels.macro_f1 if average == "macro" else labels.accuracy
        _check_measure(name)
        _check_average(average)
        if average == "macro":
            return mean_known(measure(name, self.counts), axis=1)
        return measure(name, pool(self.counts, axis=1))

    def _choose(self, name: str, average: str | None, tolerance: float) -> Choice:
        name, average = self._resolve(name, average)
        values = self.per_class(name) if average is None else self.average(name, average)[None, :]
        best = np.nan_to_num(values, nan=-np.inf).max(axis=1)
        index = (values >= best[:, None] - tolerance).argmax(axis=1)
        best[best == -np.inf] = np.nan
        rows = np.arange(len(self.classes))
        if average is None:
            at: Any = index
            fraction: Any = self.fractions[index]
            value: Any = values[rows, index]
            best_value: Any = best
        else:
            at, fraction = int(index[0]), float(self.fractions[index[0]])
            value, best_value = float(values[0, at]), float(best[0])
        return Choice(
            measure=name,
            average=average,
            index=at,
            cut=self.cuts[at],
            fraction=fraction,
            value=value,
            n_features=self.n_features[rows, at],
            thresholds=self.thresholds[rows, at],
            best_value=best_value,
            evaluated_on=self.evaluated_on,
            against=self.against,
        )


def _check_measure(name: str) -> str:
    if name not in MEASURES:
        raise ValueError(f"The measure must be one of {', '.join(MEASURES)}. Got {name!r} instead.")
    return name


def _check_average(average: str) -> None:
    if average not in ("macro", "micro"):
        raise ValueError(f"average must be 'macro' or 'micro'. Got {average!r} instead.")
