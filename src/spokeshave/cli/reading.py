"""The documents of a command: read as its options say, with notes on guesses and skipped rows."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spokeshave.cli.options import ReadOptions
from spokeshave.cli.printer import Printer

if TYPE_CHECKING:
    from spokeshave.corpus import Source
    from spokeshave.jobs.settings import Origin


@dataclass(frozen=True)
class Loaded:
    """Training documents, test documents if there are any, and their origin."""

    train: Any
    test: Any
    origin: Origin


def describe_command() -> str:
    """Return the command as it was typed."""
    return shlex.join(["spokeshave", *sys.argv[1:]])


def read_documents(reading: ReadOptions, printer: Printer) -> Loaded:
    """Read the documents of a command."""
    from spokeshave.corpus import Split
    from spokeshave.corpus.documents import list_flaws
    from spokeshave.corpus.options import describe_skipped
    from spokeshave.jobs.settings import Origin

    source = _load(reading, reading.source, printer)
    train: Any = source.documents
    test: Any = None
    test_name = None
    if isinstance(train, Split):
        train, test, test_name = train.train, train.test, f"the test part of {source.name}"
    if reading.test is not None:
        other = _load(reading, reading.test, printer, n_features=_count_columns(train))
        test, test_name = other.documents, other.name
        if isinstance(test, Split):
            test = test.test
    if test is not None and reading.hold_out:
        printer.note(f"{source.name} has test documents, so none are held out")
    if train.skipped:
        printer.note(describe_skipped(train.skipped, source.problems, source.name))
    for flaw in list_flaws(train):
        printer.note(f"{source.name}: {flaw}")
    column = source.text if isinstance(source.text, str) else None
    origin = Origin(source.name, source.read, test_name, train.skipped, describe_command(), column)
    return Loaded(train, test, origin)


def _load(
    reading: ReadOptions, path: str, printer: Printer, n_features: int | None = None
) -> Source:
    from spokeshave.corpus import load_source

    source = load_source(path, **reading.list_parameters(), n_features=n_features)
    for guess in source.guesses:
        printer.note(f"{source.name}: {guess}")
    return source


def _count_columns(documents: Any) -> int | None:
    """Return the number of features of sparse vectors: test vectors must have as many."""
    from scipy import sparse

    X: Any = getattr(documents, "X", None)
    return int(X.shape[1]) if sparse.issparse(X) else None
