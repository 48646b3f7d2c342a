"""Formats, told by names and by what files, folders and archives hold."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import polars
import pytest

from spokeshave.corpus.sniff import guess_format, name_format, sniff_compression, sniff_format
from spokeshave.errors import CorpusError


def write_zip(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("x.csv", "csv"),
        ("x.CSV.GZ", "csv"),
        ("x.tsv.bz2", "tsv"),
        ("x.tab", "tsv"),
        ("x.jsonl.xz", "jsonl"),
        ("x.ndjson", "jsonl"),
        ("x.parquet", "parquet"),
        ("x.svm.gz", "svmlight"),
        ("x.svmlight", "svmlight"),
        ("x.libsvm", "svmlight"),
        ("x.arff.zip", "arff"),
        ("x.sgm", "reuters"),
        ("x.tar", "archive"),
        ("x.tgz", "archive"),
        ("x.txt", None),
        ("x.zip", None),
        ("x", None),
    ],
)
def test_format_by_name(name, format):
    assert name_format(name) == format
    assert name_format(Path("folder.arff", name)) == format


@pytest.mark.parametrize(
    ("names", "format"),
    [
        (["x.csv"], "csv"),
        (["data/x.JSONL"], "jsonl"),
        (["x.csv", "README"], "csv"),
        (["data/README", "data/x.tsv"], "tsv"),
        (["x.csv", "y.csv"], "csv"),
        (["data/x.arff", "README", "more/y.csv"], "arff"),
        (["a/1", "b/2"], "folders"),
        (["a/1.csv", "b/2.csv"], "folders"),
        (["train/a/1", "train/b/2"], "folders"),
        (["reut2-000.sgm", "README"], "reuters"),
        (["reuters/reut2-000.sgm", "README"], "reuters"),
        (["reuters/REUT2-000.SGM", "README"], "reuters"),
        (["x.csv", ".DS_Store"], "csv"),
        (["x.tsv", "__MACOSX/._x.tsv", "data/.hidden"], "tsv"),
        ([], "folders"),
    ],
)
def test_format_of_a_zip(tmp_path, names, format):
    path = write_zip(tmp_path / "x.zip", dict.fromkeys(names, "text,label\n"))
    assert guess_format(path) == format


@pytest.mark.parametrize(
    ("file", "format"),
    [
        ("a/1", "folders"),
        ("a/2.csv", "folders"),
        ("reut2-000.sgm", "reuters"),
        ("REUT2-000.SGM", "reuters"),
    ],
)
@pytest.mark.parametrize("name", ["x.tar.gz", "x.tgz", "x", "x.gz"])
def test_format_of_a_folder_and_a_tar(tmp_path, file, format, name):
    folder = tmp_path / "folder"
    (folder / file).parent.mkdir(parents=True)
    (folder / file).write_text("text")
    assert guess_format(folder) == format
    with tarfile.open(tmp_path / name, "w:gz" if "gz" in name else "w") as archive:
        archive.add(folder, arcname=".")
    assert guess_format(tmp_path / name) == format


@pytest.mark.parametrize("name", ["x", "x.zip", "x.tar.gz"])
def test_format_of_what_is_not_there(tmp_path, name):
    with pytest.raises(CorpusError, match="there is no such file"):
        guess_format(tmp_path / name)


@pytest.mark.parametrize("name", ["x", "x.gz", "x.txt", "x.parquet.gz"])
def test_pipe_is_left_unread(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(CorpusError) as error:
        guess_format(tmp_path / name)
    assert error.value.problem == "it is a pipe; pass - and pipe it into standard input"


def test_name_of_a_pipe_may_tell_its_format(tmp_path):
    os.mkfifo(tmp_path / "x.csv.gz")
    assert guess_format(tmp_path / "x.csv.gz") == "csv"


@pytest.mark.parametrize("name", ["x.parquet.gz", "x.PQ.GZ", "x.gz", "x.parquet.zip", "x.zip"])
def test_parquet_that_is_compressed(tmp_path, name):
    polars.DataFrame({"text": ["black"]}).write_parquet(tmp_path / "x")
    content = (tmp_path / "x").read_bytes()
    if name.endswith("zip"):
        write_zip(tmp_path / name, {"y.parquet": content})
    else:
        (tmp_path / name).write_bytes(gzip.compress(content))
    with pytest.raises(CorpusError) as error:
        guess_format(tmp_path / name)
    assert error.value.problem == "it is compressed, and parquet is not to be again; unpack it"


def test_parquet_whose_name_alone_says_that_it_is_compressed(tmp_path):
    polars.DataFrame({"text": ["black"]}).write_parquet(tmp_path / "x.parquet.gz")
    assert guess_format(tmp_path / "x.parquet.gz") == "parquet"


def test_known_end_loads_nothing_to_read_with():
    code = (
        "import sys, pathlib; before = set(sys.modules)\n"
        "from spokeshave.corpus.sniff import guess_format\n"
        "assert guess_format('x.csv.gz') == 'csv'\n"
        "print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"csv", "json", "gzip", "bz2", "lzma", "zipfile", "tarfile", "tempfile", "dataclasses"}
    assert not heavy & set(done.stdout.split())


CONTENTS = {
    "csv": "text,label\nblack,display\n",
    "tsv": "text\tlabel\nblack, all black\tdisplay\n",
    "jsonl": '\n{"text": "black", "label": "display"}\n',
    "svmlight": "# made up\nGCAT,GSPO 529:0.08 2753:1e-05  # a comment\n",
    "arff": "% made up\n\n@RELATION tickets\n@attribute a numeric\n",
    "reuters": '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n<REUTERS TOPICS="YES">\n',
}


COMPRESSIONS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def write_zip_content(path, members):
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
    path = write_zip_content(tmp_path / "x.zip", {"__MACOSX/._x": "", "folder/x": content})
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
def test_pipe_is_left_unread_content(tmp_path, sniff):
    os.mkfifo(tmp_path / "x")
    with pytest.raises(CorpusError) as error:
        sniff(tmp_path / "x")
    assert error.value.problem == "it is a pipe; pass - and pipe it into standard input"
