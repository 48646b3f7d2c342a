"""What a worker reads of a part."""

from __future__ import annotations

import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from made_parts import make_collection, write_parts
from spokeshave.cluster.parts import FilePart, Kind, Reading, Side, expand, inspect_file, read_range
from spokeshave.errors import CorpusError, NoDocumentsError

TEXTS = Kind(is_text=True, is_multilabel=False, text="text", label="label")
OPTIONS = {"text": "text", "label": "label", "format": "csv"}


def gather(batches):
    texts, labels = [], []
    for batch in batches:
        texts += batch.texts
        labels += batch.labels
    return texts, labels


@pytest.fixture
def folder(tmp_path):
    write_parts(make_collection(90), tmp_path, sizes=(30, 0))
    return tmp_path


@pytest.mark.parametrize(("first", "last"), [(0, 60), (0, 1), (17, 44), (59, 60), (0, 0)])
def test_a_range_of_a_part_is_read(folder, first, last, monkeypatch):
    monkeypatch.setattr("spokeshave.cluster.parts.BATCH", 7)
    part = FilePart(str(folder / "part-2.csv"), OPTIONS)
    found = gather(read_range(part, TEXTS, None, first, last))
    collection = make_collection(90)
    assert found == (
        collection.texts[30 + first : 30 + last],
        collection.labels[30 + first : 30 + last],
    )


def test_a_range_of_a_side_is_read(folder, monkeypatch):
    monkeypatch.setattr("spokeshave.cluster.parts.BATCH", 7)
    part, is_held = FilePart(str(folder / "part-0.csv"), OPTIONS), np.arange(30) % 4 == 1
    collection = make_collection(90)
    for wanted in (True, False):
        rows = np.flatnonzero(is_held == wanted)[2:6]
        texts, _ = gather(read_range(part, TEXTS, Side(is_held, wanted), 2, 6))
        assert texts == [collection.texts[i] for i in rows]


@pytest.mark.parametrize("content", ["", "label,text\n"])
def test_a_part_without_documents_is_empty(tmp_path, content):
    path = tmp_path / "part.csv"
    path.write_text(content)
    assert list(Reading(FilePart(str(path), OPTIONS), TEXTS)) == []
    with pytest.raises(NoDocumentsError):
        inspect_file(FilePart(str(path), OPTIONS))


def test_malformed_rows_are_counted_or_told_of(tmp_path):
    path = tmp_path / "part.csv"
    path.write_text("label,text\nash,grey\nbad\noak,bark\n")
    reading = Reading(FilePart(str(path), {**OPTIONS, "bad_rows": "skip"}), TEXTS)
    assert gather(reading) == (["grey", "bark"], ["ash", "oak"])
    assert reading.n_skipped == 1
    with pytest.raises(CorpusError, match=r"part\.csv, line 3: "):
        list(Reading(FilePart(str(path), OPTIONS), TEXTS))


@pytest.mark.parametrize(
    "value",
    [
        [("grey", "ash"), ("bark", "oak")],
        [{"text": "grey", "label": "ash"}, {"text": "bark", "label": "oak"}],
        pd.DataFrame({"label": ["ash", "oak"], "text": ["grey", "bark"]}),
    ],
    ids=["pairs", "mappings", "frame"],
)
def test_partitions_of_dask_collections_are_understood(value):
    assert gather(Reading(value, TEXTS)) == (["grey", "bark"], ["ash", "oak"])


@pytest.mark.parametrize("labels", [[3, 10], [True, False]])
def test_labels_of_dask_collections_keep_their_type(labels):
    frame = pd.DataFrame({"label": labels, "text": ["grey", "bark"]})
    pairs, several = (["grey", "bark"], labels), (["grey", "bark"], [[label] for label in labels])
    blocks = [list(zip(*each, strict=True)) for each in (pairs, several)]
    for value in (frame, *blocks):
        (batch,) = Reading(value, TEXTS)
        assert batch.label_type == type(labels[0]).__name__
    X, vectors = sparse.eye(2, format="csr"), Kind(is_text=False, is_multilabel=False)
    (batch,) = Reading((X, np.array(labels)), vectors)
    assert (batch.labels, batch.label_type) == (list(map(str, labels)), type(labels[0]).__name__)


def test_what_lies_elsewhere_is_fetched_and_called_by_its_address(folder, tmp_path):
    archive = tmp_path / "parts.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.write(folder / "part-2.csv", "part-2.csv")
        file.writestr("bad.csv", "label,text\nash\n")
    address = f"zip://part-2.csv::{archive}"
    assert len(gather(Reading(FilePart(address, OPTIONS), TEXTS))[0]) == 60
    bad = f"zip://bad.csv::{archive}"
    with pytest.raises(CorpusError) as caught:
        list(Reading(FilePart(bad, OPTIONS), TEXTS))
    assert caught.value.path == bad
    with pytest.raises(CorpusError, match="there is no such file"):
        list(Reading(FilePart(f"zip://none.csv::{archive}", OPTIONS), TEXTS))


def test_patterns_stand_for_files_in_the_order_of_their_names(folder):
    found = expand(str(folder / "part-*.csv"))
    assert found == [str(folder / f"part-{number}.csv") for number in range(3)]
    assert expand("file://" + str(folder / "part-[02].csv"))[1].endswith("part-2.csv")
    assert expand("one.csv") == ["one.csv"]
    with pytest.raises(CorpusError, match="no file has such a name"):
        expand(str(folder / "*.parquet"))
