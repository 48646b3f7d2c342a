"""Folders and archives of documents, read in one order."""

from __future__ import annotations

import gzip
import io
import random
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from spokeshave.corpus import limits
from spokeshave.corpus.archives import read_members, stream_members
from spokeshave.corpus.files import Progress
from spokeshave.errors import CorpusError

# In the order they are read: a folder's name is compared as a whole.
MEMBERS = {"README": b"read me", "a/2": b"\xe9", "a/b/1": b"", "a-b/10": b"ten", "a-b/9": b"nine"}
UNWANTED = [".DS_Store", "a/.hidden", ".git/config"]
ARCHIVES = ["folder", "x.zip", "x.tar", "x.tar.gz", "x.tgz", "x.tar.bz2", "x.tar.xz"]


def write_folder(folder: Path) -> None:
    for name, content in reversed(MEMBERS.items()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    for name in UNWANTED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def write_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in reversed(MEMBERS.items()):
            archive.writestr(name, content)
        for name in [*UNWANTED, "../evil", "/etc/evil", "__MACOSX/a/2", "empty/"]:
            archive.writestr(name, b"")
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "a/2")


def write_tar(path: Path) -> None:
    kind = {"tar": "w", "tgz": "w:gz"}.get(path.suffix[1:], f"w:{path.suffix[1:]}")
    with tarfile.open(path, kind) as archive:
        for name, content in reversed(MEMBERS.items()):
            add(archive, f"./{name}", content)
        for name in [*UNWANTED, "../evil", "/etc/evil"]:
            add(archive, name, b"")
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE):
            member = tarfile.TarInfo(f"special-{kind.decode()}")
            member.type, member.linkname = kind, "a/2"
            archive.addfile(member)


def add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def write(path: Path) -> Path:
    if path.name == "folder":
        write_folder(path)
    else:
        write_zip(path) if path.suffix == ".zip" else write_tar(path)
    return path


@pytest.mark.parametrize("name", ARCHIVES)
def test_members_come_in_order_whatever_holds_them(tmp_path, name):
    path = write(tmp_path / name)
    assert list(read_members(str(path), lambda name: True)) == list(MEMBERS.items())


@pytest.mark.parametrize("name", ARCHIVES)
def test_members_are_streamed_in_the_order_that_costs_no_memory(tmp_path, name):
    path, progress = write(tmp_path / name), Progress()
    expected = list(MEMBERS.items())
    with progress.measure(1_000):
        streamed = stream_members(path, lambda name: True, progress)
        members, positions = zip(*((member, progress.position) for member in streamed), strict=True)
    assert positions[-1] > 0
    assert list(members) == (expected[::-1] if ".t" in name else expected)


def test_file_that_was_put_into_a_tar_twice(tmp_path):
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for content in (b"old", b"new"):
            add(archive, "a/1", content)
    assert list(read_members(tmp_path / "x.tar", lambda name: True)) == [("a/1", b"new")]
    streamed = list(stream_members(tmp_path / "x.tar", lambda name: True))
    assert streamed == [("a/1", b"old"), ("a/1", b"new")]


@pytest.mark.parametrize("name", ARCHIVES)
def test_only_what_is_wanted_is_read(tmp_path, name):
    path = write(tmp_path / name)
    assert dict(read_members(path, lambda name: name.startswith("a-b/"))).keys() == {
        "a-b/9",
        "a-b/10",
    }


def test_missing_archive(tmp_path):
    with pytest.raises(CorpusError, match=r"there is no such file or folder$"):
        list(read_members(tmp_path / "x.tar.gz", lambda name: True))


@pytest.mark.parametrize("name", ["x.tar", "x.tar.gz", "x.csv"])
def test_file_that_is_no_archive(tmp_path, name):
    (tmp_path / name).write_text("text,label\n" * 100)
    with pytest.raises(
        CorpusError, match=r"this is neither a folder nor a zip or tar, or it is damaged$"
    ):
        list(read_members(tmp_path / name, lambda name: True))


@pytest.mark.parametrize("name", ["x.tar", "x.tar.gz", "x.tar.bz2", "x.tar.xz"])
def test_tar_cut_short(tmp_path, name):
    path = tmp_path / name
    with tarfile.open(path, f"w:{path.suffix[1:]}".replace(":tar", "")) as archive:
        for number in range(50):
            add(archive, f"a/{number}", random.Random(number).randbytes(50_000))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(CorpusError, match=r"the compressed file is cut short|or it is damaged"):
        list(read_members(path, lambda name: True))


def test_zip_cut_short(tmp_path):
    path = write(tmp_path / "x.zip")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(CorpusError, match="the file is damaged or not what its name says"):
        list(read_members(path, lambda name: True))


def test_zip_with_a_password(tmp_path):
    path = write(tmp_path / "x.zip")
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"it is locked with a password; unpack it$"):
        list(read_members(path, lambda name: True))


@pytest.mark.parametrize("name", ARCHIVES)
def test_document_that_is_too_long(tmp_path, monkeypatch, name):
    path = write(tmp_path / name)
    monkeypatch.setattr(limits, "MAX_DOCUMENT_LENGTH", 7)
    assert len(list(read_members(path, lambda name: True))) == len(MEMBERS)
    monkeypatch.setattr(limits, "MAX_DOCUMENT_LENGTH", 6)
    with pytest.raises(CorpusError) as error:
        list(read_members(path, lambda name: True))
    problem = "the file is longer than a document may be, 6 bytes"
    assert str(error.value) == f"{path}/README: {problem}; split it, or take it out"


def test_zip_that_lies_about_a_size(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_DOCUMENT_LENGTH", 2**20)
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/1", b"x" * 2**26)
    content = path.read_bytes()
    path.write_bytes(content.replace((2**26).to_bytes(4, "little"), (9).to_bytes(4, "little")))
    tracemalloc.start()
    with pytest.raises(CorpusError, match="the file is damaged or not what its name says"):
        list(read_members(path, lambda name: True))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22


def test_tar_whose_header_has_gigabytes(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_DOCUMENT_LENGTH", 10_000)
    path = tmp_path / "x.tar.gz"
    header = tarfile.TarInfo("a/1")
    header.size, header.type = 2**24, tarfile.XHDTYPE
    path.write_bytes(gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) + b"x" * 2**24))
    tracemalloc.start()
    with pytest.raises(CorpusError, match="or it is damaged"):
        list(read_members(path, lambda name: True))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


def test_zip_with_a_file_that_has_no_name(tmp_path):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("name", b"")
        archive.writestr("a/1", b"text")
    path.write_bytes(path.read_bytes().replace(b"name", b"\0ame"))
    assert list(read_members(path, lambda name: True)) == [("a/1", b"text")]
