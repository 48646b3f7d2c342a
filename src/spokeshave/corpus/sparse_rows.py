"""Sparse rows collected one by one, for a matrix at the end."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix


class SparseRows:
    """Rows of a sparse matrix whose number is not known beforehand.

    Parameters
    ----------
    first_column : int
        The number of the first column in the rows to come.

    Examples
    --------
    >>> rows = SparseRows(first_column=1)
    >>> rows.append([1, 3], [1.0, 5.0])
    >>> rows.to_csr().toarray()
    array([[1., 0., 5.]])
    """

    def __init__(self, first_column: int = 0) -> None:
        self._first_column = first_column
        self._columns, self._values, self._ends = array("i"), array("d"), array("q", [0])

    def append(self, columns: list[int], values: list[float]) -> None:
        """Add a row."""
        self._columns.fromlist(columns)
        self._values.fromlist(values)
        self._ends.append(len(self._columns))

    def to_csr(self, n_columns: int | None = None) -> Any:
        """Return all rows as a csr_matrix without stored zeros, its columns in order.

        The matrix is as wide as its last column where `n_columns` is None.
        """
        columns = np.asarray(self._columns) - np.int32(self._first_column)
        width = columns.max(initial=-1) + 1 if n_columns is None else n_columns
        shape = len(self._ends) - 1, int(width)
        matrix = csr_matrix((np.asarray(self._values), columns, np.asarray(self._ends)), shape)
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return matrix
