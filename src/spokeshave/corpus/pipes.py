"""Standard input as a file of documents, read as it comes."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader, TextIOWrapper
from typing import Any

from spokeshave.corpus.files import explain_damage, find_codec, undecodable
from spokeshave.corpus.standard_input import NAME
from spokeshave.errors import CorpusError

_OPENERS: dict[re.Pattern[bytes], Callable[..., Any]] = {
    re.compile(rb"\x1f\x8b"): gzip.open,
    re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"): bz2.open,
    re.compile(rb"\xfd7zXZ\0"): lzma.open,
}


@contextmanager
def open_piped_text(encoding: str) -> Iterator[TextIOWrapper]:
    r"""Open standard input for reading text, decompressed as its first bytes say.

    Its line ends are left as they are, and a byte-order mark is no part of the text. Standard
    input is left open.

    Examples
    --------
    >>> from io import BytesIO
    >>> standard_input, sys.stdin = sys.stdin, TextIOWrapper(BytesIO(gzip.compress(b"oak\n")))
    >>> with open_piped_text("utf-8") as stream:
    ...     stream.read()
    'oak\n'
    >>> sys.stdin = standard_input
    """
    codec = find_codec(encoding, NAME)
    with explain_damage(NAME), _open_piped() as pipe:
        stream = TextIOWrapper(pipe, encoding=codec, newline="")
        try:
            yield stream
        except UnicodeError:
            # What was read is gone, and with it the number of the line.
            raise CorpusError(NAME, undecodable(NAME, encoding, 0).problem) from None
        finally:
            stream.detach()


@contextmanager
def _open_piped() -> Iterator[Any]:
    if sys.stdin is None:
        raise ValueError(f"{NAME} is closed; pipe a file into it or name a file")
    pipe: Any = BufferedReader(sys.stdin.buffer)
    try:
        yield _decompress(pipe)
    finally:
        pipe.detach()


def _decompress(pipe: Any) -> Any:
    head = pipe.peek()
    for magic, opener in _OPENERS.items():
        if magic.match(head):
            return opener(pipe)
    return pipe
