"""Documents from archives and pipes, and those that are bad; other formats are elsewhere."""

from __future__ import annotations

import gzip
import json
import os
import tarfile

import pytest

from spokeshave.jobs.record import read_record


def write_sgml(texts, tags):
    """Return stories of which every fifth is to test on."""
    stories = [
        f'<REUTERS TOPICS="YES" LEWISSPLIT="{"TRAIN" if number % 5 else "TEST"}" '
        f'NEWID="{number}"><TOPICS>{"".join(f"<D>{tag}</D>" for tag in of)}</TOPICS>'
        f"<TEXT><BODY>{text}</BODY></TEXT></REUTERS>\n"
        for number, (text, of) in enumerate(zip(texts, tags, strict=True), 1)
    ]
    return '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n' + "".join(stories)


def write_tar(path, folder, trees, write_folders):
    """Write ash and oak in two parts, to train and to test on."""
    for part, texts, kinds in (
        ("trees-train", trees.texts, trees.kinds),
        ("trees-test", trees.more_texts, trees.more_kinds),
    ):
        pairs = [pair for pair in zip(texts, kinds, strict=True) if pair[1] != "yew"]
        write_folders(folder / part, *zip(*pairs, strict=True))
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, arcname=".")
    return path


@pytest.fixture(scope="module")
def runs(call, trees, tagged, write_folders, tmp_path_factory):
    """Return the results for an archive and for stories of Reuters."""
    folder = tmp_path_factory.mktemp("parts")
    write_tar(folder / "news.tar.gz", tmp_path_factory.mktemp("folders"), trees, write_folders)
    stories = gzip.compress(write_sgml(tagged.texts, tagged.tags).encode())
    work = {name: tmp_path_factory.mktemp("work") for name in ("tar", "sgm")}
    quick, options = ("--effort", "quick"), {"has_report": False}
    done = {
        "tar": call("fit", folder / "news.tar.gz", *quick, folder=work["tar"], **options),
        "sgm": call("fit", "-", *quick, "--json", folder=work["sgm"], stdin=stories, **options),
    }
    return {name: (done[name], work[name]) for name in work}


def test_an_archive_in_two_parts_of_two_classes(runs):
    done, folder = runs["tar"]
    assert done.code == 0, done.err
    note = "there are training and test documents under 'trees-train' and 'trees-test'"
    assert f"note: news.tar.gz: {note}\n" in done.err
    assert "tested on 40 documents: the test part of news.tar.gz" in done.out.splitlines()
    record = read_record(folder / "news.run.json")
    assert (record.data.n_documents, record.data.n_test) == (160, 40)
    assert len(record.words) == len(record.curves[0].names) == 1
    assert "of the weights" not in record.headline
    assert set(record.model.judgement.classes) == {"ash", "oak"}


def test_stories_of_reuters_compressed_on_standard_input(runs):
    done, folder = runs["sgm"]
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["data"]["kind"] == "multilabel"
    assert (found["data"]["n_documents"], found["data"]["n_test"]) == (120, 30)
    assert found["model"]["judgement"]["micro_f1"] > 0.8
    assert found["data"]["source"] == "standard input"
    assert sorted(os.listdir(folder)) == ["spokeshave.model", "spokeshave.run.json"]


LONG = b"text,label\n" + b"".join(
    (b"oak acorn " if number % 2 else b"ash winged ")
    + bytes([97 + number % 7, 44, 49 + number % 2])
    + b"\n"
    for number in range(40)
)
BAD = {
    "missing.csv": (None, "there is no such file"),
    "empty.csv": (b"", "there are no documents in it"),
    "header.csv": (b"text,label\n", "there are no documents in it"),
    "bytes.csv": (b"text,label\nash,a\nna\xefve,b\n", "line 3: the text is not utf-8; "),
    "cut.csv.gz": (gzip.compress(LONG)[:60], "the compressed file is cut short; "),
    "bad.csv.gz": (b"\x1f\x8b\x08\x00" + bytes(60), "the file is damaged or not what its name "),
    "ragged.csv": (b"text,label\nash,a\noak,b,c\n", "line 3: "),
    "bare.jsonl": (b'{"text": "ash", "label": "a"}\n[1]\n', "line 2: "),
    "unlabelled.csv": (b"text,label\nash,a\noak,\n", "line 3: the label is missing"),
    "table.xlsx": (b"PK\x03\x04", "this is a spreadsheet; save it as csv"),
    "x.model": (b"\x00" * 99, "this is not text; "),
    "one.csv": (b"text,label\nash oak,a\nash,a\n", "all are of class 'a'"),
    "flat": ("file", "there is no folder with documents"),
    "hollow": ("folder", "there is no folder with documents"),
}


@pytest.fixture(scope="module")
def bad_runs(call, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    for name, (content, _) in BAD.items():
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        elif content is not None:
            (folder / name / "inside").mkdir(parents=True)
    (folder / "flat/inside").rmdir()
    (folder / "flat/inside").write_text("ash")
    work = {name: tmp_path_factory.mktemp("work") for name in BAD}
    done = {name: call("fit", folder / name, folder=work[name]) for name in BAD}
    return folder, {name: (done[name], work[name]) for name in BAD}


@pytest.mark.parametrize("name", list(BAD))
def test_bad_input_is_refused_in_one_sentence(bad_runs, name):
    folder, runs = bad_runs
    done, work = runs[name]
    assert done.code == 2, done.err
    assert "Traceback" not in done.err
    (line,) = [line for line in done.err.splitlines() if not line.startswith("note: ")]
    assert line.startswith("spokeshave: ")
    assert BAD[name][1] in line
    assert done.out == ""
    assert os.listdir(work) == []
    assert sorted(os.listdir(folder)) == sorted({*BAD} - {"missing.csv"})


def test_standard_input_without_anything(run, tmp_path):
    done = run("fit", "-", folder=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("spokeshave: standard input is empty; ")
    assert os.listdir(tmp_path) == []


def test_flaws_of_documents_are_noted_with_what_to_do(call, tmp_path):
    rows = [f"{text},{kind}" for text, kind in zip("abcdefgh", ["ash", "oak"] * 4, strict=True)]
    (tmp_path / "mine.csv").write_text("\n".join(["leaf,kind", *rows, "a,ash", ",oak", "x,elm"]))
    done = call("rank", "mine.csv", "--min-df", "1", folder=tmp_path)
    assert done.code == 0, done.err
    notes = [line for line in done.err.splitlines() if line.startswith("note: mine.csv: 1 of ")]
    assert [note.split()[5:8] for note in notes] == [
        ["classes", "have", "one"],
        ["documents", "have", "no"],
        ["documents", "are", "exact"],
    ]
    assert "--quiet" not in done.err
    assert call("rank", "mine.csv", "--min-df", "1", "--quiet", folder=tmp_path).err == ""


def test_rows_without_a_label_name_the_option_that_leaves_them_out(call, trees, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(trees.path.read_text() + "1,,an ash\n2,,an oak\n3,oak\n")
    done = call("rank", path, *trees.columns)
    assert done.code == 2
    assert done.err.endswith("the label is missing; pass --skip-bad-rows to leave out such rows\n")
    done = call("rank", path, *trees.columns, "--skip-bad-rows")
    assert done.code == 0, done.err
    assert done.err.startswith(
        "note: 3 malformed rows were left out of mine.csv: the label is missing (2); the number of "
        "fields is 2 here and 3 above (1)\n"
    )


def test_labels_to_test_on_that_were_never_seen_are_noted(call, trees, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text(trees.more.read_text() + "60,elm,an elm\n61,elm,the elm\n")
    options = (*trees.columns, "--test", path, "--cuts", "0.5,1")
    for verb, outcome in (("fit", "count as errors"), ("curve", "are left out of the curve")):
        more = ("--effort", "quick", "--out", tmp_path / "mine") if verb == "fit" else ()
        done = call(verb, trees.path, *options, *more, has_report=False)
        assert done.code == 0, done.err
        assert f"that no training document has {outcome}: 'elm' (2)\n" in done.err
