"""The command line as a whole: help, version, completion, pipes, interrupts and what it loads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from spokeshave.cli import VERBS

HEAVY = ("numba", "sklearn", "scipy", "polars", "rich", "pydantic", "altair", "pandas", "joblib")
PROGRAM = f"""
import sys
from spokeshave.cli import run
code = run()
print(code, sorted(set(sys.modules) & set({HEAVY!r})), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def helps(call):
    return {verb: call(verb, "--help") for verb in VERBS}


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_has_an_example(helps, verb):
    done = helps[verb]
    assert (done.code, done.err) == (0, "")
    assert f"Example: spokeshave {verb}" in done.out
    assert all(len(line) <= 80 for line in done.out.splitlines())
    assert "\x1b" not in done.out


def test_the_help_lists_every_command(run):
    done = run("--help")
    assert (done.code, done.err) == (0, "")
    assert all(f" {verb} " in done.out for verb in VERBS)
    bare = run()
    assert (bare.code, bare.out.rstrip(), bare.err) == (2, done.out.rstrip(), "")


def test_version(run):
    done = run("--version")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("spokeshave 0.")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("", VERBS),
        ("pre", ["predict"]),
        (
            "fit trees.csv --m",
            ["--method", "--measure", "--min-df", "--max-df", "--max-features", "--memory"],
        ),
        ("fit trees.csv --by c", ["chi2"]),
        ("fit trees.csv --weighting ", ["binary", "counts", "tfidf", "sublinear"]),
        ("predict trees.model more.csv --scores ", ["none", "best", "all"]),
        ("predict trees.model more.csv --to p", ["parquet"]),
    ],
)
def test_a_shell_completes_commands_options_and_values(call, words, offered):
    typed = f"spokeshave {words}"
    position = str(len(typed.split(" ")) - 1)
    done = call(_SPOKESHAVE_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=position)
    assert (done.code, done.err) == (0, "")
    assert done.out.split() == list(offered)


def test_a_shell_is_told_how_to_complete(spokeshave, environment):
    # Which shell it is, is found among the processes that this one was started by.
    done = subprocess.run(
        ["bash", "-c", '"$0" --show-completion; exit $?', spokeshave],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0
    assert "_SPOKESHAVE_COMPLETE=complete_bash" in done.stdout


def test_a_prediction_loads_little(environment, fitted):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "predict", fitted.model],
        input="old oak\n",
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.stdout == "text,predicted_label\nold oak,oak\n"
    assert done.stderr == "0 []\n"


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Return more rows than a pipe holds."""
    path = tmp_path_factory.mktemp("many") / "many.csv"
    path.write_text("leaf\n" + "an old oak with acorns\n" * 30_000)
    return path


@pytest.fixture
def pipe(spokeshave, environment):
    """Return a function that starts a command whose output is read by the test."""
    started = []

    def pipe(*arguments, **options):
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment}
        process = subprocess.Popen([spokeshave, *map(str, arguments)], **settings | options)
        started.append(process)
        return process

    yield pipe
    for process in started:
        process.kill()
        process.wait()
        for stream in filter(None, (process.stdout, process.stderr)):
            stream.close()


@pytest.mark.parametrize("n_rows", [60, 30_000])
def test_a_reader_that_has_had_enough_is_no_error(pipe, fitted, trees, many, n_rows):
    process = pipe("predict", fitted.model, trees.more if n_rows == 60 else many, bufsize=0)
    first = b""
    while not first.endswith(b"\n"):
        first += process.stdout.read(1)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0
    assert first.endswith(b"leaf,predicted_label\n")


def test_a_reader_that_is_gone_before_there_is_anything_is_no_error(pipe, fitted, trees):
    for arguments in (("predict", fitted.model, trees.more), ("inspect", fitted.model, "--json")):
        process = pipe(*arguments)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_a_slow_reader_gets_everything(pipe, fitted, many):
    process = pipe("predict", fitted.model, many, bufsize=0)
    time.sleep(1)  # until the pipe is full
    assert process.poll() is None
    lines = process.stdout.read().splitlines()
    assert process.wait() == 0
    assert lines[0] == b"leaf,predicted_label"
    assert lines[1:] == [b"an old oak with acorns,oak"] * 30_000


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize(
    "arguments",
    [("predict", "MODEL", "MORE"), ("inspect", "MODEL"), ("inspect", "MODEL", "--json"), ()],
    ids=" ".join,
)
def test_output_that_cannot_be_written_is_told(pipe, fitted, trees, arguments):
    names = {"MODEL": fitted.model, "MORE": trees.more}
    with Path("/dev/full").open("wb") as full:
        process = pipe(*(names.get(each, each) for each in arguments), stdout=full)
        _, err = process.communicate()
    assert process.returncode == 2
    assert err == b"spokeshave: No space left on device\n"


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return documents that take long to fit."""
    rng = Random(0)
    words = [f"w{number}" for number in range(4_000)]
    rows = [f"{' '.join(rng.choices(words, k=60))},c{number % 9}" for number in range(8_000)]
    path = tmp_path_factory.mktemp("large") / "large.csv"
    path.write_text("text,label\n" + "\n".join(rows))
    return path


def wait_until_busy(process, seconds):
    """Wait until a process has worked for so long."""
    ticks = os.sysconf("SC_CLK_TCK")
    while process.poll() is None:
        words = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        if (int(words[11]) + int(words[12])) / ticks >= seconds:
            return
        time.sleep(0.02)
    raise AssertionError(f"it ended before: {process.stderr.read()}")


@pytest.mark.skipif(
    sys.platform != "linux", reason="how busy a process is, is read as Linux has it"
)
def test_an_interrupted_fit_leaves_nothing(pipe, large, tmp_path):
    options = ("--method", "exact,rfe", "--cuts", "log", "--stability", "-q")
    process = pipe("fit", large, *options, cwd=tmp_path)
    wait_until_busy(process, 4)  # until everything is loaded and it works
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - began < 10
    assert process.returncode == 130
    assert (out, err) == (b"", b"spokeshave: interrupted; nothing was left half-written\n")
    assert os.listdir(tmp_path) == []
    assert os.listdir(large.parent) == ["large.csv"]


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (signal.SIGINT, b"interrupted"),
        (signal.SIGTERM, b"terminated"),
        (signal.SIGHUP, b"hung up"),
    ],
)
def test_an_interrupted_prediction_leaves_no_file(pipe, fitted, tmp_path, number, word):
    read, write = os.pipe()
    process = pipe(
        *("predict", fitted.model, "-", "--out", "out.csv"),
        cwd=tmp_path,
        stdin=read,
    )
    os.close(read)
    with open(write, "wb") as stream:
        stream.write(b"old oak\n" * 5_000)
        stream.flush()
        while not os.listdir(tmp_path):  # what is written so far
            time.sleep(0.02)
            assert process.poll() is None
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert err == b"spokeshave: %s; nothing was left half-written\n" % word
    assert os.listdir(tmp_path) == []


def test_a_signal_that_is_ignored_stays_so(pipe, fitted, trees):
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731  # as nohup does
    process = pipe("predict", fitted.model, "-", stdin=subprocess.PIPE, preexec_fn=ignore)
    process.stdin.write(b"old oak\n" * 5_000)
    process.stdin.flush()
    assert process.stdout.readline() == b"text,predicted_label\n"
    process.send_signal(signal.SIGHUP)
    process.stdin.close()
    out, err = (
        process.stdout.read(),
        process.stderr.read(),
    )  # communicate() forgets what was buffered
    assert (process.wait(timeout=30), err) == (0, b"")
    assert out.count(b"\n") == 5_000


IMPORTED = """
import builtins, os, signal, sys
package = sys.argv.pop(1)
def load(name, *arguments, **options):
    if name.partition(".")[0] in (package, "dataclasses"):  # and in the middle of the sentence
        os.kill(os.getpid(), signal.SIGINT)
    return original(name, *arguments, **options)
original, builtins.__import__ = builtins.__import__, load
from spokeshave.cli import main
main()
"""
IN_A_FINALIZER = """
import os, signal, sys, time
from spokeshave import cli
class Kernel:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)
def call(**options):
    Kernel()
    time.sleep(20)
cli.make_app = lambda arguments: call
cli.main()
"""
AT_THE_END = """
import os, signal, sys, time
from spokeshave import cli
class Kernel:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)
kernel = Kernel()
cli.make_app = lambda arguments: lambda **options: print("done")
cli.main()
"""


@pytest.mark.parametrize("package", ["typer", "numpy", "safetensors"])
def test_an_interrupt_while_packages_are_imported_is_one_sentence(environment, fitted, package):
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, package, "inspect", fitted.model],
        env=environment,
        capture_output=True,
    )
    sentence = b"spokeshave: interrupted; nothing was left half-written\n"
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", sentence)


def test_an_interrupt_is_not_swallowed_in_a_finalizer(environment):
    command = [sys.executable, "-c", IN_A_FINALIZER]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=15)
    sentence = b"spokeshave: interrupted; nothing was left half-written\n"
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", sentence)


def test_an_interrupt_at_the_end_ends_at_once(environment):
    command = [sys.executable, "-c", AT_THE_END]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=15)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"done\n", b"")


@pytest.mark.parametrize(
    ("out", "sentence"),
    [
        ("nowhere/x", "nowhere: there is no such folder to write to; make it first"),
        ("file/x", "file: there is no such folder to write to; make it first"),
        ("taken", "taken.model: this is a folder; "),
        ("closed/x", "closed: writing to this folder is not permitted"),
    ],
)
def test_where_nothing_can_be_written_is_told_before_the_work(call, trees, tmp_path, out, sentence):
    if out == "closed/x" and os.geteuid() == 0:
        pytest.skip("nothing is closed to root")
    (tmp_path / "file").touch()
    (tmp_path / "taken.model").mkdir()
    (tmp_path / "closed").mkdir(mode=0o500)
    before = sorted(tmp_path.rglob("*"))
    done = call("fit", trees.path, "--out", out, folder=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"spokeshave: {sentence}")
    assert sorted(tmp_path.rglob("*")) == before
