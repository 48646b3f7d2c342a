"""The whole job: its record is of one piece, and its model does what was judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from made_up import KINDS, TREES
from spokeshave import (
    DocumentVectorizer,
    DualLinearSVC,
    Representation,
    ShavedSVC,
    choose_representation,
    feature_curve,
    precision_at_k,
)
from spokeshave.corpus import Texts, Vectors
from spokeshave.curves.cuts import count_kept
from spokeshave.errors import ParameterError
from spokeshave.jobs import fit
from spokeshave.jobs.dataset import prepare_dataset
from spokeshave.jobs.fit import Executor, list_steps, make_folds, run_job, trace_curves
from spokeshave.jobs.settings import Origin, Settings
from spokeshave.model.file import unpack_model
from spokeshave.ranking.criteria import rank_by_normal
from spokeshave.utils.timing import Stopwatch

OWN = {"ash": ("winged", "grey", "key"), "oak": ("acorn", "lobed"), "yew": ("berry", "dark")}
COMMON = ("the", "of", "in", "and", "with", "wind", "tree", "root", "hill", "rain")
CUTS = (0.1, 0.3, 0.6, 1.0)
SETTINGS = Settings(cuts=CUTS, n_jobs=1)
OF_TEXTS = {"loss": "squared_hinge", "prior": "bns", "prior_strength": 0.5, "random_state": 0}


def make_texts(n=90, seed=0):
    rng = np.random.default_rng(seed)
    kinds = [list(OWN)[k % 3] for k in range(n)]
    texts = [
        " ".join([*rng.choice(COMMON, 4), *rng.choice(OWN[kind], 2), rng.choice(OWN["oak"])])
        for kind in kinds
    ]
    return Texts(texts, kinds)


def make_tagged(n=90, seed=0):
    rng = np.random.default_rng(seed)
    tags = [tuple(kind for kind in OWN if rng.random() < 0.4) for _ in range(n)]
    texts = [
        " ".join([*rng.choice(COMMON, 3), *(rng.choice(OWN[kind]) for kind in of)]) for of in tags
    ]
    return Texts(texts, tags)


def make_table(n=90, seed=0):
    rng = np.random.default_rng(seed)
    kinds = [list(OWN)[k % 3] for k in range(n)]
    centres = 3 * np.eye(3, 6)
    X = 5 + np.arange(6) * (centres[np.arange(n) % 3] + rng.normal(size=(n, 6)))
    return Vectors(X, kinds, ("soil", "height", "girth", "age", "rain", "wind"))


@pytest.fixture(scope="module")
def finished():
    """Return a run with everything, and its steps."""
    watch = Stopwatch()
    settings = replace(SETTINGS, methods=("mask", "warm"), with_stability=True)
    origin = Origin("trees.csv", "csv", "more.csv", 3, "spokeshave fit trees.csv", "leaf")
    found = run_job(
        make_texts(), make_texts(30, 1), settings=settings, origin=origin, stopwatch=watch
    )
    return found, settings, watch


def test_the_curves_are_those_of_feature_curve(finished):
    record = finished[0].record
    texts = make_texts()
    X = DocumentVectorizer(weighting="tfidf", sublinear_tf=True).fit_transform(texts.texts)
    for curve, method in zip(record.curves, ("mask", "warm"), strict=True):
        expected = feature_curve(
            X,
            np.array(texts.labels),
            cv=StratifiedKFold(5),
            method=method,
            estimator=DualLinearSVC(**OF_TEXTS),
            cuts=CUTS,
            random_state=0,
        )
        assert curve.method == method
        for name, measured in curve.measures.items():
            np.testing.assert_allclose(measured.macro, expected.macro(name))
            np.testing.assert_allclose(measured.classes, expected.per_class(name))
            np.testing.assert_allclose(measured.macro_error, expected.standard_error(name))
        ranking = rank_by_normal(DualLinearSVC(**OF_TEXTS).fit(X, texts.labels).coef_, range(3))
        assert curve.n_features == count_kept(np.array(CUTS), ranking.n_ranked).tolist()


def test_the_choice_is_the_smallest_within_a_standard_error_of_the_best(finished):
    record = finished[0].record
    measured = record.curves[0].measures["best_f1"]
    best = int(np.argmax(measured.macro))
    floor = measured.macro[best] - measured.macro_error[best]
    assert record.choice.best_index == best
    assert record.choice.index == int(np.argmax(np.array(measured.macro) >= floor))


def test_the_parts_of_the_record_agree(finished):
    found, settings, _ = finished
    record, at = found.record, found.record.choice.index
    n_cuts, names = len(CUTS), ["ash", "oak", "yew"]
    assert [each.name for each in record.classes] == names
    assert [each.n_documents for each in record.classes] == [30, 30, 30]
    assert [words.name for words in record.words] == record.curves[0].names == names
    assert all(len(words.edges) == n_cuts for words in record.words)
    for numbers in vars(record.cuts).values():
        assert len(numbers) == n_cuts
        assert sorted(numbers) == numbers
    assert record.model.n_features == record.cuts.n_features[at]
    assert record.model.n_weights == record.cuts.n_weights[at]
    assert record.model.per_document == record.cuts.per_document[at]
    assert record.model.n_bytes == record.cuts.n_bytes[at] == len(found.content)
    assert record.full_model.n_features == record.cuts.n_features[-1]
    assert record.full_model.n_weights == record.cuts.n_weights[-1]
    assert record.stability.fractions == record.curves[0].fractions
    assert (record.data.n_documents, record.data.n_test, record.data.n_skipped) == (90, 30, 3)
    assert (record.title, record.data.test_source) == ("trees.csv", "more.csv")
    assert record.making.command == "spokeshave fit trees.csv"
    assert record.making.seed == settings.seed
    assert record.shapes == []


def test_the_model_predicts_as_the_pipeline_that_it_was_made_from(finished):
    found = finished[0]
    train, test = make_texts(), make_texts(30, 1)
    shaved = ShavedSVC(
        DualLinearSVC(**OF_TEXTS, probability=True),
        n_features=CUTS[found.record.choice.index],
        renormalize=False,
        cv=StratifiedKFold(5),
        random_state=0,
    )
    vectorizer = DocumentVectorizer(weighting="tfidf", sublinear_tf=True)
    pipeline = make_pipeline(vectorizer, shaved).fit(train.texts, train.labels)
    assert found.model.predict(test.texts).tolist() == pipeline.predict(test.texts).tolist()
    np.testing.assert_allclose(
        found.model.decision_function(test.texts), pipeline.decision_function(test.texts), atol=2e-2
    )  # as weights of the file are rounded
    np.testing.assert_allclose(
        found.model.predict_proba(test.texts), pipeline.predict_proba(test.texts), atol=2e-2
    )


def test_what_is_judged_is_what_is_shipped(finished):
    found = finished[0]
    test = make_texts(30, 1)
    judgement = found.record.model.judgement
    right = unpack_model(found.content).predict(test.texts) == test.labels
    assert judgement.accuracy == pytest.approx(right.mean())
    assert (judgement.judged_on, judgement.n_documents) == ("more.csv", 30)
    assert set(judgement.classes) == set(found.record.full_model.judgement.classes) == set(OWN)


def test_words_and_weights_are_those_of_the_model_that_is_shipped(finished):
    found = finished[0]
    check_words(found)
    for method in ("tfidf", "binary"):
        settings = replace(SETTINGS, weighting=method, loss="hinge", prior=None)
        check_words(run_job(make_texts(), settings=settings))


@pytest.mark.parametrize("make", [make_tagged, make_table])
def test_features_and_weights_are_those_of_the_model_that_is_shipped(make):
    check_words(run_job(make(), settings=SETTINGS))


def check_words(found):
    """Check that the words of a record are those of largest weight in the model, at their cut."""
    model, record = found.model, found.record
    at, names = record.choice.index, model.feature_names_
    for k, words in enumerate(record.words):
        features, weights = model.scorer.list_weights(k)
        weight_of = {names[j]: float(w) for j, w in zip(features, weights, strict=True)}
        for side, sign in ((words.positive, 1), (words.negative, -1)):
            largest = sorted((sign * w for w in weight_of.values() if sign * w > 0), reverse=True)
            assert [sign * word.weight for word in side] == largest[:20]
            assert [weight_of[word.name] for word in side] == [word.weight for word in side]
            kept = record.curves[0].n_features[k][at]
            assert all(word.rank < kept for word in side)
        assert record.curves[0].n_features[k][at] == len(features)


@pytest.mark.parametrize("shared_words", [False, True])
def test_there_is_one_number_of_words(shared_words):
    texts = make_texts()
    # The folds lack some of the words that only one document has.
    rare = Texts([f"{text} word{n}" for n, text in enumerate(texts.texts)], texts.labels)
    settings = replace(SETTINGS, shared_words=shared_words, min_df=1)
    record = run_job(rare, settings=settings).record
    at = record.choice.index
    n_words = record.model.n_features
    assert record.headline.startswith(f"{n_words:,} of {record.data.n_features:,} words (")
    assert record.cuts.n_features[at] == n_words
    assert record.cuts.n_weights[at] == record.model.n_weights
    of_classes = [row[at] for row in record.curves[0].n_features]
    assert sum(of_classes) == record.model.n_weights
    if shared_words:
        assert of_classes == [n_words] * 3


def test_the_file_says_where_it_comes_from(finished):
    found = finished[0]
    provenance = unpack_model(found.content).provenance
    assert provenance["source"] == "trees.csv"
    assert provenance["text_column"] == "leaf"
    assert provenance["n_documents"] == 90
    assert provenance["fingerprint"] == found.record.data.fingerprint


def test_every_step_that_was_announced_is_timed(finished):
    found, settings, watch = finished
    announced = list_steps(settings, has_test=True)
    assert set(watch.seconds) == set(announced)
    assert found.record.making.seconds == watch.seconds
    tuned = list_steps(replace(settings, C="auto", hold_out=0.2), has_test=False)
    assert set(tuned) == {*announced, "choosing C"}
    assert "judging it" not in list_steps(settings, has_test=False)


def test_the_same_settings_make_the_same_bytes(finished):
    settings = replace(SETTINGS, n_jobs=2)
    first, second = (run_job(make_texts(), settings=each) for each in (SETTINGS, settings))
    assert first.content == second.content
    other = run_job(make_texts(), settings=replace(SETTINGS, seed=1))
    assert other.content != first.content
    assert other.record.data.fingerprint == first.record.data.fingerprint


@pytest.mark.parametrize("effort", ["quick", "normal"])
def test_counts_are_weighted_as_those_of_texts(effort):
    texts = make_texts()
    counter = DocumentVectorizer(weighting="counts", norm=None)
    counts = counter.fit_transform(texts.texts)
    vectors = Vectors(counts, texts.labels, tuple(counter.get_feature_names_out()))
    settings = replace(
        SETTINGS,
        effort=effort,
        weighting="sublinear",
        prior="bns",
        loss="squared_hinge",
        fixed=("analyzer", "ngram_range", "min_df", "weighting", "prior", "loss"),
    )
    of_texts, of_vectors = (run_job(each, settings=settings) for each in (texts, vectors))
    np.testing.assert_allclose(
        of_vectors.model.decision_function(counts), of_texts.model.decision_function(texts.texts)
    )
    assert of_vectors.model.feature_names_ == of_texts.model.feature_names_
    assert of_vectors.record.settings["value of a feature"] == "sublinear"
    scores = [[trial.score for trial in each.record.trials] for each in (of_texts, of_vectors)]
    assert scores[0] == scores[1]


def test_a_dense_table_has_no_counts_to_weigh():
    settings = replace(SETTINGS, weighting="tfidf")
    with pytest.raises(ParameterError, match="weighting must be left out for a dense table"):
        run_job(make_table(), settings=settings)


@pytest.mark.parametrize("kind", ["texts", "several labels", "vectors"])
def test_the_representation_is_the_one_that_the_search_chooses(kind):
    train = make_tagged() if kind == "several labels" else make_texts()
    documents = train.texts
    if kind == "vectors":
        X = DocumentVectorizer(weighting="counts", norm=None).fit_transform(train.texts)
        train, documents = Vectors(X, train.labels, None), X
    settings = replace(SETTINGS, effort="normal", loss="squared_hinge", fixed=("loss",))
    watch = Stopwatch()
    record = run_job(train, settings=settings, stopwatch=watch).record
    y = prepare_dataset(train, None, DocumentVectorizer()).train.y
    chosen = choose_representation(documents, y, fixed={"loss": "squared_hinge"}, random_state=0)
    assert [trial.score for trial in record.trials] == [trial.score for trial in chosen.trials]
    (winner,) = [trial for trial in record.trials if trial.is_chosen]
    assert (winner.C, winner.weighting) == (chosen.C, chosen.weighting)
    assert record.settings["C"] == f"{chosen.C:g} (chosen by cross-validation)"
    strength = f"bns, strength {chosen.prior_strength:g}" if chosen.prior_strength else "none"
    assert record.settings["prior of the weights"] == strength
    assert ("terms" in record.settings) == (kind != "vectors")
    assert {trial.loss for trial in record.trials} == {"squared_hinge"}
    assert set(watch.seconds) == set(list_steps(settings, has_test=False))


def test_held_out_documents_take_no_part_in_the_search(monkeypatch):
    searched = []

    def choose(documents, y, **options):
        searched.extend(documents)
        return Representation(analyzer="char_wb", ngram_range=(2, 3))

    monkeypatch.setattr(fit, "choose_representation", choose)
    settings = replace(SETTINGS, effort="normal", hold_out=0.2)
    train = make_texts()
    train = Texts([f"{text} {n}" for n, text in enumerate(train.texts)], train.labels)
    found = run_job(train, settings=settings)
    assert found.record.data.n_documents == len(searched) == 72
    assert found.record.settings["terms"] == "characters within words, 2 to 3"
    assert found.record.data.unit == "terms"
    held = set(train.texts) - set(searched)
    assert len(held) == found.record.model.judgement.n_documents == 18


def test_without_documents_to_test_on_nothing_is_judged():
    record = run_job(make_texts(), settings=SETTINGS).record
    assert (record.model.judgement, record.full_model.judgement) == (None, None)
    assert (record.data.test_source, record.data.n_test) == (None, None)
    assert record.stability is None


def test_some_documents_can_be_held_out():
    record = run_job(make_texts(), settings=replace(SETTINGS, hold_out=0.2)).record
    assert (record.data.n_documents, record.data.n_test) == (72, 18)
    assert record.data.test_source == "held out"
    assert record.model.judgement.judged_on == "held-out documents"
    assert [each.n_documents for each in record.classes] == [24, 24, 24]


@pytest.mark.parametrize("seed", range(3))
def test_a_class_of_one_document_is_never_held_out(seed):
    texts = make_texts()
    rare = Texts([*texts.texts, "an elm"], [*texts.labels, "elm"])
    with pytest.warns(UserWarning, match="least populated class"):
        record = run_job(rare, settings=replace(SETTINGS, hold_out=0.3, seed=seed)).record
    assert {each.name: each.n_documents for each in record.classes}["elm"] == 1


def test_probabilities_need_two_documents_of_each_class():
    texts = make_texts()
    assert run_job(texts, settings=SETTINGS).model.calibration_ is not None
    rare = Texts([*texts.texts, "an elm"], [*texts.labels, "elm"])
    with pytest.warns(UserWarning, match="least populated class"):
        found = run_job(rare, settings=SETTINGS)
    assert found.model.calibration_ is None
    assert "elm" in found.model.classes_


def test_several_labels():
    texts = make_tagged()
    found = run_job(texts, make_tagged(30, 1), settings=SETTINGS)
    record = found.record
    assert record.data.kind == "multilabel"
    assert found.model.multilabel_
    assert found.model.classes_.tolist() == record.curves[0].names == ["ash", "oak", "yew"]
    assert found.model.calibration_ is not None
    test = make_tagged(30, 1)
    expected = [[kind in of for kind in OWN] for of in test.labels]
    right = (found.model.predict(test.texts) == np.array(expected)).all(axis=1)
    assert record.model.judgement.accuracy == pytest.approx(right.mean())
    assert record.model.judgement.micro_f1 > 0.8
    scores = found.model.decision_function(test.texts) + found.model.thresholds_
    for k, value in record.model.judgement.precision_at_k.items():
        assert value == pytest.approx(precision_at_k(np.array(expected), scores, int(k)))
    assert list(record.model.judgement.precision_at_k) == ["1", "3"]  # of three classes
    assert list(record.full_model.judgement.precision_at_k) == ["1", "3"]


@pytest.mark.parametrize("make", [make_texts, make_tagged])
def test_labels_that_were_never_seen_count_as_errors(make):
    test = make(30, 1)
    labels = [("elm",) if isinstance(test.labels[0], tuple) else "elm"] * 5 + test.labels[5:]
    unknown = r"no training document has count as errors: 'elm' \(5\)"
    with pytest.warns(UserWarning, match=unknown):
        found = run_job(make(), replace(test, labels=labels), settings=SETTINGS)
    known = run_job(make(), test, settings=SETTINGS)
    assert found.content == known.content
    predicted = found.model.predict(test.texts[5:])
    if make is make_texts:
        n_right = (predicted == labels[5:]).sum()
    else:
        truth = [[kind in of for kind in OWN] for of in labels[5:]]
        n_right = (predicted == truth).all(axis=1).sum()
    for judgement in (found.record.model.judgement, found.record.full_model.judgement):
        assert judgement.n_documents == 30
        assert judgement.accuracy == pytest.approx(n_right / 30)


def test_a_curve_leaves_out_labels_that_were_never_seen():
    test = make_texts(30, 1)
    labels = ["elm"] * 5 + test.labels[5:]
    dataset, other = (
        fit.make_dataset(make_texts(), Texts(test.texts[first:], given), SETTINGS)
        for first, given in ((0, labels), (5, test.labels[5:]))
    )
    with pytest.warns(UserWarning, match=r"are left out of the curve: 'elm' \(5\)"):
        (found,) = trace_curves(dataset, SETTINGS, Stopwatch())
    (expected,) = trace_curves(other, SETTINGS, Stopwatch())
    np.testing.assert_array_equal(found.macro("auc"), expected.macro("auc"))
    nothing = fit.make_dataset(make_texts(), Texts(["oak"], ["elm"]), SETTINGS)
    with (
        pytest.warns(UserWarning, match="'elm'"),
        pytest.raises(ValueError, match="Got none of them"),
    ):
        trace_curves(nothing, SETTINGS, Stopwatch())


def test_one_label_that_documents_have_or_have_not():
    texts = make_tagged()
    labels = [("ash",) if "ash" in tags else () for tags in texts.labels]
    found = run_job(Texts(texts.texts, labels), settings=replace(SETTINGS, hold_out=0.3))
    assert found.model.classes_.tolist() == ["ash"]
    assert found.record.model.judgement.macro_f1 == 1


def test_two_classes_have_one_row():
    record = run_job(Texts(TREES * 5, KINDS * 5), settings=SETTINGS).record
    assert record.curves[0].names == ["oak"]
    assert [words.name for words in record.words] == ["oak"]
    assert len(record.classes) == 2


@pytest.mark.parametrize("is_sparse", [False, True])
def test_vectors(is_sparse):
    table = make_table()
    if is_sparse:
        table = Vectors(sparse.csr_matrix(table.X), table.labels, None)
    found = run_job(table, settings=SETTINGS)
    features = found.model.input.features
    assert found.record.data.unit == "features"
    assert len(features) == found.record.model.n_features
    names = np.arange(6).astype(str) if is_sparse else np.array(table.feature_names)
    assert found.model.feature_names_ == tuple(names[features])
    assert np.mean(found.model.predict(table.X) == table.labels) >= 0.7
    if not is_sparse:
        shaved = ShavedSVC(
            DualLinearSVC(loss="squared_hinge", probability=True, random_state=0),
            n_features=CUTS[found.record.choice.index],
            random_state=0,
        )
        pipeline = make_pipeline(StandardScaler(), shaved).fit(table.X, table.labels)
        np.testing.assert_allclose(
            found.model.decision_function(table.X), pipeline.decision_function(table.X), atol=1e-4
        )


def test_C_can_be_chosen():
    record = run_job(make_texts(), settings=replace(SETTINGS, C="auto")).record
    C, _, how = record.settings["C"].partition(" ")
    assert float(C) > 0
    assert how == "(chosen by cross-validation)"
    assert "choosing C" in record.making.seconds


def collect(labels):
    texts = Texts(["oak"] * len(labels), labels)
    return prepare_dataset(texts, None, DocumentVectorizer()).info


@pytest.mark.parametrize(
    ("labels", "n_folds"),
    [
        (["a"] * 9 + ["b"], 5),
        (["a"] * 3 + ["b"] * 2, 3),
        (["a"] * 2 + ["b"], 2),
    ],
)
def test_folds_are_no_more_than_the_largest_class_has_documents(labels, n_folds):
    folds = make_folds(collect(labels), Settings())
    assert isinstance(folds, StratifiedKFold)
    assert folds.get_n_splits() == n_folds


def test_folds_of_several_labels_are_shuffled():
    folds = make_folds(collect([("a",), (), ("a", "b")]), Settings())
    assert isinstance(folds, KFold)
    assert (folds.get_n_splits(), folds.shuffle) == (3, True)


def test_one_document_of_each_class_is_too_few():
    with pytest.raises(ValueError, match="needs two documents of a class"):
        make_folds(collect(["a", "b"]), Settings())


def test_few_documents_will_do():
    found = run_job(Texts(TREES, KINDS), settings=Settings(cuts=(0.5, 1.0), n_jobs=1))
    assert found.record.curves[0].n_folds == 4
    assert found.model.predict(["an acorn"]).tolist() == ["oak"]


def test_one_label_that_a_document_may_have_can_choose_its_cost():
    trees = ["ash"] * 8 + ["oak", "elm"] * 4  # one word tells most: without ties all folds keep it
    texts = [f"{tree} {word}" for tree, word in zip(trees, "abcdefgh" * 2, strict=True)]
    labels = [("ash",)] * 8 + [()] * 8
    finished = run_job(Texts(texts, labels), settings=Settings(C="auto", n_jobs=1))
    ash, oak = finished.model.decision_function(["ash", "oak"]).ravel()
    assert oak < 0
    assert ash > oak


def test_documents_too_few_for_folds_get_a_sentence():
    texts, labels = ["ash a", "ash b", "oak a"], [("ash",), (), ()]
    with pytest.raises(ValueError, match="too few to choose a cut by cross-validation"):
        run_job(Texts(texts, labels), settings=Settings(min_df=1, n_jobs=1))


MANY = [f"{kind} {k % 3}" for k, kind in enumerate(KINDS)]


def make_dataset(labels=KINDS, test=None):
    return prepare_dataset(Texts(TREES, labels), test, DocumentVectorizer())


def count_rows(dataset, *numbers):
    return dataset.train.X.shape[0], *numbers


@pytest.mark.parametrize("labels", [KINDS, MANY], ids=["binary", "labels"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_tasks_run_on_the_dataset_in_order(labels, n_jobs):
    shares = []
    executor = Executor(make_dataset(labels), n_jobs)
    found = executor.map(count_rows, [(k, k + 1) for k in range(4)], shares.append)
    assert executor.gather(found) == [(len(TREES), k, k + 1) for k in range(4)]
    assert shares == [0.25, 0.5, 0.75, 1.0]


def test_tasks_of_one_block_run_side_by_side_and_others_in_threads():
    assert Executor(make_dataset(), 2).n_jobs == 1
    assert Executor(make_dataset(MANY), 2).n_jobs == 2


def test_a_field_of_each_result_can_be_gathered():
    executor = Executor(make_dataset(), 1)
    parts = executor.map(lambda dataset: dataset.train, [()])
    assert executor.gather(parts, "X")[0].shape[0] == len(TREES)


def test_the_facts_are_those_of_the_dataset():
    executor = Executor(make_dataset(test=Texts(["oak"], ["oak"])), 1)
    assert executor.has_test
    assert (executor.info.n_documents, executor.info.names) == (len(TREES), sorted(set(KINDS)))
    assert executor.info.row_names == sorted(set(KINDS))[1:]
    assert not Executor(make_dataset(), 1).has_test
    np.testing.assert_array_equal(executor.info.rows, sorted(set(KINDS))[1:])
