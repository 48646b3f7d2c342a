"""Measures of the predicted label at every cut, against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import KFold, StratifiedKFold

from made_up import CUTS, TIGHT, make_text
from spokeshave import DualLinearSVC, ShavedSVC, feature_curve
from spokeshave.metrics import begin_labels

METHODS = ["mask", "sv_set", "exact", "warm", "rfe"]


def score_plainly(labels, truth):
    """Return macro-F1, micro-F1 and accuracy of labels (cuts x documents) by scikit-learn."""
    return np.array(
        [
            [
                f1_score(truth, found, average="macro", zero_division=0),
                f1_score(truth, found, average="micro"),
                accuracy_score(truth, found),
            ]
            for found in labels
        ]
    ).T


@settings(deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_classes=st.integers(3, 6),
    n_cuts=st.integers(1, 3),
    n_groups=st.integers(1, 3),
    data=st.data(),
)
def test_any_order_of_classes_gives_the_labels_of_argmax(seed, n_classes, n_cuts, n_groups, data):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-2, 3, (n_classes, n_cuts, 20)).astype(float)  # many ties
    truth = rng.integers(0, n_classes, 20).astype(np.int32)
    order = data.draw(st.permutations(range(n_classes)))
    parts = [begin_labels(n_cuts, 20, has_two_classes=False) for _ in range(n_groups)]
    for number, k in enumerate(order):
        parts[number % n_groups].add(scores[k], k)
    found = parts[0]
    for part in parts[1:]:
        found = found.merge(part)
    expected = scores.argmax(axis=0)
    np.testing.assert_array_equal(found.label, expected)
    counts = found.compare(truth, n_classes)
    macro, micro, accuracy = score_plainly(expected, truth)
    np.testing.assert_allclose(counts.macro_f1, macro)
    np.testing.assert_allclose(counts.accuracy, micro)
    np.testing.assert_allclose(counts.accuracy, accuracy)


@pytest.mark.parametrize("method", METHODS[:-1])
@pytest.mark.parametrize("n_classes", [2, 3, 5, 20])
def test_labels_of_a_curve_are_those_of_the_model_at_the_cut(n_classes, method):
    X, y = make_text(n_classes, n=200)
    train, test = np.arange(140), np.arange(140, 200)
    names = np.array([f"class {k:02}" for k in range(n_classes)])[y]
    svc = DualLinearSVC(**TIGHT)
    # Documents without a kept word tie up to rounding, which retraining does not repeat.
    cuts = CUTS if method in ("mask", "sv_set") else (0.5, 1.0)
    curve = feature_curve(
        X[train],
        names[train],
        X_test=X[test],
        y_test=names[test],
        method=method,
        estimator=svc,
        cuts=cuts,
    )
    labels = [
        ShavedSVC(clone(svc), n_features=cut, final=method)
        .fit(X[train], names[train])
        .predict(X[test])
        for cut in cuts
    ]
    macro, micro, accuracy = score_plainly(labels, names[test])
    np.testing.assert_allclose(curve.average("macro_f1", "macro"), macro)
    np.testing.assert_allclose(curve.average("micro_f1", "macro"), micro)
    np.testing.assert_allclose(curve.average("accuracy", "macro"), accuracy)
    classes = np.unique(names)[-len(curve.classes) :]
    by_class = [f1_score(names[test], each, labels=classes, average=None) for each in labels]
    np.testing.assert_allclose(curve.per_class("label_f1"), np.transpose(by_class))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_folds_that_lack_a_class_count_its_documents(n_jobs):
    X, y = make_text(4, n=120)
    y[:] = np.sort(y)  # folds in a row: each lacks documents of some classes
    svc, cv = DualLinearSVC(**TIGHT), KFold(4)
    curve = feature_curve(X, y, cv=cv, estimator=svc, cuts=CUTS, n_jobs=n_jobs)
    found = []
    for train, test in cv.split(X):
        model = clone(svc).fit(X[train], y[train])
        found.append(score_plainly([model.predict(X[test])], y[test])[:, 0])
    macro, micro, _ = np.mean(found, axis=0)
    assert curve.average("macro_f1", "macro")[-1] == pytest.approx(macro)
    assert curve.average("accuracy", "macro")[-1] == pytest.approx(micro)


def test_several_methods_have_labels_of_their_own():
    X, y = make_text(4, n=160)
    options = {"cv": StratifiedKFold(3), "estimator": DualLinearSVC(**TIGHT), "cuts": CUTS}
    together = feature_curve(X, y, method=METHODS, **options)
    for method, curve in zip(METHODS, together, strict=True):
        alone = feature_curve(X, y, method=method, **options)
        for one, other in zip(curve.labels, alone.labels, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_cut_is_chosen_by_the_predicted_label():
    X, y = make_text(4, n=160)
    curve = feature_curve(X, y, cv=3, cuts=CUTS, random_state=0)
    assert curve.default_measure == "macro_f1"
    for name, average in (("macro_f1", "macro"), ("micro_f1", "micro"), ("accuracy", "micro")):
        best = curve.best(name)
        assert (best.measure, best.average) == ("label_f1", average)
        assert best.value == curve.average(name, "macro").max()
        assert str(best).startswith(f"{best.fraction:.3g} of the features: {average}_f1 ")
        assert (curve.standard_error(name) >= 0).all()
    model = ShavedSVC(measure="macro_f1", cuts=CUTS, cv=3, random_state=0).fit(X, y)
    assert model.choice_.measure == "label_f1"


def test_several_labels_have_no_predicted_label():
    X, y = make_text(3)
    Y = np.column_stack([y == 0, y != 1, y == 2]).astype(int)
    curve = feature_curve(X, Y, cv=3, cuts=CUTS)
    assert curve.labels is None
    assert curve.default_measure == "best_f1"
    np.testing.assert_array_equal(curve.average("accuracy", "macro"), curve.macro("accuracy"))
    for call in (curve.best, curve.smallest_within, curve.per_class):
        name = "label_f1" if call == curve.per_class else "macro_f1"
        with pytest.raises(ValueError, match="label_f1 is a measure of single labels"):
            call(name=name)
