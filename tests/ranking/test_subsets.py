"""Rankings on subsets against rankings of the same documents by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from made_up import TIGHT, make_targets, make_text
from spokeshave import DualLinearSVC, rank_features, rank_subsets

SHARES = (1, 1 / 2, 1 / 4)


@pytest.mark.parametrize("by", ["normal", "chi2", "perceptron", "random"])
@pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])
def test_all_documents_rank_as_they_do_otherwise(kind, by):
    X, y = make_targets(kind)
    rankings = rank_subsets(X, y, [1], by, random_state=0)
    expected = rank_features(X, y, by, random_state=0)
    found = rankings[f"{by} 1"]
    np.testing.assert_array_equal(found.classes, expected.classes)
    np.testing.assert_array_equal(found.scores, expected.scores)
    assert found.by == by


def test_names_are_of_the_criterion_and_the_share():
    X, y = make_text()
    assert list(rank_subsets(X, y, by="bns")) == [
        f"bns {p}" for p in ("1", "1/2", "1/4", "1/8", "1/16")
    ]
    assert list(rank_subsets(X, y, (0.3, 1.0), "chi2")) == ["chi2 3/10", "chi2 1"]


def test_parts_lie_inside_one_another():
    # One feature per document shows which documents a ranking used.
    X, y = sparse.identity(60, format="csr"), np.arange(60) % 3
    rankings = rank_subsets(X, y, SHARES, "chi2", random_state=0).values()
    used = [set(np.flatnonzero(ranking.scores.any(axis=0))) for ranking in rankings]
    assert [len(documents) for documents in used] == [60, 30, 15]
    assert used[2] < used[1] < used[0]


def test_a_part_ranks_as_its_documents_do():
    X, y = make_text()
    marked = sparse.hstack([X, 1e-9 * sparse.identity(90)], format="csr")
    found = rank_subsets(marked, y, [1 / 3], "chi2", random_state=1)["chi2 1/3"]
    documents = np.flatnonzero(found.scores[:, 40:].any(axis=0))
    assert documents.size == 30
    expected = rank_features(X[documents], y[documents], "chi2")
    np.testing.assert_allclose(found.scores[:, :40], expected.scores)


def test_a_class_that_a_part_lacks_has_no_order():
    X, y = make_text(n=90)
    y = np.where(np.arange(90) == 7, "rare", np.array(["a", "b", "c"])[y])
    rankings = rank_subsets(X, y, (1, 1 / 30), "normal", random_state=0)
    small = rankings["normal 1/30"]
    assert small.classes.tolist() == ["a", "b", "c", "rare"]
    assert small.scores.shape == (4, 40)
    assert small.n_ranked[3] == 0
    assert rankings["normal 1"].n_ranked[3] > 0


def test_one_seed_gives_one_answer_and_another_another():
    X, y = make_text()
    one, two, three = (
        rank_subsets(X, y, [1 / 4], "chi2", random_state=seed)["chi2 1/4"].scores
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, two)
    assert (one != three).any()


def test_the_svm_is_the_one_given():
    X, y = make_text()
    estimator = DualLinearSVC(C=0.1, **TIGHT)
    found = rank_subsets(X, y, [1.0], estimator=estimator)["normal 1"]
    expected = np.abs(DualLinearSVC(C=0.1, **TIGHT).fit(X, y).coef_)
    np.testing.assert_allclose(found.scores, expected, atol=1e-6)
    assert not hasattr(estimator, "coef_")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"shares": [0.0]}, "shares must be greater than 0 and at most 1. Got 0.0 instead"),
        ({"shares": [1.5]}, "shares must be greater than 0 and at most 1. Got 1.5 instead"),
        ({"shares": ["half"]}, "shares must be greater than 0 and at most 1. Got 'half' instead"),
        ({"shares": [0.001]}, "leave at least one of the 90 documents. Got 0.001 instead"),
        ({"by": "gini"}, "by must be one of"),
    ],
)
def test_bad_options_get_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        rank_subsets(*make_text(), **options)
