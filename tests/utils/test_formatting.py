"""Measures and numbers written for people."""

from __future__ import annotations

import json
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spokeshave.metrics import MEASURES
from spokeshave.utils.formatting import (
    LABELS,
    UNITS,
    escape,
    parse_size,
    write_share,
    write_size,
)


def test_every_measure_has_a_label():
    assert set(LABELS) == set(MEASURES)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, ".000"), (0.8714, ".871"), (0.9996, "1.000"), (1.0, "1.000"), (0.0004, ".000")],
)
def test_shares(value, text):
    assert write_share(value) == text


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1_000, "1 KB"),
        (190_200, "190 KB"),
        (999_400, "999 KB"),
        (1_000_000, "1.0 MB"),
        (2_340_000, "2.3 MB"),
    ],
)
def test_sizes(n_bytes, text):
    assert write_size(n_bytes) == text


@pytest.mark.parametrize(
    ("size", "n_bytes"),
    [
        (1, 1),
        (np.int64(4096), 4096),
        ("7", 7),
        ("512MB", 512_000_000),
        ("2GB", 2_000_000_000),
        ("2 gb", 2_000_000_000),
        (" 1.5 GiB ", 1_610_612_736),
        ("10kb", 10_000),
        ("10KiB", 10_240),
        ("3B", 3),
        ("1TB", 10**12),
        ("0.5TiB", 2**39),
    ],
    ids=str,
)
def test_sizes_are_numbers_of_bytes(size, n_bytes):
    found = parse_size(size)
    assert found == n_bytes
    assert type(found) is int


@given(st.integers(1, 8000), st.sampled_from(sorted(UNITS)), st.booleans())
def test_whole_numbers_of_any_unit_are_exact(number, unit, is_lower):
    text = f"{number}{unit}"
    assert parse_size(text.lower() if is_lower else text) == number * UNITS[unit]


NUMBERS = [0, -5, True, False, None, 2e9, b"2GB", [2]]
TEXTS = ["", "MB", "0", "0GB", "-1GB", "1e9", "2 G B", "2GBs", "2,5GB", "two", "1.GB", ".5GB"]


@pytest.mark.parametrize("size", [*NUMBERS, *TEXTS, "0.1B", "nan", "inf"], ids=repr)
def test_anything_else_gets_one_sentence(size):
    sentence = "memory must be a number of bytes, or text such as '512MB', .* Got .* instead."
    with pytest.raises(ValueError, match=sentence) as caught:
        parse_size(size)
    assert repr(size) in str(caught.value)


def test_a_number_beyond_all_floats_gets_one_sentence():
    with pytest.raises(ValueError, match="memory must be"):
        parse_size("9" * 400 + "GB")


def test_the_sentence_names_the_parameter():
    with pytest.raises(ValueError, match="limit must be a number of bytes"):
        parse_size("much", "limit")


# Invisible characters that are parts of words and of emoji, or that only say where a line may end.
HARMLESS = {0xAD, 0x600, 0x6DD, 0x70F, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF}


def test_whatever_controls_a_terminal_is_escaped():
    for code in range(sys.maxunicode + 1):
        shown = escape(chr(code))
        kind = unicodedata.category(chr(code))
        if kind in ("Cc", "Zl", "Zp") or unicodedata.bidirectional(chr(code)) in BIDI:
            assert shown.isascii()
            assert shown.isprintable()
            assert json.loads(f'"{shown}"') == chr(code)
        else:
            assert shown == chr(code) or kind == "Cf"


BIDI = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


@pytest.mark.parametrize("code", sorted(HARMLESS))
def test_what_words_are_made_of_stays(code):
    assert escape(chr(code)) == chr(code)


def test_lines_can_be_kept():
    assert escape("a\tb\n\x1b\r\u202e", keep_lines=True) == "a\tb\n\\u001b\\r\\u202e"
    assert escape("a\tb\n") == "a\\tb\\n"
