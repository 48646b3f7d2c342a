"""``spokeshave demo``: the whole job on text that is part of every installation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from spokeshave.cli import options
from spokeshave.cli.fit import fit_documents
from spokeshave.cli.printer import Printer
from spokeshave.cli.results import choose_prefix, report_run
from spokeshave.cli.settings import make_settings

if TYPE_CHECKING:
    from spokeshave.cli.reading import Loaded


def demo(
    out: Annotated[
        str,
        typer.Option(
            *("--out", "-o"),
            help="Prefix of the files to write: OUT.model, OUT.run.json, OUT.html.",
        ),
    ] = "spokeshave-demo",
    seed: options.Seed = 0,
    n_jobs: options.Jobs = -1,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Find how few words are needed to tell the docstrings of packages apart.

    The documents are the docstrings of Python's standard library and of the scientific packages
    that Spokeshave depends on; the classes are the packages. Nothing is downloaded. The cut is
    chosen by cross-validation on three quarters of the documents. The others test the model on the
    words kept and the model on all words.

    Example: spokeshave demo --out /tmp/demo
    """
    printer = Printer(as_json, quiet)
    settings = make_settings(hold_out=0.25, with_stability=True, seed=seed, n_jobs=n_jobs)
    prefix = choose_prefix(out, "docstrings")
    report_run(*fit_documents(read_docstrings, settings, prefix, printer), printer)


def read_docstrings(printer: Printer) -> Loaded:
    """Read the embedded corpus."""
    from spokeshave.cli.reading import Loaded, describe_command
    from spokeshave.corpus import load_embedded
    from spokeshave.jobs.settings import Origin

    name = "docstrings of the installed packages"
    return Loaded(load_embedded(), None, Origin(name, "embedded", command=describe_command()))
