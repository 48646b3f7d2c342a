"""``--cluster``: the same commands on a cluster write the same, and say what is wrong as well."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from distributed import KilledWorker

from made_clusters import start_workers
from spokeshave import load_model
from spokeshave.cli import run as run_here
from spokeshave.cli.fit import name_parts
from spokeshave.cli.progress import Steps
from spokeshave.cluster import client as client_module
from spokeshave.cluster import connect
from spokeshave.jobs.record import read_record
from spokeshave.report.page import bundle_javascript

QUICK = ("--cuts", "0.1,0.5,1")
EDGES = (0, 100, 100, 240)  # of the rows of a table, for its parts


def split(path, folder):
    """Write the rows of a table as parts, each with the header; return a pattern of them."""
    header, *rows = path.read_text().splitlines(keepends=True)
    for number, (first, last) in enumerate(pairwise(EDGES)):
        content = "".join([header, *rows[first:last]])
        (folder / f"part-{number}.csv").write_text(content)
    return str(folder / "part-*.csv")


@pytest.fixture(scope="module")
def parts(trees, tmp_path_factory):
    return split(trees.path, tmp_path_factory.mktemp("parts"))


@pytest.fixture(scope="module")
def client():
    """Return workers that all commands run here share."""
    with start_workers(2) as client:
        yield client


@pytest.fixture
def call(client, monkeypatch, capsys, tmp_path):
    """Return a function that runs a command here, in an empty folder, on workers started before."""

    @contextmanager
    def find(address, security, say):
        assert address == "tcp://host:8786"
        yield client

    monkeypatch.setattr("spokeshave.cluster.connect", find)
    monkeypatch.setitem(sys.modules, "vl_convert", None)  # drawing charts takes long
    bundle_javascript.cache_clear()
    monkeypatch.chdir(tmp_path)

    def call(*arguments, address="tcp://host:8786"):
        command = ["spokeshave", *map(str, arguments), "--cluster", address]
        monkeypatch.setattr("sys.argv", command)
        capsys.readouterr()
        code = run_here()
        return SimpleNamespace(code=code, **capsys.readouterr()._asdict())

    return call


@pytest.fixture
def refuse(call):
    """Return a function that gives the sentence that a command is refused with."""

    def refuse(*arguments, **options):
        before = sorted(os.listdir())
        done = call(*arguments, **options)
        assert (done.code, done.out) == (2, ""), done.err
        *notes, sentence = done.err.splitlines()
        assert all(note.startswith("note: ") for note in notes)
        assert sorted(os.listdir()) == before
        return sentence.removeprefix("spokeshave: ")

    return refuse


def assert_same_model(one, other, texts):
    """Assert that two models are the same, but for where they come from."""
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.feature_names_ == other.feature_names_
    scores = one.decision_function(texts)
    np.testing.assert_array_equal(scores, other.decision_function(texts))
    np.testing.assert_array_equal(one.predict_proba(texts), other.predict_proba(texts))


def test_a_command_by_itself_writes_the_model_that_one_machine_writes(
    run, trees, parts, tmp_path, tmp_path_factory
):
    alone = tmp_path_factory.mktemp("alone")
    options = (*trees.columns, "--effort", "quick")
    run("fit", trees.path, *options, "--quiet", folder=alone, has_report=False)
    done = run("fit", parts, *options, "--cluster", "local:2", folder=tmp_path, has_report=False)
    assert done.code == 0, done.err
    assert sorted(os.listdir(tmp_path)) == ["part.model", "part.run.json"]
    found, expected = load_model(tmp_path / "part.model"), load_model(alone / "trees.model")
    assert_same_model(found, expected, trees.more_texts)
    one, other = read_record(tmp_path / "part.run.json"), read_record(alone / "trees.run.json")
    assert one.headline == other.headline
    assert (one.data.source, one.data.n_documents) == ("part-0.csv and 2 more", 240)
    assert found.provenance["fingerprint"] == expected.provenance["fingerprint"]
    assert one.headline in done.out.splitlines()
    workers, report = done.err.splitlines()
    assert workers.startswith("note: 2 workers of ")
    assert report.startswith("note: no report was written: ")


def test_a_fit_for_machines_is_judged_and_timed(call, trees, parts):
    done = call("fit", parts, *trees.columns, *QUICK, "--test", trees.more, "--json", "-o", "x")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["data"]["test_source"] == "more.csv"
    assert found["model"]["judgement"]["n_documents"] == 60
    assert list(found["seconds"]) == [
        *("connecting", "counting", "making rows", "tracing the curve (mask)"),
        *("training the model", "judging it"),
    ]
    assert sorted(os.listdir()) == ["x.model", "x.run.json"]


def test_a_sparsity_is_cut_to(call, trees, parts):
    options = ("--nonzeros", "3", "--memory", "1GB", "--hold-out", "0.2", "--out", "x")
    done = call("fit", parts, *trees.columns, *options)
    assert done.code == 0, done.err
    record = read_record("x.run.json")
    assert record.model.per_document == pytest.approx(3, rel=0.2)
    assert {"ranking", "reducing", "training", "judging it"} <= set(record.making.seconds)
    assert record.making.command.startswith("spokeshave fit ")
    assert "that is too much for " in done.err


def test_labels_are_those_of_one_machine(call, run, fitted, trees, parts):
    done = call("predict", fitted.model, parts, "--out", "labelled", "--json")
    assert (done.code, done.out) == (0, "")
    assert done.err == "note: 240 rows written to 3 files in labelled\n"
    names = [f"part-{number}.jsonl" for number in range(3)]
    assert sorted(os.listdir("labelled")) == names
    expected = run("predict", fitted.model, trees.path, "--to", "jsonl").raw
    assert b"".join(Path("labelled", name).read_bytes() for name in names) == expected


def test_a_bad_row_is_told_of_by_its_file_and_line(refuse, call, fitted, trees, tmp_path):
    pattern = split(trees.path, tmp_path)
    bad = tmp_path / "part-2.csv"
    with bad.open("a") as file:
        file.write("240,oak\n")
    problem = f"{bad}, line 142: "
    assert refuse("fit", pattern, *trees.columns).startswith(problem)
    assert refuse("predict", fitted.model, pattern, "--out", "new").startswith(problem)
    done = call("predict", fitted.model, pattern, "--out", "new", "--skip-bad-rows", "--quiet")
    assert (done.code, done.err) == (0, "")


def test_columns_that_cannot_be_guessed_are_asked_for_by_their_options(refuse, tmp_path):
    (tmp_path / "part-0.csv").write_text("a,b,c\n1,oak,old\n2,ash,grey\n")
    sentence = refuse("fit", "part-*.csv")
    assert sentence.startswith(f"{tmp_path}/part-0.csv: say which is the text")
    assert sentence.endswith("; pass --text and --label")


ALONE = " does not apply with --cluster. Leave it out."
OF_A_CURVE = " does not apply with --nonzeros. Leave it out."
TABLES = "--cluster reads tables and vectors, or a pattern of such files, and this "
SIZE = "--memory must be a number of bytes, or text such as '512MB', '2GB' or '1.5GiB'. Got "
CERTIFIED = ("--cluster-ca", "x", "--cluster-cert", "x", "--cluster-key", "x")
REFUSED = [
    (("fit", "PARTS", "--work", "x"), f"--work{ALONE}"),
    (("fit", "PARTS", "--under", "x"), f"--under{ALONE}"),
    (("fit", "-"), "--cluster reads files that every worker can open. Got standard input instead."),
    (("fit", "PARTS", "--test", "-"), "--cluster reads files that every worker can open. Got "),
    (("fit", ""), "--cluster reads files that every worker can open. Got '' instead."),
    (("fit", "."), f".: {TABLES}is a folder; "),
    (("fit", "PARTS", "--test", "."), f".: {TABLES}is a folder; "),
    (("fit", "x.tar.gz"), f"x.tar.gz: {TABLES}is a collection of documents in many files; "),
    (("fit", "reut2-*.sgm"), f"reut2-*.sgm: {TABLES}is a collection of documents in many files; "),
    (("fit", "PARTS", "--format", "folders"), "--format must be csv, tsv, jsonl, parquet, "),
    (("fit", "PARTS", "--memory", "x"), f"{SIZE}'x' instead."),
    (("fit", "PARTS", "--nonzeros", "0"), "--nonzeros must be a positive number. Got 0 instead."),
    (("fit", "PARTS", "--nonzeros", "3", "--method", "warm"), f"--method{OF_A_CURVE}"),
    (("fit", "PARTS", "--nonzeros", "3", "--cuts", "log"), f"--cuts{OF_A_CURVE}"),
    (("fit", "PARTS", "--nonzeros", "3", "--stability"), f"--stability{OF_A_CURVE}"),
    (("fit", "PARTS", "--nonzeros", "3", "--C", "auto"), "--C must be a number with --nonzeros. "),
    (("fit", "PARTS", "--out", "no/x"), "no: there is no such folder to write to; make it first"),
    (
        ("fit", "PARTS", "--cluster-ca", "x"),
        "--cluster-ca needs --cluster-cert and --cluster-key. ",
    ),
    (("fit", "PARTS", *CERTIFIED), "--cluster-ca must name a PEM file. Got 'x' instead."),
    (("predict", "MODEL", "--out", "x"), "--cluster labels files that every worker can open. Got "),
    (("predict", "MODEL", "PARTS"), "--out must name a folder with --cluster: "),
    (("predict", "none.model", "PARTS", "--out", "x"), "none.model: there is no such file"),
    (("predict", "MODEL", "PARTS", "--out", "x", "--to", "x"), "--to must be one of csv, "),
]


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED)
def test_options_that_make_no_sense(refuse, fitted, trees, parts, arguments, sentence):
    named = {"PARTS": parts, "MODEL": fitted.model}
    given = [named.get(argument, argument) for argument in arguments]
    assert refuse(*given).startswith(sentence)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("parts-*.parquet", "parts.parquet"),
        ("data/part.*.csv.gz", "part.csv.gz"),
        ("part_[0-9]?.csv", "part.csv"),
        ("*-2024.csv", "2024.csv"),
        ("tickets/*.csv", "tickets"),
        ("*.csv", "-"),
        ("s3://bucket/new/*", "new"),
        ("zip://a/part-0.csv::s3://bucket/parts.zip", "part-0.csv"),
        ("trees.csv", "trees.csv"),
    ],
)
def test_parts_are_called_without_what_stands_for_any_letters(source, name):
    assert name_parts(source) == name


def test_the_bar_is_that_of_the_way_that_is_taken():
    with Steps(is_quiet=True) as steps:
        steps.plan({"counting": 2.0, "tracing": 6.0}, {"ranking": 3.0, "training": 5.0})
        steps.begin("counting")
        (bar,) = steps._progress.tasks
        assert (bar.completed, bar.total) == (0, 8)
        steps.begin("ranking")
        steps.reach(0.5)
        assert (bar.completed, bar.total) == (3.5, 10)


def test_a_zip_of_folders_is_for_one_machine(refuse, tmp_path):
    with zipfile.ZipFile(tmp_path / "trees.zip", "w") as archive:
        archive.writestr("oak/1", "acorn")
        archive.writestr("ash/1", "winged seed")
    assert refuse("fit", "trees.zip").startswith(
        f"trees.zip: {TABLES}is a collection of documents in many files; "
    )


def test_a_pattern_that_matches_nothing(refuse, fitted, tmp_path):
    problem = f"{tmp_path}/none-*.csv: no file has such a name"
    assert refuse("fit", "none-*.csv") == problem
    assert refuse("predict", fitted.model, "none-*.csv", "--out", "new") == problem


@pytest.mark.parametrize("address", ["local:0", "local:x", "local:", "local", "local:-1", "", "x:"])
def test_addresses_that_are_none(refuse, monkeypatch, fitted, parts, address):
    monkeypatch.setattr("spokeshave.cluster.connect", connect)
    sentence = refuse("fit", parts, address=address)
    assert sentence.startswith("--cluster must be local: and a number of workers, such as ")
    assert sentence.endswith(f" Got {address!r} instead.")
    assert refuse("predict", fitted.model, parts, "-o", "x", address=address) == sentence


def test_an_address_where_there_is_no_scheduler(refuse, monkeypatch, parts):
    monkeypatch.setattr("spokeshave.cluster.connect", connect)
    monkeypatch.setattr(client_module, "TIMEOUT", "200ms")
    sentence = refuse("fit", parts, address="tcp://127.0.0.1:1")
    assert sentence == (
        "tcp://127.0.0.1:1: there is no scheduler there (OSError); give the address that dask "
        "scheduler prints, tcp://host:8786 say"
    )


def test_an_encrypted_address_needs_certificates(refuse, monkeypatch, parts):
    monkeypatch.setattr("spokeshave.cluster.connect", connect)
    assert refuse("fit", parts, address="tls://host:8786") == (
        "--cluster-ca, --cluster-cert and --cluster-key must be given for an encrypted address, "
        "tls://host:8786."
    )


def test_workers_that_die_one_after_the_other_are_one_sentence(refuse, monkeypatch, parts):
    def lose(*arguments, **options):
        raise KilledWorker("task", None, 3)

    monkeypatch.setattr("spokeshave.cluster.connect", connect)
    monkeypatch.setattr("spokeshave.cluster.fit_on_cluster", lose)
    monkeypatch.setattr(client_module, "_find", lambda *arguments: nullcontext())
    sentence = refuse("fit", parts, address="tcp://host:8786")
    assert sentence.startswith("The cluster lost 4 workers one after the other at the same task, ")


@pytest.mark.parametrize("command", [("fit", "none.csv"), ("predict", "none", "none", "-o", "x")])
def test_without_the_extra_it_says_what_to_install_before_anything_is_read(run, tmp_path, command):
    (tmp_path / "distributed.py").write_text("raise ImportError")
    done = run(*command, "--cluster", "local:2", PYTHONPATH=str(tmp_path))
    assert (done.code, done.out) == (2, "")
    assert done.err == "spokeshave: A cluster needs Dask: pip install 'spokeshave[cluster]'\n"


@pytest.mark.parametrize("verb", ["fit", "predict"])
def test_nothing_of_dask_is_loaded_without_the_option(environment, fitted, trees, tmp_path, verb):
    program = (
        "import sys\n"
        "from spokeshave.cli import run\n"
        "code = run()\n"
        "print(code, sorted({'dask', 'distributed'} & set(sys.modules)), file=sys.stderr)\n"
    )
    arguments = {"fit": ["none.csv"], "predict": [str(fitted.model), str(trees.more)]}
    done = subprocess.run(
        [sys.executable, "-c", program, verb, *arguments[verb]],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.stderr.splitlines()[-1] == ("2 []" if verb == "fit" else "0 []")
