"""What ARFF attributes are declared as, and what their cells stand for."""

from __future__ import annotations

import math

import pytest

from spokeshave.corpus.formats.arff_parser import (
    Feature,
    StringAttribute,
    find_text,
    guess_target,
    open_relation,
    parse_attribute,
    split_cells,
    split_entries,
)
from spokeshave.corpus.options import MalformedRow
from spokeshave.errors import CorpusError


@pytest.mark.parametrize(
    ("declaration", "columns"),
    [
        ("@attribute age numeric", ("age",)),
        ("@ATTRIBUTE\tage\tREAL", ("age",)),
        ("@attribute 'my age' integer", ("my age",)),
        ('@attribute "my age" Integer', ("my age",)),
        ("@attribute age real [0, 150]", ("age",)),
        ("@attribute bruta; numeric", ("bruta;",)),
        ("@attribute don't numeric", ("don't",)),
        ("@attribute x {a,b}", ("x=a", "x=b")),
        ("@attribute x{ a , 'b c',\"d\" }", ("x=a", "x=b c", "x=d")),
        ("@attribute x {a,b,a}", ("x=a", "x=b")),
    ],
)
def test_features(declaration, columns):
    assert parse_attribute(declaration).columns == columns


@pytest.mark.parametrize("declaration", ["@attribute x string", "@attribute x DATE 'yyyy-MM-dd'"])
def test_attributes_that_are_no_features(declaration):
    attribute = parse_attribute(declaration)
    assert not isinstance(attribute, Feature)
    assert attribute.read_label("anything") == "anything"
    with pytest.raises(MalformedRow, match="the class 'x' is missing"):
        attribute.read_label(None)


@pytest.mark.parametrize(
    ("declaration", "problem"),
    [
        ("@attribute", "an attribute must be declared as '@attribute name type'"),
        ("@attribute 'x numeric", "an attribute must be declared as '@attribute name type'"),
        ("@attribute x", "the type '' of the attribute 'x' is unknown"),
        ("@attribute x relational", "the type 'relational' of the attribute 'x' is unknown"),
        ("@attribute x {a,b", "the values of 'x' must stand between braces, none empty"),
        ("@attribute x {}", "the values of 'x' must stand between braces, none empty"),
        ("@attribute x {a,,b}", "the values of 'x' must stand between braces, none empty"),
    ],
)
def test_malformed_declarations(declaration, problem):
    with pytest.raises(MalformedRow, match=f"^{problem}$"):
        parse_attribute(declaration)


def test_strings():
    text = parse_attribute("@attribute x string")
    assert isinstance(text, StringAttribute)
    assert text.read_text("") == ""
    for cell in ("?", None):
        with pytest.raises(MalformedRow, match=r"^the text 'x' is missing$"):
            text.read_text(cell)


def test_numeric_cells():
    age = parse_attribute("@attribute age numeric")
    assert age.encode("-.5e3") == (0, -500.0)
    assert math.isnan(age.encode("?")[1])
    assert age.read_label("007") == "007"
    assert age.read_label(None) == "0"


@pytest.mark.parametrize("cell", ["", "x", "1_0", "nan", "inf", "1e999"])
def test_cell_that_is_no_number(cell):
    with pytest.raises(MalformedRow, match=f"^'{cell}' is not a number, but the attribute 'a' is$"):
        parse_attribute("@attribute a numeric").encode(cell)


def test_nominal_cells():
    job = parse_attribute("@attribute job {none, some}")
    assert job.encode("some") == (1, 1.0)
    assert job.encode("?") == (0, 0.0)
    assert job.read_label(None) == "none"
    with pytest.raises(MalformedRow, match="the class 'job' is missing"):
        job.read_label("?")
    for read in (job.encode, job.read_label):
        with pytest.raises(MalformedRow) as error:
            read("Some")
        assert str(error.value) == (
            "'Some' is not a declared value of the attribute 'job'; declared are 'none', 'some'"
        )


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("1,2", ["1", "2"]),
        (" 1 ,\tno checking,", ["1", "no checking", ""]),
        ("'a, b','it\\'s',\"x\"", ["a, b", "it's", "x"]),
        ("'', ,'x' ", ["", "", "x"]),
        ("don't,x", ["don't", "x"]),
        ("'back\\\\slash',1", ["back\\slash", "1"]),
    ],
)
def test_split_cells(text, cells):
    assert split_cells(text) == cells


@pytest.mark.parametrize("text", ["'a", "1,'a'b", '"a,b'])
def test_quotes_out_of_place(text):
    with pytest.raises(MalformedRow, match="is not quoted as ARFF asks"):
        split_cells(text)


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("", {}),
        (" ", {}),
        ("0 1,5 x", {0: "1", 5: "x"}),
        (" 0  1 , 5\tx ", {0: "1", 5: "x"}),
        ("0 1, 5 'a, b' ,6 \"x\"", {0: "1", 5: "a, b", 6: "x"}),
    ],
)
def test_split_entries(text, entries):
    assert split_entries(text) == entries


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0", "a sparse row must hold pairs of index and value"),
        ("0 1 2", "a sparse row must hold pairs of index and value"),
        ("x 1", "a sparse row must hold pairs of index and value"),
        ("0 1,", "a sparse row must hold pairs of index and value"),
        ("x 'a'", "is not quoted as ARFF asks"),
        ("0 'a", "is not quoted as ARFF asks"),
        ("3 1,2 1", "the indices do not increase"),
        ("3 1,3 'a'", "the indices do not increase"),
    ],
)
def test_malformed_entries(text, problem):
    with pytest.raises(MalformedRow, match=problem):
        split_entries(text)


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
