"""What ARFF files declare, and which of their attributes are the class and the text."""

from __future__ import annotations

import pytest

from spokeshave.corpus.bad_rows import MalformedRow
from spokeshave.corpus.relations import find_text, guess_target, open_relation
from spokeshave.errors import CorpusError

NUMBER, NOMINAL, STRING, DATE = "numeric", "{x, y}", "string", "date"


def declare(path, attributes):
    """Read a relation with attributes of these names and kinds, and no rows."""
    header = "\n".join(f"@attribute {name} {kind}" for name, kind in attributes)
    path.write_text(f"@relation x\n{header}\n@data\n@attribute y numeric\n")
    return read(path)


def read(path, encoding="utf-8"):
    with open_relation(path, encoding) as (relation, _):
        return relation


@pytest.mark.parametrize(
    ("attributes", "target"),
    [
        ([("class", NOMINAL), ("proline", NUMBER)], ("class", False)),
        ([("kind", NOMINAL), ("job", NOMINAL), ("age", NUMBER)], ("kind", False)),
        ([("kind", NOMINAL), ("class", NOMINAL), ("age", NUMBER)], ("class", False)),
        ([("job", NOMINAL), ("age", NUMBER)], ("job", False)),
        ([("class", NUMBER), ("topic", NUMBER), ("CLASS_LABEL", NOMINAL)], ("CLASS_LABEL", True)),
        ([("kind", NOMINAL), ("age", NUMBER), ("class", NUMBER)], ("class", True)),
        ([("class", NUMBER), ("age", NUMBER)], ("age", True)),
        ([("job", NOMINAL), ("home", NOMINAL), ("age", NUMBER)], ("age", True)),
        ([("age", NUMBER), ("name", STRING)], ("name", True)),
        ([("class-att", NOMINAL), ("Text", STRING)], ("class-att", False)),
    ],
)
def test_target(tmp_path, attributes, target):
    assert guess_target(declare(tmp_path / "x.arff", attributes)) == target


@pytest.mark.parametrize(
    ("attributes", "target", "text"),
    [
        ([("Text", STRING), ("corn", NOMINAL)], 1, "Text"),
        ([("corn", NOMINAL), ("Text", STRING)], 0, "Text"),
        ([("id", NUMBER), ("Text", STRING), ("day", DATE), ("corn", NOMINAL)], 3, "Text"),
        ([("Title", STRING), ("Text", STRING), ("corn", NOMINAL)], 2, None),
        ([("Text", STRING), ("rating", NUMBER)], 1, None),
        ([("corn", NOMINAL), ("Text", STRING)], 1, None),
        ([("day", DATE), ("corn", NOMINAL)], 1, None),
        ([("age", NUMBER), ("corn", NOMINAL)], 1, None),
    ],
)
def test_text(tmp_path, attributes, target, text):
    found = find_text(declare(tmp_path / "x.arff", attributes), target)
    assert (found and found.name) == text


@pytest.mark.parametrize("target", [3, ["class"], b"class"])
def test_target_that_is_no_name(tmp_path, target):
    relation = declare(tmp_path / "x.arff", [("age", NUMBER), ("class", NOMINAL)])
    with pytest.raises(ValueError, match=r"^target must be the name of an attribute\. Got .* inst"):
        relation.locate(target)


def test_position_of_the_target(tmp_path):
    relation = declare(tmp_path / "x.arff", [("age", NUMBER), ("3", NOMINAL), ("age", NOMINAL)])
    assert (relation.locate("3"), relation.locate(None)) == (1, 2)
    with pytest.raises(CorpusError, match="there is more than one attribute 'age'; the attributes"):
        relation.locate("age")


def test_cells(tmp_path):
    relation = declare(tmp_path / "x.arff", [("age", NUMBER), ("class", NOMINAL)])
    assert relation.split("67, 'x'") == {0: "67", 1: "x"}
    assert relation.split("{1 x}") == {1: "x"}
    with pytest.raises(MalformedRow, match="the row has 1 values for 2 attributes"):
        relation.split("67")
    with pytest.raises(MalformedRow, match="the indices must lie between 0 and 1"):
        relation.split("{2 x}")


@pytest.mark.parametrize("attributes", [[], [("age", "number"), ("class", NOMINAL)]])
def test_header_that_cannot_be_read(tmp_path, attributes):
    with pytest.raises(CorpusError, match=r"x\.arff, line [23]: "):
        declare(tmp_path / "x.arff", attributes)


def test_targets_of_collections(data_folder):
    targets = {path.stem: guess_target(read(path)) for path in (data_folder / "uci").glob("*.arff")}
    assert targets.pop("wine") == ("class", False)
    assert {target.name for target in targets.values()} == {"class", "Class", "Type"}
    for path in (data_folder / "forman").glob("*.zip"):
        assert guess_target(read(path, "latin-1")) == ("CLASS_LABEL", True)
