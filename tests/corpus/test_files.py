"""Opening files, plain or compressed, and what goes wrong with them."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from spokeshave.corpus import limits
from spokeshave.corpus.encoding import decode, explain_guessed_encoding, read_decoded
from spokeshave.corpus.files import (
    Progress,
    explain_damage,
    is_hidden,
    open_binary,
    open_text,
    require_seekable,
    strip_compression,
)
from spokeshave.errors import CorpusError

CONTENT = "naïve\r\ncafé\n" * 500


def write_zip(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def write(path: Path) -> Path:
    """Write the content, compressed as the name says."""
    if path.suffix == ".zip":
        return write_zip(path, {"folder/": "", "folder/x.txt": CONTENT, "__MACOSX/x.txt": ""})
    compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    path.write_bytes(compress.get(path.suffix, bytes)(CONTENT.encode()))
    return path


def read(path: Path, encoding: str = "utf-8") -> str:
    with open_text(path, encoding) as stream:
        return stream.read()


NAMES = ["x.txt", "x.txt.gz", "x.txt.bz2", "x.txt.xz", "x.txt.zip", "x.txt.GZ"]


@pytest.mark.parametrize("name", NAMES[:-1])
def test_content_is_decompressed(tmp_path, name):
    path = write(tmp_path / name)
    assert read(path) == CONTENT
    with open_binary(str(path)) as stream:
        assert stream.read() == CONTENT.encode()


@pytest.mark.parametrize("name", NAMES[1:4])
def test_compressed_file_cut_short(tmp_path, name):
    path = write(tmp_path / name)
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(CorpusError) as error:
        read(path)
    assert str(error.value) == f"{path}: the compressed file is cut short; fetch or write it again"


@pytest.mark.parametrize("name", NAMES[1:])
def test_file_that_is_not_what_its_name_says(tmp_path, name):
    path = tmp_path / name
    path.write_text("plain text, not compressed at all")
    with pytest.raises(CorpusError, match="the file is damaged or not what its name says"):
        read(path)


def test_damage_inside_a_compressed_file(tmp_path):
    path = write(tmp_path / "x.gz")
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :] = bytes(len(content) - len(content) // 2)
    path.write_bytes(content)
    with pytest.raises(CorpusError, match="the file is damaged or not what its name says"):
        read(path)


def test_file_that_may_not_be_read():
    with pytest.raises(CorpusError, match="reading it is not permitted"), explain_damage("x.csv"):
        raise PermissionError


@pytest.mark.parametrize("name", NAMES[:-1])
def test_line_that_is_too_long(tmp_path, monkeypatch, name):
    path = write(tmp_path / name)
    monkeypatch.setattr(limits, "MAX_DOCUMENT_LENGTH", len("naïve\r".encode()))
    assert read(path) == CONTENT
    monkeypatch.setattr(limits, "MAX_DOCUMENT_LENGTH", 50_000)
    for line, end in ((1_001, "\n"), (None, "\r")):
        content = (CONTENT if end == "\n" else CONTENT.replace("\n", "")) + "x" * 99_000 + end
        with monkeypatch.context() as patch:
            patch.setitem(globals(), "CONTENT", content)
            write(path)
        with pytest.raises(CorpusError) as error:
            read(path)
        problem = "the line is longer than a document may be, 50,000 bytes"
        assert (error.value.line, error.value.problem) == (
            line,
            f"{problem}; write one document on each line",
        )


def test_line_of_gigabytes_is_not_held(tmp_path):
    path = tmp_path / "x.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for _ in range(80):
            stream.write(b"x" * 2**20)
    tracemalloc.start()
    with pytest.raises(CorpusError, match="line 1: the line is longer than a document may be"):
        read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * limits.MAX_DOCUMENT_LENGTH


def test_missing_file(tmp_path):
    with pytest.raises(CorpusError, match=r"nothing\.csv: there is no such file$"):
        read(tmp_path / "nothing.csv")


def test_folder_in_place_of_a_file(tmp_path):
    with pytest.raises(CorpusError, match=r"this is a folder; name a file in it$"):
        read(tmp_path)


@pytest.mark.parametrize("encoding", ["utf-9", "hex"])
def test_unknown_encoding(tmp_path, encoding):
    with pytest.raises(CorpusError, match=f"'{encoding}' is unknown; pass one that Python knows$"):
        read(write(tmp_path / "x.txt"), encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "utf-8-sig", "utf-16"])
def test_byte_order_mark_is_no_part_of_the_text(tmp_path, encoding):
    path = tmp_path / "x.txt"
    path.write_text("text,label", encoding="utf-16" if encoding == "utf-16" else "utf-8-sig")
    assert read(path, encoding) == "text,label"


@pytest.mark.parametrize("name", ["x.txt", "x.txt.gz"])
def test_undecodable_bytes_are_found_on_their_line(tmp_path, name):
    content = b"ok\n" * 7000 + b"caf\xe9\n" + b"ok\n" * 7000
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(CorpusError) as error:
        read(path)
    assert error.value.line == 7001
    assert error.value.problem == (
        "the text is not utf-8; pass the right one, for example encoding='latin-1'"
    )


def test_undecodable_bytes_at_the_very_end(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes("one\ncafé".encode()[:-1])
    with pytest.raises(CorpusError, match="line 2: the text is not utf-8"):
        read(path)


def test_zip_with_several_files(tmp_path):
    path = write_zip(tmp_path / "x.zip", {"a.csv": "", "b.csv": ""})
    with pytest.raises(CorpusError, match=r"it must hold one file and holds 2; unpack it$"):
        read(path)


def test_hidden_files_in_a_zip_are_not_counted(tmp_path):
    hidden = [".DS_Store", "data/.a.csv", ".git/config", "__MACOSX/._a.csv"]
    path = write_zip(tmp_path / "x.zip", {**dict.fromkeys(hidden, ""), "./data/a.csv": "content"})
    assert read(path) == "content"


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("a.csv", False),
        ("./a.csv", False),
        ("../a.csv", False),
        ("/data/a.csv", False),
        ("data/.a.csv", True),
        ("./.data/a.csv", True),
        ("__MACOSX/a.csv", True),
    ],
)
def test_hidden_files(name, hidden):
    assert is_hidden(name) == hidden


def test_pipe(tmp_path):
    os.mkfifo(tmp_path / "x")
    with pytest.raises(CorpusError, match=r"x: it is a pipe; pass - and pipe it into standard inp"):
        require_seekable(tmp_path / "x")
    (tmp_path / "y").touch()
    require_seekable(tmp_path / "y")
    require_seekable(tmp_path / "nothing")


def test_what_is_no_damage_passes():
    with pytest.raises(KeyError), explain_damage("x.csv"):
        raise KeyError("x")


def test_zip_is_searched_for_one_kind_of_file(tmp_path):
    path = write_zip(tmp_path / "x.zip", {"README": "", "a.ARFF": "content"})
    with open_text(path, "utf-8", member_suffix=".arff") as stream:
        assert stream.read() == "content"
    with (
        pytest.raises(CorpusError, match=r"it must hold one \.csv file and holds 0; unpack it$"),
        open_text(path, "utf-8", member_suffix=".csv"),
    ):
        pass


def lock(path: Path) -> Path:
    """Set the bit that says that the first member of a zip needs a password."""
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    return path


def test_zip_with_a_password(tmp_path):
    path = lock(write_zip(tmp_path / "x.zip", {"a.csv": "text"}))
    with pytest.raises(CorpusError, match=r"it is locked with a password; unpack it$"):
        read(path)


@pytest.mark.parametrize(
    ("position", "value", "problem"),
    [
        (10, 12, "it is packed neither by deflate nor plainly; unpack it"),
        (6, 255, "the file is damaged or not what its name says (zip file version 25.5)"),
    ],
    ids=["method", "version"],
)
def test_zip_of_another_kind(tmp_path, position, value, problem):
    path = write_zip(tmp_path / "x.csv.zip", {"a.csv": "text"})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + position] = value
    path.write_bytes(content)
    with pytest.raises(CorpusError) as error:
        read(path)
    assert error.value.problem == problem


def test_zip_with_a_file_that_has_no_name(tmp_path):
    path = write_zip(tmp_path / "x.zip", {"name": "", "a.csv": "text"})
    path.write_bytes(path.read_bytes().replace(b"name", b"\0ame"))
    assert read(path) == "text"


def test_decode_names_the_line():
    with pytest.raises(CorpusError, match="a/b, line 3: the text is not utf-8"):
        decode(b"one\ntwo\ncaf\xe9", "utf-8", "a/b")


@pytest.mark.parametrize("name", NAMES)
def test_strip_compression(name):
    assert strip_compression(name).name == "x.txt"


def read_encoding(content, asked=None):
    return read_decoded(lambda encoding: decode(content, encoding, "essay.txt"), asked)


def test_first_that_fits():
    assert read_encoding("café".encode()) == ("café", "utf-8")
    assert read_encoding("café".encode("latin-1")) == ("café", "latin-1")


def test_what_is_asked_for_is_taken():
    assert read_encoding(b"caf\x82", "cp437") == ("café", "cp437")
    with pytest.raises(CorpusError, match="the text is not utf-8"):
        read_encoding(b"caf\xe9", "utf-8")


def test_other_errors_pass():
    def refuse(encoding):
        raise CorpusError("essay.txt", f"there is nothing in it in {encoding}")

    with pytest.raises(CorpusError, match="there is nothing in it in utf-8"):
        read_decoded(refuse, None)


@pytest.mark.parametrize(
    ("encoding", "asked", "guessed"),
    [("utf-8", None, False), ("latin-1", None, True), ("latin-1", "latin-1", False)],
)
def test_what_is_said(encoding, asked, guessed):
    reason = "the encoding is latin-1, as it is not utf-8"
    assert explain_guessed_encoding(encoding, asked) == (reason if guessed else "")


def test_files_one_after_the_other():
    progress = Progress()
    assert progress.position == 0
    with progress.measure(100):
        assert progress.position == 0
        progress.update(1, 2)
        assert progress.position == 50
    with progress.measure(300):
        assert progress.position == 100
        progress.update(2, 3)
        assert progress.position == 300
    assert progress.position == 400


def test_nothing_to_read():
    progress = Progress()
    with progress.measure(0):
        progress.update(0, 0)
        assert progress.position == 0
    assert progress.position == 0


def test_what_is_broken_off_stays_where_it_was(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"x" * 100_000)
    progress = Progress()
    with pytest.raises(KeyError), progress.measure(100_000):  # noqa: PT012
        with open_binary(path, progress=progress) as stream:
            stream.read(30_000)
            assert 30_000 <= progress.position < 60_000
            position = progress.position
        raise KeyError
    assert progress.position == position


def test_compressed_files_are_measured_as_they_are(tmp_path):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"x" * 1_000_000))
    progress = Progress()
    with progress.measure(path.stat().st_size), open_binary(path, progress=progress) as stream:
        stream.read()
        assert progress.position == path.stat().st_size
