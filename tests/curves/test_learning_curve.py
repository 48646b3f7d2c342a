"""Learning curves, against a plain loop, and runs that are stopped and taken up again."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Perceptron, RidgeClassifier
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import GroupKFold, ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from made_up import TIGHT, make_targets, make_text
from spokeshave import DualLinearSVC
from spokeshave.curves.learning_curve import MEASURED, learning_curve, nest
from spokeshave.svm.tuning import choose_C

SIZES = (0.2, 0.6, 1.0)
FAST = {"sizes": SIZES, "cv": 3, "Cs": (0.1, 10.0), "tune_cv": 2, "random_state": 0}


class Recorder(ClassifierMixin, BaseEstimator):
    """Writes down the documents that it sees, which their first feature numbers."""

    log: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.log.append((X[:, 0].astype(int), y))
        return self

    def decision_function(self, X):
        self.log.append((X[:, 0].astype(int), None))
        return np.zeros(len(X))


class Counter(TransformerMixin, BaseEstimator):
    """Leaves documents as they are and counts how often it is used."""

    n_fits = n_transforms = 0

    def fit(self, X, y):
        Counter.n_fits += 1
        assert set(y) == {0, 1}
        self.fitted_ = True
        return self

    def transform(self, X):
        Counter.n_transforms += 1
        return X


class Fragile(DualLinearSVC):
    """Breaks down at a certain fit."""

    n_left = np.inf

    def fit(self, X, y, sample_weight=None):
        Fragile.n_left -= 1
        if Fragile.n_left < 0:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


@pytest.fixture(scope="module")
def plain():
    """Return a curve over three classes."""
    return learning_curve(DualLinearSVC(), *make_text(), **FAST)


def number(n):
    return np.arange(n)[:, None]


def record(y, **options):
    """Return what is trained and tested on: arrays by class, fold and size, and the curve."""
    Recorder.log.clear()
    curve = learning_curve(Recorder(), number(len(y)), y, Cs=None, random_state=0, **options)
    n_classes, n_folds, n_sizes = curve.C.shape
    pairs = list(zip(Recorder.log[::2], Recorder.log[1::2], strict=True))
    assert len(pairs) == curve.C.size
    cells = np.empty(curve.C.shape, object)
    for f in range(n_folds):
        for s in reversed(range(n_sizes)):
            for k in range(n_classes):
                (train, target), (test, _) = pairs.pop(0)
                cells[k, f, s] = train, target, test
    return cells, curve


def equal(one, other):
    """Assert that two curves are the same to the last bit; only their times may differ."""
    np.testing.assert_array_equal(one.classes, other.classes)
    np.testing.assert_array_equal(one.sizes, other.sizes)
    np.testing.assert_array_equal(one.n_documents, other.n_documents)
    np.testing.assert_array_equal(one.C, other.C)
    for name in MEASURED:
        np.testing.assert_array_equal(one.values[name], other.values[name])


@pytest.mark.parametrize("kind", ["labels", "multilabel"])
def test_samples_grow_and_test_folds_stay(kind):
    _, y = make_targets(kind)
    cells, curve = record(y, sizes=(0.2, 0.5, 1.0), cv=4)
    everything = set(range(len(y)))
    for k, f in np.ndindex(cells.shape[:2]):
        test = cells[k, f, 0][2]
        for s, (train, target, test_again) in enumerate(cells[k, f]):
            assert len(train) == len(set(train)) == curve.n_documents[f, s]
            np.testing.assert_array_equal(test_again, test)
            np.testing.assert_array_equal(train, cells[0, f, -1][0][: len(train)])
            np.testing.assert_array_equal(target, y[train, k] if y.ndim == 2 else y[train] == k)
        assert everything == {*train, *test}
        assert len(train) + len(test) == len(everything)
    assert sorted(np.concatenate([cells[0, f, 0][2] for f in range(4)])) == sorted(everything)
    assert cells[0, 0, -1][0].tolist() != sorted(cells[0, 0, -1][0])


def test_any_estimator_gets_the_same_samples():
    _, y = make_text()
    first, _ = record(y, sizes=SIZES, cv=3)
    second, _ = record(y, sizes=SIZES, cv=3, classes=[2])
    for f, s in np.ndindex(second.shape[1:]):
        for one, other in zip(first[2, f, s], second[0, f, s], strict=True):
            np.testing.assert_array_equal(one, other)


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(0, 2**31 - 1))
def test_every_beginning_is_nearly_stratified(labels, seed):
    labels = np.array(labels)
    order = nest(labels, np.random.RandomState(seed))
    assert sorted(order) == list(range(labels.size))
    classes, totals = np.unique(labels, return_counts=True)
    for n in range(labels.size + 1):
        share = totals * n / labels.size
        found = np.array([np.count_nonzero(labels[order[:n]] == c) for c in classes])
        # Each label is within one of its share of the place reached, and that is off by one each.
        assert (np.abs(found - share) <= 1 + classes.size * totals / labels.size).all()


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_large_samples_are_stratified(share, rng):
    labels = rng.choice(4, size=2000, p=[0.5, 0.3, 0.15, 0.05])
    order = nest(labels, np.random.RandomState(1))
    found = np.bincount(labels[order[: int(share * 2000)]])
    assert np.abs(found - share * np.bincount(labels)).max() < 3


def deal_by_hand(labels, n_folds):
    """Return folds to which the documents go in turn, a label after the other."""
    everything = range(len(labels))
    in_turn = sorted(everything, key=lambda i: labels[i])
    tests = [sorted(in_turn[part::n_folds]) for part in range(n_folds)]
    return [(np.setdiff1d(everything, test), np.array(test)) for test in tests if test]


def follow_by_hand(model, X, y, cells, Cs, tune_cv, scoring):
    """Return measures and C of every cell by scikit-learn alone."""
    found = {name: np.empty(cells.shape) for name in ("C", "auc", "f1", "accuracy")}
    for (k, f, s), (train, target, test) in np.ndenumerate(cells):
        candidates = [clone(model).set_params(svc__C=C) for C in Cs]
        folds = deal_by_hand(y[train], tune_cv)  # by label, so the same for every class
        means = [
            cross_val_score(one, X[train], target, cv=folds, scoring=scoring).mean()
            for one in candidates
        ]
        best = int(np.argmax(np.round(means, 10)))
        scores = candidates[best].fit(X[train], target).decision_function(X[test])
        truth = y[test] == k
        found["C"][k, f, s] = Cs[best]
        found["auc"][k, f, s] = roc_auc_score(truth, scores)
        found["f1"][k, f, s] = f1_score(truth, scores > 0)
        found["accuracy"][k, f, s] = accuracy_score(truth, scores > 0)
    return found


@pytest.mark.parametrize("scoring", [None, "roc_auc"])
def test_a_loop_by_hand_finds_the_same(scoring):
    X, y = make_text(n=100)
    # Chosen by the target of the task, so a transformer that saw all labels would be found out.
    model = Pipeline([("best", SelectKBest(chi2, k=12)), ("svc", DualLinearSVC(**TIGHT))])
    options = {"sizes": (0.4, 1.0), "cv": 2}
    cells, _ = record(y, **options)
    Cs = (0.1, 10.0)
    curve = learning_curve(
        model, X, y, Cs=Cs[::-1], tune_cv=2, scoring=scoring, random_state=0, **options
    )
    by_hand = follow_by_hand(model, X, y, cells, Cs, 2, scoring)
    np.testing.assert_array_equal(curve.C, by_hand.pop("C"))
    assert len(np.unique(curve.C)) > 1
    for name, expected in by_hand.items():
        np.testing.assert_allclose(curve.values[name], expected)
    np.testing.assert_allclose(curve.per_class("auc"), by_hand["auc"].mean(axis=1))
    np.testing.assert_allclose(curve.macro("f1"), by_hand["f1"].mean(axis=(0, 1)))


def test_probabilities_are_used_where_there_are_any():
    X, y = make_text()
    curve = learning_curve(BernoulliNB(), X, y, **{**FAST, "Cs": None})
    cells, _ = record(y, sizes=SIZES, cv=3)
    train, target, test = cells[1, 2, 1]
    chance = BernoulliNB().fit(X[train], target).predict_proba(X[test])[:, 1]
    truth, top = y[test] == 1, np.argsort(-chance)[:20]
    found = {name: curve.values[name][1, 2, 1] for name in MEASURED}
    assert found["auc"] == pytest.approx(roc_auc_score(truth, chance))
    assert found["accuracy"] == pytest.approx(((chance > 0.5) == truth).mean())
    assert found["precision_at_20"] == pytest.approx(truth[top].mean())


class Shifted(Recorder):
    """Orders documents rightly, but on a scale that is another in each fold."""

    def decision_function(self, X):
        return X[:, 1] + 100 * X[:, 0].mean()


def test_folds_are_averaged_and_never_pooled():
    y = np.arange(40) % 2
    X = np.column_stack([np.arange(40), y])
    splits = list(StratifiedKFold(4).split(X, y))
    curve = learning_curve(Shifted(), X, y, cv=splits, sizes=[1.0], Cs=None, random_state=0)
    assert curve.macro("auc") == 1
    pooled = np.concatenate([Shifted().decision_function(X[test]) for _, test in splits])
    assert roc_auc_score(np.concatenate([y[test] for _, test in splits]), pooled) < 0.7


def test_steps_before_the_classifier_are_fitted_once_for_all_values():
    X, y = make_text(2)
    Counter.n_fits = Counter.n_transforms = 0
    model = make_pipeline(Counter(), DualLinearSVC())
    options = {**FAST, "Cs": (0.1, 0.5, 1.0, 2.0), "tune_cv": 4}
    curve = learning_curve(model, X, y, **options)
    assert np.isfinite(curve.C).all()
    n_cells = 3 * len(SIZES)
    assert Counter.n_fits == n_cells * (4 + 1)
    assert Counter.n_transforms == 2 * n_cells * (4 + 1)


class Unaware(Counter):
    """Counts without a look at the target."""

    def fit(self, X, y=None):
        Counter.n_fits += 1
        assert y is None
        return self


@pytest.mark.parametrize(("step", "n_tasks"), [(Counter, 3), (Unaware, 1)])
def test_steps_that_need_no_target_are_fitted_once_for_all_classes(step, n_tasks):
    X, y = make_text()
    Counter.n_fits = 0
    curve = learning_curve(make_pipeline(step(), DualLinearSVC()), X, y, **FAST)
    assert curve.C.shape == (3, 3, 3)
    assert Counter.n_fits == n_tasks * 3 * len(SIZES) * (2 + 1)


def test_the_result_does_not_depend_on_n_jobs():
    X, y = make_text(2)
    model = make_pipeline(SelectKBest(chi2, k=12), DualLinearSVC())  # not seeded by itself
    equal(learning_curve(model, X, y, **FAST), learning_curve(model, X, y, n_jobs=2, **FAST))


def test_a_class_and_a_size_score_the_same_whatever_else_is_asked(plain):
    X, y = make_text()
    part = learning_curve(DualLinearSVC(), X, y, **{**FAST, "sizes": [0.6]}, classes=[2, 1])
    assert part.classes.tolist() == [1, 2]
    np.testing.assert_array_equal(part.per_class("f1"), plain.per_class("f1")[1:, [1]])


def test_seeds_of_the_estimator_are_kept():
    X, y = make_text(2)
    options = {**FAST, "Cs": None, "sizes": [1.0]}
    makers = [Perceptron(max_iter=2, tol=None, random_state=seed) for seed in (None, 1, 2)]
    auc = [learning_curve(model, X, y, **options).values["auc"] for model in makers]
    again = learning_curve(makers[0], X, y, **options).values["auc"]
    np.testing.assert_array_equal(auc[0], again)
    assert (auc[1] != auc[2]).any()
    assert makers[0].random_state is None


def test_dense_and_sparse_documents_score_the_same(plain):
    X, y = make_text()
    equal(plain, learning_curve(DualLinearSVC(), X.toarray(), y, **FAST))
    equal(plain, learning_curve(DualLinearSVC(), sparse.csc_array(X), y.tolist(), **FAST))


def test_unknown_values_are_for_the_estimator_to_allow(rng):
    X, y = make_text(2)
    X = np.where(rng.random(X.shape) < 0.1, np.nan, X.toarray())
    model = make_pipeline(SimpleImputer(), DualLinearSVC())
    assert np.isfinite(learning_curve(model, X, y, **FAST).macro("auc")).all()
    with pytest.raises(ValueError, match="contains NaN"):
        learning_curve(DualLinearSVC(), X, y, **FAST)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_multilabel_targets_have_a_task_per_column(form):
    X, Y = make_targets("multilabel")
    curve = learning_curve(DualLinearSVC(), X, form(Y), **FAST)
    assert curve.classes.tolist() == [0, 1, 2]
    column = learning_curve(DualLinearSVC(), X, form(Y), classes=[1], **FAST)
    np.testing.assert_array_equal(column.values["auc"][0], curve.values["auc"][1])


def test_two_classes_are_one_task():
    X, y = make_text(2)
    names = np.array(["no", "yes"])[y]
    curve = learning_curve(DualLinearSVC(), X, names, **FAST)
    assert curve.classes.tolist() == ["yes"]
    assert curve.C.shape == (1, 3, 3)


def test_a_sample_of_one_class_has_no_measures():
    X, _ = make_text()
    y = (np.arange(90) < 4).astype(int)
    curve = learning_curve(DualLinearSVC(), X, y, **{**FAST, "cv": 2, "sizes": [3, 45]})
    for values in (curve.C, *curve.values.values()):
        assert np.isnan(values[:, :, 0]).any()
        assert np.isfinite(values[:, :, 1]).all()
    assert np.isfinite(curve.macro("f1")[1])


# With these labels the two documents of the rest are in one fold, which leaves it none to train on.
SPLIT_REST = np.array([0, *[1] * 39, 2])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("labels", "k", "n_used"),
    [
        (np.arange(41) < 1, 1, None),
        (np.arange(41) < 2, 1, 5),
        (np.arange(41) < 3, 1, 5),
        (np.arange(41) < 30, 1, 5),
        (SPLIT_REST, 1, 4),
        (SPLIT_REST, 2, None),
    ],
    ids=["one", "two", "three", "many", "rest_in_one_fold", "one_of_three_labels"],
)
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_few_documents_of_a_class_make_no_fewer_folds(labels, k, n_used, scoring):
    (X, _), Cs = make_text(), (0.01, 0.1, 1.0, 10.0)
    X, y, folds = X[:41], (labels == k).astype(int), deal_by_hand(labels, 5)
    found = choose_C(LinearSVC(dual=False), X, y, Cs, folds, scoring)
    if n_used is None:
        assert found == 0.1
        return
    used = [fold for fold in folds if set(y[fold[0]]) == {0, 1}]
    assert len(used) == n_used
    scores = [
        cross_val_score(LinearSVC(C=C, dual=False), X, y, cv=used, scoring=scoring) for C in Cs
    ]
    # A fold that cannot be scored has no score for any value, so it may as well be zero.
    assert found == Cs[int(np.argmax(np.round(np.nan_to_num(scores).mean(axis=1), 10)))]


def test_of_equal_values_the_smallest_is_taken():
    X, y = make_text(2)
    X = X + sparse.csr_matrix(5 * y[:, None] * np.eye(1, 40))
    curve = learning_curve(DualLinearSVC(), X, y, **{**FAST, "Cs": (10.0, 1.0, 5.0)})
    assert (curve.C == 1.0).all()


def test_without_values_the_estimator_stays_as_it_is():
    X, y = make_text()
    curve = learning_curve(DualLinearSVC(C=0.3), X, y, **{**FAST, "Cs": None})
    assert (curve.C == 0.3).all()
    without = learning_curve(RidgeClassifier(), X, y, **{**FAST, "Cs": None})
    assert np.isnan(without.C).all()
    assert np.isfinite(without.macro("auc")).all()


def test_folds_may_be_any_splitter():
    X, y = make_text(2)
    splitter = ShuffleSplit(2, test_size=0.5, random_state=3)
    curve = learning_curve(DualLinearSVC(), X, y, **{**FAST, "cv": splitter})
    np.testing.assert_array_equal(curve.n_documents, [[9, 27, 45]] * 2)
    splits = GroupKFold(2).split(X, y, groups=np.arange(90) // 9)
    assert learning_curve(DualLinearSVC(), X, y, **{**FAST, "cv": splits}).C.shape == (1, 2, 3)


@pytest.mark.parametrize(
    ("sizes", "expected"), [((1, 0.5), [15, 30]), ([30, 4, 4], [4, 30]), ([1e-9], [1])]
)
def test_sizes_are_fractions_or_counts(sizes, expected):
    y = np.arange(40) % 2
    curve = learning_curve(
        DummyClassifier(), number(40), y, sizes=sizes, cv=4, Cs=None, random_state=0
    )
    np.testing.assert_array_equal(curve.n_documents, [expected] * 4)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sizes": ()}, r"sizes must be fractions above 0 .* Got \(\) instead\."),
        ({"sizes": (0.0, 0.5)}, "sizes must be fractions above 0"),
        ({"sizes": (0.5, 1.5)}, "sizes must be fractions above 0"),
        ({"sizes": (np.nan,)}, "sizes must be fractions above 0"),
        ({"sizes": (1,)}, "whole numbers of documents from 2 on"),
        ({"sizes": "log"}, "sizes must be fractions above 0"),
        ({"sizes": (10, 61)}, r"sizes must be at most 60, .* Got 61 instead\."),
        ({"classes": [0, 7]}, r"classes must be among 0, 1, 2\. Got 7 instead\."),
        ({"classes": []}, r"classes must be among 0, 1, 2\. Got none instead\."),
        ({"Cs": []}, "Cs must hold at least one value"),
        ({"tune_cv": 1}, r"tune_cv must be an integer from 2 on\. Got 1 instead\."),
        ({"tune_cv": StratifiedKFold()}, "tune_cv must be an integer from 2 on"),
        ({"estimator": RidgeClassifier()}, "parameter C to tune. Got RidgeClassifier .*Cs=None"),
        ({"estimator": make_pipeline(Counter(), RidgeClassifier())}, "Got RidgeClassifier instead"),
        ({"estimator": FunctionTransformer()}, "must have predict_proba or decision_function"),
        ({"scoring": "beauty"}, "scoring"),
        ({"progress": "bar"}, r"progress must be True, False or a function .* Got 'bar' instead"),
        ({"random_state": None, "checkpoint": "x.jsonl"}, "random_state must be an integer with"),
    ],
)
def test_what_is_wrong_gets_a_sentence(options, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = make_text()
    with pytest.raises(ValueError, match=sentence):
        learning_curve(**{"estimator": DualLinearSVC(), "X": X, "y": y, **FAST, **options})
    assert not list(tmp_path.iterdir())


def test_an_unknown_measure_gets_a_sentence():
    X, y = make_text(2)
    curve = learning_curve(DualLinearSVC(), X, y, **{**FAST, "sizes": [1.0]})
    for method in (curve.per_class, curve.macro, curve.standard_error, curve.plot):
        with pytest.raises(ValueError, match=r"must be one of auc, f1, .* Got 'f2' instead\."):
            method("f2")


def test_labels_and_rows_of_different_length():
    X, y = make_text()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        learning_curve(DualLinearSVC(), X, y[:-1], **FAST)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_run_that_broke_down_is_taken_up_again(path, n_jobs):
    X, y = make_text()
    Fragile.n_left = np.inf
    whole = learning_curve(Fragile(), X, y, **FAST)
    Fragile.n_left = 40
    with pytest.raises(KeyboardInterrupt):
        learning_curve(Fragile(), X, y, checkpoint=path, **FAST)
    n_kept = len(path.read_text().splitlines()) - 1
    # Two folds of two values, and the last fit; three classes are kept together.
    assert n_kept == 3 * (40 // 15)
    path.write_bytes(path.read_bytes()[:-3])
    Fragile.n_left = 5 * (27 - n_kept + 1)
    calls = []
    again = learning_curve(
        Fragile(),
        X,
        y,
        checkpoint=path,
        n_jobs=n_jobs,
        progress=lambda done, total: calls.append((done, total)),
        **FAST,
    )
    assert calls[0] == (n_kept - 1, 27)
    assert calls[-1] == (27, 27)
    assert sorted(np.diff(calls, axis=0)[:, 0]) == [1] + [3] * 7  # what was left of a sample first
    assert n_jobs > 1 or calls[1] == (n_kept, 27)
    equal(again, whole)
    Fragile.n_left = 0
    finished = learning_curve(Fragile(), X, y, checkpoint=path, **FAST)
    equal(finished, whole)
    np.testing.assert_array_equal(finished.seconds, again.seconds)


PROGRAM = """
import os, signal, sys
from made_up import make_text
from spokeshave import DualLinearSVC, learning_curve

def stop(done, total):
    if done == 6:
        os.kill(os.getpid(), signal.SIGKILL)

X, y = make_text()
learning_curve(
    DualLinearSVC(), X, y, sizes=(0.2, 0.6, 1.0), cv=3, Cs=(0.1, 10.0), tune_cv=2,
    random_state=0, n_jobs=2, checkpoint=sys.argv[1], progress=stop,
)
"""


def test_a_run_that_was_killed_is_taken_up_again(path, plain):
    killed = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    calls = []
    X, y = make_text()
    again = learning_curve(
        DualLinearSVC(),
        X,
        y,
        checkpoint=path,
        progress=lambda done, total: calls.append(done),
        **FAST,
    )
    assert calls[0] == 6
    equal(again, plain)


def test_units_without_measures_are_kept_too(path):
    X, _ = make_text()
    y = (np.arange(90) < 4).astype(int)
    options = {**FAST, "cv": 2, "sizes": [3, 45], "checkpoint": path}
    first = learning_curve(DualLinearSVC(), X, y, **options)
    kept = path.read_bytes()
    equal(first, learning_curve(DualLinearSVC(), X, y, **options))
    assert path.read_bytes() == kept


@pytest.mark.parametrize(
    ("change", "other"),
    [
        ({"sizes": (0.2, 1.0)}, "sizes"),
        ({"Cs": (0.1,)}, "Cs"),
        ({"tune_cv": 3}, "tune_cv"),
        ({"scoring": "f1"}, "scoring"),
        ({"random_state": 1}, "folds, seeds"),
        ({"estimator": DualLinearSVC(tol=0.1)}, "estimator"),
        ({"X": make_text(seed=1)[0]}, "X"),
    ],
)
def test_a_checkpoint_of_other_arguments_is_refused(path, change, other):
    X, y = make_text()
    arguments = {"estimator": DualLinearSVC(tol=0.5), "X": X, "y": y, **FAST, "checkpoint": path}
    learning_curve(**arguments, classes=[0])
    kept = path.read_bytes()
    with pytest.raises(ValueError, match=re.escape(f"{path}, of a run with other {other}:")):
        learning_curve(**{**arguments, **change})
    assert path.read_bytes() == kept


def test_other_classes_may_join_a_checkpoint(path, plain):
    X, y = make_text()
    names = np.array(["ash", "elm", "oak"], object)[y]
    learning_curve(DualLinearSVC(), X, names, classes=["elm"], checkpoint=path, **FAST)
    calls = []
    joined = learning_curve(
        DualLinearSVC(), X, names, checkpoint=path, progress=lambda *n: calls.append(n), **FAST
    )
    assert calls[0] == (9, 27)
    assert joined.classes.tolist() == ["ash", "elm", "oak"]
    np.testing.assert_array_equal(joined.values["auc"], plain.values["auc"])


def test_a_file_that_is_no_checkpoint_is_left_alone(path):
    X, y = make_text()
    path.write_text("my notes\n")
    with pytest.raises(ValueError, match="must be a new file or the checkpoint of a run"):
        learning_curve(DualLinearSVC(), X, y, checkpoint=path, **FAST)
    assert path.read_text() == "my notes\n"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_whoever_watches_may_stop_the_run(path, n_jobs):
    X, y = make_text()

    def stop(done, total):
        if done == 6:
            raise RuntimeError("enough")

    options = {**FAST, "checkpoint": path, "n_jobs": n_jobs}
    with pytest.raises(RuntimeError, match="enough"):
        learning_curve(DualLinearSVC(), X, y, progress=stop, **options)
    assert len(path.read_text().splitlines()) == 1 + 6


def test_the_bar_is_on_a_terminal_only(capsys):
    X, y = make_text(2)
    learning_curve(DualLinearSVC(), X, y, progress=True, **FAST)
    assert capsys.readouterr() == ("", "")


def test_the_bar_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    X, y = make_text(2)
    learning_curve(DualLinearSVC(), X, y, progress=True, **FAST)
    out, err = capsys.readouterr()
    assert out == ""
    assert "9/9" in err


def test_the_frame_has_a_row_per_class_fold_and_size(plain):
    frame = plain.to_frame()
    assert list(frame) == ["class", "fold", "size", "n_documents", "C", *MEASURED, "seconds"]
    assert len(frame) == 3 * 3 * 3
    means = frame.groupby(["class", "size"])["auc"].mean().unstack()
    np.testing.assert_allclose(means, plain.per_class("auc"))
    row = frame[(frame["class"] == 2) & (frame["fold"] == 1) & (frame["size"] == 0.6)]
    assert row["C"].item() == plain.C[2, 1, 1]
    assert row["n_documents"].item() == plain.n_documents[1, 1] == 36


def test_standard_errors_are_over_folds(plain):
    by_fold = plain.values["f1"].mean(axis=0)
    expected = by_fold.std(axis=0, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(plain.standard_error("f1"), expected)
