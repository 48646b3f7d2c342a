"""Rankings and sparsity from counts of blocks are those of one machine."""

from __future__ import annotations

import numpy as np
import pytest

from made_parts import make_collection, sort_by_class, spread_blocks, write_parts
from made_up import make_targets
from spokeshave import rank_features, sparsity_curve
from spokeshave.cluster import rankings
from spokeshave.cluster.rankings import rank_on_cluster, sparsity_on_cluster
from spokeshave.cluster.spreading import Spread, spread_documents
from spokeshave.corpus.vectorizer import DocumentVectorizer
from spokeshave.curves.sparsity import MEASURES

BY_PRESENCE = ["information_gain", "odds_ratio", "bns", "hellinger"]
BY_VALUES = ["chi2", "naive_bayes"]
COUNTS = DocumentVectorizer(weighting="counts", norm=None)


@pytest.fixture(scope="module")
def spread(client, parts):
    """Return the collection in four blocks, one of them of a single document."""
    return spread_documents(client, parts, vectorizer=COUNTS)


@pytest.fixture(scope="module")
def documents(collection):
    """Return the collection as it is on one machine."""
    X = DocumentVectorizer(weighting="counts", norm=None).fit_transform(collection.texts)
    return X, np.array(collection.labels)


def check_same(found, expected):
    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.classes, expected.classes)
    assert found.classes.dtype == expected.classes.dtype
    assert found.by == expected.by


@pytest.mark.parametrize("by", [*BY_PRESENCE, *BY_VALUES])
def test_rankings_of_counts_are_those_of_one_machine(client, spread, documents, by):
    assert len(spread.blocks) == 4
    check_same(rank_on_cluster(client, spread, by), rank_features(*documents, by))


def test_workers_that_die_change_nothing(four, make_deadly, parts, documents):
    tasks = [make_deadly(rankings, name) for name in ("sum_block", "count_block")]
    spread = spread_documents(four, parts, vectorizer=COUNTS)
    ranking = rank_on_cluster(four, spread, "bns")
    check_same(ranking, rank_features(*documents, "bns"))
    found = sparsity_on_cluster(four, spread, ranking)
    np.testing.assert_array_equal(found.frequency, sparsity_curve(documents[0], ranking).frequency)
    assert all(task.has_killed for task in tasks)


@pytest.mark.parametrize("by", ["bns", "chi2"])
def test_rankings_of_a_class_in_one_part_only(client, tmp_path, by):
    collection = sort_by_class(make_collection(120, 3))
    X = COUNTS.fit_transform(collection.texts)
    pattern = write_parts(collection, tmp_path, sizes=(40, 0, 79))
    spread = spread_documents(client, pattern, vectorizer=COUNTS)
    check_same(rank_on_cluster(client, spread, by), rank_features(X, collection.labels, by))


@pytest.mark.parametrize("by", ["bns", "chi2"])
def test_rankings_of_two_classes_are_of_the_second(client, tmp_path, by):
    collection = make_collection(60, 2)
    pattern = write_parts(collection, tmp_path, sizes=(10, 20))
    X = COUNTS.fit_transform(collection.texts)
    spread = spread_documents(client, pattern, vectorizer=COUNTS)
    check_same(rank_on_cluster(client, spread, by), rank_features(X, collection.labels, by))


@pytest.mark.parametrize("by", ["odds_ratio", "naive_bayes"])
def test_rankings_of_several_labels_are_by_column(client, by):
    X, y = make_targets("multilabel")
    X.data[:] = np.ceil(4 * X.data)
    y[:, 1] = 0  # no document has it
    spread = spread_blocks(client, X, y, 10)
    check_same(rank_on_cluster(client, spread, by), rank_features(X, y, by))


@pytest.mark.parametrize("by", [*BY_PRESENCE, *BY_VALUES])
def test_rankings_of_real_values_differ_by_rounding_at_most(client, by):
    X, y = make_targets("labels")
    X.data[:9] = 0  # stored, and yet not there
    found = rank_on_cluster(client, spread_blocks(client, X, y, 3), by)
    expected = rank_features(X, y, by)
    if by in BY_PRESENCE:
        np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("by", ["normal", "winnow", "random", "no such"])
def test_criteria_that_take_more_than_counts_are_refused(client, spread, by):
    with pytest.raises(ValueError, match=f"'naive_bayes' on a cluster. Got {by!r} instead"):
        rank_on_cluster(client, spread, by)


def test_negative_values_are_refused_where_they_are_met(client):
    X, y = make_targets("labels")
    X.data[-1] = -0.25
    with pytest.raises(ValueError, match=r"not have negative values for by='chi2'\. Got -0\.25"):
        rank_on_cluster(client, spread_blocks(client, X, y, 2), "chi2")


def test_one_class_is_refused(client):
    spread = Spread([], None, ["oak"], False, 3, 4)
    with pytest.raises(ValueError, match=r"at least two classes\. Got 'oak' only"):
        rank_on_cluster(client, spread, "bns")


@pytest.mark.parametrize("cuts", ["log", (0.1, 0.5, 1.0)])
def test_sparsity_is_that_of_one_machine(client, spread, documents, cuts):
    X, y = documents
    both = {by: rank_features(X, y, by) for by in ("bns", "odds_ratio")}
    found = sparsity_on_cluster(client, spread, both, cuts=cuts)
    expected = sparsity_curve(X, both, cuts=cuts)
    assert found.rankings == expected.rankings
    assert found.n_documents == expected.n_documents
    for name in ("classes", "cuts", "frequency", *MEASURES):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_sparsity_of_a_ranking_of_other_features_is_refused(client, spread):
    X, y = make_targets("labels")
    with pytest.raises(ValueError, match=f"have the {spread.n_features} features of X"):
        sparsity_on_cluster(client, spread, rank_features(X, y, "bns"))
