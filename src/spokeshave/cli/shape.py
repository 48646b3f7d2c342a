"""``spokeshave shape``: shape features to suit a linear weight, and train a model on them."""

from __future__ import annotations

from spokeshave.cli import options
from spokeshave.cli.printer import Printer
from spokeshave.cli.reading import read_documents
from spokeshave.cli.results import choose_prefix, report_run, write_results
from spokeshave.cli.settings import make_settings


@options.spread
def shape(
    reading: options.SplitOptions,
    out: options.ShapedOut = None,
    C: options.FixedCost = 1.0,
    min_df: options.MinDf = 2,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = -1,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Shape features to suit a linear weight, train on them, and compare with the raw features.

    Each value becomes the share of the class among the documents with similar values, scaled by
    Bi-Normal Separation. Texts become word counts. Writes the model, the record of the run, and a
    report with the shapes.

    Example: spokeshave shape diabetes.arff
    """
    from spokeshave.cli.progress import Steps, plan_job

    printer = Printer(as_json, quiet)
    settings = make_settings(
        C=C, hold_out=reading.hold_out, min_df=min_df, seed=seed, n_jobs=n_jobs
    )
    prefix = choose_prefix(out, reading.source, "-shaped")
    with printer.noting_warnings(), Steps(is_quiet=quiet) as steps:
        loaded = steps.run("reading", read_documents, reading, printer)
        # Slow; bad input is reported without it.
        from spokeshave.jobs.shape import list_shaping_steps, run_shaping

        plan_job(steps, {**list_shaping_steps(), "writing": 3.0})
        finished = run_shaping(
            loaded.train, loaded.test, settings=settings, origin=loaded.origin, stopwatch=steps
        )
        written = steps.run("writing", write_results, finished, prefix, printer)
    report_run(finished, written, printer)
