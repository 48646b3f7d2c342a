"""Files labelled by a model: what has no rows, what can be read once only, and what is refused."""

from __future__ import annotations

import os
from threading import Thread

import polars
import pytest

from made_models import TEXTS, make_models
from spokeshave.errors import CorpusError
from spokeshave.model.label_files import (
    Labelled,
    Labelling,
    PredictedColumns,
    label_file,
    predict_columns,
)

MODELS = make_models()


@pytest.fixture
def label(tmp_path):
    """Return a function that writes a file, labels it and gives what is written then."""

    def label(name, content, to="csv", *, model="labels", say=lambda reason: None, **how):
        (tmp_path / name).write_text(content)
        target = tmp_path / f"out.{to}"
        source = str(tmp_path / name)
        done = label_file(MODELS[model], source, str(target), Labelling(**how), say=say)
        return done, target

    return label


@pytest.mark.parametrize("text", [None, "body"])
@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("x.csv", "", ""),
        ("x.csv", "\n\r\n", ""),
        ("x.csv", "id,body\n", "id,body,predicted_label\n"),
        ("x.tsv", "id\tbody\n\n", "id,body,predicted_label\n"),
        ("x.txt", "", "text,predicted_label\n"),
        ("x.jsonl", "\n", "predicted_label\n"),
    ],
)
def test_a_table_without_rows_becomes_one(label, name, content, expected, text):
    done, target = label(name, content, text=text)
    assert done == Labelled(0, 0)
    assert target.read_text() == expected


def test_a_table_without_rows_has_its_columns_in_parquet(label):
    for content, columns in {"": [], "id,body\n": ["id", "body"]}.items():
        found = polars.read_parquet(label("x.csv", content, "parquet")[1])
        assert (found.columns, len(found)) == ([*columns, "predicted_label"], 0)


def test_vectors_of_which_there_are_none(label):
    done, target = label("x.svm", "\n", model="vectors")
    assert done == Labelled(0, 0)
    assert target.read_text() == "row,predicted_label\n"


@pytest.mark.parametrize("model", ["labels", "two classes", "multilabel"])
@pytest.mark.parametrize("scores", ["none", "best", "all"])
def test_columns_are_made_of_few_documents_at_a_time(model, scores, monkeypatch):
    model = MODELS[model]
    wanted = [PredictedColumns(scores, as_probability) for as_probability in (False, True)]
    wanted = wanted[: 1 + (model.calibration_ is not None)]
    whole = [predict_columns(model, TEXTS, each) for each in wanted]
    monkeypatch.setattr("spokeshave.model.model.N_SCORES", 1)
    for each, expected in zip(wanted, whole, strict=True):
        found = predict_columns(model, TEXTS, each)
        assert found.keys() == expected.keys()
        for name in found:
            assert list(found[name]) == list(expected[name])


def test_vectors_are_read_in_batches(tmp_path):
    """The rows before a malformed one are labelled before it is read."""
    source = tmp_path / "x.svm"
    source.write_text("1 1:2\n" * 2_500 + "1 x\n")
    seen = []

    def track(pairs):
        for batch, X in pairs:
            assert len(batch) == X.shape[0]
            seen.extend(batch.numbers)
            yield batch, X

    with pytest.raises(CorpusError, match="line 2501: "):
        label_file(
            MODELS["vectors"], str(source), str(tmp_path / "y.csv"), Labelling(), track=track
        )
    assert seen == list(range(1, 2_001))
    assert not (tmp_path / "y.csv").exists()


def test_malformed_rows_are_counted_and_the_guess_is_told(label):
    said = []
    content = "id,body\n7,oak\n8\n9,ash\n"
    done, target = label("x.csv", content, say=said.append, bad_rows="skip")
    assert done == Labelled(2, 1)
    assert said == ["the text is column 'body' by its name"]
    assert target.read_text().count("\n") == 3
    done, target = label("x.svm", "1 1:2\n1 x\n2 3:1\n", model="vectors", bad_rows="skip")
    assert done == Labelled(2, 1)
    with pytest.raises(CorpusError, match=r"x\.csv, line 3: "):
        label("x.csv", content)


def test_nothing_of_a_pipe_is_lost(tmp_path):
    source, target = tmp_path / "x.csv", tmp_path / "out.csv"
    os.mkfifo(source)
    writing = Thread(target=source.write_text, args=("id,body\n7,oak\n8,ash\n",))
    writing.start()
    done = label_file(MODELS["labels"], str(source), str(target), Labelling(text="body"))
    writing.join()
    assert done == Labelled(2, 0)
    lines = target.read_text().splitlines()
    assert [line.rpartition(",")[0] for line in lines] == ["id,body", "7,oak", "8,ash"]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"format": "xls"}, "format must be one of 'text', 'csv', .*'arff'. Got 'xls' instead."),
        ({"to": "text"}, "to must be one of 'csv', .*'parquet'. Got 'text' instead."),
        ({"bad_rows": "x"}, "bad_rows must be one of 'raise', 'skip'. Got 'x' instead."),
    ],
)
def test_choices_that_there_are_not(wrong, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        Labelling(**wrong)
