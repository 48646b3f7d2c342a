"""``spokeshave rank``: a table of all classes, lines for machines, and other formats."""

from __future__ import annotations

import gzip
import json
import lzma

import pytest

OWN = {"ash": "winged", "oak": "acorn", "yew": "berry"}  # a word that tells each of them


@pytest.fixture(scope="module")
def runs(call, trees, tmp_path_factory):
    """Return the results of commands on tsv without a header, csv and standard input."""
    folder = tmp_path_factory.mktemp("sources")
    content = trees.path.read_bytes()
    rows = zip(trees.kinds, trees.texts, strict=True)
    tsv = "\n".join(f"{kind}\t{text}" for kind, text in rows)
    (folder / "trees.tsv.xz").write_bytes(lzma.compress(tsv.encode()))
    bad = content + b"240,ash\n241,oak,acorn,acorn\n"
    (folder / "trees.csv.gz").write_bytes(gzip.compress(bad))
    long = content + b"240,ash," + b"winged " * 1_500_000
    one = ("--skip-bad-rows", "--class", "oak", "--top", "2")
    commands = {
        "all": ("trees.tsv.xz", "--text", "1", "--label", "0", "--by", "odds_ratio", "--top", "6"),
        "one": ("trees.csv.gz", *trees.columns, *one),
        "long": ("-", *trees.columns, "--json", "--by", "information_gain", "--top", "6"),
    }
    return {
        name: call("rank", *command, folder=folder, stdin=long if name == "long" else b"")
        for name, command in commands.items()
    }


def test_a_row_for_each_class(runs):
    done = runs["all"]
    assert (done.code, done.err) == (0, "note: trees.tsv.xz: there is no header\n")
    head, *rows = [line.split() for line in done.out.splitlines()]
    assert head == ["class", "strongest", "words", "by", "odds_ratio"]
    assert [row[0] for row in rows] == ["ash", "oak", "yew"]
    assert [len(row) for row in rows] == [7, 7, 7]
    assert all(OWN[row[0]] in row[1:] for row in rows)


def test_one_class_and_bad_rows_that_are_left_out_and_counted(runs):
    done = runs["one"]
    assert done.code == 0
    assert done.err.startswith("note: 2 malformed rows were left out of trees.csv.gz: the ")
    assert done.err.count("\n") == 1
    head, *rows = [line.split() for line in done.out.splitlines()]
    assert head == ["word", "normal"]
    assert [len(row) for row in rows] == [2, 2]


def test_lines_for_machines_of_a_row_of_ten_megabytes_and_others(runs):
    done = runs["long"]
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [line["rank"] for line in lines] == [1, 2, 3, 4, 5, 6] * 3
    assert {line["by"] for line in lines} == {"information_gain"}
    for kind, word in OWN.items():
        assert word in {line["feature"] for line in lines if line["class"] == kind}


def test_a_class_that_is_not_there_is_refused(call, trees):
    done = call("rank", trees.path, *trees.columns, "--by", "random", "--class", "elm", "--quiet")
    assert (done.code, done.out) == (2, "")
    assert "--class must be one of 'ash', 'oak', 'yew'. Got 'elm' instead." in done.err
