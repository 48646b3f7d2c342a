"""Tables with nominal columns, turned into numbers."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils import check_array

UNSEEN = -1.0
NAMED_KINDS = ("cat", "enum", "str", "object", "bool", "utf8")


def is_frame(X: Any) -> bool:
    """Return whether X is a table with named columns of their own types (pandas, polars)."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def list_named(X: Any) -> list[Any]:
    """Return the columns of a table that hold names: text, categories, truth values.

    Examples
    --------
    >>> import polars as pl
    >>> list_named(pl.DataFrame({"age": [67.0, 41.0], "job": ["skilled", None]}))
    ['job']
    """
    kinds = {name: str(X[name].dtype).lower() for name in X.columns}
    return [name for name, kind in kinds.items() if kind.startswith(NAMED_KINDS)]


class FrameEncoder:
    """Numbers for the names in some columns of a table; the other columns are numbers already.

    A name that was not there in ``fit`` becomes ``UNSEEN``, a missing one NaN.
    """

    def __init__(self, named: list[Any]) -> None:
        self.named = named

    def fit(self, X: Any) -> Self:
        """Number the names of each column."""
        self.encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=UNSEEN)
        self.encoder.fit(_take_names(X, self.named))
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the table as numbers."""
        columns = list(X.columns)
        table = np.empty((len(X), len(columns)))
        numeric = [name for name in columns if name not in self.named]
        if numeric:
            places = [columns.index(name) for name in numeric]
            table[:, places] = check_array(
                X[numeric], dtype=np.float64, ensure_all_finite="allow-nan", input_name="X"
            )
        places = [columns.index(name) for name in self.named]
        table[:, places] = self.encoder.transform(_take_names(X, self.named))
        return table

    def decode(self, name: Any, numbers: NDArray[np.float64]) -> NDArray[np.object_]:
        """Return the names that numbers of a column stand for."""
        known = self.encoder.categories_[self.named.index(name)]
        return np.asarray(np.asarray(known, object)[numbers.astype(int)])


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
    nominal: Any, n_features: int, names: NDArray[Any] | None, named: list[Any]
) -> NDArray[np.bool_]:
    """Return which features are nominal: those asked for, and those that hold names.

    Examples
    --------
    >>> find_nominal([0], 3, None, [])
    array([ True, False, False])
    """
    is_nominal = np.zeros(n_features, bool)
    if named and names is not None:
        is_nominal |= np.isin(names, named)
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


def _take_names(X: Any, named: list[Any]) -> NDArray[np.object_]:
    """Return columns of names as objects, None where one is missing."""
    table = np.empty((len(X), len(named)), object)
    for place, name in enumerate(named):
        column = X[name]
        is_missing = column.isna() if hasattr(column, "isna") else column.is_null()
        table[:, place] = np.asarray(column, object)
        table[np.asarray(is_missing), place] = None
    return table
