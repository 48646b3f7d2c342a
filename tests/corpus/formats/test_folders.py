"""One folder per class, from a folder or an archive."""

from __future__ import annotations

import tarfile

import pytest

from spokeshave.corpus import Texts, read_folders
from spokeshave.errors import CorpusError

FILES = {
    "train/sci.space/9": "naïve",
    "train/sci.space/10": "ten",
    "train/alt/1": "one",
    "train/README": "no document",
    "test/alt/2": "two",
}
TRAIN = Texts(["one", "ten", "naïve"], ["alt", "sci.space", "sci.space"])


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "train" / "empty").mkdir()
    return tmp_path


@pytest.fixture
def archive(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("archive") / "x.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        tar.add(folder, arcname=".")
    return path


def test_classes_in_order(folder, archive):
    assert read_folders(folder / "train") == TRAIN
    for path in (folder, archive):
        for under in ("train", "./train/"):
            assert read_folders(str(path), under=under) == TRAIN
        assert read_folders(path, under="test") == Texts(["two"], ["alt"])


def test_classes_too_deep(folder, archive):
    for path in (folder, archive):
        with pytest.raises(CorpusError, match=r"lies in a folder of a folder; .*, as under='t"):
            read_folders(path)


@pytest.mark.parametrize(
    ("under", "problem"),
    [
        ("train/alt", "there is no folder with documents under 'train/alt'"),
        ("validation", "there is no folder with documents under 'validation'"),
    ],
)
def test_no_class_folders(folder, under, problem):
    with pytest.raises(CorpusError, match=f"{problem}$"):
        read_folders(folder, under=under)


def test_empty_folder(tmp_path):
    with pytest.raises(CorpusError, match=r"there is no folder with documents$"):
        read_folders(tmp_path)


def test_wrong_encoding(folder):
    (folder / "test" / "alt" / "2").write_bytes(b"one\ncaf\xe9")
    with pytest.raises(CorpusError, match="alt/2, line 2: the text is not utf-8"):
        read_folders(folder, under="test")
    assert read_folders(folder, under="test", encoding="latin-1").texts == ["one\ncafé"]
    with pytest.raises(CorpusError, match="the encoding 'latin-99' is unknown"):
        read_folders(folder, under="test", encoding="latin-99")


@pytest.mark.parametrize(("part", "n_documents"), [("train", 11_314), ("test", 7_532)])
def test_20_newsgroups(data_folder, part, n_documents):
    path = data_folder / "20news-bydate.tar.gz"
    texts = read_folders(path, under=f"20news-bydate-{part}", encoding="latin-1")
    assert len(texts) == n_documents
    assert len(set(texts.labels)) == 20
    assert texts.labels == sorted(texts.labels)
