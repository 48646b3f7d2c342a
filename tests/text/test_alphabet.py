"""Text as bytes: what the kernels are given is what Python makes of it."""

from __future__ import annotations

import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spokeshave.text.alphabet import encode_documents, make_alphabet
from spokeshave.text.preprocess import strip_markup

LETTERS = "aZ9_ <b>&;éßẞİΣςИ中٣½\U0001d552\u0301\ud800"
TEXTS = st.lists(st.text(st.sampled_from(LETTERS), max_size=20) | st.text(max_size=9), max_size=6)


@given(TEXTS, st.booleans())
def test_every_document_is_where_its_end_says(documents, without_markup):
    text, ends = encode_documents(documents, without_markup=without_markup)
    assert text.dtype == np.uint8
    assert len(ends) == len(documents)
    starts = [0, *ends.tolist()]
    for document, start, end in zip(documents, starts, ends.tolist(), strict=False):
        expected = strip_markup(document) if without_markup else document
        found = text[start:end].tobytes().decode("utf-8", "surrogatepass")
        assert found.lower() == expected.lower()
        assert expected.isascii() or found == expected.lower()
    assert text.size == starts[-1]


def test_no_documents_are_no_bytes():
    text, ends = encode_documents([], without_markup=True)
    assert text.size == ends.size == 0


def test_only_python_knows_what_some_letters_become():
    text, _ = encode_documents(["ΑΣ ΣΑ İ ẞ"], without_markup=False)
    assert text.tobytes().decode() == "ας σα i̇ ß"


def test_lowering_twice_is_lowering_once():  # a vocabulary is lowered again when it is read
    every = [chr(code).lower() for code in range(sys.maxunicode + 1)]
    assert [letter.lower() for letter in every] == every


def test_the_alphabet_is_made_once():
    assert make_alphabet() is make_alphabet()


def test_bytes_beyond_ascii_are_parts_of_wide_characters():
    byte, wide = make_alphabet()
    assert (byte[128:] == 1).all()
    assert not byte[[ord("_"), ord(" "), 0]].any()
    assert byte[ord("Z")] == ord("z")
    assert wide[ord("é")]
    assert not wide[0x301]
    assert not wide[0xD800]
