"""The command line: one verb per file, each loading what it needs when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated

import typer

BAD_INPUT, INTERRUPTED = 2, 130

VERBS = ("demo", "fit", "curve", "rank", "shape", "predict", "inspect", "report")


def make_app(arguments: Sequence[str]) -> typer.Typer:
    """Return the command line with the one verb that is asked for, or with all.

    A verb that is not called need not be loaded: a prediction starts in half the time.
    """
    app = typer.Typer(
        help="Find how few features a linear text classifier needs, without retraining it.",
        epilog="Try it without any data of your own: spokeshave demo",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",  # lines of a docstring are joined
        callback=root,
    )
    asked = arguments[0] if arguments else ""
    for verb in [asked] if asked in VERBS else VERBS:
        app.command()(getattr(import_module(f"spokeshave.cli.{verb}"), verb))
    return app


def main() -> None:
    """Run the command line; bad input is one sentence on standard error and exit code 2."""
    sys.exit(run())


def run() -> int:
    """Run the command line and return its exit code."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # what cannot be shown ends no long run
    try:
        code = make_app(sys.argv[1:])(standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except (BrokenPipeError, SystemExit) as ended:
        # The parser of options turns a broken pipe into an exit; others are meant.
        if isinstance(ended, SystemExit) and not isinstance(ended.__context__, BrokenPipeError):
            raise
        # Whoever read the output has had enough. What is still buffered has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if hasattr(error, "format_message"):  # of the parser of options
            return _explain(error.format_message(), BAD_INPUT)
        is_missing_extra = type(error) is ImportError  # a module of ours would be another kind
        if isinstance(error, ValueError | OSError) or is_missing_extra:
            return _explain(_word(error), BAD_INPUT)
        raise
    if code == INTERRUPTED:  # which is also what the parser of options makes of an interrupt
        return _explain("interrupted; nothing was left half-written", INTERRUPTED)
    return code if isinstance(code, int) else 0


def _word(error: Exception) -> str:
    """Return what an error says, without the number that the system has for it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _explain(sentence: str, code: int) -> int:
    if sentence:  # there is none where the help was shown instead
        print(f"spokeshave: {sentence}", file=sys.stderr)
    return code


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"spokeshave {version('spokeshave')}")
        raise typer.Exit


def root(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Find how few features a linear text classifier needs, without retraining it."""
