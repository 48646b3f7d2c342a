"""Labels on a cluster: every part becomes the file that one machine makes of it, or none does."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from pathlib import Path

import polars
import pytest

from made_models import TEXTS, make_models
from spokeshave import save_model
from spokeshave.cluster import predict, predict_on_cluster
from spokeshave.errors import CorpusError, NoDocumentsError
from spokeshave.model.label_files import Labelling, choose_columns, label_file

MODELS = make_models()
EMPTY = "part-1.csv"


def write_table(path, n, first=0):
    """Write a table of so many texts, which has a header even where there are none."""
    texts = [TEXTS[number % len(TEXTS)].replace(",", ";") for number in range(first, first + n)]
    rows = ["id,body", *(f'{number},"{text}"' for number, text in enumerate(texts, first))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.fixture
def tables(tmp_path):
    """Return a pattern of tables, of which one has no rows and one more than a batch."""
    (tmp_path / "in").mkdir()
    for number, size in enumerate((5, 0, 1_200)):
        write_table(tmp_path / "in" / f"part-{number}.csv", size, number)
    return str(tmp_path / "in" / "part-*.csv")


def label_here(model, source, target, *, scores="none", probability=False, separator=None, **how):
    """Return what one machine writes."""
    columns = choose_columns(model, scores, separator, probability=probability)
    label_file(model, str(source), str(target), Labelling(**how, columns=columns))
    return target.read_bytes()


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("labels", {}),
        ("labels", {"scores": "all", "probability": True, "to": "parquet"}),
        ("multilabel", {"scores": "best", "prefix": "my_", "to": "jsonl"}),
        ("multilabel", {"label_separator": "|", "probability": True}),
        ("two classes", {"scores": "all", "to": "tsv", "text": "body", "encoding": "utf-8"}),
    ],
    ids=["labels", "probabilities", "several labels", "joined labels", "two classes"],
)
def test_each_part_is_what_one_machine_writes(client, tables, tmp_path, name, how):
    done = []
    out = tmp_path / "new" / "out"
    model = MODELS[name]
    paths = predict_on_cluster(client, model, tables, out, report=done.append, **how)
    end = how.get("to", "csv")
    assert paths == [str(out / f"part-{number}.{end}") for number in range(3)]
    assert sorted(os.listdir(out)) == [Path(path).name for path in paths]
    assert done[-1] == 1
    here = {"separator" if key == "label_separator" else key: how[key] for key in how}
    for number, path in enumerate(paths):
        source = tables.replace("*", str(number))
        expected = label_here(model, source, tmp_path / f"expected.{end}", **here)
        assert Path(path).read_bytes() == expected


def test_a_part_without_rows_becomes_one(client, tmp_path):
    parts = {"blank.csv": "", "blank.jsonl": "\n", "blank.txt": "", "header.tsv": "id\tbody\n"}
    for name, content in parts.items():
        (tmp_path / name).write_text(content)
    polars.DataFrame({"body": []}, {"body": polars.String}).write_parquet(tmp_path / "no.parquet")
    sources = [tmp_path / name for name in (*parts, "no.parquet")]
    sources.remove(tmp_path / "blank.txt")
    out = tmp_path / "out"
    predict_on_cluster(client, MODELS["labels"], sources, out)
    assert (out / "blank.csv").read_text() == (out / "blank.jsonl").read_text() == ""
    assert (out / "header.tsv").read_text() == "id\tbody\tpredicted_label\n"
    found = polars.read_parquet(out / "no.parquet")
    assert (found.columns, len(found)) == (["body", "predicted_label"], 0)
    predict_on_cluster(client, MODELS["labels"], tmp_path / "blank.txt", out)
    assert (out / "blank.csv").read_text() == "text,predicted_label\n"


def test_parts_of_every_format(client, tmp_path):
    save_model(MODELS["labels"], tmp_path / "trees.model")
    lines = "".join(f"{text}\n" for text in TEXTS)
    objects = "".join(json.dumps({"body": text}) + "\n" for text in TEXTS)
    (tmp_path / "a.txt").write_text(lines, encoding="latin-1", errors="replace")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(objects.encode("latin-1", "replace")))
    (tmp_path / "c.0001").write_bytes(b"id\tbody\n7\toak\n")
    (tmp_path / "d.tab").write_bytes(b"id\tbody\n7\tgr\xf6\xdfe\n")
    polars.DataFrame({"id": [7], "body": ["oak"]}).write_parquet(tmp_path / "e.pq")
    names = ["a.txt", "b.jsonl.gz", "c.0001", "d.tab", "e.pq"]
    sources = [tmp_path / name for name in names]
    how = {"encoding": "latin-1", "scores": "best"}
    out, model = tmp_path / "out", tmp_path / "trees.model"
    paths = predict_on_cluster(client, model, sources, out, **how)
    written = ["a.csv", "b.jsonl.gz", "c.0001.tsv", "d.tab", "e.pq"]
    assert paths == [str(out / name) for name in written]
    for source, name in zip(sources, written, strict=True):
        expected = label_here(MODELS["labels"], source, tmp_path / f"expected-{name}", **how)
        assert (out / name).read_bytes() == expected


def test_vectors(client, tmp_path):
    (tmp_path / "0.svm").write_text("1 1:2 9:1\n2 3:0.5\n")
    (tmp_path / "1.svm").write_text("")
    model, out = MODELS["vectors"], tmp_path / "out"
    paths = predict_on_cluster(client, model, tmp_path / "*.svm", out, scores="all")
    assert paths == [str(out / "0.csv"), str(out / "1.csv")]
    expected = label_here(model, tmp_path / "0.svm", tmp_path / "expected.csv", scores="all")
    assert (out / "0.csv").read_bytes() == expected
    header = "row,predicted_label,predicted_score_3,predicted_score_1,predicted_score_2\n"
    assert (out / "1.csv").read_text() == header


def test_addresses(client, tables, tmp_path):
    with zipfile.ZipFile(tmp_path / "parts.zip", "w") as archive:
        archive.write(tables.replace("*", "2"), "far/part-9.csv")
    far = f"zip://far/part-9.csv::file://{tmp_path}/parts.zip"
    out, model = tmp_path / "out", MODELS["labels"]
    paths = predict_on_cluster(client, model, [f"file://{tables}", far], out)
    assert paths == [str(out / f"part-{number}.csv") for number in (0, 1, 2, 9)]
    assert (out / "part-9.csv").read_bytes() == (out / "part-2.csv").read_bytes()
    assert (out / "part-2.csv").read_text().count("\n") == 1_201
    missing = far.replace("part-9", "part-8")
    with pytest.raises(CorpusError) as error:
        predict_on_cluster(client, model, missing, out)
    assert str(error.value) == f"{missing}: there is no such file"


def test_a_bad_row_is_told_of_by_its_file_and_line_and_nothing_is_written(client, tables, tmp_path):
    bad = tables.replace("*", "2")
    with open(bad, "a") as file:
        file.write("7\n")
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    (old / "part-0.csv").write_text("as it was")
    for out in (old, new):
        with pytest.raises(CorpusError) as error:
            predict_on_cluster(client, MODELS["labels"], tables, out)
        assert (error.value.path, error.value.line) == (bad, 1_202)
    assert os.listdir(old) == ["part-0.csv"]
    assert (old / "part-0.csv").read_text() == "as it was"
    assert not new.exists()


def test_it_tells_what_was_guessed_left_out_and_written(client, tables, tmp_path):
    with open(tables.replace("*", "2"), "a") as file:
        file.write("7\n8\n")
    said = []
    out = tmp_path / "out"
    predict_on_cluster(client, MODELS["labels"], tables, out, bad_rows="skip", say=said.append)
    assert said == [
        "part-0.csv and 1 more: the text is column 'body' by its name",
        "2 malformed rows were left out of 1 of the files",
        f"1,205 rows written to 3 files in {out}",
    ]


def test_a_worker_that_dies_is_no_matter(four, make_deadly, tables, tmp_path):
    tasks = [make_deadly(predict, name) for name in ("label_part", "move_files")]
    out = tmp_path / "out"

    def leave(share):
        (aside,) = out.iterdir()
        (aside / ".part-0.csv.x.part").write_text("what a worker that was killed had written")

    paths = predict_on_cluster(four, MODELS["labels"], tables, out, report=leave, scores="best")
    assert all(task.has_killed for task in tasks)
    assert sorted(map(str, out.iterdir())) == paths
    for number, path in enumerate(paths):
        source = tables.replace("*", str(number))
        expected = label_here(MODELS["labels"], source, tmp_path / "x.csv", scores="best")
        assert Path(path).read_bytes() == expected


def refuse(client, parts, out, model="labels", **how):
    """Return the sentence that a run is refused with."""
    with pytest.raises(ValueError, match=r"\S") as error:
        predict_on_cluster(client, MODELS[model], parts, out, **how)
    return str(error.value)


def test_what_makes_no_sense_is_refused(client, tables, tmp_path):
    out, folder = tmp_path / "out", Path(tables).parent
    (tmp_path / "file").touch()
    (tmp_path / "part-0.jsonl").write_text('{"body": "oak"}\n')
    (tmp_path / "taken" / "part-0.csv").mkdir(parents=True)
    first, other = folder / "part-0.csv", tmp_path / "part-0.jsonl"
    assert refuse(client, [first, other], out, to="csv") == (
        f"parts must have names of their own, which they keep. Got {first} and {other} instead, "
        "which both become part-0.csv."
    )
    assert refuse(client, f"{folder}/no-*.csv", out) == (
        f"{folder}/no-*.csv: no file has such a name"
    )
    assert refuse(client, folder / "no.csv", out) == f"{folder}/no.csv: there is no such file"
    assert refuse(client, tables, folder) == (
        f"{folder}: the parts themselves are there; name another folder"
    )
    assert refuse(client, tables, tmp_path / "file") == (
        f"{tmp_path}/file: this is a file; name a folder to write to"
    )
    assert refuse(client, tables, tmp_path / "file" / "x") == (
        f"{tmp_path}/file/x: it cannot be written to (Not a directory)"
    )
    assert refuse(client, tables, tmp_path / "taken") == (
        f"{tmp_path}/taken/part-0.csv: this is a folder; name another to write to"
    )
    assert refuse(client, tables, "s3://bucket/out") == (
        "out must be the path of a folder. Got 's3://bucket/out' instead."
    )
    assert refuse(client, tables, out, "vectors") == (
        f"{first}: the model reads vectors, as svmlight or arff, and this is csv"
    )
    assert refuse(client, tables, out, "two classes", probability=True) == (
        "probability must be False, as the model has no probabilities. Got True instead."
    )
    assert refuse(client, tables, out, scores="x").startswith("scores must be one of 'none', ")
    assert refuse(client, tables, out, to="arff").startswith("to must be one of 'csv', 'tsv', ")
    assert refuse(client, tables, out, format="x").startswith("format must be one of 'text', ")
    assert refuse(client, tables, out, bad_rows="x").startswith("bad_rows must be one of 'raise'")
    assert refuse(client, 7, out) == "parts must be paths or addresses of files. Got int instead."
    assert refuse(client, [], out).startswith("parts must be files that every worker can open. ")
    assert not out.exists()


def test_a_part_without_a_name_that_tells_must_have_something_in_it(client, tmp_path):
    (tmp_path / "part").touch()
    with pytest.raises(NoDocumentsError, match=r"part: there are no documents in it$"):
        predict_on_cluster(client, MODELS["labels"], tmp_path / "part", tmp_path / "out")
