"""``spokeshave report``: the page that fit made, made again, and what is no record."""

from __future__ import annotations

import os

import pytest


def test_the_page_is_the_one_that_fit_made(call, fitted, tmp_path):
    done = call("report", fitted.record, folder=tmp_path)
    assert (done.code, done.out, done.err) == (0, "trees.html\n", "")
    assert os.listdir(tmp_path) == ["trees.html"]
    assert (tmp_path / "trees.html").read_bytes() == fitted.page.read_bytes()


@pytest.fixture(scope="module")
def bad(call, fitted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    record = fitted.record.read_text()
    (folder / "newer.run.json").write_text(record.replace('"version":1', '"version":9'))
    (folder / "cut.run.json").write_text(record[:99])
    (folder / "other.json").write_text("{}")
    commands = {
        "newer": ("newer.run.json",),
        "cut": ("cut.run.json",),
        "other": ("other.json",),
        "model": (fitted.model,),
        "missing": ("missing.run.json",),
        "folder": (".",),
        "no folder": (fitted.record, "--out", "nowhere/x.html"),
        "to a folder": (fitted.record, "--out", "."),
        "charts": (fitted.record,),
    }
    before = sorted(os.listdir(folder))
    found = {
        name: call("report", *command, folder=folder, has_report=name != "charts")
        for name, command in commands.items()
    }
    assert sorted(os.listdir(folder)) == before
    return found


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("newer", "the run record is of version 9, newer than this Spokeshave, "),
        ("cut", "this is not a run record, which is a JSON file"),
        ("other", "this is not a run record; spokeshave fit writes one"),
        ("model", "this is not a run record, which is a JSON file"),
        ("missing", "missing.run.json: there is no such file"),
        ("folder", "this is a folder; name a run record in it"),
        ("no folder", "nowhere/x.html: it cannot be written (No such file or directory)"),
        ("to a folder", "this is a folder; name a file to write"),
        ("charts", "A report needs altair and vl-convert-python: pip install "),
    ],
)
def test_what_cannot_be_shown_is_refused_in_one_sentence(bad, name, sentence):
    done = bad[name]
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("spokeshave: ")
    assert len(done.err.splitlines()) == 1
    assert sentence in done.err
