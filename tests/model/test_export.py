"""Every kind of estimator against what comes back from its file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from made_up import KINDS, TREES, make_targets, make_text
from spokeshave import (
    DocumentVectorizer,
    DualLinearSVC,
    LocalProbabilityShaper,
    NormalSelector,
    ShapedSVC,
    ShavedSVC,
    TermWeighter,
    load_model,
    save_model,
)
from spokeshave.model.export import export_model
from spokeshave.model.file import pack_model, unpack_model

ROUNDING = {"rtol": 1e-5, "atol": 1e-5}  # weights are of single precision
KINDS_OF_TARGETS = ["binary", "labels", "multilabel"]
NAMES = ["ash", "oak", "yew"]
WORDS = [f"{part}{number}" for number in range(6) for part in ("ash", "oaken", "größe", "x")]
SVM = DualLinearSVC(random_state=0)


def make_texts(kind, n=48, seed=0):
    """Return texts whose words depend on the class, with targets of a kind."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % (2 if kind == "binary" else 3)
    chances = np.random.default_rng(7).uniform(0.05, 0.5, size=(3, len(WORDS)))
    counts = rng.poisson(chances[labels])
    texts = [" <i>".join(np.repeat(WORDS, row).tolist()).title() + " &amp; more" for row in counts]
    if kind == "multilabel":
        return texts, np.column_stack([labels == 0, labels != 1, labels == 2]).astype(int)
    return texts, np.array(NAMES)[labels]


def list_tests(kind):
    """Return texts to predict: others, longer ones, unknown words, and nothing."""
    texts, _ = make_texts(kind, n=12, seed=1)
    return [*texts, " ".join([*texts, "unknown"]), "unknown words only", ""]


def take_through(model, **options):
    """Return a model as it comes back from a file."""
    return unpack_model(pack_model(export_model(model, **options)))


def assert_same(found, model, documents):
    """Check that a model from a file says of documents what the estimator says."""
    expected = model.decision_function(documents)
    scores = found.decision_function(documents)
    assert scores.shape == expected.shape
    np.testing.assert_allclose(scores, expected, **ROUNDING)
    predicted, again = model.predict(documents), found.predict(documents)
    assert predicted.dtype.kind == again.dtype.kind
    is_clear = find_clear(expected, is_multilabel=predicted.ndim == 2)
    assert is_clear.any()
    np.testing.assert_array_equal(again[is_clear], predicted[is_clear])


def find_clear(scores, *, is_multilabel):
    """Return which predictions are the same however scores are rounded."""
    if scores.ndim == 1 or is_multilabel:
        return np.abs(scores) > 1e-4
    *_, second, best = np.sort(scores, axis=1).T
    return best - second > 1e-4


TEXT_CLASSIFIERS = {
    "warm": ShavedSVC(SVM, n_features=5, final="warm", cv=3),
    "exact": ShavedSVC(SVM, n_features=5, final="exact", cv=3),
    "mask": ShavedSVC(SVM, n_features=5, final="mask", cv=3),
    "sv_set": ShavedSVC(SVM, n_features=5, final="sv_set", cv=3),
    "unit mask": ShavedSVC(SVM, n_features=5, final="mask", renormalize=True, cv=3),
    "svm": SVM,
    "selected": make_pipeline(NormalSelector(n_features=6), SVM),
    "peer": LinearSVC(random_state=0),
    "regression": LogisticRegression(),
    "shaped": ShapedSVC(SVM),
    "shaped log odds": ShapedSVC(SVM, shape="log_odds", scale="times_bns", norm="l1"),
    "shaped binary": ShapedSVC(SVM, shape="binary", norm="max"),
    "shaped raw": ShapedSVC(SVM, shape=None, scale=None, norm=None),
}


def build(classifier, **options):
    """Return a pipeline from texts to a classifier."""
    vectorizer = DocumentVectorizer(**options)
    steps = classifier.steps if isinstance(classifier, Pipeline) else [("svm", classifier)]
    return clone(Pipeline([("words", vectorizer), *steps]))


def check_texts(name, kind, **options):
    """Check a pipeline from texts to a classifier, which is known by its name."""
    texts, y = make_texts(kind)
    model = build(TEXT_CLASSIFIERS[name], **options).fit(texts, y)
    found = take_through(model, classes=NAMES if kind == "multilabel" else None)
    assert found.classes_.tolist() == NAMES[: 2 if kind == "binary" else 3]
    assert found.multilabel_ == (kind == "multilabel")
    assert_same(found, model, list_tests(kind))


@pytest.mark.parametrize("norm", ["l2", "l1", None])
@pytest.mark.parametrize("weighting", ["binary", "counts", "tfidf"])
@pytest.mark.parametrize("name", TEXT_CLASSIFIERS)
def test_models_of_texts_come_back_as_they_were(name, weighting, norm):
    check_texts(name, "labels", weighting=weighting, norm=norm)


@pytest.mark.parametrize("name", TEXT_CLASSIFIERS)
def test_models_of_texts_for_other_targets_come_back_as_they_were(name):
    check_texts(name, "binary", weighting="tfidf")
    if name not in ("peer", "regression"):  # which take one label only
        check_texts(name, "multilabel", weighting="tfidf")


@pytest.mark.parametrize(
    "options",
    [
        {"ngram_range": (1, 2), "stop_words": "english", "sublinear_tf": True},
        {"analyzer": "char_wb", "ngram_range": (2, 4), "lowercase": False},
        {"analyzer": "word+char_wb", "ngram_range": (1, 2), "stop_words": ["oak"]},
        {"analyzer": "char", "ngram_range": (1, 3), "strip_accents": "ascii", "max_features": 50},
    ],
)
@pytest.mark.parametrize("name", ["peer", "shaped"])
def test_models_of_ngrams_come_back_as_they_were(name, options):
    check_texts(name, "labels", weighting="tfidf", **options)


SHAPES = pytest.mark.parametrize("shape", ["local_probability", "log_odds", "binary", None])


@pytest.mark.parametrize("norm", ["l2", "l1", "max", None])
@pytest.mark.parametrize("scale", ["bns", "times_bns", None])
@SHAPES
def test_shaped_models_come_back_as_they_were(shape, scale, norm):
    X, y = make_text()
    for documents in (X, X.toarray()):
        model = ShapedSVC(SVM, shape=shape, scale=scale, norm=norm).fit(documents, y)
        assert_same(take_through(model), model, documents[::-1] * 1.1)


@pytest.mark.parametrize("kind", ["binary", "multilabel"])
@SHAPES
def test_shaped_models_for_other_targets_come_back_as_they_were(shape, kind):
    X, y = make_targets(kind)
    for documents in (X, X.toarray()):
        model = ShapedSVC(SVM, shape=shape).fit(documents, y)
        assert_same(take_through(model), model, documents[::-1] * 1.1)


@pytest.mark.parametrize(
    "shape",
    [
        LocalProbabilityShaper(n_neighbors=5),
        LocalProbabilityShaper(zero="value"),
        LocalProbabilityShaper(output="log_odds", n_neighbors="auto", random_state=0),
    ],
)
@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_matrix.toarray])
def test_shapers_of_ones_own_come_back_as_they_were(make, shape):
    X, y = make_text()
    model = ShapedSVC(SVM, shape=shape).fit(make(X), y)
    assert_same(take_through(model), model, make(X[::-1] * 1.1))


def test_a_dense_table_may_keep_zero_apart():
    X, y = make_text()
    model = ShapedSVC(SVM, shape=LocalProbabilityShaper(zero="bin")).fit(X.toarray(), y)
    assert_same(take_through(model), model, X.toarray())


@pytest.mark.parametrize("shape", ["local_probability", "log_odds"])
def test_missing_values_come_back_as_they_were(rng, shape):
    X = rng.normal(size=(80, 5))
    y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 3], X[:, 4] = np.nan, 0  # one without a value, and one without a difference
    model = ShapedSVC(SVM, shape=shape).fit(X, y)
    tests = np.vstack([X * 1.2, np.full((1, 5), np.nan), np.zeros((1, 5)), np.full((1, 5), 99.0)])
    assert_same(take_through(model), model, tests)


@pytest.mark.parametrize("kind", KINDS_OF_TARGETS)
@pytest.mark.parametrize("final", ["warm", "exact", "mask", "sv_set"])
def test_shaved_models_of_vectors_come_back_as_they_were(final, kind):
    X, y = make_targets(kind)
    for documents in (X, 3 * X):  # of length one and not
        model = ShavedSVC(SVM, n_features=6, final=final, cv=3).fit(documents, y)
        found = take_through(model)
        assert_same(found, model, documents)
        assert_same(found, model, documents.toarray() * 0.5)
        assert found.feature_names_ == tuple(map(str, model.features_))
        np.testing.assert_array_equal(found.thresholds_, model.thresholds_)


@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler()],
        [StandardScaler(with_mean=False)],
        [StandardScaler(with_std=False)],
        [StandardScaler(), SelectKBest(k=7)],
        [VarianceThreshold(0.01)],
        [None, NormalSelector(n_features=6), "passthrough", VarianceThreshold()],
    ],
)
@pytest.mark.parametrize("kind", ["binary", "labels"])
def test_scaled_and_selected_vectors_come_back_as_they_were(kind, steps):
    X, y = make_targets(kind)
    X = X.toarray()
    for last in (SVM, ShavedSVC(SVM, n_features=5), LinearSVC(random_state=0)):
        named = [(f"step {number}", step) for number, step in enumerate([*steps, last])]
        model = clone(Pipeline(named)).fit(X, y)
        found = take_through(model)
        assert found.input.n_features == X.shape[1]
        assert_same(found, model, X[::-1] * 1.1)


@pytest.mark.parametrize("norm", ["l2", "l1", None])
@pytest.mark.parametrize("weighting", ["binary", "counts", "tfidf"])
@pytest.mark.parametrize("name", TEXT_CLASSIFIERS)
def test_models_of_counts_come_back_as_they_were(name, weighting, norm):
    texts, y = make_texts("labels")
    counter = DocumentVectorizer(weighting="counts", norm=None)
    X = counter.fit_transform(texts)
    classifier = TEXT_CLASSIFIERS[name]
    weighter = TermWeighter(weighting, sublinear_tf=weighting == "tfidf", norm=norm)
    steps = classifier.steps if isinstance(classifier, Pipeline) else [("svm", classifier)]
    model = clone(Pipeline([("weigh", weighter), *steps])).fit(X, y)
    found = take_through(model)
    for tests in (X, counter.transform(list_tests("labels"))):
        assert_same(found, model, tests)
        assert_same(found, model, tests.toarray())


def test_selectors_may_stand_before_shaping():
    X, y = make_text()
    model = make_pipeline(SelectKBest(k=9), ShapedSVC(SVM)).fit(X, y)
    assert_same(take_through(model), model, X)


def test_scaling_of_columns_far_from_zero_comes_back_as_it_was(rng):
    X = rng.normal(size=(90, 3)) + 1e6
    y = X[:, 0] > 1e6
    model = make_pipeline(StandardScaler(), SVM).fit(X, y)
    assert_same(take_through(model), model, X)


@pytest.mark.parametrize("kind", KINDS_OF_TARGETS)
@pytest.mark.parametrize("final", ["warm", "mask", None])
def test_probabilities_come_back_as_they_were(final, kind):
    svm = DualLinearSVC(probability=True, random_state=0)
    shaved = ShavedSVC(svm, n_features=5, final=final, cv=3)
    texts, y = make_texts(kind)
    model = build(ShapedSVC(svm) if final is None else shaved).fit(texts, y)
    found = take_through(model)
    tests = list_tests(kind)
    np.testing.assert_allclose(found.predict_proba(tests), model.predict_proba(tests), atol=1e-5)
    plain = build(svm).fit(texts, y)
    found = take_through(plain)
    np.testing.assert_allclose(found.predict_proba(tests), plain.predict_proba(tests), atol=1e-5)


@pytest.mark.parametrize(
    "labels",
    [
        ["ham", "spam"],
        ['quo"ted\n\U0001f332', "Äpfel, größer"],
        [3, 7],
        [-1, 1],
        [False, True],
        [0.0, 1.0],
        ["ash", "oak", "yew"],
        [10, 20, 30],
    ],
)
@pytest.mark.parametrize("dtype", [None, object])
def test_labels_of_any_kind_come_back_as_they_were(labels, dtype):
    X, numbers = make_text(len(labels))
    y = np.array(labels, dtype)[numbers]
    model = DualLinearSVC(random_state=0).fit(X, y if dtype is None else y.astype(type(labels[0])))
    model.classes_ = model.classes_.astype(dtype) if dtype else model.classes_
    found = take_through(model)
    assert found.classes_.tolist() == labels
    assert [type(label) for label in found.classes_.tolist()] == [type(label) for label in labels]
    assert found.predict(X).tolist() == model.predict(X).tolist()
    assert type(found.explain(X[0]).label) is type(labels[0])


def test_a_model_that_was_not_in_a_file_explains_labels_that_are_objects():
    X, y = make_text(2)
    model = DualLinearSVC(random_state=0).fit(X, np.array(["ash", "oak"], object)[y])
    assert export_model(model).explain(X[0]).label in ("ash", "oak")


@pytest.mark.parametrize("kind", ["labels", "multilabel"])
def test_classes_may_be_given_names(kind):
    X, y = make_targets(kind)
    model = DualLinearSVC(random_state=0).fit(X, y)
    assert take_through(model).classes_.tolist() == [0, 1, 2]
    found = take_through(model, classes=("ash", "oak", "yew"))
    assert found.classes_.tolist() == ["ash", "oak", "yew"]
    assert found.explain(X[0], "yew").label == "yew"


def test_columns_keep_their_names():
    X, y = make_text(d=3)
    frame = pd.DataFrame(X.toarray(), columns=["height", "girth", "größe"])
    for model in (SVM, ShapedSVC(SVM), ShavedSVC(SVM, n_features=1)):
        fitted = clone(model).fit(frame, y)
        found = take_through(fitted)
        kept = getattr(fitted, "features_", np.arange(3))
        assert found.feature_names_ == tuple(frame.columns[kept])
        scores = fitted.decision_function(frame)
        np.testing.assert_allclose(found.decision_function(frame), scores, **ROUNDING)


@pytest.mark.parametrize("final", ["warm", "exact", "sv_set"])
def test_removed_words_are_not_in_the_file(tmp_path, final):
    texts, y = make_texts("labels")
    texts = [f"{text} rhododendron" for text in texts]
    model = build(ShavedSVC(SVM, n_features=2, final=final)).fit(texts, y)
    assert "rhododendron" in model[0].vocabulary_
    save_model(model, tmp_path / "trees")
    found = load_model(tmp_path / "trees")
    kept = model[0].get_feature_names_out()[model[1].features_]
    assert 2 <= len(kept) <= 6
    assert found.feature_names_ == tuple(kept)
    assert b"rhododendron" not in (tmp_path / "trees").read_bytes()
    assert_same(found, model, list_tests("labels"))


@pytest.mark.parametrize("weighting", ["binary", "tfidf"])
@pytest.mark.parametrize("classifier", ["mask", "selected"])
def test_removed_words_are_kept_where_a_documents_length_depends_on_them(classifier, weighting):
    texts, y = make_texts("labels")
    for norm in ("l2", "l1", None):
        options = {"weighting": weighting, "norm": norm}
        model = build(TEXT_CLASSIFIERS[classifier], **options).fit(texts, y)
        found = take_through(model)
        n_used = len({j for k in range(3) for j in found.scorer.list_weights(k)[0].tolist()})
        assert n_used < len(model[0].vocabulary_)
        n_known = n_used if norm is None else len(model[0].vocabulary_)
        assert len(found.feature_names_) == n_known
        assert_same(found, model, list_tests("labels"))


def test_weights_of_zero_are_not_in_the_file():
    texts, y = make_texts("labels")
    lasso = LinearSVC(penalty="l1", dual=False, C=0.5)
    model = build(lasso, norm=None).fit(texts, y)
    found = take_through(model)
    assert found.scorer.n_weights == np.count_nonzero(model[-1].coef_) < model[-1].coef_.size
    assert len(found.feature_names_) == np.count_nonzero(model[-1].coef_.any(axis=0))
    assert_same(found, model, list_tests("labels"))


def test_an_intercept_may_be_a_single_number():
    X, y = make_text()
    model = LinearSVC(fit_intercept=False).fit(X, y)
    assert_same(take_through(model), model, X)


def test_a_class_without_documents_comes_back_as_it_was():
    X, y = make_targets("multilabel")
    model = ShavedSVC(SVM, n_features=4, cv=3).fit(X, np.column_stack([y, np.zeros(len(y), int)]))
    found = take_through(model)
    assert not found.predict(X)[:, 3].any()
    np.testing.assert_allclose(found.decision_function(X), model.decision_function(X), **ROUNDING)


def fit_nominal():
    frame = pd.DataFrame({"height": np.arange(8.0), "bark": ["grey", "brown"] * 4})
    return ShapedSVC(SVM).fit(frame, KINDS)


def fit_infinite(value=np.inf):
    model = DualLinearSVC(random_state=0).fit(*make_text())
    model.coef_[1, 2] = value
    return model


def fit_trees(*steps, **options):
    return make_pipeline(DocumentVectorizer(**options), *steps).fit(TREES, KINDS)


def fit_vectors(*steps):
    X, y = make_text()
    return make_pipeline(*steps).fit(X.toarray(), y)


CANNOT_BE_SAVED = {
    "unfitted": (lambda: DualLinearSVC(), {}, "DualLinearSVC instance is not fitted yet"),
    "unfitted pipeline": (
        lambda: make_pipeline(DocumentVectorizer(), ShavedSVC()),
        {},
        "ShavedSVC instance is not fitted yet",
    ),
    "step": (
        lambda: fit_vectors(Normalizer(), DualLinearSVC()),
        {},
        "feature selectors and a linear classifier. Got a Normalizer in it instead",
    ),
    "vectorizer": (
        lambda: make_pipeline(TfidfVectorizer(), DualLinearSVC()).fit(TREES, KINDS),
        {},
        "a TermWeighter or a StandardScaler, .* Got a TfidfVectorizer in it instead",
    ),
    "analyzer": (
        lambda: fit_trees(SVM, analyzer=str.split),
        {},
        "a DocumentVectorizer whose analyzer is named by a string: a model file cannot store a fu",
    ),
    "accents": (
        lambda: fit_trees(SVM, strip_accents=str.strip),
        {},
        "a DocumentVectorizer whose strip_accents is named by a string",
    ),
    "neighbours": (
        lambda: fit_vectors(KNeighborsClassifier()),
        {},
        "must end in one of ShavedSVC, .* Got a KNeighborsClassifier instead",
    ),
    "kernel": (
        lambda: fit_vectors(SVC()),
        {},
        "must end in one of ShavedSVC, .* Got a SVC instead",
    ),
    "nominal": (fit_nominal, {}, "model must not have nominal features"),
    "scaled": (
        lambda: fit_vectors(StandardScaler(), ShapedSVC(SVM)),
        {},
        "must not have a StandardScaler before features are shaped",
    ),
    "selected": (
        lambda: fit_trees(NormalSelector(n_features=3), ShapedSVC(SVM)),
        {},
        r"normalised documents before they are shaped; use DocumentVectorizer\(norm=None\)",
    ),
    "unit": (
        lambda: fit_vectors(
            StandardScaler(), ShavedSVC(SVM, n_features=4, final="exact", renormalize=True)
        ),
        {},
        "must not scale documents to length one after a StandardScaler",
    ),
    "names": (
        lambda: fit_trees(SVM),
        {"classes": ["ash"]},
        "classes must name the 2 classes of the model. Got 1 names instead",
    ),
    "same names": (
        lambda: fit_trees(SVM),
        {"classes": ["ash", "ash"]},
        r"classes must be distinct strings of valid Unicode, .* Got \['ash', 'ash'\] instead",
    ),
    "no names": (
        lambda: fit_trees(SVM),
        {"classes": ["ash", None]},
        r"classes must be distinct strings of valid Unicode, .* Got \['ash', None\] instead",
    ),
    "infinite": (fit_infinite, {}, "The weights of the model must be finite numbers of single"),
    "missing": (
        lambda: fit_infinite(np.nan),
        {},
        "The weights of the model must be finite numbers of single",
    ),
    "too large": (
        lambda: fit_infinite(1e39),
        {},
        "The weights of the model must be finite numbers of single",
    ),
    "provenance": (
        lambda: fit_trees(SVM),
        {"provenance": {"score": float("nan")}},
        "not JSON compliant",
    ),
}


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("name", CANNOT_BE_SAVED)
def test_what_cannot_be_saved_gets_a_sentence_and_writes_nothing(tmp_path, name):
    fit, options, sentence = CANNOT_BE_SAVED[name]
    (tmp_path / "old.model").write_bytes(b"as it was")
    model = fit()
    for path in (tmp_path / "new.model", tmp_path / "old.model"):
        with pytest.raises(ValueError, match=sentence):
            save_model(model, path, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["old.model"]
    assert (tmp_path / "old.model").read_bytes() == b"as it was"


@pytest.mark.parametrize("n_classes", [3, 4])
def test_a_machine_of_pairs_of_classes_is_refused(n_classes):
    X, y = make_text(n_classes)
    model = SVC(kernel="linear").fit(X.toarray(), y)
    with pytest.raises(ValueError, match="Got a SVC instead"):
        export_model(model)


def test_a_regression_is_refused():
    with pytest.raises(ValueError, match="Got a Ridge instead"):
        export_model(Ridge().fit(*make_text()))


def test_a_peer_that_may_give_several_labels_is_refused():
    X, y = make_targets("multilabel")
    with pytest.raises(ValueError, match="Got a RidgeClassifier instead"):
        export_model(RidgeClassifier().fit(X, y))
