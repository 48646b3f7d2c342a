"""Formats and compressions, told by how contents begin."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zipfile

import polars
import pytest

from spokeshave.corpus.contents import sniff_compression, sniff_format
from spokeshave.errors import CorpusError

CONTENTS = {
    "csv": "text,label\nblack,display\n",
    "tsv": "text\tlabel\nblack, all black\tdisplay\n",
    "jsonl": '\n{"text": "black", "label": "display"}\n',
    "svmlight": "# made up\nGCAT,GSPO 529:0.08 2753:1e-05  # a comment\n",
    "arff": "% made up\n\n@RELATION tickets\n@attribute a numeric\n",
    "reuters": '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n<REUTERS TOPICS="YES">\n',
}


COMPRESSIONS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def write_zip(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("compression", ["", *COMPRESSIONS])
@pytest.mark.parametrize(("format", "content"), CONTENTS.items())
def test_format_by_content(tmp_path, format, content, compression):
    path = tmp_path / f"x{compression}"
    path.write_bytes(COMPRESSIONS.get(compression, bytes)(content.encode("utf-8-sig")))
    assert sniff_format(path) == format
    assert sniff_compression(path) == compression


@pytest.mark.parametrize(("format", "content"), CONTENTS.items())
def test_format_by_the_content_of_a_zip(tmp_path, format, content):
    path = write_zip(tmp_path / "x.zip", {"__MACOSX/._x": "", "folder/x": content})
    assert sniff_format(path) == format
    assert sniff_compression(path) == ".zip"


def test_parquet_by_content(tmp_path):
    polars.DataFrame({"text": ["black"]}).write_parquet(tmp_path / "x")
    assert sniff_format(tmp_path / "x") == "parquet"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "there are no documents in it"),
        (b"\n \n", "there are no documents in it"),
        (b"\x89PNG\0\0", "this is not text; say which format it is in, or save it as csv"),
        (b'[\n{"text": 1}', "this is a JSON list; write one JSON object on each line instead"),
        (b'[{"text": 1}]', "this is a JSON list; write one JSON object on each line instead"),
    ],
)
def test_format_that_cannot_be_told(tmp_path, content, problem):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(CorpusError) as error:
        sniff_format(tmp_path / "x")
    assert error.value.problem == problem


def test_first_line_longer_than_what_is_looked_at(tmp_path):
    pairs = " ".join(f"{index}:0.125" for index in range(1, 20_000))
    (tmp_path / "x").write_text(f"wheat {pairs}\n")
    assert sniff_format(tmp_path / "x") == "svmlight"


def test_time_of_day_is_no_svmlight(tmp_path):
    (tmp_path / "x").write_text("ham 5:30 is fine,x\n")
    assert sniff_format(tmp_path / "x") == "csv"


@pytest.mark.parametrize("sniff", [sniff_format, sniff_compression])
def test_pipe_is_left_unread(tmp_path, sniff):
    os.mkfifo(tmp_path / "x")
    with pytest.raises(CorpusError) as error:
        sniff(tmp_path / "x")
    assert error.value.problem == "it is a pipe; pass - and pipe it into standard input"
