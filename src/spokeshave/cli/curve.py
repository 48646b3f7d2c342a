"""``spokeshave curve``: quality at every cut, by one or more methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spokeshave.cli import options
from spokeshave.cli.chart import choose_glyphs, draw_chart
from spokeshave.cli.options import ReadOptions
from spokeshave.cli.printer import Printer
from spokeshave.cli.reading import read_documents
from spokeshave.cli.settings import make_settings

if TYPE_CHECKING:
    from spokeshave.curves.result import FeatureCurve
    from spokeshave.jobs.dataset import Dataset


@options.spread
def curve(
    reading: options.SplitOptions,
    curves: options.CurveOptions,
    model: options.ModelOptions,
    cuts: options.CurveCuts = "paper",
    against: options.Against = "features",
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure quality at every cut, without writing a model.

    Quality is measured by cross-validation, or on the test documents if there are any; the best
    cut is then chosen on the test documents. With --json, prints a line for each method, class and
    cut.

    Example: spokeshave curve tickets.csv --method mask,warm --against sparsity
    """
    printer = Printer(as_json, quiet)
    settings = make_settings(
        *(curves, model), cuts=cuts, against=against, hold_out=reading.hold_out
    )
    collection, traced = _trace(reading, settings, printer)
    for found in traced:
        if as_json:
            for line in _list_lines(found, collection.row_names):
                printer.emit(line)
        else:
            _show(found, curves.measure or found.default_measure, collection.unit, printer)


def _trace(
    reading: ReadOptions, settings: Any, printer: Printer
) -> tuple[Dataset, list[FeatureCurve]]:
    from spokeshave.cli.progress import Steps, plan_job

    with printer.noting_warnings(), Steps(is_quiet=printer.is_quiet) as steps:
        loaded = steps.run("reading", read_documents, reading, printer)
        # Slow; bad input is reported without it.
        from spokeshave.jobs.fit import list_steps, make_dataset, trace_curves

        shares = list_steps(settings, has_test=False)
        del shares["training the model"]
        plan_job(steps, shares)
        collection = steps.run("making rows", make_dataset, loaded.train, loaded.test, settings)
        return collection, trace_curves(collection, settings, steps)


def _list_lines(found: FeatureCurve, names: list[str]) -> list[dict[str, Any]]:
    from spokeshave.jobs.summary import list_measures

    values = {name: found.per_class(name) for name in list_measures(found)}
    return [
        {
            "method": found.method,
            "by": found.by,
            "evaluated_on": found.evaluated_on,
            "class": name,
            "against": found.against,
            "cut": found.cuts[cut].item(),
            "fraction": float(fraction),
            "n_features": float(found.n_features[k, cut]),
            "nonzeros": _clear(found.nonzeros[k, cut]),
            **{measure: _clear(table[k, cut]) for measure, table in values.items()},
        }
        for k, name in enumerate(names)
        for cut, fraction in enumerate(found.fractions)
    ]


def _clear(value: Any) -> float | None:
    """Return a number for JSON, which has no NaN."""
    return None if value != value else float(value)


def _show(found: FeatureCurve, measure: str, unit: str, printer: Printer) -> None:
    from spokeshave.utils.formatting import name_measure

    n_folds = len(found.counts.won)
    values = found.average(measure, "macro")
    errors = found.standard_error(measure) if n_folds > 1 else [float("nan")] * len(values)
    best = found.best(measure)
    chosen = found.smallest_within(name=measure) if n_folds > 1 else best
    where = f"on the {found.evaluated_on}" if n_folds == 1 else f"{n_folds}-fold cross-validation"
    is_sparsity = found.against == "sparsity"
    limit = "cuts in nonzeros per document; " if is_sparsity else ""
    printer.say()
    printer.say(
        f"{found.method}, ranked by {found.by}, {where}; {limit}{unit} kept per class, on average",
        style="bold",
    )
    lines = draw_chart(
        found.fractions.tolist(),
        values.tolist(),
        list(errors),
        found.n_features.mean(axis=0).tolist(),
        chosen=int(chosen.index),
        measure=name_measure(str(best.average), best.measure),
        unit=unit,
        cuts=["nonzeros", *(f"{cut:.4g}" for cut in found.cuts)] if is_sparsity else None,
        width=printer.width,
        glyphs=choose_glyphs(printer.console.encoding),
    )
    for line in lines:
        printer.say(line)
