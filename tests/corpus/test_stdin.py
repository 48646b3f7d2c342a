"""Standard input becomes a file with a telling name, and errors never name that file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile
from types import SimpleNamespace

import pytest

from spokeshave.corpus import load_texts
from spokeshave.corpus.stdin import spool, spool_pipe, spool_standard_input
from spokeshave.errors import CorpusError

CONTENTS = {
    ".csv": "text,label\nblack,display\n",
    ".tsv": "text\tlabel\nblack\tdisplay\n",
    ".jsonl": '{"text": "black", "label": "display"}\n',
    ".svm": "wheat,corn 1:0.5 3:2\n",
    ".arff": "@relation x\n@attribute a numeric\n@data\n1\n",
    ".sgm": '<REUTERS NEWID="1"></REUTERS>\n',
}
COMPRESSIONS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def to_zip(content, name="x"):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, content)
    return stream.getvalue()


def to_tar(name="a/1", content=b"one"):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Give temporary files a folder of their own, and see that none is left in it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def pipe(monkeypatch):
    """Return a function that puts a content on standard input."""

    def put(content, is_terminal=False):
        buffer = content if hasattr(content, "read") else io.BytesIO(content)
        stream = SimpleNamespace(buffer=buffer, isatty=lambda: is_terminal)
        monkeypatch.setattr(sys, "stdin", stream)

    return put


def read_nothing():
    with spool_standard_input():
        pytest.fail("there is something to read")


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize(("end", "content"), CONTENTS.items())
def test_name_tells_format_and_compression(pipe, temporary, end, content, compression):
    content = COMPRESSIONS[compression](content.encode())
    pipe(content)
    with spool_standard_input() as path:
        assert path.name == f"input{end}{compression}"
        assert path.is_relative_to(temporary)
        assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("content", "format", "name"),
    [
        (b"one,two", "tsv", "input.tsv"),
        (b"one,two", "svmlight", "input.svm"),
        (gzip.compress(b"one,two"), "arff", "input.arff.gz"),
        (to_zip("one,two"), None, "input.zip"),
        (to_zip("one,two"), "folders", "input.zip"),
        (to_zip("one,two"), "csv", "input.csv.zip"),
        (to_tar(), None, "input.tar"),
        (gzip.compress(to_tar()), "folders", "input.tar.gz"),
        (gzip.compress(to_tar()), "reuters", "input.tar.gz"),
    ],
)
def test_format_may_be_given(pipe, content, format, name):
    pipe(content)
    with spool_standard_input(format) as path:
        assert path.name == name


def test_readers_take_it(pipe):
    pipe(bz2.compress(CONTENTS[".csv"].encode()))
    with spool_standard_input() as path:
        assert load_texts(path).labels == ["display"]


def test_errors_name_standard_input(pipe):
    pipe(b"text,label\nblack\n")
    with pytest.raises(CorpusError) as error, spool_standard_input() as path:
        load_texts(path)
    assert str(error.value).startswith("standard input, line 2: the number of fields is 1 here")
    assert (error.value.path, error.value.line) == ("standard input", 2)


def test_errors_name_files_in_standard_input(pipe):
    pipe(to_tar())
    with pytest.raises(CorpusError) as error, spool_standard_input() as path:
        raise CorpusError(path / "a" / "1", "not as it should be", line=3)
    assert str(error.value) == "standard input, a/1, line 3: not as it should be"


def test_the_file_is_not_named_in_the_problem_either(pipe):
    pipe(b"PAR1")
    with pytest.raises(CorpusError) as error, spool_standard_input() as path:
        raise CorpusError(path, f"{path} is no parquet")
    assert str(error.value) == "standard input: standard input is no parquet"


def test_other_errors_pass(pipe):
    pipe(b"text")
    with pytest.raises(CorpusError, match=r"^other\.csv: empty"), spool_standard_input():
        raise CorpusError("other.csv", "empty")
    pipe(b"text")
    with pytest.raises(KeyboardInterrupt), spool_standard_input():
        raise KeyboardInterrupt


def test_content_that_tells_nothing(pipe):
    pipe(b"\x89PNG\0\0")
    with pytest.raises(CorpusError, match=r"^standard input: this is not text"):
        read_nothing()
    pipe(gzip.compress(b"text,label\n" * 99)[:-9])
    with pytest.raises(CorpusError, match=r"^standard input: the compressed file is cut short"):
        read_nothing()


ADVICE = "pipe a file into it or name a file"


def test_terminal(pipe):
    pipe(b"", is_terminal=True)
    with pytest.raises(ValueError, match=rf"^standard input is a terminal; {ADVICE}$"):
        read_nothing()


def test_nothing(pipe):
    pipe(b"")
    with pytest.raises(ValueError, match=rf"^standard input is empty; {ADVICE}$"):
        read_nothing()


def test_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match=rf"^standard input is closed; {ADVICE}$"):
        read_nothing()


class BrokenStream(io.RawIOBase):
    def __init__(self, error):
        self.error = error

    def read(self, size=-1):
        raise self.error


def test_stream_that_breaks(pipe):
    pipe(BrokenStream(OSError(5, "Input/output error")))
    with pytest.raises(CorpusError) as error:
        read_nothing()
    assert error.value.problem == "it cannot be copied to a temporary file (Input/output error)"


def test_interruption_leaves_no_file(pipe):
    pipe(BrokenStream(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        read_nothing()


def test_other_streams_have_their_own_name():
    with pytest.raises(ValueError, match=r"^a pipe is empty; "), spool(io.BytesIO(), "a pipe"):
        pass


@pytest.mark.parametrize("format", [None, "csv"])
def test_named_pipe(tmp_path, format):
    pipe, content = tmp_path / "pipe", gzip.compress(CONTENTS[".csv"].encode())
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    with spool_pipe(pipe, format) as path:
        assert (path.name, path.read_bytes()) == ("input.csv.gz", content)
    writer.join()


def test_real_standard_input(tmp_path):
    code = (
        "from spokeshave.corpus import load_source\n"
        "source = load_source('-')\n"
        "print(source.name, source.format, len(source.documents))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=gzip.compress(CONTENTS[".csv"].encode()),
        capture_output=True,
        check=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert done.stdout.split() == [b"standard", b"input", b"csv", b"1"]
