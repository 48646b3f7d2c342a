"""``spokeshave report``: a page to open in a browser, from the record of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spokeshave.cli import options
from spokeshave.cli.printer import Printer


def report(
    record: Annotated[
        str, typer.Argument(help="The record of a run, as fit writes it.", show_default=False)
    ],
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", help="The page. [default: the name of the record, .html]"),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Make the report of a run that was finished before.

    One self-contained page that needs no network. Needs pip install 'spokeshave[report]'.

    Example: spokeshave report tickets.run.json
    """
    from spokeshave.jobs.record import read_record
    from spokeshave.report import render_report
    from spokeshave.utils.atomic import open_atomic

    path = Path(out) if out else Path(Path(record).name.partition(".run.json")[0] + ".html")
    found = read_record(record)
    with open_atomic(path) as stream:  # which is told at once where it cannot be
        stream.write(render_report(found).encode("utf-8"))
    if not quiet:
        Printer().say(str(path))
