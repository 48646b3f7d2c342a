"""The arrays of sparse matrices: what does not fit is refused, and what is only unusual is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from spokeshave.utils.sparse_format import check_format

FORMATS = ("csr", "csc", "bsr", "coo", "lil", "dok", "dia")
TABLE = np.array(
    [[0, 1, 2, 0], [0, 0, 0, 0], [3, 0, 0, 4], [0, 5, 6, 7], [8, 0, 0, 0], [0, 9, 0, 0]]
)


def make(format, container=sparse.csr_matrix):
    X = container(TABLE.astype(float))
    return X.tobsr((3, 2)) if format == "bsr" else X.asformat(format, copy=True)


def set_part(name, change):
    """Return a function that replaces an array of a matrix."""

    def set(X):
        array = getattr(X, name)
        found = change(array.copy())
        setattr(X, name, array if found is None else found)

    return set


def put(name, place, value, kind=np.int32):
    """Return a function that changes a number in an array of a matrix."""

    def change(array):
        array = array.astype(kind)
        array[place] = value
        return array

    return set_part(name, change)


def set_key(X):
    X._dict[0, 4] = 1.0


def set_odd_key(X):
    X._dict[0, "a"] = 1.0


OUTSIDE = (-1, 99, 2**31 - 1, -(2**31))
KIND, OFFSETS = "arrays of another kind or shape", "diagonals of another number than their offsets"
MALFORMED = [
    *(("csr", put("indices", 3, n), f"the index {n} among 4 columns") for n in OUTSIDE),
    *(("csc", put("indices", 3, n), f"the index {n} among 6 rows") for n in OUTSIDE),
    ("csr", put("indices", 0, 4), "the index 4 among 4 columns"),
    ("csr", put("indices", 0, 2**40, np.int64), f"the index {2**40} among 4 columns"),
    ("csr", put("indices", -1, -(2**63), np.int64), f"the index {-(2**63)} among 4 columns"),
    ("csc", put("indices", 0, 6), "the index 6 among 6 rows"),
    ("bsr", put("indices", 0, 2), "the index 2 among 2 columns"),
    ("csr", put("indptr", 2, 5), "an indptr that does not begin with 0, or falls"),
    ("csr", put("indptr", 2, -1), "an indptr that does not begin with 0, or falls"),
    ("csc", put("indptr", 0, 1), "an indptr that does not begin with 0, or falls"),
    ("csr", put("indptr", -1, 10), "9 indices and 9 values, of which indptr counts 10,"),
    ("csr", set_part("indptr", lambda a: a[:-1]), "6 entries of indptr for 6 rows"),
    ("csc", set_part("indptr", lambda a: a[:-1]), "4 entries of indptr for 4 columns"),
    ("csr", set_part("indptr", lambda a: a[:0]), "0 entries of indptr for 6 rows"),
    (
        "csr",
        set_part("data", lambda a: a[:-1]),
        "9 indices and 8 values, of which",
    ),
    ("csr", set_part("indices", lambda a: a[:-1]), "8 indices and 9 values, of which"),
    ("csr", set_part("indices", lambda a: a.astype(float)), KIND),
    ("csr", set_part("indptr", lambda a: a.tolist()), KIND),
    ("csr", set_part("indices", lambda a: a[None]), KIND),
    ("csr", set_part("data", lambda a: a[None]), KIND),
    ("bsr", set_part("data", lambda a: a[0]), KIND),
    (
        "bsr",
        set_part("data", lambda a: a[:, :2]),
        "3 entries of indptr for 3 rows",
    ),
    ("bsr", set_part("data", lambda a: a[:, :0]), r"blocks of 0 x 2 in a shape of \(6, 4\)"),
    ("coo", put("row", 0, 6), "the index 6 among 6 rows"),
    ("coo", put("col", 8, -1), "the index -1 among 4 columns"),
    ("coo", set_part("row", lambda a: a[:-1]), "8 rows, 9 columns and 9 values of cells"),
    ("coo", set_part("data", lambda a: a[:-1]), "9 rows, 9 columns and 8 values of cells"),
    ("lil", lambda X: X.rows[0].append(1), "lists of another length"),
    ("lil", lambda X: X.data[5].extend([1.0] * 99), "lists of another length"),
    ("lil", set_part("rows", lambda a: a[:-1]), "lists of another length"),
    ("lil", lambda X: X.rows[0].__setitem__(1, 4), "the index 4 among 4 columns"),
    ("lil", lambda X: X.rows[2].__setitem__(0, -1), "the index -1 among 4 columns"),
    ("lil", lambda X: X.rows[2].__setitem__(0, 2**70), "indices that are not whole numbers"),
    ("lil", lambda X: X.rows[2].__setitem__(0, "a"), "indices that are not whole numbers"),
    ("dok", set_key, "the index 4 among 4 columns"),
    ("dok", set_odd_key, "indices that are not whole numbers"),
    (
        "dia",
        set_part("offsets", lambda a: a[:-1]),
        OFFSETS,
    ),
    ("dia", put("offsets", 0, -(2**63), np.int64), f"a diagonal at {-(2**63)}"),
    ("dia", set_part("data", lambda a: a[:1]), OFFSETS),
]


@pytest.mark.parametrize(("format", "damage", "problem"), MALFORMED)
def test_a_malformed_matrix_is_refused(format, damage, problem):
    X = make(format)
    assert check_format(X) is X
    damage(X)
    expected = (
        rf"^documents must be a well-formed sparse matrix\. Got one in {format.upper()} format "
        rf"with ({problem})"
    )
    with pytest.raises(ValueError, match=expected):
        check_format(X, "documents")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array])
def test_a_matrix_of_any_format_is_not_copied(format, container):
    X = make(format, container)
    assert check_format(X) is X
    empty = container((0, 0)).asformat(format)
    assert check_format(empty) is empty


def test_what_is_not_sparse_is_returned():
    for given in (None, "no_validation", [1, 2], TABLE):
        assert check_format(given) is given


def test_a_sparse_vector_is_refused():
    with pytest.raises(ValueError, match=r"^y must be a matrix\. Got a sparse array of shape"):
        check_format(sparse.coo_array(np.ones(3)), "y")


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_unsorted_and_repeated_cells_are_allowed(format):
    X = make(format)
    data, indices = (np.repeat(part, 2)[::-1].copy() for part in (X.data, X.indices))
    repeated = type(X)((data, indices, 2 * X.indptr), X.shape)
    assert check_format(repeated) is repeated
    assert not repeated.has_canonical_format


@pytest.mark.parametrize("format", ["csr", "csc", "bsr"])
def test_reserve_is_left_out_without_a_copy(format):
    X = make(format)
    expected, data, indices = X.toarray(), X.data, X.indices
    X.data = np.append(data, np.full_like(data[:1], np.nan), axis=0)
    X.indices = np.append(indices, np.int32(99))
    found = check_format(X)
    np.testing.assert_array_equal(found.toarray(), expected)
    assert found.indices.size == found.indptr[-1]
    assert np.shares_memory(found.data, X.data)
    assert type(found) is type(X)


@pytest.mark.parametrize("format", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("name", ["data", "indices", "indptr"])
def test_arrays_with_gaps_are_made_contiguous(format, name):
    X = make(format)
    expected = X.toarray()
    setattr(X, name, np.repeat(getattr(X, name), 2, axis=0)[::2])
    found = check_format(X)
    assert getattr(found, name).flags.c_contiguous
    np.testing.assert_array_equal(found.toarray(), expected)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int64, ">i4", ">i8"])
def test_indices_of_another_kind_than_indptr_become_of_one(kind):
    X = make("csr")
    X.indices = X.indices.astype(kind)
    found = check_format(X)
    assert found.indices.dtype == found.indptr.dtype == np.int32
    np.testing.assert_array_equal(found.toarray(), TABLE)
    X.indices[0] = -1
    with pytest.raises(ValueError, match="the index -1 among 4 columns"):
        check_format(X)


def test_a_negative_index_is_refused_also_where_it_would_fit_without_its_sign():
    X = sparse.csr_matrix((np.ones(1), np.zeros(1, np.int32), [0, 1]), shape=(1, 2**33))
    assert check_format(X) is X
    X.indices = np.full(1, -1, np.int32)
    with pytest.raises(ValueError, match=f"the index -1 among {2**33} columns"):
        check_format(X)
