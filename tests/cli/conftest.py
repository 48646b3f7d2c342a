"""Commands as real processes and in this one, small collections, and models fitted once."""

from __future__ import annotations

import fcntl
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from types import ModuleType, SimpleNamespace

import pytest

from spokeshave.cli import run as run_cli
from spokeshave.report import page

OWN = {
    "ash": ("ash", "winged", "seed", "grey", "bark", "key"),
    "oak": ("oak", "acorn", "lobed", "leaf", "old", "mighty"),
    "yew": ("yew", "berry", "needle", "dark", "church", "poison"),
}
IS_SHARED = "PYTEST_XDIST_WORKER" in os.environ  # several processes run the tests
COMMON = ("the", "of", "in", "and", "with", "under", "wind", "tree", "root", "branch", "hill")


def make_texts(n, seed):
    """Return short texts about three kinds of tree, some of them misleading, and the kinds."""
    rng = Random(seed)
    kinds = [list(OWN)[number % 3] for number in range(n)]
    texts = []
    for kind in kinds:
        words = rng.choices(COMMON, k=5) + rng.choices(OWN[kind], k=rng.randint(1, 3))
        if rng.random() < 0.3:
            words += rng.choices(OWN[rng.choice(list(OWN))], k=2)
        rng.shuffle(words)
        texts.append(" ".join(words))
    return texts, kinds


def make_tagged(n, seed):
    """Return texts about none of the trees, one or several, and which."""
    rng = Random(seed)
    tags = [tuple(kind for kind in OWN if rng.random() < 0.4) for _ in range(n)]
    texts = [
        " ".join([*(word for kind in of for word in rng.choices(OWN[kind], k=2)), "tree", "wind"])
        for of in tags
    ]
    return texts, tags


def write_csv(path, header, *columns):
    """Write columns without a comma in them."""
    rows = [header, *(",".join(map(str, row)) for row in zip(*columns, strict=True))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def write_svmlight(path, texts, kinds):
    """Write bags of words; the features are numbered from 1 in order of the words."""
    words = sorted({word for text in texts for word in text.split()})
    place = {word: number for number, word in enumerate(words, 1)}
    rows = [sorted({place[word] for word in text.split()}) for text in texts]
    lines = [
        f"{kind} " + " ".join(f"{j}:1" for j in row) for kind, row in zip(kinds, rows, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def drop_progress(printed):
    """Return what was printed without lines of progress, which a slow machine has."""
    return re.sub(r"^\d+:\d\d:\d\d .*\n", "", printed, flags=re.MULTILINE)


@pytest.fixture(scope="session")
def spokeshave():
    """Return the command."""
    return str(Path(sys.executable).with_name("spokeshave"))


@pytest.fixture(scope="session")
def environment():
    """Return the environment of every command: UTF-8, and nothing that asks for colours."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_COLOR")}
    return kept | {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8", "TERM": "xterm"}


@pytest.fixture(scope="session")
def run(spokeshave, environment, tmp_path_factory):
    """Return a function that runs a command to its end and gives its code and what it printed."""
    without, without_charts = (tmp_path_factory.mktemp("missing") for _ in range(2))
    (without_charts / "vl_convert.py").write_text("raise ImportError")
    for folder in (without, without_charts):  # scikit-learn would load it, and it takes long
        (folder / "pandas.py").write_text("raise ImportError")

    def run(*arguments, folder=None, stdin=b"", has_report=True, **more):
        # Drawing charts takes longer than all the rest, so most runs do without.
        hidden = more.pop("PYTHONPATH", str(without if has_report else without_charts))
        paths = filter(None, [hidden, os.environ.get("PYTHONPATH")])
        more |= {"PYTHONPATH": os.pathsep.join(paths)}
        done = subprocess.run(
            [spokeshave, *map(str, arguments)],
            cwd=folder,
            input=stdin,
            capture_output=True,
            env=environment | more,
        )
        out, err = done.stdout.decode("utf-8", "replace"), drop_progress(done.stderr.decode())
        return SimpleNamespace(code=done.returncode, out=out, err=err, raw=done.stdout)

    return run


@pytest.fixture(scope="session")
def start(run):
    """Return a function that does the same in the background, two commands at a time."""
    threads = ThreadPoolExecutor(1 if IS_SHARED else 2)
    yield lambda *arguments, **options: threads.submit(run, *arguments, **options)
    threads.shutdown(cancel_futures=True)


@pytest.fixture(scope="session")
def run_inside(environment):
    """Return a function that runs a command in this process, where everything is loaded already.

    It takes and gives what ``run`` does. What a command asks of the process itself, such as
    pipes, signals, memory and what is loaded, is not the same here.
    """

    def run_inside(*arguments, folder=None, stdin=b"", has_report=True, **more):
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
        with pytest.MonkeyPatch.context() as patch:
            for name in set(os.environ) - set(environment):
                patch.delenv(name)
            for name, value in (environment | more).items():
                patch.setenv(name, value)
            if folder is not None:
                patch.chdir(folder)
            if not has_report:
                patch.setitem(sys.modules, "vl_convert", None)
                patch.setattr(page, "bundle_javascript", page.bundle_javascript.__wrapped__)
            patch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # it names a command
            patch.setattr("sys.argv", ["spokeshave", *map(str, arguments)])
            patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
            patch.setattr("sys.stdout", out)
            patch.setattr("sys.stderr", err)
            try:
                code = run_cli()
            except SystemExit as ended:
                code = ended.code or 0
            out.flush()
            err.flush()
        raw = out.buffer.getvalue()
        notes = drop_progress(err.buffer.getvalue().decode())
        printed = raw.decode("utf-8", "replace"), notes
        return SimpleNamespace(code=code, out=printed[0], err=printed[1], raw=raw)

    return run_inside


@pytest.fixture(scope="session")
def call(run_inside):
    """Return the same function; files of tests may have another of this name."""
    return run_inside


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """Return a folder that is the same in all processes that run these tests."""
    folder = tmp_path_factory.getbasetemp()
    folder = (folder.parent if IS_SHARED else folder) / "commands"
    folder.mkdir(exist_ok=True)
    return folder


def make_once(folder, fill):
    """Fill a folder, unless another process has; while it does, wait."""
    with Path(f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            folder.mkdir()
            fill(folder)
    return folder


@pytest.fixture(scope="session")
def trees(shared):
    """Return documents of three classes, in a file of three columns, and more like them."""
    texts, kinds = make_texts(240, seed=0)
    more_texts, more_kinds = make_texts(60, seed=1)

    def fill(folder):
        write_csv(folder / "trees.csv", "id,kind,leaf", range(240), kinds, texts)
        write_csv(folder / "more.csv", "id,kind,leaf", range(60), more_kinds, more_texts)

    folder = make_once(shared / "sources", fill)
    return SimpleNamespace(
        texts=texts,
        kinds=kinds,
        path=folder / "trees.csv",
        more=folder / "more.csv",
        more_texts=more_texts,
        more_kinds=more_kinds,
        columns=("--text", "leaf", "--label", "kind"),
    )


@pytest.fixture(scope="session")
def tagged(shared):
    """Return documents with several labels each."""
    texts, tags = make_tagged(150, seed=0)
    columns = texts, list(map(";".join, tags))
    folder = make_once(
        shared / "tagged-sources",
        lambda folder: write_csv(folder / "tagged.csv", "text,tags", *columns),
    )
    return SimpleNamespace(texts=texts, tags=tags, path=folder / "tagged.csv")


@pytest.fixture(scope="session")
def vectors(trees, shared):
    """Return the trees as vectors, in a zip."""

    def fill(folder):
        path = write_svmlight(folder / "trees.svm", trees.texts, trees.kinds)
        with zipfile.ZipFile(f"{path}.zip", "w") as archive:
            archive.write(path, path.name)

    return make_once(shared / "vector-sources", fill) / "trees.svm.zip"


@pytest.fixture(scope="session")
def write_folders():
    """Return a function that writes a file for each text, in the folder of its class."""

    def write_folders(folder, texts, kinds):
        for number, (text, kind) in enumerate(zip(texts, kinds, strict=True)):
            (folder / kind).mkdir(parents=True, exist_ok=True)
            (folder / kind / f"{number:03}.txt").write_text(text)

    return write_folders


@pytest.fixture(scope="session")
def fit_once(run, run_inside, shared):
    """Return a function that fits a model, unless that was done, and gives what was written."""

    def fit_once(folder, source, *options, is_process=False, **more):
        def fit(folder):
            run_it = run if is_process else run_inside
            done = run_it("fit", source, *options, folder=folder, **more)
            found = {"code": done.code, "out": done.out, "err": done.err}
            Path(f"{folder}.json").write_text(json.dumps(found))

        folder = make_once(shared / folder, fit)
        done = SimpleNamespace(**json.loads(Path(f"{folder}.json").read_text()))
        assert done.code == 0, done.err
        name = source.name.partition(".")[0]
        return SimpleNamespace(
            done=done,
            folder=folder,
            model=folder / f"{name}.model",
            record=folder / f"{name}.run.json",
            page=folder / f"{name}.html",
        )

    return fit_once


@pytest.fixture(scope="session")
def fitted(fit_once, trees):
    """Return a model of texts, fitted with everything as it is by default."""
    return fit_once("trees", trees.path, *trees.columns, is_process=True)


@pytest.fixture(scope="session")
def fitted_tagged(fit_once, tagged):
    """Return a model that gives several labels."""
    return fit_once("tagged", tagged.path, "--label-separator", ";", has_report=False)


@pytest.fixture(scope="session")
def fitted_vectors(fit_once, vectors):
    """Return a model of vectors."""
    return fit_once("vectors", vectors, has_report=False)
