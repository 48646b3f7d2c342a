"""``spokeshave fit``: the whole job, from labelled documents to a model, a record and a report."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spokeshave.cli import options
from spokeshave.cli.chart import choose_glyphs, draw_chart
from spokeshave.cli.printer import Printer
from spokeshave.cli.reading import Given, Reading, read_documents
from spokeshave.cli.settings import make_settings

if TYPE_CHECKING:
    from spokeshave.jobs.fit import JobResult
    from spokeshave.jobs.record import RunRecord
    from spokeshave.jobs.settings import Settings

N_CLASSES = 30  # shown on a terminal; the report has all
N_WORDS = 5


def fit(
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
            "source, here]",
        ),
    ] = None,
    method: options.Method = "mask",
    by: options.By = "normal",
    cuts: options.Cuts = "paper",
    C: options.Cost = "1",
    measure: options.Measure = "best_f1",
    tolerance: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=options.JOB,
            help="How much less than the best will do; one standard error by default.",
        ),
    ] = None,
    weighting: options.Weighting = "binary",
    min_df: options.MinDf = 2,
    stability: Annotated[
        bool,
        typer.Option(
            "--stability",
            rich_help_panel=options.JOB,
            help="Compare masked and retrained models as well.",
        ),
    ] = False,
    memory: options.Memory = None,
    nonzeros: options.Nonzeros = None,
    work: options.Work = None,
    cluster: options.Cluster = None,
    format: options.Format = None,
    encoding: options.Encoding = None,
    under: options.Under = None,
    skip_bad_rows: options.SkipBadRows = False,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = -1,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the smallest model that is as good as the best, and write it.

    Reads, vectorizes and trains, measures quality at every cut by cross-validation, chooses the
    smallest cut within one standard error of the best, and trains the final model on what it
    keeps. Writes the model, the record of the run, and a report to open in a browser. With
    --memory it says what it is going to do, and trains on everything in no more memory than that.
    With --cluster workers do all of it.

    Example: spokeshave fit tickets.csv --text body --label queue
    """
    printer = Printer(as_json, quiet)
    settings = make_settings(
        method=method,
        by=by,
        cuts=cuts,
        C=C,
        measure=measure,
        tolerance=tolerance,
        hold_out=hold_out,
        weighting=weighting,
        min_df=min_df,
        with_stability=stability,
        seed=seed,
        n_jobs=n_jobs,
    )
    reading = Reading(
        source, text, label, label_separator, format, encoding, under, skip_bad_rows, test, hold_out
    )
    if cluster is not None:
        from spokeshave.cli.cluster import check_parts, fit_parts, make_limits, name_parts

        check_parts(reading, work)
        limits = make_limits(memory, nonzeros, settings)
        prefix = choose_prefix(out, name_parts(source))
        report_run(*fit_parts(cluster, reading, settings, limits, prefix, printer), printer)
        return
    prefix = choose_prefix(out, source)
    if memory is not None:
        from spokeshave.cli.budget import check_alone, make_budget, run_budget

        check_alone(method=method, cuts=cuts, C=C, measure=measure, stability=stability)
        budget = make_budget(memory, nonzeros, work, prefix)
        report_run(*run_budget(reading, settings, budget, prefix, printer), printer)
        return
    if nonzeros is not None or work is not None:
        raise ValueError("--nonzeros and --work go with --memory. Give --memory as well.")
    report_run(*run_fit(partial(read_documents, reading), settings, prefix, printer), printer)


def choose_prefix(out: str | None, source: str, ending: str = "") -> Path:
    """Return where to write, without the ends of the names; it must be possible to write there.

    Examples
    --------
    >>> str(choose_prefix(None, "data/tickets.csv.gz"))
    'tickets'
    """
    name = (_strip_suffixes(Path(os.path.abspath(source)).name) or "spokeshave") + ending
    prefix = Path(out.removesuffix(".model")) if out else Path(name)
    if out and (out.endswith("/") or prefix.is_dir()):
        prefix = prefix / name
    if not prefix.parent.is_dir():
        raise ValueError(f"{prefix.parent}: there is no such folder to write to; make it first")
    if not os.access(prefix.parent, os.W_OK):
        raise ValueError(f"{prefix.parent}: writing to this folder is not permitted")
    for path in name_files(prefix).values():
        if path.is_dir():
            raise ValueError(f"{path}: this is a folder; name another place with --out")
    return prefix


def name_files(prefix: Path) -> dict[str, Path]:
    """Return the files that a run leaves: the model, the record and the report."""
    ends = {"model": ".model", "record": ".run.json", "report": ".html"}
    return {name: prefix.with_name(prefix.name + end) for name, end in ends.items()}


def _strip_suffixes(name: str) -> str:
    from spokeshave.corpus.files import strip_compression

    stem = strip_compression(name).stem
    return stem.removesuffix(".tar") if stem != "-" else ""


def run_fit(
    read: Callable[[Printer], Given], settings: Settings, prefix: Path, printer: Printer
) -> tuple[JobResult, dict[str, Path]]:
    """Read documents, run the whole job, and write what it leaves."""
    from spokeshave.cli.steps import Steps, prepare_job

    with printer.noting_warnings(), Steps(is_quiet=printer.is_quiet) as steps:
        given = steps.run("reading", read, printer)
        from spokeshave.jobs.fit import list_steps, run_job  # slow: bad input is told without it

        shares = list_steps(settings, has_test=given.test is not None)
        prepare_job(steps, {**shares, "writing": 3.0})
        origin = given.describe(describe_command())
        finished = run_job(
            given.train, given.test, settings=settings, origin=origin, stopwatch=steps
        )
        written = steps.run("writing", write_results, finished, prefix, printer)
    return finished, written


def report_run(finished: JobResult, written: dict[str, Path], printer: Printer) -> None:
    """Print what a run found, and where it is."""
    if printer.as_json:
        emit_run(finished.record, written, printer)
    elif not printer.is_quiet:
        show_run(finished.record, printer)
        show_files(finished.record, written, printer)


def describe_command() -> str:
    """Return the command as it was typed."""
    return shlex.join(["spokeshave", *sys.argv[1:]])


def write_results(
    finished: JobResult, prefix: Path, printer: Printer, *, has_room: bool = True
) -> dict[str, Path]:
    """Write the model, the record, and the report where it can be made and there is room for it."""
    from spokeshave.jobs.record import write_record
    from spokeshave.utils.atomic import write_whole

    written = name_files(prefix)
    write_whole(written["model"], finished.content)
    write_record(finished.record, written["record"])
    if not has_room:
        command = shlex.join(["spokeshave", "report", str(written["record"])])
        printer.note(f"no report was written, as there is no memory left for it; try: {command}")
        del written["report"]
        return written
    try:
        from spokeshave.report import render_report

        page = render_report(finished.record)
    except ImportError as error:
        printer.note(f"no report was written: {error}")
        del written["report"]
    else:
        write_whole(written["report"], page.encode("utf-8"))
    return written


def emit_run(record: RunRecord, written: dict[str, Path], printer: Printer) -> None:
    """Print the result for machines; the record has all of it."""
    found = asdict(record)
    names = ("headline", "data", "settings", "choice", "cuts", "model", "full_model")
    printer.emit(
        {
            **{name: found[name] for name in names},
            "seconds": record.making.seconds,
            "files": {name: str(path) for name, path in written.items()},
        }
    )


def show_run(record: RunRecord, printer: Printer) -> None:
    """Print what a run found: the curve, the choice, the judgement, and the strongest words."""
    glyphs = choose_glyphs(printer.console.encoding)
    data = record.data
    printer.say(
        f"{data.n_documents:,} documents, {len(record.classes):,} classes, "
        f"{data.n_features:,} {data.unit}, {data.per_document:.0f} of them in a document"
    )
    show_curve(record, printer)
    printer.say()
    printer.say(record.headline.replace("±", glyphs.plus_minus), style="bold")
    show_judgements(record, printer)
    show_words(record, printer)


def show_curve(record: RunRecord, printer: Printer) -> None:
    """Draw the curve that the choice was made from, in characters."""
    from spokeshave.utils.formatting import name_measure

    choice, cuts = record.choice, record.cuts
    if choice is None or cuts is None:
        return
    found = record.curves[0].measures[choice.measure]
    values = found.macro if choice.average == "macro" else found.micro
    errors = (found.macro_error if choice.average == "macro" else found.micro_error) or []
    nan = float("nan")
    printer.say()
    glyphs = choose_glyphs(printer.console.encoding)
    lines = draw_chart(
        record.curves[0].fractions,
        [nan if value is None else value for value in values],
        [nan if error is None else error for error in errors] or [nan] * len(values),
        cuts.n_features,
        chosen=choice.index,
        measure=name_measure(choice.average, choice.measure),
        unit=record.data.unit,
        width=printer.console.width if printer.console.is_terminal else 100,
        glyphs=glyphs,
    )
    for number, line in enumerate(lines):
        printer.say(line, style="bold" if number == 1 + choice.index else None)


def show_judgements(record: RunRecord, printer: Printer) -> None:
    """Print how the final model does on documents it has not seen, and what it is compared with."""
    rows = [
        [
            model.made_by,
            *(f"{value:.3f}" for value in (found.accuracy, found.macro_f1, found.micro_f1)),
            f"{model.n_features:,}",
            f"{model.n_weights:,}",
        ]
        for model in (record.model, record.full_model)
        if model is not None and (found := model.judgement) is not None
    ]
    if rows and (judged := record.model.judgement) is not None:
        printer.say()
        printer.say(f"judged on {judged.n_documents:,} documents: {judged.judged_on}")
        printer.tabulate(
            ["", "accuracy", "macro-F1", "micro-F1", record.data.unit, "weights"], rows
        )


def show_words(record: RunRecord, printer: Printer) -> None:
    """Print the strongest words for each class."""
    if not record.words:
        return
    printer.say()
    rows = [
        [words.name, " ".join(word.name for word in words.positive[:N_WORDS])]
        for words in record.words[:N_CLASSES]
    ]
    printer.tabulate(["class", f"strongest {record.data.unit}"], rows, n_left=2)
    if len(record.words) > N_CLASSES:
        printer.say(f"and {len(record.words) - N_CLASSES:,} more classes, in the report")


def show_files(record: RunRecord, written: dict[str, Path], printer: Printer) -> None:
    """Print where everything is, and what to try next."""
    printer.say()
    for name, path in written.items():
        printer.say(f"{name:7} {path}")
    model = shlex.quote(str(written["model"]))
    command = f"echo 'a text to classify' | spokeshave predict {model} -"
    if record.data.unit != "words":
        command = f"spokeshave inspect {model}"
    printer.say()
    printer.say(f"Try: {command}")
