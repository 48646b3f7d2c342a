"""The command line: one verb per file; each imports what it needs when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated

import typer

BAD_INPUT, INTERRUPTED = 2, 130  # exit codes
OPTIONS = {  # with another name
    "address": "--cluster",
    "nonzeros_per_document": "--nonzeros",
    "ngram_range": "--ngrams",
    "n_folds": "--folds",
    "ca": "--cluster-ca",
    "cert": "--cluster-cert",
    "key": "--cluster-key",
    "security": "--cluster-ca, --cluster-cert and --cluster-key",
}

VERBS = ("demo", "fit", "curve", "rank", "shape", "predict", "inspect", "report")


def make_app(arguments: Sequence[str]) -> typer.Typer:
    """Return the command line with the verb that is called, or with all of them.

    Importing only one verb halves the time that a prediction takes to start.
    """
    app = typer.Typer(
        help="Find how few features a linear text classifier needs, without retraining it.",
        epilog="Try it without any data of your own: spokeshave demo",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",  # lines of a docstring are joined
        callback=root,
    )
    called = arguments[0] if arguments else ""
    for verb in [called] if called in VERBS else VERBS:
        app.command()(getattr(import_module(f"spokeshave.cli.{verb}"), verb))
    return app


def main() -> None:
    """Run the command line; bad input is one sentence on standard error and exit code 2."""
    sys.exit(run())


def run() -> int:
    """Run the command line and return its exit code."""
    if isinstance(sys.stdout, TextIOWrapper):  # a missing character must not end a long run
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = make_app(sys.argv[1:])(standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except (BrokenPipeError, SystemExit) as ended:
        # Click turns a broken pipe into SystemExit; any other SystemExit is intended.
        if isinstance(ended, SystemExit) and not isinstance(ended.__context__, BrokenPipeError):
            raise
        # The reader of the output has closed the pipe. Discard what is still buffered.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if hasattr(error, "format_message"):  # an error of Click
            return _explain(error.format_message(), BAD_INPUT)
        is_missing_extra = type(error) is ImportError  # not ModuleNotFoundError, which is a bug
        if isinstance(error, ValueError | OSError) or is_missing_extra:
            return _explain(describe_error(error), BAD_INPUT)
        raise
    if code == INTERRUPTED:  # Click returns this code as well
        return _explain("interrupted; nothing was left half-written", INTERRUPTED)
    return code if isinstance(code, int) else 0


def describe_error(error: Exception) -> str:
    """Return the message of an error of the library, with options instead of parameters.

    Examples
    --------
    >>> from spokeshave.errors import ParameterError
    >>> describe_error(ParameterError("hold_out", "must be below 1. Got 2 instead."))
    '--hold-out must be below 1. Got 2 instead.'
    """
    from spokeshave.errors import CorpusError, ParameterError

    if isinstance(error, ParameterError):
        return f"{_name_option(error.parameter)} {error.problem}"
    if isinstance(error, CorpusError) and error.parameters:
        return f"{error}; pass {' and '.join(map(_name_option, error.parameters))}"
    if isinstance(error, OSError) and error.strerror:  # without the error number
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _name_option(parameter: str) -> str:
    return OPTIONS.get(parameter, "--" + parameter.replace("_", "-"))


def _explain(sentence: str, code: int) -> int:
    if sentence:  # empty if the help was shown instead
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
