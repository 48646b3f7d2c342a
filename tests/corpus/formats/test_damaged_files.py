"""Files made to be slow to read are read in linear time; the process here has seconds for hours."""

from __future__ import annotations

import subprocess
import sys

import pytest

from spokeshave.corpus import load_source
from spokeshave.corpus.formats.arff_parser import split_entries
from spokeshave.corpus.options import MalformedRow
from spokeshave.errors import CorpusError

SECONDS = 60
MANY = 300_000
STORY = '<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="1">'
ARFF = "@attribute a string\n@attribute b {x,y}\n@data\n"
PROGRAM = """
import sys
from spokeshave.corpus import load_source
from spokeshave.errors import CorpusError
try:
    load_source(sys.argv[1])
except CorpusError as error:
    print(error)
"""

SLOW = {
    "stories without an end": ("x.sgm", f"{STORY}<TEXT>" + "<REUTERS a>" * MANY),
    "a start without an end": ("x.sgm", "<REUTERS" * MANY),
    "attributes without an end": ("x.sgm", f"{STORY[:-1]} {'a' * MANY * 3}></REUTERS>"),
    "topics without an end": ("x.sgm", f"{STORY}<TOPICS>{'<D>' * MANY}</TOPICS></REUTERS>"),
    "titles without an end": ("x.sgm", f"{STORY}<TEXT>{'<TITLE>' * MANY}</TEXT></REUTERS>"),
    "a cell of spaces": ("x.arff", f'{ARFF}a,{" " * MANY * 3}"x\n'),
    "a cell of quotes": ("x.arff", f"{ARFF}'{chr(92) * MANY * 2},x\n"),
}


@pytest.mark.parametrize(("name", "content"), SLOW.values(), ids=SLOW)
def test_time_is_linear(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content)
    command = [sys.executable, "-c", PROGRAM, path]
    subprocess.run(command, timeout=SECONDS, check=True, stdout=subprocess.PIPE)


def test_index_of_thousands_of_digits():
    for value in ("x", "'x'"):
        with pytest.raises(MalformedRow, match="a sparse row must hold pairs of index and value"):
            split_entries(f"{'9' * 5_000} {value}")


def test_character_reference_of_thousands_of_digits(tmp_path):
    path = tmp_path / "x.sgm"
    path.write_text(f"{STORY}\n<TEXT>&#{'9' * 5_000};</TEXT></REUTERS>")
    with pytest.raises(CorpusError) as error:
        load_source(path)
    problem = "a character reference in the story has too many digits"
    assert (error.value.line, error.value.problem) == (1, problem)
