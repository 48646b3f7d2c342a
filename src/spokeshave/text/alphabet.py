"""Text as the kernels read it: UTF-8 bytes, and a table of the alphanumeric characters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.tokens import Alphabet, Words, join_tokens
from spokeshave.text.preprocess import strip_markup


@lru_cache(maxsize=1)
def make_alphabet() -> Alphabet:
    """Return which characters are alphanumeric, in the Unicode version of this interpreter."""
    byte = np.zeros(256, np.uint8)
    byte[128:] = 1
    for letter in filter(str.isalnum, map(chr, range(128))):
        byte[ord(letter)] = ord(letter.lower())
    every_character = np.arange(0x110000, dtype="<u4").tobytes().decode("utf-32", "surrogatepass")
    wide = np.zeros(0x110000, np.bool_)
    for run in re.finditer(r"[^\W_]+", every_character):
        wide[run.start() : run.end()] = True
    return Alphabet(byte, wide)


def encode_documents(
    documents: Sequence[str], *, without_markup: bool
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return documents as one buffer of UTF-8, and the end of each in the buffer.

    Examples
    --------
    >>> text, ends = encode_documents(["<b>Oak</b>", "ash"], without_markup=True)
    >>> text.tobytes(), ends
    (b' Oak ash', array([5, 8]))
    """
    if without_markup:
        documents = [strip_markup(document) for document in documents]
    # The kernel lowers ASCII only; Python lowers the other characters.
    encoded = [
        (text if text.isascii() else text.lower()).encode("utf-8", "surrogatepass")
        for text in documents
    ]
    ends = np.cumsum([len(document) for document in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def decode_words(words: Words, tokens: NDArray[Any]) -> list[str]:
    """Return the words with the given token ids as strings."""
    joined: bytes = join_tokens(words, tokens).tobytes()
    return joined.decode("utf-8").split("\n")[:-1]
