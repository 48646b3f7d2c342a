"""README and docs cannot drift: their snippets run, and commands, options and names are all there.

Run as a script, this file runs the Python snippets of all pages and prints what fails as JSON.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import traceback
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND_LINE = ROOT / "docs" / "command_line.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--[A-Za-z][\w-]*")
DOTTED = re.compile(r"\bspokeshave(?:\.[a-zA-Z_]\w*)+")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
OF_THE_PARSER = {"--help", "--install-completion", "--show-completion", "--version"}
ids = {"ids": lambda value: getattr(value, "name", str(value))}


def list_blocks(page, language):
    """Return the code blocks of a page in a language, each with its line."""
    text = page.read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, found.start()) + 2, found[2])
        for found in BLOCK.finditer(text)
        if found[1] == language
    ]


# Python.


def write_tickets(folder):
    """Write made-up tickets in every format that a snippet reads."""
    import polars

    rows = [
        {
            "body": f"the {own} is {state} again since the update {number % 5}",
            "queue": queue,
        }
        for number in range(20)
        for queue, own, state in (
            ("hardware", "screen", "black"),
            ("hardware", "keyboard", "broken"),
            ("billing", "invoice", "wrong"),
        )
    ]
    table = polars.DataFrame(rows)
    table.write_csv(folder / "tickets.csv")
    for name in ("tickets", "tickets-1", "tickets-2"):
        table.write_ndjson(folder / f"{name}.jsonl")
    (folder / "tickets").mkdir()
    table.write_parquet(folder / "tickets" / "part-0.parquet")
    return table


def make_data(folder):
    """Return the made-up data that snippets may use without defining it."""
    import numpy as np
    import pandas as pd
    from scipy import sparse
    from sklearn.pipeline import make_pipeline

    from spokeshave import DocumentVectorizer, DualLinearSVC

    tickets = write_tickets(folder)
    rng = np.random.default_rng(0)
    labels = np.arange(120) % 3
    rates = rng.uniform(0.1, 2, size=(3, 30))
    counts = sparse.csr_matrix(rng.poisson(rates[labels]).astype(float))
    label = np.arange(60) % 2
    values = rng.normal(size=(60, 2)) + 2 * label[:, None]
    pipeline = make_pipeline(DocumentVectorizer(), DualLinearSVC(probability=True))
    return {
        "X": counts,
        "y": labels,
        "X_test": counts[:40],
        "y_test": labels[:40],
        "counts": counts,
        "labels": labels,
        "table": pd.DataFrame(values, columns=["age", "petal width"]),
        "label": label,
        "pipeline": pipeline.fit(tickets["body"].to_list(), tickets["queue"].to_list()),
    }


def start_no_cluster():
    """Let a client that connects to any address have workers in this process instead."""
    import distributed

    class Client(distributed.Client):
        def __init__(self, address, security=None):
            quiet = {"dashboard_address": None, "processes": False}
            super().__init__(n_workers=1, threads_per_worker=1, **quiet)

    distributed.Client = Client


def run_pages(folder):
    """Run the snippets of each page in one namespace, and return what fails on each."""
    import matplotlib

    matplotlib.use("Agg")
    start_no_cluster()
    data, failures = make_data(folder), {}
    for page in PAGES:
        namespace = dict(data)
        try:
            for line, snippet in list_blocks(page, "python"):
                code = "\n" * (line - 1) + snippet  # for the lines of a traceback
                exec(compile(code, str(page), "exec"), namespace)
        except Exception:
            failures[page.name] = traceback.format_exc()
    return failures


@pytest.fixture(scope="module")
def failures(tmp_path_factory):
    """Run all snippets in a fresh process, whose memory and settings are its own."""
    folder = tmp_path_factory.mktemp("docs")
    done = subprocess.run(
        [sys.executable, __file__], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("page", PAGES, **ids)
def test_python_snippets_run(failures, page):
    assert page.name not in failures, failures[page.name]


# Names.


def test_every_public_name_is_documented():
    import spokeshave

    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`+[^`]+`+", text))))
    assert set(spokeshave.__all__) <= words


@pytest.mark.parametrize("page", PAGES, **ids)
def test_every_dotted_name_exists(page):
    for name in DOTTED.findall(page.read_text(encoding="utf-8")):
        module, _, attribute = name.rpartition(".")
        found = import_module(module)
        assert hasattr(found, attribute) or import_module(name), name


@pytest.mark.parametrize("page", PAGES, **ids)
def test_every_file_that_is_linked_exists(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link


# Commands.


@pytest.fixture(scope="module")
def commands():
    """Return the commands of the command line by their names."""
    from typer.main import get_command

    from spokeshave.cli import VERBS, make_app

    found = get_command(make_app([])).commands
    assert list(found) == list(VERBS)
    return found


def list_options(command):
    return {name for option in command.params for name in option.opts if name.startswith("--")}


def test_every_command_and_option_is_documented(commands):
    text = COMMAND_LINE.read_text(encoding="utf-8")
    documented = set(OPTION.findall(text))
    for verb, command in commands.items():
        assert f"| `{verb}` |" in text
        assert list_options(command) <= documented


def test_every_documented_command_and_option_exists(commands):
    text = COMMAND_LINE.read_text(encoding="utf-8")
    known = OF_THE_PARSER.union(*map(list_options, commands.values()))
    assert set(OPTION.findall(text)) <= known
    listed = text.partition("| command |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", listed, re.MULTILINE) == list(commands)


def list_shell_commands(page):
    """Yield the arguments of every spokeshave command in the shell snippets of a page."""
    for _, block in list_blocks(page, "sh"):
        for line in block.splitlines():
            lexer = shlex.shlex(line, posix=True, punctuation_chars="|>")
            lexer.whitespace_split = True
            words = list(lexer)
            while "spokeshave" in words:
                words = words[words.index("spokeshave") + 1 :]
                ends = [words.index(sign) for sign in ("|", ">") if sign in words]
                yield words[: min(ends, default=len(words))]


@pytest.mark.parametrize("page", PAGES, **ids)
def test_shell_snippets_parse(commands, page):
    for verb, *arguments in list_shell_commands(page):
        assert verb in commands, verb
        commands[verb].make_context(verb, list(arguments))  # raises for what it does not know


if __name__ == "__main__":
    real = os.dup(1)
    os.dup2(2, 1)  # what snippets print is not the result
    found = run_pages(Path.cwd())
    os.write(real, json.dumps(found).encode())
