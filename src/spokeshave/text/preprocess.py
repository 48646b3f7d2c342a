"""Raw text before it is tokenised: markup and accents removed, documents grouped into chunks."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from typing import Any

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


def strip_accents_ascii(text: str) -> str:
    """Return the text with characters replaced by their ASCII parts, or left out.

    Examples
    --------
    >>> strip_accents_ascii("Čeština, 日本")
    'Cestina, '
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def strip_accents_unicode(text: str) -> str:
    """Return the text in compatibility decomposition, without combining characters.

    Examples
    --------
    >>> strip_accents_unicode("Čeština, 日本")
    'Cestina, 日本'
    """
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join([c for c in decomposed if not unicodedata.combining(c)])


def require_column(documents: Any, parameter: str) -> None:
    """Raise ValueError for one string, and for a table, whose column names would be read."""
    problem = f"{parameter} must be an iterable of strings."
    if isinstance(documents, str | bytes):
        raise ValueError(f"{problem} Got a single string instead.")
    if hasattr(documents, "columns") or isinstance(documents, Mapping):
        found = type(documents).__name__
        raise ValueError(f"{problem} Got a {found} instead: pass its column of texts.")


def split_chunks(
    documents: Iterable[str], size: int, parameter: str, n_most: int = sys.maxsize
) -> Iterator[list[str]]:
    """Yield lists of at most ``n_most`` documents, of about ``size`` characters each.

    Errors call the documents by the name in ``parameter``.

    Examples
    --------
    >>> list(split_chunks(["ash", "oak", "yew"], 6, "documents"))
    [['ash', 'oak'], ['yew']]
    >>> list(split_chunks(["ash", "oak", "yew"], 6, "documents", 1))
    [['ash'], ['oak'], ['yew']]
    """
    require_column(documents, parameter)
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
        if n_characters >= size or len(chunk) >= n_most:
            yield chunk
            chunk, n_characters = [], 0
    if chunk:
        yield chunk
