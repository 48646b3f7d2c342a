"""Check that the arrays of a sparse matrix agree with each other and with its shape.

scipy and the kernels read and write wherever the indices of a matrix point to: one that points
elsewhere crashes the process, or asks for gigabytes. scipy checks only the lengths, when a matrix
is made. Nothing here needs scikit-learn.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

FURTHEST = np.iinfo(np.int32).max  # diagonal, of any matrix that fits into memory


def check_format(X: Any, name: str = "X") -> Any:
    """Return X, which must be a well-formed matrix if it is a sparse one.

    Indices are looked at once, in numpy. They may be unsorted and repeated. Space that a CSR, CSC
    or BSR matrix has in reserve is left out, without a copy; arrays with gaps are copied. Errors
    call the matrix by ``name``.

    Examples
    --------
    >>> X = sparse.csr_matrix([[1.0, 2.0]])
    >>> X.indices[1] = 9
    >>> check_format(X)
    Traceback (most recent call last):
    ValueError: X must be a well-formed sparse matrix. Got one in CSR format with the index 9 among
    2 columns instead.
    """
    if not sparse.issparse(X):
        return X
    if X.ndim != 2:
        raise ValueError(f"{name} must be a matrix. Got a sparse array of shape {X.shape} instead.")
    try:
        problem = _CHECKS[X.format](X)
    except (TypeError, ValueError, OverflowError):
        problem = "indices that are not whole numbers"
    if problem is not None:
        raise ValueError(
            f"{name} must be a well-formed sparse matrix. Got one in {X.format.upper()} format "
            f"with {problem} instead."
        )
    return _make_usual(X) if X.format in ("csr", "csc", "bsr") else X


def _check_compressed(X: Any) -> str | None:
    """Return what is wrong with a CSR, CSC or BSR matrix, if anything."""
    n_dimensions = 3 if X.format == "bsr" else 1
    if not (_are_whole(X.indptr, X.indices) and np.ndim(X.data) == n_dimensions):
        return "arrays of another kind or shape"
    height, width = X.data.shape[1:] if X.format == "bsr" else (1, 1)
    if min(height, width) < 1 or X.shape[0] % height or X.shape[1] % width:
        return f"blocks of {height} x {width} in a shape of {X.shape}"
    numbers = [(X.shape[0] // height, "row"), (X.shape[1] // width, "column")]
    (n_slices, kind), (n_inner, inner) = numbers[::-1] if X.format == "csc" else numbers
    if X.indptr.size != n_slices + 1:
        return f"{X.indptr.size} entries of indptr for {n_slices} {kind}s"
    if X.indptr[0] != 0 or (X.indptr[1:] < X.indptr[:-1]).any():
        return "an indptr that does not begin with 0, or falls"
    if len(X.data) != X.indices.size or X.indptr[-1] > X.indices.size:
        return (
            f"{X.indices.size} indices and {len(X.data)} values, of which indptr counts "
            f"{X.indptr[-1]},"
        )
    return _find_outside(X.indices[: X.indptr[-1]], n_inner, inner)


def _check_coordinates(X: Any) -> str | None:
    if not (_are_whole(X.row, X.col) and np.ndim(X.data) == 1):
        return "arrays of another kind or shape"
    if not X.row.size == X.col.size == X.data.size:
        return f"{X.row.size} rows, {X.col.size} columns and {X.data.size} values of cells"
    return _check_cells(X, X.row, X.col)


def _check_lists(X: Any) -> str | None:
    lengths = [list(map(len, lists)) for lists in (X.rows, X.data)]
    if lengths[0] != lengths[1] or len(lengths[0]) != X.shape[0]:
        return "lists of another length"
    return _find_outside(np.fromiter(chain(*X.rows), np.int64), X.shape[1], "column")


def _check_keys(X: Any) -> str | None:
    places = np.fromiter(chain(*X.keys()), np.int64, 2 * len(X.keys()))
    return _check_cells(X, places[::2], places[1::2])


def _check_diagonals(X: Any) -> str | None:
    if not _are_whole(X.offsets) or np.ndim(X.data) != 2 or X.offsets.size != len(X.data):
        return "diagonals of another number than their offsets"
    far = X.offsets[(X.offsets < -FURTHEST) | (X.offsets > FURTHEST)]
    return f"a diagonal at {far[0]}" if far.size else None


_CHECKS = {
    "csr": _check_compressed,
    "csc": _check_compressed,
    "bsr": _check_compressed,
    "coo": _check_coordinates,
    "lil": _check_lists,
    "dok": _check_keys,
    "dia": _check_diagonals,
}


def _are_whole(*arrays: Any) -> bool:
    """Return whether these are vectors of whole numbers."""
    return all(
        isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind == "i"
        for array in arrays
    )


def _check_cells(X: Any, rows: NDArray[Any], columns: NDArray[Any]) -> str | None:
    n_rows, n_columns = X.shape
    return _find_outside(rows, n_rows, "row") or _find_outside(columns, n_columns, "column")


def _find_outside(indices: NDArray[Any], n: int, kind: str) -> str | None:
    """Return the first index that is not from 0 to n - 1, in words."""
    if not indices.size:
        return None
    # Negative numbers without their sign are large: one pass is enough.
    largest = int(indices.view(indices.dtype.str.replace("i", "u")).max())
    if largest < min(n, np.iinfo(indices.dtype).max + 1):
        return None
    first = indices[(indices < 0) | (indices >= n)][0]
    return f"the index {first} among {n} {kind}s"


def _make_usual(X: Any) -> Any:
    """Return a matrix as scipy makes one: no reserve, contiguous arrays, one kind of indices."""
    n, parts = X.indptr[-1], (X.data, X.indices, X.indptr)
    is_usual = X.indices.dtype == X.indptr.dtype and X.indices.dtype in (np.int32, np.int64)
    if n == X.indices.size and is_usual and all(part.flags.c_contiguous for part in parts):
        return X
    data, indices, indptr = map(np.ascontiguousarray, parts)
    return type(X)((data[:n], indices[:n], indptr), shape=X.shape)
