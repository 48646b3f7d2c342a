"""Documents for a command: read as its options say, with a word on what was guessed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spokeshave.cli.printer import Printer

if TYPE_CHECKING:
    from spokeshave.corpus import Source
    from spokeshave.jobs.settings import Origin


@dataclass(frozen=True)
class Reading:
    """Which documents to read, and how."""

    source: str
    text: str | None
    label: str | None
    label_separator: str | None
    format: str | None
    encoding: str | None
    under: str | None
    skip_bad_rows: bool
    test: str | None
    hold_out: float = 0.0

    def __post_init__(self) -> None:
        if self.test is not None and self.hold_out:
            raise ValueError("Only one of --test and --hold-out can be given.")
        if self.source == "-" == self.test:
            raise ValueError("Only one of the documents and --test can come from standard input.")

    def list_options(self) -> dict[str, Any]:
        """Return how documents are read, as `load_source` takes it."""
        from spokeshave.corpus.options import check_column

        return {
            "text": None if self.text is None else check_column(self.text),
            "label": None if self.label is None else check_column(self.label),
            "label_separator": self.label_separator,
            "format": self.format,
            "encoding": self.encoding,
            "under": self.under,
            "bad_rows": "skip" if self.skip_bad_rows else "raise",
        }


@dataclass(frozen=True)
class Given:
    """What was read: documents to train on, those to test on or None, and words about them."""

    train: Any
    test: Any
    name: str
    read: str
    test_name: str | None = None
    n_skipped: int = 0
    text_column: str | None = None

    def describe(self, command: str) -> Origin:
        """Return where the documents come from, for the record of a run."""
        from spokeshave.jobs.settings import Origin

        return Origin(
            source=self.name,
            read=self.read,
            test_source=self.test_name,
            n_skipped=self.n_skipped,
            command=command,
            text_column=self.text_column,
        )


def read_documents(reading: Reading, printer: Printer) -> Given:
    """Read the documents of a command, and tell what was guessed."""
    from spokeshave.corpus import Split

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
        printer.note(f"nothing is held out: there are test documents in {source.name}")
    n_skipped = train.skipped
    if n_skipped:
        printer.note(f"{n_skipped:,} malformed rows were left out of {source.name}")
    column = source.text if isinstance(source.text, str) else None
    return Given(train, test, source.name, source.read, test_name, n_skipped, column)


def _load(reading: Reading, path: str, printer: Printer, n_features: int | None = None) -> Source:
    from spokeshave.corpus import load_source

    with naming_options():
        source = load_source(path, **reading.list_options(), n_features=n_features)
    for guess in source.guesses:
        printer.note(f"{source.name}: {guess}")
    return source


@contextmanager
def naming_options() -> Iterator[None]:
    """Tell which options answer where columns cannot be guessed."""
    from spokeshave.corpus.formats.columns import UnknownColumnsError

    try:
        yield
    except UnknownColumnsError as error:
        problem = f"{error.problem}; pass --text and --label"
        raise UnknownColumnsError(error.path, problem, error.line) from None


def _count_columns(documents: Any) -> int | None:
    """Return how many features vectors have, for others to be read with as many."""
    from scipy import sparse

    X: Any = getattr(documents, "X", None)
    return int(X.shape[1]) if sparse.issparse(X) else None
