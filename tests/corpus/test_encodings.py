"""Encodings that are asked for, and those that fit."""

from __future__ import annotations

import pytest

from spokeshave.corpus.encodings import explain_encoding, is_guessed, read_decoded
from spokeshave.corpus.files import decode
from spokeshave.errors import CorpusError


def read(content, asked=None):
    return read_decoded(lambda encoding: decode(content, encoding, "essay.txt"), asked)


def test_first_that_fits():
    assert read("café".encode()) == ("café", "utf-8")
    assert read("café".encode("latin-1")) == ("café", "latin-1")


def test_what_is_asked_for_is_taken():
    assert read(b"caf\x82", "cp437") == ("café", "cp437")
    with pytest.raises(CorpusError, match="the text is not utf-8"):
        read(b"caf\xe9", "utf-8")


def test_other_errors_pass():
    def refuse(encoding):
        raise CorpusError("essay.txt", f"there is nothing in it in {encoding}")

    with pytest.raises(CorpusError, match="there is nothing in it in utf-8"):
        read_decoded(refuse, None)


@pytest.mark.parametrize(
    ("encoding", "asked", "guessed"),
    [("utf-8", None, False), ("latin-1", None, True), ("latin-1", "latin-1", False)],
)
def test_what_is_said(encoding, asked, guessed):
    assert is_guessed(encoding, asked) == guessed
    reason = "the encoding is latin-1, as it is not utf-8"
    assert explain_encoding(encoding, asked) == (reason if guessed else "")
