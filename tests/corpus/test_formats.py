"""Formats, told by names and by what files, folders and archives hold."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import polars
import pytest

from spokeshave.corpus.formats import guess_format, name_format
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
        "from spokeshave.corpus.formats import guess_format\n"
        "assert guess_format('x.csv.gz') == 'csv'\n"
        "print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"csv", "json", "gzip", "bz2", "lzma", "zipfile", "tarfile", "tempfile", "dataclasses"}
    assert not heavy & set(done.stdout.split())
