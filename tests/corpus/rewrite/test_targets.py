"""Where tables are written to."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from threading import Thread

import pytest

from spokeshave.corpus.rewrite.row_writer import choose_format, is_pipe, open_target


@pytest.mark.parametrize(
    ("target", "format", "source_format", "chosen"),
    [
        ("y.csv", None, "jsonl", "csv"),
        ("y.csv", "tsv", "jsonl", "tsv"),
        ("y.TAB.gz", None, "csv", "tsv"),
        ("y.ndjson.xz", None, "csv", "jsonl"),
        ("y.pq", None, "csv", "parquet"),
        ("y.out", None, "parquet", "parquet"),
        ("y.txt", None, "text", "csv"),
        ("-", None, "jsonl", "jsonl"),
        (None, None, "text", "csv"),
        (None, "parquet", "text", "parquet"),
    ],
)
def test_format(target, format, source_format, chosen):
    assert choose_format(target, format, source_format) == chosen


def test_unknown_format():
    with pytest.raises(ValueError, match=r"^format must be one of 'csv', .*\. Got 'text' instead"):
        choose_format("y.csv", "text", "csv")
    with pytest.raises(ValueError, match=r"^y\.arff: arff cannot be written; let the name end in"):
        choose_format("y.arff", None, "csv")


@pytest.mark.parametrize(
    ("name", "format", "problem"),
    [
        ("y.csv.zip", "csv", r"a zip cannot be written; let the name end in \.gz, \.bz2 or \.xz$"),
        ("y.parquet.gz", "parquet", r"compressed by itself; take the \.gz off the name$"),
        (".", "csv", r"this is a folder; name a file to write$"),
        ("missing/y.csv", "csv", r"it cannot be written \(No such file or directory\)$"),
    ],
)
def test_targets_that_cannot_be_written(tmp_path, name, format, problem):
    with pytest.raises(ValueError, match=problem), open_target(tmp_path / name, format):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "y.csv")
    for content in (b"first", b"second"):
        with open_target(tmp_path / "link.csv", "csv") as output:
            output.write(content)
        assert (tmp_path / "link.csv").is_symlink()
        assert (tmp_path / "y.csv").read_bytes() == content


def test_a_device_is_not_replaced():
    with open_target("/dev/null", "csv") as output:
        output.write(b"text")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_pipe_with_a_name(tmp_path):
    pipe = tmp_path / "y.csv"
    os.mkfifo(pipe)
    read = []
    reader = Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    assert is_pipe(pipe)
    with open_target(pipe, "csv") as output:
        output.write(b"text")
    reader.join()
    assert read == [b"text"]
    assert pipe.is_fifo()
