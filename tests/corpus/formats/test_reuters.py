"""The Reuters-21578 reader."""

from __future__ import annotations

import tarfile

import pytest

from spokeshave.corpus import Split, Story, Texts, read_reuters, read_stories
from spokeshave.errors import CorpusError


def story(number, part="TRAIN", indexed="YES", topics=(), text="<BODY>Text</BODY>"):
    topics = "".join(f"<D>{topic}</D>" for topic in topics)
    return (
        f'<REUTERS TOPICS="{indexed}" LEWISSPLIT="{part}" CGISPLIT="X" NEWID="{number}">\n'
        f"<TOPICS>{topics}</TOPICS><PLACES><D>usa</D></PLACES>\n<TEXT>&#2;{text}</TEXT>\n</REUTERS>\n"
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "README.txt").write_text("not a story")
    (tmp_path / "reut2-001.sgm").write_text(story(3, "TEST", topics=["corn"]) + story(4, "TEST"))
    (tmp_path / "reut2-000.sgm").write_text(
        '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n'
        + story(1, topics=["wheat", "corn"])
        + story(2, indexed="NO")
        + story(5, "NOT-USED")
    )
    return tmp_path


def test_split(folder):
    expected = Split(Texts(["Text"], [("wheat", "corn")]), Texts(["Text", "Text"], [("corn",), ()]))
    assert read_reuters(folder) == expected


def test_archive(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("archive") / "reuters.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, arcname=".")
    assert read_reuters(path) == read_reuters(folder)


def test_stories(folder):
    stories = list(read_stories(folder))
    assert [story.number for story in stories] == [1, 2, 5, 3, 4]
    assert stories[0] == Story(1, "Text", ("wheat", "corn"), True, "TRAIN")


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (
            "\n<TITLE>WHEAT &amp; CORN</TITLE>\n<BODY>A &lt;B>\nC\n&#3;</BODY>",
            "WHEAT & CORN\nA <B>\nC",
        ),
        ("<TITLE>ONLY A TITLE</TITLE>&#3;", "ONLY A TITLE"),
        ("<DATELINE>ROME, June 1 - </DATELINE><BODY>Only a body</BODY>", "Only a body"),
        ("\n******NEITHER\n&#3;", "******NEITHER"),
    ],
)
def test_text_is_title_and_body(tmp_path, markup, text):
    (tmp_path / "x.sgm").write_text(story(1, text=markup))
    assert next(read_stories(tmp_path)).text == text


def test_topic_given_twice_counts_once(tmp_path):
    (tmp_path / "x.sgm").write_text(story(1, topics=["corn", "wheat", "corn"]))
    assert next(read_stories(tmp_path)).topics == ("corn", "wheat")


@pytest.mark.parametrize("content", ["", story(1) + story(2)[:-20], story(1)[:-20] + story(2)])
def test_file_cut_short(tmp_path, content):
    (tmp_path / "x.sgm").write_text(content)
    with pytest.raises(CorpusError, match=r"x\.sgm: a story has no end; the file is cut short"):
        list(read_stories(tmp_path))


def test_story_without_a_part(tmp_path):
    (tmp_path / "x.sgm").write_text(story(1) + story(2).replace("LEWISSPLIT", "SPLIT"))
    with pytest.raises(CorpusError) as error:
        list(read_stories(tmp_path))
    assert error.value.line == 5
    assert error.value.problem == "the story must have NEWID, TOPICS and LEWISSPLIT"


@pytest.mark.parametrize("number", ["abc", "", "1.5", "9" * 5_000])
def test_story_whose_number_is_none(tmp_path, number):
    (tmp_path / "x.sgm").write_text(story(1) + story(number))
    with pytest.raises(CorpusError) as error:
        list(read_stories(tmp_path))
    assert (error.value.path, error.value.line) == (str(tmp_path / "x.sgm"), 5)
    assert error.value.problem.startswith(
        f"the NEWID of the story must be a whole number and is '{number[:60]}"
    )


@pytest.mark.parametrize("name", ["X.SGM", "x.sgml"])
def test_every_spelling_of_the_end(tmp_path, tmp_path_factory, name):
    path = tmp_path_factory.mktemp("archive") / "x.tar"
    (tmp_path / name).write_text(story(1))
    with tarfile.open(path, "w") as archive:
        archive.add(tmp_path, arcname=".")
    for source in (tmp_path, tmp_path / name, path):
        assert [story.number for story in read_stories(source)] == [1]


def test_no_sgm_file(tmp_path):
    with pytest.raises(CorpusError, match=r"there is no \.sgm file in it$"):
        read_reuters(tmp_path)


@pytest.fixture(scope="module")
def collection(data_folder):
    return data_folder / "reuters21578.tar.gz"


def test_all_stories(collection):
    stories = list(read_stories(collection))
    assert [story.number for story in stories] == list(range(1, 21_579))
    assert stories[0].text.startswith("BAHIA COCOA REVIEW\nShowers continued throughout the week")
    assert not any("</" in story.text or "&lt;" in story.text for story in stories)


def test_modapte_split(collection):
    split = read_reuters(collection)
    assert (len(split.train), len(split.test)) == (9_603, 3_299)
    topics = [
        {topic for label in part.labels for topic in label} for part in (split.train, split.test)
    ]
    assert len(topics[0] & topics[1]) == 90
