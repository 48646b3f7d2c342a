"""Shaping against its definition, document by document."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.special import logit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import TargetEncoder

from made_up import make_targets
from spokeshave import LocalProbabilityShaper
from spokeshave.shaping import levels
from spokeshave.shaping.levels import store_all
from spokeshave.shaping.local_probability import assign_folds
from spokeshave.utils.validation import binarize, check_targets

PROPERTY = settings(deadline=None, derandomize=True, max_examples=40)
NEIGHBORS = st.sampled_from([0, 1, 2, 3, 5, 7.5, 30, 1000])
OPTIONS = st.fixed_dictionaries(
    {
        "n_neighbors": NEIGHBORS,
        "output": st.sampled_from(["probability", "log_odds"]),
        "zero": st.sampled_from(["auto", "bin", "value"]),
    }
)
KINDS_OF_CELLS = [
    st.sampled_from([-1.0, 0.0, 0.0, 1.0, 2.0]),
    st.sampled_from([0.0, 1.0, 3.0, math.nan]),
    st.floats(-9, 9, width=32),
    st.just(2.5),
    st.just(math.nan),
]
KINDS_OF_TARGETS = pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])


@st.composite
def problems(draw, kinds=KINDS_OF_CELLS):
    """Draw a table, each of its columns of some kind, and labels of two classes."""
    n = draw(st.integers(2, 30))
    columns = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3))
    X = np.column_stack([draw(arrays(np.float64, n, elements=kind)) for kind in columns])
    y = draw(arrays(np.int64, n, elements=st.integers(0, 1)))
    y[:2] = 0, 1
    return X, y


def estimate_naively(documents, value, n_neighbors):
    """Return the estimate at a value from (value, is positive) of documents, None without any."""
    tied = [is_positive for v, is_positive in documents if v == value]
    n, positives = Fraction(len(tied)), Fraction(sum(tied))
    below = sorted({v for v, _ in documents if v < value}, reverse=True)
    above = sorted({v for v, _ in documents if v > value})
    for side in (below, above):
        room = Fraction(n_neighbors) / 2
        for v in side:
            group = [is_positive for w, is_positive in documents if w == v]
            share = min(room / len(group), 1)
            n += share * len(group)
            positives += share * sum(group)
            room -= share * len(group)
    return float((positives + 1) / (n + 2)) if n else None


def shape_naively(
    column, y, value, n_neighbors=30, *, zero_is_apart=False, zero_is_level=False, is_nominal=False
):
    """Return the probability at a value of a column, from the definition.

    Where zero is a level, values are interpolated with what zero has of its neighbours, even if no
    document is zero.
    """
    documents = [(v, int(label)) for v, label in zip(column.tolist(), y, strict=True)]
    prior = (sum(y) + 1) / (len(y) + 2)
    if math.isnan(value) or (zero_is_apart and value == 0):
        same = [p for v, p in documents if v == value or (v != v and value != value)]
        return (sum(same) + 1) / (len(same) + 2) if same else prior
    documents = [(v, p) for v, p in documents if v == v and not (zero_is_apart and v == 0)]
    known = sorted({v for v, _ in documents} | ({0.0} if zero_is_level else set()))
    if is_nominal:
        return estimate_naively(documents, value, 0) or prior
    if not known:
        return prior
    value = min(max(value, known[0]), known[-1])
    if value in known:
        return estimate_naively(documents, value, n_neighbors) or prior
    right = next(i for i, v in enumerate(known) if v > value)
    low, high = known[right - 1], known[right]
    left, right = (estimate_naively(documents, v, n_neighbors) or prior for v in (low, high))
    return left + (value - low) / (high - low) * (right - left)


def shape_table(
    X,
    y,
    queries,
    *,
    output="probability",
    zero="auto",
    n_neighbors=30,
    nominal=(),
    is_sparse=False,
):
    """Return the images of a table of queries, cell by cell; "auto" is for dense ones here."""
    images, is_shifted = np.empty(queries.shape), is_sparse or zero == "bin"
    for j in range(X.shape[1]):
        how = {"zero_is_apart": zero == "bin", "is_nominal": j in nominal}
        how["zero_is_level"] = is_sparse and zero == "value"
        found = [shape_naively(X[:, j], y, value, n_neighbors, **how) for value in queries[:, j]]
        base = shape_naively(X[:, j], y, 0.0, n_neighbors, **how)
        if output == "log_odds":
            found, base = logit(found), logit(base)
        images[:, j] = np.array(found) - (base if is_shifted else 0)
    return images


@PROPERTY
@given(problems(), OPTIONS)
def test_known_values_get_the_estimate_of_the_definition(problem, options):
    X, y = problem
    shaper = LocalProbabilityShaper(**options).fit(X, y)
    np.testing.assert_allclose(shaper.transform(X), shape_table(X, y, X, **options), atol=1e-12)


@PROPERTY
@given(problems(), OPTIONS, st.data())
def test_new_values_get_the_image_of_the_definition(problem, options, data):
    X, y = problem
    cells = st.sampled_from([0.0, 1.0, 1.25, -0.5, math.nan]) | st.floats(-20, 20, width=32)
    queries = data.draw(arrays(np.float64, (4, X.shape[1]), elements=cells))
    shaper = LocalProbabilityShaper(**options).fit(X, y)
    expected = shape_table(X, y, queries, **options)
    np.testing.assert_allclose(shaper.transform(queries), expected, rtol=1e-6, atol=1e-9)


@PROPERTY
@given(problems(KINDS_OF_CELLS[:2]), OPTIONS)
def test_nominal_values_get_their_own_share(problem, options):
    X, y = problem
    queries = np.vstack([X, np.full(X.shape[1], 9.0), np.full(X.shape[1], math.nan)])
    nominal = list(range(X.shape[1]))
    shaper = LocalProbabilityShaper(nominal=nominal, **options).fit(X, y)
    expected = shape_table(X, y, queries, nominal=nominal, **options)
    np.testing.assert_allclose(shaper.transform(queries), expected, atol=1e-12)


def test_a_worked_example():
    speed, hurt = np.array([[40.0], [45], [60], [62], [63], [90], [95]]), [1, 1, 0, 0, 0, 1, 1]
    shaper = LocalProbabilityShaper(n_neighbors=2).fit(speed, hurt)
    estimates = [3 / 4, 3 / 5, 2 / 5, 1 / 5, 2 / 5, 3 / 5, 3 / 4]
    np.testing.assert_allclose(shaper.transform(speed).ravel(), estimates)
    new = [[-1e9], [39], [42.5], [61], [62.5], [72], [96], [1e300]]
    expected = [0.75, 0.75, 0.675, 0.3, 0.3, 0.4 + 0.2 * 9 / 27, 0.75, 0.75]
    np.testing.assert_allclose(shaper.transform(new).ravel(), expected)
    odds = shaper.set_params(output="log_odds").fit(speed, hurt).transform(new).ravel()
    np.testing.assert_allclose(odds, logit(expected))


@pytest.mark.parametrize("output", ["probability", "log_odds"])
@pytest.mark.parametrize("nominal", ["auto", [0]])
def test_where_nothing_is_known_there_is_the_prior(output, nominal):
    X, y = [[1.0], [1], [2], [2], [2]], [1, 0, 0, 0, 0]
    shaper = LocalProbabilityShaper(output=output, nominal=nominal).fit(X, y)
    prior = 2 / 7 if output == "probability" else logit(2 / 7)
    assert shaper.transform([[math.nan]])[0, 0] == pytest.approx(prior)
    if nominal != "auto":
        assert shaper.transform([[1.5]])[0, 0] == pytest.approx(prior)
    missing = LocalProbabilityShaper(output=output).fit([[math.nan]] * 5, y)
    assert missing.transform([[3.0]])[0, 0] == pytest.approx(prior)


@PROPERTY
@given(problems(), OPTIONS, st.booleans())
def test_fitting_and_shaping_at_once_is_the_same(problem, options, is_sparse):
    X, y = problem
    X = sparse.csr_matrix(X) if is_sparse else X
    shaper = LocalProbabilityShaper(**options)
    at_once = shaper.fit_transform(X, y)
    again = clone(shaper).fit(X, y)
    for shaped in (shaper.transform(X), again.transform(X), again.transform(X)):
        np.testing.assert_array_equal(to_dense(shaped), to_dense(at_once))


def to_dense(X):
    return X.toarray() if sparse.issparse(X) else X


@PROPERTY
@given(problems(), OPTIONS, st.randoms(use_true_random=False))
def test_permuted_rows_give_permuted_answers(problem, options, random):
    X, y = problem
    order = list(range(len(y)))
    random.shuffle(order)
    straight = LocalProbabilityShaper(**options).fit_transform(X, y)
    permuted = LocalProbabilityShaper(**options).fit_transform(X[order], y[order])
    np.testing.assert_array_equal(permuted, straight[order])


@PROPERTY
@given(problems(), OPTIONS, st.booleans())
def test_a_column_does_not_see_the_others(problem, options, is_sparse):
    X, y = problem
    shape = LocalProbabilityShaper(**options).fit_transform
    together = to_dense(shape(sparse.csr_matrix(X) if is_sparse else X, y))
    for j in range(X.shape[1]):
        column = sparse.csr_matrix(X[:, [j]]) if is_sparse else X[:, [j]]
        np.testing.assert_array_equal(together[:, [j]], to_dense(shape(column, y)))


@PROPERTY
@given(problems(), OPTIONS)
def test_equal_values_have_equal_images(problem, options):
    X, y = problem
    shaped = LocalProbabilityShaper(**options).fit_transform(X, y)
    for column, images in zip(X.T, shaped.T, strict=True):
        same = (column[:, None] == column) | (np.isnan(column[:, None]) & np.isnan(column))
        np.testing.assert_array_equal((images[:, None] == images)[same], True)


@KINDS_OF_TARGETS
@pytest.mark.parametrize("cross_fit", [True, False])
@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_change_nothing(kind, cross_fit, n_jobs, monkeypatch):
    X, y = make_targets(kind)
    options = {"cross_fit": cross_fit, "random_state": 0}
    for documents in (X, X.toarray()):
        alone = LocalProbabilityShaper(**options)
        expected = to_dense(alone.fit_transform(documents, y))
        with monkeypatch.context() as patch:
            patch.setattr(levels, "WORTH_A_THREAD", 100)
            together = LocalProbabilityShaper(n_jobs=n_jobs, **options)
            found = to_dense(together.fit_transform(documents, y))
            new = to_dense(together.transform(documents * 1.1))
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(new, to_dense(alone.transform(documents * 1.1)))


def spoil(X):
    """Return the same documents with zeros stored, values split in two, and columns unsorted."""
    rows, columns = np.nonzero(X)
    empty = np.argwhere(X == 0)[:3]
    rows = np.concatenate([rows, rows, empty[:, 0]])[::-1]
    columns = np.concatenate([columns, columns, empty[:, 1]])[::-1]
    half = X[np.nonzero(X)] / 2
    data = np.concatenate([half, half, np.zeros(len(empty))])[::-1]
    order = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(X)))])
    return sparse.csr_matrix((data[order], columns[order], indptr), X.shape)


FORMS = {
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_matrix,
    "csr array": sparse.csr_array,
    "coo array": sparse.coo_array,
    "spoilt": spoil,
}


@PROPERTY
@given(problems(KINDS_OF_CELLS[:3]), OPTIONS, st.sampled_from(sorted(FORMS)))
def test_sparse_documents_are_shaped_as_dense_ones_with_a_bin(problem, options, form):
    X, y = problem
    given_ = FORMS[form](X)
    shaped = LocalProbabilityShaper(**options | {"zero": "auto"}).fit_transform(given_, y)
    expected = LocalProbabilityShaper(**options | {"zero": "bin"}).fit_transform(X, y)
    assert sparse.issparse(shaped)
    assert shaped.format == "csr"
    assert shaped.nnz <= np.count_nonzero(X)
    np.testing.assert_array_equal(shaped.toarray(), expected)
    np.testing.assert_array_equal(expected[X == 0], 0)


@PROPERTY
@given(problems(KINDS_OF_CELLS[:3]), OPTIONS, st.sampled_from(sorted(FORMS)))
def test_zero_as_a_value_of_sparse_columns_that_have_one_loses_its_image(problem, options, form):
    X, y = problem
    X[0] = 0
    options = options | {"zero": "value"}
    dense = LocalProbabilityShaper(**options).fit(X, y)
    shaper = LocalProbabilityShaper(**options).fit(FORMS[form](X), y)
    queries = np.vstack([X, X + 0.25, X * 1.5])
    expected = dense.transform(queries) - dense.transform(np.zeros((1, X.shape[1])))
    shaped = shaper.transform(FORMS[form](queries))
    assert shaped.nnz <= np.count_nonzero(queries)
    np.testing.assert_allclose(shaped.toarray(), expected, atol=1e-12)


@PROPERTY
@given(problems(), OPTIONS, st.sampled_from(sorted(FORMS)), st.booleans())
def test_zero_as_a_value_is_a_level_of_sparse_columns_even_of_full_ones(
    problem, options, form, is_nominal
):
    X, y = problem
    options = options | {"zero": "value", "nominal": [0] if is_nominal else []}
    shaper = LocalProbabilityShaper(**options)
    shaped = shaper.fit_transform(FORMS[form](X), y)
    expected = shape_table(X, y, X, is_sparse=True, **options)
    np.testing.assert_allclose(shaped.toarray(), expected, atol=1e-12)
    queries = np.vstack([X, X + 0.25, X * 1.5, X - 3])
    expected = shape_table(X, y, queries, is_sparse=True, **options)
    found = shaper.transform(FORMS[form](queries)).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("n_neighbors", "zero"),
    [
        (0, 3 / 7),  # nobody: the prior
        (2, 2 / 4),  # -1 and 1
        (5, 3 / 6.5),  # all but half of 4, which is not of the class
        (100, 3 / 7),
    ],
)
def test_a_zero_that_no_document_of_a_sparse_column_has_loses_what_its_neighbours_give(
    n_neighbors, zero
):
    X, y = np.array([[-2.0], [-1], [1], [3], [4]]), [1, 0, 1, 0, 0]
    options = {"n_neighbors": n_neighbors, "zero": "value"}
    dense = LocalProbabilityShaper(**options).fit(X, y)
    shaper = LocalProbabilityShaper(**options).fit(sparse.csr_matrix(X), y)
    shaped = shaper.transform(sparse.csr_matrix(X)).toarray()
    np.testing.assert_allclose(shaped, dense.transform(X) - zero, atol=1e-12)
    half = shaper.transform(sparse.csr_matrix([[0.5]])).toarray()
    np.testing.assert_allclose(half[0, 0], shaped[2, 0] / 2, atol=1e-12)


def test_columns_may_be_empty_or_full():
    X = np.zeros((6, 3))
    X[:, 1] = [1, 2, 3, 4, 5, 6]
    X[2, 2] = 1
    y = [0, 1, 0, 1, 1, 0]
    shaper = LocalProbabilityShaper(n_neighbors=2).fit(sparse.csr_matrix(X), y)
    shaped = shaper.transform(sparse.csr_matrix(X)).toarray()
    assert not shaped[:, 0].any()
    full = [shape_naively(X[:, 1], y, value, 2) - 0.5 for value in X[:, 1]]
    np.testing.assert_allclose(shaped[:, 1], full)
    np.testing.assert_allclose(shaped[:, 2], [0, 0, 1 / 3 - 4 / 7, 0, 0, 0])
    new = shaper.transform(sparse.csr_matrix([[5.0, 0, 0]]))
    assert not new.toarray().any()


@pytest.mark.parametrize("cross_fit", [True, False])
@pytest.mark.parametrize("make", [np.asarray, *FORMS.values()])
def test_documents_are_never_changed(rng, make, cross_fit):
    table = rng.choice([0.0, 0.0, 1.0, 2.0, math.nan], (30, 4))
    X, y = make(table), np.arange(30) % 2
    before = X.copy()
    shaper = LocalProbabilityShaper(cross_fit=cross_fit, zero="bin", random_state=0)
    shaper.fit_transform(X, y)
    shaper.transform(X)
    if not sparse.issparse(X):
        np.testing.assert_array_equal(X, before)
        return
    for name in ("data", "indices", "indptr") if hasattr(X, "indptr") else ("data", "coords"):
        np.testing.assert_array_equal(getattr(X, name), getattr(before, name))


@KINDS_OF_TARGETS
@pytest.mark.parametrize("options", [{}, {"cross_fit": True}, {"zero": "value"}])
def test_what_is_shaped_can_be_changed_without_changing_the_documents(kind, options):
    X, y = make_targets(kind)
    before, shaper = X.toarray(), LocalProbabilityShaper(random_state=0, **options)
    for shaped in (shaper.fit_transform(X, y), shaper.transform(X)):
        for name in ("data", "indices", "indptr"):
            assert not np.shares_memory(getattr(shaped, name), getattr(X, name))
        shaped.data[::2] = 0
        shaped.eliminate_zeros()
        np.testing.assert_array_equal(X.toarray(), before)


@KINDS_OF_TARGETS
@pytest.mark.parametrize("cross_fit", [True, False])
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (sparse.csr_matrix, sparse.csr_matrix),
        (sparse.csc_matrix, sparse.csr_matrix),
        (sparse.csr_array, sparse.csr_array),
        (sparse.csc_array, sparse.csr_array),
        (sparse.coo_array, sparse.csr_array),
    ],
)
def test_sparse_matrices_stay_matrices_and_sparse_arrays_arrays(kind, cross_fit, make, expected):
    X, y = make_targets(kind)
    shaper = LocalProbabilityShaper(cross_fit=cross_fit, random_state=0)
    plain = shaper.fit_transform(X, y), shaper.transform(X)
    found = shaper.fit_transform(make(X), y), shaper.transform(make(X))
    for mine, other in zip(found, plain, strict=True):
        assert type(mine) is expected
        np.testing.assert_array_equal(mine.toarray(), other.toarray())


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("cross_fit", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_single_precision_stays_single(rng, make, cross_fit, dtype):
    X, y = make(rng.integers(0, 4, (30, 3)).astype(dtype)), np.arange(30) % 2
    shaper = LocalProbabilityShaper(cross_fit=cross_fit, random_state=0)
    expected = np.float32 if dtype == np.float32 else np.float64
    assert shaper.fit_transform(X, y).dtype == expected
    assert shaper.transform(X).dtype == expected
    whole = LocalProbabilityShaper(cross_fit=cross_fit, random_state=0)
    exact = to_dense(whole.fit_transform(X.astype(float), y))
    np.testing.assert_allclose(to_dense(shaper.fit_transform(X, y)), exact, atol=1e-7)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_matrix.toarray])
@pytest.mark.parametrize("output", ["probability", "log_odds"])
@pytest.mark.parametrize("kind", ["labels", "multilabel"])
def test_each_class_has_its_column_beside_the_others(kind, output, make):
    X, y = make_targets(kind)
    X = make(X)
    shaped = to_dense(LocalProbabilityShaper(output=output).fit_transform(X, y))
    assert shaped.shape == (90, 120)
    for k in range(3):
        positive = y[:, k] if kind == "multilabel" else y == k
        alone = LocalProbabilityShaper(output=output).fit_transform(X, positive)
        np.testing.assert_array_equal(shaped[:, k::3], to_dense(alone))


def test_columns_are_named_as_target_encoder_does(rng):
    names, labels = ["age", "wage"], np.array(["ash", "elm", "oak"])
    X = pd.DataFrame(rng.integers(0, 4, (60, 2)).astype(float), columns=names)
    for y in (labels[np.arange(60) % 3], labels[np.arange(60) % 2]):
        peer = TargetEncoder().fit(X, y).get_feature_names_out()
        mine = LocalProbabilityShaper().fit(X, y)
        np.testing.assert_array_equal(mine.get_feature_names_out(), peer)
        assert mine.transform(X).shape[1] == len(peer)
    bare = LocalProbabilityShaper().fit(X.to_numpy(), labels[np.arange(60) % 3])
    assert bare.get_feature_names_out()[:4].tolist() == ["x0_ash", "x0_elm", "x0_oak", "x1_ash"]
    assert bare.get_feature_names_out(["a", "b"])[-1] == "b_oak"


@pytest.mark.parametrize("options", [{"n_neighbors": 0}, {"nominal": [0, 1]}])
def test_without_neighbours_it_is_the_share_among_equal_values(rng, options):
    X, y = rng.integers(0, 4, (80, 2)).astype(float), rng.integers(0, 3, 80)
    shaped = LocalProbabilityShaper(**options).fit_transform(X, y)
    for j in range(2):
        for k in range(3):
            frame = pd.DataFrame({"value": X[:, j], "positive": y == k})
            by_value = frame.groupby("value").positive.agg(["sum", "count"])
            share = (by_value["sum"] + 1) / (by_value["count"] + 2)
            np.testing.assert_allclose(shaped[:, 3 * j + k], share.loc[X[:, j]])


def test_a_class_without_documents_is_unlikely_everywhere():
    X, y = np.arange(6.0)[:, None], np.array([[1, 0], [0, 0], [1, 0], [0, 0], [0, 0], [1, 0]])
    shaped = LocalProbabilityShaper(n_neighbors=2).fit_transform(X, y)
    np.testing.assert_allclose(shaped[:, 1], 1 / np.array([4, 5, 5, 5, 5, 4]))


def estimate_by_others(value, column, labels, n_neighbors, *, zero_is_apart):
    """Return the probability at a value, of its neighbours where no other document has it."""
    prior = (labels.sum() + 1) / (labels.size + 2)
    if math.isnan(value) or (zero_is_apart and value == 0):
        return shape_naively(column, labels, value, zero_is_apart=zero_is_apart)
    amounts = ~np.isnan(column) & ~(zero_is_apart & (column == 0))
    documents = list(zip(column[amounts], labels[amounts].astype(int), strict=True))
    return estimate_naively(documents, value, n_neighbors) or prior


def cross_fit_naively(
    X, y, fold_of, *, output, zero, n_neighbors, nominal=(), is_sparse=False, cv=5
):
    """Return the images of each document, from the documents of the other folds only."""
    images, zero_is_apart = np.empty(X.shape), zero == "bin"
    bend = logit if output == "log_odds" else float
    for i, j in np.ndindex(X.shape):
        others = fold_of != fold_of[i]
        rest = X[others, j], y[others], 0 if j in nominal else n_neighbors
        images[i, j] = bend(estimate_by_others(X[i, j], *rest, zero_is_apart=zero_is_apart))
        if is_sparse or zero_is_apart:
            images[i, j] -= bend(estimate_by_others(0.0, *rest, zero_is_apart=zero_is_apart))
    return images


@PROPERTY
@given(problems(), OPTIONS, st.integers(2, 6), st.booleans(), st.sampled_from([None, *FORMS]))
def test_cross_fitted_documents_are_shaped_by_the_others(problem, options, cv, is_nominal, form):
    X, y = problem
    make = np.asarray if form is None else FORMS[form]
    is_sparse = form is not None
    if options["zero"] == "auto":
        options = options | {"zero": "bin" if is_sparse else "value"}
    options = options | {"cv": cv, "nominal": [0] if is_nominal else []}
    shaper = LocalProbabilityShaper(cross_fit=True, random_state=7, **options)
    shaped = to_dense(shaper.fit_transform(make(X), y))
    fold_of = assign_folds(binarize(check_targets(y))[1], cv, np.random.RandomState(7))
    expected = cross_fit_naively(X, y, fold_of, is_sparse=is_sparse, **options)
    np.testing.assert_allclose(shaped, expected, atol=1e-12)
    plain = to_dense(LocalProbabilityShaper(**options).fit(make(X), y).transform(make(X)))
    np.testing.assert_array_equal(to_dense(shaper.transform(make(X))), plain)


def test_a_value_that_only_its_own_fold_has_gets_the_estimate_of_its_neighbours():
    X, y = np.arange(6.0)[:, None], np.array([1, 1, 1, 0, 0, 0])
    shaper = LocalProbabilityShaper(n_neighbors=2, cross_fit=True, cv=6, random_state=0)
    shaped = shaper.fit_transform(X, y).ravel()
    # Each has one neighbour below and one above, but for the first and the last.
    np.testing.assert_allclose(shaped, [2 / 3, 3 / 4, 2 / 4, 2 / 4, 1 / 4, 1 / 3])


@KINDS_OF_TARGETS
@pytest.mark.parametrize("form", ["csr", "spoilt", "dense"])
def test_values_that_others_have_are_shaped_as_by_a_shaper_of_the_others(kind, form, rng):
    _, y = make_targets(kind)
    X = rng.choice([0.0, 0.0, 1.0, 2.0, 3.0, math.nan], (90, 3))
    make = FORMS.get(form, np.asarray)
    options = {"n_neighbors": 4, "output": "log_odds", "random_state": 3}
    shaper = LocalProbabilityShaper(cross_fit=True, **options)
    shaped = to_dense(shaper.fit_transform(make(X), y))
    fold_of = assign_folds(binarize(check_targets(y))[1], 5, np.random.RandomState(3))
    for fold in range(5):
        mine, others = fold_of == fold, fold_of != fold
        expected = LocalProbabilityShaper(**options).fit(make(X[others]), y[others])
        images = to_dense(expected.transform(make(X[mine])))
        np.testing.assert_allclose(shaped[mine], images, atol=1e-12)


def test_folds_are_reproduced_by_a_seed():
    X, y = make_targets("labels")
    shaped = [
        LocalProbabilityShaper(cross_fit=True, random_state=seed).fit_transform(X, y).toarray()
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(shaped[0], shaped[1])
    assert (shaped[0] != shaped[2]).any()


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=60), st.integers(2, 7), st.integers(0, 9))
def test_folds_are_stratified(labels, n_folds, seed):
    y = np.array([9, 8, *labels])
    fold_of = assign_folds(binarize(y)[1], n_folds, np.random.RandomState(seed))
    for documents in (np.ones(y.size, bool), *(y == label for label in set(y.tolist()))):
        sizes = np.bincount(fold_of[documents], minlength=n_folds)[:n_folds]
        assert sizes.max() - sizes.min() <= 1


def test_more_folds_than_documents_leave_each_one_out():
    X, y = np.array([[1.0], [2.0], [3.0]]), [0, 1, 1]
    shaper = LocalProbabilityShaper(cross_fit=True, cv=9, n_neighbors=0, random_state=0)
    np.testing.assert_allclose(shaper.fit_transform(X, y).ravel(), [3 / 4, 2 / 4, 2 / 4])


def choose_naively(X, positive, **options):
    """Return the neighbours under which documents that are left out are likeliest."""
    likelihood = {}
    for n_neighbors in (30, 10, 90, 270):
        shaper = LocalProbabilityShaper(n_neighbors=n_neighbors, cross_fit=True, **options)
        p = shaper.fit_transform(X, positive)
        likelihood[n_neighbors] = np.log(np.where(positive[:, None], p, 1 - p))
    chosen = []
    for j in range(X.shape[1]):
        gains = {n: (of_n - likelihood[30])[:, j] for n, of_n in likelihood.items() if n != 30}
        better = {
            n: gain.mean() for n, gain in gains.items() if gain.mean() > gain.std() / len(X) ** 0.5
        }
        chosen.append(max(better, key=better.get) if better else 30)
    return chosen


def make_steps(rng):
    """Return features that ask for many neighbours, for few, and for the usual number."""
    x = rng.uniform(0, 10, 600)
    y = (rng.random(600) < np.where(x.astype(int) % 2, 0.95, 0.05)).astype(int)
    noise = rng.normal(size=600)
    ties = rng.integers(0, 3, 600).astype(float)
    missing = np.where(rng.random(600) < 0.2, math.nan, x)
    return np.column_stack([x, x // 0.01, noise, ties, missing, 9 * y + noise]), y


@pytest.mark.parametrize("seed", [0, 1])
def test_auto_takes_the_neighbours_that_make_others_likeliest(seed):
    X, y = make_steps(np.random.default_rng(seed))
    shaper = LocalProbabilityShaper(n_neighbors="auto", random_state=seed).fit(X, y)
    expected = choose_naively(X, y == 1, random_state=seed)
    assert shaper.n_neighbors_.tolist() == [expected]
    assert len(set(expected)) > 1
    for j, n_neighbors in enumerate(expected):
        alone = LocalProbabilityShaper(n_neighbors=n_neighbors).fit_transform(X, y)
        np.testing.assert_array_equal(shaper.transform(X)[:, j], alone[:, j])


def test_auto_is_the_same_for_sparse_documents_with_a_seed(rng):
    X, y = make_steps(rng)
    X[rng.random(X.shape) < 0.5] = 0
    y = y + (rng.random(600) < 0.3)
    shaper = LocalProbabilityShaper(n_neighbors="auto", zero="bin", random_state=0)
    dense = shaper.fit(X, y).n_neighbors_
    assert dense.shape == (3, 6)
    on_sparse = clone(shaper).set_params(zero="auto").fit(sparse.csr_matrix(X), y).n_neighbors_
    np.testing.assert_array_equal(dense, on_sparse)


def test_names_need_no_neighbours(rng):
    X, y = make_steps(rng)
    shaper = LocalProbabilityShaper(n_neighbors="auto", nominal=[3], random_state=0).fit(X, y)
    assert shaper.n_neighbors_[0, 3] == 30
    plain = LocalProbabilityShaper(nominal=[3]).fit(X, y)
    np.testing.assert_array_equal(shaper.transform(X)[:, 3], plain.transform(X)[:, 3])


@pytest.mark.parametrize("n_neighbors", [12, "auto"])
def test_every_class_and_feature_has_a_number_of_neighbours(n_neighbors):
    X, y = make_targets("labels")
    shaper = LocalProbabilityShaper(n_neighbors=n_neighbors, random_state=0).fit(X, y)
    assert shaper.n_neighbors_.shape == (3, 40)
    assert set(shaper.n_neighbors_.ravel()) <= ({12} if n_neighbors == 12 else {10, 30, 90, 270})


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_matrix.toarray])
def test_neighbours_are_chosen_by_the_folds_of_cross_fitting(make):
    X, y = make_targets("labels")
    options = {"n_neighbors": "auto", "cv": 3, "random_state": 5}
    chosen = LocalProbabilityShaper(**options).fit(make(X), y).n_neighbors_
    crossed = LocalProbabilityShaper(cross_fit=True, **options)
    shaped = to_dense(crossed.fit_transform(make(X), y))
    np.testing.assert_array_equal(crossed.n_neighbors_, chosen)
    assert len(set(chosen.ravel())) > 1
    for n_neighbors in set(chosen.ravel()):
        alone = LocalProbabilityShaper(cross_fit=True, **options | {"n_neighbors": n_neighbors})
        of_number = to_dense(alone.fit_transform(make(X), y))
        is_chosen = np.equal(chosen.T, n_neighbors).ravel()
        np.testing.assert_array_equal(shaped[:, is_chosen], of_number[:, is_chosen])


def test_one_document_is_enough_where_it_may_have_many_labels():
    X, y = [[1.0, 2.0]], np.array([[1, 0]])
    shaped = LocalProbabilityShaper(n_neighbors="auto").fit_transform(X, y)
    np.testing.assert_allclose(shaped, [[2 / 3, 1 / 3] * 2])
    crossed = LocalProbabilityShaper(cross_fit=True).fit_transform(X, y)
    np.testing.assert_array_equal(crossed, [[0.5] * 4])


JOBS = ["smith", "cook", None, "smith", "cook", "clerk", "smith", None]
AGES = [30.0, 41.0, 52.0, math.nan, 30.0, 28.0, 63.0, 41.0]
WEDDED = [1, 0, 1, 1, 0, 0, 1, 0]


def make_frames(jobs=JOBS):
    """Return the same table by pandas and polars, in several kinds of columns."""
    is_old = [bool(age > 40) for age in AGES]
    columns = {"age": AGES, "job": jobs, "old": is_old}
    frame, table = pd.DataFrame(columns), pl.DataFrame(columns, strict=False)
    table = table.with_columns(age=pl.col("age").fill_nan(None))
    known = pl.Enum(sorted({job for job in jobs if job}))
    return {
        "pandas": frame,
        "category": frame.astype({"job": "category"}),
        "pandas with NA": frame.astype({"job": "string", "old": "boolean", "age": "Float64"}),
        "polars": table,
        "polars category": table.cast({"job": pl.Categorical}),
        "polars enum": table.cast({"job": known}),
    }


def shape_jobs(jobs):
    """Return the share of the wedded among those of each job."""
    of_job = {}
    for job, wedded in zip(JOBS, WEDDED, strict=True):
        of_job.setdefault(job, []).append(wedded)
    prior = (sum(WEDDED) + 1) / (len(WEDDED) + 2)
    return [
        (sum(of_job[job]) + 1) / (len(of_job[job]) + 2) if job in of_job else prior for job in jobs
    ]


@pytest.mark.parametrize("kind", make_frames())
@pytest.mark.parametrize("output", ["probability", "log_odds"])
def test_frames_are_shaped_with_their_names_nominal(kind, output):
    frame = make_frames()[kind]
    shaper = LocalProbabilityShaper(n_neighbors=2, output=output)
    shaped = shaper.fit_transform(frame, WEDDED)
    ages, is_old = np.array(AGES), np.array(AGES) > 40
    of_old = [3 / 6, 3 / 6]
    expected = [
        [shape_naively(ages, WEDDED, age, 2) for age in AGES],
        shape_jobs(JOBS),
        [of_old[int(old)] for old in is_old],
    ]
    expected = np.transpose(expected)
    np.testing.assert_allclose(shaped, logit(expected) if output == "log_odds" else expected)
    np.testing.assert_array_equal(shaper.transform(frame), shaped)
    assert shaper.is_nominal_.tolist() == [False, True, True]


@pytest.mark.parametrize("kind", make_frames())
def test_new_names_get_the_prior(kind):
    frames = make_frames()
    shaper = LocalProbabilityShaper().fit(frames[kind], WEDDED)
    jobs = ["cook", "king", None, "smith", "clerk", None, "earl", "cook"]
    shaped = shaper.transform(make_frames(jobs)[kind])
    np.testing.assert_allclose(shaped[:, 1], shape_jobs(jobs))


@pytest.mark.parametrize("kind", make_frames())
def test_the_shape_of_names_tells_the_names(kind):
    shape = LocalProbabilityShaper().fit(make_frames()[kind], WEDDED).shape_of("job")
    assert shape.values.tolist() == ["clerk", "cook", "smith"]
    assert shape.sizes.tolist() == [1, 2, 3]
    assert (shape.name, shape.n_missing, shape.is_nominal) == ("job", 2, True)
    np.testing.assert_allclose(shape.images[0], shape_jobs(shape.values))
    np.testing.assert_allclose(shape.missing, shape_jobs([None])[0])


def test_frames_of_numbers_are_shaped_as_arrays(rng):
    X, y = rng.integers(0, 5, (40, 3)).astype(float), np.arange(40) % 2
    X[::7] = math.nan
    expected = LocalProbabilityShaper().fit_transform(X, y)
    names = ["a", "b", "c"]
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        shaper = LocalProbabilityShaper()
        np.testing.assert_array_equal(shaper.fit_transform(frame, y), expected)
        assert shaper.feature_names_in_.tolist() == names


@pytest.mark.parametrize("nominal", [[1], ["b"], "b", 1, [False, True], np.array([False, True])])
@pytest.mark.parametrize("is_frame", [True, False])
def test_columns_are_made_nominal_by_number_name_or_mask(nominal, is_frame, rng):
    table, y = rng.integers(0, 5, (40, 2)).astype(float), np.arange(40) % 2
    X = pd.DataFrame(table, columns=["a", "b"]) if is_frame else table
    if not is_frame and isinstance(nominal, str | list) and "b" in nominal:
        nominal = ["x1"]
    shaped = LocalProbabilityShaper(nominal=nominal, n_neighbors=4).fit_transform(X, y)
    np.testing.assert_allclose(shaped, shape_table(table, y, table, n_neighbors=4, nominal=[1]))


def test_names_are_nominal_even_where_columns_have_numbers():
    frame = pd.DataFrame({0: AGES, 1: JOBS})
    shaper = LocalProbabilityShaper().fit(frame, WEDDED)
    np.testing.assert_allclose(shaper.transform(frame)[:, 1], shape_jobs(JOBS))
    assert shaper.shape_of(1).values.tolist() == ["clerk", "cook", "smith"]


@pytest.mark.parametrize("kind", make_frames())
def test_names_are_encoded_as_numbers(kind):
    frame = make_frames()[kind]
    shaper = LocalProbabilityShaper().fit(frame, WEDDED)
    number_of = {"clerk": 1, "cook": 2, "smith": 3, None: math.nan}
    jobs, is_old = [number_of[job] for job in JOBS], [1 + (age > 40) for age in AGES]
    expected = np.column_stack([AGES, jobs, is_old])
    np.testing.assert_array_equal(shaper._check_table(frame), expected)
    other = make_frames(["king", *JOBS[1:]])[kind]
    assert shaper._check_table(other)[0].tolist() == [30, -1, 1]


@pytest.mark.parametrize("make", [np.asarray, *FORMS.values()])
def test_numbers_stay_as_they_are(make, rng):
    X = make(rng.choice([0.0, 1.0, 2.5, math.nan], (20, 3)))
    shaper = LocalProbabilityShaper().fit(X, np.arange(20) % 2)
    np.testing.assert_array_equal(to_dense(shaper._check_table(X)), to_dense(X))


@pytest.mark.parametrize("zero", ["bin", "value"])
@pytest.mark.parametrize("make", [np.asarray, *FORMS.values()])
def test_documents_are_read_without_zeros_where_these_stay_zero(make, zero, rng):
    table = rng.choice([0.0, 1.0, 2.5, math.nan], (20, 3))
    X = make(table)
    rows = LocalProbabilityShaper(zero=zero).fit(X, np.arange(20) % 2)._read(X)
    np.testing.assert_array_equal(rows.matrix.toarray(), table)
    is_whole = zero == "value" and not sparse.issparse(X)
    assert rows.matrix.nnz == (table.size if is_whole else np.count_nonzero(table))
    if sparse.issparse(X):
        is_array = isinstance(X, sparse.sparray)
        assert rows.container is (sparse.csr_array if is_array else sparse.csr_matrix)
    else:
        assert rows.container is None


@KINDS_OF_TARGETS
@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_matrix.toarray])
def test_training_data_are_those_of_the_documents(kind, make):
    X, y = make_targets(kind)
    shaper, options = LocalProbabilityShaper(random_state=4), {"cv": 3, "cross_fit": True}
    training = shaper.set_params(**options)._fit(make(X), y)
    rows = X if make is sparse.csr_matrix else store_all(X.toarray())
    values = training.cell_levels.levels.values[training.positions.left]
    np.testing.assert_array_equal(values, rows.data)
    np.testing.assert_array_equal(training.positions.indices, rows.indices)
    assert training.positions.share is None
    _, indicator = binarize(check_targets(y))
    np.testing.assert_array_equal(training.indicator.toarray(), indicator.toarray())
    np.testing.assert_array_equal(
        training.fold_of, assign_folds(indicator, 3, np.random.RandomState(4))
    )
    folds = list(training.count_folds())
    assert [fold.n_documents for fold in folds] == [30, 30, 30]
    np.testing.assert_array_equal(sum(fold.sizes for fold in folds), training.counts.sizes)
    fitted = LocalProbabilityShaper(random_state=4, **options).fit(make(X), y)
    np.testing.assert_array_equal(shaper.shapes_.probability, fitted.shapes_.probability)


def test_zero_is_a_bin_of_amounts_and_never_a_name():
    frame = pd.DataFrame({"kids": [0.0, 2, 0, 1, 3, 0, 1, 2], "job": JOBS})
    shaper = LocalProbabilityShaper(zero="bin").fit(frame, WEDDED)
    prior = (sum(WEDDED) + 1) / (len(WEDDED) + 2)
    expected = np.array(shape_jobs(JOBS)) - prior
    np.testing.assert_allclose(shaper.transform(frame)[:, 1], expected)
    assert (shaper.shape_of("kids").n_zero, shaper.shape_of("job").n_zero) == (3, 0)
    assert shaper.shape_of("job").values.tolist() == ["clerk", "cook", "smith"]


def test_labels_must_be_as_many_as_rows_of_a_frame():
    for y in (WEDDED[:-1], [*WEDDED, 1]):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            LocalProbabilityShaper().fit(make_frames()["pandas"], y)


def test_frames_with_names_may_have_sparse_targets():
    frame, y = make_frames()["pandas"], np.column_stack([WEDDED, WEDDED[::-1]])
    expected = LocalProbabilityShaper().fit_transform(frame, y)
    shaped = LocalProbabilityShaper().fit_transform(frame, sparse.csr_matrix(y))
    np.testing.assert_array_equal(shaped, expected)


def test_after_a_frame_with_names_there_must_be_a_frame():
    shaper = LocalProbabilityShaper().fit(make_frames()["pandas"], WEDDED)
    with pytest.raises(ValueError, match=r"X must be a data frame .* Got ndarray instead\."):
        shaper.transform(np.ones((2, 3)))


def test_columns_must_be_in_order():
    frame = make_frames()["pandas"]
    numbers = frame[["age"]].assign(wage=1.0)
    for X, other in ((frame, frame[["job", "age", "old"]]), (numbers, numbers[["wage", "age"]])):
        shaper = LocalProbabilityShaper().fit(X, WEDDED)
        with pytest.raises(ValueError, match="must be in the same order"):
            shaper.transform(other)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("cross_fit", [True, False])
def test_output_can_be_a_frame(kind, cross_fit):
    frames, labels = make_frames(), ["a", "b", "c", "a", "b", "c", "a", "b"]
    shaper = LocalProbabilityShaper(cross_fit=cross_fit, cv=2, random_state=0)
    shaper.set_output(transform=kind)
    names = [f"{name}_{label}" for name in ("age", "job", "old") for label in "abc"]
    for shaped in (
        shaper.fit_transform(frames["category"], labels),
        shaper.transform(frames["polars"]),
    ):
        assert list(shaped.columns) == names
        assert type(shaped).__module__.startswith(kind)
    two = LocalProbabilityShaper().set_output(transform=kind).fit(frames["pandas"], WEDDED)
    assert list(two.transform(frames["pandas"]).columns) == ["age", "job", "old"]


@KINDS_OF_TARGETS
def test_a_shape_is_what_its_values_become(kind):
    X, y = make_targets(kind)
    shaper = LocalProbabilityShaper(output="log_odds", n_neighbors=6).fit(X, y)
    shape = shaper.shape_of(5)
    queries = np.zeros((shape.values.size, 40))
    queries[:, 5] = shape.values
    shaped = shaper.transform(sparse.csr_matrix(queries)).toarray()
    n_classes = len(shape.images)
    images = shaped[:, 5 * n_classes : 6 * n_classes]
    np.testing.assert_allclose(shape.images.T, images, atol=1e-12)
    assert not shape.zero.any()
    assert shape.n_zero + shape.sizes.sum() == 90
    expected = {"binary": [1], "labels": [0, 1, 2], "multilabel": [0, 1, 2]}[kind]
    assert shape.classes.tolist() == expected
    assert shape.name == "x5"


def test_unknown_features_get_a_sentence():
    shaper = LocalProbabilityShaper().fit([[1.0], [2.0]], [0, 1])
    assert shaper._find_column("x0") == 0
    with pytest.raises(ValueError, match=r"feature must be a feature name or .* Got 'age' instead"):
        shaper.shape_of("age")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"output": "odds"}, r"output must be one of 'probability', 'log_odds'\. Got 'odds' inst"),
        ({"zero": None}, r"zero must be one of 'auto', 'bin', 'value'\. Got None instead\."),
        (
            {"n_neighbors": -1},
            r"n_neighbors must be 'auto' or a number >= 0\. Got -1 instead\.",
        ),
        (
            {"n_neighbors": math.nan},
            r"n_neighbors must be 'auto' or a number >= 0\. Got nan instead\.",
        ),
        (
            {"n_neighbors": math.inf},
            r"n_neighbors must be 'auto' or a number >= 0\. Got inf instead\.",
        ),
        (
            {"n_neighbors": "30"},
            r"n_neighbors must be 'auto' or a number >= 0\. Got '30' instead\.",
        ),
        ({"cv": 1}, r"cv must be an integer >= 2\. Got 1 instead\."),
        ({"cv": 2.5}, r"cv must be an integer >= 2\. Got 2.5 instead\."),
        ({"nominal": [2]}, r"feature must be a feature name or a number from 0 to 1\. Got 2 "),
        (
            {"nominal": [True]},
            r"nominal must have 2 entries if .* Got 1 entries instead\.",
        ),
    ],
)
def test_bad_parameters_get_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        LocalProbabilityShaper(**options).fit([[1.0, 2.0], [2.0, 1.0]], [0, 1])


def test_sparse_after_dense_gets_a_sentence():
    X, y = [[1.0], [0.0], [2.0]], [0, 1, 1]
    shaper = LocalProbabilityShaper().fit(X, y)
    with pytest.raises(ValueError, match=r"X must be dense, as it was in fit: zeros are shaped"):
        shaper.transform(sparse.csr_matrix(X))
    shaper = LocalProbabilityShaper(zero="bin").fit(X, y)
    shaped = shaper.transform(sparse.csr_matrix(X))
    np.testing.assert_array_equal(shaped.toarray(), shaper.transform(X))
    back = LocalProbabilityShaper().fit(sparse.csr_matrix(X), y)
    np.testing.assert_array_equal(back.transform(X), shaper.transform(X))


@pytest.mark.parametrize(
    ("method", "given_"),
    [
        ("transform", [[1.0]]),
        ("shape_of", 0),
        ("plot", 0),
        ("get_feature_names_out", None),
    ],
)
def test_what_is_not_fitted_says_so(method, given_):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(LocalProbabilityShaper(), method)(given_)


def test_one_class_gets_a_sentence():
    with pytest.raises(ValueError, match=r"y must have at least two classes\. Got one class only"):
        LocalProbabilityShaper().fit([[1.0], [2.0]], [1, 1])


def test_a_shaper_can_be_pickled_and_cloned():
    frame = make_frames()["pandas"]
    shaper = LocalProbabilityShaper(n_neighbors=3, nominal=[0]).fit(frame, WEDDED)
    again = pickle.loads(pickle.dumps(shaper))
    np.testing.assert_array_equal(again.transform(frame), shaper.transform(frame))
    assert clone(shaper).get_params() == shaper.get_params()
