"""``spokeshave predict``: labels for documents, a few rows at a time, however many there are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from spokeshave.cli import options
from spokeshave.cli.printer import Printer
from spokeshave.cli.progress import track
from spokeshave.cli.settings import check_choice

if TYPE_CHECKING:
    from spokeshave.corpus.batches import Batch
    from spokeshave.corpus.streams import Stream
    from spokeshave.model import Model
    from spokeshave.predicting import Columns

STREAMED = ("text", "csv", "tsv", "jsonl", "parquet")
VECTORS = ("svmlight", "arff")
WRITTEN = ("csv", "tsv", "jsonl", "parquet")
SCORES = ("none", "best", "all")
N_ROWS = 1_000

Opened: TypeAlias = "tuple[Stream, Iterator[tuple[Batch, Any]]]"


def predict(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    source: Annotated[
        str,
        typer.Argument(
            help="Documents: csv, tsv, jsonl, parquet, or text with one on each line; plain or "
            "compressed; - for standard input.",
        ),
    ] = "-",
    text: options.Text = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            help="File to write. [default: standard output]",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=options.OUTPUT,
            help="Format to write: csv, tsv, jsonl or parquet. [default: that of the input]",
            autocompletion=lambda: list(WRITTEN),
        ),
    ] = None,
    scores: Annotated[
        str,
        typer.Option(
            rich_help_panel=options.OUTPUT,
            help="Scores to add: none, best or all.",
            autocompletion=lambda: list(SCORES),
        ),
    ] = "none",
    probability: Annotated[
        bool,
        typer.Option(
            "--probability",
            "-p",
            rich_help_panel=options.OUTPUT,
            help="Probabilities instead of scores.",
        ),
    ] = False,
    prefix: Annotated[
        str,
        typer.Option(
            rich_help_panel=options.OUTPUT, help="What the names of the new columns begin with."
        ),
    ] = "predicted_",
    label_separator: options.LabelSeparator = None,
    format: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=options.DOCUMENTS,
            help="Format of the input, where its name does not tell; text on standard input.",
            autocompletion=lambda: [*STREAMED, *VECTORS],
        ),
    ] = None,
    encoding: options.Encoding = None,
    skip_bad_rows: options.SkipBadRows = False,
    as_json: Annotated[
        bool, typer.Option("--json", rich_help_panel=options.OUTPUT, help="The same as --to jsonl.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Add the label of each document to a table of them.

    Memory does not grow with the input. The columns of the input are kept, and labels are added
    after them, with scores where asked for.

    Example: spokeshave predict tickets.model new.csv --out labelled.csv --scores best
    """
    from spokeshave.model_file import load_model
    from spokeshave.predicting import Columns

    printer = Printer(as_json, quiet)
    if format is not None:
        check_choice("--format", format, (*STREAMED, *VECTORS))
    if to is not None:
        check_choice("--to", to, WRITTEN)
    check_choice("--scores", scores, SCORES)
    wanted = Columns("best" if probability and scores == "none" else scores, probability,
                     label_separator)  # fmt: skip
    found = load_model(model)
    if probability and found.calibration_ is None:
        raise ValueError(f"{model}: the model has no probabilities; leave out --probability")
    asked = _Asked(source, text, format or _find_format(source), encoding, skip_bad_rows)
    open_documents = _open_texts if _check_kind(found, asked) else _open_vectors
    with open_documents(found, asked, printer) as (stream, pairs):
        pairs = track(pairs, source, is_quiet=quiet)
        _write(found, stream, pairs, out, "jsonl" if as_json else to, prefix, wanted, printer)


@dataclass(frozen=True)
class _Asked:
    """Which documents are to be labelled."""

    source: str
    text: str | None
    format: str
    encoding: str | None
    skip_bad_rows: bool

    @property
    def bad_rows(self) -> str:
        return "skip" if self.skip_bad_rows else "raise"


def _check_kind(model: Model, asked: _Asked) -> bool:
    """Say whether a model reads texts, as the documents must be then."""
    from spokeshave.inputs import TextInput

    reads_text = isinstance(model.input, TextInput)
    if reads_text != (asked.format in STREAMED):
        kinds = "texts" if reads_text else "vectors, as svmlight or arff"
        hint = "; say with --format what it is" if asked.source == "-" else ""
        raise ValueError(
            f"{asked.source}: the model reads {kinds}, and this is {asked.format}{hint}"
        )
    return reads_text


@contextmanager
def _open_texts(model: Model, asked: _Asked, printer: Printer) -> Iterator[Opened]:
    from spokeshave.corpus.streams import open_stream

    encoding = asked.encoding or "utf-8"
    column, has_header = _find_text(model, asked, encoding, printer)
    with open_stream(
        asked.source,
        format=asked.format,
        text=column,
        has_header=has_header,
        encoding=encoding,
        bad_rows=asked.bad_rows,
    ) as stream:
        yield stream, ((batch, batch.texts) for batch in stream)


@contextmanager
def _open_vectors(model: Any, asked: _Asked, printer: Printer) -> Iterator[Opened]:
    """Open vectors, which are read as a whole; their rows are known by their numbers."""
    from spokeshave.corpus import Vectors, load_source
    from spokeshave.corpus.bad_rows import BadRows
    from spokeshave.corpus.batches import CellBatch
    from spokeshave.corpus.streams import Stream

    is_svmlight = asked.format == "svmlight"
    loaded = load_source(
        asked.source,
        format=asked.format,
        encoding=asked.encoding,
        bad_rows=asked.bad_rows,
        n_features=model.input.n_features if is_svmlight else None,
    )
    if not isinstance(loaded.documents, Vectors):
        raise ValueError(f"{asked.source}: the model reads vectors, and these are texts")
    X = loaded.documents.X
    if loaded.documents.skipped:
        printer.note(f"{loaded.documents.skipped:,} malformed rows were left out")
    stream = Stream(
        loaded.name, "csv", True, ("row",), iter(()), BadRows(loaded.name, asked.bad_rows)
    )
    slices = [slice(start, start + N_ROWS) for start in range(0, X.shape[0], N_ROWS)]
    numbers = list(range(1, X.shape[0] + 1))
    yield (
        stream,
        (
            (CellBatch(("row",), numbers[at], [], [[str(n)] for n in numbers[at]]), X[at])
            for at in slices
        ),
    )


def _find_format(source: str) -> str:
    if source == "-":
        return "text"
    from spokeshave.corpus.files import require_file, strip_compression
    from spokeshave.corpus.formats import guess_format

    require_file(source)
    is_text = strip_compression(source).suffix.lower() in (".txt", ".text")
    return "text" if is_text else guess_format(source)


def _find_text(model: Model, asked: _Asked, encoding: str, printer: Printer) -> tuple[Any, bool]:
    """Return the column of texts and whether columns have names.

    It is the one that was told, that of the training documents, or one that is told by its name.
    """
    if asked.format == "text":
        return "text", True
    from spokeshave.corpus.column_names import check_column
    from spokeshave.corpus.columns import guess_columns, list_columns

    text, learned = asked.text, model.provenance.get("text_column")
    if asked.source == "-":  # which cannot be looked at before it is read
        column = check_column(text if text is not None else learned)
        return ("text" if column is None else column), not isinstance(column, int)
    if text is None and learned in list_columns(asked.source, asked.format, encoding):
        text = learned
    columns = guess_columns(
        asked.source, asked.format, encoding, text=check_column(text), labelled=False
    )
    if columns.reason and text is None:
        printer.note(f"{asked.source}: {columns.reason}")
    return columns.text, columns.has_header


def _write(
    model: Model,
    stream: Stream,
    pairs: Iterator[tuple[Batch, Any]],
    out: str | None,
    to: str | None,
    prefix: str,
    wanted: Columns,
    printer: Printer,
) -> None:
    from spokeshave.corpus.sinks import open_sink
    from spokeshave.predicting import predict_columns

    with open_sink(out, stream, format=to, prefix=prefix) as sink:
        for batch, documents in pairs:
            sink.write(batch, predict_columns(model, documents, wanted))
    if stream.skipped:
        printer.note(f"{stream.skipped:,} malformed rows were left out of {stream.name}")
    if out is not None and out != "-":
        printer.note(f"{sink.rows:,} rows written to {out}")
