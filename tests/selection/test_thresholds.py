import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from spokeshave.selection.thresholds import (
    LOWEST_F1,
    MICRO_SHARE,
    PRIOR_POSITIVES,
    count_steps,
    find_common,
    tune_thresholds,
)

SCORES = st.one_of(
    st.integers(-3, 3).map(lambda n: n / 4),  # ties
    st.floats(-2, 2, allow_subnormal=False),
)


@st.composite
def draw_classes(draw, most_classes=4, n_documents=(0, 60)):
    """Return the scores of some classes and which documents are of them."""
    classes = []
    for _ in range(draw(st.integers(1, most_classes))):
        n = draw(st.integers(*n_documents))
        scores = draw(st.lists(SCORES, min_size=n, max_size=n))
        n_positive = draw(st.integers(0, min(n, 5)))
        is_positive = np.zeros(n, bool)
        is_positive[:n_positive] = True
        classes.append((np.array(scores), is_positive))
    return classes


def measure_at(classes, thresholds, average):
    """Return the averaged F1 of predicting all documents above a threshold."""
    right, predicted, positive = (
        np.array([f(s > t, y).sum() for (s, y), t in zip(classes, thresholds, strict=True)])
        for f in (lambda p, y: p & y, lambda p, y: p, lambda p, y: y)
    )
    if average == "micro":
        return 2 * right.sum() / max(predicted.sum() + positive.sum(), 1)
    return np.mean(2 * right / np.maximum(predicted + positive, 1))


def search_common(classes, average):
    """Return the best averaged F1 of any common threshold."""
    scores = np.unique(np.concatenate([scores for scores, _ in classes]))
    candidates = np.append(scores, scores[:1] - 1)
    return max((measure_at(classes, [t] * len(classes), average) for t in candidates), default=0.0)


def step(classes):
    return [count_steps(*each) for each in classes]


@given(draw_classes())
@pytest.mark.parametrize("average", ["macro", "micro"])
def test_no_common_threshold_is_better(average, classes):
    threshold = find_common(step(classes), average)
    found = measure_at(classes, [threshold] * len(classes), average)
    best = search_common(classes, average)
    assert found <= best + 1e-9
    n_positive = sum(y.sum() for _, y in classes)
    if all(20 * max(y.sum(), 1) >= y.size for _, y in classes) and n_positive:
        assert found == pytest.approx(best)
    if not n_positive:
        assert threshold == 0


@given(draw_classes(most_classes=1))
def test_the_threshold_of_a_single_class_is_that_of_its_best_f1(classes):
    ((scores, is_positive),) = classes
    for average in ("macro", "micro", None):
        (threshold,) = tune_thresholds(step(classes), average)
        best = search_common(classes, "macro")
        if is_positive.any() and best >= LOWEST_F1:
            near = np.abs(scores - threshold).min() < 1e-9  # a mean of equals may be rounded
            found = f1_score(is_positive, scores > threshold, zero_division=0)
            assert near or found == pytest.approx(best)


@given(draw_classes())
def test_a_plain_twin_gives_the_same_thresholds(classes):
    steps = step(classes)
    common = {average: find_common(steps, average) for average in ("macro", "micro")}
    expected = []
    for each, (_, is_positive) in zip(steps, classes, strict=True):
        n = is_positive.sum()
        own, weight = find_common([each], "macro"), n / (n + PRIOR_POSITIVES)
        best = max(
            (2 * r / (p + n) for r, p in zip(each.right, each.predicted, strict=True)), default=0
        )
        if best < LOWEST_F1:
            weight = 0
        macro = weight * own + (1 - weight) * common["macro"]
        expected.append((1 - MICRO_SHARE) * macro + MICRO_SHARE * common["micro"])
    np.testing.assert_allclose(tune_thresholds(steps, "macro"), expected)
    np.testing.assert_allclose(tune_thresholds(steps, None), expected)
    np.testing.assert_array_equal(tune_thresholds(steps, "micro"), common["micro"])


@settings(max_examples=40)
@given(draw_classes(n_documents=(1, 100)))
def test_steps_count_the_documents_at_or_above_each_score(classes):
    for scores, is_positive in classes:
        found = count_steps(scores, is_positive)
        assert (np.diff(found.scores) < 0).all()
        for score, right, predicted in zip(*found[:3], strict=True):
            if predicted < scores.size:  # the last may stand for all below it
                assert predicted == (scores >= score).sum()
                assert right == (is_positive & (scores >= score)).sum()
        assert (found.right[-1], found.predicted[-1]) == (is_positive.sum(), scores.size)
        low = found.f1[found.predicted > 20 * max(found.positive, 1)]
        assert low.size <= 1


def test_a_threshold_is_in_the_middle_between_neighbours():
    steps = count_steps(np.array([0.8, 0.2, -0.6]), np.array([True, True, False]))
    assert find_common([steps], "macro") == pytest.approx(-0.2)


def test_of_equally_good_thresholds_the_highest_is_taken():
    scores = np.array([4.0, 3.0, 2.0, 1.0])
    steps = count_steps(scores, np.array([True, False, False, True]))  # F1 of 2/3 at 4 and at 1
    assert find_common([steps], "macro") == 3.5


def test_tied_scores_are_not_parted():
    steps = count_steps(np.array([0.5, 0.5, 0.1]), np.array([True, False, False]))
    assert find_common([steps], "macro") == pytest.approx(0.3)


def test_if_all_are_predicted_the_threshold_is_below_the_lowest():
    threshold = find_common([count_steps(np.array([0.4]), np.array([True]))], "macro")
    assert threshold < 0.4
    assert threshold == pytest.approx(0.4)


def test_a_class_without_scores_has_the_common_threshold():
    found = count_steps(np.array([0.9, 0.3]), np.array([True, False]))
    none = count_steps(np.zeros(0), np.zeros(0, bool))  # no fold trains it
    assert tune_thresholds([found, none], "macro") == pytest.approx([0.6, 0.6])
    assert tune_thresholds([none], "macro") == [0.0]
    assert tune_thresholds([], "macro").size == 0


def test_rare_classes_are_shrunk_more_than_frequent_ones():
    frequent = count_steps(np.repeat([0.5, -0.5], 200), np.repeat([True, False], 200))
    rare = count_steps(np.array([-0.4, -0.9]), np.array([True, False]))
    thresholds = tune_thresholds([frequent, rare], "macro")
    common = find_common([frequent, rare], "macro")
    assert abs(thresholds[0] - 0.0) < 0.1
    assert abs(thresholds[1] - common) < abs(thresholds[1] - -0.65)
