"""Predictions and explanations of models made by hand."""

from __future__ import annotations

import sys
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from made_models import TEXTS, make_documents, make_models
from spokeshave import Explanation
from spokeshave.model import inputs
from spokeshave.model.inputs import TextInput
from spokeshave.model.model import Contribution, Model, calibrate
from spokeshave.model.scorers import SparseScorer

MODELS = make_models()
EVERY_MODEL = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
CALIBRATED = [name for name, model in MODELS.items() if model.calibration_ is not None]
EVERY_CALIBRATED_MODEL = pytest.mark.parametrize("name", CALIBRATED)


def score_all(model, documents):
    """Return scores with a column for each class, also where one tells two apart."""
    scores = model.decision_function(documents)
    return np.column_stack([-scores, scores]) if model.is_binary_ else scores


@EVERY_MODEL
def test_scores_are_those_of_the_scorer(model):
    documents = make_documents(model)
    scores = model.decision_function(documents)
    expected = model.scorer.score(model.input.read(documents))
    np.testing.assert_array_equal(scores, expected[:, 0] if model.is_binary_ else expected)
    assert len(scores) == len(documents)


@EVERY_MODEL
def test_predictions_are_those_of_the_scores(model):
    documents = make_documents(model)
    scores, predicted = score_all(model, documents), model.predict(documents)
    if model.multilabel_:
        np.testing.assert_array_equal(predicted, (scores > 0).astype(int))
    else:
        np.testing.assert_array_equal(predicted, model.classes_[scores.argmax(axis=1)])
        assert predicted.dtype == model.classes_.dtype


@EVERY_MODEL
@pytest.mark.parametrize("has_numba", [True, False])
def test_pieces_change_nothing(model, has_numba, monkeypatch):
    documents = make_documents(model)
    expected = model.decision_function(documents)
    if has_numba:
        pytest.importorskip("numba")
    else:
        monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.setattr(inputs, "CHUNK_SIZE", 10)
    assert len(list(model.input.split(documents))) > 2
    np.testing.assert_allclose(model.decision_function(documents), expected)


@EVERY_MODEL
def test_no_documents_have_no_predictions(model):
    documents = make_documents(model)[:0]
    assert len(model.predict(documents)) == 0
    n_scores = len(model.scorer.intercept)
    expected = (0,) if model.is_binary_ else (0, n_scores)
    assert model.decision_function(documents).shape == expected
    if model.calibration_ is not None:
        assert model.predict_proba(documents).shape == (0, len(model.classes_))


@EVERY_MODEL
@pytest.mark.parametrize("has_numba", [True, False])
def test_very_many_classes_leave_few_documents_at_a_time(model, has_numba, monkeypatch):
    if has_numba:
        pytest.importorskip("numba")
    else:
        monkeypatch.delitem(sys.modules, "numba", raising=False)
    documents, sizes = make_documents(model), []
    expected = model.predict(documents), model.decision_function(documents)
    score = type(model.scorer).score

    def score_few(self, rows):
        sizes.append((len(rows.indptr) - 1) * len(self.intercept))
        return score(self, rows)

    monkeypatch.setattr("spokeshave.model.model.N_SCORES", 6)
    monkeypatch.setattr(type(model.scorer), "score", score_few)
    np.testing.assert_array_equal(model.predict(documents), expected[0])
    assert sum(sizes) == expected[1].size
    assert max(sizes) <= 6
    np.testing.assert_allclose(model.decision_function(documents), expected[1])
    if model.calibration_ is not None:
        expected = calibrate(model, expected[1])
        np.testing.assert_allclose(model.predict_proba(documents), expected)


def test_scores_of_all_documents_for_very_many_classes_are_not_kept(monkeypatch):
    monkeypatch.delitem(sys.modules, "numba", raising=False)  # each thread has a batch
    n, n_documents = 100_000, 90
    monkeypatch.setattr("spokeshave.model.model.N_SCORES", n)
    given = TextInput(["ash", "oak"], "binary", None, True, None)
    weights = np.array([1, 2], np.float32)
    scorer = SparseScorer(np.arange(3), np.array([7, n - 1]), weights, np.zeros(n), unit=False)
    model = Model(np.arange(n), False, given, scorer, np.zeros(n), None)
    tracemalloc.start()
    predicted = model.predict(["ash", "oak", "elm"] * (n_documents // 3))
    assert tracemalloc.get_traced_memory()[1] < 8 * n * n_documents / 4
    tracemalloc.stop()
    assert predicted.tolist() == [7, n - 1, 0] * (n_documents // 3)


def test_texts_may_come_one_by_one():
    model = MODELS["labels"]
    np.testing.assert_array_equal(model.predict(iter(TEXTS)), model.predict(TEXTS))


def test_vectors_may_be_sparse():
    model = MODELS["vectors"]
    X = make_documents(model)
    np.testing.assert_array_equal(
        model.decision_function(sparse.csr_matrix(X)), model.decision_function(X)
    )


@EVERY_CALIBRATED_MODEL
def test_probabilities_are_platts(name):
    model = MODELS[name]
    scores = model.decision_function(make_documents(model))
    slope, offset = model.calibration_
    expected = 1 / (1 + np.exp(-(slope * scores.reshape(len(scores), -1) + offset)))
    if model.is_binary_:
        expected = np.hstack([1 - expected, expected])
    elif not model.multilabel_:
        expected /= expected.sum(axis=1, keepdims=True)
    found = model.predict_proba(make_documents(model))
    np.testing.assert_allclose(found, expected)
    assert model.multilabel_ or found.sum(axis=1) == pytest.approx(1)


@EVERY_CALIBRATED_MODEL
def test_a_score_far_off_has_a_probability_of_zero_or_one(name):
    model = MODELS[name]
    n_scores = len(model.scorer.intercept)
    scores = np.array([1e6, -1e6])[:, None] * np.sign(model.calibration_[0])
    scores[1, 0] *= -1  # a class has to be left
    found = calibrate(model, scores[:, 0] if model.is_binary_ else scores)
    assert np.isfinite(found).all()
    assert found.shape == (2, len(model.classes_))
    assert found[0].max() == pytest.approx(1 if model.multilabel_ or n_scores == 1 else 1 / 3)


def test_probabilities_that_were_not_saved_get_a_sentence():
    with pytest.raises(
        ValueError, match="saved without probabilities: train it with probability=T"
    ):
        MODELS["two classes"].predict_proba(TEXTS)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_probabilities_sum_to_one_even_where_every_class_is_unlikely():
    model = MODELS["labels"]
    found = calibrate(model, -1e4 * np.sign(model.calibration_[0])[None])
    np.testing.assert_allclose(found.sum(axis=1), 1)


@EVERY_MODEL
def test_contributions_and_the_intercept_are_the_score(model):
    documents = make_documents(model)
    scores = score_all(model, documents)
    for document, expected in zip(documents, scores, strict=True):
        for k, label in enumerate(model.classes_.tolist()):
            found = model.explain(document, label, n_words=99)
            assert found.label == label
            assert found.score == pytest.approx(expected[k])
            total = found.intercept + sum(word.weight for word in found.words)
            assert total == pytest.approx(found.score)
            assert found.n_words == len(found.words)


@EVERY_MODEL
def test_the_class_of_the_highest_score_is_explained(model):
    documents = make_documents(model)
    for document, expected in zip(documents, score_all(model, documents), strict=True):
        found = model.explain(document)
        assert found.score == pytest.approx(expected.max())
        assert found.label == model.classes_[expected.argmax()]
        assert type(found.label) is type(model.classes_.tolist()[0])


def test_what_speaks_for_one_of_two_classes_speaks_against_the_other():
    model = MODELS["two classes"]
    one, two = (model.explain(TEXTS[1], label) for label in ("ash", "oak"))
    assert one.score == -two.score
    assert one.intercept == -two.intercept
    assert one.words == [Contribution(name, -weight) for name, weight in two.words]
    assert model.explain(TEXTS[1]) == (one if one.score > 0 else two)


@pytest.mark.parametrize("score", [0.0, -1.0, 1.0])
def test_a_score_of_zero_is_explained_as_it_is_predicted(score):
    model = MODELS["two classes"]
    scorer = replace(model.scorer, intercept=np.array([score]))
    model = replace(model, scorer=scorer)
    assert model.explain("").label == model.predict([""])[0] == ("oak" if score > 0 else "ash")


def test_the_strongest_words_come_first():
    model = MODELS["labels"]
    found = model.explain("acorn ash bark größe lobed oak", "ash")
    sizes = [abs(word.weight) for word in found.words]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) > 2
    few = model.explain("acorn ash bark größe lobed oak", "ash", n_words=2)
    assert few.words == found.words[:2]
    assert few.n_words == found.n_words == len(found.words)
    assert few.score == found.score


def test_words_that_a_class_does_not_look_at_are_not_listed():
    model = MODELS["labels"]
    features, _ = model.scorer.list_weights(0)
    assert len(features) < len(model.feature_names_)
    found = model.explain(" ".join(model.feature_names_), "ash", n_words=99)
    assert {word.name for word in found.words} == {model.feature_names_[j] for j in features}


@pytest.mark.parametrize("text", ["", "nothing that is known", "<b>"])
def test_a_text_without_known_words_is_explained_by_the_intercept(text):
    model = MODELS["labels"]
    found = model.explain(text, "oak")
    assert found == Explanation(
        "oak", model.scorer.intercept[1], model.scorer.intercept[1], words=[], n_words=0
    )
    assert str(found) == f"oak ({found.score:+.3f}): no word that the model knows"


def test_an_explanation_reads_as_a_line():
    words = [Contribution("acorn", 1.25), Contribution("ash", -0.5)]
    found = Explanation("oak", 0.5, -0.25, words, n_words=2)
    assert str(found) == "oak (+0.500): acorn +1.250, ash -0.500"


def test_a_vector_is_explained_by_the_names_of_its_columns():
    model = MODELS["vectors"]
    X = make_documents(model)
    found = model.explain(X[0], n_words=99)
    assert {word.name for word in found.words} <= set(model.feature_names_)
    assert model.explain(X[:1]) == model.explain(sparse.csr_matrix(X[:1])) == found


def test_a_value_that_is_missing_is_explained_too():
    model = MODELS["shaped vectors"]
    X = make_documents(model)
    assert np.isnan(X[2]).all()
    assert np.isfinite(model.explain(X[2]).score)
    assert len(model.explain(X[2]).words) > 2


@pytest.mark.parametrize(
    ("name", "label", "sentence"),
    [
        (
            "labels",
            "elm",
            "label must be a class of the model: 'ash', 'oak', 'yew'. Got 'elm' inst",
        ),
        ("vectors", "3", "label must be a class of the model: 3, 1, 2. Got '3' instead"),
        ("truth values", "True", "label must be a class of the model: False, True. Got 'True' i"),
    ],
)
def test_a_label_that_is_not_there_gets_a_sentence(name, label, sentence):
    model = MODELS[name]
    with pytest.raises(ValueError, match=sentence):
        model.explain(make_documents(model)[0], label)


@pytest.mark.parametrize(
    ("name", "document", "sentence"),
    [
        ("labels", 3, "documents must be strings. Got int at position 0 instead"),
        ("vectors", np.zeros(4), r"rows of 9 features. Got an array of shape \(1, 4\) instead"),
    ],
)
def test_a_document_of_another_kind_gets_a_sentence(name, document, sentence):
    with pytest.raises(ValueError, match=sentence):
        MODELS[name].explain(document)


def test_what_a_model_knows_has_names():
    assert MODELS["vectors"].feature_names_ == ("height", "girth", "leaves", "age", "rings")
    assert MODELS["no words"].feature_names_ == ()
