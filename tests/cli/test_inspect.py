"""``spokeshave inspect``: what is in a model, and why it decides as it does."""

from __future__ import annotations

import json

import pytest
from sklearn.pipeline import make_pipeline

from spokeshave import DocumentVectorizer, DualLinearSVC, load_model, save_model

TEXT = "An old mighty oak, an acorn, a lobed leaf, and a winged seed"


@pytest.fixture(scope="module")
def model(fitted):
    return load_model(fitted.model)


def test_what_a_model_knows(call, fitted, model):
    done = call("inspect", "trees.model", "--top", "3", folder=fitted.folder)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    n_words, n_weights = len(model.feature_names_), model.scorer.n_weights
    assert lines[0].startswith("trees.model: ")
    assert lines[0].endswith(f", 3 classes, {n_words} words, {n_weights} weights")
    assert lines[1] == f"reads text, {model.input.weighting}; with probabilities"
    assert "source: trees.csv" in lines
    assert [line.split()[0] for line in lines[-3:]] == ["ash", "oak", "yew"]
    for line in lines[-4:]:
        assert "  " in line


def test_json_has_the_weights(call, fitted, model):
    done = call("inspect", fitted.model, "--json", "--top", "2", "--class", "oak")
    found = json.loads(done.out)
    assert found["classes"] == ["ash", "oak", "yew"]
    assert found["n_bytes"] == fitted.model.stat().st_size
    assert found["provenance"] == model.provenance
    features, weights = model.scorer.list_weights(1)
    named = {model.feature_names_[j]: w for j, w in zip(features, weights, strict=True)}
    assert set(found["strongest"]) == {"oak"}
    for side, sign in (("for", 1), ("against", -1)):
        expected = sorted(named, key=lambda word: -sign * named[word])[:2]
        assert [each["word"] for each in found["strongest"]["oak"][side]] == expected
        assert [each["weight"] for each in found["strongest"]["oak"][side]] == [
            pytest.approx(named[word]) for word in expected
        ]


def test_why_a_text_is_what_it_is(call, fitted, model):
    found = model.explain(TEXT)
    assert found.label == "oak"
    done = call("inspect", fitted.model, "--explain", TEXT, "--top", "2")
    lines = [line.split() for line in done.out.splitlines()]
    assert lines[0] == ["oak:", f"{found.score:+.3f}"]
    assert lines[2:4] == [[word.name, f"{word.weight:+.3f}"] for word in found.words[:2]]
    assert lines[-1] == ["intercept", f"{found.intercept:+.3f}"]
    adds = [float(line[-1]) for line in lines[2:]]
    assert sum(adds) == pytest.approx(found.score, abs=0.003)


def test_why_a_text_is_not_something_else(call, fitted, model):
    expected = model.explain(TEXT, "ash")
    done = call("inspect", fitted.model, "--explain", TEXT, "--class", "ash", "--json")
    found = json.loads(done.out)
    assert (found["label"], found["score"]) == ("ash", expected.score)
    assert [(word["word"], word["weight"]) for word in found["words"]] == expected.words


def test_models_of_several_labels_and_of_vectors(call, fitted_tagged, fitted_vectors):
    done = call("inspect", fitted_tagged.model)
    assert ", 3 classes, several for a document, " in done.out.splitlines()[0]
    done = call("inspect", fitted_vectors.model)
    assert done.out.splitlines()[1] == "reads vectors, 29; with probabilities"
    assert "strongest features for it" in done.out


def test_terms_with_spaces_are_told_apart(call, tmp_path):
    texts = ["an oak", "the oak tree", "an ash", "the ash tree"]
    kinds = ["oak", "oak", "ash", "ash"]
    vectorizer = DocumentVectorizer(analyzer="word+char_wb")
    save_model(make_pipeline(vectorizer, DualLinearSVC()).fit(texts, kinds), tmp_path / "m.model")
    n_terms = vectorizer.get_feature_names_out().size
    done = call("inspect", tmp_path / "m.model", "--top", "40")
    assert f" {n_terms:,} terms, " in done.out.replace("\n", " ")
    assert "strongest terms for it" in done.out
    assert '"*ak "' in done.out
    done = call("inspect", tmp_path / "m.model", "--explain", "an oak", "--top", "3")
    lines = done.out.splitlines()
    assert lines[1].split() == ["term", "adds"]
    assert " more terms " in lines[-2]
