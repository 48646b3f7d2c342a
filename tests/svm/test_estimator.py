"""DualLinearSVC against LIBLINEAR, and against what an optimum must be."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize
from sklearn.svm import SVC, LinearSVC

from spokeshave import DocumentVectorizer, DualLinearSVC, FeatureShaper
from spokeshave.corpus import read_arff, read_folders
from spokeshave.svm.calibration import fit_sigmoid, sigmoid
from spokeshave.svm.estimator import compute_costs, make_problem
from spokeshave.utils.validation import binarize, check_targets

TIGHT = {"tol": 1e-12, "max_iter": 100_000, "random_state": 0}
LOSSES = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])


def make_text(n_classes, *, is_binary=True, n=120, d=60, seed=0):
    """Return sparse rows of length one, whose words depend on the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    chances = rng.uniform(0.02, 0.3, size=(n_classes, d))
    X = (rng.random((n, d)) < chances[y]).astype(float)
    if not is_binary:
        X *= rng.integers(1, 5, size=X.shape)
    return normalize(sparse.csr_matrix(X)), y


def fit_liblinear(X, y, loss, **options):
    model = LinearSVC(loss=loss, dual=True, tol=1e-10, max_iter=1_000_000, **options)
    return model.fit(X, y)


@LOSSES
@pytest.mark.parametrize("is_binary", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3, 20])
def test_coefficients_are_liblinears(loss, is_binary, n_classes):
    X, y = make_text(n_classes, is_binary=is_binary)
    ours = DualLinearSVC(loss=loss, **TIGHT).fit(X, y)
    theirs = fit_liblinear(X, y, loss)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.coef_.shape == theirs.coef_.shape


@LOSSES
@pytest.mark.parametrize(
    "options",
    [
        {"C": 0.05},
        {"C": 20.0},
        {"fit_intercept": False},
        {"intercept_scaling": 5.0},
        {"class_weight": "balanced"},
        {"class_weight": {0: 3.0, 1: 0.2}},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_classes", [2, 9])
def test_options_mean_what_they_mean_to_liblinear(loss, options, n_classes):
    X, y = make_text(n_classes)
    X, y = X[:-25], y[:-25]
    ours = DualLinearSVC(loss=loss, **options, **TIGHT).fit(X, y)
    theirs = fit_liblinear(X, y, loss, **options)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    if options.get("fit_intercept", True):
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    else:
        np.testing.assert_array_equal(ours.intercept_, 0)


@LOSSES
def test_sample_weight_means_what_it_means_to_liblinear(loss, rng):
    X, y = make_text(5)
    weight = rng.uniform(0.1, 3, size=len(y))
    weight[::7] = 0
    ours = DualLinearSVC(loss=loss, **TIGHT).fit(X, y, sample_weight=weight)
    model = LinearSVC(loss=loss, dual=True, tol=1e-10, max_iter=1_000_000)
    theirs = model.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert not ours.dual_coef_[:, ::7].nnz
    assert ours.dual_coef_.shape == (5, len(y))


@pytest.mark.parametrize("as_sparse", [True, False])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_multilabel_is_one_liblinear_per_column(as_sparse, class_weight):
    X, Y = make_multilabel_classification(80, 15, n_classes=6, random_state=0)
    X = normalize(X)
    target = sparse.csr_matrix(Y) if as_sparse else Y
    ours = DualLinearSVC(class_weight=class_weight, **TIGHT).fit(X, target)
    model = LinearSVC(loss="hinge", tol=1e-10, max_iter=1_000_000, class_weight=class_weight)
    theirs = OneVsRestClassifier(model).fit(X, Y)
    expected = np.vstack([estimator.coef_ for estimator in theirs.estimators_])
    np.testing.assert_allclose(ours.coef_, expected, atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_multilabel_class_weight_raises_the_cost_of_a_columns_positives():
    X, Y = make_multilabel_classification(80, 15, n_classes=3, random_state=0)
    X = normalize(X)
    ours = DualLinearSVC(class_weight={1: 4.0}, **TIGHT).fit(X, Y)
    theirs = fit_liblinear(X, Y[:, 1], "hinge", class_weight={1: 4.0})
    np.testing.assert_allclose(ours.coef_[1], theirs.coef_[0], atol=1e-4)


def test_a_column_without_positives_or_negatives_is_solved():
    X, _ = make_text(2)
    Y = np.zeros((X.shape[0], 3), int)
    Y[:, 1], Y[::2, 2] = 1, 1
    model = DualLinearSVC(**TIGHT).fit(X, Y)
    predicted = model.predict(X)
    np.testing.assert_array_equal(predicted[:, :2], Y[:, :2])


@LOSSES
@pytest.mark.parametrize("n_classes", [2, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_are_the_dual_times_the_documents(loss, n_classes, dtype):
    X, y = make_text(n_classes, is_binary=False)
    X = X.astype(dtype)
    model = DualLinearSVC(loss=loss, random_state=0).fit(X, y)
    expected = (model.dual_coef_ @ X.astype(float)).toarray()
    np.testing.assert_allclose(model.coef_, expected, atol=1e-10)
    sums = np.asarray(model.dual_coef_.sum(axis=1)).ravel()
    np.testing.assert_allclose(model.intercept_, sums, atol=1e-10)
    np.testing.assert_array_equal(
        model.support_, np.flatnonzero(np.abs(model.dual_coef_).sum(axis=0))
    )


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("is_even", [True, False])
def test_a_free_intercept_is_libsvms(C, is_even):
    X, y = make_text(2, is_binary=False)
    y = y if is_even else (y == 1) & (np.arange(120) % 5 == 0)
    model = DualLinearSVC(C, fit_intercept="free", **TIGHT | {"tol": 1e-8}).fit(X, y)
    peer = SVC(kernel="linear", C=C, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_.toarray(), atol=2e-3)
    # Of the intercept there may be several that are best.
    found, best = (measure_free(one, X, y, C) for one in (model, peer))
    assert found == pytest.approx(best, rel=1e-5)


def measure_free(model, X, y, C):
    """Return the objective in which the intercept costs nothing."""
    margins = np.where(y, 1, -1) * model.decision_function(X)
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    return 0.5 * (coef**2).sum() + (C * np.maximum(0, 1 - margins)).sum()


def test_every_class_has_a_free_intercept_of_its_own():
    X, y = make_text(6)
    options = {"fit_intercept": "free", "tol": 1e-6, "max_iter": 100_000, "random_state": 0}
    model = DualLinearSVC(**options).fit(X, y)
    for k in range(6):
        alone = DualLinearSVC(**options).fit(X, y == k)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], atol=5e-3)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    C=st.sampled_from([0.01, 1.0, 30.0]),
    scale=st.sampled_from([0.1, 1.0, 20.0]),
    shift=st.sampled_from([0.0, 5.0]),
    class_weight=st.sampled_from([None, {False: 0.3, True: 2.0}]),
)
def test_a_free_intercept_on_a_table_is_libsvms(seed, C, scale, shift, class_weight):
    rng = np.random.default_rng(seed)
    X = scale * (rng.normal(size=(rng.integers(4, 60), rng.integers(1, 6))) + shift)
    y = X[:, 0] - scale * shift > scale * rng.normal(size=len(X)) * rng.random()
    y[:2] = False, True
    weight = rng.uniform(0.2, 2, size=len(X))
    peer = SVC(kernel="linear", C=C, tol=1e-9, class_weight=class_weight).fit(X, y, weight)
    model = DualLinearSVC(
        C, fit_intercept="free", class_weight=class_weight, tol=1e-6, random_state=0
    ).fit(X, y, weight)
    costs = C * weight * (1 if class_weight is None else np.where(y, 2.0, 0.3))
    found, best = (measure_free(one, X, y, costs) for one in (model, peer))
    assert model.objective_[0] == pytest.approx(found)
    assert found <= best * (1 + 1e-6) + 1e-9


@LOSSES
@pytest.mark.parametrize("is_warm", [False, True])
@pytest.mark.parametrize("prior", [None, "bns"])
def test_a_free_intercept_keeps_the_constraint_of_the_dual(loss, is_warm, prior):
    X, y = make_text(9, is_binary=False)
    options = {"fit_intercept": "free", "loss": loss, "prior": prior, "warm_start": is_warm}
    model = DualLinearSVC(C=0.1, tol=1e-5, random_state=0, max_iter=100_000, **options).fit(X, y)
    model.set_params(C=1.0).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_.sum(axis=1), 0, atol=1e-10)
    signs = np.where(y[:, None] == model.classes_, 1, -1)
    alpha = model.dual_coef_.toarray().T * signs
    slack = np.maximum(1 - signs * model.decision_function(X), 0)
    assert alpha.min() >= 0
    half_norm = 0.5 * (model.coef_ * (model.dual_coef_ @ X).toarray()).sum(axis=1)  # w^2 / s^2
    if loss == "hinge":
        primal, dual = half_norm + slack.sum(axis=0), alpha.sum(axis=0) - half_norm
        assert alpha.max() <= 1
    else:
        primal = half_norm + (slack**2).sum(axis=0)
        dual = alpha.sum(axis=0) - half_norm - (alpha**2).sum(axis=0) / 4
    np.testing.assert_allclose(model.objective_, primal)
    np.testing.assert_allclose(model.duality_gap_, primal - dual, atol=1e-9)
    assert (model.duality_gap_ <= 1e-5 * model.objective_).all()


def test_a_free_intercept_of_iris_is_optimal():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:] == 2
    model = DualLinearSVC(fit_intercept="free", tol=1e-9, random_state=0).fit(X, y)
    assert model.objective_[0] == pytest.approx(15.759872, abs=1e-6)
    assert measure_free(model, X, y, 1.0) == pytest.approx(model.objective_[0])
    assert model.duality_gap_[0] <= 1e-9 * model.objective_[0]


def test_a_free_intercept_of_sonar_is_optimal(data_folder):
    table = read_arff(data_folder / "uci" / "sonar.arff")
    y = np.array(table.labels) == table.labels[0]
    X = FeatureShaper().fit_transform(np.asarray(table.X), y)
    model = DualLinearSVC(100.0, fit_intercept="free", tol=1e-4, random_state=0).fit(X, y)
    peer = SVC(kernel="linear", C=100.0, tol=1e-6).fit(X, y)
    found, best = (measure_free(one, X, y, 100.0) for one in (model, peer))
    assert found <= best * (1 + 1e-4)


def test_a_column_without_positives_has_a_free_intercept():
    X, _ = make_text(2)
    Y = np.zeros((X.shape[0], 3), int)
    Y[:, 1], Y[::2, 2] = 1, 1
    model = DualLinearSVC(fit_intercept="free", random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.intercept_[:2], [-1, 1])
    np.testing.assert_array_equal(model.objective_[:2], 0)
    np.testing.assert_array_equal(model.predict(X)[:, :2], Y[:, :2])


@LOSSES
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    n_classes=st.integers(2, 20),
    C=st.sampled_from([0.01, 1.0, 30.0]),
    is_binary=st.booleans(),
)
def test_the_gap_is_what_it_says_and_small_enough(loss, seed, n_classes, C, is_binary):
    X, y = make_text(n_classes, is_binary=is_binary, seed=seed)
    model = DualLinearSVC(C=C, loss=loss, tol=1e-3, random_state=0, max_iter=100_000).fit(X, y)
    signs = np.where(y[:, None] == model.classes_, 1, -1)[:, -len(model.coef_) :]
    scores = model.decision_function(X).reshape(len(y), -1)
    slack = np.maximum(1 - signs * scores, 0)
    half_norm = 0.5 * ((model.coef_**2).sum(axis=1) + model.intercept_**2)
    alpha = model.dual_coef_.toarray().T * signs
    if loss == "hinge":
        primal, dual = half_norm + C * slack.sum(axis=0), alpha.sum(axis=0) - half_norm
        assert alpha.max() <= C
    else:
        primal = half_norm + C * (slack**2).sum(axis=0)
        dual = alpha.sum(axis=0) - half_norm - (alpha**2).sum(axis=0) / (4 * C)
    assert alpha.min() >= 0
    np.testing.assert_allclose(model.objective_, primal)
    np.testing.assert_allclose(model.duality_gap_, primal - dual, atol=1e-9 * primal.max())
    assert (model.duality_gap_ <= model.tol * model.objective_).all()


@pytest.mark.parametrize("n_classes", [2, 20])
def test_result_does_not_depend_on_n_jobs(n_classes):
    X, y = make_text(n_classes)
    one, two, many = (
        DualLinearSVC(n_jobs=n_jobs, random_state=3).fit(X, y) for n_jobs in (1, 2, 5)
    )
    for other in (two, many):
        np.testing.assert_array_equal(one.coef_, other.coef_)
        np.testing.assert_array_equal(one.dual_coef_.toarray(), other.dual_coef_.toarray())


def test_permuted_rows_and_columns_give_the_same_optimum(rng):
    X, y = make_text(9, is_binary=False)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    model = DualLinearSVC(loss="squared_hinge", **TIGHT).fit(X, y)
    permuted = DualLinearSVC(loss="squared_hinge", **TIGHT).fit(X[rows][:, columns], y[rows])
    np.testing.assert_allclose(permuted.coef_, model.coef_[:, columns], atol=1e-5)
    expected = model.dual_coef_.toarray()[:, rows]
    np.testing.assert_allclose(permuted.dual_coef_.toarray(), expected, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_and_sparse_documents_give_the_same(dtype):
    X, y = make_text(5)
    X = X.astype(dtype)
    from_sparse = DualLinearSVC(random_state=0).fit(X, y)
    from_dense = DualLinearSVC(random_state=0).fit(X.toarray(), y)
    np.testing.assert_array_equal(from_sparse.coef_, from_dense.coef_)
    np.testing.assert_allclose(
        from_sparse.decision_function(X), from_dense.decision_function(X.toarray()), atol=1e-6
    )


def test_warm_start_from_the_solution_has_nothing_to_do():
    X, y = make_text(20)
    model = DualLinearSVC(tol=1e-6, warm_start=True, random_state=0, max_iter=100_000).fit(X, y)
    cold = model.n_iter_
    coef = model.coef_
    assert model.fit(X, y).n_iter_ < cold / 5
    np.testing.assert_allclose(model.coef_, coef, atol=1e-3)


@LOSSES
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_warm_start_reaches_the_optimum_of_another_C(loss, C):
    X, y = make_text(9)
    warm = DualLinearSVC(loss=loss, warm_start=True, **TIGHT).fit(X, y)
    warm.set_params(C=C).fit(X, y)
    cold = DualLinearSVC(loss=loss, C=C, **TIGHT).fit(X, y)
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-4)


def test_warm_start_refuses_other_documents():
    X, y = make_text(3)
    model = DualLinearSVC(warm_start=True, random_state=0).fit(X, y)
    sentence = "warm_start needs the 120 documents and 3 classes .* Got 100 and 3 instead"
    with pytest.raises(ValueError, match=sentence):
        model.fit(X[:100], y[:100])


@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_are_those_of_calibrated_classifier(n_classes):
    X, y = make_classification(300, 12, n_informative=6, n_classes=n_classes, random_state=0)
    model = DualLinearSVC(C=0.1, probability=True, **TIGHT).fit(X, y)
    rng = np.random.RandomState(TIGHT["random_state"])
    rng.randint(2**31)  # the first number is the seed of the fit itself
    theirs = CalibratedClassifierCV(
        LinearSVC(loss="hinge", C=0.1, tol=1e-10, max_iter=1_000_000),
        method="sigmoid",
        ensemble=False,
        cv=StratifiedKFold(2, shuffle=True, random_state=rng),
    ).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=2e-3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("kind", [2, 4, "multilabel"])
def test_probabilities_of_training_scores(kind, rng):
    if kind == "multilabel":
        X, y = make_multilabel_classification(80, 15, n_classes=4, random_state=0)
        X, positive = normalize(X), y > 0
    else:
        X, y = make_text(kind)
        positive = y[:, None] == ([1] if kind == 2 else np.arange(kind))
    weight = rng.uniform(0.5, 2, size=len(y))
    model = DualLinearSVC(probability="training", random_state=0).fit(X, y, weight)
    scores = model.decision_function(X).reshape(positive.shape)
    expected = [
        fit_sigmoid(of_class, is_class, weight)
        for of_class, is_class in zip(scores.T, positive.T, strict=True)
    ]
    np.testing.assert_allclose(model.calibration_.T, expected)
    chances = np.column_stack(
        [sigmoid(of_class, *found) for of_class, found in zip(scores.T, expected, strict=True)]
    )
    if kind == 2:
        chances = np.column_stack([1 - chances, chances])
    elif kind == 4:
        chances /= chances.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), chances)


def test_training_scores_cost_no_fit_and_change_none():
    X, y = make_text(2)
    with_sigmoid = DualLinearSVC(probability="training", random_state=0).fit(X, y)
    without = DualLinearSVC(random_state=0).fit(X, y)
    np.testing.assert_array_equal(with_sigmoid.coef_, without.coef_)
    rare = DualLinearSVC(probability="training", random_state=0).fit(X, np.arange(120) == 7)
    assert np.isfinite(rare.predict_proba(X)).all()


def test_probabilities_of_multilabel_targets_stand_alone():
    X, Y = make_multilabel_classification(80, 15, n_classes=4, random_state=0)
    model = DualLinearSVC(probability=True, random_state=0).fit(normalize(X), Y)
    probabilities = model.predict_proba(normalize(X))
    assert probabilities.shape == Y.shape
    assert ((probabilities > 0) & (probabilities < 1)).all()


def test_probabilities_must_be_asked_for():
    X, y = make_text(2)
    model = DualLinearSVC(random_state=0).fit(X, y)
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(X)


def test_stopping_early_warns_with_the_gap():
    X, y = make_text(3)
    model = DualLinearSVC(C=100, tol=1e-9, max_iter=2, random_state=0)
    sentence = "Stopped after max_iter=2 passes with a relative duality gap of .* for class"
    with pytest.warns(ConvergenceWarning, match=sentence):
        model.fit(X, y)
    assert model.n_iter_ == 2
    assert (model.duality_gap_ > model.tol * model.objective_).any()


def test_string_labels_and_pickling():
    X, y = make_text(3)
    model = DualLinearSVC(random_state=0).fit(X, np.array(["ash", "beech", "cedar"])[y])
    again = pickle.loads(pickle.dumps(model))
    assert list(again.classes_) == ["ash", "beech", "cedar"]
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_an_empty_document_is_scored_by_the_intercept():
    X, y = make_text(3)
    X = sparse.vstack([X, sparse.csr_matrix((1, X.shape[1]))], format="csr")
    model = DualLinearSVC(random_state=0).fit(X, [*y, 0])
    np.testing.assert_allclose(model.decision_function(X[-1]), [model.intercept_])


@LOSSES
def test_an_empty_document_without_intercept_costs_one_error(loss):
    X, y = make_text(2)
    X = sparse.vstack([X, sparse.csr_matrix((1, X.shape[1]))], format="csr")
    with_empty = DualLinearSVC(loss=loss, fit_intercept=False, **TIGHT).fit(X, [*y, 0])
    without = DualLinearSVC(loss=loss, fit_intercept=False, **TIGHT).fit(X[:-1], y)
    np.testing.assert_allclose(with_empty.coef_, without.coef_, atol=1e-5)
    np.testing.assert_allclose(with_empty.objective_, without.objective_ + 1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"class_weight": {0: 0.0, 1: 1.0}}, "class_weight must give every class a positive fact"),
        ({"C": -1.0}, "C must be a positive number. Got -1.0 instead."),
        ({"C": 0}, "C must be a positive number. Got 0 instead."),
        ({"C": np.inf}, "C must be a positive number. Got inf instead."),
        ({"C": "auto"}, "C must be a positive number. Got 'auto' instead."),
        ({"tol": 0.0}, "tol must be a positive number. Got 0.0 instead."),
        ({"intercept_scaling": -2}, "intercept_scaling must be a positive number. Got -2 instead."),
        ({"loss": "log"}, "loss must be 'hinge' or 'squared_hinge'. Got 'log' instead."),
        ({"max_iter": 0}, "max_iter must be a positive integer. Got 0 instead."),
        ({"fit_intercept": "yes"}, "fit_intercept must be True, False or 'free'. Got 'yes' instea"),
        ({"probability": "yes"}, "probability must be True, False or 'training'. Got 'yes' instea"),
        ({"probability": None}, "probability must be True, False or 'training'. Got None instead."),
    ],
    ids=str,
)
def test_bad_options_get_one_sentence(options, sentence):
    X, y = make_text(2)
    with pytest.raises(ValueError, match=sentence):
        DualLinearSVC(**options).fit(X, y)


def spoil(X, value):
    X = X.copy()
    X.data[3] = value
    return X


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda X, y: (X, np.zeros_like(y)), "y must have at least two classes. Got one class"),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (spoil(X, np.nan), y), "Input X contains NaN"),
        (lambda X, y: (spoil(X, np.inf), y), "Input X contains infinity"),
        (lambda X, y: (X, y + 0.5), "Unknown label type"),
        (lambda X, y: (X, np.column_stack([y, y + 2])), "y must be one label per document, or an"),
        (lambda X, y: (X, np.full((len(y), 2), "a")), "y must be one label per document, or an"),
        (lambda X, y: (X[:0], y[:0]), "Found array with 0 sample"),
        (lambda X, y: (X, y, -np.ones(len(y))), "sample_weight must not be negative"),
        (lambda X, y: (X, y, np.zeros(len(y))), "sample_weight must not be negative, nor zero"),
        (lambda X, y: (X, y, np.ones((len(y), 1))), "sample_weight must be one number per doc"),
    ],
)
def test_bad_data_gets_one_sentence(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        DualLinearSVC().fit(*change(*make_text(2)))


def test_bad_multilabel_class_weight_gets_one_sentence():
    X, Y = make_multilabel_classification(20, 5, n_classes=3, random_state=0)
    sentence = "class_weight must be 'balanced' or a dict .* from 0 to 2 as keys. Got {7: 1.0}"
    with pytest.raises(ValueError, match=sentence):
        DualLinearSVC(class_weight={7: 1.0}).fit(X, Y)


def expect_factors(class_weight, y, weight):
    """Return the factors of C, of the negatives and the positives of each class, one by one."""
    factors = []
    for positive in y.T if y.ndim == 2 else [y == name for name in np.unique(y)]:
        inside, total = weight[positive > 0].sum(), weight.sum()
        if class_weight == "balanced" and y.ndim == 2:
            sides = [total - inside, inside]
            factors.append([total / (2 * side) if side else 1.0 for side in sides])
        elif class_weight == "balanced":
            factors.append([1.0, total / (len(np.unique(y)) * inside)])
        else:
            factors.append([1.0, (class_weight or {}).get(len(factors), 1.0)])
    if y.ndim == 1 and len(factors) == 2:
        return np.array([[factors[0][1], factors[1][1]]])
    return np.array(factors)


@LOSSES
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 1: 0.2}], ids=str)
@pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_errors_are_priced_by_class_and_by_weight(rng, loss, class_weight, kind, is_weighted):
    y = rng.integers(0, 2 if kind == "binary" else 4, size=50)
    if kind == "multilabel":
        y = np.column_stack([y == 0, y != 1, np.zeros(50), np.ones(50)]).astype(int)
    weight = rng.uniform(0.1, 3, size=50) if is_weighted else np.ones(50)
    targets = check_targets(y)
    _, indicator = binarize(targets)
    model = DualLinearSVC(C=2.0, loss=loss, class_weight=class_weight, intercept_scaling=3.0)
    problem = make_problem(model, None, targets, indicator, weight)
    factors = expect_factors(class_weight, y, weight)
    if loss == "hinge":
        np.testing.assert_allclose(problem.box, 2 * factors)
        np.testing.assert_array_equal(problem.ridge, np.zeros_like(factors))
    else:
        np.testing.assert_array_equal(problem.box, np.full_like(factors, np.inf))
        np.testing.assert_allclose(problem.ridge, 1 / (4 * factors))
    assert problem.bias == 9


@pytest.mark.parametrize("class_weight", [None, "balanced", {"oak": 3.0}], ids=str)
def test_costs_of_class_sizes_are_those_of_the_documents(class_weight):
    names = np.array(["ash", "elm", "oak"])
    y = np.repeat(names, [5, 2, 13])
    model = DualLinearSVC(class_weight=class_weight, fit_intercept=False)
    problem = make_problem(model, None, y, binarize(y)[1], np.ones(20))
    costs = compute_costs(model, names, np.array([5.0, 2.0, 13.0]), 20, False)
    np.testing.assert_allclose(costs[0], problem.box)
    np.testing.assert_allclose(costs[1], problem.ridge)
    assert costs[2] == problem.bias == 0


@pytest.mark.parametrize("class_weight", ["balanced", {1: 0.0}, {1: np.inf}], ids=str)
def test_a_class_that_has_no_price_gets_one_sentence(class_weight):
    model = DualLinearSVC(class_weight=class_weight)
    with pytest.raises(ValueError, match="class_weight must give every class a positive factor"):
        compute_costs(model, np.arange(3), np.array([5.0, 0.0, 2.0]), 7.0, False)


def test_newsgroups_reach_liblinears_objective(data_folder):
    archive = data_folder / "20news-bydate.tar.gz"
    texts = read_folders(archive, under="20news-bydate-train", encoding="latin-1")
    X = DocumentVectorizer(n_jobs=2).fit_transform(texts.texts[::3])
    labels = texts.labels[::3]
    ours = DualLinearSVC(tol=1e-6, max_iter=100_000, n_jobs=2, random_state=0)
    ours.fit(X, labels)
    theirs = LinearSVC(loss="hinge", tol=1e-5, max_iter=100_000, random_state=0)
    theirs.fit(X, labels)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
    signs = np.where(np.array(labels)[:, None] == theirs.classes_, 1, -1)
    slack = np.maximum(1 - signs * theirs.decision_function(X), 0)
    half_norm = 0.5 * ((theirs.coef_**2).sum(axis=1) + theirs.intercept_**2)
    assert ours.objective_.sum() <= 1.000001 * (half_norm + slack.sum(axis=0)).sum()
