"""Tables with nominal columns, turned into numbers."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils import check_array

UNSEEN = -1
NAMED_KINDS = ("cat", "enum", "str", "object", "bool", "utf8")


def is_frame(X: Any) -> bool:
    """Return whether X is a table with columns of their own types (pandas, polars)."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def list_named(X: Any) -> list[int]:
    """Return the columns of a table that hold names: text, categories, truth values.

    Examples
    --------
    >>> import polars as pl
    >>> list_named(pl.DataFrame({"age": [67.0, 41.0], "job": ["skilled", None]}))
    [1]
    """
    kinds = [str(_take(X, j).dtype).lower() for j in range(len(X.columns))]
    return [j for j, kind in enumerate(kinds) if kind.startswith(NAMED_KINDS)]


class FrameEncoder:
    """Numbers from 1 up for the names in some columns of a table; others are numbers already.

    A name that was not there in ``fit`` becomes ``UNSEEN``, a missing one NaN.
    """

    def __init__(self, named: list[int]) -> None:
        self.named = named

    def fit(self, X: Any) -> Self:
        """Number the names of each column."""
        self.encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=UNSEEN)
        self.encoder.set_output(transform="default")
        self.encoder.fit(_take_names(X, self.named))
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the table as numbers."""
        table = np.empty((len(X), len(X.columns)))
        amounts = [j for j in range(table.shape[1]) if j not in self.named]
        if amounts:
            table[:, amounts] = check_array(
                _take(X, amounts), dtype=np.float64, ensure_all_finite="allow-nan", input_name="X"
            )
        codes = self.encoder.transform(_take_names(X, self.named))
        # From 1 up: zero may be a bin of its own, and is no name.
        table[:, self.named] = np.where(codes == UNSEEN, UNSEEN, codes + 1)
        return table

    def decode(self, j: int, numbers: NDArray[np.float64]) -> NDArray[np.object_]:
        """Return the names that numbers of a column stand for."""
        known = np.asarray(self.encoder.categories_[self.named.index(j)], object)
        return np.asarray(known[numbers.astype(int) - 1])


def find_feature(feature: Any, names: NDArray[Any]) -> int:
    """Return the number of a feature, given by number or name."""
    if isinstance(feature, str):
        found = np.flatnonzero(names == feature)
        if found.size:
            return int(found[0])
    elif isinstance(feature, Integral) and 0 <= int(feature) < names.size:
        return int(feature)
    raise ValueError(
        f"feature must be the name of one, or a number from 0 to {names.size - 1}. "
        f"Got {feature!r} instead."
    )


def find_nominal(
    nominal: Any, n_features: int, names: NDArray[Any] | None, named: list[int]
) -> NDArray[np.bool_]:
    """Return which features are nominal: those asked for, and those that hold names.

    Examples
    --------
    >>> find_nominal([0], 3, None, [])
    array([ True, False, False])
    """
    is_nominal = np.zeros(n_features, bool)
    is_nominal[named] = True
    if isinstance(nominal, str) and nominal == "auto":
        return is_nominal
    asked = np.atleast_1d(np.asarray(nominal, object if isinstance(nominal, str) else None))
    if asked.dtype == bool:
        if asked.shape != (n_features,):
            raise ValueError(
                f"nominal must be a mask of the {n_features} features. Got {asked.size} instead."
            )
        return np.asarray(is_nominal | asked)
    known = np.array([f"x{j}" for j in range(n_features)], object) if names is None else names
    is_nominal[[find_feature(feature, known) for feature in asked.tolist()]] = True
    return is_nominal


def _take(X: Any, columns: Any) -> Any:
    """Return columns of a table by their numbers."""
    return X.iloc[:, columns] if hasattr(X, "iloc") else X[:, columns]


def _take_names(X: Any, named: list[int]) -> NDArray[np.object_]:
    """Return columns of names as objects, NaN where one is missing."""
    table = np.empty((len(X), len(named)), object)
    for place, j in enumerate(named):
        column = _take(X, j)
        is_missing = column.isna() if hasattr(column, "isna") else column.is_null()
        table[:, place] = np.asarray(column, object)
        table[np.asarray(is_missing), place] = np.nan
    return table
