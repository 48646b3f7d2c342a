"""Texts in ARFF files, as Weka writes them."""

from __future__ import annotations

import pytest

from spokeshave.corpus import Texts, load_source
from spokeshave.errors import CorpusError

HEADER = "@relation x\n@attribute story string\n@attribute class {corn, wheat}\n@data\n"


def write(path, rows, header=HEADER):
    path.write_text(header + rows, encoding="utf-8")
    return path


def read(path, **options):
    return load_source(path, **options).documents


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("plain", "plain"),
        ("'one, two'", "one, two"),
        ('"it\'s"', "it's"),
        (r"'it\'s'", "it's"),
        (r"'one\ntwo\tthree\r\n'", "one\ntwo\tthree\r\n"),
        (r"'back\\name'", r"back\name"),
        (r"'back\\\name'", "back\\\name"),
        (r"'5\% \"more\"'", '5% "more"'),
        ("''", ""),
        ("'{1 corn}'", "{1 corn}"),
    ],
)
def test_texts(tmp_path, cell, text):
    path = write(tmp_path / "x.arff", f"{cell},wheat\n% a comment\n\n{{0 {cell}, 1 wheat}}\n")
    assert read(path) == Texts([text, text], ["wheat", "wheat"])


def test_what_sparse_rows_leave_out(tmp_path):
    path = write(tmp_path / "x.arff", "{0 'Corn rose.'}\n{1 wheat}\n")
    assert read(path, bad_rows="skip") == Texts(["Corn rose."], ["corn"], skipped=1)
    with pytest.raises(CorpusError, match="line 6: the text 'story' is missing"):
        read(path)


def test_target(tmp_path):
    header = "@attribute kind {a, b}\n@attribute story string\n@attribute class {c, d}\n@data\n"
    path = write(tmp_path / "x.arff", "a,Corn,d\n", header)
    assert read(path) == Texts(["Corn"], ["d"])
    assert read(path, label="kind") == Texts(["Corn"], ["a"])
    with pytest.raises(CorpusError, match="there is no attribute 'topic'; the attributes are"):
        read(path, label="topic")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("Corn", "the row has 1 values for 2 attributes"),
        ("Corn,rye", "'rye' is not a declared value of the attribute 'class'"),
        ("Corn,?", "the class 'class' is missing"),
        ("?,corn", "the text 'story' is missing"),
        ("'Corn,corn", "''Corn,corn' is not quoted as ARFF asks"),
    ],
)
def test_malformed_rows(tmp_path, row, problem):
    path = write(tmp_path / "x.arff", f"Corn rose.,corn\n{row}\n'Oil',wheat\n")
    with pytest.raises(CorpusError) as error:
        read(path)
    assert error.value.line == 6
    assert error.value.problem.startswith(problem)
    assert read(path, bad_rows="skip").skipped == 1


@pytest.mark.parametrize("kind", ["numeric", "string", "date"])
def test_class_that_is_not_nominal(tmp_path, kind):
    header = f"@attribute story string\n@attribute class {kind}\n@data\n"
    with pytest.raises(
        CorpusError, match="the attribute 'story' is neither numeric nor nominal; remove it"
    ):
        read(write(tmp_path / "x.arff", "Corn,1\n", header))


def test_no_rows(tmp_path):
    with pytest.raises(CorpusError, match="there are no documents in it"):
        read(write(tmp_path / "x.arff", ""))
