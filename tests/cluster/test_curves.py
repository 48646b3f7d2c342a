"""Curves measured on blocks of documents are those of one machine, whatever the blocks."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from made_parts import spread_blocks, write_parts
from made_up import make_targets, make_text
from spokeshave import DualLinearSVC, feature_curve
from spokeshave.cluster import curves
from spokeshave.cluster.blocks import spread_documents
from spokeshave.cluster.curves import CLASSES, curve_on_cluster, plan_groups
from spokeshave.corpus.documents import Texts
from spokeshave.metrics import MEASURES
from spokeshave.text.vectorizer import DocumentVectorizer

CUTS = (0.05, 0.3, 1.0)
EXACT = ("classes", "cuts", "fractions", "n_features", "nonzeros", "thresholds", "counts")


def fit(X, y):
    return DualLinearSVC(random_state=0).fit(X, y)


def check_same(found, expected):
    for name in MEASURES:
        np.testing.assert_array_equal(found.per_class(name), expected.per_class(name))
        np.testing.assert_array_equal(found.micro(name), expected.micro(name))
    for name in EXACT:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    for name in ("method", "by", "evaluated_on", "against"):
        assert getattr(found, name) == getattr(expected, name)


def make(kind):
    """Return documents with targets of a kind, labels of which are strings as those of files."""
    X, y = make_targets(kind)
    return X, y if y.ndim == 2 else y.astype(str)


def test_measures_are_those_of_one_machine(client, collection, parts):
    spread = spread_documents(client, parts)
    X, y = DocumentVectorizer().fit_transform(collection.texts), np.array(collection.labels)
    svc = fit(X, y)
    found = curve_on_cluster(client, spread, svc)
    check_same(found, feature_curve(X, y, X_test=X, y_test=y, estimator=svc))


def test_workers_that_die_change_nothing(four, make_deadly, collection, parts):
    X, y = DocumentVectorizer().fit_transform(collection.texts), np.array(collection.labels)
    svc = fit(X, y)
    spread = spread_documents(four, parts)
    tasks = [make_deadly(curves, name) for name in ("score_positives", "place_block")]
    found = curve_on_cluster(four, spread, svc, cuts=CUTS)
    check_same(found, feature_curve(X, y, X_test=X, y_test=y, estimator=svc, cuts=CUTS))
    assert all(task.has_killed for task in tasks)


@pytest.mark.parametrize("weighting", ["binary", "tfidf"])
def test_other_documents_are_measured_with_the_words_to_train_on(
    client, collection, tmp_path, weighting
):
    edge = 150
    texts, labels = collection.texts, np.array(collection.labels)
    order = np.concatenate([np.arange(edge), edge + np.argsort(labels[edge:])])  # class by class
    order = order[:-15]  # of the last class there are few
    texts, labels = [texts[i] for i in order], labels[order]
    recipe = DocumentVectorizer(weighting=weighting)
    sides = {}
    for name, of, sizes in (
        ("train", slice(edge), (60,)),
        ("test", slice(edge, None), (1, 9, 30)),
    ):
        folder = tmp_path / name
        folder.mkdir()
        pattern = write_parts(Texts(texts[of], labels[of].tolist()), folder, sizes)
        like = sides.get("train")
        sides[name] = spread_documents(client, pattern, vectorizer=recipe, like=like)
    X, X_test = recipe.fit_transform(texts[:edge]), recipe.transform(texts[edge:])
    svc = fit(X, labels[:edge])
    tests = {"X_test": X_test, "y_test": labels[edge:]}
    expected = feature_curve(X, labels[:edge], **tests, estimator=svc, cuts="log")
    found = curve_on_cluster(client, sides["test"], svc, train=sides["train"], cuts="log")
    check_same(found, expected)


@pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])
@pytest.mark.parametrize("is_ordered", [False, True], ids=["mixed", "by class"])
def test_blocks_do_not_matter(client, kind, is_ordered):
    X, y = make(kind)
    svc = fit(X, y)
    order = np.lexsort(y.T if y.ndim == 2 else [y]) if is_ordered else np.arange(len(y))
    X, y = X[order], y[order]
    spread = spread_blocks(client, X, y, [1, 30, 60, 65])
    found = curve_on_cluster(client, spread, svc, cuts=CUTS)
    assert found.evaluated_on == "test set"
    check_same(found, feature_curve(X, y, X_test=X, y_test=y, estimator=svc, cuts=CUTS))


def test_blocks_whose_values_are_alike_are_scored_as_the_others(client):
    X, y = make_text(chances=(0.2, 0.6), n=120)
    y = y.astype(str)
    plain = X[:40].copy()
    plain.data[:] = np.repeat(1 / np.sqrt(np.arange(2, 42)), np.diff(plain.indptr))
    X = sparse.vstack([plain, X[40:]], format="csr")
    svc = fit(X, y)
    found = curve_on_cluster(client, spread_blocks(client, X, y, [40]), svc, cuts="log")
    check_same(found, feature_curve(X, y, X_test=X, y_test=y, estimator=svc, cuts="log"))


def test_classes_without_documents(client):
    X, y = make_text(4, n=80)
    indicator = (y[:, None] == np.arange(4)).astype(int)
    train, test = indicator.copy(), indicator.copy()
    train[:, 1], test[:, 2] = 0, 0
    svc = fit(X, train)
    sides = [spread_blocks(client, X, each, [50]) for each in (train, test)]
    found = curve_on_cluster(client, sides[1], svc, train=sides[0], cuts=CUTS)
    assert np.isnan(found.auc[1:3]).all()
    assert not np.isnan(found.auc[[0, 3]]).any()
    tests = {"X_test": X, "y_test": test}
    check_same(found, feature_curve(X, train, **tests, estimator=svc, cuts=CUTS))


def test_a_class_of_many_is_measured_a_few_cuts_at_a_time(client, monkeypatch):
    X, y = make("labels")
    svc = fit(X, y)
    expected = feature_curve(X, y, X_test=X, y_test=y, estimator=svc)
    monkeypatch.setattr(curves, "plan_groups", partial(plan_groups, cells=150))
    assert len(curves.plan_groups(dict.fromkeys(range(3), 30), 13)) == 9
    found = curve_on_cluster(client, spread_blocks(client, X, y, [20, 70]), svc)
    check_same(found, expected)


@settings(deadline=None)
@given(
    st.dictionaries(st.integers(0, 99), st.integers(0, 60), max_size=30),
    st.integers(1, 14),
    st.integers(1, 300),
)
def test_every_cut_of_every_class_is_in_one_group(sizes, n_cuts, cells):
    groups = plan_groups(sizes, n_cuts, cells)
    dealt = [(piece.k, cut) for group in groups for piece in group for cut in range(*piece[1:])]
    assert dealt == [(k, cut) for k in sizes for cut in range(n_cuts)]
    for group in groups:
        assert 1 <= len(group) <= CLASSES
        n_scores = sum(sizes[piece.k] * (piece.last - piece.first) for piece in group)
        is_least = len(group) == 1 and group[0].last - group[0].first == 1
        assert n_scores <= cells or is_least


def test_scores_that_overflow_are_refused(client):
    X, y = make("labels")
    svc = fit(X, y)
    svc.coef_ = svc.coef_ * 1e305
    with pytest.raises(ValueError, match="Scale the features"):
        curve_on_cluster(client, spread_blocks(client, X, y, [40]), svc, cuts=CUTS)


def test_what_cannot_be_measured_is_refused(client):
    X, y = make("labels")
    spread = spread_blocks(client, X, y, [])
    two = spread_blocks(client, X, (y == "1").astype(str), [])
    with pytest.raises(ValueError, match="estimator must be fitted"):
        curve_on_cluster(client, spread, DualLinearSVC())
    with pytest.raises(ValueError, match="weights for 1 classes and 40 features"):
        curve_on_cluster(client, two, fit(X, y))
    with pytest.raises(ValueError, match="fitted on the classes"):
        curve_on_cluster(client, spread, fit(X, y.astype(int)))
    with pytest.raises(ValueError, match="spread it with like=train"):
        curve_on_cluster(client, spread, fit(X, y), train=two)
    with pytest.raises(ValueError, match="cuts must be"):
        curve_on_cluster(client, spread, fit(X, y), cuts=(0, 2))
