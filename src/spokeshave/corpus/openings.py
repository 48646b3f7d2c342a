"""Sources as they are opened: pipes are kept in a file, and the order for what is in them made."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from spokeshave.corpus.bad_rows import BadRows
from spokeshave.corpus.contents import ARCHIVE, sniff_compression
from spokeshave.corpus.files import strip_compression
from spokeshave.corpus.formats import guess_format, name_format, require_unpacked
from spokeshave.corpus.orders import FORMATS, Order
from spokeshave.corpus.standard_input import NAME, spool_pipe, spool_standard_input
from spokeshave.errors import CorpusError

_STANDARD_INPUT = "-"


def check_choices(source: str | Path, format: str | None, bad_rows: str) -> None:
    """Raise for a source without a name, and for choices that there are not.

    Examples
    --------
    >>> check_choices("tickets.csv", "xls", "raise")
    Traceback (most recent call last):
    ...
    ValueError: format must be one of 'csv', 'tsv', ..., 'reuters'. Got 'xls' instead.
    """
    BadRows(source, bad_rows)
    if not str(source):
        raise ValueError("source must name a file or folder, or be '-'. Got '' instead.")
    if format is not None and format not in FORMATS:
        choices = ", ".join(map(repr, FORMATS))
        raise ValueError(f"format must be one of {choices}. Got {format!r} instead.")


def is_piped(source: str | Path) -> bool:
    """Tell whether a source is standard input or a pipe, and can be read once only.

    Examples
    --------
    >>> is_piped("-"), is_piped(__file__)
    (True, False)
    """
    return str(source) == _STANDARD_INPUT or Path(source).is_fifo()


def open_source(source: str | Path, format: str | None) -> AbstractContextManager[Path]:
    """Find the file or folder to read, which is a temporary file where the source is piped.

    Examples
    --------
    >>> with open_source(__file__, None) as path:
    ...     path.name
    'openings.py'
    """
    if str(source) == _STANDARD_INPUT:
        return spool_standard_input(format)
    # A pipe can be read once only, and telling its format takes a look before.
    if is_piped(source):
        return spool_pipe(Path(source), format)
    return nullcontext(Path(source))


def find_name(source: str | Path) -> str:
    """Return what a source is called.

    Examples
    --------
    >>> find_name("-"), find_name("data/tickets.csv")
    ('standard input', 'tickets.csv')
    """
    if str(source) == _STANDARD_INPUT:
        return NAME
    return Path(source).name or Path(source).resolve().name


def place_order(path: Path, format: str | None, **options: Any) -> Order:
    """Make the order for what is in a file or folder, with its format guessed where it is None.

    Examples
    --------
    >>> place_order(Path("tickets.csv"), None, text="body").format
    'csv'
    """
    _require_readable(path, format)
    return Order(path, format or guess_format(path), **options)


def explain_format(source: str | Path, format: str | None, order: Order) -> str:
    """Say why a format was taken, where it was told neither by anyone nor by a name.

    Examples
    --------
    >>> explain_format("tickets", None, Order(Path("tickets"), "csv"))
    'the format is csv by its content'
    """
    is_told = bool(format or order.path.is_dir() or name_format(source))
    return "" if is_told else f"the format is {order.format} by its content"


def _require_readable(path: Path, format: str | None) -> None:
    """Raise for a spreadsheet, and for a file that is compressed as its name or format forbids."""
    if path.suffix.lower() in (".xlsx", ".xls", ".ods"):
        raise CorpusError(path, "this is a spreadsheet; save it as csv")
    if not path.is_file():
        return
    if (format or name_format(path)) == "parquet":
        require_unpacked(path)
    is_said = strip_compression(path) != path or name_format(path) == ARCHIVE
    if not is_said and (compression := sniff_compression(path)):
        raise CorpusError(path, f"it is compressed; give it a name that ends in '{compression}'")
