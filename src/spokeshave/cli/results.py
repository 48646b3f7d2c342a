"""The results of a run: the files to write, and what to print."""

from __future__ import annotations

import os
import shlex
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from spokeshave.cli.chart import choose_glyphs, draw_chart
from spokeshave.cli.printer import Printer
from spokeshave.utils.formatting import name_measure, write_terms

if TYPE_CHECKING:
    from spokeshave.jobs.fit import JobResult
    from spokeshave.jobs.record import RunRecord, ShapeRecord

N_CLASSES = 30  # listed on a terminal; the report has all
N_TRIALS = 3
N_WORDS = 5
N_SHAPES = 12  # listed on a terminal; the report has more
N_VALUES = 5


def choose_prefix(out: str | None, source: str, ending: str = "") -> Path:
    """Return the path of the results without the suffixes; raise if they cannot be written there.

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
            raise ValueError(f"{path}: this is a folder; choose another name with --out")
    return prefix


def name_files(prefix: Path) -> dict[str, Path]:
    """Return the paths of the files of a run: the model, the record and the report."""
    ends = {"model": ".model", "record": ".run.json", "report": ".html"}
    return {name: prefix.with_name(prefix.name + end) for name, end in ends.items()}


def _strip_suffixes(name: str) -> str:
    from spokeshave.corpus.files import strip_compression

    stem = strip_compression(name).stem
    return stem.removesuffix(".tar") if stem != "-" else ""


def write_results(
    finished: JobResult, prefix: Path, printer: Printer, *, can_render: bool = True
) -> dict[str, Path]:
    """Write the model, the record, and the report if there are memory and packages for it.

    They replace those of an earlier run as a set, the model last. A report of an earlier run is
    removed if there is no new one.
    """
    from spokeshave.jobs.record import pack_record
    from spokeshave.utils.atomic import write_set

    paths = name_files(prefix)
    page = _render(finished, printer) if can_render else None
    if not can_render:
        command = shlex.join(["spokeshave", "report", str(paths["record"])])
        printer.note(f"no report was written, for lack of memory; to write it: {command}")
    contents = {"report": page, "record": pack_record(finished.record), "model": finished.content}
    write_set({paths[name]: content for name, content in contents.items()})
    return {name: path for name, path in paths.items() if contents[name] is not None}


def _render(finished: JobResult, printer: Printer) -> bytes | None:
    try:
        from spokeshave.report import render_report

        return render_report(finished.record).encode("utf-8")
    except ImportError as error:
        printer.note(f"no report was written: {error}")
        return None


def report_run(finished: JobResult, written: dict[str, Path], printer: Printer) -> None:
    """Print the results of a run and the names of its files."""
    record = finished.record
    if printer.as_json:
        emit_run(record, written, printer)
    elif not printer.is_quiet:
        show_run(record, printer)
        show_files(record, written, printer)


def emit_run(record: RunRecord, written: dict[str, Path], printer: Printer) -> None:
    """Print the main results as one JSON object; the record has all of them."""
    found = asdict(record)
    names = ("headline", "data", "settings", "trials", "choice", "cuts", "model", "full_model")
    printer.emit(
        {
            **{name: found[name] for name in names},
            "seconds": record.making.seconds,
            "files": {name: str(path) for name, path in written.items()},
        }
    )


def show_run(record: RunRecord, printer: Printer) -> None:
    """Print the data, the curve and the choice, the test results, and the strongest features."""
    glyphs = choose_glyphs(printer.console.encoding)
    data = record.data
    if not record.shapes:
        printer.say(
            f"{data.n_documents:,} documents, {len(record.classes):,} classes, "
            f"{data.n_features:,} {data.unit}, {data.per_document:.0f} of them in a document"
        )
        show_trials(record, printer)
        show_curve(record, printer)
        printer.say()
    printer.say(record.headline.replace("±", glyphs.plus_minus), style="bold")
    show_judgements(record, printer)
    show_words(record, printer)
    show_shapes(record, printer)


def show_trials(record: RunRecord, printer: Printer) -> None:
    """Print the trials of the last round of the choice of a representation, the best first."""
    if not record.trials:
        return
    most = max(trial.n_documents for trial in record.trials)
    last = [trial for trial in record.trials if trial.n_documents == most]
    rows = [
        [
            trial.terms,
            trial.weighting,
            f"{trial.prior_strength:g}",
            trial.loss if trial.class_weight is None else f"{trial.loss}, {trial.class_weight}",
            f"{trial.C:g}",
            f"{trial.score:.3f}",
            f"{trial.error:.3f}" if isfinite(trial.error) else "",
        ]
        for trial in sorted(last, key=lambda trial: -trial.score)[:N_TRIALS]
    ]
    printer.say()
    printer.say(f"{len(record.trials):,} representations tried by cross-validation; the best:")
    heads = ["terms", "value", "prior", "loss", "C", "score", "error"]
    printer.tabulate(heads, rows, n_left=2)


def show_curve(record: RunRecord, printer: Printer) -> None:
    """Draw the curve from which the cut was chosen, in characters."""
    choice, cuts = record.choice, record.cuts
    if choice is None or cuts is None:
        return
    found = record.curves[0].measures[choice.measure]
    values = found.macro if choice.average == "macro" else found.micro
    errors = (found.macro_error if choice.average == "macro" else found.micro_error) or []
    nan = float("nan")
    printer.say()
    lines = draw_chart(
        record.curves[0].fractions,
        [nan if value is None else value for value in values],
        [nan if error is None else error for error in errors] or [nan] * len(values),
        cuts.n_features,
        chosen=choice.index,
        measure=name_measure(choice.average, choice.measure),
        unit=record.data.unit,
        width=printer.width,
        glyphs=choose_glyphs(printer.console.encoding),
    )
    for number, line in enumerate(lines):
        printer.say(line, style="bold" if number == 1 + choice.index else None)


def show_judgements(record: RunRecord, printer: Printer) -> None:
    """Print the quality of the final model on test documents, beside the model to compare with."""
    rows = [
        [
            model.made_by,
            *(f"{value:.3f}" for value in (found.accuracy, found.macro_f1, found.micro_f1)),
            *(f"{value:.3f}" for value in found.precision_at_k.values()),
            f"{model.n_features:,}",
            f"{model.n_weights:,}",
        ]
        for model in (record.model, record.full_model)
        if model is not None and (found := model.judgement) is not None
    ]
    if rows and (judged := record.model.judgement) is not None:
        printer.say()
        printer.say(f"tested on {judged.n_documents:,} documents: {judged.judged_on}")
        measures = ["accuracy", "macro-F1", "micro-F1", *(f"P@{k}" for k in judged.precision_at_k)]
        printer.tabulate(["", *measures, record.data.unit, "weights"], rows)


def show_words(record: RunRecord, printer: Printer) -> None:
    """Print the strongest features of each class."""
    if not record.words:
        return
    printer.say()
    rows = [
        [words.name, write_terms(word.name for word in words.positive[:N_WORDS])]
        for words in record.words[:N_CLASSES]
    ]
    printer.tabulate(["class", f"strongest {record.data.unit}"], rows, n_left=2)
    if len(record.words) > N_CLASSES:
        printer.say(f"and {len(record.words) - N_CLASSES:,} more classes, in the report")


def show_shapes(record: RunRecord, printer: Printer) -> None:
    """Print some values of the features with the largest weights, and what they become."""
    if not record.shapes:
        return
    printer.say()
    printer.tabulate(
        ["class", record.data.unit.removesuffix("s"), "weight", "shaped values"],
        [
            [shape.class_name, shape.feature, f"{shape.weight:+.3g}", write_shape(shape)]
            for shape in record.shapes[:N_SHAPES]
        ],
        n_left=4,
    )
    if len(record.shapes) > N_SHAPES:
        printer.say(f"and {len(record.shapes) - N_SHAPES} more in the report")


def write_shape(shape: ShapeRecord) -> str:
    """Write a few values of a feature, spread over its range, each with its shaped value."""
    n_values = len(shape.values)
    step = max(1, (n_values - 1) // (N_VALUES - 1)) if n_values > N_VALUES else 1
    indices = list(range(0, n_values, step))[:N_VALUES]
    pairs = [(shape.values[index], shape.images[index]) for index in indices]
    if shape.n_zero:
        pairs.insert(0, (0.0, shape.zero))
    return "  ".join(
        f"{value if isinstance(value, str) else format(value, '.3g')}: {image:.2f}"
        for value, image in pairs
    )


def show_files(record: RunRecord, written: dict[str, Path], printer: Printer) -> None:
    """Print the names of the files, and a command to try next."""
    printer.say()
    for name, path in written.items():
        printer.say(f"{name:7} {path}")
    model = shlex.quote(str(written["model"]))
    command = f"echo 'a text to classify' | spokeshave predict {model} -"
    if record.data.unit != "words":
        command = f"spokeshave inspect {model}"
    printer.say()
    printer.say(f"Try: {command}")
