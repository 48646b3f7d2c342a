"""``spokeshave curve``: the same numbers for people and for machines, and no files."""

from __future__ import annotations

import bz2
import json
import os

import polars
import pytest

from spokeshave.jobs.record import read_record


@pytest.fixture(scope="module")
def runs(call, trees, tmp_path_factory):
    """Return the results of some commands, on jsonl and on parquet."""
    sources, folder = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("work")
    rows = [{"kind": k, "leaf": text} for k, text in zip(trees.kinds, trees.texts, strict=True)]
    jsonl, parquet = sources / "trees.jsonl.bz2", sources / "trees.parquet"
    jsonl.write_bytes(bz2.compress("\n".join(map(json.dumps, rows)).encode()))
    polars.DataFrame(rows).write_parquet(parquet)
    tested = ("--json", "--test", trees.more, "--cuts", "0.5,1", "--by", "chi2")
    found = {
        "drawn": call("curve", jsonl, *trees.columns, "--method", "mask,sv_set", folder=folder),
        "listed": call("curve", parquet, *trees.columns, *tested, folder=folder),
        "sparse": call("curve", jsonl, *trees.columns, "--against", "sparsity", folder=folder),
        "sparse lines": call(
            *("curve", parquet, *trees.columns, "--json", "--against", "sparsity"),
            *("--cuts", "0.5,3", "--method", "warm", "--hold-out", "0.3"),
            folder=folder,
        ),
    }
    assert os.listdir(folder) == []
    return found


def test_a_chart_of_each_method_that_is_the_one_of_fit(runs, call, trees, tmp_path):
    options = ("--effort", "quick", "--quiet")
    call("fit", trees.path, *trees.columns, *options, folder=tmp_path, has_report=False)
    done = runs["drawn"]
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    heads = [line for line in lines if "cross-validation" in line]
    assert [head.split(",")[0] for head in heads] == ["mask", "sv_set"]
    rows = [line for line in lines if " ± 0." in line]
    measured = read_record(tmp_path / "trees.run.json").curves[0].measures["label_f1"]
    assert len(rows) == 26
    for row, value, error in zip(rows, measured.macro, measured.macro_error, strict=False):
        assert f" {value:.4f} ± {error:.4f} " in row
    assert sum("← chosen" in row for row in rows) == 2


def test_a_line_for_each_class_and_cut_on_test_documents(runs):
    done = runs["listed"]
    assert (done.code, done.err) == (0, "")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [(line["class"], line["fraction"]) for line in lines] == [
        (kind, fraction) for kind in ("ash", "oak", "yew") for fraction in (0.5, 1.0)
    ]
    for line in lines:
        assert (line["method"], line["by"]) == ("mask", "chi2")
        assert line["evaluated_on"] == "test set"
        measures = ("auc", "best_f1", "f1", "accuracy", "precision_at_20")
        assert all(0.5 < line[measure] <= 1 for measure in measures)
        assert (line["against"], line["cut"]) == ("features", line["fraction"])
        assert 0 < line["nonzeros"] < 11


def test_a_row_for_each_sparsity(runs):
    done = runs["sparse"]
    assert (done.code, done.err) == (0, "")
    head, names, *rows = done.out.strip().splitlines()[:8]
    assert "; cuts in nonzeros per document; words kept per class, on average" in head
    assert names.split()[0] == "nonzeros"
    assert [row.split()[0] for row in rows] == ["2.5", "5", "10", "20", "40", "80"]
    assert sum("← chosen" in row for row in rows) == 1


def test_a_line_for_each_class_and_sparsity(runs):
    done = runs["sparse lines"]
    assert (done.code, done.err) == (0, "")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [(line["class"], line["cut"]) for line in lines] == [
        (kind, cut) for kind in ("ash", "oak", "yew") for cut in (0.5, 3.0)
    ]
    for line in lines:
        assert line["against"] == "sparsity"
        assert line["nonzeros"] <= line["cut"] or line["n_features"] == 1
        assert 0 < line["fraction"] <= 1


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (["--against", "words"], "--against must be one of features, sparsity. Got 'words'"),
        (["--against", "sparsity", "--cuts", "few"], "--cuts must be positive numbers of nonzeros"),
        (["--against", "sparsity", "--method", "rfe"], "goes with every --method but rfe"),
    ],
)
def test_mistyped_values_are_one_sentence(call, trees, typed, sentence):
    done = call("curve", trees.path, *trees.columns, *typed)
    assert (done.code, done.out) == (2, "")
    assert sentence in done.err
    assert done.err.count("\n") == 1
