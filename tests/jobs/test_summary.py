"""The account of a run: what cuts cost, against counting one by one and against real files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score

from made_up import make_text
from spokeshave import DocumentVectorizer, DualLinearSVC, Ranking, ShavedSVC
from spokeshave.corpus import Texts, Vectors
from spokeshave.curves.stability import stability
from spokeshave.jobs.dataset import prepare_dataset
from spokeshave.jobs.fit import (
    Executor,
    choose_svm,
    make_dataset,
    make_folds,
    pack_classifier,
    rank_by,
    run_job,
    trace_curves,
)
from spokeshave.jobs.record import ChoiceRecord, CutsRecord
from spokeshave.jobs.settings import Origin, Settings
from spokeshave.jobs.summary import (
    count_at_cuts,
    describe_provenance,
    evaluate_predictions,
    find_first_cuts,
    summarize_choice,
    summarize_curve,
    summarize_cuts,
    summarize_stability,
    summarize_words,
    write_headline,
)
from spokeshave.model.file import unpack_model
from spokeshave.utils.timing import Stopwatch

SYLLABLES = ("ash", "bar", "el", "fir", "gö", "ha", "lin", "ma", "oak", "ro", "tan", "yew")
FRACTIONS = (0.02, 0.1, 0.4, 1.0)


def make_documents(kind, rng, n=120, n_words=400):
    """Return documents of a kind; words are of many lengths, and some are typical of a class."""
    words = ["".join(rng.choice(SYLLABLES, size=1 + k % 4)) + str(k) for k in range(n_words)]
    n_classes = 2 if kind == "binary" else 5
    y = np.arange(n) % n_classes
    rare = rng.dirichlet(np.full(n_words, 0.1), size=n_classes)
    chances = 0.5 / n_words + 0.5 * rare
    drawn = [rng.choice(n_words, size=30, p=chances[k]) for k in y]
    labels = [f"class {k}" for k in y]
    if kind == "multilabel":
        labels = [
            (label, "even") if k % 2 else (label,) for k, label in zip(y, labels, strict=True)
        ]
    if kind in ("sparse", "dense"):
        X = np.zeros((n, n_words))
        np.add.at(X, (np.arange(n)[:, None], np.array(drawn)), 1.0)
        if kind == "dense":
            return Vectors(X[:, :60] + rng.normal(size=(n, 60)), labels, tuple(words[:60]))
        return Vectors(sparse.csr_matrix(X), labels, None)
    return Texts([" ".join(words[j] for j in row) for row in drawn], labels)


def make_ranking(rng, n_classes=3, n_features=40):
    scores = np.abs(rng.normal(size=(n_classes, n_features)))
    scores[rng.random(scores.shape) < 0.3] = 0
    scores[0] = 0  # a class for which no feature tells anything
    return Ranking(scores, np.arange(n_classes), "chi2")


def list_kept(ranking, kept, cut):
    """Return the features that each class keeps at a cut."""
    return [set(ranking.list_ranked(k)[: kept[k, cut]].tolist()) for k in range(len(kept))]


@pytest.mark.parametrize("cuts", [np.array(FRACTIONS), np.array([1, 3, 10, 100])])
def test_first_cuts_are_those_of_a_loop(rng, cuts):
    ranking = make_ranking(rng)
    kept = count_at_cuts(ranking, cuts)
    expected = np.full(40, len(cuts))
    for cut in reversed(range(len(cuts))):
        for features in list_kept(ranking, kept, cut):
            expected[list(features)] = cut
    np.testing.assert_array_equal(find_first_cuts(ranking, kept), expected)


@pytest.mark.parametrize("is_sparse", [True, False])
def test_costs_are_those_of_counting_one_by_one(rng, is_sparse):
    X, y = make_text(3)
    vectors = Vectors(X if is_sparse else X.toarray(), [f"class {k}" for k in y], None)
    dataset = prepare_dataset(vectors, None, DocumentVectorizer())
    ranking = make_ranking(rng)
    kept = count_at_cuts(ranking, np.array(FRACTIONS))
    svc = DualLinearSVC(random_state=0).fit(X, y)
    content = pack_classifier(dataset, svc, {})
    found = summarize_cuts(dataset, kept, ranking, content, chosen=2)
    assert found.n_bytes[2] == len(content)
    table = dataset.train.X.toarray() if is_sparse else dataset.train.X
    for cut in range(len(FRACTIONS)):
        by_class = list_kept(ranking, kept, cut)
        features = sorted(set.union(*by_class))
        assert found.n_features[cut] == len(features)
        assert found.n_weights[cut] == sum(map(len, by_class))
        in_document = np.count_nonzero(table[:, features], axis=1)
        assert found.per_document[cut] == pytest.approx(in_document.mean())
    assert np.all(np.diff(found.n_bytes) > 0)


@pytest.mark.parametrize(
    ("kind", "weighting"),
    [
        ("labels", "binary"),
        ("labels", "counts"),
        ("labels", "tfidf"),
        ("binary", "binary"),
        ("multilabel", "binary"),
        ("sparse", "auto"),
        ("sparse", "tfidf"),
        ("dense", "auto"),
    ],
)
def test_bytes_are_those_of_the_files_that_each_cut_would_make(rng, kind, weighting):
    documents = make_documents(kind, rng)
    settings = Settings(cuts=FRACTIONS, weighting=weighting, min_df=1, n_jobs=1)
    origin = Origin("made up")
    finished = run_job(documents, settings=settings, origin=origin)
    found, chosen = finished.record.cuts, finished.record.choice.index
    assert found.n_bytes[chosen] == len(finished.content)
    dataset = make_dataset(documents, None, settings)
    svc = choose_svm(Executor(dataset, 1), settings, Stopwatch())
    (curve,) = trace_curves(dataset, settings, Stopwatch())
    for cut, n_bytes in enumerate(found.n_bytes):
        shaved = ShavedSVC(
            svc.set_params(probability=True),
            n_features=replace(curve.best(), cut=curve.cuts[cut]),
            renormalize=False if dataset.info.is_weighted else None,
            cv=make_folds(dataset.info, settings),
            random_state=0,
        ).fit(dataset.train.X, dataset.train.y)
        content = pack_classifier(
            dataset, shaved, describe_provenance(dataset.info, origin, settings.seed)
        )
        assert n_bytes == pytest.approx(len(content), rel=0.25)  # they are compressed
        assert found.n_features[cut] == len(shaved.features_)
        assert found.n_weights[cut] == shaved.kept_.nnz


@pytest.fixture(scope="module")
def traced():
    """Return a dataset, its SVM, the curve and the ranking."""
    documents = make_documents("labels", np.random.default_rng(0))
    settings = Settings(cuts=FRACTIONS, n_jobs=1)
    dataset = make_dataset(documents, None, settings)
    svc = choose_svm(Executor(dataset, 1), settings, Stopwatch())
    (curve,) = trace_curves(dataset, settings, Stopwatch())
    fitted = svc.fit(dataset.train.X, dataset.train.y)
    return dataset, fitted, curve, rank_by(dataset, fitted, settings)


def test_a_curve_is_written_down_as_it_is(traced):
    dataset, _, curve, _ = traced
    found = summarize_curve(curve, dataset.row_names)
    assert (found.method, found.by, found.n_folds) == ("mask", "normal", 5)
    assert found.fractions == list(FRACTIONS)
    np.testing.assert_array_equal(found.n_features, curve.n_features)
    for name, measured in found.measures.items():
        np.testing.assert_array_equal(measured.macro, curve.macro(name))
        np.testing.assert_array_equal(measured.micro, curve.micro(name))
        np.testing.assert_array_equal(measured.macro_error, curve.standard_error(name))
        np.testing.assert_array_equal(measured.micro_error, curve.standard_error(name, "micro"))
        np.testing.assert_array_equal(measured.classes, curve.per_class(name))


def test_without_folds_there_are_no_errors(traced):
    dataset, _, curve, _ = traced
    one = replace(curve, counts=type(curve.counts)(*(field[:1] for field in curve.counts)))
    found = summarize_curve(one, dataset.row_names)
    assert found.n_folds == 1
    assert found.measures["auc"].macro_error is None
    choice = summarize_choice(one.smallest_within(0.01), one, 0.01)
    assert (choice.error, choice.rule) == (None, "the smallest within 0.01 of the best")


def test_what_is_not_known_is_none(traced):
    curve = traced[2]
    positive = np.array(curve.counts.positive)
    positive[:, 1] = 0  # a class without a document to find
    found = summarize_curve(replace(curve, counts=curve.counts._replace(positive=positive)), [])
    assert found.measures["auc"].classes[1] == [None] * 4
    assert None not in found.measures["auc"].macro


def test_a_choice_is_written_down_as_it_is(traced):
    _, _, curve, _ = traced
    choice = curve.smallest_within()
    found = summarize_choice(choice, curve, None)
    assert found.rule == "the smallest within one standard error of the best"
    assert (found.index, found.value) == (choice.index, choice.value)
    assert found.best_index == curve.best().index
    assert found.error == curve.standard_error()[choice.index]


def test_words_are_the_strongest_and_those_at_the_edge(traced):
    dataset, fitted, _, ranking = traced
    kept = count_at_cuts(ranking, np.array(FRACTIONS))
    names = dataset.feature_names
    shipped = unpack_model(pack_classifier(dataset, fitted, {}))
    found = summarize_words(shipped, dataset, ranking, kept)
    assert [words.name for words in found] == dataset.names
    assert shipped.feature_names_ == tuple(names)
    for k, words in enumerate(found):
        weights = dict.fromkeys(names, 0.0)
        for feature, weight in zip(*shipped.scorer.list_weights(k), strict=True):
            weights[names[feature]] = float(weight)
        order = [str(names[j]) for j in ranking.list_ranked(k)]
        for side, sign in ((words.positive, 1), (words.negative, -1)):
            sizes = sorted((sign * w for w in weights.values() if sign * w > 0), reverse=True)
            assert [sign * word.weight for word in side] == sizes[: len(side)]
            assert 0 < len(side) <= 20
            assert [word.weight for word in side] == [weights[word.name] for word in side]
            assert [word.rank for word in side] == [order.index(word.name) for word in side]
        for cut, edge in enumerate(words.edges):
            n = kept[k, cut]
            assert edge.stay == order[max(n - 10, 0) : n]
            assert edge.go == order[n : n + 10]


def test_stability_is_written_down_as_it_is(traced):
    dataset, fitted, curve, _ = traced
    measured = stability(
        dataset.train.X, dataset.train.y, estimator=fitted, cuts=FRACTIONS, random_state=0
    )
    found = summarize_stability(measured, dataset.names, curve.fractions)
    assert set(found.macro) == {"cosine", "pearson", "overlap", "containment"}
    np.testing.assert_array_equal(found.classes["cosine"], measured.cosine)
    np.testing.assert_array_equal(found.macro["overlap"], measured.macro("overlap"))


def test_predictions_are_judged_as_scikit_learn_does():
    y, predicted = np.array(list("aabbcc")), np.array(list("aabbbb"))
    found = evaluate_predictions(y, predicted, ["a", "b", "c"], "six")
    assert (found.judged_on, found.n_documents) == ("six", 6)
    assert found.accuracy == found.micro_f1 == pytest.approx(4 / 6)
    assert found.classes == {"a": 1.0, "b": pytest.approx(2 / 3), "c": 0.0}
    assert found.macro_f1 == pytest.approx((1 + 2 / 3) / 3)


def test_predictions_of_several_labels_are_judged():
    y = sparse.csr_matrix([[1, 0], [1, 1], [0, 0]])
    found = evaluate_predictions(y, np.array([[1, 0], [1, 0], [0, 0]]), ["a", "b"], "three")
    assert found.accuracy == pytest.approx(2 / 3)  # of the documents with all their labels right
    assert found.classes == {"a": 1.0, "b": 0.0}
    assert found.micro_f1 == pytest.approx(0.8)


@pytest.mark.parametrize("n_labels", [1, 2, 5])
def test_predictions_of_several_labels_are_judged_as_scikit_learn_does(rng, n_labels):
    y, predicted = (rng.random((2, 40, n_labels)) < 0.4).astype(int)
    predicted[:, 0] = 0
    names = [f"label {k}" for k in range(n_labels)]
    found = evaluate_predictions(sparse.csr_matrix(y), predicted, names, "forty")
    each = [f1_score(y[:, k], predicted[:, k], zero_division=0) for k in range(n_labels)]
    assert list(found.classes.values()) == pytest.approx(each)
    assert found.macro_f1 == pytest.approx(np.mean(each))
    assert found.micro_f1 == pytest.approx(f1_score(y.ravel(), predicted.ravel()), abs=1e-12)
    assert found.accuracy == pytest.approx(np.mean((y == predicted).all(axis=1)))


def make_choice(error):
    return ChoiceRecord("best_f1", "macro", "", 0, 0.8714, error, 1, 0.8781, "cross-validation")


@pytest.mark.parametrize(
    ("kind", "error", "headline"),
    [
        (
            "labels",
            0.0052,
            "1,200 of {n} words ({share}, 25.0% of the weights): macro best F1 .871 ± .005, "
            "best .878 at 4,000; model 190 KB",
        ),
        (
            "binary",
            0.0052,
            "1,200 of {n} words ({share}): macro best F1 .871 ± .005, best .878 at 4,000; "
            "model 190 KB",
        ),
        (
            "sparse",
            None,
            "1,200 of {n} features ({share}, 25.0% of the weights): macro best F1 .871, "
            "best .878 at 4,000; model 190 KB",
        ),
    ],
)
def test_headlines(rng, kind, error, headline):
    dataset = make_dataset(make_documents(kind, rng, n=30), None, Settings(min_df=1))
    cuts = CutsRecord([1_200, 4_000], [3_000, 12_000], [190_200, 2_000_000], [3.0, 9.0])
    n = len(dataset.feature_names)
    expected = headline.format(n=n, share=f"{1_200 / n:.1%}")
    assert write_headline(dataset, cuts, make_choice(error)) == expected
