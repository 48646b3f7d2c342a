"""``spokeshave shape``: features shaped to suit a linear weight, and a model on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from spokeshave.cli import options
from spokeshave.cli.fit import (
    choose_prefix,
    describe_command,
    emit_run,
    show_files,
    show_judgements,
    write_results,
)
from spokeshave.cli.printer import Printer
from spokeshave.cli.reading import Reading, read_documents
from spokeshave.cli.settings import make_settings

if TYPE_CHECKING:
    from spokeshave.jobs.record import RunRecord, ShapeRecord

N_SHAPES = 12  # shown on a terminal; the report has more
N_VALUES = 5


def shape(
    source: options.Source,
    text: options.Text = None,
    label: options.Label = None,
    label_separator: options.LabelSeparator = None,
    test: options.Test = None,
    hold_out: options.HoldOut = 0.0,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            rich_help_panel=options.OUTPUT,
            help="Where to write: OUT.model, OUT.run.json, OUT.html. [default: the name of the "
            "source with -shaped, here]",
        ),
    ] = None,
    C: options.Cost = "1",
    min_df: options.MinDf = 2,
    format: options.Format = None,
    encoding: options.Encoding = None,
    under: options.Under = None,
    skip_bad_rows: options.SkipBadRows = False,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = -1,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Shape features to suit a linear weight, train on them, and compare.

    Each value becomes the share of the class among documents with values near it, scaled by
    Bi-Normal Separation. Texts become counts of words. Writes the model, the record of the run,
    and a report with the shapes.

    Example: spokeshave shape diabetes.arff
    """
    from spokeshave.cli.steps import Steps, prepare_job

    printer = Printer(as_json, quiet)
    settings = make_settings(
        C=C,
        hold_out=hold_out,
        min_df=min_df,
        seed=seed,
        n_jobs=n_jobs,
    )
    if settings.C == "auto":
        raise ValueError("--C must be a number where features are shaped. Got 'auto' instead.")
    reading = Reading(
        source, text, label, label_separator, format, encoding, under, skip_bad_rows, test, hold_out
    )
    prefix = choose_prefix(out, source, "-shaped")
    with printer.noting_warnings(), Steps(is_quiet=quiet) as steps:
        given = steps.run("reading", read_documents, reading, printer)
        # Slow: bad input is told without it.
        from spokeshave.jobs.shape import list_shaping_steps, run_shaping

        prepare_job(steps, {**list_shaping_steps(), "writing": 3.0})
        origin = given.describe(describe_command())
        finished = run_shaping(
            given.train, given.test, settings=settings, origin=origin, stopwatch=steps
        )
        written = steps.run("writing", write_results, finished, prefix, printer)
    if as_json:
        emit_run(finished.record, written, printer)
    elif not quiet:
        show_shaping(finished.record, printer)
        show_files(finished.record, written, printer)


def show_shaping(record: RunRecord, printer: Printer) -> None:
    """Print the comparison and some of the shapes."""
    printer.say(record.headline, style="bold")
    show_judgements(record, printer)
    printer.say()
    printer.tabulate(
        ["class", record.data.unit.removesuffix("s"), "weight", "what values become"],
        [
            [shape.class_name, shape.feature, f"{shape.weight:+.3g}", write_shape(shape)]
            for shape in record.shapes[:N_SHAPES]
        ],
        n_left=4,
    )
    if len(record.shapes) > N_SHAPES:
        printer.say(f"and {len(record.shapes) - N_SHAPES} more in the report")


def write_shape(shape: ShapeRecord) -> str:
    """Write a few values of a feature and what they become, spread over all it has."""
    n_values = len(shape.values)
    step = max(1, (n_values - 1) // (N_VALUES - 1)) if n_values > N_VALUES else 1
    places = list(range(0, n_values, step))[:N_VALUES]
    pairs = [(shape.values[place], shape.images[place]) for place in places]
    if shape.n_zero:
        pairs.insert(0, (0.0, shape.zero))
    return "  ".join(
        f"{value if isinstance(value, str) else format(value, '.3g')}: {image:.2f}"
        for value, image in pairs
    )
