"""The command line: one verb per file, each loading what it needs when it is called."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from spokeshave.cli.demo import demo

app = typer.Typer(
    help="Find how few features a linear text classifier needs, without retraining it.",
    epilog="Try it without any data of your own: spokeshave demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command()(demo)


def main() -> None:
    """Run the command line; bad input is one sentence on standard error and exit code 2."""
    try:
        app()
    except (ValueError, OSError) as error:
        sys.exit(_explain(error))


def _explain(error: Exception) -> int:
    print(f"spokeshave: {error}", file=sys.stderr)
    return 2


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"spokeshave {version('spokeshave')}")
        raise typer.Exit


@app.callback()
def root(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Find how few features a linear text classifier needs, without retraining it."""
