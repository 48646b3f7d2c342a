"""The page on the command line names every command and every option, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command

from spokeshave.cli import VERBS, make_app

PAGE = Path(__file__).parents[2] / "docs" / "command_line.md"
OPTION = re.compile(r"(?<![\w-])--[A-Za-z][\w-]*")
OF_THE_PARSER = {"--help", "--install-completion", "--show-completion"}


def list_options(verb):
    command = get_command(make_app([])).commands[verb]
    return {name for option in command.params for name in option.opts if name.startswith("--")}


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_and_option_is_told_of(verb):
    page = PAGE.read_text(encoding="utf-8")
    assert f"| `{verb}` |" in page
    assert list_options(verb) <= set(OPTION.findall(page))


def test_no_other_option_is():
    known = set().union(*map(list_options, VERBS)) | OF_THE_PARSER
    assert set(OPTION.findall(PAGE.read_text(encoding="utf-8"))) <= known
