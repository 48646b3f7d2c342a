"""Errors: the library names parameters, the command line names options, in one sentence."""

from __future__ import annotations

import ast
import pickle
import re
from pathlib import Path

import pytest
from typer.main import get_command

import spokeshave
from spokeshave.cli import OPTIONS, VERBS, describe_error, make_app
from spokeshave.errors import CorpusError, EncodingError, NoDocumentsError, ParameterError

SOURCES = Path(spokeshave.__file__).parent
OPTION = re.compile(r"(?<![\w(-])--[a-z]")  # but not var(--ink) of a style


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ParameterError("hold_out", "must be below 1."), "--hold-out must be below 1."),
        (ParameterError("address", "must be local:2."), "--cluster must be local:2."),
        (CorpusError("x.csv", "there is no header"), "x.csv: there is no header"),
        (
            CorpusError("x.csv", "say which is the text", None, ["text", "label"]),
            "x.csv: say which is the text; pass --text and --label",
        ),
        (
            EncodingError("x.csv", "it is not utf-8", 3, ["encoding"]),
            "x.csv, line 3: it is not utf-8; pass --encoding",
        ),
        (
            CorpusError("x.csv", "the label is missing", 3, ["bad_rows"]),
            "x.csv, line 3: the label is missing; pass --skip-bad-rows to leave out such rows",
        ),
        (ValueError("format must be csv."), "format must be csv."),
        (FileNotFoundError(2, "No such file", "x"), "x: No such file"),
        (OSError(28, "No space left"), "No space left"),
    ],
)
def test_the_sentence_of_an_error(error, sentence):
    assert describe_error(error) == sentence


@pytest.mark.parametrize(
    "error",
    [
        ParameterError("hold_out", "must be below 1."),
        NoDocumentsError("x.csv", "it has no documents", 1, ["format"]),
    ],
)
def test_errors_travel_between_processes(error):
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is type(error)
    assert vars(found) == vars(error)
    assert str(found) == str(error)


def test_every_option_with_another_name_exists():
    commands = get_command(make_app([])).commands
    options = {name for verb in VERBS for param in commands[verb].params for name in param.opts}
    named = [re.findall("--[a-z-]+", value) for value in OPTIONS.values()]
    assert all(named)
    assert set().union(*named) <= options


@pytest.mark.parametrize("path", sorted(SOURCES.rglob("*.py")), ids=lambda p: p.stem)
def test_the_library_names_no_option(path):
    if "cli" in path.relative_to(SOURCES).parts:
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not OPTION.search(node.value), node.value
