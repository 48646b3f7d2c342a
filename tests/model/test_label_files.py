"""Files labelled by a model: what has no rows, what can be read once only, and what is refused."""

from __future__ import annotations

import os
from threading import Thread

import numpy as np
import polars
import pytest

from made_models import TEXTS, make_documents, make_models
from spokeshave.errors import CorpusError
from spokeshave.model.label_files import Columns, Labelled, Labelling, label_file, predict_columns

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


EVERY_MODEL = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
CALIBRATED = [model for model in MODELS.values() if model.calibration_ is not None]
ONE_OF_EACH = ["two classes", "labels", "multilabel"]


def list_expected(model):
    """Return the labels of each document, as `predict` says them."""
    predicted = model.predict(make_documents(model))
    if not model.multilabel_:
        return predicted.tolist()
    return [model.classes_[row > 0].tolist() for row in predicted]


@EVERY_MODEL
def test_labels_are_those_that_are_predicted(model):
    columns = predict_columns(model, make_documents(model), Columns())
    assert columns == {"label": list_expected(model)}


def test_several_labels_are_a_list_or_joined():
    model = MODELS["multilabel"]
    sets = predict_columns(model, TEXTS, Columns())["label"]
    assert {len(labels) for labels in sets} == {0, 1, 2}
    joined = predict_columns(model, TEXTS, Columns(separator="; "))["label"]
    assert joined == ["; ".join(labels) for labels in sets]


@pytest.mark.parametrize("name", ["labels", "truth values"])
def test_a_separator_leaves_single_labels_alone(name):
    columns = predict_columns(MODELS[name], TEXTS, Columns(separator=";"))
    assert columns == {"label": list_expected(MODELS[name])}


@EVERY_MODEL
def test_a_score_of_every_class(model):
    documents = make_documents(model)
    columns = predict_columns(model, documents, Columns("all"))
    scores = model.decision_function(documents)
    if model.is_binary_:
        scores = np.column_stack([-scores, scores])
    names = [f"score_{label}" for label in model.classes_.tolist()]
    assert list(columns) == ["label", *names]
    for name, expected in zip(names, scores.T, strict=True):
        np.testing.assert_array_equal(columns[name], expected)


@EVERY_MODEL
def test_the_best_score_is_that_of_the_label(model):
    documents = make_documents(model)
    columns = predict_columns(model, documents, Columns("best"))
    every = predict_columns(model, documents, Columns("all"))
    assert list(columns) == ["label", "score"]
    assert columns["label"] == every["label"]
    table = np.column_stack([every[f"score_{label}"] for label in model.classes_.tolist()])
    np.testing.assert_array_equal(columns["score"], table.max(axis=1))
    if not model.multilabel_:
        for label, score, row in zip(columns["label"], columns["score"], table, strict=True):
            assert score == row[model.classes_.tolist().index(label)]


@pytest.mark.parametrize("model", CALIBRATED)
def test_scores_may_be_probabilities(model):
    documents = make_documents(model)
    expected = model.predict_proba(documents)
    columns = predict_columns(model, documents, Columns("all", as_probability=True))
    names = [f"probability_{label}" for label in model.classes_.tolist()]
    assert list(columns) == ["label", *names]
    np.testing.assert_array_equal(np.column_stack([columns[name] for name in names]), expected)
    best = predict_columns(model, documents, Columns("best", as_probability=True))
    assert list(best) == ["label", "probability"]
    if model.multilabel_:
        np.testing.assert_array_equal(best["probability"], expected.max(axis=1))
        return
    places = [model.classes_.tolist().index(label) for label in best["label"]]
    np.testing.assert_array_equal(best["probability"], expected[np.arange(len(places)), places])


@pytest.mark.parametrize("scores", ["best", "all"])
def test_probabilities_that_are_not_there_get_a_sentence(scores):
    with pytest.raises(ValueError, match="saved without probabilities"):
        predict_columns(MODELS["two classes"], TEXTS, Columns(scores, as_probability=True))


@pytest.mark.parametrize("scores", ["none", "best", "all"])
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_no_documents_make_empty_columns(name, scores):
    columns = predict_columns(MODELS[name], [], Columns(scores))
    assert all(len(column) == 0 for column in columns.values())
    assert set(columns) == set(predict_columns(MODELS[name], TEXTS, Columns(scores)))
