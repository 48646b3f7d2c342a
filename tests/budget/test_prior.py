"""The prior of the weights, counted block by block."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from made_up import TIGHT, make_targets, make_text
from spokeshave import BudgetedSVC, DocumentVectorizer, DualLinearSVC
from spokeshave.budget.memory import Costs
from spokeshave.budget.prior import count_rows, find_variance, merge_counts
from spokeshave.kernels.rows import make_rows
from spokeshave.svm.prior import compute_variance


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 1000), is_binary=st.booleans(), bounds=st.sets(st.integers(1, 89)))
def test_blocks_add_up_to_the_prior_of_all_documents(seed, is_binary, bounds):
    X, _ = make_text(3, is_binary=is_binary, seed=seed)
    indicator = np.random.default_rng(seed).random((90, 3)) < 0.3
    labels = sparse.csr_matrix(indicator)
    parts = []
    for at in np.split(np.arange(90), sorted(bounds)):
        rows = make_rows(X[at].indptr, X[at].indices, X[at].data, np.ones(at.size))
        codes = labels[at]
        wanted = np.array([2, 0])
        parts.append(count_rows(rows, codes.indptr, codes.indices, wanted, X.shape[1]))
    found = find_variance(merge_counts(parts), 0.5)
    chosen = sparse.csc_matrix(indicator[:, [2, 0]])
    expected = compute_variance("bns", 0.5, X, chosen, np.ones(90))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])
def test_weights_are_those_of_the_svm_with_the_prior(kind):
    X, y = make_targets(kind)
    svc = DualLinearSVC(prior="bns", **TIGHT)
    model = BudgetedSVC("8GB", estimator=svc, random_state=0).fit(X, y)
    expected = svc.fit(X[:, model.features_].astype(np.float32).astype(float), y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-4)
    assert np.abs(model.coef_ - DualLinearSVC(**TIGHT).fit(X, y).coef_).max() > 0.01


def test_a_sparsity_ranks_with_the_prior():
    X, y = make_text(3, n=300, d=200, chances=(0.01, 0.1))
    kept = [
        set(
            BudgetedSVC(
                "8GB",
                estimator=DualLinearSVC(prior=prior, **TIGHT),
                nonzeros_per_document=3,
                random_state=0,
            )
            .fit(X, y)
            .features_.tolist()
        )
        for prior in (None, "bns")
    ]
    assert kept[0] != kept[1]


def test_texts_have_a_prior(tmp_path):
    texts = ["ash bark key", "ash bark", "oak acorn leaf", "oak acorn", "ash key", "oak leaf"] * 5
    labels = ["ash", "ash", "oak", "oak", "ash", "oak"] * 5
    lines = [f"{label},{text}" for label, text in zip(labels, texts, strict=True)]
    (tmp_path / "trees.csv").write_text("\n".join(["label,text", *lines]))
    svc = DualLinearSVC(prior="bns", **TIGHT)
    model = BudgetedSVC("8GB", estimator=svc, random_state=0).fit_files(tmp_path / "trees.csv")
    vectorizer = DocumentVectorizer()
    expected = svc.fit(vectorizer.fit_transform(texts), labels)
    columns = [vectorizer.vocabulary_[word] for word in model.features_]
    np.testing.assert_allclose(model.coef_[0], expected.coef_[0, columns], atol=1e-3)


def test_an_array_is_refused():
    X, y = make_text()
    model = BudgetedSVC("8GB", estimator=DualLinearSVC(prior=np.ones(X.shape[1])))
    with pytest.raises(ValueError, match="estimator must have prior=None or 'bns': the features"):
        model.fit(X, y)


def test_a_prior_takes_memory():
    without, with_prior = (Costs(12, 2, False, has_prior) for has_prior in (False, True))
    assert with_prior.feature == without.feature + 12 * 2 * 4
    assert with_prior.row == without.row + 2 * 8
    assert with_prior.swept_row > without.swept_row
    assert with_prior.swept_feature > without.swept_feature
