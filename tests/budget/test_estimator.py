"""The SVM in a budget: with memory enough it is the SVM on all features, by whatever way it came.

What happens where memory is short is in the tests of estimates, failures and peak memory.
"""

from __future__ import annotations

import json
import pickle
import tarfile

import numpy as np
import polars
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import normalize
from sklearn.utils.estimator_checks import parametrize_with_checks

from made_up import KINDS, TIGHT, TREES, make_targets, make_text
from spokeshave import (
    BudgetedSVC,
    DocumentVectorizer,
    DualLinearSVC,
    load_model,
    rank_features,
    save_model,
)
from spokeshave.budget.estimator import fit_stream
from spokeshave.corpus.stream import open_stream
from spokeshave.errors import CorpusError
from troubled import leave_room
from zipf import make_zipf, write_csv

TOL = {"tol": 1e-6, "max_iter": 10_000, "random_state": 0}
CRITERIA = ["normal", "chi2", "odds_ratio", "bns", "winnow", "least_squares", "random"]
KINDS_OF_TARGETS = pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])


def expect_failures(estimator):
    """Return the checks an estimator is known to fail, with the reason."""
    dense = "its documents have both of two features, and may keep only one"
    return {} if estimator.nonzeros_per_document is None else {"check_classifiers_train": dense}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        BudgetedSVC("8GB", estimator=DualLinearSVC(**TOL | {"tol": 1e-20})),
        BudgetedSVC("8GB", estimator=DualLinearSVC(**TOL), nonzeros_per_document=1.5),
    ],
    expected_failed_checks=expect_failures,
)
def test_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """Return eight texts in a file."""
    return write_csv(tmp_path_factory.mktemp("trees") / "trees.csv", TREES, KINDS)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Return texts, their labels, and the file they are in."""
    texts, labels = make_zipf(800, n_words=2_000, length=20)
    path = write_csv(tmp_path_factory.mktemp("corpus") / "corpus.csv", texts, labels)
    return texts, np.array(labels), path


def spread(model, n_features):
    """Return weights with a column for every feature."""
    coef = np.zeros((len(model.coef_), n_features))
    coef[:, model.features_] = model.coef_
    return coef


def compare(X, y, **options):
    """Assert that the weights are those of a DualLinearSVC, and return the model."""
    svc = DualLinearSVC(**TIGHT | options)
    model, peer = BudgetedSVC(estimator=svc).fit(X, y), clone(svc).fit(X, y)
    np.testing.assert_allclose(spread(model, X.shape[1]), peer.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-4)
    np.testing.assert_allclose(model.objective_, peer.objective_, rtol=1e-6)
    assert model.classes_.tolist() == peer.classes_.tolist()
    assert (model.predict(X) == peer.predict(X)).all()
    return model


@KINDS_OF_TARGETS
def test_with_memory_enough_it_is_the_svm_on_all_features(kind):
    X, y = make_targets(kind)
    model = compare(X, y)
    assert model.plan_.fits_whole
    assert model.multilabel_ == (kind == "multilabel")
    assert model.n_rounds_ == 0
    assert model.reduced_.n_nonzeros == X.nnz
    scores = DualLinearSVC(**TIGHT).fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-4)


@pytest.mark.parametrize(
    "options",
    [
        {"C": 0.1},
        {"loss": "squared_hinge", "C": 0.3},
        {"class_weight": "balanced"},
        {"fit_intercept": False},
        {"intercept_scaling": 3.0},
    ],
    ids=str,
)
def test_the_options_of_the_svm_reach_the_solver(options):
    X, y = make_text(3, n=70)
    compare(X[:60], y[:60], **options)  # the classes are not of one size


@KINDS_OF_TARGETS
def test_balanced_weights_are_those_of_all_documents(kind):
    X, y = make_targets(kind)
    compare(X[:50], y[:50], class_weight="balanced")


@pytest.mark.parametrize("names", [["ash", "oak", "yew"], [5, 6, 7]], ids=str)
def test_classes_may_have_weights_by_name(names):
    X, y = make_text(3)
    weights = dict(zip(names, [5.0, 1.0, 0.5], strict=True))
    compare(X, np.array(names)[y], class_weight=weights)


def test_classes_may_have_weights_by_column():
    X, y = make_targets("multilabel")
    compare(X, y, class_weight={0: 5.0, 1: 1.0, 2: 0.5})


def test_classes_of_files_may_have_weights_by_name(corpus):
    texts, labels, path = corpus
    weights = {"kind 0": 5.0, "kind 1": 1.0, "kind 2": 0.5}
    svc = DualLinearSVC(**TOL, class_weight=weights)
    model = BudgetedSVC(estimator=svc).fit_files(path)
    peer = clone(svc).fit(DocumentVectorizer().fit_transform(texts), labels)
    np.testing.assert_allclose(model.objective_, peer.objective_, rtol=1e-5)


@pytest.mark.parametrize(
    "names", [["ash", "oak", "yew"], [3, -1, 7], [True, False]], ids=["str", "int", "bool"]
)
def test_labels_come_back_as_they_were(names):
    X, y = make_text(len(names))
    labels = np.array(names)[y]
    model = compare(X, labels)
    assert model.classes_.dtype == labels.dtype
    assert model.predict(X).dtype == labels.dtype
    assert (model.predict(X) == labels).mean() > 0.8


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("nonzeros", [None, 3])
def test_a_column_without_documents_is_a_class_that_no_document_is_of(is_sparse, nonzeros):
    X, y = make_text(3)
    Y = np.column_stack([y == 0, y < 2, np.zeros(len(y)), y == 2, np.zeros(len(y))]).astype(int)
    model = BudgetedSVC(estimator=DualLinearSVC(**TIGHT), nonzeros_per_document=nonzeros)
    model.fit(X, sparse.csr_matrix(Y) if is_sparse else Y)
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    assert model.coef_.shape == (5, len(model.features_))
    predicted = model.predict(X)
    assert predicted.shape == Y.shape
    assert (predicted[:, [2, 4]] == 0).all()
    if nonzeros is None:
        compare(X, Y)


def test_dense_and_sparse_tables_are_one():
    X, y = make_text(3)
    first, second = (BudgetedSVC(random_state=0).fit(table, y) for table in (X, X.toarray()))
    np.testing.assert_array_equal(first.coef_, second.coef_)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weighting": "counts"},
        {"weighting": "tfidf"},
        {"weighting": "counts", "sublinear_tf": True},
        {"weighting": "tfidf", "sublinear_tf": True},
        {"norm": "l1"},
        {"norm": None},
        {"weighting": "tfidf", "norm": "l1", "min_df": 0.01},
        {"min_df": 1},
        {"min_df": 5, "max_df": 0.2},
        {"max_df": 100},
        {"stop_words": ["aa", "ab", "bc"]},
        {"stop_words": "english"},
        {"max_features": 150},
        {"max_features": 150, "weighting": "tfidf", "sublinear_tf": True},
        {"ngram_range": (1, 2)},
        {"ngram_range": (2, 3), "weighting": "tfidf", "stop_words": ["aa", "ab", "bc"]},
        {"ngram_range": (1, 2), "max_features": 200, "weighting": "counts", "max_df": 0.3},
        {"analyzer": "char", "ngram_range": (2, 3), "weighting": "tfidf", "sublinear_tf": True},
        {"analyzer": "char_wb", "ngram_range": (2, 4), "max_features": 300},
        {"analyzer": "word+char_wb", "max_features": 300, "stop_words": ["aa"]},
        {"analyzer": str.split, "lowercase": False},
        {"lowercase": False, "strip_accents": "ascii", "unspaced": None},
    ],
    ids=str,
)
def test_with_memory_enough_words_and_scores_are_those_of_the_vectorizer(corpus, options):
    texts, labels, path = corpus
    vectorizer = DocumentVectorizer(**options)
    model = BudgetedSVC(
        estimator=DualLinearSVC(**TOL), vectorizer=vectorizer, random_state=0
    ).fit_files(path, text="text", label="label")
    X = clone(vectorizer).fit(texts)
    assert set(model.features_) == set(X.vocabulary_)
    X = X.transform(texts)
    peer = DualLinearSVC(**TOL).fit(X, labels)
    np.testing.assert_allclose(model.objective_, peer.objective_, rtol=2e-6)
    assert (model.duality_gap_ <= TOL["tol"] * model.objective_).all()
    assert (model.predict(texts) == peer.predict(X)).mean() > 0.99
    np.testing.assert_allclose(model.decision_function(texts), peer.decision_function(X), atol=0.01)
    assert model.counts_.n_documents == model.reduced_.n_documents == len(texts)
    assert model.reduced_.n_nonzeros == X.nnz
    every = clone(vectorizer).set_params(min_df=1, max_df=1.0, max_features=None, stop_words=None)
    if vectorizer.stop_words is None or vectorizer.ngram_range == (1, 1):
        assert model.counts_.n_words == pytest.approx(len(every.fit(texts).vocabulary_), rel=0.05)
        assert model.counts_.n_nonzeros == every.transform(texts).nnz


def test_markup_is_stripped_where_that_is_asked_for(tmp_path):
    path = write_csv(tmp_path / "trees.csv", [f"<b>{text}</b>" for text in TREES], KINDS)
    for strip, has_tag in ((True, False), (False, True)):
        vectorizer = DocumentVectorizer(strip_markup=strip)
        model = BudgetedSVC(vectorizer=vectorizer, random_state=0).fit_files(path)
        assert ("b" in model.features_) == has_tag


def test_letters_of_all_alphabets_are_counted_as_the_vectorizer_counts_them(tmp_path):
    odd = [
        "İstanbul STRASSE",
        "Straße ẞ ǅ ΑΣ",
        "i̇ ß ﬁ Ⅻ ²",
        "中文 ไทย नमस्ते",
        "x\u200dy a_b 1.5",
    ] * 4
    path = tmp_path / "odd.jsonl"
    rows = [{"text": text, "label": "ab"[n % 2]} for n, text in enumerate(odd)]
    path.write_text("\n".join(map(json.dumps, rows)))
    model = BudgetedSVC(vectorizer=DocumentVectorizer(min_df=1), random_state=0).fit_files(path)
    assert set(model.features_) == set(DocumentVectorizer(min_df=1).fit(odd).vocabulary_)


def test_documents_may_be_empty_and_without_labels(tmp_path):
    path = tmp_path / "tagged.jsonl"
    rows = [("oak leaf", ["oak"]), ("", []), ("ash oak", ["oak", "ash", "oak"]), ("leaf", [])] * 3
    path.write_text("\n".join(json.dumps({"text": a, "label": b}) for a, b in rows))
    model = BudgetedSVC(random_state=0).fit_files(path)
    assert model.multilabel_
    assert model.classes_.tolist() == ["ash", "oak"]
    assert model.counts_.class_counts == {"ash": 3, "oak": 6}
    assert model.predict([text for text, _ in rows[:3]]).tolist() == [[0, 1], [0, 0], [1, 1]]


@pytest.mark.parametrize("by", CRITERIA)
@KINDS_OF_TARGETS
def test_documents_keep_as_many_features_as_are_asked_for(kind, by):
    X, y = make_targets(kind)
    model = BudgetedSVC(by=by, nonzeros_per_document=4, random_state=0).fit(X, y)
    kept = X[:, model.features_]
    assert model.reduced_.n_nonzeros == kept.nnz
    assert model.cut_.n_features == len(model.features_) < X.shape[1]
    assert kept.nnz / X.shape[0] == pytest.approx(4, rel=0.25)
    # A DualLinearSVC on the features kept, of documents brought to length one again.
    kept = kept.multiply(1 / np.maximum(np.sqrt(kept.multiply(kept).sum(axis=1)), 1e-12)).tocsr()
    peer = DualLinearSVC(random_state=0).fit(kept, y)
    np.testing.assert_allclose(model.objective_, peer.objective_, rtol=2e-3)


def test_the_features_kept_are_the_best_of_those_that_the_subset_ranks(corpus):
    texts, labels, path = corpus
    vectorizer = DocumentVectorizer()
    X = vectorizer.fit_transform(texts)
    names = vectorizer.get_feature_names_out()
    model = BudgetedSVC(nonzeros_per_document=5, random_state=0).fit_files(path)
    scores = np.abs(DualLinearSVC(random_state=0).fit(X, labels).coef_).max(axis=0)
    best = names[np.argsort(-scores)[: len(model.features_)]]
    assert len(set(best) & set(model.features_)) > 0.8 * len(best)  # a tenth only judges


def test_a_criterion_keeps_what_it_ranks_first(corpus):
    texts, labels, path = corpus
    vectorizer = DocumentVectorizer()
    X = vectorizer.fit_transform(texts)
    model = BudgetedSVC(by="chi2", nonzeros_per_document=1, random_state=0).fit_files(path)
    scores = np.max(rank_features(X, labels, "chi2").scores, axis=0)
    best = vectorizer.get_feature_names_out()[np.argsort(-scores)]
    assert set(model.features_[:10]) <= set(best[: 4 * len(model.features_)])


def test_with_memory_enough_the_criterion_does_not_matter(corpus):
    texts, _, path = corpus
    model = BudgetedSVC(by="chi2", random_state=0).fit_files(path)
    assert set(model.features_) == set(DocumentVectorizer().fit(texts).vocabulary_)


@pytest.mark.parametrize("weighting", ["binary", "counts", "tfidf"])
@pytest.mark.parametrize("norm", ["l2", None])
def test_a_model_of_texts_is_the_same_in_a_file(corpus, tmp_path, weighting, norm):
    texts, _, path = corpus
    vectorizer = DocumentVectorizer(weighting=weighting, norm=norm, sublinear_tf=norm is None)
    model = BudgetedSVC(vectorizer=vectorizer, nonzeros_per_document=8, random_state=0)
    model.fit_files(path)
    save_model(model, tmp_path / "x.model")
    loaded = load_model(tmp_path / "x.model")
    np.testing.assert_allclose(
        loaded.decision_function(texts), model.decision_function(texts), atol=1e-5
    )
    assert loaded.predict(texts).tolist() == model.predict(texts).tolist()
    assert loaded.classes_.tolist() == model.classes_.tolist()


NGRAMS = {
    "pairs": {"ngram_range": (1, 2), "stop_words": ["aa", "ab"]},
    "characters": {"analyzer": "char", "ngram_range": (2, 4), "lowercase": False},
    "of words": {"analyzer": "char_wb", "ngram_range": (2, 4), "strip_accents": "unicode"},
    "both": {"analyzer": "word+char_wb", "ngram_range": (1, 2), "stop_words": ["aa", "ab"]},
}


@pytest.mark.parametrize("kind", NGRAMS)
def test_a_model_of_ngrams_is_the_same_in_a_file_with_and_without_kernels(corpus, tmp_path, kind):
    texts, _, path = corpus
    vectorizer = DocumentVectorizer(**NGRAMS[kind], weighting="tfidf", sublinear_tf=True)
    model = BudgetedSVC(vectorizer=vectorizer, nonzeros_per_document=8, random_state=0)
    model.fit_files(path)
    known = clone(vectorizer).set_params(norm=None).fit(texts)
    kept = known.transform(texts)[:, [known.vocabulary_[term] for term in model.features_]]
    assert model.reduced_.n_nonzeros == kept.nnz
    assert kept.nnz / len(texts) == pytest.approx(8, rel=0.1)
    save_model(model, tmp_path / "x.model")
    loaded = load_model(tmp_path / "x.model")
    scores = model.decision_function(texts)
    np.testing.assert_allclose(loaded.decision_function(texts), scores, atol=1e-5)
    found = loaded.input._look_up(texts), loaded.input._find(texts)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", NGRAMS)
def test_ngrams_that_do_not_fit_are_ranked_on_a_sample(corpus, monkeypatch, kind):
    texts, labels, path = corpus
    monkeypatch.setattr("spokeshave.budget.run.find_available", leave_room(1_200_000))
    vectorizer = DocumentVectorizer(**NGRAMS[kind])
    model = BudgetedSVC(vectorizer=vectorizer, random_state=0).fit_files(path)
    assert 0 < model.plan_.n_sampled < len(texts)
    every = clone(vectorizer).set_params(min_df=1).fit(texts)
    assert set(model.features_) < set(every.vocabulary_)
    kept = every.transform(texts)[:, [every.vocabulary_[term] for term in model.features_]]
    assert model.reduced_.n_nonzeros == kept.nnz
    peer = DualLinearSVC(random_state=0).fit(normalize(kept), labels)
    np.testing.assert_allclose(model.objective_, peer.objective_, rtol=2e-3)


def test_terms_of_a_function_have_no_file(trees, tmp_path):
    vectorizer = DocumentVectorizer(analyzer=str.split)
    model = BudgetedSVC(vectorizer=vectorizer, random_state=0).fit_files(trees)
    assert model.predict(TREES).tolist() == KINDS
    with pytest.raises(ValueError, match="a model file cannot store a function"):
        save_model(model, tmp_path / "x.model")


@KINDS_OF_TARGETS
@pytest.mark.parametrize("is_unit", [True, False])
def test_a_model_of_vectors_is_the_same_in_a_file(kind, is_unit, tmp_path):
    X, y = make_targets(kind)
    X = X if is_unit else X * 2
    model = BudgetedSVC(nonzeros_per_document=4, random_state=0).fit(X, y)
    assert model.norm_ == ("l2" if is_unit else None)
    save_model(model, tmp_path / "x.model")
    loaded = load_model(tmp_path / "x.model")
    np.testing.assert_allclose(loaded.decision_function(X), model.decision_function(X), atol=1e-5)
    assert (loaded.predict(X) == model.predict(X)).all()


def test_a_pickle_predicts(trees):
    model = pickle.loads(pickle.dumps(BudgetedSVC(random_state=0).fit_files(trees)))
    assert model.predict(TREES).tolist() == KINDS


# The same documents in files of every kind.


def write_table(folder, end):
    texts, labels = np.tile(TREES, 3).tolist(), np.tile(KINDS, 3).tolist()
    path = folder / f"trees.{end}"
    if end == "parquet":
        polars.DataFrame({"label": labels, "text": texts}).write_parquet(path)
        return path
    rows = zip(texts, labels, strict=True)
    lines = {
        "csv": lambda text, label: f"{label},{text}",
        "tsv": lambda text, label: f"{label}\t{text}",
        "jsonl": lambda text, label: json.dumps({"label": label, "text": text}),
    }[end]
    head = {"csv": ["label,text"], "tsv": ["label\ttext"], "jsonl": []}[end]
    path.write_text("\n".join([*head, *(lines(*row) for row in rows)]) + "\n")
    return path


def write_parts(folder):
    paths = [folder / "part 1.csv", folder / "part 2.csv"]
    for path, part in zip(paths, (slice(0, 5), slice(5, None)), strict=True):
        texts, labels = np.tile(TREES, 3)[part], np.tile(KINDS, 3)[part]
        write_csv(path, texts, labels)
    return paths


def write_folders(folder):
    texts, labels = np.tile(TREES, 3), np.tile(KINDS, 3)
    for number, (text, label) in enumerate(zip(texts, labels, strict=True)):
        path = folder / "trees" / label / f"{number:03}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "trees"


def write_tar(folder):
    with tarfile.open(folder / "trees.tar.gz", "w:gz") as archive:
        write_folders(folder)
        for kind in ("ash", "oak"):
            archive.add(folder / "trees" / kind, kind)
    return folder / "trees.tar.gz"


SOURCES = {
    **{end: lambda folder, end=end: write_table(folder, end) for end in ("tsv", "jsonl")},
    "parquet": lambda folder: write_table(folder, "parquet"),
    "several files": write_parts,
    "folders": write_folders,
    "tar": write_tar,
}


@pytest.fixture(scope="module")
def from_csv(tmp_path_factory):
    path = write_table(tmp_path_factory.mktemp("csv"), "csv")
    return BudgetedSVC(estimator=DualLinearSVC(**TIGHT)).fit_files(path)


@pytest.mark.parametrize("kind", SOURCES)
def test_texts_of_every_format_make_the_same_model(kind, from_csv, tmp_path):
    model = BudgetedSVC(estimator=DualLinearSVC(**TIGHT)).fit_files(SOURCES[kind](tmp_path))
    assert set(model.features_) == set(from_csv.features_)
    assert model.classes_.tolist() == ["ash", "oak"]
    np.testing.assert_allclose(
        model.decision_function(TREES), from_csv.decision_function(TREES), atol=1e-4
    )


def write_svmlight(folder, X, y):
    path = folder / "trees.svm"
    rows = [" ".join(f"{j + 1}:{v!r}" for j, v in zip(*row, strict=True)) for row in cells(X)]
    path.write_text("".join(f"{k} {row}\n" for k, row in zip(y, rows, strict=True)))
    return path


def write_arff(folder, X, y):
    path = folder / "trees.arff"
    d = X.shape[1]
    head = ["@relation trees", *(f"@attribute w{j} numeric" for j in range(d))]
    head += ["@attribute class {0,1,2}", "@data"]
    rows = [", ".join(f"{j} {v!r}" for j, v in zip(*row, strict=True)) for row in cells(X)]
    data = [
        "{" + ", ".join(filter(None, [row, f"{d} {k}" if k else ""])) + "}"
        for k, row in zip(y, rows, strict=True)
    ]
    path.write_text("\n".join([*head, *data]) + "\n")
    return path


def cells(X):
    for row in X:
        yield row.indices.tolist(), row.data.tolist()


@pytest.mark.parametrize("write", [write_svmlight, write_arff], ids=["svmlight", "arff"])
def test_vectors_of_every_format_make_the_model_of_their_matrix(write, tmp_path):
    X, y = make_text(3)
    X.sort_indices()
    model = BudgetedSVC(estimator=DualLinearSVC(**TIGHT)).fit_files(write(tmp_path, X, y))
    peer = DualLinearSVC(**TIGHT).fit(X, y)
    np.testing.assert_allclose(spread(model, X.shape[1]), peer.coef_, atol=1e-4)
    assert model.classes_.tolist() == ["0", "1", "2"]
    assert model.n_features_in_ == X.shape[1]
    assert (model.predict(X) == peer.predict(X).astype(str)).all()
    assert (model.predict(3 * X) == model.predict(X)).all()  # they are brought to length one


def test_malformed_rows_may_be_left_out(tmp_path):
    path = write_csv(tmp_path / "trees.csv", TREES, KINDS)
    content = path.read_text()
    path.write_text(content.replace("\n", "\none,two,three\n", 4))
    with pytest.raises(CorpusError, match=r"trees\.csv, line 2: "):
        BudgetedSVC(random_state=0).fit_files(path)
    model = BudgetedSVC(random_state=0).fit_files(path, bad_rows="skip")
    assert model.counts_.n_documents == 8


@pytest.mark.parametrize("nonzeros", [None, 6])
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_a_seed_decides_everything_whatever_the_number_of_threads(corpus, n_jobs, nonzeros):
    _, _, path = corpus
    options = {"nonzeros_per_document": nonzeros, "random_state": 7}
    first = BudgetedSVC(**options).fit_files(path)
    second = BudgetedSVC(**options, n_jobs=n_jobs).fit_files(path)
    assert first.features_.tolist() == second.features_.tolist()
    np.testing.assert_array_equal(first.coef_, second.coef_)
    np.testing.assert_array_equal(first.intercept_, second.intercept_)
    assert first.checksum_ == second.checksum_


def test_the_seed_of_the_svm_is_that_of_everything_unless_another_is_given(corpus):
    _, _, path = corpus
    svc = DualLinearSVC(random_state=3)
    first, second = (
        BudgetedSVC(estimator=svc, nonzeros_per_document=4).fit_files(path) for _ in range(2)
    )
    np.testing.assert_array_equal(first.coef_, second.coef_)


def test_the_plan_is_told_where_that_is_asked_for(trees, capsys):
    BudgetedSVC(random_state=0).fit_files(trees)
    assert capsys.readouterr().err == ""
    model = BudgetedSVC(random_state=0, verbose=True).fit_files(trees)
    found = capsys.readouterr()
    assert found.err.splitlines() == [str(model.plan_), str(model.cut_)]
    assert found.out == ""
    assert found.err.startswith("8 documents, about 22 words, ")


def test_a_feed_is_what_fit_files_reads(trees):
    with open_stream(trees) as stream:
        first = fit_stream(BudgetedSVC(random_state=0), stream)
    second = BudgetedSVC(random_state=0).fit_files(trees)
    np.testing.assert_array_equal(first.coef_, second.coef_)


SIZE = "memory must be a number of bytes, or text such as '512MB', '2GB' or '1.5GiB'. Got "
WANTED = "nonzeros_per_document must be a positive number. Got "
SHARE = "tolerance must be from 0 to below 1. Got "


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"memory": 0}, f"{SIZE}0 instead."),
        ({"memory": "much"}, f"{SIZE}'much' instead."),
        ({"memory": "-1GB"}, f"{SIZE}'-1GB' instead."),
        ({"memory": None}, f"{SIZE}None instead."),
        ({"memory": True}, f"{SIZE}True instead."),
        ({"nonzeros_per_document": 0}, f"{WANTED}0 instead."),
        ({"nonzeros_per_document": "x"}, f"{WANTED}'x' instead."),
        ({"nonzeros_per_document": np.nan}, f"{WANTED}nan instead."),
        ({"nonzeros_per_document": np.inf}, f"{WANTED}inf instead."),
        ({"by": "x"}, "by must be one of 'normal', "),
        ({"tolerance": 1}, f"{SHARE}1 instead."),
        ({"tolerance": np.nan}, f"{SHARE}nan instead."),
        ({"tolerance": "x"}, f"{SHARE}'x' instead."),
        ({"tolerance": None}, f"{SHARE}None instead."),
        ({"estimator": 5}, "estimator must be a DualLinearSVC. Got int instead."),
        ({"estimator": DualLinearSVC(C=-1)}, "C must be a positive number. Got -1 instead."),
        ({"estimator": DualLinearSVC(fit_intercept="free")}, "estimator must have a regularised "),
        ({"vectorizer": 5}, "vectorizer must be a DocumentVectorizer. Got int"),
        ({"vectorizer": DocumentVectorizer(min_df=-1)}, "min_df must be a whole number "),
        ({"vectorizer": DocumentVectorizer(weighting="x")}, "weighting must be 'binary', "),
        ({"vectorizer": DocumentVectorizer(max_df=1)}, "max_df must allow at least min_df=2 "),
        ({"vectorizer": DocumentVectorizer(min_df=9)}, "max_df must allow at least min_df=9 "),
        ({"vectorizer": DocumentVectorizer(min_df=8)}, "No word is left: all 22 are "),
    ],
    ids=str,
)
def test_a_parameter_that_makes_no_sense_is_refused_in_a_sentence(trees, options, sentence):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        BudgetedSVC(**{"random_state": 0} | options).fit_files(trees)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_documents_must_be_of_two_classes(tmp_path):
    path = write_csv(tmp_path / "trees.csv", TREES, ["ash"] * 8)
    sentence = "The documents must be of two classes or more; all are of class 'ash'."
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        BudgetedSVC().fit_files(path)


def test_vectors_without_a_value_are_refused_in_their_own_words():
    with pytest.raises(ValueError, match=r"^(?!.*(word|min_df)).*feature"):
        BudgetedSVC().fit(sparse.csr_matrix((6, 3)), [0, 1] * 3)


def test_what_does_not_fit_the_model_is_refused(trees):
    model = BudgetedSVC(random_state=0).fit_files(trees)
    with pytest.raises(ValueError, match="documents must be strings"):
        model.predict(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="Got a single string instead"):
        model.predict("oak")
    X, y = make_text(2)
    with pytest.raises(ValueError, match="has 39 features, but BudgetedSVC is expecting 40"):
        BudgetedSVC(random_state=0).fit(X, y).predict(X[:, :39])


def test_no_source_is_refused(tmp_path):
    with pytest.raises(CorpusError, match="there is no such file"):
        BudgetedSVC().fit_files(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="sources must name a file or folder"):
        BudgetedSVC().fit_files([])
