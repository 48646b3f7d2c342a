"""Sources are found, named and looked at before anything is read from them."""

from __future__ import annotations

import os

import pytest

from spokeshave.corpus.loaders import LOADERS
from spokeshave.corpus.openings import explain_format, find_name, is_piped, open_source, place_order
from spokeshave.corpus.orders import FORMATS, Order
from spokeshave.corpus.places import Place
from spokeshave.corpus.suppliers import SUPPLIERS
from spokeshave.errors import CorpusError


def test_every_format_is_loaded_and_supplied():
    assert list(LOADERS) == list(SUPPLIERS) == list(FORMATS)


def test_pipes(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    sources = ["-", tmp_path / "pipe", tmp_path / "file", tmp_path, tmp_path / "nothing"]
    assert list(map(is_piped, sources)) == [True, True, False, False, False]


def test_files_are_read_where_they_are(tmp_path):
    with open_source(str(tmp_path / "x.csv"), None) as path:
        assert path == tmp_path / "x.csv"
    assert find_name(tmp_path / "x.csv") == "x.csv"


@pytest.mark.parametrize(
    ("name", "format", "said"),
    [("x", None, "the format is csv by its content"), ("x", "csv", ""), ("x.csv", None, "")],
)
def test_format_that_only_the_content_tells(tmp_path, name, format, said):
    path = tmp_path / name
    path.write_text("text,label\na,b\n")
    order = place_order(path, format, text="text")
    assert order == Order(path, "csv", text="text")
    assert explain_format(path, format, order) == said


def test_troubles_of_a_place_name_its_source(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    place = Place(tmp_path / "pipe", Order(tmp_path / "copy" / "input.csv", "csv"))
    with pytest.raises(CorpusError) as caught, place.explain():
        raise CorpusError(tmp_path / "copy" / "input.csv", "the label is missing", 7)
    assert str(caught.value) == f"{tmp_path / 'pipe'}, line 7: the label is missing"
    with pytest.raises(CorpusError) as caught, place.explain():
        raise EOFError
    assert str(caught.value).startswith(f"{tmp_path / 'pipe'}: the compressed file is cut short")
