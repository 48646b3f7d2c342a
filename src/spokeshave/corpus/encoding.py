"""The encoding of a file: the codec, a byte-order mark, and the guess if none is given."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from spokeshave.errors import CorpusError, EncodingError

UTF_8, LATIN_1 = "utf-8", "latin-1"

_Result = TypeVar("_Result")


def find_codec(encoding: str, path: str | Path) -> str:
    """Return the codec of an encoding; that of UTF-8 removes a byte-order mark."""
    try:
        # Encoding a character also rejects codecs that are not for text, such as hex.
        " ".encode(encoding)
    except LookupError:
        problem = f"the encoding '{encoding}' is unknown; pass one that Python knows"
        raise CorpusError(path, problem) from None
    name = codecs.lookup(encoding).name
    return "utf-8-sig" if name == "utf-8" else name


def decode(content: bytes, encoding: str, path: str | Path) -> str:
    """Decode the whole content of a file."""
    try:
        return content.decode(find_codec(encoding, path))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise explain_encoding_error(path, encoding, line) from None


def read_decoded(read: Callable[[str], _Result], encoding: str | None) -> tuple[_Result, str]:
    r"""Call a function with an encoding: the given one, or UTF-8 and, if that fails, Latin-1.

    Examples
    --------
    >>> read_decoded(lambda encoding: decode(b"na\xefve", encoding, "essay.txt"), None)
    ('naïve', 'latin-1')
    """
    if encoding is not None:
        return read(encoding), encoding
    try:
        return read(UTF_8), UTF_8
    except EncodingError:
        return read(LATIN_1), LATIN_1


def explain_guessed_encoding(encoding: str, given: str | None) -> str:
    """Explain an encoding that was guessed; UTF-8 needs no explanation."""
    is_guess = given is None and encoding != UTF_8
    return f"the encoding is {encoding}, as it is not {UTF_8}" if is_guess else ""


def explain_encoding_error(path: str | Path, encoding: str, line: int | None) -> EncodingError:
    """Return the error for a file that is not in the given encoding."""
    problem = f"the text is not {encoding}; pass the right one, for example encoding='latin-1'"
    return EncodingError(path, problem, line)
