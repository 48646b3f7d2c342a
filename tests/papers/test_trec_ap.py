"""The TREC-AP reader."""

from __future__ import annotations

import bz2
import gzip
import tarfile
import zipfile
from types import SimpleNamespace

import pytest

from papers.readers.trec_ap import read_trec_ap
from spokeshave import CorpusError
from spokeshave.corpus import Split, Texts


def story(number, content="<HEAD>Head</HEAD>\n<TEXT>\n   Text\n</TEXT>"):
    return (
        f"<DOC>\n<DOCNO> AP880212-{number:04} </DOCNO>\n<FILEID>AP-NR-02-12-88 2344EST</FILEID>\n"
        f"<FIRST>r w AM-Bonds 02-12 0155</FIRST>\n<SECOND>AM-Bonds,150</SECOND>\n{content}\n"
        "</DOC>\n"
    )


@pytest.fixture
def files(tmp_path):
    """Return the folder of stories and the lists: three to train on, one to test on."""
    stories, categories = tmp_path / "ap", tmp_path / "categories"
    (stories / "1988").mkdir(parents=True)
    categories.mkdir()
    (stories / "README").write_text("no stories")
    (stories / "ap880213").write_text(story(3) + story(4) + story(5))
    (stories / "1988" / "AP880212").write_text(story(1) + story(2))
    (tmp_path / "train").write_text("7: AP880212-0003\n\n2: AP880212-0001\n4 : AP880212-0004\n")
    (tmp_path / "test.txt").write_text("AP880212-0002 \r\n")
    (categories / "weather.lst").write_text("2: AP880212-0001\n9: AP880212-0009\n")
    (categories / "bonds.pos.txt").write_text("2: AP880212-0001\nAP880212-0002\n")
    return SimpleNamespace(
        stories=stories,
        train=tmp_path / "train",
        test=tmp_path / "test.txt",
        categories=categories,
    )


def read(files, path=None):
    return read_trec_ap(
        path or files.stories, train=files.train, test=files.test, categories=files.categories
    )


EXPECTED = Split(
    Texts(["Head\nText"] * 3, [(), ("bonds", "weather"), ()]), Texts(["Head\nText"], [("bonds",)])
)


def test_split_and_categories_are_those_of_the_lists(files):
    assert read(files) == EXPECTED


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            "<HEAD>One</HEAD>\n<HEAD>Two</HEAD>\n<TEXT>\nA\n</TEXT>\n<TEXT>B</TEXT>",
            "One\nTwo\nA\nB",
        ),
        ("<HEAD>Salt &amp; &lt;pepper></HEAD><TEXT>A\n  B</TEXT>", "Salt & <pepper>\nA\n  B"),
        ("<DATELINE>ROME (AP) </DATELINE>\n<HEAD>Only a head</HEAD>", "Only a head"),
        ("<TEXT>Only a text</TEXT>", "Only a text"),
        ("<HEAD></HEAD>", ""),
        ("", ""),
    ],
)
def test_text_is_heads_and_texts(files, content, text):
    (files.stories / "1988" / "AP880212").write_text(story(1) + story(2, content))
    assert read(files).test.texts == [text]


def test_stories_are_in_latin_1(files):
    content = story(1) + story(2, "<TEXT>Caf\xe9</TEXT>")
    (files.stories / "1988" / "AP880212").write_bytes(content.encode("latin-1"))
    assert read(files).test.texts == ["Café"]


@pytest.mark.parametrize(("end", "compress"), [(".gz", gzip.compress), (".BZ2", bz2.compress)])
def test_compressed_files(files, end, compress):
    for path in (files.stories / "ap880213", files.categories / "bonds.pos.txt", files.train):
        path.with_name(path.name + end).write_bytes(compress(path.read_bytes()))
        path.unlink()
    files.train = files.train.with_name(files.train.name + end)
    assert read(files) == EXPECTED


def test_archives(files, tmp_path):
    with tarfile.open(tmp_path / "ap.tar.gz", "w:gz") as archive:
        archive.add(files.stories, arcname="ap")
    with zipfile.ZipFile(tmp_path / "categories.zip", "w") as archive:
        for path in files.categories.iterdir():
            archive.write(path, path.name)
    files.categories = tmp_path / "categories.zip"
    assert read(files, tmp_path / "ap.tar.gz") == EXPECTED


def test_one_file_of_any_name(files, tmp_path):
    (tmp_path / "stories.txt").write_text("".join(map(story, range(1, 5))))
    assert read(files, tmp_path / "stories.txt") == EXPECTED


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (story(3) + story(4)[:-8], 11, "the story has no end; the file is cut short"),
        (story(3)[:-8] + story(4), 1, "the story has no end; the file is cut short"),
        (story(3) + "<DOC>\n</DOC>\n", 11, "the story must have one DOCNO"),
        (story(3) + story(4, "<DOCNO>1</DOCNO>"), 11, "the story must have one DOCNO"),
        ("<DOC><DOCNO> </DOCNO></DOC>", 1, "the story must have one DOCNO"),
        (story(3) + story(3), 11, "the story 'AP880212-0003' occurs twice"),
        ("no stories", None, "it must hold <DOC> elements; unpack files that are not "),
    ],
)
def test_a_malformed_file_is_reported_with_its_line(files, content, line, problem):
    (files.stories / "ap880213").write_text(content)
    with pytest.raises(CorpusError) as error:
        read(files)
    assert (error.value.path, error.value.line) == (str(files.stories / "ap880213"), line)
    assert error.value.problem.startswith(problem)


@pytest.mark.parametrize(
    ("name", "content", "line", "problem"),
    [
        ("train", "AP880212-0001\nAP880212-0009\n", 2, "the story 'AP880212-0009' is not in "),
        ("test", "AP880212-0001\n", 1, "the story 'AP880212-0001' is in "),
        ("test", "AP1\n\nAP1\n", 3, "the story 'AP1' is listed twice"),
        ("train", "AP880212-0001 1\n", 1, "each line must be the number of a story. Got 'AP"),
        ("train", "1: 2: 3\n", 1, "each line must be the number of a story. Got '1: 2: 3'"),
    ],
)
def test_a_malformed_list_is_reported_with_its_line(files, name, content, line, problem):
    path = getattr(files, name)
    path.write_text(content)
    with pytest.raises(CorpusError) as error:
        read(files)
    assert (error.value.path, error.value.line) == (str(path), line)
    assert error.value.problem.startswith(problem)


def test_two_lists_of_one_category(files):
    (files.categories / "bonds.neg.txt").write_text("AP880212-0004\n")
    with pytest.raises(CorpusError, match=r"the category 'bonds' has two lists$"):
        read(files)


def test_missing_files_are_reported(files, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        CorpusError, match=r"empty: it must hold at least one file of stories, such as ap88"
    ):
        read(files, tmp_path / "empty")
    with pytest.raises(CorpusError, match=r"nowhere: there is no such file"):
        read(files, tmp_path / "nowhere")
    files.categories = tmp_path / "empty"
    with pytest.raises(CorpusError, match=r"empty: it must hold at least one list of a category$"):
        read(files)
