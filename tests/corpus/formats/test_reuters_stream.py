"""A supply of Reuters-21578: one part or the other, from files, folders and archives."""

from __future__ import annotations

import tarfile
from collections import Counter

import pytest

from spokeshave.corpus import load_source
from spokeshave.corpus.stream import open_stream
from spokeshave.errors import CorpusError


def story(number, part="TRAIN", indexed="YES", topics=("corn",)):
    topics = "".join(f"<D>{topic}</D>" for topic in topics)
    return (
        f'<REUTERS TOPICS="{indexed}" LEWISSPLIT="{part}" NEWID="{number}">'
        f"<TOPICS>{topics}</TOPICS><TEXT><BODY>Story {number}</BODY></TEXT></REUTERS>\n"
    )


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "reuters"
    folder.mkdir()
    (folder / "README.txt").write_text("not a story")
    (folder / "reut2-000.sgm").write_text(story(1) + story(2, indexed="NO") + story(3, topics=()))
    (folder / "reut2-001.sgm").write_text(story(4, "TEST") + story(5, "NOT-USED") + story(6))
    return folder


def read(sources, **options):
    with open_stream(sources, **options) as supply:
        passes = [list(supply.read_batches(size)) for size in (1, 100)]
    documents = [
        [pair for batch in batches for pair in zip(batch.texts, batch.labels, strict=True)]
        for batches in passes
    ]
    assert documents[0] == documents[1]
    return documents[0]


@pytest.mark.parametrize("packed", [False, True])
def test_parts(folder, packed):
    path = folder
    if packed:
        path = folder.parent / "x.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for file in sorted(folder.iterdir(), reverse=True):
                archive.add(file, file.name)
    split = load_source(path).documents
    for part in ("train", "test"):
        documents = getattr(split, part)
        expected = list(zip(documents.texts, documents.labels, strict=True))
        found = read(path, part=part)
        assert Counter(found) == Counter(expected)
        assert packed or found == expected
    with open_stream(path) as supply:
        assert supply.has_test
        assert supply.is_multilabel
        assert supply.read == (
            "reuters, the ModApte split, only the training part, several labels per document"
        )


def test_files_are_one_collection(folder):
    paths = sorted(folder.glob("*.sgm"))
    assert read(paths) == read(folder)
    assert read(paths, part="test") == read(folder, part="test")
    with open_stream(paths[0]) as supply:
        assert not supply.has_test
        assert supply.read.startswith("reuters, training stories only, several")


def test_no_training_stories(folder):
    path = folder / "reut2-000.sgm"
    path.write_text(story(1, "TEST") + story(2, indexed="NO"))
    with pytest.raises(CorpusError, match=r"000\.sgm: there are no training stories in it$"):
        read(path)


def test_what_is_wrong_is_found_when_it_is_read(folder):
    with (folder / "reut2-001.sgm").open("a") as stream:
        stream.write('<REUTERS TOPICS="YES">\n</REUTERS>\n')
    with pytest.raises(CorpusError) as caught:
        load_source(folder)
    with pytest.raises(CorpusError) as found:
        read(folder)
    assert str(found.value) == str(caught.value)
