"""The encoding of a source: the one that is asked for, or else the first that fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from spokeshave.errors import EncodingError

USUAL, OLD = "utf-8", "latin-1"

_Read = TypeVar("_Read")


def read_decoded(read: Callable[[str], _Read], asked: str | None) -> tuple[_Read, str]:
    r"""Read with an encoding, and return what was read and the encoding.

    Parameters
    ----------
    read : callable
        Reads with the encoding it is given.
    asked : str, optional
        The encoding; where it is not given, UTF-8, or Latin-1 where that does not fit.

    Examples
    --------
    >>> from spokeshave.corpus.files import decode
    >>> read_decoded(lambda encoding: decode(b"na\xefve", encoding, "essay.txt"), None)
    ('naïve', 'latin-1')
    """
    if asked is not None:
        return read(asked), asked
    try:
        return read(USUAL), USUAL
    except EncodingError:
        return read(OLD), OLD


def is_guessed(encoding: str, asked: str | None) -> bool:
    """Tell whether an encoding is worth a word, as nobody asked for it and few expect it.

    Examples
    --------
    >>> is_guessed("latin-1", None), is_guessed("utf-8", None), is_guessed("latin-1", "latin-1")
    (True, False, False)
    """
    return asked is None and encoding != USUAL


def explain_encoding(encoding: str, asked: str | None) -> str:
    """Say why an encoding was taken, where it was guessed.

    Examples
    --------
    >>> explain_encoding("latin-1", None)
    'the encoding is latin-1, as it is not utf-8'
    """
    is_guess = is_guessed(encoding, asked)
    return f"the encoding is {encoding}, as it is not {USUAL}" if is_guess else ""
