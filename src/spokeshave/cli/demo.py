"""``spokeshave demo``: the whole job on text that every installation already has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from spokeshave.cli import options
from spokeshave.cli.fit import choose_prefix, report_run, run_fit
from spokeshave.cli.printer import Printer
from spokeshave.cli.settings import make_settings

if TYPE_CHECKING:
    from spokeshave.cli.reading import Given


def demo(
    out: Annotated[
        str, typer.Option("--out", "-o", help="Where to write: OUT.model, OUT.run.json, OUT.html.")
    ] = "spokeshave-demo",
    seed: options.Seed = 0,
    n_jobs: options.Jobs = -1,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Find how few words it takes to tell the docstrings of packages apart.

    The documents are the docstrings of Python's standard library and of the
    scientific packages that come with Spokeshave; the classes are the packages.
    Nothing is downloaded. A cut is chosen by cross-validation on three quarters
    of them; the rest judge the model on all words and that on the words kept.

    Example: spokeshave demo --out /tmp/demo
    """
    printer = Printer(as_json, quiet)
    settings = make_settings(hold_out=0.25, with_stability=True, seed=seed, n_jobs=n_jobs)
    prefix = choose_prefix(out, "docstrings")
    report_run(*run_fit(read_docstrings, settings, prefix, printer), printer)


def read_docstrings(printer: Printer) -> Given:
    """Read the embedded corpus."""
    from spokeshave.cli.reading import Given
    from spokeshave.corpus import load_embedded

    name = "docstrings of the installed packages"
    return Given(load_embedded(), None, name, "embedded")
