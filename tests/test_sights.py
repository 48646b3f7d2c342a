"""What steps before a classifier show to each class, against steps fitted for it alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.cross_decomposition import PLSSVD
from sklearn.datasets import load_wine
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold, chi2
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import Binarizer, MinMaxScaler, Normalizer, TargetEncoder
from sklearn.svm import LinearSVC

from made_up import make_text
from spokeshave import BNSScaler, FeatureShaper, LocalProbabilityShaper
from spokeshave.sights import has_views, look, split_shared


class Supervised(TransformerMixin, BaseEstimator):
    """Needs a target, as its fit shows and its tags do not."""

    def fit(self, X, y):
        self.share_ = np.mean(y)
        return self

    def transform(self, X):
        return X * (1 + self.share_)


class Tagged(Supervised):
    """Needs a target, as its tags say and its fit does not."""

    def fit(self, X, y=None):
        return super().fit(X, y)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def name_steps(steps):
    """Return the names of the classes of steps, as a list."""
    if steps is None:
        return []
    parts = [step for _, step in steps.steps] if hasattr(steps, "steps") else [steps]
    return [type(part).__name__ for part in parts]


@pytest.mark.parametrize(
    ("before", "shared", "own"),
    [
        (None, [], []),
        (make_pipeline(Binarizer()), ["Binarizer"], []),
        (make_pipeline(Binarizer(), Normalizer()), ["Binarizer", "Normalizer"], []),
        (make_pipeline(FeatureShaper()), [], ["FeatureShaper"]),
        (make_pipeline(TfidfTransformer(), BNSScaler()), ["TfidfTransformer"], ["BNSScaler"]),
        (
            make_pipeline(Normalizer(), FeatureShaper(), MinMaxScaler()),
            ["Normalizer"],
            ["FeatureShaper", "MinMaxScaler"],
        ),
        (
            make_pipeline(LocalProbabilityShaper(), Normalizer()),
            [],
            ["LocalProbabilityShaper", "Normalizer"],
        ),
        (make_pipeline("passthrough"), [], []),
        (make_pipeline("passthrough", Binarizer(), None), ["Binarizer"], []),
        (make_pipeline(Normalizer(), "passthrough", Tagged()), ["Normalizer"], ["Tagged"]),
    ],
)
def test_steps_are_parted_where_the_first_target_is_needed(before, shared, own):
    found = split_shared(before)
    assert [name_steps(part) for part in found] == [shared, own]


@pytest.mark.parametrize(
    "step",
    [
        Supervised(),
        Tagged(),
        SelectKBest(chi2),  # by its tags it needs none
        SelectFromModel(LinearSVC()),
        PLSSVD(),
        make_union(Normalizer(), SelectKBest(chi2)),
        FeatureUnion([("one", make_pipeline(Binarizer(), FeatureShaper())), ("two", "drop")]),
        make_column_transformer((TargetEncoder(), [0]), (MinMaxScaler(), [1])),
        ColumnTransformer([("one", Binarizer(), [0])], remainder=Supervised()),
        make_pipeline(Normalizer(), make_union(make_pipeline(Tagged()))),
    ],
)
def test_a_target_is_needed_by_what_is_inside(step):
    shared, own = split_shared(make_pipeline(Binarizer(), step))
    assert name_steps(shared) == ["Binarizer"]
    assert own is step


@pytest.mark.parametrize(
    "step",
    [
        make_union(Normalizer(), Binarizer()),
        make_column_transformer((Binarizer(), [0]), ("passthrough", [1]), remainder="drop"),
        make_pipeline(Normalizer(), make_union(make_pipeline(TfidfTransformer()))),
    ],
)
def test_what_holds_no_step_that_needs_a_target_is_shared(step):
    assert split_shared(make_pipeline(step)) == (step, None)


def test_a_selector_may_look_at_the_target():
    step = VarianceThreshold()  # does not, and is fitted for each class to be sure
    assert split_shared(make_pipeline(step)) == (None, step)


class OwnScaler(BNSScaler):
    """May do anything."""


class OwnShaper(LocalProbabilityShaper):
    """May do anything."""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, True),
        ({"shape": "log_odds"}, True),
        ({"shape": "binary"}, True),
        ({"shape": None}, True),
        ({"shape": LocalProbabilityShaper(zero="value", n_neighbors=5)}, True),
        ({"scale": None}, True),
        ({"scale": "times_bns"}, True),
        ({"scale": BNSScaler(smallest_rate="1/n")}, True),
        ({"norm": None}, True),
        ({"norm": "l1"}, True),
        ({"keep_raw": True}, False),
        ({"scale": "center"}, False),
        ({"scale": MinMaxScaler()}, False),
        ({"scale": OwnScaler()}, False),
        ({"shape": Binarizer(threshold=0.1)}, False),
        ({"shape": OwnShaper()}, False),
        ({"shape": LocalProbabilityShaper(cross_fit=True)}, False),
        ({"shape": LocalProbabilityShaper(n_neighbors="auto")}, False),
    ],
)
def test_known_stages_have_views(options, expected):
    assert has_views(FeatureShaper(**options)) is expected


def make_sample(kind):
    """Return documents to train on, their indicator of classes, and documents to test on."""
    X, y = make_text() if kind == "sparse" else load_wine(return_X_y=True)
    if kind == "holes":  # zeros in a table
        X = np.where(np.median(X, axis=0) > X, 0, X)
    is_test = np.arange(len(y)) % 4 == 0
    return X[~is_test], (y[~is_test, None] == np.arange(3)).astype(np.intp), X[is_test]


def fill(X):
    return X.toarray() if sparse.issparse(X) else X


class Doubled(FeatureShaper):
    """Shows documents at twice their length."""

    def fit_transform(self, X, y):
        return 2 * super().fit_transform(X, y)

    def transform(self, X):
        return 2 * super().transform(X)


@pytest.mark.parametrize("kind", ["sparse", "dense", "holes"])
@pytest.mark.parametrize(
    "before",
    [
        make_pipeline(FeatureShaper()),
        make_pipeline(FeatureShaper(shape="binary")),
        make_pipeline(FeatureShaper(shape=None)),
        make_pipeline(FeatureShaper(shape="log_odds", scale="times_bns", norm="max")),
        make_pipeline(FeatureShaper(shape=LocalProbabilityShaper(zero="bin"))),
        make_pipeline(FeatureShaper(shape=LocalProbabilityShaper(zero="value"), norm=None)),
        make_pipeline(Normalizer(), FeatureShaper(scale=BNSScaler(smallest_rate="1/n"))),
        make_pipeline(FeatureShaper(shape=None, scale=None)),
        make_pipeline(FeatureShaper(keep_raw=True)),
        make_pipeline(Doubled()),
        make_pipeline(BNSScaler(), Normalizer()),
    ],
)
def test_each_class_sees_what_it_would_see_alone(before, kind):
    X, Y, X_test = make_sample(kind)
    show = look(before, X, Y, X_test)
    for k in (2, 0, 1):
        alone = clone(before)
        train, test = show(k)
        np.testing.assert_allclose(fill(train.X), fill(alone.fit_transform(X, Y[:, k])), atol=1e-12)
        np.testing.assert_allclose(fill(test), fill(alone.transform(X_test)), atol=1e-12)


def test_two_classes_have_one_sight():
    X, Y, X_test = make_sample("dense")
    alone = FeatureShaper().fit(X, Y[:, 1])
    train, test = look(make_pipeline(FeatureShaper()), X, Y[:, [1]], X_test)(0)
    np.testing.assert_allclose(train.X, alone.transform(X))
    np.testing.assert_allclose(test, alone.transform(X_test))


def test_what_is_shared_is_made_once():
    X, Y, X_test = make_sample("dense")
    show = look(make_pipeline(MinMaxScaler()), X, Y, X_test)
    assert show(0) is show(2)
    assert show(0).train.rows.indices is None
    assert look(None, X, Y, X_test)(1).train.X is X


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("options", [{"norm": None}, {"norm": None, "scale": None}, {}])
def test_unknown_values_that_no_shape_takes_get_a_sentence(options, form):
    X, Y, X_test = make_sample("dense")
    spoilt = X.copy()
    spoilt[3, 1] = np.nan
    before = make_pipeline(FeatureShaper(shape=None, **options))
    for train, test in ((spoilt, X_test), (X, spoilt)):
        with pytest.raises(ValueError, match="Input X contains NaN"):
            look(before, form(train), Y, form(test))(0)


def test_unknown_values_have_a_shape():
    X, Y, X_test = make_sample("dense")
    X[3, 1] = X_test[0, 0] = np.nan
    train, test = look(make_pipeline(FeatureShaper()), X, Y, X_test)(1)
    alone = FeatureShaper()
    np.testing.assert_allclose(train.X, alone.fit_transform(X, Y[:, 1]))
    np.testing.assert_allclose(test, alone.transform(X_test))
