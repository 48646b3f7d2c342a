"""Parquet files that claim what they do not have are refused before polars allocates it."""

from __future__ import annotations

import subprocess
import sys

import polars
import pytest

from spokeshave.corpus import limits, load_texts
from spokeshave.corpus.formats.parquet_footer import Thrift, UnsoundParquet, require_sound
from spokeshave.errors import CorpusError

COMPRESSIONS = ["uncompressed", "snappy", "gzip", "brotli", "lz4", "zstd"]
N_ROWS = 77
ROWS = b"\x16\x9a\x01"  # a field of 64 bits: twice 77, as positive numbers are stored
FRAME = polars.DataFrame(
    {
        "text": [f"text {number}" for number in range(N_ROWS)],
        "label": ["x", *["y"] * (N_ROWS - 1)],
        "tags": [["a", None][: number % 3] for number in range(N_ROWS)],
        "nested": [{"number": number, "share": 0.5} for number in range(N_ROWS)],
    }
)
HUGE = [1, 2**30, 2**40, 2**58, 2**62]
READ = "import sys; from spokeshave.corpus import load_texts; load_texts(sys.argv[1])"


def encode(number: int) -> bytes:
    """Return a positive number as Thrift stores it."""
    content, number = [], number << 1
    while number > 127:
        content.append(number & 127 | 128)
        number >>= 7
    return bytes([*content, number])


def write(path, frame=FRAME, **options):
    frame.write_parquet(path, **options)
    return path


def replace_footer(path, old, new, count=-1):
    """Replace bytes of the footer, and its length."""
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    assert old in content[start:-8]
    footer = content[start:-8].replace(old, new, count)
    path.write_bytes(content[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1")


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("options", [{}, {"row_group_size": 20}, {"data_page_size": 100}], ids=repr)
def test_sound_files_pass(tmp_path, compression, options):
    path = write(tmp_path / "x.parquet", compression=compression, **options)
    require_sound(path)
    assert len(load_texts(path)) == N_ROWS


@pytest.mark.parametrize("n_rows", [0, 1, 2_000_000])
def test_sound_files_of_any_length_pass(tmp_path, n_rows):
    frame = polars.DataFrame({"text": ["a"] * n_rows, "none": [None] * n_rows})
    require_sound(write(tmp_path / "x.parquet", frame))
    require_sound(write(tmp_path / "x.parquet", polars.DataFrame()))


@pytest.mark.parametrize("n_rows", HUGE)
@pytest.mark.parametrize("count", [1, 3, -1], ids=["the first", "some", "all"])
def test_rows_that_are_not_there(tmp_path, n_rows, count):
    path = write(tmp_path / "x.parquet", FRAME.select("text", "label"))
    replace_footer(path, ROWS, b"\x16" + encode(n_rows), count)
    with pytest.raises(CorpusError, match=r"it cannot be read as parquet \(.*; fetch or write it"):
        load_texts(path)


def test_process_is_not_aborted(tmp_path):
    path = write(tmp_path / "x.parquet", FRAME.select("text", "label"))
    # The pages have -77 values, which were allocated as 2**64 - 77.
    content = path.read_bytes()
    header, changed = b"\x2c\x15\x9a\x01", b"\x2c\x15\x99\x01"
    assert content.count(header) == 2
    path.write_bytes(content.replace(header, changed))
    command = [sys.executable, "-c", READ, path]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "it claims -77 values of a page" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_page_that_is_larger_than_its_file(tmp_path, compression):
    path = write(tmp_path / "x.parquet", FRAME.select("text"), compression=compression)
    content = bytearray(path.read_bytes())
    page = Thrift(bytes(content), 4, len(content)).read()
    position = content.index(b"\x15" + encode(page[2]), 4)
    sizes = b"\x15" + encode(page[2]) + b"\x15" + encode(page[3])
    assert content[position : position + len(sizes)] == sizes
    for changed in ((2**31 - 1, page[3]), (page[2], 2**31)):
        claimed = b"".join(b"\x15" + encode(size) for size in changed)
        path.write_bytes(content[:position] + claimed + content[position + len(sizes) :])
        with pytest.raises(UnsoundParquet, match="a page"):
            require_sound(path)


def test_cells_in_proportion_to_the_file(tmp_path, monkeypatch):
    path = write(tmp_path / "x.parquet", polars.DataFrame({"text": ["a"] * 200_000}))
    require_sound(path)
    monkeypatch.setattr(limits, "MAX_CELLS", 1_000)
    path.touch()
    with pytest.raises(UnsoundParquet, match=r"it claims .*0,000 values, more than"):
        require_sound(path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\x19\xf6\xff\xff\xff\xff\x07", "it claims a list longer than the file"),
        (b"\x1c" * 500 + b"\0" * 500, "its structures are nested too deeply"),
        (b"\x19\x19" * 500, "its structures are nested too deeply"),
        (b"\x16" + b"\xff" * 20, "it has a number of more than 64 bits"),
        (b"\x18\x7fx\0", "its footer or a page header is cut short"),
        (b"\x16\x02", "its footer or a page header is cut short"),
        (b"\x1b\x02", "its footer or a page header has a value of an unknown type"),
    ],
    ids=["list", "structures", "lists", "number", "string", "end", "map"],
)
def test_what_is_no_structure(content, problem):
    with pytest.raises(UnsoundParquet, match=problem):
        Thrift(content, 0, len(content)).read()


def test_structure():
    content = b"\x15\x03\x11\x18\x01x\x29\x25\x02\x04\x1c\x16\x80\x01\0\0"
    fields = {1: -2, 2: None, 3: None, 5: [1, 2], 6: {1: 64}}
    assert Thrift(content, 0, len(content)).read() == fields


@pytest.mark.parametrize("length", [2**31, 2**32 - 1, 0])
def test_footer_of_another_length(tmp_path, length):
    path = write(tmp_path / "x.parquet")
    path.write_bytes(path.read_bytes()[:-8] + length.to_bytes(4, "little") + b"PAR1")
    with pytest.raises(UnsoundParquet, match="footer"):
        require_sound(path)
