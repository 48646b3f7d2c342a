"""``spokeshave fit``: what it writes, what it says, and that the same command does the same."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from records import make_bare_record
from spokeshave import load_model
from spokeshave.cli.printer import Printer
from spokeshave.cli.results import choose_prefix, write_results
from spokeshave.jobs.record import read_record

HEADLINE = re.compile(
    r"([\d,]+) of ([\d,]+) words \(\d+\.\d%, \d+\.\d% of the weights\): "
    r"macro-F1 (1?\.\d{3}) ± \.\d{3}, best (1?\.\d{3}) at [\d,]+; model \d+ KB"
)


@pytest.fixture(scope="module")
def runs(call, trees, tmp_path_factory):
    """Return the results of some commands, each with the folder it was run in."""
    out = tmp_path_factory.mktemp("a folder") / "my trees"
    held_out = (
        *("--json", "--hold-out", "0.25", "--cuts", "5,10,20", "--seed", "3"),
        *("--analyzer", "word", "--ngrams", "1-1", "--n-jobs"),
    )
    options = {
        "again": (),
        "one job": (*held_out, "1"),
        "two jobs": (*held_out, "2"),
        "tested": (
            *("--quiet", "--test", trees.more, "--C", "auto", "--weighting", "tfidf"),
            *("--cuts", "0.1,0.5,1", "--effort", "quick"),
        ),
        "methods": (
            *("--method", "mask,warm", "--stability", "--cuts", "log", "--measure", "auc"),
            *("--tolerance", "0.01", "--by", "information_gain", "--effort", "quick"),
            *("--out", out),
        ),
    }
    found = {}
    for name, more in options.items():
        folder = tmp_path_factory.mktemp("work")
        done = call("fit", trees.path, *trees.columns, *more, folder=folder, has_report=False)
        found[name] = SimpleNamespace(done=done, folder=folder, out=out)
    return found


def try_next(done, folder, spokeshave):
    """Do what the last line proposes."""
    command = done.out.splitlines()[-1].removeprefix("Try: ")
    path = f"{Path(spokeshave).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )


def test_it_writes_a_model_a_record_and_a_report_here_and_nothing_there(fitted, trees):
    assert sorted(os.listdir(fitted.folder)) == ["trees.html", "trees.model", "trees.run.json"]
    assert sorted(os.listdir(trees.path.parent)) == ["more.csv", "trees.csv"]
    model, record = load_model(fitted.model), read_record(fitted.record)
    assert (
        model.classes_.tolist() == [each.name for each in record.classes] == ["ash", "oak", "yew"]
    )
    assert (model.predict(trees.texts) == trees.kinds).mean() > 0.85
    assert model.calibration_ is not None
    assert (
        record.model.n_features
        == record.cuts.n_features[record.choice.index]
        <= len(model.feature_names_)
        == record.data.n_features
    )
    assert fitted.model.stat().st_size == record.model.n_bytes
    assert record.making.command == " ".join(
        ["spokeshave fit", str(trees.path), "--text leaf --label kind"]
    )
    assert model.provenance["text_column"] == "leaf"
    assert fitted.page.read_text().startswith("<!doctype html>")


def test_it_says_what_it_found_and_where_it_is(fitted):
    assert fitted.done.err == ""
    record = read_record(fitted.record)
    lines = fitted.done.out.splitlines()
    assert lines[0].startswith("240 documents, 3 classes, 29 words, ")
    assert record.headline in lines
    kept, of, value, best = HEADLINE.fullmatch(record.headline).groups()
    assert (kept, of) == (str(record.model.n_features), "29")
    assert float(value) == pytest.approx(record.choice.value, abs=5e-4)
    assert float(best) == pytest.approx(record.choice.best_value, abs=5e-4)
    rows = [line for line in lines if " ± 0." in line]
    assert [row.split()[0] for row in rows[:3]] == ["1%", "5%", "10%"]
    assert len(rows) == len(record.curves[0].fractions) == 13
    assert rows[record.choice.index].endswith(("← chosen", "← chosen, best"))
    assert lines[-5:-1] == [
        "model   trees.model",
        "record  trees.run.json",
        "report  trees.html",
        "",
    ]


def test_the_curve_is_read_from_the_record_at_the_chosen_cut(fitted):
    record = read_record(fitted.record)
    measured, choice = record.curves[0].measures["label_f1"], record.choice
    best = max(measured.macro)
    floor = best - measured.macro_error[measured.macro.index(best)]
    assert choice.index == next(k for k, value in enumerate(measured.macro) if value >= floor)
    assert choice.value == measured.macro[choice.index]


def test_what_it_proposes_works(fitted, fitted_vectors, runs, spokeshave, tmp_path):
    tried = try_next(fitted.done, fitted.folder, spokeshave)
    assert tried.returncode == 0, tried.stderr
    assert tried.stdout.splitlines()[0] == "text,predicted_label"
    assert tried.stdout.splitlines()[1].startswith("a text to classify,")
    tried = try_next(runs["methods"].done, tmp_path, spokeshave)  # the name has a space
    assert tried.stdout.splitlines()[0] == "text,predicted_label"
    tried = try_next(fitted_vectors.done, fitted_vectors.folder, spokeshave)
    assert tried.returncode == 0, tried.stderr
    assert "trees.model: " in tried.stdout


def test_the_same_command_makes_the_same_model_and_record(fitted, runs):
    again = runs["again"].folder
    assert (again / "trees.model").read_bytes() == fitted.model.read_bytes()
    first, second = (
        json.loads(path.read_text()) for path in (fitted.record, again / "trees.run.json")
    )
    for record in (first, second):
        del record["making"]["finished"], record["making"]["seconds"]
        for curve in record["curves"]:
            del curve["seconds"], curve["fit_seconds"]
        for trial in record["trials"]:
            del trial["seconds"]
    assert first == second


def test_without_what_draws_charts_there_is_no_report_and_it_says_so(fitted, runs):
    done, folder = runs["again"].done, runs["again"].folder
    assert done.code == 0
    assert sorted(os.listdir(folder)) == ["trees.model", "trees.run.json"]
    assert done.err.startswith("note: no report was written: ")
    assert "pip install 'spokeshave[report]'" in done.err
    assert done.out == fitted.done.out.replace("report  trees.html\n", "")


def test_json_is_one_object(runs):
    done = runs["one job"].done
    assert done.code == 0
    (line,) = done.out.splitlines()
    found = json.loads(line)
    assert set(found) == {
        *("headline", "data", "settings", "trials", "choice", "cuts", "model", "full_model"),
        *("seconds", "files"),
    }
    assert found["files"] == {"model": "trees.model", "record": "trees.run.json"}
    assert (found["data"]["n_documents"], found["data"]["n_test"]) == (180, 60)
    for model in ("model", "full_model"):
        judgement = found[model]["judgement"]
        assert judgement["n_documents"] == 60
        assert set(judgement["classes"]) == {"ash", "oak", "yew"}
        assert judgement["macro_f1"] > 0.8
    assert set(found["seconds"]) >= {"reading", "making rows", "training the model", "judging it"}


def test_counts_are_cuts(runs):
    record = read_record(runs["one job"].folder / "trees.run.json")
    assert record.curves[0].n_features == [[5, 10, 20]] * 3
    assert record.making.seed == 3


def test_the_number_of_jobs_changes_nothing(runs):
    one, two = runs["one job"], runs["two jobs"]
    found = [json.loads(each.done.out) for each in (one, two)]
    for each in found:
        del each["seconds"]
        for trial in each["trials"]:
            del trial["seconds"]
    assert found[0] == found[1]
    contents = [(each.folder / "trees.model").read_bytes() for each in (one, two)]
    digests = re.compile(rb"[0-9a-f]{64}")  # of a file that names the command
    first, second = (digests.sub(b"", content) for content in contents)
    assert contents[0] != contents[1]
    assert first == second.replace(b"--n-jobs 2", b"--n-jobs 1")


def test_quiet_is_quiet_and_the_record_tells_what_was_asked_for(runs, trees):
    done, folder = runs["tested"].done, runs["tested"].folder
    assert (done.code, done.out, done.err) == (0, "", "")
    record = read_record(folder / "trees.run.json")
    assert (record.data.test_source, record.data.n_test) == ("more.csv", 60)
    assert (record.data.n_documents, record.model.judgement.n_documents) == (240, 60)
    assert record.model.judgement.judged_on == "more.csv"
    assert record.settings["C"].endswith(" (chosen by cross-validation)")
    assert record.settings["value of a term"] == "tfidf"
    assert record.curves[0].fractions == [0.1, 0.5, 1.0]
    model = load_model(folder / "trees.model")
    accuracy = (model.predict(trees.more_texts) == trees.more_kinds).mean()
    assert accuracy == pytest.approx(record.model.judgement.accuracy)


def test_several_methods_a_tolerance_and_stability(runs):
    done, out = runs["methods"].done, runs["methods"].out
    assert done.code == 0, done.err
    assert os.listdir(runs["methods"].folder) == []
    assert f"model   {out}.model" in done.out.splitlines()
    record = read_record(f"{out}.run.json")
    assert [(curve.method, curve.by) for curve in record.curves] == [
        ("mask", "information_gain"),
        ("warm", "information_gain"),
    ]
    assert record.curves[0].n_features[0][:4] == [1, 2, 4, 8]
    assert (record.choice.measure, record.choice.rule) == (
        "auc",
        "the smallest within 0.01 of the best",
    )
    values = record.curves[0].measures["auc"].macro
    assert record.choice.index == next(
        k for k, value in enumerate(values) if value >= max(values) - 0.01
    )
    assert ": macro AUC ." in record.headline
    assert record.stability.fractions == record.curves[0].fractions
    assert record.stability.macro["cosine"][-1] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("out", "source", "prefix"),
    [
        (None, "data/tickets.csv", "tickets"),
        (None, "news.tar.gz", "news"),
        (None, "-", "spokeshave"),
        (None, "data/reuters/", "reuters"),
        (None, "..", "above"),
        ("x.model", "tickets.csv", "x"),
        ("x.y", "tickets.csv", "x.y"),
        ("results", "tickets.csv", "results/tickets"),
        ("results/", "tickets.csv", "results/tickets"),
        ("results/x", "tickets.csv", "results/x"),
    ],
)
def test_where_it_writes(tmp_path, monkeypatch, out, source, prefix):
    (tmp_path / "above/here/results").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "above/here")
    assert str(choose_prefix(out, source)) == prefix


@pytest.mark.parametrize("end", [".model", ".run.json", ".html"])
def test_a_folder_in_the_way_is_found_before_the_work_is_done(tmp_path, monkeypatch, end):
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"x{end}").mkdir()
    with pytest.raises(ValueError, match=f"x{end}: this is a folder"):
        choose_prefix("x", "tickets.csv")


def test_a_report_of_an_earlier_run_does_not_stay_beside_a_new_model(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "spokeshave.report", None)  # as where it is not installed
    finished = SimpleNamespace(content=b"new", record=make_bare_record())
    for end in (".model", ".run.json", ".html"):
        (tmp_path / f"x{end}").write_bytes(b"old")
    written = write_results(finished, tmp_path / "x", Printer(is_quiet=True))
    assert list(written) == ["model", "record"]
    assert sorted(os.listdir(tmp_path)) == ["x.model", "x.run.json"]
    assert (tmp_path / "x.model").read_bytes() == b"new"


def test_the_model_gets_its_name_last(tmp_path, monkeypatch):
    replace, named = Path.replace, []

    def note(path, target):
        named.append(target.name)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", note)
    monkeypatch.setattr("spokeshave.report.render_report", lambda record: "<!doctype html>")
    finished = SimpleNamespace(content=b"new", record=make_bare_record())
    write_results(finished, tmp_path / "x", Printer())
    assert named == ["x.html", "x.run.json", "x.model"]


def test_what_cannot_be_rendered_leaves_the_results_of_an_earlier_run(tmp_path, monkeypatch):
    def fail(record):
        raise MemoryError

    monkeypatch.setattr("spokeshave.report.render_report", fail)
    finished = SimpleNamespace(content=b"new", record=make_bare_record())
    (tmp_path / "x.model").write_bytes(b"old")
    with pytest.raises(MemoryError):
        write_results(finished, tmp_path / "x", Printer())
    assert os.listdir(tmp_path) == ["x.model"]
    assert (tmp_path / "x.model").read_bytes() == b"old"
