"""Errors of files: a sentence that names the file, and that survives another process."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from spokeshave import CorpusError, ModelFileError

ERRORS = [
    (CorpusError("trees.csv", "there is no column 'bark'"), "trees.csv: there is no column 'bark'"),
    (CorpusError(Path("trees.csv"), "a quote is open", 3), "trees.csv, line 3: a quote is open"),
    (CorpusError("trees.csv", "a quote is open", line=0), "trees.csv, line 0: a quote is open"),
    (ModelFileError(Path("a", "b.model"), "it is damaged"), f"{Path('a', 'b.model')}: it is dam"),
]
EVERY_ERROR = pytest.mark.parametrize(("error", "sentence"), ERRORS)


@EVERY_ERROR
def test_an_error_names_the_file_and_the_problem(error, sentence):
    assert str(error).startswith(sentence)
    assert isinstance(error, ValueError)
    assert isinstance(error.path, str)
    assert str(error).endswith(error.problem)


@EVERY_ERROR
def test_an_error_survives_pickling(error, sentence):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)
