"""``spokeshave fit``: from labelled documents to a model, a record and a report."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spokeshave.cli import options
from spokeshave.cli.options import ClusterOptions, ReadOptions
from spokeshave.cli.printer import Printer
from spokeshave.cli.reading import Loaded, describe_command, read_documents
from spokeshave.cli.results import choose_prefix, report_run, write_results
from spokeshave.cli.settings import make_settings, parse_limits, refuse_curve_options

if TYPE_CHECKING:
    from spokeshave.jobs.fit import JobResult
    from spokeshave.jobs.settings import Settings

Results = tuple["JobResult", dict[str, Path]]

CONNECTING = "connecting"
REPORT = 160_000_000  # bytes of memory that rendering a report takes
WILDCARDS = re.compile(r"[-_.]*(?:\[[^\]]*\]|[*?])+")


@options.spread
def fit(
    reading: options.SplitOptions,
    curves: options.CurveOptions,
    model: options.ModelOptions,
    cluster: options.ClusterOptions,
    cuts: options.Cuts = "paper",
    tolerance: options.Tolerance = None,
    stability: options.Stability = False,
    effort: options.Effort = None,
    out: options.Out = None,
    memory: options.Memory = None,
    nonzeros: options.Nonzeros = None,
    work: options.Work = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the smallest model that is as good as the best, and write it.

    Chooses the terms of the texts, their weighting, the prior and C by cross-validation, measures
    quality at every cut, and keeps the fewest features that are as good as the best. Writes the
    model, the record of the run, and a report to open in a browser. With --memory, trains on all
    documents in limited memory. With --cluster, runs on the workers of a Dask cluster.

    Example: spokeshave fit tickets.csv --text body --label queue
    """
    printer = Printer(as_json, quiet)
    settings = make_settings(
        *(curves, model),
        cuts=cuts,
        effort=effort or ("normal" if memory is None and cluster.address is None else "quick"),
        tolerance=tolerance,
        hold_out=reading.hold_out,
        with_stability=stability,
    )
    results = _run(reading, settings, memory, nonzeros, work, cluster, out, printer)
    report_run(*results, printer)


def _run(
    reading: ReadOptions,
    settings: Settings,
    memory: str | None,
    nonzeros: float | None,
    work: str | None,
    cluster: ClusterOptions,
    out: str | None,
    printer: Printer,
) -> Results:
    """Run the job where its options say: in this process, in limited memory, or on a cluster."""
    if cluster.address is not None:
        with printer.noting_warnings():  # a missing extra is reported before anything else
            import spokeshave.cluster  # noqa: F401

        check_parts(reading, work)
        limits = parse_limits(memory, nonzeros)
        if nonzeros is not None:
            refuse_curve_options(settings, "--nonzeros")
        prefix = choose_prefix(out, name_parts(reading.source))
        return fit_parts(cluster, reading, settings, limits, prefix, printer)
    prefix = choose_prefix(out, reading.source)
    if memory is not None:
        refuse_curve_options(settings, "--memory")
        folder = choose_work_folder(work, prefix)
        limits = parse_limits(memory, nonzeros)
        return fit_in_memory(reading, settings, limits, folder, prefix, printer)
    if nonzeros is not None or work is not None:
        raise ValueError("--nonzeros and --work need --memory. Give --memory as well.")
    return fit_documents(partial(read_documents, reading), settings, prefix, printer)


def fit_documents(
    read: Callable[[Printer], Loaded], settings: Settings, prefix: Path, printer: Printer
) -> Results:
    """Read documents, run the whole job in this process, and write the results."""
    from spokeshave.cli.progress import Steps, plan_job

    with printer.noting_warnings(), Steps(is_quiet=printer.is_quiet) as steps:
        loaded = steps.run("reading", read, printer)
        from spokeshave.jobs.fit import (  # slow; bad input is reported without it
            list_steps,
            run_job,
        )

        shares = list_steps(settings, has_test=loaded.test is not None)
        plan_job(steps, {**shares, "writing": 3.0})
        finished = run_job(
            loaded.train, loaded.test, settings=settings, origin=loaded.origin, stopwatch=steps
        )
        written = steps.run("writing", write_results, finished, prefix, printer)
    return finished, written


def choose_work_folder(work: str | None, prefix: Path) -> Path:
    """Return the folder for temporary files."""
    folder = Path(work) if work else prefix.with_name(prefix.name + ".work")
    if not folder.parent.is_dir():
        raise ValueError(f"{folder.parent}: there is no such folder to work in; make it first")
    return folder


def fit_in_memory(
    reading: ReadOptions,
    settings: Settings,
    limits: dict[str, Any],
    folder: Path,
    prefix: Path,
    printer: Printer,
) -> Results:
    """Train in limited memory, and write the results."""
    from spokeshave.budget.memory import LIBRARIES, give_back
    from spokeshave.budget.plan import measure_packed
    from spokeshave.cli.progress import Steps
    from spokeshave.jobs.budget import Files, list_budget_steps, run_budgeted
    from spokeshave.jobs.settings import Budget

    files = Files(reading.source, reading.test, reading.list_parameters())
    with printer.noting_warnings(), Steps(is_quiet=printer.is_quiet) as steps:
        shares = list_budget_steps(settings, has_test=reading.test is not None)
        steps.plan({**shares, "writing": 0.5})
        finished = run_budgeted(
            files,
            Budget(**limits, folder=folder),
            settings=settings,
            command=describe_command(),
            stopwatch=steps,
            say=printer.note,
        )
        give_back()
        model = finished.record.model
        held = LIBRARIES + measure_packed(model.n_features, model.n_weights)
        can_render = limits["memory"] - held > REPORT
        written = steps.run(
            "writing", write_results, finished, prefix, printer, can_render=can_render
        )
    return finished, written


def check_parts(reading: ReadOptions, work: str | None) -> None:
    """Raise for options and documents that only one machine can read."""
    for option, value in {"--work": work, "--under": reading.under}.items():
        if value is not None:
            raise ValueError(f"{option} does not apply with --cluster. Leave it out.")
    if reading.format in ("folders", "reuters"):
        raise ValueError(
            "--format must be csv, tsv, jsonl, parquet, svmlight or arff with --cluster. "
            f"Got {reading.format} instead."
        )
    for source in (reading.source, reading.test):
        if source is not None:
            _check_files(source)


def _check_files(source: str) -> None:
    if not source or source == "-":
        given = "standard input" if source else "''"
        raise ValueError(f"--cluster reads files that every worker can open. Got {given} instead.")
    if Path(source).is_dir() or _is_collection(source):
        kind = "a folder" if Path(source).is_dir() else "a collection of documents in many files"
        raise ValueError(
            f"{source}: --cluster reads tables and vectors, or a pattern of such files, and this "
            f"is {kind}; leave out --cluster, or write the documents as a table"
        )


def _is_collection(source: str) -> bool:
    """Return whether the name or the content is that of an archive, of folders or of SGML."""
    from spokeshave.corpus.sniff import ARCHIVE, guess_format, name_format

    format = name_format(source)
    if format is None and Path(source).is_file():
        format = guess_format(source)
    return format in (ARCHIVE, "folders", "reuters")


def name_parts(source: str) -> str:
    """Return the name of a pattern of files without its wildcards, to name the results after.

    Examples
    --------
    >>> name_parts("s3://bucket/parts-*.parquet"), name_parts("tickets/*.csv.gz")
    ('parts.parquet', 'tickets')
    """
    address = next((link for link in source.split("::") if "://" in link), source)
    *folders, name = address.rpartition("://")[2].rstrip("/").split("/")
    plain = WILDCARDS.sub("", name).lstrip("-_")
    if not plain or (plain.startswith(".") and name != plain):  # at most the suffix is left
        plain = WILDCARDS.sub("", folders[-1]) if folders else ""
    return plain or "-"


def list_shares(settings: Settings, *, has_test: bool) -> list[Mapping[str, float]]:
    """Return the likely shares of the steps, and of the alternative.

    The alternative is for documents that do not fit in the memory of a worker.
    """
    from spokeshave.jobs.fit import list_steps

    whole = list_steps(settings, has_test=has_test)
    reduced = {"ranking": 3.0, "reducing": 4.0, "training": 5.0}
    if "judging it" in whole:
        reduced["judging it"] = 1.0
    last = {"writing": 1.0}
    return [{CONNECTING: 1.0, "counting": 2.0, **whole, **last}, {**reduced, **last}]


def fit_parts(
    cluster: ClusterOptions,
    reading: ReadOptions,
    settings: Settings,
    limits: dict[str, Any],
    prefix: Path,
    printer: Printer,
) -> Results:
    """Run the whole job on a cluster, and write the results on this machine."""
    from spokeshave.cli.progress import Steps
    from spokeshave.cluster import connect, fit_on_cluster

    with printer.noting_warnings(), Steps(is_quiet=printer.is_quiet) as steps:
        steps.plan(*list_shares(settings, has_test=reading.test is not None))
        steps.begin(CONNECTING)
        with connect(**cluster.list_parameters(), say=printer.note) as client:
            finished = fit_on_cluster(
                client,
                reading.source,
                test=reading.test,
                settings=settings,
                command=describe_command(),
                stopwatch=steps,
                say=printer.note,
                **limits,
                **reading.list_parameters(),
            )
        written = steps.run("writing", write_results, finished, prefix, printer)
    return finished, written
