"""Classes that run together, against each of them by itself with the estimators alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.cross_decomposition import PLSSVD
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold, chi2
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import Binarizer, MinMaxScaler, Normalizer, StandardScaler, TargetEncoder
from sklearn.svm import LinearSVC

from made_up import make_targets, make_text
from spokeshave import BNSScaler, DualLinearSVC, FeatureShaper, LocalProbabilityShaper
from spokeshave.curves import learning_tasks as units_file
from spokeshave.curves.learning_tasks import (
    MEASURED,
    LearningOptions,
    Sample,
    can_share_statistics,
    fit_steps,
    run_tasks,
    split_shared,
)
from spokeshave.utils.validation import binarize

CS = (0.1, 2.0)
EXACT = {"tol": 1e-8, "max_iter": 100_000}


def shape(**options):
    return FeatureShaper(shape=LocalProbabilityShaper(n_neighbors=5, **options))


STEPS = {
    "none": [],
    "binary_rows": [Binarizer(), Normalizer()],
    "spans": [MinMaxScaler()],
    "shaper": [FeatureShaper()],
    "binary": [FeatureShaper(shape="binary")],
    "unshaped": [FeatureShaper(shape=None)],
    "log_odds": [FeatureShaper(shape="log_odds")],
    "unscaled": [FeatureShaper(scale=None)],
    "l1": [FeatureShaper(norm="l1")],
    "tfidf_bns": [TfidfTransformer(), FeatureShaper(shape=None, scale="times_bns")],
    "zero_value": [shape(zero="value")],
    "zero_bin": [shape(zero="bin")],
    "keep_raw": [FeatureShaper(keep_raw=True)],
    "cross_fit": [shape(cross_fit=True, random_state=3)],
    "auto": [FeatureShaper(shape=LocalProbabilityShaper(n_neighbors="auto", random_state=3))],
    "centred": [FeatureShaper(scale="center")],
    "selected": [SelectKBest(chi2, k=9)],
    "skipped": ["passthrough", BNSScaler()],
}
NOT_SPARSE, NOT_DENSE = {"spans", "centred"}, {"tfidf_bns", "selected"}
CASES = [
    (name, kind)
    for name in STEPS
    for kind in ("sparse", "dense")
    if name not in (NOT_SPARSE if kind == "sparse" else NOT_DENSE)
]


def make_plan(name, kind="sparse", *, n_classes=3, Cs=CS, tune_cv=2, scoring=None, **options):
    """Return a plan and a sample of every other document, in an order that is not theirs."""
    if kind == "sparse":
        X, y = make_text(n_classes, has_empty=False, seed=1)
    else:
        X, y = load_wine(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        X, y = X[y < n_classes][::2], y[y < n_classes][::2]
    model = make_pipeline(*STEPS[name], DualLinearSVC(**{**EXACT, **options}))
    return plan_for(model, X, y, Cs, tune_cv, scoring), take_half(y)


def plan_for(model, X, y, Cs=CS, tune_cv=2, scoring=None):
    return LearningOptions(X, binarize(y)[1].toarray(), y, model, Cs, tune_cv, scoring)


def take_half(y):
    order = np.random.default_rng(0).permutation(len(y))
    return Sample(order[::2], order[1::2], np.arange(len(y)) + 7)


def refuse(*args):
    raise AssertionError("not together")


def run_both(plan, sample, monkeypatch):
    """Return the results of all classes, run together and each by itself."""
    classes = range(plan.Y.shape[1])
    with monkeypatch.context() as patch:
        patch.setattr(units_file, "_run_one", refuse)
        together = run_tasks(plan, sample, classes)
    with monkeypatch.context() as patch:
        patch.setattr(units_file, "is_plain", lambda model: False)
        patch.setattr(units_file, "_run_shared", refuse)
        alone = run_tasks(plan, sample, classes)
    return together, alone


def assert_equal(together, alone):
    assert len(together) == len(alone)
    for one, other in zip(together, alone, strict=True):
        assert list(one) == list(other) == ["C", *MEASURED, "seconds"]
        for name in ("C", *MEASURED):
            np.testing.assert_allclose(one[name], other[name], rtol=1e-9, err_msg=name)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_together_equals_alone(name, kind, monkeypatch):
    together, alone = run_both(*make_plan(name, kind), monkeypatch)
    assert_equal(together, alone)
    assert all(result["seconds"] > 0 for result in together)


@pytest.mark.parametrize(("name", "n_classes"), [("none", 3), ("shaper", 2)])
@pytest.mark.parametrize("probability", [False, True, "training"])
@pytest.mark.parametrize("scoring", [None, "roc_auc", "f1"])
def test_together_equals_alone_by_any_score(name, n_classes, probability, scoring, monkeypatch):
    options = {"probability": probability, "scoring": scoring}
    plan, sample = make_plan(name, n_classes=n_classes, **options)
    assert plan.Y.shape[1] == (1 if n_classes == 2 else 3)
    assert_equal(*run_both(plan, sample, monkeypatch))


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "squared_hinge"},
        {"class_weight": "balanced"},
        {"class_weight": {0: 0.5, 1: 3.0}, "C": 0.7},
        {"fit_intercept": False},
        {"random_state": 5, "probability": True},
        {"Cs": None, "C": 0.3},
        {"Cs": (0.3,)},
        {"tune_cv": 7},
    ],
)
def test_together_equals_alone_with_any_option(options, monkeypatch):
    together, alone = run_both(*make_plan("shaper", **options), monkeypatch)
    assert_equal(together, alone)
    if options.get("Cs", CS) != CS:
        assert [result["C"] for result in together] == [0.3] * 3


def make_rare(monkeypatch, name, **options):
    """Return what classes get of which one is absent from the sample and one is there once."""
    plan, sample = make_plan(name, n_classes=3, **options)
    y = plan.labels.copy()
    y[sample.train[0]], y[sample.test[:4]] = 3, 4
    y[sample.test[4:8]] = 3
    plan = plan_for(plan.estimator, plan.X, y, plan.Cs, plan.tune_cv, plan.scoring)
    return run_both(plan, sample, monkeypatch)


@pytest.mark.parametrize(
    ("name", "probability"),
    [("none", "training"), ("shaper", False), ("unshaped", "training"), ("keep_raw", False)],
)
def test_rare_classes_get_the_middle_value_or_nothing(name, probability, monkeypatch):
    together, alone = make_rare(monkeypatch, name, probability=probability, Cs=(0.1, 0.5, 2.0))
    assert_equal(together, alone)
    assert together[3]["C"] == 0.5
    assert np.isfinite([together[3][name] for name in MEASURED]).all()
    assert np.isnan(list(together[4].values())).all()


def test_a_sigmoid_by_halves_refuses_a_class_of_one_document(monkeypatch):
    plan, sample = make_plan("shaper", probability=True)
    y = plan.labels.copy()
    y[sample.train[0]] = 3
    for is_plain in (True, False):
        monkeypatch.setattr(units_file, "is_plain", lambda model, plain=is_plain: plain)
        with pytest.raises(ValueError, match=r"two documents of each class or more\. Got one of"):
            run_tasks(plan_for(plan.estimator, plan.X, y), sample, [0, 3])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("name", "class_weight"), [("none", None), ("shaper", "balanced"), ("auto", None)]
)
@pytest.mark.parametrize("scoring", [None, "roc_auc", "f1"])
def test_folds_without_a_class_are_left_out(name, scoring, class_weight, monkeypatch):
    plan, sample = make_plan(name, n_classes=2, scoring=scoring, class_weight=class_weight)
    # Both of the documents that are not of class 1 come into the first of two folds.
    sample = sample._replace(train=sample.train[:41])
    y = np.ones_like(plan.labels)
    y[sample.train[[5, 17]]] = 0, 2
    y[sample.test[:9]] = np.arange(9) % 3
    plan = plan_for(plan.estimator, plan.X, y, scoring=scoring)
    assert_equal(*run_both(plan, sample, monkeypatch))


@pytest.mark.parametrize("is_plain", [True, False])
def test_a_model_that_runs_out_of_passes_is_told_of(is_plain, monkeypatch):
    plan, sample = make_plan("none", tol=1e-6, max_iter=1)
    monkeypatch.setattr(units_file, "is_plain", lambda model: is_plain)
    with pytest.warns(ConvergenceWarning, match=r"topped after max_iter=1 passes with a relative"):
        run_tasks(plan, sample, [0, 1])


@pytest.mark.parametrize("name", STEPS)
def test_a_sample_of_one_class_has_no_measures(name):
    plan, sample = make_plan(name, "dense" if name in NOT_SPARSE else "sparse", n_classes=2)
    train = sample.train[plan.labels[sample.train] == 1]
    (result,) = run_tasks(plan, sample._replace(train=train), [0])
    assert np.isnan(list(result.values())).all()


@pytest.mark.parametrize("name", ["none", "shaper", "cross_fit"])
def test_a_class_gets_the_same_whatever_else_is_asked(name):
    plan, sample = make_plan(name, tol=1e-2)
    everything = run_tasks(plan, sample, [0, 1, 2])
    for classes in ([2, 0], [1]):
        for k, result in zip(classes, run_tasks(plan, sample, classes), strict=True):
            assert {**result, "seconds": 0} == {**everything[k], "seconds": 0}


@pytest.mark.parametrize("name", ["none", "shaper"])
def test_multilabel_targets_are_dealt_out_class_by_class(name):
    X, Y = make_targets("multilabel")
    model = make_pipeline(*STEPS[name], DualLinearSVC(**EXACT))
    sample = take_half(Y)
    found = run_tasks(LearningOptions(X, Y, None, model, CS, 2, None), sample, range(3))
    for k, result in enumerate(found):
        alone = sample._replace(seeds=sample.seeds[k:])
        assert_equal([result], run_tasks(plan_for(model, X, Y[:, k]), alone, [0]))


def test_other_classifiers_run_one(monkeypatch):
    plan, sample = make_plan("shaper")
    monkeypatch.setattr(units_file, "_run_shared", refuse)
    for model, scoring in ((LinearSVC(), None), (DualLinearSVC(), "balanced_accuracy")):
        results = run_tasks(plan._replace(estimator=model, scoring=scoring), sample, [0, 1])
        assert all(result["C"] in CS for result in results)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"loss": "hing"}, "loss must be 'hinge' or 'squared_hinge'"),
        ({"probability": "yes"}, r"probability must be True, False or 'training'\. Got 'yes'"),
        ({"tol": -1.0}, "tol must be a positive number"),
        ({"max_iter": 0}, "max_iter must be a positive integer"),
        ({"Cs": (-1.0, 1.0)}, r"C must be a positive number\. Got -1\.0"),
        ({"Cs": None, "C": 0.0}, "C must be a positive number"),
        ({"class_weight": {0: 1.0, 1: 0.0}}, "class_weight must give every class a positive"),
    ],
)
def test_bad_options_get_the_sentence_of_the_estimator(options, sentence):
    plan, sample = make_plan("none", **options)
    with pytest.raises(ValueError, match=sentence):
        run_tasks(plan, sample, [0, 1])


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
def test_known_stages_share_statistics(options, expected):
    assert can_share_statistics(FeatureShaper(**options)) is expected


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
    show = fit_steps(before, X, Y, X_test)
    for k in (2, 0, 1):
        alone = clone(before)
        train, test = show(k)
        np.testing.assert_allclose(fill(train.X), fill(alone.fit_transform(X, Y[:, k])), atol=1e-12)
        np.testing.assert_allclose(fill(test), fill(alone.transform(X_test)), atol=1e-12)


def test_two_classes_have_one_sight():
    X, Y, X_test = make_sample("dense")
    alone = FeatureShaper().fit(X, Y[:, 1])
    train, test = fit_steps(make_pipeline(FeatureShaper()), X, Y[:, [1]], X_test)(0)
    np.testing.assert_allclose(train.X, alone.transform(X))
    np.testing.assert_allclose(test, alone.transform(X_test))


def test_what_is_shared_is_made_once():
    X, Y, X_test = make_sample("dense")
    show = fit_steps(make_pipeline(MinMaxScaler()), X, Y, X_test)
    assert show(0) is show(2)
    assert show(0).train.rows.indices is None
    assert fit_steps(None, X, Y, X_test)(1).train.X is X


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("options", [{"norm": None}, {"norm": None, "scale": None}, {}])
def test_unknown_values_that_no_shape_takes_get_a_sentence(options, form):
    X, Y, X_test = make_sample("dense")
    spoilt = X.copy()
    spoilt[3, 1] = np.nan
    before = make_pipeline(FeatureShaper(shape=None, **options))
    for train, test in ((spoilt, X_test), (X, spoilt)):
        with pytest.raises(ValueError, match="Input X contains NaN"):
            fit_steps(before, form(train), Y, form(test))(0)


def test_unknown_values_have_a_shape():
    X, Y, X_test = make_sample("dense")
    X[3, 1] = X_test[0, 0] = np.nan
    train, test = fit_steps(make_pipeline(FeatureShaper()), X, Y, X_test)(1)
    alone = FeatureShaper()
    np.testing.assert_allclose(train.X, alone.fit_transform(X, Y[:, 1]))
    np.testing.assert_allclose(test, alone.transform(X_test))
