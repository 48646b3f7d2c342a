"""Columns of predictions against the model that makes them."""

from __future__ import annotations

import numpy as np
import pytest

from made_models import TEXTS, make_documents, make_models
from spokeshave.model.label_files import PredictedColumns, predict_columns

MODELS = make_models()
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
    columns = predict_columns(model, make_documents(model), PredictedColumns())
    assert columns == {"label": list_expected(model)}


def test_several_labels_are_a_list_or_joined():
    model = MODELS["multilabel"]
    sets = predict_columns(model, TEXTS, PredictedColumns())["label"]
    assert {len(labels) for labels in sets} == {0, 1, 2}
    joined = predict_columns(model, TEXTS, PredictedColumns(separator="; "))["label"]
    assert joined == ["; ".join(labels) for labels in sets]


@pytest.mark.parametrize("name", ["labels", "truth values"])
def test_a_separator_leaves_single_labels_alone(name):
    columns = predict_columns(MODELS[name], TEXTS, PredictedColumns(separator=";"))
    assert columns == {"label": list_expected(MODELS[name])}


@EVERY_MODEL
def test_a_score_of_every_class(model):
    documents = make_documents(model)
    columns = predict_columns(model, documents, PredictedColumns("all"))
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
    columns = predict_columns(model, documents, PredictedColumns("best"))
    every = predict_columns(model, documents, PredictedColumns("all"))
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
    columns = predict_columns(model, documents, PredictedColumns("all", as_probability=True))
    names = [f"probability_{label}" for label in model.classes_.tolist()]
    assert list(columns) == ["label", *names]
    np.testing.assert_array_equal(np.column_stack([columns[name] for name in names]), expected)
    best = predict_columns(model, documents, PredictedColumns("best", as_probability=True))
    assert list(best) == ["label", "probability"]
    if model.multilabel_:
        np.testing.assert_array_equal(best["probability"], expected.max(axis=1))
        return
    places = [model.classes_.tolist().index(label) for label in best["label"]]
    np.testing.assert_array_equal(best["probability"], expected[np.arange(len(places)), places])


@pytest.mark.parametrize("scores", ["best", "all"])
def test_probabilities_that_are_not_there_get_a_sentence(scores):
    with pytest.raises(ValueError, match="saved without probabilities"):
        predict_columns(MODELS["two classes"], TEXTS, PredictedColumns(scores, as_probability=True))


@pytest.mark.parametrize("scores", ["none", "best", "all"])
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_no_documents_make_empty_columns(name, scores):
    columns = predict_columns(MODELS[name], [], PredictedColumns(scores))
    assert all(len(column) == 0 for column in columns.values())
    assert set(columns) == set(predict_columns(MODELS[name], TEXTS, PredictedColumns(scores)))
