"""Nonzeros per document, and the memory they need, against the number of features kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.curves.cuts import accumulate, check_cuts, check_nonzeros, count_kept, count_within
from spokeshave.metrics import mean_known
from spokeshave.ranking.criteria import Ranking
from spokeshave.ranking.pruning import count_documents
from spokeshave.utils.validation import check_array, tidy

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

INDEX_BYTES, VALUE_BYTES, POINTER_BYTES = 4, 4, 8  # int32, float32 and int64
MEASURES = ("n_features", "nonzeros", "matrix_bytes", "model_bytes")


@dataclass(frozen=True, eq=False)
class SparsityCurve:
    """Sparsity and memory at every cut, by every ranking, for every class.

    Each class keeps the top features of its own ranking. A feature with score zero is never kept.

    Attributes
    ----------
    rankings : dict of str to Ranking
        The rankings, by name.
    classes : ndarray of shape (n_classes,)
        The classes whose features are ranked.
    cuts : ndarray of shape (n_cuts,)
        The requested cuts, ascending: fractions or counts.
    n_features : ndarray of int, of shape (n_rankings, n_classes, n_cuts)
        Number of features kept.
    nonzeros : ndarray of shape (n_rankings, n_classes, n_cuts)
        Mean number of nonzeros per document in the features kept.
    matrix_bytes : ndarray of int, of shape (n_rankings, n_classes, n_cuts)
        Size of the documents as a CSR matrix: 4 bytes for the column (int32) and 4 for the value
        (float32) of each nonzero, and 8 for each of the n_documents + 1 row pointers (int64).
    model_bytes : ndarray of int, of shape (n_rankings, n_classes, n_cuts)
        Size of the model of the class: 4 bytes for the number (int32) and 4 for the weight
        (float32) of each feature kept, and 4 for the intercept. Feature names are not counted.
    frequency : ndarray of int, of shape (n_features,)
        Number of documents that have each feature.
    n_documents : int
        Number of documents.

    Examples
    --------
    >>> from spokeshave import rank_features, sparsity_curve
    >>> X = [[1, 1, 0], [1, 0, 0], [0, 1, 2], [0, 0, 1]]
    >>> ranking = rank_features(X, ["oak", "oak", "yew", "yew"], by="chi2")
    >>> curve = sparsity_curve(X, ranking)
    >>> curve.n_features
    array([[[1, 2, 2]]])
    >>> curve.nonzeros
    array([[[0.5, 1. , 1. ]]])
    >>> curve.count_features(0.7)
    array([[1]])
    """

    rankings: dict[str, Ranking]
    classes: NDArray[Any]
    cuts: NDArray[Any]
    n_features: NDArray[np.intp]
    nonzeros: NDArray[np.float64]
    matrix_bytes: NDArray[np.intp]
    model_bytes: NDArray[np.intp]
    frequency: NDArray[np.intp]
    n_documents: int

    def macro(self, name: str = "nonzeros") -> NDArray[np.float64]:
        """Return the mean over classes (n_rankings, n_cuts).

        A class whose features all have score zero is left out.

        Parameters
        ----------
        name : {"nonzeros", "n_features", "matrix_bytes", "model_bytes"}, default="nonzeros"
            The quantity to average.
        """
        if name not in MEASURES:
            names = ", ".join(MEASURES)
            raise ValueError(f"name must be one of {names}. Got {name!r} instead.")
        return mean_known(np.where(self.n_features > 0, getattr(self, name), np.nan), axis=1)

    def count_features(self, nonzeros_per_document: float) -> NDArray[np.intp]:
        """Return how many features each class may keep (n_rankings, n_classes).

        This is the inverse of the curve: the largest number of top features with at most the given
        mean number of nonzeros per document, not limited to the cuts, and at least one if any
        feature is ranked. ``NormalSelector(nonzeros_per_document=...)`` keeps the same number.

        Parameters
        ----------
        nonzeros_per_document : float
            The largest mean number of nonzeros per document.
        """
        wanted = check_nonzeros(nonzeros_per_document)
        return np.array(
            [
                [
                    count_within(accumulate(self.frequency, order, self.n_documents), wanted)
                    for order in map(ranking.list_ranked, range(self.classes.size))
                ]
                for ranking in self.rankings.values()
            ]
        )

    def to_frame(self) -> pandas.DataFrame:
        """Return a pandas DataFrame with a row per ranking, class and cut."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas") from error
        ranking, class_, cut = (index.ravel() for index in np.indices(self.nonzeros.shape))
        return pandas.DataFrame(
            {
                "ranking": np.array(list(self.rankings))[ranking],
                "class": self.classes[class_],
                "cut": self.cuts[cut],
                **{name: getattr(self, name).ravel() for name in MEASURES},
            }
        )

    def plot(self, name: str = "nonzeros", *, ax: Axes | None = None) -> Axes:
        """Draw the mean over classes against features kept, a line per ranking; needs matplotlib.

        Parameters
        ----------
        name : {"nonzeros", "matrix_bytes", "model_bytes"}, default="nonzeros"
            The quantity to draw.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib Axes
        """
        from spokeshave.utils.plotting import draw_sparsity

        lines = zip(self.macro("n_features"), self.macro(name), strict=True)
        label = "nonzeros per document" if name == "nonzeros" else name.replace("_", " ")
        return draw_sparsity(
            dict(zip(self.rankings, lines, strict=True)), value_label=f"{label}, macro", ax=ax
        )


def sparsity_curve(
    X: Any, ranking: Ranking | Mapping[str, Ranking], *, cuts: Any = "log"
) -> SparsityCurve:
    """Count nonzeros and bytes at every cut, for every class.

    The cost of training depends on the nonzeros per document rather than on the number of
    features, and rankings differ in it at the same number of features (Malik and Tarique,
    "Analysis of sparsity in a Support Vector Machine based feature selection method").

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Documents. Every value other than zero is counted.
    ranking : Ranking, or mapping of str to Ranking
        The ranking of the features, or several rankings of the same classes by name.
    cuts : sequence of float or int, or "log", default="log"
        Fractions of the features with a nonzero score, counts, or powers of two.

    Returns
    -------
    curve : SparsityCurve
        Arrays of shape (n_rankings, n_classes, n_cuts). A single ranking is named by its
        criterion.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from spokeshave import rank_features, sparsity_curve
    >>> X, y = load_digits(return_X_y=True)
    >>> rankings = {by: rank_features(X, y, by) for by in ("odds_ratio", "information_gain")}
    >>> sparsity_curve(X, rankings, cuts=[1, 10]).macro().round(1)
    array([[0.8, 7.2],
           [0.7, 6. ]])
    """
    X = tidy(check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X"))
    rankings = check_rankings(ranking, X.shape[1])
    found_cuts = check_cuts(cuts, X.shape[1])
    return trace_sparsity(rankings, found_cuts, count_documents(X), X.shape[0])


def trace_sparsity(
    rankings: dict[str, Ranking],
    cuts: NDArray[Any],
    frequency: NDArray[np.intp],
    n_documents: int,
) -> SparsityCurve:
    """Return the curve, given the number of documents that have each feature."""
    counted = [_count(each, cuts, frequency, n_documents) for each in rankings.values()]
    n_features, nonzeros = map(np.array, zip(*counted, strict=True))
    stored = np.rint(nonzeros * n_documents).astype(np.intp)
    per_feature = INDEX_BYTES + VALUE_BYTES
    return SparsityCurve(
        rankings=rankings,
        classes=next(iter(rankings.values())).classes,
        cuts=cuts,
        n_features=n_features,
        nonzeros=nonzeros,
        matrix_bytes=per_feature * stored + POINTER_BYTES * (n_documents + 1),
        model_bytes=per_feature * n_features + VALUE_BYTES,
        frequency=frequency,
        n_documents=n_documents,
    )


def check_rankings(given: Any, n_features: int) -> dict[str, Ranking]:
    """Return rankings by name, or raise if their classes or features differ."""
    rankings = {given.by: given} if isinstance(given, Ranking) else given
    if not isinstance(rankings, Mapping) or not rankings:
        raise ValueError(
            f"ranking must be a Ranking or a mapping of names to Rankings. Got {given!r} instead."
        )
    for name, each in rankings.items():
        if not isinstance(each, Ranking):
            raise ValueError(
                f"ranking must map names to Rankings. Got {each!r} for {name!r} instead."
            )
        if each.scores.shape[1] != n_features:
            raise ValueError(
                f"ranking must have the {n_features} features of X. "
                f"Got {each.scores.shape[1]} features in {name!r} instead."
            )
    classes = next(iter(rankings.values())).classes
    for name, each in rankings.items():
        if not np.array_equal(each.classes, classes):
            raise ValueError(
                "ranking must have the same classes under every name. "
                f"Got {each.classes!r} for {name!r} and {classes!r} for the first instead."
            )
    return dict(rankings)


def _count(
    ranking: Ranking, cuts: NDArray[Any], frequency: NDArray[np.intp], n_documents: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the number of features kept and of nonzeros per document (classes x cuts)."""
    kept = count_kept(cuts, ranking.n_ranked)
    orders = map(ranking.list_ranked, range(len(kept)))
    nonzeros = [
        accumulate(frequency, order, n_documents)[ends]
        for order, ends in zip(orders, kept, strict=True)
    ]
    return kept, np.array(nonzeros)
