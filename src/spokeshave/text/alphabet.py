"""Text as the kernels read it: UTF-8 bytes or code points, and tables of classes of characters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.tokens import Alphabet, Words, join_tokens
from spokeshave.text.analyzers import TOKEN, UNSPACED
from spokeshave.text.preprocess import strip_markup

N_CODES = 0x110000
_SPARE = {0: 0xF8, 1: 0xF9}  # bytes that mean something to the kernels, as bytes UTF-8 never has


@lru_cache(maxsize=4)
def make_alphabet(*, lowers: bool = True, unspaced: str | None = "bigrams") -> Alphabet:
    """Return which characters are alphanumeric, in the Unicode version of this interpreter.

    If ``lowers``, ASCII letters stand for their lower-case forms. If ``unspaced`` is None, the
    characters of scripts without spaces are like all others.
    """
    byte = np.zeros(256, np.uint8)
    byte[128:] = 1
    for letter in filter(str.isalnum, map(chr, range(128))):
        byte[ord(letter)] = ord(letter.lower() if lowers else letter)
    wide = _flag_characters(TOKEN)
    if unspaced is not None:
        wide[_flag_characters(UNSPACED) > 0] = 2
    return Alphabet(byte, wide)


@lru_cache(maxsize=2)
def make_space_alphabet(*, lowers: bool = True) -> Alphabet:
    """Return which characters are not white space, for words as `str.split` finds them."""
    byte = np.zeros(256, np.uint8)
    byte[128:] = 1
    for code in range(128):
        if not chr(code).isspace():
            letter = chr(code).lower() if lowers else chr(code)
            byte[code] = _SPARE.get(code, ord(letter))
    return Alphabet(byte, _flag_characters(re.compile(r"\S+")))


@lru_cache(maxsize=1)
def make_name_alphabet() -> Alphabet:
    """Return an alphabet in which only space and line feed separate, for names of terms."""
    byte = np.arange(256, dtype=np.uint8)
    byte[list(_SPARE)] = list(_SPARE.values())
    byte[[ord(" "), ord("\n")]] = 0
    return Alphabet(byte, np.zeros(0, np.uint8))


def _flag_characters(pattern: re.Pattern[str]) -> NDArray[np.uint8]:
    every_character = np.arange(N_CODES, dtype="<u4").tobytes().decode("utf-32", "surrogatepass")
    flags = np.zeros(N_CODES, np.uint8)
    for run in pattern.finditer(every_character):
        flags[run.start() : run.end()] = 1
    return flags


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
    return encode_bytes([text if text.isascii() else text.lower() for text in documents])


def encode_bytes(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return texts as one buffer of UTF-8, and the end of each in the buffer."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def encode_codes(text: str) -> NDArray[np.int32]:
    """Return the code points of a text.

    Examples
    --------
    >>> encode_codes("oé")
    array([111, 233], dtype=int32)
    """
    # Writable, as numbers of words are, so that one compiled kernel does for both.
    return np.frombuffer(bytearray(text, "utf-32-le", "surrogatepass"), "<i4")


def decode_codes(codes: NDArray[np.int32]) -> str:
    """Return the text of code points."""
    return codes.astype("<i4").tobytes().decode("utf-32-le", "surrogatepass")


def pad_words(words: Words) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the code points of words of `make_space_alphabet`, a space on both sides of each.

    Word t is ``codes[indptr[t] : indptr[t + 1]]`` of the result ``indptr, codes``.
    """
    joined = join_tokens(words, np.arange(words.size[0]))
    for code, spare in _SPARE.items():
        joined[joined == spare] = code
    text = joined.tobytes().decode("utf-8", "surrogatepass")
    codes = encode_codes(text.replace("\n", " \n "))  # all but the first begin with a space
    codes = np.concatenate([np.full(1, ord(" "), np.int32), codes[:-1]])
    is_end = codes == ord("\n")
    ends = np.flatnonzero(is_end) - np.arange(words.size[0])
    indptr = np.concatenate([np.zeros(1, np.int64), ends])
    return indptr, codes[~is_end][: indptr[-1]]


def decode_words(words: Words, tokens: NDArray[Any]) -> list[str]:
    """Return the words with the given token ids as strings."""
    joined: bytes = join_tokens(words, tokens).tobytes()
    return joined.decode("utf-8").split("\n")[:-1]
