"""The command line: one verb per file; each imports what it needs when it is called."""

from __future__ import annotations

import _thread
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # an interrupt while it is imported is one of the command
    from typer import Typer

BAD_INPUT, INTERRUPTED = 2, 130  # exit codes
SIGNALS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}
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


def make_app(arguments: Sequence[str]) -> Typer:
    """Return the command line with the verb that is called, or with all of them.

    Importing only one verb halves the time that a prediction takes to start.
    """
    import typer

    def root(
        show_version: bool = typer.Option(
            False,
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ) -> None:
        """Find how few features a linear text classifier needs, without retraining it."""

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
    code = run()
    for number in _list_signals():  # nothing is left to clean up: end at once
        signal.signal(number, signal.SIG_DFL)
    sys.exit(code)


def run() -> int:
    """Run the command line and return its exit code."""
    _fill_closed_streams()
    if isinstance(sys.stdout, TextIOWrapper):  # a missing character must not end a long run
        sys.stdout.reconfigure(errors="backslashreplace")
    caught: list[int] = []
    with _catching_signals(caught):
        try:
            code = _call()
        except KeyboardInterrupt:
            code = INTERRUPTED
        if code == INTERRUPTED:
            for number in _list_signals() if caught else []:  # the next ones come too late
                signal.signal(number, signal.SIG_IGN)
            first = caught[0] if caught else signal.SIGINT
            sentence = f"{SIGNALS[signal.Signals(first).name]}; nothing was left half-written"
            code = _explain(sentence, 128 + first)
    return code


def _call() -> int:
    """Call a verb and return the exit code."""
    try:
        code = make_app(sys.argv[1:])(standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except (BrokenPipeError, SystemExit) as ended:
        # Typer turns a broken pipe into SystemExit; any other SystemExit is intended.
        if isinstance(ended, SystemExit) and not isinstance(ended.__context__, BrokenPipeError):
            raise
        from spokeshave.cli.printer import discard

        discard(sys.stdout)  # its reader has closed the pipe
        return 0
    except Exception as error:
        if type(error).__name__ == "Abort":  # of Typer, at the end of standard input
            return INTERRUPTED
        if hasattr(error, "format_message"):  # an error of Click
            return _explain(error.format_message(), BAD_INPUT)
        is_missing_extra = type(error) is ImportError  # not ModuleNotFoundError, which is a bug
        if isinstance(error, ValueError | OSError) or is_missing_extra:
            return _explain(describe_error(error), BAD_INPUT)
        raise
    return code if isinstance(code, int) else 0  # Typer returns INTERRUPTED as well


@contextmanager
def _catching_signals(caught: list[int]) -> Iterator[None]:
    """Raise KeyboardInterrupt at a signal that ends a process, and remember which it was.

    So the run cleans up. Signals that this process was told to ignore are still ignored.
    """

    def interrupt(number: int, frame: Any) -> None:
        caught.append(number)
        raise KeyboardInterrupt

    def raise_again(unraisable: Any) -> None:
        """Interrupt again: the last time was in a finalizer, where errors are swallowed."""
        if unraisable.exc_type is KeyboardInterrupt:
            from threading import Timer  # by then the finalizer has ended

            Timer(0.01, _interrupt_main, [caught[-1] if caught else signal.SIGINT]).start()
        else:
            sys.__unraisablehook__(unraisable)

    try:
        before = {number: signal.signal(number, interrupt) for number in _list_signals()}
    except ValueError:  # this is not the main thread, which gets the signals
        before = {}
    hook, sys.unraisablehook = sys.unraisablehook, raise_again
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt_main(number: int) -> None:
    """Send a signal to the main thread, which may be waiting for something."""
    if hasattr(signal, "pthread_kill"):
        from threading import main_thread

        signal.pthread_kill(main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(signal.Signals(number))


def _list_signals() -> list[int]:
    """Return the signals to clean up after, which are not ignored."""
    known = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    return [number for number in known if signal.getsignal(number) not in (signal.SIG_IGN, None)]


def _fill_closed_streams() -> None:
    """Keep the numbers of closed standard streams, which the next file opened would get.

    Notes are discarded then. Standard output stays closed: what has nowhere else to go is refused.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def describe_error(error: Exception) -> str:
    """Return the message of an error of the library, with options instead of parameters.

    Examples
    --------
    >>> from spokeshave.errors import ParameterError
    >>> describe_error(ParameterError("hold_out", "must be below 1. Got 2 instead."))
    '--hold-out must be below 1. Got 2 instead.'
    """
    from spokeshave.corpus.options import SKIPPING
    from spokeshave.errors import CorpusError, ParameterError

    if isinstance(error, ParameterError):
        return f"{_name_option(error.parameter)} {error.problem}"
    if isinstance(error, CorpusError) and error.parameters == (SKIPPING,):
        return f"{error}; pass --skip-bad-rows to leave out such rows"
    if isinstance(error, CorpusError) and error.parameters:
        return f"{error}; pass {' and '.join(map(_name_option, error.parameters))}"
    if isinstance(error, OSError) and error.strerror:  # without the error number
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _name_option(parameter: str) -> str:
    return OPTIONS.get(parameter, "--" + parameter.replace("_", "-"))


def _explain(sentence: str, code: int) -> int:
    if sentence:  # empty if the help was shown instead
        from spokeshave.cli.printer import print_error

        print_error(f"spokeshave: {sentence}")
    return code


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        import typer

        print(f"spokeshave {version('spokeshave')}")
        raise typer.Exit
