"""Printing: results go to standard output, notes to standard error.

Everything printed is escaped here: names and texts come from files that others have made.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

from spokeshave.utils.formatting import escape

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 10_000  # piped output is never wrapped
CHART_WIDTH = 100  # of piped output


@dataclass(frozen=True)
class Printer:
    """Prints styled text on a terminal, plain text to a pipe, or JSON lines.

    Attributes
    ----------
    as_json : bool
        Whether results are printed as JSON, and nothing else.
    is_quiet : bool
        Whether notes are suppressed.
    """

    as_json: bool = False
    is_quiet: bool = False

    def note(self, sentence: str) -> None:
        """Print a note on standard error."""
        if not self.is_quiet:
            print_error(f"note: {sentence}")

    def emit(self, record: Any) -> None:
        """Print a JSON value on one line."""
        encoding = getattr(sys.stdout, "encoding", None) or ""
        is_ascii = not encoding.lower().startswith("utf")
        print(escape(json.dumps(record, ensure_ascii=is_ascii, allow_nan=False)))

    def say(self, text: str = "", *, style: str | None = None) -> None:
        """Print a line of text; nothing in it is taken as markup."""
        self.console.print(escape(text), style=style, markup=False, soft_wrap=True)

    def tabulate(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]], *, n_left: int = 1
    ) -> None:
        """Print a table; the first `n_left` columns are aligned left, the others right."""
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False)
        for number, column in enumerate(columns):
            side: Any = "left" if number < n_left else "right"
            table.add_column(Text(escape(column)), justify=side, overflow="fold")
        for row in rows:
            table.add_row(*(Text(escape(cell)) for cell in row))
        with self.console.capture() as captured:
            self.console.print(table)
        for line in captured.get().splitlines():
            self.console.out(line.rstrip(), highlight=False)

    @contextmanager
    def noting_warnings(self) -> Iterator[None]:
        """Print the warnings of the block as notes when it ends, each once."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for sentence in dict.fromkeys(str(warning.message) for warning in caught):
            self.note(sentence)

    @cached_property
    def console(self) -> Console:
        from rich.console import Console

        plain: dict[str, Any] = {"highlight": False, "emoji": False}
        console = Console(**plain)
        return console if console.is_terminal else Console(**plain, width=WIDE)

    @property
    def width(self) -> int:
        """The width of a chart: that of the terminal, or a fixed one for a pipe."""
        return self.console.width if self.console.is_terminal else CHART_WIDTH


def print_error(line: str) -> None:
    """Print a line on standard error; where nobody reads it any more, the run goes on without."""
    try:
        print(escape(line), file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def discard(stream: IO[str] | None) -> None:
    """Discard the rest of a stream: what is buffered, and what is still to be written."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
