"""Rankings against hand-computed tables and scikit-learn, and their invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import norm
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import chi2, mutual_info_classif
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.preprocessing import normalize
from sklearn.tree import DecisionTreeClassifier

from spokeshave import DualLinearSVC, Ranking, rank_features
from spokeshave.ranking.criteria import CRITERIA, SMALLEST_RATE, rank_by_normal
from spokeshave.ranking.learners import least_squares
from spokeshave.utils.sums import bi_normal_separation, sum_presence

ALL = pytest.mark.parametrize("by", CRITERIA)
OF_ITSELF = [by for by in CRITERIA if by not in ("normal", "random")]
EXACT = [by for by in OF_ITSELF if by != "least_squares"]  # which stops when it is close enough
NOT_NEGATIVE = ["chi2", "naive_bayes", "winnow"]
TIGHT = {"tol": 1e-12, "max_iter": 100_000, "random_state": 0}

# Six documents, three of them of the class. Present in the class and outside it: 3 and 0 times,
# 1 and 1, 0 and 2, 2 and 1, never, always.
TABLE = np.array(
    [
        [1, 1, 0, 1, 0, 1],
        [1, 0, 0, 1, 0, 1],
        [1, 0, 0, 0, 0, 1],
        [0, 1, 1, 1, 0, 1],
        [0, 0, 1, 0, 0, 1],
        [0, 0, 0, 0, 0, 1],
    ]
)
IN_CLASS = np.array([1, 1, 1, 0, 0, 0])


def make_counts(seed=0, *, n=60, d=12, k=3):
    """Return counts of words, sparse and none of them negative, and labels of k classes."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    X = (rng.random((n, d)) < rng.uniform(0.1, 0.6, size=(k, d))[y]) * rng.integers(1, 6, (n, d))
    return sparse.csr_matrix(X, dtype=float), y


def rank(X, y, by, **options):
    return rank_features(X, y, by=by, random_state=0, **options).scores


def test_information_gain_of_a_table():
    # Entropy of the class minus its conditional entropy given the feature.
    of_two = np.log(2) - 4 / 6 * (np.log(4) - 3 / 4 * np.log(3))
    of_three = np.log(2) - (np.log(3) - 2 / 3 * np.log(2))
    expected = [[np.log(2), 0, of_two, of_three, 0, 0]]
    np.testing.assert_allclose(rank(TABLE, IN_CLASS, "information_gain"), expected)


def test_chi2_of_a_table():
    expected = [[3, 0, 2, 1 / 3, 0, 0]]
    np.testing.assert_allclose(rank(TABLE, IN_CLASS, "chi2"), expected)


def test_odds_ratio_of_a_table_is_signed_and_kept_off_infinity():
    most = np.log(35)  # the odds of a rate of 1 - 1/36
    expected = [[2 * most, 0, -most - np.log(2), np.log(4), 0, 0]]
    np.testing.assert_allclose(rank(TABLE, IN_CLASS, "odds_ratio"), expected)


def test_bns_of_a_table():
    most, two_thirds = norm.ppf(0.9995), norm.ppf(2 / 3)
    expected = [[2 * most, 0, most + two_thirds, 2 * two_thirds, 0, 0]]
    np.testing.assert_allclose(rank(TABLE, IN_CLASS, "bns"), expected)


def test_hellinger_of_a_table():
    overlap = np.array([0, 1, np.sqrt(1 / 3), 2 * np.sqrt(2) / 3, 1, 1])
    expected = np.sqrt(1 - overlap)
    np.testing.assert_allclose(rank(TABLE, IN_CLASS, "hellinger"), [expected])


def test_naive_bayes_of_a_table():
    inside, outside = np.array([4, 2, 1, 3, 1, 4]) / 15, np.array([1, 2, 3, 2, 1, 4]) / 13
    expected = np.abs(np.log(inside / outside))
    expected[4] = 0  # never occurs
    np.testing.assert_allclose(rank(TABLE, IN_CLASS, "naive_bayes"), [expected])


def test_naive_bayes_of_a_table_that_has_no_counts_is_of_presence():
    inside, outside = np.array([4, 2, 1, 3, 1, 4]) / 5, np.array([1, 2, 3, 2, 1, 4]) / 5
    odds = inside / (1 - inside), outside / (1 - outside)
    expected = np.abs(np.log(odds[0] / odds[1]))
    for values in (TABLE / 2, TABLE * np.array([1, 2, 3, 4, 5, 0.1])):
        np.testing.assert_allclose(rank(values, IN_CLASS, "naive_bayes"), [expected], atol=1e-12)


def test_naive_bayes_of_rows_of_length_one_is_that_of_scikit_learn_on_presence():
    X, y = make_counts()
    expected = []
    for k in range(3):
        model = BernoulliNB(alpha=1).fit(X, y == k)
        present = model.feature_log_prob_
        absent = np.log1p(-np.exp(present))
        expected.append(np.abs(np.subtract(*(present - absent))))
    np.testing.assert_allclose(rank(normalize(X), y, "naive_bayes"), expected, rtol=1e-9)


@pytest.mark.parametrize(("n", "every"), [(400, 20), (400, 50), (1000, 50)])
def test_naive_bayes_finds_the_best_word_of_rows_of_length_one(n, every):
    # It is in nine tenths of the class and a tenth of the rest; its values are about a tenth.
    rng = np.random.default_rng(0)
    y = np.arange(n) % every == 0
    X = (rng.random((n, 300)) < np.geomspace(0.003, 0.7, 300)).astype(float)
    X[:, 150] = rng.random(n) < np.where(y, 0.9, 0.1)
    ranking = rank_features(sparse.csr_matrix(normalize(X)), y, by="naive_bayes")
    assert 150 in ranking.order[0, :3]


def test_tallies_are_true_and_false_positives():
    sums = sum_presence(sparse.csr_matrix(TABLE), sparse.csc_matrix(IN_CLASS[:, None]))
    (tally,) = sums.tally()
    np.testing.assert_array_equal(tally.inside, [3, 1, 0, 2, 0, 3])
    np.testing.assert_array_equal(tally.outside, [0, 1, 2, 1, 0, 3])
    assert (tally.n_inside, tally.n_outside) == (3, 3)
    np.testing.assert_allclose(tally.rates[1], [0, 1 / 3, 2 / 3, 1 / 3, 0, 1])


def of_sklearn(X, y, by):
    """Return scikit-learn's scores of one class against the rest."""
    if by == "information_gain":
        return mutual_info_classif(X != 0, y, discrete_features=True)
    if by == "chi2":
        return chi2(X, y)[0]
    outside, inside = MultinomialNB(alpha=1).fit(X, y).feature_log_prob_
    return np.abs(inside - outside)


@pytest.mark.parametrize("by", ["information_gain", "chi2", "naive_bayes"])
@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_scikit_learn(by, seed):
    X, y = make_counts(seed)
    expected = [of_sklearn(X, y == k, by) for k in range(3)]
    np.testing.assert_allclose(rank(X, y, by), expected, rtol=1e-9, atol=1e-12)


def test_bns_is_that_of_its_definition(rng):
    tpr, fpr = rng.random((2, 50))
    expected = np.abs(norm.ppf(tpr) - norm.ppf(fpr))
    np.testing.assert_allclose(bi_normal_separation(tpr, fpr, SMALLEST_RATE), expected, rtol=1e-9)
    farthest = norm.ppf(0.9995) - norm.ppf(0.0005)
    found = bi_normal_separation(np.array(1.0), np.array(0.0), SMALLEST_RATE)
    assert found == pytest.approx(farthest)


def test_least_squares_scores_are_absolute_weights():
    X, y = make_counts()
    indicator = sparse.csc_matrix(y[:, None] == np.arange(3), dtype=np.int8)
    np.testing.assert_array_equal(rank(X, y, "least_squares"), np.abs(least_squares(X, indicator)))


def test_random_scores_are_uniform_and_follow_the_seed():
    X, y = make_counts(d=2000)
    ranking = rank_features(X, y, by="random", random_state=4)
    again = rank_features(X, y, by="random", random_state=np.random.RandomState(4))
    np.testing.assert_array_equal(ranking.scores, again.scores)
    assert ((ranking.scores > 0) & (ranking.scores < 1)).all()
    assert abs(ranking.scores.mean() - 0.5) < 0.02
    assert len(np.unique(ranking.scores)) == ranking.scores.size


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), by=st.sampled_from(EXACT))
def test_permuted_features_have_permuted_scores(seed, by):
    X, y = make_counts(seed)
    columns = np.random.default_rng(seed).permutation(X.shape[1])
    expected = rank(X, y, by)[:, columns]
    np.testing.assert_allclose(rank(X[:, columns], y, by), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("by", "options"), [("normal", {"estimator": DualLinearSVC(**TIGHT)}), ("least_squares", {})]
)
def test_permuted_features_have_permuted_optima(by, options):
    X, y = make_counts()
    expected = rank(X, y, by, **options)[:, ::-1]
    np.testing.assert_allclose(rank(X[:, ::-1], y, by, **options), expected, atol=1e-4)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    by=st.sampled_from(CRITERIA),
    n=st.integers(2, 30),
    d=st.integers(1, 8),
)
def test_scores_are_finite_and_zero_for_a_feature_that_never_occurs(seed, by, n, d):
    X, y = make_counts(seed, n=n, d=d, k=2)
    X = sparse.hstack([X, sparse.csr_matrix((n, 1))], format="csr")
    scores = rank(X, y, by)
    assert scores.shape == (1, d + 1)
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(scores[:, X.getnnz(axis=0) == 0], 0)


@pytest.mark.parametrize("by", OF_ITSELF)
def test_a_row_of_multilabel_targets_is_a_binary_problem(by):
    X, y = make_counts()
    Y = np.column_stack([y == 0, y > 0, y == 2]).astype(int)
    scores = rank(X, Y, by)
    for k in range(3):
        np.testing.assert_allclose(scores[k : k + 1], rank(X, Y[:, k], by), rtol=1e-12)


@ALL
def test_documents_and_targets_may_be_dense_or_sparse(by):
    X, y = make_counts()
    Y = np.column_stack([y == 0, y > 0]).astype(int)
    expected = rank(X, Y, by)
    np.testing.assert_array_equal(rank(X.toarray(), sparse.coo_array(Y), by), expected)
    np.testing.assert_array_equal(rank(sparse.csc_array(X), Y, by), expected)
    np.testing.assert_array_equal(rank(X.toarray().tolist(), Y.tolist(), by), expected)


@ALL
def test_n_jobs_does_not_matter(by):
    X, y = make_counts()
    np.testing.assert_array_equal(rank(X, y, by, n_jobs=1), rank(X, y, by, n_jobs=3))


@pytest.mark.parametrize("by", EXACT)
def test_float32_documents_have_nearly_the_same_scores(by):
    X, y = make_counts()
    X /= 7
    expected = rank(X.astype(np.float32).astype(float), y, by)
    np.testing.assert_allclose(rank(X.astype(np.float32), y, by), expected, rtol=1e-4, atol=1e-5)


@ALL
def test_stored_zeros_and_repeated_entries_are_no_occurrences(by):
    words = [np.flatnonzero(row) for row in TABLE]
    indices = np.concatenate([[*row, *row, 4] for row in words])
    data = np.concatenate([[*[0.5] * 2 * len(row), 0] for row in words])
    indptr = np.cumsum([0] + [2 * len(row) + 1 for row in words])
    messy = sparse.csr_matrix((data, indices, indptr), shape=TABLE.shape)
    np.testing.assert_array_equal(rank(messy, IN_CLASS, by), rank(TABLE, IN_CLASS, by))
    np.testing.assert_array_equal(messy.indices, indices)
    np.testing.assert_array_equal(messy.data, data)


@ALL
def test_a_class_without_documents_or_with_all_of_them_scores_zero(by):
    X, y = make_counts()
    Y = np.column_stack([y == 0, np.zeros_like(y), np.ones_like(y)])
    scores = rank(X, Y, by)
    assert scores[0].any()
    np.testing.assert_array_equal(scores[1:], 0)


@ALL
def test_a_class_of_one_document(by):
    X, y = make_counts()
    scores = rank(X, np.arange(len(y)) == 5, by)
    assert np.isfinite(scores).all()
    assert scores.any()


@pytest.mark.parametrize("by", ["information_gain", "chi2", "odds_ratio", "bns", "hellinger"])
def test_a_feature_of_one_value_tells_nothing(by):
    X, y = make_counts()
    X = sparse.hstack([X, np.full((X.shape[0], 1), 2.0)], format="csr")
    np.testing.assert_allclose(rank(X, y, by)[:, -1], 0, atol=1e-12)


def test_two_labels_give_one_row_for_the_second():
    X, y = make_counts(k=2)
    ranking = rank_features(X, np.array(["yew", "oak"])[y], by="odds_ratio")
    assert list(ranking.classes) == ["yew"]
    expected = rank_features(X, np.where(y == 0, 1, 0), by="odds_ratio")
    np.testing.assert_array_equal(ranking.scores, expected.scores)
    assert list(expected.classes) == [1]
    assert ranking.by == "odds_ratio"


def test_rows_are_named_by_their_classes_or_columns():
    X, y = make_counts()
    labels = ["oak", "ash", "yew"]
    ranking = rank_features(X, [labels[k] for k in y], by="bns")
    assert list(ranking.classes) == ["ash", "oak", "yew"]
    np.testing.assert_array_equal(ranking.scores[[1, 0, 2]], rank(X, y, "bns"))
    multilabel = rank_features(X, np.column_stack([y == 0, y > 0]).astype(int), by="bns")
    assert list(multilabel.classes) == [0, 1]


def test_the_order_is_descending_with_ties_by_number_and_zeros_last():
    scores = np.array([[0.0, 1.0, -2.0, 1.0, 3.0, 0.0, -0.5], [5.0, 0, 5, 0, 5, 0, 5]])
    ranking = Ranking(scores, np.array(["a", "b"]), "odds_ratio")
    expected = [[4, 1, 3, 6, 2, 0, 5], [0, 2, 4, 6, 1, 3, 5]]
    np.testing.assert_array_equal(ranking.order, expected)
    np.testing.assert_array_equal(ranking.n_ranked, [5, 4])
    assert ranking.order.dtype == np.intp


def test_the_order_is_found_once_and_not_before_it_is_needed():
    ranking = rank_features(*make_counts(), by="bns")
    assert "order" not in vars(ranking)
    assert ranking.order is ranking.order


@pytest.mark.parametrize(("how", "expected"), [("max", [3, 4]), ("mean", [2, 2])])
def test_aggregate_makes_one_row(how, expected):
    ranking = Ranking(np.array([[1.0, 4.0], [3.0, 0.0]]), np.array([0, 1]), "bns")
    shared = ranking.aggregate(how)
    np.testing.assert_array_equal(shared.scores, [expected])
    assert list(shared.classes) == ["all"]
    assert shared.by == "bns"


def test_the_normal_is_that_of_the_default_svm():
    X, y = make_counts()
    model = DualLinearSVC(random_state=0).fit(X, y)
    ranking = rank_features(X, y, random_state=0)
    np.testing.assert_array_equal(ranking.scores, np.abs(model.coef_))
    same = rank_by_normal(model.coef_, model.classes_)
    np.testing.assert_array_equal(same.scores, ranking.scores)
    np.testing.assert_array_equal(same.classes, ranking.classes)
    assert same.by == ranking.by == "normal"


@pytest.mark.parametrize(
    "model", [LogisticRegression(), RidgeClassifier(), SGDClassifier(random_state=0)], ids=str
)
@pytest.mark.parametrize("k", [2, 3])
def test_the_normal_may_be_any_linear_models(model, k):
    X, y = make_counts(k=k)
    ranking = rank_features(X, y, estimator=model)
    assert not hasattr(model, "coef_")
    fitted = clone(model).fit(X, y)
    np.testing.assert_allclose(ranking.scores, np.abs(np.atleast_2d(fitted.coef_)))
    np.testing.assert_array_equal(ranking.classes, fitted.classes_[-len(ranking.scores) :])


def test_a_model_for_dense_documents_gets_them_dense():
    X, y = make_counts()
    model = LinearDiscriminantAnalysis()
    expected = np.abs(clone(model).fit(X.toarray(), y).coef_)
    np.testing.assert_allclose(rank(X.toarray(), y, "normal", estimator=model), expected)


def test_a_fitted_model_is_used_as_it_is():
    X, y = make_counts()
    model = SGDClassifier(random_state=0).fit(X[:30], y[:30]).sparsify()
    expected = np.abs(model.coef_.toarray())
    np.testing.assert_array_equal(rank_features(X, y, estimator=model).scores, expected)
    np.testing.assert_array_equal(rank_by_normal(model.coef_, model.classes_).scores, expected)


def test_a_vector_of_weights_is_the_second_classs_row():
    ranking = rank_by_normal(np.array([-2.0, 1.0]), np.array(["oak", "yew"]))
    np.testing.assert_array_equal(ranking.scores, [[2, 1]])
    assert list(ranking.classes) == ["yew"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"by": "luck"}, "by must be one of 'normal', .*, 'random'. Got 'luck' instead."),
        ({"by": "bns", "estimator": DualLinearSVC()}, "must be None unless by='normal'. Got by="),
        ({"estimator": DecisionTreeClassifier()}, "must be a linear model that has coef_"),
    ],
    ids=["criterion", "estimator", "tree"],
)
def test_bad_options_get_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        rank_features(*make_counts(), **options)


def test_weights_of_other_features_or_classes_get_one_sentence():
    X, y = make_counts()
    model = LogisticRegression().fit(X, y)
    sentence = r"estimator must have coef_ of shape \(3, 11\), .* Got \(3, 12\) instead."
    with pytest.raises(ValueError, match=sentence):
        rank_features(X[:, 1:], y, estimator=model)
    with pytest.raises(ValueError, match=r"of shape \(1, 12\)"):
        rank_features(X, y == 1, estimator=model)


@pytest.mark.parametrize("by", NOT_NEGATIVE)
def test_negative_values_get_one_sentence_where_they_make_no_sense(by):
    X, y = make_counts()
    X.data[3] = -2
    with pytest.raises(ValueError, match=f"X must not have negative values for by='{by}'. Got -2;"):
        rank_features(X, y, by=by)


@pytest.mark.parametrize("by", [by for by in CRITERIA if by not in NOT_NEGATIVE])
def test_negative_values_are_fine_elsewhere(by, rng):
    X = rng.normal(size=(40, 5)) * (rng.random((40, 5)) < 0.5)
    assert np.isfinite(rank(X, np.arange(40) % 2, by)).all()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda X, y: (X, np.zeros_like(y)), "y must have at least two classes. Got one class"),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X * np.nan, y), "Input X contains NaN"),
        (lambda X, y: (X, y + 0.5), "Unknown label type"),
        (lambda X, y: (X, np.column_stack([y, y + 2])), "y must be one label per document, or an"),
    ],
)
def test_bad_data_gets_one_sentence(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        rank_features(*change(*make_counts()), by="bns")


def test_an_unknown_aggregate_gets_one_sentence():
    ranking = rank_features(*make_counts(), by="bns")
    with pytest.raises(ValueError, match="how must be 'max' or 'mean'"):
        ranking.aggregate("sum")
