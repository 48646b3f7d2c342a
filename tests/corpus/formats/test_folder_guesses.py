"""Folders of documents as sources, in one part or two, and in encodings nobody told."""

from __future__ import annotations

import io
import sys
import tarfile
import zipfile
from types import SimpleNamespace

import pytest

from spokeshave.corpus import Split, Texts, load_source, read_folders
from spokeshave.errors import CorpusError


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def write_archive(path, folder):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for file in sorted(folder.rglob("*")):
                archive.write(file, file.relative_to(folder))
    else:
        with tarfile.open(path, f"w:{path.suffix[1:]}".replace(":tar", "")) as archive:
            archive.add(folder, arcname=".")
    return path


def put_on_standard_input(monkeypatch, content):
    stream = SimpleNamespace(buffer=io.BytesIO(content), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stream)


def fail(source, error=CorpusError, **options):
    with pytest.raises(error) as caught:
        load_source(source, **options)
    return str(caught.value).removeprefix(f"{source}: ")


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "news"
    for part in ("news-Train", "news-Test"):
        write(folder / part / "space" / "1", f"orbit {part}")
        write(folder / part / "sport" / "2", f"goal {part}")
        write(folder / part / "README", "no document")
    write(folder / "README", "no document")
    return folder


ARCHIVES = ["x.tar", "x.tar.gz", "x.tar.xz", "x.zip"]


@pytest.mark.parametrize("name", ["folder", *ARCHIVES, "-"])
def test_folders(tmp_path, folder, name, monkeypatch):
    path = folder / "news-Test"
    expected = read_folders(path)
    if name == "-":
        content = write_archive(tmp_path / "x.tar.bz2", path).read_bytes()
        put_on_standard_input(monkeypatch, content)
    path = {"folder": path, "-": "-"}.get(name) or write_archive(tmp_path / name, path)
    source = load_source(path)
    assert source.documents == expected
    assert source.read == "folders, one per class, utf-8"
    assert (source.format, source.encoding) == ("folders", "utf-8")


@pytest.mark.parametrize("name", ["folder", *ARCHIVES])
def test_folders_that_come_divided(tmp_path, folder, name):
    path = folder if name == "folder" else write_archive(tmp_path / name, folder)
    source = load_source(path)
    parts = "training and test documents under 'news-Train' and 'news-Test'"
    assert source.documents == Split(
        read_folders(folder, under="news-Train"), read_folders(folder, under="news-Test")
    )
    assert source.guesses[-1] == f"there are {parts}"
    assert source.read == f"folders, one per class, {parts}, utf-8"
    source = load_source(path, under="news-Train")
    assert source.documents == read_folders(folder, under="news-Train")
    assert source.guesses == (() if name != "x.zip" else ("the format is folders by its content",))


@pytest.mark.parametrize("other", ["other/space/1", "news-train/space/1", "other/1", "a/b/c/1"])
def test_folders_that_are_too_deep(folder, other):
    write(folder / other, "text")
    assert "lies in a folder of a folder; say under= which" in fail(folder)


def test_folders_called_train_and_test_may_be_classes(tmp_path):
    for part in ("train", "test"):
        write(tmp_path / "x" / part / "1", part)
    assert load_source(tmp_path / "x").documents == Texts(["test", "train"], ["test", "train"])


def test_folders_in_latin_1(folder):
    write(folder / "news-Test" / "space" / "1", "café".encode("latin-1"))
    source = load_source(folder)
    assert source.documents.test.texts[0] == "café"
    assert source.encoding == "latin-1"
    assert source.read.endswith(", latin-1 (guessed)")
    assert source.guesses[-1] == "the encoding is latin-1, as it is not utf-8"
    assert "space/1, line 1: the text is not utf-8; pass the" in fail(folder, encoding="utf-8")
    assert load_source(folder, encoding="cp1252").read.endswith(", cp1252")


def test_what_is_no_document_has_no_say_in_the_encoding(folder):
    write(folder / "README", "café".encode("latin-1"))
    assert load_source(folder).encoding == "utf-8"


def test_folders_of_what_is_not_text(folder):
    path = write(folder / "news-Test" / "space" / "1.pdf", b"%PDF\xff\0")
    assert fail(folder) == f"{path}: this is not text; take it out, or pass its encoding"
    write(path, "utf-16 text".encode("utf-16"))
    assert "this is not text" in fail(folder)


def test_file_on_standard_input_that_cannot_be_decoded(tmp_path, folder, monkeypatch):
    write(folder / "news-Test" / "space" / "1", b"caf\xe9")
    archive = write_archive(tmp_path / "x.tar.gz", folder / "news-Test")
    put_on_standard_input(monkeypatch, archive.read_bytes())
    problem = "standard input, space/1, line 1: the text is not utf-8; pass the right one"
    assert fail("-", encoding="utf-8").startswith(problem)


def test_folder_without_classes(tmp_path):
    assert fail(tmp_path) == "there is no folder with documents"
    write(tmp_path / "x.csv", "text,label\norbit,space\n")
    assert fail(tmp_path) == "there is no folder with documents"
    assert fail(tmp_path, format="csv") == "this is a folder; name a file in it"


def test_20_newsgroups(load_once):
    source = load_once("20news-bydate.tar.gz")
    assert (len(source.documents.train), len(source.documents.test)) == (11_314, 7_532)
    assert source.encoding == "latin-1"
    parts = "training and test documents under '20news-bydate-train' and '20news-bydate-test'"
    assert source.read == f"folders, one per class, {parts}, latin-1 (guessed)"
