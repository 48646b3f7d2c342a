"""Documents in pieces of about the same number of characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def split_chunks(documents: Iterable[str], size: int, parameter: str) -> Iterator[list[str]]:
    """Yield lists of documents of about ``size`` characters in all.

    ``parameter`` is what an error calls the documents.

    Examples
    --------
    >>> list(split_chunks(["ash", "oak", "yew"], 6, "documents"))
    [['ash', 'oak'], ['yew']]
    """
    if isinstance(documents, str | bytes):
        problem = f"{parameter} must be an iterable of strings."
        raise ValueError(f"{problem} Got a single string instead.")
    chunk: list[str] = []
    filled = 0
    for number, document in enumerate(documents):
        if not isinstance(document, str):
            raise ValueError(
                f"{parameter} must be strings. Got {type(document).__name__} at position "
                f"{number} instead."
            )
        chunk.append(document)
        filled += len(document)
        if filled >= size:
            yield chunk
            chunk, filled = [], 0
    if chunk:
        yield chunk
