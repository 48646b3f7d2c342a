"""A supply reads what `load_source` loads, a few documents at a time and as often as asked."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import tarfile
import textwrap
import threading
import zipfile
from collections import Counter
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, vstack

from spokeshave.corpus import Split, load_source
from spokeshave.corpus.stream import open_stream
from spokeshave.errors import CorpusError

TEXTS = ["where is my parcel", "the screen is black", 'it came\n"too", late', "", "naïve 😀"]
LABELS = ["parcel", "display", "parcel", "display", "other"]
COMPRESSIONS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
SIZES = [1, 2, 3, 1_000]


def to_csv(rows):
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(rows)
    return stream.getvalue()


def to_jsonl(**columns):
    rows = zip(*columns.values(), strict=True)
    return "\n".join(json.dumps(dict(zip(columns, row, strict=True))) for row in rows)


def to_parquet(**columns):
    stream = io.BytesIO()
    polars.DataFrame(columns).write_parquet(stream)
    return stream.getvalue()


def story(number, part="TRAIN", topics=("wheat", "corn")):
    topics = "".join(f"<D>{topic}</D>" for topic in topics)
    return (
        f'<REUTERS TOPICS="YES" LEWISSPLIT="{part}" NEWID="{number}"><TOPICS>{topics}</TOPICS>'
        f"<TEXT><BODY>Story {number}</BODY></TEXT></REUTERS>\n"
    )


ARFF = "@relation x\n@attribute a numeric\n@attribute b {no, yes}\n@attribute class {x, y}\n@data\n"
CONTENTS = {
    "csv": to_csv([("queue", "body"), *zip(LABELS, TEXTS, strict=True)]),
    "tsv": "".join(f"{label}\t{label} {n}\n" for n, label in enumerate(LABELS)),
    "jsonl": to_jsonl(queue=LABELS, body=TEXTS),
    "parquet": to_parquet(queue=LABELS, body=TEXTS),
    "svm": "parcel 1:1 3:0.5\ndisplay 2:1\nparcel\nother 5:-1\n",
    "arff": f"{ARFF}{{0 1,2 y}}\n{{1 yes}}\n{{0 ?}}\n2,no,x\n",
    "sgm": story(1) + story(2, "TEST", ()) + story(3, "NOT-USED") + story(4, topics=()),
}
CASES = [
    (end, compression)
    for end in CONTENTS
    for compression in ([""] if end == "parquet" else [*COMPRESSIONS, ".zip"])
]


def compress(content, compression, member="x"):
    content = content.encode() if isinstance(content, str) else content
    if compression != ".zip":
        return COMPRESSIONS[compression](content)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(member, content)
    return stream.getvalue()


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def fail(sources, error=CorpusError, **options):
    """Return what is wrong, found when the supply is opened or read."""
    with pytest.raises(error) as caught:
        read(sources, **options)
    return str(caught.value)


def attempt(function, *arguments, **options):
    """Return what a function returns, or what it says is wrong."""
    try:
        return function(*arguments, **options)
    except CorpusError as error:
        return str(error)


def fail_loading(source, **options):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        load_source(source, **options)
    return str(caught.value)


def gather(batches):
    """Return all documents of batches as the pairs of a text, or a row of numbers, and a label."""
    labels = [label for batch in batches for label in batch.labels]
    if hasattr(batches[0], "texts"):
        return list(zip([text for batch in batches for text in batch.texts], labels, strict=True))
    width = max(batch.X.shape[1] for batch in batches)
    return pair_rows(vstack([widen(batch.X, width) for batch in batches]), labels)


def widen(X, width):
    return csr_matrix((X.data, X.indices, X.indptr), (X.shape[0], width))


def pair_rows(X, labels):
    # A missing number equals itself once it is spelt.
    return [(tuple(map(str, row)), label) for row, label in zip(X.toarray(), labels, strict=True)]


def read(sources, batch_size=1_000, **options):
    with open_stream(sources, **options) as supply:
        return gather(list(supply.read_batches(batch_size)))


def load(source, **options):
    """Return all documents as they are loaded, those to train on if there are others."""
    documents = load_source(source, **options).documents
    if isinstance(documents, Split):
        documents = documents.train
    if hasattr(documents, "texts"):
        return list(zip(documents.texts, documents.labels, strict=True))
    return pair_rows(csr_matrix(documents.X), documents.labels)


def check_like_loaded(path, sizes=SIZES, **options):
    """Check that a supply is what is loaded, in batches of all sizes and in two passes."""
    source, expected = load_source(path, **options), load(path, **options)
    with open_stream(path, **options) as supply:
        for size in sizes:
            batches = list(supply.read_batches(size))
            assert gather(batches) == expected
            assert max(len(batch.labels) for batch in batches) <= size
            assert supply.position == supply.n_bytes
        for name in ("name", "guesses", "format", "encoding", "text", "label", "is_multilabel"):
            assert getattr(supply, name) == getattr(source, name)
        assert supply.has_test == isinstance(source.documents, Split)
        said = supply.read.replace(", only the training part", "") if supply.has_test else ""
        assert (said or supply.read) == source.read
        assert supply.is_text == hasattr(batches[0], "texts")


@pytest.mark.parametrize(("end", "compression"), CASES)
def test_every_format(tmp_path, end, compression):
    name = f"x.{end}{compression}"
    check_like_loaded(write(tmp_path / name, compress(CONTENTS[end], compression, f"y.{end}")))


@pytest.mark.parametrize("end", CONTENTS)
def test_every_format_by_content(tmp_path, end):
    check_like_loaded(write(tmp_path / "x", compress(CONTENTS[end], "")))


def put_on_standard_input(monkeypatch, content):
    stream = SimpleNamespace(buffer=io.BytesIO(content), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stream)


@pytest.mark.parametrize("compression", ["", ".gz"])
@pytest.mark.parametrize("end", CONTENTS)
def test_standard_input(tmp_path, monkeypatch, end, compression):
    if (end, compression) not in CASES:
        return
    content = compress(CONTENTS[end], compression)
    expected = load(write(tmp_path / f"x.{end}{compression}", content))
    stamps = []
    for _ in range(2):
        put_on_standard_input(monkeypatch, content)
        with open_stream("-") as supply:
            assert supply.name == "standard input"
            for _ in range(2):
                assert gather(list(supply.read_batches(2))) == expected
            stamps.append(supply.stamps)
            kept = supply._files[0].options.path
        assert not kept.exists()
    # What comes again is known again, though its copy is a new file.
    assert stamps[0] == stamps[1]
    assert stamps[0][0][:2] == ("standard input", len(content))


def test_pipe(tmp_path):
    os.mkfifo(tmp_path / "x")
    content = compress(CONTENTS["csv"], "")
    writer = threading.Thread(target=write, args=(tmp_path / "x", content))
    writer.start()
    with open_stream(tmp_path / "x") as supply:
        writer.join()
        assert supply.name == "x"
        batches = [list(supply.read_batches(1)) for _ in range(2)]
    assert gather(batches[0]) == gather(batches[1]) == list(zip(TEXTS, LABELS, strict=True))


def test_errors_of_standard_input_do_not_name_its_copy(monkeypatch):
    put_on_standard_input(monkeypatch, b"text,label\na,b\nc\n")
    with open_stream("-") as supply, pytest.raises(CorpusError) as caught:
        list(supply.read_batches())
    assert str(caught.value).startswith("standard input, line 3: the number of fields is 1")
    put_on_standard_input(monkeypatch, b"a,b,c\n1,2,3\n")
    assert fail("-").startswith("standard input: say which is the text and which is the label")


rows = st.lists(
    st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from("abc ")),
    min_size=1,
    max_size=20,
)


@pytest.mark.parametrize("bad_rows", ["raise", "skip"])
@pytest.mark.parametrize("end", ["csv", "jsonl"])
@given(rows, st.integers(1, 7))
@settings(max_examples=30, deadline=None)
def test_any_rows(end, bad_rows, rows, size):
    texts, labels = zip(*rows, strict=True)
    content = to_csv([("text", "label"), *rows])
    content = content if end == "csv" else to_jsonl(text=texts, label=labels)
    with TemporaryDirectory() as folder:
        path = write(Path(folder, f"x.{end}"), content)
        assert attempt(read, path, size, bad_rows=bad_rows) == attempt(
            load, path, bad_rows=bad_rows
        )


MALFORMED = {
    "csv": ("text,label\na,x\nb,x,y\nc\nd,x\n,\n", {}),
    "tsv": ("text\tlabel\na\tx\nb\tx\ty\n\nc\ty\nd\t \n", {}),
    "jsonl": ('{"text": "a", "label": "x"}\n{"text": 1, "label": "x"}\n{}\n[]\n', {}),
    "parquet": (to_parquet(text=["a", None, "b"], label=["x", "y", None]), {}),
    "svm": ("x 1:1\ny 0:1\nz 1:1\nx 7:1\nz 2\n", {"n_features": 3}),
    "arff": (f"{ARFF}{{0 a}}\n{{2 y}}\n{{2 z}}\n{{0 1}}\n1\n", {}),
}


@pytest.mark.parametrize("end", MALFORMED)
def test_malformed_rows_are_left_out_and_counted_in_every_pass(tmp_path, end):
    content, options = MALFORMED[end]
    path = write(tmp_path / f"x.{end}", content)
    loaded = load_source(path, bad_rows="skip", **options).documents
    assert loaded.skipped > 0
    with open_stream(path, bad_rows="skip", **options) as supply:
        assert supply.skipped == 0
        for size in (1, 1_000):
            batches = list(supply.read_batches(size))
            assert gather(batches) == load(path, bad_rows="skip", **options)
            assert supply.skipped == loaded.skipped == sum(batch.skipped for batch in batches)
    assert fail(path, **options) == fail_loading(path, **options)


@pytest.mark.parametrize("bad_rows", ["raise", "skip"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", ""),
        ("x.csv", "text,label\n"),
        ("x.csv", "text,label\na\n"),
        ("x.csv", "text,label\na,b\nc,\xe9\n".encode("latin-1")),
        ("x.csv", 'text,label\na,b\n"c,d\n'),
        ("x.csv", "a,b,c\n1,2,3\n"),
        ("x.tsv", ""),
        ("x.jsonl", "\n"),
        ("x.jsonl", '{"text": "a", "label": "b"}\n{"text": "a", "label": ["b"]}'),
        ("x.parquet", ""),
        ("x.parquet", to_parquet(text=[], label=[])),
        ("x.svm", ""),
        ("x.svm", "x 0:1\n"),
        ("x.svm", "x 1:1\n1:1\n"),
        ("x.svm", "1:1\nx 0:1\n"),
        ("x.svm", "1:1\nx 1:1\n2:1\n"),
        ("x.svm", "1:1\n"),
        ("x.arff", ""),
        ("x.arff", ARFF),
        ("x.arff", f"{ARFF}{{0 a}}\n"),
        ("x.arff", "@attribute a number\n@data\n"),
        ("x.sgm", ""),
        ("x.sgm", story(1, "TEST")),
        ("x.sgm", story(1) + '<REUTERS TOPICS="YES">\n</REUTERS>\n'),
        ("x.tar", ""),
        ("x.zip", ""),
        ("x.csv.gz", "text,label\n"),
        ("x.csv.gz", gzip.compress(CONTENTS["csv"].encode() * 50)[:-60]),
        ("x.csv", bz2.compress(b"a,b")),
        ("x.xlsx", "x"),
        ("x", ""),
    ],
)
def test_what_is_wrong_is_said_as_in_loading(tmp_path, name, content, bad_rows):
    path = write(tmp_path / name, content)
    assert attempt(read, path, bad_rows=bad_rows) == attempt(load, path, bad_rows=bad_rows)


@pytest.mark.parametrize(
    "format", ["csv", "parquet", "svmlight", "arff", "folders", "reuters", None]
)
def test_missing_source(tmp_path, format):
    for end in ("csv", "tar.gz", "xyz"):
        path = tmp_path / f"x.{end}"
        assert fail(path, format=format) == fail_loading(path, format=format)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("x.csv", {"bad_rows": "ignore"}),
        ("x.csv", {"format": "xml"}),
        ("x.csv", {"under": "a"}),
        ("x.csv", {"n_features": 3}),
        ("x.csv", {"label_separator": ""}),
        ("x.csv", {"text": "body", "label": "body"}),
        ("x.csv", {"text": "story"}),
        ("x.csv", {"text": "story", "label": "queue"}),
        ("x.csv", {"encoding": "latin-99"}),
        ("x.svm", {"text": "a"}),
        ("x.svm", {"n_features": 0}),
        ("x.arff", {"label": "risk"}),
        ("x.arff", {"n_features": 7}),
        ("x.sgm", {"encoding": "utf-8"}),
    ],
)
def test_options_are_checked_as_in_loading(tmp_path, name, options):
    path = write(tmp_path / name, CONTENTS[name.partition(".")[2]])
    assert fail(path, ValueError, **options) == fail_loading(path, **options)


@pytest.mark.parametrize(
    ("sources", "options", "problem"),
    [
        ([], {}, "sources must name a file or folder, or more. Got none instead."),
        (["x.csv", "-"], {}, "sources must name a pipe alone. Got 2 sources instead."),
        ("", {}, "source must name a file or folder, or be '-'. Got '' instead."),
        ("x.csv", {"part": "all"}, "part must be 'train' or 'test'. Got 'all' instead."),
        ("x.csv", {"part": "test"}, "part must be left out where nothing is divided. Got 'test'"),
        ("x.csv", {"batch_size": 0}, "batch_size must be a positive integer. Got 0 instead."),
    ],
)
def test_choices(tmp_path, monkeypatch, sources, options, problem):
    write(tmp_path / "x.csv", CONTENTS["csv"])
    monkeypatch.chdir(tmp_path)
    assert fail(sources, ValueError, **options).startswith(problem)


def test_name_that_the_system_refuses(tmp_path):
    assert "File name too long" in fail("x" * 5_000)
    path = write(tmp_path / "x.csv", CONTENTS["csv"])
    assert "File name too long" in fail([path, "x" * 5_000])


def test_troubles_of_the_caller_are_their_own(tmp_path):
    path = write(tmp_path / "x.csv", CONTENTS["csv"])
    with pytest.raises(OSError, match="no space left"), open_stream(path) as supply:  # noqa: PT012
        for _ in supply.read_batches():
            raise OSError("no space left")


@pytest.mark.parametrize("end", ["csv", "tsv", "jsonl", "parquet", "svm", "arff", "sgm"])
def test_several_sources_are_one_collection(tmp_path, end):
    paths = [write(tmp_path / f"{n}.{end}", compress(CONTENTS[end], "")) for n in "bca"]
    paths[2] = str(paths[2])
    expected = load(paths[0]) * 3
    with open_stream(paths) as supply:
        for size in SIZES:
            assert gather(list(supply.read_batches(size))) == expected
        assert supply.name == f"b.{end} and 2 more"
        assert supply.n_bytes == 3 * paths[0].stat().st_size
        assert [name for name, *_ in supply.stamps] == [f"{n}.{end}" for n in "abc"]


def test_sources_in_different_compressions(tmp_path):
    paths = [
        write(tmp_path / f"x.csv{end}", compress(CONTENTS["csv"], end)) for end in COMPRESSIONS
    ]
    assert read(paths) == load(paths[0]) * len(paths)


def test_what_is_guessed_from_the_first_source_must_hold_for_all(tmp_path):
    first = write(tmp_path / "a.csv", "queue,body\nx,a long text\ny,another one\n")
    other = write(tmp_path / "b.jsonl", CONTENTS["jsonl"])
    problem = f"{other}: it is jsonl, and a.csv is csv; sources must be of one format"
    assert fail([first, other]) == problem
    assert fail([first, write(tmp_path / "b.svm", "x 1:1\n")], text="body").endswith(
        "it is svmlight, and a.csv is csv; sources must be of one format"
    )
    other = write(tmp_path / "b.csv", "queue,title\nx,a\n")
    problem = f"{other}: there is no column 'body'; the columns are 'queue', 'title'"
    assert fail([first, other]) == problem
    other = write(tmp_path / "c.csv", "body,id,queue\na,7,x\n")
    assert read([first, other])[2:] == [("a", "x")]
    assert fail([first, tmp_path / "d.csv"]) == f"{tmp_path / 'd.csv'}: there is no such file"


def test_sources_without_a_header(tmp_path):
    first = write(tmp_path / "a.tsv", "x\ta long text\nx\tanother one\n")
    other = write(tmp_path / "b.tsv", "text\tlabel\n")
    assert read([first, other])[2:] == [("label", "text")]
    other = write(tmp_path / "b.tsv", "text\n")
    assert fail([first, other]) == f"{other}: there is no column 1; the last is 0"


def test_a_later_source_may_be_empty(tmp_path):
    first = write(tmp_path / "a.csv", CONTENTS["csv"])
    empty = [write(tmp_path / "b.csv", "queue,body\n"), write(tmp_path / "c.csv", "")]
    assert read([first, *empty, first]) == load(first) * 2
    assert fail([empty[0], first]) == f"{empty[0]}: there are no documents in it"


def test_labels_are_of_one_kind_in_all_sources(tmp_path):
    first = write(tmp_path / "a.jsonl", to_jsonl(text=["a"], label=[["x", "y"]]))
    other = write(tmp_path / "b.jsonl", to_jsonl(text=["b"], label=["x"]))
    problem = f"{other}, line 1: lists and single labels are mixed; give every row a list"
    assert fail([first, other]) == problem
    assert read([first, other], bad_rows="skip") == [("a", ("x", "y"))]
    with open_stream([other, first], bad_rows="skip") as supply:
        assert not supply.is_multilabel


def test_errors_name_the_source_they_are_in(tmp_path):
    first = write(tmp_path / "a.csv", "text,label\na,x\n")
    other = write(tmp_path / "b.csv", "text,label\na,x\nb\n")
    assert fail([first, other]).startswith(f"{other}, line 3: the number of fields is 1 here")


def test_several_labels(tmp_path):
    path = write(tmp_path / "x.csv", "text,label\na,x|y\nb,\nc,y\n")
    check_like_loaded(path, label_separator="|")
    path = write(tmp_path / "x.jsonl", to_jsonl(text=["a", "b"], label=[["x"], []]))
    check_like_loaded(path)
    with open_stream(path) as supply:
        assert supply.is_multilabel
        assert supply.read.endswith(", several labels per document")


def test_source_that_changes(tmp_path):
    path = write(tmp_path / "x.csv", CONTENTS["csv"])
    with open_stream(path) as supply:
        stamps = supply.stamps
        assert stamps == [("x.csv", path.stat().st_size, path.stat().st_mtime_ns)]
        assert supply.stamps == stamps
        os.utime(path, ns=(0, 0))
        assert supply.stamps != stamps
    with open_stream(path) as supply:
        assert supply.stamps != stamps


def test_source_that_is_gone_in_the_second_pass(tmp_path):
    for end in ("csv", "parquet", "svm", "sgm"):
        path = write(tmp_path / f"x.{end}", CONTENTS[end])
        with open_stream(path) as supply:
            list(supply.read_batches())
            path.unlink()
            with pytest.raises(CorpusError, match="there is no such file"):
                list(supply.read_batches())


def list_open_files():
    return sorted(os.listdir("/dev/fd"))


@pytest.mark.parametrize(("end", "compression"), CASES)
def test_pass_that_is_broken_off(tmp_path, end, compression):
    path = tmp_path / f"x.{end}{compression}"
    write(path, compress(CONTENTS[end], compression, f"y.{end}"))
    with open_stream(path) as supply:
        before = list_open_files()
        batches = supply.read_batches(1)
        next(batches)
        batches.close()
        assert list_open_files() == before
        for _ in supply.read_batches(1):
            break
        assert list_open_files() == before
        assert gather(list(supply.read_batches())) == load(path)


def test_two_passes_at_a_time(tmp_path):
    path = write(tmp_path / "x.csv", "text,label\na,x\nb\nc,x\nd,y\n")
    with open_stream(path, bad_rows="skip") as supply:
        first, second = supply.read_batches(1), supply.read_batches(1)
        assert [batch.texts for batch in first] == [["a"], ["c"], ["d"]]
        assert supply.skipped == supply.position == 0
        assert [batch.texts for batch in second] == [["a"], ["c"], ["d"]]
        assert (supply.skipped, supply.position) == (1, supply.n_bytes)


def write_large(path, n_rows):
    """Write rows that take more than the files are read in at a time."""
    texts = [f"{row} {'word ' * 200}" for row in range(n_rows)]
    labels = ["xy"[row % 2] for row in range(n_rows)]
    if path.suffix == ".parquet":
        polars.DataFrame({"text": texts, "label": labels}).write_parquet(path)
    elif path.suffix == ".svm":
        pairs = " ".join(f"{index}:1" for index in range(1, 200))
        write(path, "".join(f"{label} {pairs}\n" for label in labels))
    elif path.suffix == ".tar":
        with tarfile.open(path, "w") as archive:
            for row, (text, label) in enumerate(zip(texts, labels, strict=True)):
                member = tarfile.TarInfo(f"{label}/{row}")
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text.encode()))
    elif path.suffix == ".gz":
        rng = np.random.default_rng(0)
        texts = [" ".join(map(str, rng.integers(1e6, size=200))) for _ in texts]
        rows = zip(texts, labels, strict=True)
        write(path, gzip.compress(to_csv([("text", "label"), *rows]).encode()))
    else:
        write(path, to_csv([("text", "label"), *zip(texts, labels, strict=True)]))
    return path


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.svm", "x.tar", "x.parquet"])
def test_position_rises_with_what_is_read(tmp_path, name):
    path = write_large(tmp_path / name, 25_000 if name == "x.parquet" else 1_000)
    with open_stream([path, path]) as supply:
        assert supply.position == 0
        for _ in range(2):
            positions = [supply.position for _ in supply.read_batches(100)]
            assert all(before <= after for before, after in pairwise(positions))
            assert len(set(positions)) >= 5
            assert positions[0] < supply.n_bytes / 4
            middle = positions[len(positions) // 2] / supply.n_bytes
            assert 0.4 < middle < 0.6
            assert positions[-1] == supply.n_bytes


def test_batches_hold_only_so_much(tmp_path):
    texts = ["a" * 900_000] * 5 + ["b" * 5_000_000, "c", "d"]
    path = write(tmp_path / "x.jsonl", to_jsonl(text=texts, label=["x"] * 8))
    with open_stream(path) as supply:
        sizes = [len(batch) for batch in supply.read_batches()]
    assert sizes == [2, 2, 1, 1, 2]


PROGRAM = """
import sys
from spokeshave.corpus.stream import open_stream

def find_peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

with open_stream(sys.argv[1]) as warm:
    next(warm.read_batches())
before = find_peak()
with open_stream(sys.argv[2]) as supply:
    count = sum(len(batch.labels) for batch in supply.read_batches())
print(count, (find_peak() - before) / 1024)
"""


def write_lines(path, line, n_rows, header=""):
    with path.open("w") as stream:
        stream.write(header)
        for number in range(n_rows):
            stream.write(line.replace("NUMBER", str(number)))
    return path


def write_collection(folder, end, n_rows):
    text = "some words of a text that is neither short nor long " * 12
    path = folder / f"{n_rows}.{end}"
    if end == "csv":
        return write_lines(path, f"NUMBER {text},x\n", n_rows, "text,label\n")
    if end == "jsonl":
        return write_lines(path, f'{{"text": "NUMBER {text}", "label": "x"}}\n', n_rows)
    if end == "svm":
        pairs = " ".join(f"{index}:0.{index}" for index in range(10_001, 10_021))
        return write_lines(path, f"x {pairs} # NUMBER {text}\n", n_rows * 2 // 3)
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for number in range(n_rows // 100):
            member, content = tarfile.TarInfo(f"x/{number}"), text.encode() * 100
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system tells no peak")
@pytest.mark.parametrize("end", ["csv", "jsonl", "svm", "tar.gz"])
def test_memory_does_not_grow_with_the_source(tmp_path, end):
    small, large = (write_collection(tmp_path, end, n_rows) for n_rows in (5_000, 100_000))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), small, large],
        capture_output=True,
        text=True,
        check=True,
    )
    count, megabytes = map(float, done.stdout.split())
    assert count == {"svm": 66_666, "tar.gz": 1_000}.get(end, 100_000)
    # Each of them holds more than 60.
    assert megabytes < 8


@pytest.mark.parametrize(
    "name", ["sms_spam.tsv", "forman/oh0.wc.arff.zip", "dmoz/Dmoz-Science.csv"]
)
def test_collections_of_benchmarks(data_folder, name):
    check_like_loaded(data_folder / name, sizes=[1_000])


@pytest.mark.parametrize(
    ("name", "size"), [("20news-bydate.tar.gz", 7_532), ("reuters21578.tar.gz", 3_299)]
)
def test_test_part_of_a_divided_collection(data_folder, load_once, name, size):
    documents = read(data_folder / name, part="test")
    assert len(documents) == size
    loaded = load_once(name).documents.test
    assert Counter(documents) == Counter(zip(loaded.texts, loaded.labels, strict=True))
