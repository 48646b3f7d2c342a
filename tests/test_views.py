"""What each class sees against a shaper of its own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from made_up import make_targets
from spokeshave import BNSScaler, FeatureShaper, LocalProbabilityShaper, levels
from spokeshave.levels import store_all
from spokeshave.shapes import find_places
from spokeshave.targets import binarize, check_targets
from spokeshave.views import make_views

FORMS = pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_matrix.toarray])
KINDS_OF_TARGETS = pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])
SHAPES = {
    "none": None,
    "probability": LocalProbabilityShaper(),
    "log odds": LocalProbabilityShaper(output="log_odds", n_neighbors=6),
    "zero apart": LocalProbabilityShaper(zero="bin"),
    "zero not apart": LocalProbabilityShaper(zero="value"),
}


def view(X, y, X_test, shaper, scale, norm):
    """Return the views of all classes, the documents as rows, and where their cells are."""
    _, indicator = binarize(check_targets(y))
    options = {"scale": scale, "norm": norm}
    if shaper is None:
        train, test = (X, X_test) if sparse.issparse(X) else (store_all(X), store_all(X_test))
        options |= {"output": "probability", "zero_is_fixed": sparse.issparse(X)}
        return make_views(train, indicator, None, **options), test, None
    shaper.fit(X, y)
    train, test = shaper.read(X).rows, shaper.read(X_test).rows
    options |= {"output": shaper.output, "zero_is_fixed": shaper.zero_is_fixed_}
    views = make_views(train, indicator, shaper.shapes_, **options)
    return views, test, find_places(shaper.shapes_, test)


@KINDS_OF_TARGETS
@FORMS
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("scale", "norm"),
    [
        (BNSScaler(), "l2"),
        (BNSScaler(stretch=False), None),
        (BNSScaler(smallest_rate="1/n"), "max"),
        (None, "l1"),
    ],
)
def test_a_class_sees_what_a_shaper_of_its_own_makes(kind, make, shape, scale, norm):
    X, y = make_targets(kind)
    X, X_test = make(X), make(sparse.csr_matrix(X[::-1] * 1.2))
    views, rows, places = view(X, y, X_test, SHAPES[shape], scale, norm)
    positive = {"binary": [y == 1], "labels": [y == 0, y == 1, y == 2]}.get(kind, y.T)
    assert len(views.base) == len(positive)
    for k, label in enumerate(positive):
        alone = FeatureShaper(shape=SHAPES[shape], scale=scale, norm=norm).fit(X, label)
        expected = alone.transform(X_test)
        expected = expected.toarray() if sparse.issparse(expected) else expected
        np.testing.assert_allclose(views.show(rows, places, k).toarray(), expected, atol=1e-12)


def test_what_one_class_sees_is_no_other_class_s():
    X, y = make_targets("labels")
    views, rows, places = view(X, y, X, LocalProbabilityShaper(), BNSScaler(), "l2")
    before = rows.copy()
    shown = [views.show(rows, places, k).toarray() for k in (0, 1, 2, 0)]
    np.testing.assert_array_equal(shown[0], shown[3])
    assert (shown[0] != shown[1]).any()
    np.testing.assert_array_equal(rows.data, before.data)
    np.testing.assert_array_equal(rows.indices, before.indices)


@FORMS
@pytest.mark.parametrize("shape", SHAPES)
def test_a_class_of_none_or_all_documents_sees_nothing_once_scaled(make, shape):
    X, y = make_targets("multilabel")
    y[:, 0], y[:, 2] = 0, 1
    X = make(X)
    views, rows, places = view(X, y, X, SHAPES[shape], BNSScaler(), "l2")
    assert not views.factor[[0, 2]].any()
    for k, sees in enumerate([False, True, False]):
        assert views.show(rows, places, k).toarray().any() == sees


@pytest.mark.parametrize("zero", ["bin", "value"])
@FORMS
def test_zeros_that_stay_zero_are_seen_as_zeros(make, zero):
    X, y = make_targets("labels")
    shaper = LocalProbabilityShaper(zero=zero)
    views, rows, places = view(make(X), y, make(X), shaper, BNSScaler(), "l2")
    is_fixed = zero == "bin" or make is sparse.csr_matrix
    assert rows.nnz == (X.nnz if is_fixed else X.shape[0] * X.shape[1])
    for k in range(3):
        assert views.show(rows, places, k).nnz == rows.nnz
        assert views.show(rows, places, k).toarray()[3].any() != is_fixed  # it has no word


def test_the_scaler_that_is_given_is_not_changed():
    X, y = make_targets("labels")
    scaler = BNSScaler()
    view(X, y, X, LocalProbabilityShaper(), scaler, "l2")
    assert not hasattr(scaler, "bns_")


def test_threads_change_nothing(monkeypatch):
    X, y = make_targets("labels")
    _, indicator = binarize(y)
    how = {"output": "probability", "zero_is_fixed": True, "scale": BNSScaler(), "norm": None}
    monkeypatch.setattr(levels, "WORTH_A_THREAD", 100)
    alone, together = (make_views(X, indicator, None, n_jobs=n, **how) for n in (1, 2))
    np.testing.assert_array_equal(alone.factor, together.factor)
    assert alone.factor.all()
