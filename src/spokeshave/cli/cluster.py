"""``--cluster``: the same commands on a Dask cluster; loads what is of an extra."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spokeshave.cli.printer import Printer
from spokeshave.cli.reading import Reading, naming_options
from spokeshave.cli.steps import Steps
from spokeshave.cluster import connect, fit_on_cluster, predict_on_cluster

if TYPE_CHECKING:
    from spokeshave.jobs.fit import JobResult
    from spokeshave.jobs.settings import Settings
    from spokeshave.model.model import Model

CONNECTING = "connecting"
WILD = re.compile(r"[-_.]*(?:\[[^\]]*\]|[*?])+")
OF_A_CURVE = {
    "method": "methods", "cuts": "cuts", "measure": "measure", "stability": "with_stability",
}  # fmt: skip


def check_parts(reading: Reading, work: str | None) -> None:
    """Raise for what only one machine reads."""
    for option, value in {"--work": work, "--under": reading.under}.items():
        if value is not None:
            raise ValueError(f"{option} has no part in a run with --cluster. Leave it out.")
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
        kind = "a folder" if Path(source).is_dir() else "a collection of many"
        raise ValueError(
            f"{source}: --cluster reads tables and vectors, many of them where the name has a * in "
            f"it, and this is {kind}; leave out --cluster, or write its documents as a table"
        )


def _is_collection(source: str) -> bool:
    """Tell whether many documents are in files of their own in this one, as far as can be seen."""
    from spokeshave.corpus.contents import ARCHIVE
    from spokeshave.corpus.formats import guess_format, name_format

    format = name_format(source)
    if format is None and Path(source).is_file():
        format = guess_format(source)
    return format in (ARCHIVE, "folders", "reuters")


def check_folder(source: str, out: str | None) -> str:
    """Return the folder to write labelled parts to; raise where there is none, or no parts."""
    if source == "-":
        raise ValueError(
            "--cluster labels files that every worker can open. Got standard input instead."
        )
    if out is None or out == "-":
        raise ValueError("--out must name a folder with --cluster: each part becomes a file in it.")
    return out


def make_limits(memory: str | None, nonzeros: float | None, settings: Settings) -> dict[str, Any]:
    """Return what a task may take, and the sparsity, as `fit_on_cluster` takes them."""
    from spokeshave.jobs.settings import Settings
    from spokeshave.utils.formatting import parse_size

    if nonzeros is not None:
        if not 0 < nonzeros < float("inf"):
            raise ValueError(f"--nonzeros must be a positive number. Got {nonzeros:g} instead.")
        for option, name in OF_A_CURVE.items():
            if getattr(settings, name) != getattr(Settings(), name):
                raise ValueError(f"--{option} has no part in a run with --nonzeros. Leave it out.")
        if settings.C == "auto":
            raise ValueError("--C must be a number in a run with --nonzeros. Got 'auto' instead.")
    return {
        "memory": None if memory is None else parse_size(memory, "--memory"),
        "nonzeros_per_document": nonzeros,
    }


def name_parts(source: str) -> str:
    """Return what parts are called without what stands for any letters, to name a model after.

    Examples
    --------
    >>> name_parts("s3://bucket/parts-*.parquet"), name_parts("tickets/*.csv.gz")
    ('parts.parquet', 'tickets')
    """
    address = next((link for link in source.split("::") if "://" in link), source)
    *folders, name = address.rpartition("://")[2].rstrip("/").split("/")
    plain = WILD.sub("", name).lstrip("-_")
    if not plain or (plain.startswith(".") and name != plain):  # the ending is left, at most
        plain = WILD.sub("", folders[-1]) if folders else ""
    return plain or "-"


def list_shares(settings: Settings, *, has_test: bool) -> list[Mapping[str, float]]:
    """Return the steps with a guess of their shares, and those of the other way there is.

    That is for more documents than fit in a worker.
    """
    from spokeshave.jobs.fit import list_steps

    whole = list_steps(settings, has_test=has_test)
    reduced = {"ranking": 3.0, "reducing": 4.0, "training": 5.0}
    if "judging it" in whole:
        reduced["judging it"] = 1.0
    last = {"writing": 1.0}
    return [{CONNECTING: 1.0, "counting": 2.0, **whole, **last}, {**reduced, **last}]


def fit_parts(
    address: str,
    reading: Reading,
    settings: Settings,
    limits: dict[str, Any],
    prefix: Path,
    printer: Printer,
) -> tuple[JobResult, dict[str, Path]]:
    """Do the whole job on a cluster, and write what that leaves here."""
    from spokeshave.cli.fit import describe_command, write_results

    with printer.noting_warnings(), Steps(is_quiet=printer.is_quiet) as steps:
        steps.plan(*list_shares(settings, has_test=reading.test is not None))
        steps.begin(CONNECTING)
        with connect(address) as client, naming_options():
            finished = fit_on_cluster(
                client,
                reading.source,
                test=reading.test,
                settings=settings,
                command=describe_command(),
                stopwatch=steps,
                say=printer.note,
                **limits,
                **reading.list_options(),
            )
        written = steps.run("writing", write_results, finished, prefix, printer)
    return finished, written


def predict_parts(
    address: str, model: Model, source: str, out: str, how: dict[str, Any], printer: Printer
) -> None:
    """Label parts on a cluster, each of which becomes a file in a folder."""
    with printer.noting_warnings(), Steps(is_quiet=printer.is_quiet) as steps:
        steps.plan({CONNECTING: 1.0, "labelling": 10.0})
        steps.begin(CONNECTING)
        with connect(address) as client:
            steps.begin("labelling")
            predict_on_cluster(
                client, model, source, out, report=steps.reach, say=printer.note, **how
            )
        steps.end()
