"""The job in a given memory: its record is of one piece, and its model does what was judged."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars
import pytest

from spokeshave import BudgetedSVC, DocumentVectorizer, DualLinearSVC
from spokeshave.corpus import load_source
from spokeshave.corpus.documents import compute_fingerprint
from spokeshave.corpus.stream import open_stream
from spokeshave.errors import CorpusError, ParameterError
from spokeshave.jobs import budget, fit
from spokeshave.jobs.budget import (
    Files,
    HoldOutStream,
    evaluate_stream,
    list_budget_steps,
    make_budgeted,
    make_recipe,
    run_budgeted,
)
from spokeshave.jobs.fit import run_job
from spokeshave.jobs.record import pack_record, read_record
from spokeshave.jobs.settings import Budget, Settings
from spokeshave.model.file import unpack_model
from spokeshave.model.label_files import Labelling, label_file
from spokeshave.report import render_report
from spokeshave.utils.timing import Stopwatch
from zipf import make_zipf, write_csv

BUDGET = Budget("8GB", nonzeros_per_document=6)
SETTINGS = Settings(n_jobs=1)
SETTLED = ("analyzer", "ngram_range", "min_df", "weighting", "loss", "C")  # all but the prior


@pytest.fixture(scope="module")
def texts():
    return make_zipf(600, n_words=1_500, length=20)


@pytest.fixture(scope="module")
def more_texts():
    return make_zipf(150, n_words=1_500, length=20, seed=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, texts, more_texts):
    """Return a folder with documents to train on and to test on."""
    folder = tmp_path_factory.mktemp("sources")
    write_csv(folder / "trees.csv", *texts)
    write_csv(folder / "more.csv", *more_texts)
    write_svmlight(folder / "trees.svm", *texts)
    rows = [
        {"text": text, "label": [label, "long"] if len(text) > 60 else []}
        for text, label in zip(*texts, strict=True)
    ]
    (folder / "tagged.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


def write_svmlight(path, texts, labels):
    words = sorted({word for text in texts for word in text.split()})
    place = {word: number for number, word in enumerate(words, 1)}
    rows = [sorted({place[word] for word in text.split()}) for text in texts]
    path.write_text(
        "".join(
            f"{label.split()[1]} {' '.join(f'{j}:1' for j in row)}\n"
            for row, label in zip(rows, labels, strict=True)
        )
    )


@pytest.fixture(scope="module")
def finished(folder):
    """Return a run that is judged by another file, its steps, and what it said."""
    watch, said = Stopwatch(), []
    files = Files(folder / "trees.csv", folder / "more.csv")
    found = run_budgeted(
        files,
        BUDGET,
        settings=SETTINGS,
        command="spokeshave fit trees.csv",
        stopwatch=watch,
        say=said.append,
    )
    return found, watch, said


def test_the_representation_is_chosen_on_a_sample_that_fits(folder, texts, monkeypatch):
    settings = replace(SETTINGS, effort="normal", fixed=SETTLED, hold_out=0.2)
    with pytest.raises(ParameterError, match="effort must be quick for vectors"):
        run_budgeted(Files(folder / "trees.svm"), BUDGET, settings=settings)
    settings = replace(settings, weighting="sublinear")
    with pytest.raises(ParameterError, match=r"must be counts .* not read whole\. Got 'sub"):
        run_budgeted(Files(folder / "trees.svm"), BUDGET, settings=settings)
    monkeypatch.setattr(budget, "limit_characters", lambda free, is_text: 24_000)  # of 70,000
    found = run_budgeted(Files(folder / "trees.csv"), BUDGET, settings=settings)
    trials = found.record.trials
    assert {trial.prior_strength for trial in trials} == {0.0, 0.5, 1.0}
    assert all(trial.n_documents < len(texts[0]) * 0.8 for trial in trials)
    (chosen,) = (trial for trial in trials if trial.is_chosen)
    expected = f"bns, strength {chosen.prior_strength:g}" if chosen.prior_strength else "none"
    assert found.record.settings["prior of the weights"] == expected
    again = run_budgeted(Files(folder / "trees.csv"), BUDGET, settings=settings)
    assert again.content == found.content


def test_the_model_is_that_of_the_estimator(finished, folder, more_texts):
    svc = BudgetedSVC(
        "8GB",
        estimator=DualLinearSVC(loss="squared_hinge", prior="bns", prior_strength=0.5),
        vectorizer=DocumentVectorizer(weighting="tfidf", sublinear_tf=True),
        nonzeros_per_document=6,
        random_state=0,
    ).fit_files(folder / "trees.csv")
    np.testing.assert_allclose(
        finished[0].model.decision_function(more_texts[0]),
        svc.decision_function(more_texts[0]),
        atol=2e-2,  # as weights of the file are rounded
    )


def test_settings_reach_the_estimator():
    settings = Settings(
        C=0.3,
        loss="hinge",
        prior=None,
        weighting="counts",
        min_df=5,
        by="chi2",
        tolerance=0.02,
        seed=4,
    )
    recipe = make_recipe(settings, None)
    svc = make_budgeted(Budget("1GB", 7.5, "here"), settings, recipe, is_text=True)
    assert (svc.estimator.C, svc.estimator.loss, svc.estimator.prior) == (0.3, "hinge", None)
    assert (svc.vectorizer.weighting, svc.vectorizer.min_df) == ("counts", 5)
    assert (svc.by, svc.tolerance, svc.random_state) == ("chi2", 0.02, 4)
    assert (svc.memory, svc.nonzeros_per_document, svc.folder) == ("1GB", 7.5, "here")


def test_a_vectorizer_that_is_given_is_the_recipe():
    given = DocumentVectorizer(ngram_range=(1, 2), n_jobs=-1)
    found = make_recipe(Settings(), given)
    assert found is not given
    assert (found.ngram_range, found.n_jobs) == ((1, 2), None)
    with pytest.raises(ValueError, match="a model file cannot store a function"):
        make_recipe(Settings(), DocumentVectorizer(analyzer=str.split))
    with pytest.raises(ValueError, match="ngram_range must be two whole numbers"):
        make_recipe(Settings(), DocumentVectorizer(ngram_range=2))


def test_the_parts_of_the_record_agree(finished, texts):
    found = finished[0]
    record, names = found.record, ["kind 0", "kind 1", "kind 2"]
    sizes = [texts[1].count(name) for name in names]
    assert [each.name for each in record.classes] == names
    assert [each.n_documents for each in record.classes] == sizes
    assert [words.name for words in record.words] == names
    assert (record.data.n_documents, record.data.n_test) == (600, 150)
    assert (record.data.source, record.data.test_source) == ("trees.csv", "more.csv")
    assert (record.data.unit, record.data.kind) == ("words", "labels")
    assert record.data.n_features == len(DocumentVectorizer(min_df=1).fit(texts[0]).vocabulary_)
    assert record.model.n_features == len(found.model.feature_names_)
    assert record.model.n_weights == 3 * record.model.n_features
    assert record.model.n_bytes == len(found.content)
    assert record.model.per_document == pytest.approx(6, rel=0.1)
    assert record.making.command == "spokeshave fit trees.csv"
    assert record.settings["memory"] == "8.0 GB"
    assert record.settings["ranked on"] == "600 documents"
    assert record.settings["trained"].startswith("in memory, relative duality gap ")
    assert f"{record.model.n_features:,} of {record.data.n_features:,} words" in record.headline
    assert "trained on all 600: macro-F1 ." in record.headline


def test_the_record_is_read_as_it_was_written_and_shown(finished, tmp_path):
    (tmp_path / "run.json").write_bytes(pack_record(finished[0].record))
    read = read_record(tmp_path / "run.json")
    (tmp_path / "again.json").write_bytes(pack_record(read))
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "run.json").read_bytes()
    page = render_report(read)
    assert page.startswith("<!doctype html>")
    assert read.headline in page


def test_what_is_judged_is_what_is_shipped(finished, more_texts):
    model = unpack_model(finished[0].content)
    judgement = finished[0].record.model.judgement
    right = model.predict(more_texts[0]) == np.array(more_texts[1])
    assert judgement.accuracy == pytest.approx(right.mean())
    assert (judgement.judged_on, judgement.n_documents) == ("more.csv", 150)
    assert judgement.macro_f1 > 0.5
    assert finished[0].record.full_model is None


def test_the_file_says_where_it_comes_from(finished):
    provenance = unpack_model(finished[0].content).provenance
    assert (provenance["source"], provenance["text_column"]) == ("trees.csv", "text")
    assert (provenance["n_documents"], provenance["seed"]) == (600, 0)
    assert provenance["fingerprint"] == finished[0].record.data.fingerprint


def test_words_and_weights_are_those_of_the_model_that_is_shipped(finished):
    model, record = finished[0].model, finished[0].record
    names = model.feature_names_
    for k, words in enumerate(record.words):
        features, weights = model.scorer.list_weights(k)
        weight_of = {names[j]: float(w) for j, w in zip(features, weights, strict=True)}
        for side, sign in ((words.positive, 1), (words.negative, -1)):
            largest = sorted((sign * w for w in weight_of.values() if sign * w > 0), reverse=True)
            assert [sign * word.weight for word in side] == largest[:20]
            assert [weight_of[word.name] for word in side] == [word.weight for word in side]
            for word in side:
                assert np.sum(np.abs(weights) > abs(word.weight)) <= word.rank < len(weights)


@pytest.mark.parametrize(
    ("source", "hold_out"),
    [("trees.csv", 0.0), ("trees.csv", 0.2), ("trees.svm", 0.0), ("tagged.jsonl", 0.2)],
)
def test_the_fingerprint_is_that_of_all_documents_however_they_are_trained_on(
    folder, source, hold_out
):
    expected = compute_fingerprint(*read_whole(folder / source))
    settings = replace(SETTINGS, hold_out=hold_out)
    found = run_budgeted(Files(folder / source), BUDGET, settings=settings)
    assert found.record.data.fingerprint == str(expected)
    assert found.model.provenance["fingerprint"] == str(expected)
    documents, _ = read_whole(folder / source)
    dataset = fit.make_dataset(documents, None, settings)
    assert dataset.fingerprint == str(expected)


def read_whole(path):
    documents = load_source(path).documents
    return documents, documents.labels


def test_a_share_of_documents_has_the_fingerprint_of_all_of_them_also_if_it_was_not_read(folder):
    with open_stream(folder / "trees.csv") as supply:
        documents, labels = read_whole(folder / "trees.csv")
        part = HoldOutStream(supply, 0.2, 0, is_test=False)
        assert part.fingerprint == compute_fingerprint(documents, labels)
        assert HoldOutStream(supply, 0.2, 0, is_test=True).fingerprint is None


def test_every_step_that_was_announced_is_timed(finished):
    _, watch, said = finished
    assert list(watch.seconds) == list(list_budget_steps(SETTINGS, has_test=True))
    assert list_budget_steps(replace(SETTINGS, hold_out=0.1), has_test=False).keys() == (
        watch.seconds.keys()
    )
    assert "judging it" not in list_budget_steps(SETTINGS, has_test=False)
    guess, plan, cut = said
    assert guess.startswith("trees.csv: the text is column 'text'")
    assert plan.startswith("600 documents, about ")
    assert " are kept (" in cut


def test_the_same_settings_make_the_same_bytes(finished, folder):
    settings = replace(SETTINGS, n_jobs=2)
    command = "spokeshave fit trees.csv"
    again = run_budgeted(Files(folder / "trees.csv"), BUDGET, settings=settings, command=command)
    assert again.content == finished[0].content
    assert (again.record.model.judgement, again.record.data.n_test) == (None, None)


def test_documents_may_be_held_out(folder, texts):
    settings = replace(SETTINGS, hold_out=0.25)
    found = run_budgeted(Files(folder / "trees.csv"), BUDGET, settings=settings)
    record = found.record
    assert record.data.n_documents + record.data.n_test == 600
    assert record.data.n_test == pytest.approx(150, abs=40)
    assert record.model.judgement.judged_on == "held-out documents"
    assert sum(each.n_documents for each in record.classes) == record.data.n_documents
    with open_stream(folder / "trees.csv") as supply:
        stream = HoldOutStream(supply, 0.25, 0, is_test=True)
        held = [text for batch in stream.read_batches() for text in batch.texts]
    assert len(held) == record.data.n_test
    assert set(held) <= set(texts[0])


def test_a_supply_is_divided_whatever_the_size_of_the_batches(folder, texts):
    sides = {}
    with open_stream(folder / "trees.csv") as supply:
        for is_test in (False, True):
            for size in (7, 1_000):
                stream = HoldOutStream(supply, 0.3, 5, is_test=is_test)
                batches = list(stream.read_batches(size))
                found = [
                    pair
                    for batch in batches
                    for pair in zip(batch.texts, batch.labels, strict=True)
                ]
                assert sides.setdefault(is_test, found) == found
        other = HoldOutStream(supply, 0.3, 6, is_test=False)
        assert other.stamps != stream.stamps
        assert [text for batch in other.read_batches() for text in batch.texts] != [
            text for text, _ in sides[False]
        ]
    together = sorted(sides[False] + sides[True])
    assert together == sorted(zip(*texts, strict=True))
    assert len(sides[True]) == pytest.approx(0.3 * 600, rel=0.3)


def test_vectors_are_divided_as_texts_are(folder):
    with open_stream(folder / "trees.csv") as supply, open_stream(folder / "trees.svm") as vectors:
        texts = [label for batch in divide(supply) for label in batch.labels]
        rows = list(divide(vectors))
    assert [f"kind {label}" for batch in rows for label in batch.labels] == texts
    assert sum(batch.X.shape[0] for batch in rows) == len(texts)


def divide(supply):
    return HoldOutStream(supply, 0.3, 5, is_test=True).read_batches(100)


def test_vectors_make_a_model_of_vectors(folder):
    found = run_budgeted(
        Files(folder / "trees.svm"), BUDGET, settings=replace(SETTINGS, hold_out=0.2)
    )
    assert found.record.data.unit == "features"
    assert found.record.model.judgement.macro_f1 > 0.5


def test_documents_may_have_several_labels_or_none(folder):
    found = run_budgeted(
        Files(folder / "tagged.jsonl"), BUDGET, settings=replace(SETTINGS, hold_out=0.2)
    )
    assert found.record.data.kind == "multilabel"
    assert [each.name for each in found.record.classes] == ["kind 0", "kind 1", "kind 2", "long"]
    assert found.record.model.judgement.classes["long"] > 0.3
    assert found.model.predict(["aa ab"]).shape == (1, 4)


def test_two_classes_have_one_row_of_weights(folder, texts, tmp_path):
    kept = [number for number, label in enumerate(texts[1]) if label != "kind 2"]
    path = write_csv(tmp_path / "two.csv", [texts[0][i] for i in kept], [texts[1][i] for i in kept])
    record = run_budgeted(Files(path), BUDGET, settings=SETTINGS).record
    assert [each.name for each in record.classes] == ["kind 0", "kind 1"]
    assert [words.name for words in record.words] == ["kind 1"]
    assert record.model.n_weights == record.model.n_features


def test_classes_that_a_model_does_not_know_are_errors(finished, tmp_path):
    path = write_csv(tmp_path / "other.csv", ["aa ab", "ac ad"], ["kind 0", "elm"])
    said = []
    with open_stream(path) as stream:
        judgement = evaluate_stream(finished[0].model, stream, None, said.append)
    (sentence,) = said
    assert sentence.endswith("no training document has count as errors: 'elm' (1)")
    assert (judgement.n_documents, judgement.judged_on) == (2, "test documents")
    assert judgement.accuracy <= 0.5
    assert set(judgement.classes) == {"kind 0", "kind 1", "kind 2"}


def test_a_share_that_holds_nothing_out_is_told_of(folder):
    with pytest.raises(ValueError, match="hold_out must be large enough to hold out a document"):
        run_budgeted(Files(folder / "trees.csv"), BUDGET, settings=replace(SETTINGS, hold_out=1e-9))


def test_texts_are_not_judged_by_vectors(folder):
    with pytest.raises(ValueError, match=r"trees\.svm"):
        run_budgeted(Files(folder / "trees.csv", folder / "trees.svm"), BUDGET, settings=SETTINGS)


@pytest.mark.parametrize(
    ("name", "content"),
    [("none.csv", None), ("empty.csv", "text,label\n"), ("x.csv", "a,b\n1,2\n")],
)
def test_test_documents_are_looked_for_before_the_work_is_done(folder, tmp_path, name, content):
    if content is not None:
        (tmp_path / name).write_text(content)
    said = []
    files = Files(folder / "trees.csv", tmp_path / name, {"text": "text", "label": "label"})
    with pytest.raises(CorpusError, match=name):
        run_budgeted(files, BUDGET, settings=SETTINGS, say=said.append)
    assert said == []


def test_a_malformed_test_document_does_not_cost_the_work(folder, tmp_path):
    path = write_csv(tmp_path / "bad.csv", ["aa ab", "ac,ad"], ["kind 0", "kind 1"])
    work = tmp_path / "work"
    with pytest.raises(CorpusError, match=r"bad\.csv, line 3"):
        run_budgeted(
            Files(folder / "trees.csv", path), replace(BUDGET, folder=work), settings=SETTINGS
        )
    assert not work.exists()


def write_table(path, texts, labels):
    table = polars.DataFrame({"text": texts, "label": labels})
    if path.suffix == ".jsonl":
        table.write_ndjson(path)
    else:
        table.write_parquet(path) if path.suffix == ".parquet" else table.write_csv(path)
    return path


@pytest.mark.parametrize("names", [{"ash": 3, "oak": 10, "yew": -1}, {"ash": False, "oak": True}])
@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("has_several", [False, True])
def test_labels_keep_the_type_that_they_have_in_the_source(names, suffix, has_several, tmp_path):
    rng = np.random.default_rng(0)
    kinds = rng.choice(list(names), 120)
    texts = [f"{kind} {' '.join(rng.choice(['wind', 'rain', 'hill'], 3))}" for kind in kinds]
    labels = [[names[kind]] if has_several else names[kind] for kind in kinds]
    train = test = write_table(tmp_path / f"train.{suffix}", texts, labels)
    if not has_several:  # the same labels, as text
        test = write_table(tmp_path / "test.csv", texts, list(map(str, labels)))
    near = run_job(load_source(train).documents, load_source(test).documents, settings=SETTINGS)
    far = run_budgeted(Files(train, test), Budget("8GB"), settings=SETTINGS)
    svc = BudgetedSVC("8GB").fit_files(train)
    expected = sorted(names.values(), key=str)
    for run in (near, far):
        assert run.model.classes_.tolist() == svc.classes_.tolist() == expected
        assert run.record.model.judgement.accuracy == 1
        assert [each.name for each in run.record.classes] == list(map(str, expected))
        for out in ("jsonl", "parquet"):
            target = tmp_path / f"labelled.{out}"
            label_file(unpack_model(run.content), str(train), str(target), Labelling())
            read = polars.read_ndjson if out == "jsonl" else polars.read_parquet
            assert read(target)["predicted_label"].to_list() == labels
    if not has_several:
        assert svc.predict(texts).tolist() == near.model.predict(texts).tolist() == labels
