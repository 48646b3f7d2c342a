"""``spokeshave fit --memory``: what it writes and says, and how it goes on after it was stopped."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from spokeshave import BudgetedSVC, DocumentVectorizer, DualLinearSVC, load_model
from spokeshave.cli import run as run_here
from spokeshave.jobs.record import read_record

MEMORY = ("--memory", "8GB")
SMALL = 400_000_000
HEADLINE = re.compile(
    r"([\d,]+) of ([\d,]+) words \(\d+\.\d%\), \d+ of \d+ in a document, trained on all "
    r"([\d,]+)(?:: macro-F1 (1?\.\d{3}))?; model \d+ KB"
)
# A command that is killed when it begins the second pass.
KILLED = """
import os
from spokeshave.budget import run
from spokeshave.cli import main
reduce = run.reduce_stream
def kill(*arguments):
    if any("trees.work" in str(argument) for argument in arguments):
        os.kill(os.getpid(), 9)
    return reduce(*arguments)
run.reduce_stream = kill
main()
"""


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """Return a function that runs a command here, in an empty folder: it need not load again."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["spokeshave", *map(str, arguments)])
        capsys.readouterr()
        code = run_here()
        return SimpleNamespace(code=code, **capsys.readouterr()._asdict())

    return call


def watch(process):
    """Return the most memory that a process has held, in bytes, when it ends."""
    status, most = Path(f"/proc/{process.pid}/status"), 0
    while process.poll() is None and status.exists():
        if found := re.search(r"VmHWM:\s+(\d+) kB", status.read_text()):
            most = 1024 * int(found[1])
        time.sleep(0.01)
    return most


@pytest.fixture(scope="module")
def fitted(spokeshave, environment, trees, tmp_path_factory):
    """Return a run with everything but options, in a process of its own, in little memory."""
    folder = tmp_path_factory.mktemp("fitted")
    command = [spokeshave, "fit", trees.path, *trees.columns, "--memory", str(SMALL)]
    with (
        (folder / "out").open("w") as out,
        (folder / "err").open("w") as err,
        subprocess.Popen(command, cwd=folder, stdout=out, stderr=err, env=environment) as process,
    ):
        most = watch(process)
    return SimpleNamespace(
        code=process.returncode,
        out=(folder / "out").read_text(),
        err=(folder / "err").read_text(),
        folder=folder,
        most=most,
    )


def test_it_writes_a_model_and_a_record_and_leaves_nothing_else(fitted, trees):
    assert fitted.code == 0, fitted.err
    assert set(os.listdir(fitted.folder)) == {"trees.model", "trees.run.json", "out", "err"}
    assert sorted(os.listdir(trees.path.parent)) == ["more.csv", "trees.csv"]
    model = load_model(fitted.folder / "trees.model")
    assert (model.predict(trees.texts) == trees.kinds).mean() > 0.85
    record = read_record(fitted.folder / "trees.run.json")
    assert record.model.n_features == len(model.feature_names_)
    assert record.model.n_bytes == (fitted.folder / "trees.model").stat().st_size


def test_it_says_what_it_is_going_to_do_and_what_it_did(fitted):
    plan, cut, report = fitted.err.splitlines()
    assert plan.startswith("note: 240 documents, about 29 words, ")
    assert "the budget of 400.0 MB" in plan
    assert cut.startswith("note: 29 of 29 words are kept (0 were pruned before), ")
    lines = fitted.out.splitlines()
    assert lines[0].startswith("240 documents, 3 classes, 29 words, ")
    record = read_record(fitted.folder / "trees.run.json")
    assert record.headline in lines
    assert HEADLINE.fullmatch(record.headline).groups() == ("29", "29", "240", None)
    assert report == (
        "note: no report was written, for lack of memory; "
        "to write it: spokeshave report trees.run.json"
    )
    assert not any(line.startswith("report ") for line in lines)
    assert "\x1b" not in fitted.out + fitted.err


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what a process holds")
def test_the_command_stays_within_its_budget_to_the_end(fitted):
    assert 200_000_000 < fitted.most < SMALL


def test_it_is_the_model_of_the_estimator(fitted, trees):
    model = BudgetedSVC(
        "4GB",
        estimator=DualLinearSVC(loss="squared_hinge", prior="bns", prior_strength=0.5),
        vectorizer=DocumentVectorizer(weighting="tfidf", sublinear_tf=True),
        random_state=0,
    ).fit_files(trees.path, text="leaf", label="kind")
    loaded = load_model(fitted.folder / "trees.model")
    assert (
        abs(loaded.decision_function(trees.texts) - model.decision_function(trees.texts)).max()
        < 2e-2
    )  # as weights of the file are rounded


def test_the_model_predicts_and_is_inspected(fitted, call, trees):
    model = fitted.folder / "trees.model"
    done = call("predict", model, trees.more, "--to", "csv", "--out", "labelled.csv")
    assert done.code == 0, done.err
    rows = Path("labelled.csv").read_text().splitlines()
    assert rows[0] == "id,kind,leaf,predicted_label"
    right = [row.split(",")[1] == row.split(",")[3] for row in rows[1:]]
    assert sum(right) > 0.8 * len(right)
    done = call("inspect", model, "--json")
    assert json.loads(done.out)["classes"] == ["ash", "oak", "yew"]


def test_the_report_is_made_later_or_where_there_is_memory_for_it(fitted, call, trees):
    done = call("report", fitted.folder / "trees.run.json", "--out", "later.html")
    assert done.code == 0, done.err
    done = call("fit", trees.path, *trees.columns, *MEMORY)
    assert "report  trees.html" in done.out.splitlines()
    for name in ("later.html", "trees.html"):
        page = Path(name).read_text()
        assert page.startswith("<!doctype html>")
        assert read_record("trees.run.json").headline in page


def test_test_documents_and_sparsity(call, trees):
    options = ("--test", trees.more, "--nonzeros", "3", "--quiet", "--out", "x", "--seed", "3")
    done = call("fit", trees.path, *trees.columns, *MEMORY, *options)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert sorted(os.listdir()) == ["x.html", "x.model", "x.run.json"]
    record = read_record("x.run.json")
    assert record.model.per_document == pytest.approx(3, rel=0.2)
    assert record.model.n_features < 29
    assert (record.data.test_source, record.data.n_test) == ("more.csv", 60)
    judgement = record.model.judgement
    model = load_model("x.model")
    right = model.predict(trees.more_texts) == trees.more_kinds
    assert judgement.accuracy == pytest.approx(right.mean(), abs=1e-4)
    assert record.making.seed == 3
    assert HEADLINE.fullmatch(record.headline)[4] is not None


def test_folders_for_machines(call, trees, write_folders):
    write_folders(Path("trees"), trees.texts, trees.kinds)
    options = ("--json", "--hold-out", "0.25", "--by", "chi2", "--weighting", "tfidf", "-q")
    done = call("fit", "trees", *MEMORY, *options, "--nonzeros", "4", "--C", "0.5", "--out", "x")
    assert (done.code, done.err) == (0, "")
    (line,) = done.out.splitlines()
    found = json.loads(line)
    assert set(found) == {
        *("headline", "data", "settings", "trials", "choice", "cuts", "model", "full_model"),
        *("seconds", "files"),
    }
    assert (found["choice"], found["cuts"], found["full_model"]) == (None, None, None)
    assert found["data"]["n_documents"] + found["data"]["n_test"] == 240
    assert found["model"]["judgement"]["n_documents"] == found["data"]["n_test"]
    assert found["settings"]["ranked by"] == "chi2"
    assert found["settings"]["value of a term"] == "tfidf"
    assert found["settings"]["C"] == "0.5"
    assert set(found["seconds"]) >= {"counting", "ranking", "reducing", "training", "judging it"}
    assert found["files"]["model"] == "x.model"
    assert sorted(os.listdir()) == ["trees", "x.html", "x.model", "x.run.json"]


def test_several_labels(call, tagged):
    done = call("fit", tagged.path, *MEMORY, "--label-separator", ";", "--quiet")
    assert done.code == 0, done.err
    assert load_model("tagged.model").predict(["acorn lobed winged seed"]).tolist() == [[1, 1, 0]]


def test_vectors(call, vectors):
    done = call("fit", vectors, *MEMORY, "--quiet")
    assert done.code == 0, done.err
    assert load_model("trees.model").classes_.tolist() == ["ash", "oak", "yew"]


@pytest.fixture(scope="module")
def piped(run, trees, tmp_path_factory):
    """Return a run on standard input, in a folder of work that was made for it."""
    folder = tmp_path_factory.mktemp("piped")
    (folder / "work").mkdir()
    options = ("--format", "csv", "--work", "work", "--n-jobs", "1")
    content = trees.path.read_bytes()
    done = run(
        *("fit", "-", *trees.columns, *MEMORY, *options),
        folder=folder,
        stdin=content,
        has_report=False,
    )
    return done, folder


def test_standard_input_is_read_twice(piped, fitted, trees):
    done, folder = piped
    assert done.code == 0, done.err
    assert sorted(os.listdir(folder)) == ["spokeshave.model", "spokeshave.run.json"]
    assert "note: no report was written: " in done.err
    first, second = (
        load_model(folder / "spokeshave.model"),
        load_model(fitted.folder / "trees.model"),
    )
    assert first.feature_names_ == second.feature_names_
    scores = first.decision_function(trees.texts) - second.decision_function(trees.texts)
    assert abs(scores).max() == 0  # whatever the memory and the number of threads
    assert read_record(folder / "spokeshave.run.json").title == "standard input"


# Stopped.


@pytest.fixture(scope="module")
def killed(environment, trees, tmp_path_factory):
    """Return the folder of a command that was killed, and the command."""
    folder = tmp_path_factory.mktemp("killed")
    command = ("fit", str(trees.path), *trees.columns, *MEMORY)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *command], cwd=folder, env=environment, capture_output=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    return folder, command


def test_a_command_that_is_killed_leaves_its_work(killed):
    folder, _ = killed
    assert os.listdir(folder) == ["trees.work"]
    names = set(os.listdir(folder / "trees.work"))
    assert {"run.json", "first_pass", "selection"} <= names
    assert "reduced" not in names


def test_another_command_in_its_work_is_refused(killed, call):
    folder, command = killed
    done = call(*command, "--work", folder / "trees.work", "--C", "2")
    assert (done.code, done.out) == (2, "")
    (line,) = [line for line in done.err.splitlines() if not line.startswith("note: ")]
    assert line.startswith(f"spokeshave: {folder / 'trees.work'}: a run with other ")
    assert "estimator" in line
    assert os.listdir() == []


def test_the_same_command_goes_on(killed, call, monkeypatch):
    folder, command = killed
    monkeypatch.chdir(folder)
    done = call(*command)
    assert done.code == 0, done.err
    assert sorted(os.listdir(folder)) == ["trees.html", "trees.model", "trees.run.json"]


def test_a_full_disk_is_one_sentence(spokeshave, environment, trees, tmp_path):
    script = 'ulimit -f 2; exec "$0" "$@"'  # two kilobytes for each file
    command = [spokeshave, "fit", trees.path, *trees.columns, *MEMORY]
    done = subprocess.run(
        ["bash", "-c", script, *command], cwd=tmp_path, env=environment, capture_output=True
    )
    err = done.stderr.decode()
    assert done.returncode == 2, err
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "spokeshave: trees.work: File too large"
    assert os.listdir(tmp_path) == []  # no stage was finished


# Refused.


ALONE = " does not apply with --memory. Leave it out."
SIZE = "--memory must be a number of bytes, or text such as '512MB', '2GB' or '1.5GiB'. Got "
TOGETHER = "--nonzeros and --work need --memory. Give --memory as well."
REFUSED = [
    (("--memory", "x"), f"{SIZE}'x' instead."),
    (("--memory", "0"), f"{SIZE}'0' instead."),
    (("--memory=-1GB",), f"{SIZE}'-1GB' instead."),
    (("--memory", "2 potatoes"), f"{SIZE}'2 potatoes' instead."),
    (("--memory",), "Option '--memory' requires an argument."),
    ((*MEMORY, "--nonzeros", "0"), "--nonzeros must be a positive number. Got 0 instead."),
    ((*MEMORY, "--nonzeros=-1"), "--nonzeros must be a positive number. Got -1 instead."),
    ((*MEMORY, "--nonzeros", "nan"), "--nonzeros must be a positive number. Got nan instead."),
    ((*MEMORY, "--nonzeros", "inf"), "--nonzeros must be a positive number. Got inf instead."),
    ((*MEMORY, "--nonzeros", "x"), "Invalid value for '--nonzeros': 'x' is not a valid float"),
    (("--nonzeros", "5"), TOGETHER),
    (("--work", "here"), TOGETHER),
    ((*MEMORY, "--work", "nowhere/here"), "nowhere: there is no such folder to work in; make it "),
    ((*MEMORY, "--out", "nowhere/x"), "nowhere: there is no such folder to write to; make it "),
    ((*MEMORY, "--method", "warm"), f"--method{ALONE}"),
    ((*MEMORY, "--cuts", "log"), f"--cuts{ALONE}"),
    ((*MEMORY, "--measure", "f1"), f"--measure{ALONE}"),
    ((*MEMORY, "--stability"), f"--stability{ALONE}"),
    ((*MEMORY, "--C", "auto"), "--C must be a number with --memory. Got 'auto' instead."),
    ((*MEMORY, "--by", "x"), "--by must be one of normal, "),
    (
        (*MEMORY, "--weighting", "x"),
        "--weighting must be one of binary, counts, tfidf, sublinear. Got 'x' ",
    ),
    ((*MEMORY, "--tolerance", "1"), "--tolerance must be from 0 to below 1. Got 1 instead."),
    ((*MEMORY, "--text", "body"), "trees.csv: there is no column 'body'; "),
    ((*MEMORY, "--test", "x.csv", "--hold-out", "0.2"), "Only one of --test and --hold-out can "),
    ((*MEMORY, "--encoding", "x"), "trees.csv: the encoding 'x' is unknown; "),
]


@pytest.mark.parametrize(("options", "sentence"), REFUSED, ids=lambda value: str(value)[:50])
def test_what_makes_no_sense_is_refused_in_one_sentence(call, trees, options, sentence):
    done = call("fit", trees.path, *options)
    assert (done.code, done.out) == (2, "")
    (line,) = [line for line in done.err.splitlines() if not line.startswith("note: ")]
    assert line.startswith("spokeshave: ")
    assert sentence in line
    assert os.listdir() == []


def refuse(call, trees, *options):
    """Return why a command is refused, which is one sentence."""
    done = call("fit", trees.path, *trees.columns, *options)
    assert (done.code, done.out) == (2, "")
    (line,) = [line for line in done.err.splitlines() if not line.startswith("note: ")]
    return line


def test_places_that_cannot_be_worked_in(call, trees):
    Path("mine").write_text("mine")
    Path("ours").mkdir()
    Path("ours/notes").write_text("ours")
    line = refuse(call, trees, *MEMORY, "--work", "mine")
    assert line == "spokeshave: mine: this is a file; name a folder to work in"
    line = refuse(call, trees, *MEMORY, "--work", "ours")
    assert line.startswith("spokeshave: ours: there are files in it that no run has left; ")
    assert sorted(os.listdir()) == ["mine", "ours"]
    assert os.listdir("ours") == ["notes"]


def test_too_little_memory_is_refused_with_what_is_needed(call, trees):
    line = refuse(call, trees, "--memory", "10MB")
    assert re.match(
        r"spokeshave: memory must be at least [\d.]+ [MG]B: [\d.]+ [MG]B are for ", line
    )
    assert line.endswith(". Got 10.0 MB instead.")


def test_after_too_little_memory_more_will_do(call, trees):
    refuse(call, trees, "--memory", "10MB")
    assert os.listdir() == []
    assert call("fit", trees.path, *trees.columns, *MEMORY, "--quiet").code == 0


def test_after_a_malformed_row_is_mended_the_same_command_works(call, trees):
    content = trees.path.read_text()
    Path("mine.csv").write_text(content + "1,2,3,4,5\n")
    done = call("fit", "mine.csv", *trees.columns, *MEMORY, "--quiet")
    assert done.code == 2
    assert "mine.csv, line 242: " in done.err
    Path("mine.csv").write_text(content)
    assert call("fit", "mine.csv", *trees.columns, *MEMORY, "--quiet").code == 0


def test_a_share_that_holds_nothing_out_is_refused(call, trees):
    line = refuse(call, trees, *MEMORY, "--hold-out", "0.000001")
    assert line.startswith("spokeshave: --hold-out must be large enough to hold out a document. ")


def test_malformed_rows_may_be_left_out_and_are_counted(call, trees):
    Path("mine.csv").write_text(trees.path.read_text() + "1,2,3,4,5\n")
    done = call("fit", "mine.csv", *trees.columns, *MEMORY, "--skip-bad-rows")
    assert done.code == 0, done.err
    assert read_record("mine.run.json").data.n_skipped == 1


def test_malformed_rows_that_are_left_out_are_told_of(call, trees):
    Path("mine.csv").write_text(trees.path.read_text() + "1,2,3,4,5\n")
    done = call("fit", "mine.csv", *trees.columns, *MEMORY, "--skip-bad-rows")
    assert "note: 1 malformed rows were left out of mine.csv" in done.err
