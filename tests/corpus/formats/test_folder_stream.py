"""A supply of folders: divided or not, in one encoding, and in the order of an archive."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections import Counter

import pytest

from spokeshave.corpus import Split, load_source
from spokeshave.corpus.stream import open_stream
from spokeshave.errors import CorpusError

ARCHIVES = ["folder", "x.tar", "x.tar.gz", "x.tar.bz2", "x.tar.xz", "x.zip"]


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def pack(folder, name):
    """Return a folder, or an archive of it whose files are in no order."""
    if name == "folder":
        return folder
    path = folder.parent / name
    files = sorted((file for file in folder.rglob("*") if file.is_file()), reverse=True)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for file in files:
                archive.write(file, file.relative_to(folder))
    else:
        with tarfile.open(path, f"w:{path.suffix[1:]}".replace(":tar", "")) as archive:
            for file in files:
                archive.add(file, f"./{file.relative_to(folder)}")
    return path


def read(sources, batch_size=1_000, **options):
    with open_stream(sources, **options) as supply:
        batches = list(supply.read_batches(batch_size))
    return [pair for batch in batches for pair in zip(batch.texts, batch.labels, strict=True)]


def load(source, part=None, **options):
    documents = load_source(source, **options).documents
    documents = documents if part is None else getattr(documents, part)
    return list(zip(documents.texts, documents.labels, strict=True))


def fail(*sources, error=CorpusError, **options):
    with pytest.raises(error) as caught:
        read(sources, **options)
    return str(caught.value)


@pytest.fixture
def divided(tmp_path):
    folder = tmp_path / "news"
    for part in ("news-Train", "news-Test"):
        for number in range(5):
            write(folder / part / "space" / f"{number}", f"orbit {part} {number}")
        write(folder / part / "sport" / "2", f"goal {part}")
        write(folder / part / "README", "no document")
    write(folder / "README", "no document")
    return folder


@pytest.mark.parametrize("name", ARCHIVES)
def test_undivided(divided, name):
    path = pack(divided / "news-Train", name)
    loaded = load_source(path)
    with open_stream(path) as supply:
        assert not supply.has_test
        assert not supply.is_multilabel
        assert (supply.read, supply.guesses) == (loaded.read, loaded.guesses)
    for size in (1, 4, 100):
        documents = read(path, size)
        assert Counter(documents) == Counter(load(path))
        assert documents == load(path) or ".tar" in name
        assert documents == read(path, part="train")
    with pytest.raises(ValueError, match="part must be left out where nothing is divided"):
        read(path, part="test")


@pytest.mark.parametrize("name", ARCHIVES)
def test_divided(divided, name):
    path = pack(divided, name)
    loaded = load_source(path)
    assert isinstance(loaded.documents, Split)
    for part, said in (("train", "training"), ("test", "test"), (None, "training")):
        with open_stream(path, part=part) as supply:
            assert supply.has_test
            assert supply.read == f"{loaded.read}, only the {said} part"
            assert supply.guesses == loaded.guesses
            passes = [list(supply.read_batches(2)) for _ in range(2)]
            assert passes[0] == passes[1]
            assert supply.position == supply.n_bytes
        assert Counter(read(path, part=part)) == Counter(load(path, part or "train"))
        assert Counter(read(path, encoding="utf-8", part=part)) == Counter(read(path, part=part))
    assert Counter(read(path, under="news-Test")) == Counter(load(path, under="news-Test"))


@pytest.mark.parametrize("name", ["folder", "x.tar.gz"])
@pytest.mark.parametrize("part", ["train", "test"])
def test_encoding_is_one_for_both_parts(divided, name, part):
    write(divided / f"news-{part.title()}" / "space" / "3", "café".encode("latin-1"))
    write(divided / "news-Train" / "space" / "4", "naïve")
    path = pack(divided, name)
    for chosen in ("train", "test"):
        with open_stream(path, part=chosen) as supply:
            assert supply.encoding == "latin-1"
            assert "latin-1 (guessed)" in supply.read
        assert Counter(read(path, part=chosen)) == Counter(load(path, chosen))
    with pytest.raises(CorpusError, match=r"3, line 1: the text is not utf-8; pass the right one"):
        read(path, part=part, encoding="utf-8")


def test_what_is_no_document_has_no_say_in_the_encoding(divided):
    write(divided / "README", b"caf\xe9")
    write(divided / "news-Train" / "README", b"caf\xe9")
    with open_stream(divided) as supply:
        assert supply.encoding == load_source(divided).encoding == "utf-8"
    write(divided / "news-Train" / "space" / "1", b"caf\xe9")
    with open_stream(divided, under="news-Train") as supply:
        assert supply.encoding == "latin-1"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("news-Test/space/1.pdf", b"%PDF\0"),
        ("other/space/1", "text"),
        ("news-train/space/1", "text"),
        ("other/1", "text"),
        ("a/b/c/1", "text"),
    ],
)
@pytest.mark.parametrize("archive", ["folder", "x.tar.gz"])
def test_what_is_wrong_is_said_as_in_loading(divided, archive, name, content):
    path = pack(divided, archive)
    read(path)
    write(divided / name, content)
    path = pack(divided, archive)
    with pytest.raises(CorpusError) as caught:
        load_source(path)
    assert fail(path) == str(caught.value)


def test_folders_without_documents(tmp_path, divided):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert fail(empty) == f"{empty}: there is no folder with documents"
    assert fail(divided, under="x") == f"{divided}: there is no folder with documents under 'x'"
    first = divided / "news-Train"
    assert fail(first, empty) == f"{empty}: there is no folder with documents"


def test_several_folders(divided):
    paths = [pack(divided / "news-Train", "x.tar.gz"), divided / "news-Test"]
    with open_stream(paths) as supply:
        assert supply.name == "x.tar.gz and 1 more"
        assert not supply.has_test
    assert read(paths) == read(paths[0]) + read(paths[1])
    assert read([divided, divided], part="test") == load(divided, "test") * 2
    problem = "is not divided into training and test documents, unlike the first source"
    assert fail(divided, paths[1]) == f"{paths[1]}: it {problem}"
    assert fail(paths[1], divided).startswith(f"{divided}: it is divided into")


def test_stamps_are_of_every_file(divided):
    path = divided / "news-Train"
    with open_stream(path) as supply:
        stamps = supply.stamps
        names = [f"news-Train/space/{number}" for number in range(5)]
        assert [name for name, *_ in stamps] == [
            "news-Train/README",
            *names,
            "news-Train/sport/2",
        ]
        assert supply.n_bytes == sum(size for _, size, _ in stamps)
        write(path / "space" / "7", "orbit")
        assert len(supply.stamps) == len(stamps) + 1


@pytest.mark.parametrize("name", ARCHIVES)
def test_pass_that_is_broken_off(divided, name):
    path = pack(divided, name)
    with open_stream(path) as supply:
        before = sorted(os.listdir("/dev/fd"))
        batches = supply.read_batches(1)
        next(batches)
        batches.close()
        assert sorted(os.listdir("/dev/fd")) == before


def test_archive_that_is_cut_short(tmp_path):
    path = tmp_path / "x.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for number in range(50):
            member, content = tarfile.TarInfo(f"a/{number}"), os.urandom(20_000).hex().encode()
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert fail(path) == f"{path}: the compressed file is cut short; fetch or write it again"
