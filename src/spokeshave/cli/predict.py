"""``spokeshave predict``: labels for documents, a few rows at a time, however many there are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spokeshave.cli import options
from spokeshave.cli.printer import Printer
from spokeshave.cli.progress import track
from spokeshave.cli.settings import check_choice

if TYPE_CHECKING:
    from spokeshave.model.label_files import Labelling
    from spokeshave.model.model import Model

STREAMED = ("text", "csv", "tsv", "jsonl", "parquet")
VECTORS = ("svmlight", "arff")
WRITTEN = ("csv", "tsv", "jsonl", "parquet")
SCORES = ("none", "best", "all")


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
            help="File to write, or with --cluster a folder. [default: standard output]",
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
    cluster: options.Cluster = None,
    as_json: Annotated[
        bool, typer.Option("--json", rich_help_panel=options.OUTPUT, help="The same as --to jsonl.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Add the label of each document to a table of them.

    Memory does not grow with the input. The columns of the input are kept, and labels are added
    after them, with scores where asked for. With --cluster workers label many files, each of which
    becomes a file in a folder.

    Example: spokeshave predict tickets.model new.csv --out labelled.csv --scores best
    """
    printer = Printer(as_json, quiet)
    if format is not None:
        check_choice("--format", format, (*STREAMED, *VECTORS))
    if to is not None:
        check_choice("--to", to, WRITTEN)
    check_choice("--scores", scores, SCORES)
    if cluster is not None:
        from spokeshave.cli.cluster import check_folder, predict_parts

        out = check_folder(source, out)
    from spokeshave.model.file import load_model
    from spokeshave.model.label_files import Labelling, choose_columns

    found = load_model(model)
    if probability and found.calibration_ is None:
        raise ValueError(f"{model}: the model has no probabilities; leave out --probability")
    how: dict[str, Any] = {
        "text": text,
        "format": format,
        "encoding": encoding,
        "bad_rows": "skip" if skip_bad_rows else "raise",
        "to": "jsonl" if as_json else to,
        "prefix": prefix,
    }
    if cluster is not None and out is not None:
        how |= {"scores": scores, "probability": probability, "label_separator": label_separator}
        predict_parts(cluster, found, source, out, how, printer)
        return
    columns = choose_columns(found, scores, label_separator, as_probability=probability)
    predict_file(found, source, out, Labelling(**how, columns=columns), printer)


def predict_file(
    model: Model, source: str, out: str | None, asked: Labelling, printer: Printer
) -> None:
    """Label the documents of a file, and tell what was guessed, left out and written."""
    from spokeshave.model.label_files import label_file

    done = label_file(
        model,
        source,
        out,
        asked,
        say=lambda reason: printer.note(f"{source}: {reason}"),
        track=partial(track, source=source, is_quiet=printer.is_quiet),
    )
    if done.n_skipped:
        name = "standard input" if source == "-" else source
        printer.note(f"{done.n_skipped:,} malformed rows were left out of {name}")
    if out is not None and out != "-":
        printer.note(f"{done.n_rows:,} rows written to {out}")
