"""``spokeshave predict``: every format in and out, and the labels that the model gives."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys

import numpy as np
import polars
import pytest

from spokeshave import load_model
from spokeshave.corpus import load_source
from spokeshave.model.file_content import VERSION

MEMORY = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def read_csv(text, delimiter=","):
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


@pytest.fixture(scope="module")
def model(fitted):
    return load_model(fitted.model)


@pytest.fixture(scope="module")
def labels(model, trees):
    return model.predict(trees.more_texts).tolist()


@pytest.fixture(scope="module")
def predict(call, fitted):
    def predict(*arguments, model=fitted.model, **options):
        done = call("predict", model, *arguments, **options)
        assert done.code == 0, done.err
        return done

    return predict


def test_csv_becomes_csv_with_its_columns_kept(predict, trees, labels):
    done = predict(trees.more)
    assert done.err == ""
    given = trees.more.read_text().splitlines()
    assert done.out.splitlines() == [
        f"{given[0]},predicted_label",
        *(f"{row},{label}" for row, label in zip(given[1:], labels, strict=True)),
    ]


def test_jsonl_becomes_jsonl(predict, trees, labels, tmp_path):
    given = [{"leaf": text, "size": {"height": 3}, "id": None} for text in trees.more_texts]
    (tmp_path / "more.jsonl").write_text("\n".join(map(json.dumps, given)))
    done = predict("more.jsonl", "--scores", "all", folder=tmp_path)
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [list(row) for row in rows[:1]] == [
        [
            *("leaf", "size", "id", "predicted_label"),
            *("predicted_score_ash", "predicted_score_oak", "predicted_score_yew"),
        ]
    ]
    assert [row["predicted_label"] for row in rows] == labels
    assert [{name: row[name] for name in ("leaf", "size", "id")} for row in rows] == given
    best = [
        max(("ash", "oak", "yew"), key=lambda kind: row[f"predicted_score_{kind}"]) for row in rows
    ]
    assert best == labels


def test_parquet_becomes_parquet_with_its_types_kept(predict, model, trees, labels, tmp_path):
    given = polars.DataFrame(
        {"n": np.arange(60, dtype=np.int16), "leaf": trees.more_texts, "parts": [["a"]] * 60}
    )
    given.write_parquet(tmp_path / "more.parquet")
    options = ("--probability", "--prefix", "my_", "--out", "labelled.parquet")
    done = predict("more.parquet", *options, folder=tmp_path)
    assert (done.out, done.err) == ("", "note: 60 rows written to labelled.parquet\n")
    found = polars.read_parquet(tmp_path / "labelled.parquet")
    assert found.select(given.columns).equals(given)
    assert found.columns == [*given.columns, "my_label", "my_probability"]
    assert found["my_label"].to_list() == labels
    table = model.predict_proba(trees.more_texts)
    of_label = table[np.arange(60), np.searchsorted(model.classes_, labels)]
    np.testing.assert_allclose(found["my_probability"].to_numpy(), of_label)


def test_text_becomes_csv(predict, trees, labels, tmp_path):
    (tmp_path / "more.txt").write_text("\n".join(trees.more_texts))
    rows = read_csv(predict("more.txt", folder=tmp_path).out)
    assert [row["text"] for row in rows] == trees.more_texts
    assert [row["predicted_label"] for row in rows] == labels


def test_standard_input_becomes_standard_output(predict, trees, labels):
    text = "\n".join(trees.more_texts).encode()
    done = predict("--to", "tsv", "--scores", "best", stdin=gzip.compress(text))
    rows = read_csv(done.out, "\t")
    assert list(rows[0]) == ["text", "predicted_label", "predicted_score"]
    assert [row["predicted_label"] for row in rows] == labels
    done = predict("-", "--format", "csv", "--json", stdin=trees.more.read_bytes())
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["predicted_label"] for row in rows] == labels
    assert [row["kind"] for row in rows] == trees.more_kinds


def test_scores_are_those_of_the_model(predict, model, trees):
    scores = model.decision_function(trees.more_texts)
    rows = read_csv(predict(trees.more, "--scores", "best").out)
    found = [float(row["predicted_score"]) for row in rows]
    np.testing.assert_allclose(found, scores.max(axis=1))
    rows = read_csv(predict(trees.more, "-p", "--scores", "all", "--to", "csv").out)
    found = [[float(row[f"predicted_probability_{k}"]) for k in model.classes_] for row in rows]
    np.testing.assert_allclose(found, model.predict_proba(trees.more_texts))


def test_the_column_of_texts_is_that_of_the_training_documents_or_is_told(
    predict, trees, labels, tmp_path
):
    for name in ("leaf", "words"):
        rows = [f"{text},of trees" for text in trees.more_texts]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"{name},text", *rows]))
    found = read_csv(predict("leaf.csv", folder=tmp_path).out)
    assert [row["predicted_label"] for row in found] == labels
    found = read_csv(predict("words.csv", "--text", "words", folder=tmp_path).out)
    assert [row["predicted_label"] for row in found] == labels
    done = predict("words.csv", folder=tmp_path)
    assert done.err == "note: words.csv: the text is column 'text' by its name\n"
    assert predict("words.csv", "--quiet", folder=tmp_path).err == ""


def test_several_labels_are_a_list_or_joined(predict, fitted_tagged, tagged, tmp_path):
    model = load_model(fitted_tagged.model)
    names = model.classes_.tolist()
    expected = [
        [name for name, is_given in zip(names, row, strict=True) if is_given]
        for row in model.predict(tagged.texts)
    ]
    assert [] in expected
    assert max(map(len, expected)) > 1
    options = {"model": fitted_tagged.model, "folder": tmp_path}
    done = predict(tagged.path, "--json", **options)
    found = [json.loads(line)["predicted_label"] for line in done.out.splitlines()]
    assert found == expected
    rows = read_csv(predict(tagged.path, **options).out)
    assert [json.loads(row["predicted_label"]) for row in rows] == expected
    joined = predict(tagged.path, "--label-separator", "|", "--scores", "best", **options)
    rows = read_csv(joined.out)
    assert [row["predicted_label"] for row in rows] == ["|".join(labels) for labels in expected]
    best = [float(row["predicted_score"]) for row in rows]
    np.testing.assert_allclose(best, model.decision_function(tagged.texts).max(axis=1))
    predict(tagged.path, "--out", "tagged.parquet", **options)
    found = polars.read_parquet(tmp_path / "tagged.parquet")["predicted_label"].to_list()
    assert found == expected


def test_vectors_are_known_by_their_rows(predict, call, fitted_vectors, vectors, trees):
    expected = load_model(fitted_vectors.model).predict(load_source(vectors).documents.X)
    rows = read_csv(predict(vectors, "--scores", "all", model=fitted_vectors.model).out)
    assert [row["row"] for row in rows] == [str(number) for number in range(1, 241)]
    assert [row["predicted_label"] for row in rows] == expected.tolist()
    assert len(rows[0]) == 5
    done = call("predict", fitted_vectors.model, trees.more)
    assert done.code == 2
    assert "the model reads vectors, as svmlight or arff, and this is csv" in done.err


def test_what_had_the_name_before_stays_where_something_is_wrong(call, fitted, tmp_path):
    (tmp_path / "out.csv").write_text("as it was")
    (tmp_path / "in.csv").write_text("leaf,x\n" + "oak,1\n" * 3_000 + "oak\n")
    done = call("predict", fitted.model, "in.csv", "--out", "out.csv", folder=tmp_path)
    assert done.code == 2
    assert done.err.startswith("spokeshave: in.csv, line 3002: ")
    assert (tmp_path / "out.csv").read_text() == "as it was"
    assert sorted(os.listdir(tmp_path)) == ["in.csv", "out.csv"]
    done = call("predict", fitted.model, "in.csv", "--out", "out.csv.gz", "--skip-bad-rows",
                folder=tmp_path)  # fmt: skip
    assert done.code == 0
    assert done.err.splitlines() == [
        "note: 1 malformed rows were left out of in.csv",
        "note: 3,000 rows written to out.csv.gz",
    ]
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()).count(b"\n") == 3_001


def write_newer(path, content):
    """Write a model as a later version might: the digest is right."""
    newer = content.replace(b'\\"version\\": %d' % VERSION, b'\\"version\\": 9')
    assert newer != content
    path.write_bytes(newer)


def test_bad_models_and_bad_targets(call, fitted, trees, tmp_path):
    content = fitted.model.read_bytes()
    (tmp_path / "cut.model").write_bytes(content[:-9])
    (tmp_path / "short.model").write_bytes(content[:300])
    write_newer(tmp_path / "newer.model", content)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    before = sorted(os.listdir(tmp_path))
    model, more = fitted.model, trees.more
    cases = {
        (trees.path, more): "trees.csv: this is not a model file",
        ("missing.model", more): "missing.model: there is no such file",
        ("folder", more): "folder: this is a folder; name a model file in it",
        ("cut.model", more): "cut.model: the model file is damaged or cut short; ",
        ("short.model", more): "short.model: this is not a model file, or it is damaged; ",
        ("newer.model", more): "the model file is of version 9, newer than this Spokeshave, ",
        (model, "missing.csv"): "missing.csv: there is no such file",
        (model, "folder"): "folder: this is a folder; name a file in it",
        (model, more, "--out", "folder"): "folder: this is a folder; name a file to write",
        (model, more, "--out", "nowhere/x.csv"): "nowhere/x.csv: it cannot be written (No such ",
        (model, more, "--out", "file/x.csv"): "file/x.csv: it cannot be written (Not a dir",
        (model, more, "--out", "/proc/x.csv"): "/proc/x.csv: it cannot be written (",
        (model, more, "--out", "x.csv.zip"): "x.csv.zip: a zip cannot be written; ",
    }
    for case, sentence in cases.items():
        done = call("predict", *case, folder=tmp_path)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("spokeshave: ")
        assert len(done.err.splitlines()) == 1
        assert sentence in done.err
    assert sorted(os.listdir(tmp_path)) == before


def test_a_column_of_the_same_name_is_not_written_over(call, predict, fitted, trees, tmp_path):
    predict(trees.more, "--out", "once.csv", folder=tmp_path)
    done = call("predict", fitted.model, "once.csv", "--out", "twice.csv", folder=tmp_path)
    assert done.code == 2
    assert "there is a column 'predicted_label' already; pass another prefix" in done.err
    assert os.listdir(tmp_path) == ["once.csv"]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux counts it")
def test_memory_does_not_grow_with_the_rows(spokeshave, environment, fitted, tmp_path):
    peaks = []
    for n in (20_000, 200_000):
        path = tmp_path / f"{n}.csv"
        with path.open("w") as stream:
            stream.write("id,leaf\n")
            stream.writelines(f"{number},old oak and ash\n" for number in range(n))
        # Of a small process: what a fork had in memory before counts as well.
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, spokeshave, "predict", fitted.model, path],
            capture_output=True,
            env=environment,
            check=True,
        )
        peaks.append(int(done.stdout))
    assert peaks[1] - peaks[0] < 20_000  # kilobytes
