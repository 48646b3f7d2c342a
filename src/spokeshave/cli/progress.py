"""How far a stream of rows has come, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from spokeshave.corpus.rewrite.row_reader import RowBatch

PLAIN = (".csv", ".tsv", ".jsonl", ".txt", ".text")
HEAD = 1 << 20  # bytes that tell how long lines are

Documents = TypeVar("Documents")


def track(
    pairs: Iterator[tuple[RowBatch, Documents]], source: str, *, is_quiet: bool
) -> Iterator[tuple[RowBatch, Documents]]:
    """Pass batches of rows on, with a bar on standard error where that is a terminal."""
    if is_quiet or not sys.stderr.isatty():
        yield from pairs
        return

    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.completed:,.0f} rows"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=estimate_lines(source))
        for batch, documents in pairs:
            yield batch, documents
            if len(batch):
                progress.update(task, completed=batch.numbers[-1])


def estimate_lines(source: str) -> float | None:
    """Return about how many lines a plain file has, None where that cannot be told.

    Examples
    --------
    >>> estimate_lines("-") is None
    True
    """
    path = Path(source)
    if path.suffix.lower() not in PLAIN or not path.is_file():
        return None
    with path.open("rb") as stream:
        head = stream.read(HEAD)
    n_lines = head.count(b"\n")
    return path.stat().st_size / len(head) * n_lines if n_lines else None
