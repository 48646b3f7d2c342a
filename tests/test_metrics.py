"""Measures, their averages, and paired tests, against scikit-learn and scipy."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from spokeshave import paired_test, precision_at_k
from spokeshave.metrics import (
    Counts,
    Placed,
    RankedLabels,
    compare,
    count_order,
    count_placed,
    mean_known,
    measure,
    place_negatives,
    pool,
    sort_positives,
)


@pytest.fixture
def counted(rng):
    """Return scores (documents x 3 classes), truth, and the counts stacked by class."""
    truth = rng.random((80, 3)) < [0.5, 0.2, 0.05]
    truth[0] = True
    scores = rng.normal(size=(80, 3)).round(1) + truth
    parts = [
        count_order(scores[None, :, k].copy(), np.flatnonzero(truth[:, k]))[0] for k in range(3)
    ]
    return scores, truth, Counts(*(np.concatenate(field) for field in zip(*parts, strict=True)))


def test_measures_of_classes(counted):
    scores, truth, counts = counted
    for k in range(3):
        y, s = truth[:, k], scores[:, k]
        assert measure("auc", counts)[k] == pytest.approx(roc_auc_score(y, s))
        assert measure("f1", counts)[k] == pytest.approx(f1_score(y, s > 0))
        assert measure("accuracy", counts)[k] == pytest.approx(accuracy_score(y, s > 0))
        best = max(f1_score(y, s >= t) for t in s)
        assert measure("best_f1", counts)[k] == pytest.approx(best)
        edge = np.sort(s)[-20]
        tied, room = s == edge, 20 - (s > edge).sum()
        top = y[s > edge].sum() + y[tied].sum() * room / tied.sum()
        assert measure("precision_at_20", counts)[k] == pytest.approx(top / 20)


def test_micro_averages_are_of_pooled_decisions(counted):
    scores, truth, counts = counted
    pooled = pool(counts, axis=0)
    assert measure("f1", pooled) == pytest.approx(f1_score(truth, scores > 0, average="micro"))
    assert measure("accuracy", pooled) == pytest.approx(((scores > 0) == truth).mean())
    pairs = [(truth[:, k].sum() * (~truth[:, k]).sum()) for k in range(3)]
    auc = np.average([roc_auc_score(truth[:, k], scores[:, k]) for k in range(3)], weights=pairs)
    assert measure("auc", pooled) == pytest.approx(auc)


def test_a_single_positive_at_the_top():
    counts, threshold = count_order(np.array([[0.5, 2.0, -1.0]]), np.array([1]))
    assert measure("auc", counts) == 1
    assert measure("best_f1", counts) == 1
    assert threshold == 2.0
    assert measure("precision_at_20", counts) == pytest.approx(1 / 3)


def test_a_class_without_a_document_has_no_measures():
    counts, _ = count_order(np.array([[0.5, 2.0, -1.0]]), np.array([], int))
    assert np.isnan(measure("auc", counts)).all()
    assert np.isnan(measure("accuracy", counts)).all()


def test_a_class_of_every_document_has_no_auc():
    counts, _ = count_order(np.array([[0.5, 2.0]]), np.array([0, 1]))
    assert np.isnan(measure("auc", counts)).all()
    assert measure("best_f1", counts) == 1


@pytest.mark.parametrize("score", [1e301, -np.inf, np.nan])
def test_scores_that_overflow_are_refused(score):
    with pytest.raises(ValueError, match="Scale the features"):
        count_order(np.array([[score, 0.0]]), np.array([0]))


def count_in_parts(scores, positive, parts):
    """Return the result of `count_order`, from negatives that are placed part by part."""
    of_positives = sort_positives(np.compress(positive, scores, axis=1))
    placed = [
        place_negatives(np.take(scores, part, axis=1), np.flatnonzero(positive[part]), of_positives)
        for part in parts
    ]
    return count_placed(of_positives, reduce(Placed.merge, placed))


def check_same(found, expected):
    for one, other in zip([*found[0], found[1]], [*expected[0], expected[1]], strict=True):
        np.testing.assert_array_equal(one, other)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0, 1), st.lists(st.integers(0, 70), max_size=5))
def test_documents_may_be_counted_in_parts(seed, share, edges):
    rng = np.random.default_rng(seed)
    scores, positive = rng.normal(size=(3, 70)).round(1), rng.random(70) < share
    parts = np.split(rng.permutation(70), sorted(edges))
    found = count_in_parts(scores, positive, parts)
    check_same(found, count_order(scores.copy(), np.flatnonzero(positive)))


@pytest.mark.parametrize("positive", [[False] * 3, [True] * 3, [True, False, False]])
def test_parts_may_be_without_positives_or_negatives(positive):
    scores, positive = np.array([[0.5, 2.0, -1.0], [1.0, 1.0, 1.0]]), np.array(positive)
    found = count_in_parts(scores, positive, np.arange(3)[:, None])
    check_same(found, count_order(scores.copy(), np.flatnonzero(positive)))


def test_mean_of_nothing_known_is_unknown():
    values = np.array([[np.nan, 1.0], [np.nan, np.nan]])
    np.testing.assert_array_equal(mean_known(values, axis=0), [np.nan, 1.0])


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30),
    st.sampled_from(["two-sided", "greater", "less"]),
)
def test_paired_test_is_scipys(pairs, alternative):
    a, b = np.transpose(pairs)
    found = paired_test(a, b, alternative=alternative)
    assert found.n == len(a)
    assert found.mean_difference == pytest.approx(np.mean(a - b), abs=1e-12)
    assert 0 <= found.p_value <= 1
    if np.std(a - b) > 1e-9:
        expected = stats.ttest_rel(a, b, alternative=alternative)
        assert found.statistic == pytest.approx(expected.statistic)
        assert found.p_value == pytest.approx(expected.pvalue)


def test_paired_test_without_variation():
    assert paired_test([1, 2], [1, 2]).p_value == 1
    assert paired_test([1, 2], [1, 2], alternative="greater").p_value == 0.5
    assert paired_test([1, 2], [0, 1], alternative="greater") == (np.inf, 0.0, 1.0, 2)
    assert paired_test([0, 1], [1, 2], alternative="greater").p_value == 1


def test_pairs_that_are_unknown_are_left_out():
    assert paired_test([1, np.nan, 3, 5], [0, 1, 1, 4]) == paired_test([1, 3, 5], [0, 1, 4])


@pytest.mark.parametrize(
    ("a", "b", "options", "sentence"),
    [
        ([1, 2], [1, 2, 3], {}, "same order"),
        ([[1, 2]], [[1, 2]], {}, "same order"),
        ([1], [2], {}, "at least two pairs"),
        ([1, np.nan], [2, 3], {}, "at least two pairs"),
        ([1, 2], [1, 3], {"alternative": "bigger"}, "alternative must be"),
    ],
)
def test_pairs_that_cannot_be_tested(a, b, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        paired_test(a, b, **options)


@given(st.integers(1, 8), st.integers(1, 7), st.integers(0, 2**32 - 1), st.data())
def test_precision_at_k_is_that_of_a_plain_count(n_documents, n_classes, seed, data):
    rng = np.random.default_rng(seed)
    truth = rng.random((n_documents, n_classes)) < 0.4
    scores = rng.integers(-3, 3, truth.shape) / 2  # ties
    k = data.draw(st.integers(1, n_classes))
    right = 0
    for row, true in zip(scores, truth, strict=True):
        best = sorted(range(n_classes), key=lambda c: (-row[c], c))[:k]
        right += sum(true[c] for c in best)
    expected = right / (k * n_documents)
    assert precision_at_k(truth, scores, k) == pytest.approx(expected)
    assert precision_at_k(sparse.csr_matrix(truth.astype(int)), scores, k) == precision_at_k(
        truth, scores, k
    )


def test_precision_at_k_of_ranked_labels_adds_up_over_batches(counted):
    scores, truth, _ = counted
    names = ["ash", "oak", "yew"]
    predicted = RankedLabels(scores > 0.5, scores)
    whole = compare(truth, predicted, names)
    assert whole.precision_at_k == {
        k: pytest.approx(precision_at_k(truth, scores, k)) for k in (1, 3)
    }
    parts = [
        compare(truth[rows], RankedLabels(*(each[rows] for each in predicted)), names)
        for rows in (slice(0, 30), slice(30, 30), slice(30, 80))
    ]
    merged = reduce(lambda one, other: one.merge(other), parts)
    for one, other in zip(merged, whole, strict=True):
        np.testing.assert_array_equal(one, other)
    plain = compare(truth, scores > 0.5, names)
    assert plain.micro_f1 == whole.micro_f1
    assert plain.precision_at_k == {}


def test_labels_that_are_no_classes_count_as_errors():
    y, predicted = np.array(list("aabbxy")), np.array(list("aabaab"))
    found = compare(y, predicted, ["a", "b"])
    assert found.accuracy == found.micro_f1 == 3 / 6
    expected = f1_score(y, predicted, labels=["a", "b"], average=None)
    np.testing.assert_allclose(found.f1, expected)
    halves = [compare(y[rows], predicted[rows], ["a", "b"]) for rows in (slice(3), slice(3, 6))]
    assert halves[0].merge(halves[1]).micro_f1 == found.micro_f1


def test_tags_that_are_no_classes_count_as_errors():
    # The third and the fourth class are not known: no prediction has them.
    y = np.array([[1, 0, 1, 0], [0, 1, 1, 1], [1, 1, 0, 0]])
    predicted = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]])
    found = compare(y[:, :2], predicted[:, :2], ["a", "b"], n_unknown=y[:, 2:].sum(axis=1))
    assert found.accuracy == np.mean((y == predicted).all(axis=1)) == 0
    assert found.micro_f1 == pytest.approx(f1_score(y, predicted, average="micro"))
    ranked = RankedLabels(predicted[:, :2], predicted[:, :2].astype(float))
    assert compare(y[:, :2], ranked, ["a", "b"], y[:, 2:].sum(axis=1)).n_unknown == 3


@pytest.mark.parametrize(
    ("y", "scores", "k", "message"),
    [
        ([[1, 0]], [[0.1, 0.2]], 3, "k must be between 1 and 2. Got 3 instead"),
        ([[1, 0]], [[0.1, 0.2]], 0, "k must be between 1 and 2. Got 0 instead"),
        ([1, 0], [0.1, 0.2], 1, "a column per class. Got shapes"),
        ([[1, 0]], [[0.1, 0.2, 0.3]], 1, "a column per class. Got shapes"),
        (np.zeros((0, 2)), np.zeros((0, 2)), 1, "a row per document"),
    ],
)
def test_precision_at_k_of_bad_input_gets_a_sentence(y, scores, k, message):
    with pytest.raises(ValueError, match=message):
        precision_at_k(y, scores, k)
