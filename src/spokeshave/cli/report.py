"""``spokeshave report``: a page to open in a browser, from the record of a run."""

from __future__ import annotations

from pathlib import Path

from spokeshave.cli import options
from spokeshave.cli.printer import Printer


def report(
    record: options.Record,
    out: options.Page = None,
    quiet: options.Quiet = False,
) -> None:
    """Make the report of a finished run from its record.

    The report is one self-contained page that needs no network. It needs
    pip install 'spokeshave[report]'.

    Example: spokeshave report tickets.run.json
    """
    from spokeshave.jobs.record import read_record
    from spokeshave.report import render_report
    from spokeshave.utils.atomic import open_atomic

    path = Path(out) if out else Path(Path(record).name.partition(".run.json")[0] + ".html")
    found = read_record(record)
    with open_atomic(path) as stream:  # fails at once if it cannot be written
        stream.write(render_report(found).encode("utf-8"))
    if not quiet:
        Printer().say(str(path))
