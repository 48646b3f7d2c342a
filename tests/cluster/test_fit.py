"""The whole job on a cluster gives what one machine gives."""

from __future__ import annotations

import json
from dataclasses import replace
from time import sleep

import dask
import dask.bag
import numpy as np
import pandas as pd
import pytest
from distributed import get_worker
from scipy import sparse

from deaths import Killer
from made_parts import make_collection, sort_by_class, write_parts
from spokeshave.cluster import fit as fitting
from spokeshave.cluster import fit_on_cluster
from spokeshave.cluster.fit import COMPILING, warm_up_workers
from spokeshave.corpus.documents import Vectors
from spokeshave.errors import CorpusError
from spokeshave.jobs.dataset import prepare_dataset
from spokeshave.jobs.fit import Executor, run_job, run_steps
from spokeshave.jobs.settings import Origin, Settings
from spokeshave.kernels.compile import warm_up
from spokeshave.text.vectorizer import DocumentVectorizer
from spokeshave.utils.timing import Stopwatch

QUICK = (0.1, 0.5, 1.0)


def without_times(record):
    """Return a record without what it took, which no two runs have the same of."""
    curves = [replace(curve, seconds=0.0, fit_seconds=0.0) for curve in record.curves]
    return replace(record, making=None, curves=curves)


def run_here(far, collection, settings, test=None, vectorizer=None):
    """Run the job on one machine, under the name that it had on the cluster."""
    data = far.record.data
    column = far.model.provenance["text_column"]
    origin = Origin(data.source, data.read, data.test_source, text_column=column)
    if vectorizer is None:
        return run_job(collection, test, settings=settings, origin=origin)
    sides = {"hold_out": settings.hold_out, "seed": settings.seed}
    dataset = prepare_dataset(collection, test, vectorizer, **sides)
    return run_steps(Executor(dataset, 2), settings, origin, Stopwatch())


def assert_same(far, near):
    assert without_times(far.record) == without_times(near.record)
    assert far.content == near.content


@pytest.mark.parametrize(
    "settings",
    [
        Settings(cuts=QUICK),
        Settings(cuts=QUICK, C="auto", hold_out=0.2, by="bns", weighting="tfidf"),
        Settings(cuts=QUICK, methods=("warm", "sv_set"), with_stability=True, loss="squared_hinge"),
    ],
    ids=["usual", "tuned", "stable"],
)
def test_model_and_record_are_those_of_one_machine(client, collection, parts, settings):
    far = fit_on_cluster(client, parts, settings=settings)
    assert_same(far, run_here(far, collection, settings))


def test_the_representation_is_chosen_on_a_sample_of_all_parts(client, collection, parts):
    fixed = ("analyzer", "ngram_range", "min_df", "weighting", "loss", "C")
    settings = Settings(cuts=QUICK, effort="normal", fixed=fixed, hold_out=0.2)
    far = fit_on_cluster(client, parts, settings=settings)
    trials = far.record.trials
    assert {trial.prior_strength for trial in trials} == {0.0, 0.5, 1.0}
    assert {trial.n_documents for trial in trials} == {192}  # all that are not held out
    (chosen,) = (trial for trial in trials if trial.is_chosen)
    prior = "bns" if chosen.prior_strength else None
    settled = replace(settings, effort="quick", prior=prior, prior_strength=chosen.prior_strength)
    near = run_here(far, collection, settled)
    assert far.content == near.content


VECTORIZERS = {
    "pairs": {"ngram_range": (1, 2), "weighting": "tfidf", "sublinear_tf": True},
    "characters": {"analyzer": "char_wb", "ngram_range": (2, 4), "max_features": 300},
    "both": {"analyzer": "word+char_wb", "ngram_range": (1, 2), "max_features": 900},
}


@pytest.mark.parametrize("kind", VECTORIZERS)
def test_ngrams_are_those_of_one_machine(client, collection, parts, kind):
    vectorizer = DocumentVectorizer(**VECTORIZERS[kind])
    settings = Settings(cuts=QUICK, weighting=vectorizer.weighting, hold_out=0.2)
    far = fit_on_cluster(client, parts, settings=settings, vectorizer=vectorizer)
    assert_same(far, run_here(far, collection, settings, vectorizer=vectorizer))
    assert any(" " in name for name in far.model.feature_names_)


def test_a_function_is_refused_before_anything_is_read(client, parts):
    vectorizer = DocumentVectorizer(analyzer=str.split)
    with pytest.raises(ValueError, match="a model file cannot store a function"):
        fit_on_cluster(client, parts, vectorizer=vectorizer)


def test_several_labels_and_test_documents(client, tmp_path):
    collection, test = make_collection(several=True), make_collection(60, seed=1, several=True)
    (tmp_path / "test").mkdir()
    settings = Settings(cuts=QUICK)
    far = fit_on_cluster(
        client,
        write_parts(collection, tmp_path),
        test=write_parts(test, tmp_path / "test", sizes=(20,)),
        settings=settings,
        label_separator=";",
    )
    assert_same(far, run_here(far, collection, settings, test))
    assert far.record.model.judgement.n_documents == 60


@pytest.mark.parametrize("nonzeros_per_document", [None, 6])
def test_labels_keep_the_type_that_they_have_in_the_source(client, tmp_path, nonzeros_per_document):
    collection = make_collection()
    rows = [
        {"text": text, "label": int(label.split()[1])}
        for text, label in zip(collection.texts, collection.labels, strict=True)
    ]
    for number, part in enumerate((rows[:100], rows[100:])):
        path = tmp_path / f"part-{number}.jsonl"
        path.write_text("\n".join(map(json.dumps, part)))
    far = fit_on_cluster(
        client,
        str(tmp_path / "part-*.jsonl"),
        settings=Settings(cuts=QUICK, hold_out=0.2),
        nonzeros_per_document=nonzeros_per_document,
    )
    assert far.model.classes_.tolist() == [0, 1, 2, 3]
    assert far.record.model.judgement.accuracy > 0.7
    assert far.model.predict([rows[0]["text"]]).dtype.kind == "i"


def test_forty_classes_are_dealt_to_blocks(client, tmp_path):
    collection = make_collection(400, n_classes=40, n_words=400)
    settings = Settings(cuts=QUICK)
    far = fit_on_cluster(client, write_parts(collection, tmp_path), settings=settings)
    assert_same(far, run_here(far, collection, settings))


def split_vectors(collection):
    rng = np.random.default_rng(0)
    X = sparse.random(len(collection), 60, 0.2, "csr", rng=rng)
    return X, [slice(0, 100), slice(100, 100), slice(100, len(collection))]


class Frame:
    """What is asked of a Dask data frame, without pyarrow, which it needs."""

    def __init__(self, frame):
        self.columns = frame.columns
        self._frame = frame

    def to_delayed(self):
        return [dask.delayed(part) for part in (self._frame[:90], self._frame[90:])]


@pytest.mark.parametrize("kind", ["bag", "frame", "blocks"])
def test_dask_collections_are_parts(client, collection, kind):
    settings, labels, options = Settings(cuts=QUICK), collection.labels, {}
    given = collection
    if kind == "bag":
        pairs = list(zip(collection.texts, labels, strict=True))
        source = dask.bag.from_sequence(pairs, npartitions=3)
    elif kind == "frame":
        source = Frame(pd.DataFrame({"body": collection.texts, "queue": labels}))
        options = {"text": "body", "label": "queue"}
    else:
        X, rows = split_vectors(collection)
        source = [dask.delayed((X[each], labels[each])) for each in rows]
        given = Vectors(X, labels, None)
    far = fit_on_cluster(client, source, settings=settings, **options)
    assert_same(far, run_here(far, given, settings))


def test_a_class_may_be_in_one_part_only(client, tmp_path):
    collection = sort_by_class(make_collection(n_classes=3))
    settings = Settings(cuts=QUICK, hold_out=0.2)
    far = fit_on_cluster(client, write_parts(collection, tmp_path, (80, 0, 1)), settings=settings)
    assert_same(far, run_here(far, collection, settings))


def test_workers_that_die_change_nothing_but_time(four, collection, parts):
    settings = Settings(cuts=QUICK, C="auto", hold_out=0.2)
    killer = Killer(four)
    far = fit_on_cluster(four, parts, settings=settings, stopwatch=killer)
    assert_same(far, run_here(far, collection, settings))
    assert set(killer.killed) == set(far.record.making.seconds)


def test_a_bad_row_is_told_of_by_its_file_and_line(client, collection, tmp_path):
    pattern = write_parts(collection, tmp_path)
    with (tmp_path / "part-3.csv").open("a") as file:
        file.write("no text\n")
    with pytest.raises(CorpusError, match=r"part-3\.csv, line 152: "):
        fit_on_cluster(client, pattern, settings=Settings(cuts=QUICK))
    said = []
    settings = Settings(cuts=QUICK)
    far = fit_on_cluster(client, pattern, settings=settings, bad_rows="skip", say=said.append)
    assert far.record.data.n_skipped == 1
    assert any("1 malformed rows were left out" in sentence for sentence in said)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"settings": Settings(min_df=200)}, "No word is left"),
        ({"memory": "10MB", "nonzeros_per_document": 5}, "A worker must have .* or more"),
        ({"text": "nothing"}, "there is no column 'nothing'"),
        ({"settings": Settings(C="auto"), "nonzeros_per_document": 5}, "C must be a number if"),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(client, parts, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit_on_cluster(client, parts, **options)


def test_one_class_is_not_enough(client, tmp_path):
    collection = make_collection(40, n_classes=1)
    with pytest.raises(ValueError, match="all are of class 'class 0'"):
        fit_on_cluster(client, write_parts(collection, tmp_path, sizes=(20,)))


def test_labels_of_test_documents_that_are_not_known_count_as_errors(
    client, collection, parts, tmp_path
):
    other, said = make_collection(30, n_classes=6), []
    far = fit_on_cluster(
        client,
        parts,
        test=write_parts(other, tmp_path, sizes=()),
        settings=Settings(cuts=QUICK),
        say=said.append,
    )
    found = {label: other.labels.count(label) for label in ("class 4", "class 5")}
    listed = ", ".join(f"'{label}' ({n})" for label, n in found.items())
    assert f"labels of test documents that no training document has count as errors: {listed}" in (
        said
    )
    with pytest.warns(UserWarning, match="count as errors"):
        assert_same(far, run_here(far, collection, Settings(cuts=QUICK), other))


def test_every_worker_has_kernels_that_were_compiled_before(client):
    said = []
    warm_up_workers(client, {"is_text": True, "has_values": False}, said.append)
    assert said == []
    assert all(n > 0 for n in client.run(lambda: warm_up.cache_info().currsize).values())


@pytest.mark.parametrize("n_compiled", [0, 1])
def test_what_takes_long_is_told_of(client, monkeypatch, n_compiled):
    monkeypatch.setattr(fitting, "are_compiled", lambda kind: bool(n_compiled))
    said = []
    warm_up_workers(client, {"is_text": True, "has_values": False}, said.append)
    assert said == [COMPILING] * (1 - n_compiled)


def test_one_worker_of_a_host_comes_before_the_others(client, monkeypatch, tmp_path):
    log = tmp_path / "log"

    def load(kind):
        for event in ("begins", "ends"):
            with log.open("a") as file:
                asked = " ".join(map(str, kind.values()))
                file.write(f"{get_worker().address} {event} {asked}\n")
            sleep(0.05)

    monkeypatch.setattr(fitting, "load_kernels", load)
    warm_up_workers(client, {"is_text": False, "has_values": True}, lambda sentence: None)
    events = [line.split() for line in log.read_text().splitlines()]
    assert len(events) == 4
    assert [event for _, event, *_ in events[:2]] == ["begins", "ends"]
    assert events[0][0] == events[1][0]
    assert all(asked == ["False", "True"] for _, _, *asked in events)


def test_a_worker_that_dies_is_not_waited_for(four, make_deadly):
    deadly = make_deadly(fitting, "load_kernels", at=2)
    warm_up_workers(four, {"is_text": True, "has_values": False}, lambda sentence: None)
    assert deadly.has_killed
