"""What ARFF attributes are declared as, and what their cells stand for."""

from __future__ import annotations

import math

import pytest

from spokeshave.corpus.attributes import Feature, StringAttribute, parse_attribute
from spokeshave.corpus.bad_rows import MalformedRow


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
