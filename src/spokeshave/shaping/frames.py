"""Encode data frames with nominal columns as numbers."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import OrdinalEncoder

from spokeshave.utils.validation import check_array

UNSEEN = -1
NUMERIC: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
NAMED_KINDS = ("cat", "enum", "str", "object", "bool", "utf8")


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame (pandas, polars)."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def list_named(X: Any) -> list[int]:
    """Return the nominal columns of a data frame: text, categories, booleans.

    Examples
    --------
    >>> import polars as pl
    >>> list_named(pl.DataFrame({"age": [67.0, 41.0], "job": ["skilled", None]}))
    [1]
    """
    kinds = [str(_select(X, j).dtype).lower() for j in range(len(X.columns))]
    return [j for j, kind in enumerate(kinds) if kind.startswith(NAMED_KINDS)]


class FrameEncoder:
    """Encode the category names of the ``named`` columns of a data frame as 1, 2, 3, ...

    A name not seen in ``fit`` becomes ``UNSEEN``, a missing name NaN. Other columns are numbers.
    """

    def __init__(self, named: list[int]) -> None:
        self.named = named

    def fit(self, X: Any) -> Self:
        """Assign a number to each name of each column."""
        self.encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=UNSEEN)
        self.encoder.set_output(transform="default")
        self.encoder.fit(_select_names(X, self.named))
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the data frame as an array of numbers."""
        table = np.empty((len(X), len(X.columns)))
        amounts = [j for j in range(table.shape[1]) if j not in self.named]
        if amounts:
            table[:, amounts] = check_array(
                _select(X, amounts), dtype=np.float64, ensure_all_finite="allow-nan", input_name="X"
            )
        codes = self.encoder.transform(_select_names(X, self.named))
        # From 1 up, because zero may be a bin of its own.
        table[:, self.named] = np.where(codes == UNSEEN, UNSEEN, codes + 1)
        return table

    def decode(self, j: int, numbers: NDArray[np.float64]) -> NDArray[np.object_]:
        """Return the names behind the numbers of a column."""
        known = np.asarray(self.encoder.categories_[self.named.index(j)], object)
        return np.asarray(known[numbers.astype(int) - 1])


def find_feature(feature: Any, names: NDArray[Any]) -> int:
    """Return the number of a feature, given its number or name."""
    if isinstance(feature, str):
        found = np.flatnonzero(names == feature)
        if found.size:
            return int(found[0])
    elif isinstance(feature, Integral) and 0 <= int(feature) < names.size:
        return int(feature)
    raise ValueError(
        f"feature must be a feature name or a number from 0 to {names.size - 1}. "
        f"Got {feature!r} instead."
    )


def find_nominal(
    nominal: Any, n_features: int, names: NDArray[Any] | None, named: list[int]
) -> NDArray[np.bool_]:
    """Return a mask of the nominal features: those requested, and the ``named`` ones.

    Examples
    --------
    >>> find_nominal([0], 3, None, [])
    array([ True, False, False])
    """
    is_nominal = np.zeros(n_features, bool)
    is_nominal[named] = True
    if isinstance(nominal, str) and nominal == "auto":
        return is_nominal
    requested = np.atleast_1d(np.asarray(nominal, object if isinstance(nominal, str) else None))
    if requested.dtype == bool:
        if requested.shape != (n_features,):
            raise ValueError(
                f"nominal must have {n_features} entries if it is a mask, one per feature. "
                f"Got {requested.size} entries instead."
            )
        return np.asarray(is_nominal | requested)
    known = np.array([f"x{j}" for j in range(n_features)], object) if names is None else names
    is_nominal[[find_feature(feature, known) for feature in requested.tolist()]] = True
    return is_nominal


def _select(X: Any, columns: Any) -> Any:
    """Return columns of a data frame by their numbers."""
    return X.iloc[:, columns] if hasattr(X, "iloc") else X[:, columns]


def _select_names(X: Any, named: list[int]) -> NDArray[np.object_]:
    """Return nominal columns as objects, with NaN for missing names."""
    table = np.empty((len(X), len(named)), object)
    for number, j in enumerate(named):
        column = _select(X, j)
        is_missing = column.isna() if hasattr(column, "isna") else column.is_null()
        table[:, number] = np.asarray(column, object)
        table[np.asarray(is_missing), number] = np.nan
    return table
