"""Text before it is split into words: chunks, markup, and encoding for the kernels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from spokeshave.kernels.tokens import Alphabet, Words

# Comments, scripts and style sheets are removed with their content. An unclosed one ends with the
# text, as in a browser. A tag is a name in angle brackets, so <a@b.org> and 1 < 2 are text.
_MARKUP = re.compile(
    r"""<(?: !--.*?(?:-->|\Z)
          | (script|style)\b[^>]*(?:>.*?(?:</\1\s*>|\Z)|\Z)
          | [!?][a-z\[][^<>]*>
          | /?[a-z][\w:.-]*(?:\s[^<>]*)?/?> )""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)


def strip_markup(text: str) -> str:
    """Return the text with each tag or comment replaced by a space and entities decoded.

    Examples
    --------
    >>> strip_markup("<p class=lead>Salt &amp; pepper</p>")
    ' Salt & pepper '
    >>> strip_markup("1 < 2, said <ann@example.org>")
    '1 < 2, said <ann@example.org>'
    """
    if "<" in text:
        text = _MARKUP.sub(" ", text)
    return unescape(text)


def split_chunks(documents: Iterable[str], size: int, parameter: str) -> Iterator[list[str]]:
    """Yield lists of documents of about ``size`` characters each.

    Errors call the documents by the name in ``parameter``.

    Examples
    --------
    >>> list(split_chunks(["ash", "oak", "yew"], 6, "documents"))
    [['ash', 'oak'], ['yew']]
    """
    if isinstance(documents, str | bytes):
        problem = f"{parameter} must be an iterable of strings."
        raise ValueError(f"{problem} Got a single string instead.")
    chunk: list[str] = []
    n_characters = 0
    for number, document in enumerate(documents):
        if not isinstance(document, str):
            raise ValueError(
                f"{parameter} must be strings. Got {type(document).__name__} at position "
                f"{number} instead."
            )
        chunk.append(document)
        n_characters += len(document)
        if n_characters >= size:
            yield chunk
            chunk, n_characters = [], 0
    if chunk:
        yield chunk


@lru_cache(maxsize=1)
def make_alphabet() -> Alphabet:
    """Return which characters are alphanumeric, in the Unicode version of this interpreter."""
    from spokeshave.kernels.tokens import Alphabet  # models predict without numba

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
    from spokeshave.kernels.tokens import join_tokens

    joined: bytes = join_tokens(words, tokens).tobytes()
    return joined.decode("utf-8").split("\n")[:-1]
