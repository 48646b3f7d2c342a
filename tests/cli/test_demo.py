"""``spokeshave demo``: the whole job on the text that is there."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from spokeshave.jobs.record import read_record


@pytest.fixture(scope="module")
def demo(call, tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    done = call("demo", "--out", "trial", folder=folder, has_report=False)
    assert done.code == 0, done.err
    return SimpleNamespace(done=done, folder=folder)


@pytest.fixture(scope="module")
def record(demo):
    return read_record(demo.folder / "trial.run.json")


def test_it_shaves_much_and_loses_little(demo, record):
    assert sorted(os.listdir(demo.folder)) == ["trial.model", "trial.run.json"]
    assert record.headline in demo.done.out.splitlines()
    assert record.data.n_documents > 2000
    assert len(record.classes) >= 10
    full, shaved = record.full_model, record.model
    assert full.judgement.macro_f1 > 0.6
    assert shaved.judgement.macro_f1 == pytest.approx(full.judgement.macro_f1, abs=0.03)
    assert shaved.n_features < full.n_features <= record.data.n_features
    assert shaved.n_weights < 0.5 * full.n_weights
    assert record.stability is not None


def test_it_says_how_well_it_does_and_on_which_words(demo, record):
    judged = record.model.judgement
    assert f"tested on {judged.n_documents:,} documents: held-out documents" in demo.done.out
    cells = [line.split() for line in demo.done.out.splitlines()]
    for model in (record.model, record.full_model):
        found = model.judgement
        values = (f"{value:.3f}" for value in (found.accuracy, found.macro_f1, found.micro_f1))
        numbers = [*values, f"{model.n_features:,}", f"{model.n_weights:,}"]
        assert [*model.made_by.split(), *numbers] in cells
    words = next(words for words in record.words if words.name == "logging")
    assert "logger" in [word.name for word in words.positive[:5]]
