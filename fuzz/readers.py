"""Damaged files of documents, of all formats but parquet, plain, compressed and in archives."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

from fuzz.batches import Finding, run_batches
from fuzz.files import Files
from fuzz.mutations import mutate
from spokeshave.corpus import (
    load_source,
    load_texts,
    open_stream,
    read_arff,
    read_folders,
    read_reuters,
    read_svmlight,
)
from spokeshave.corpus.options import TABLES
from spokeshave.corpus.rewrite.row_reader import open_row_reader
from spokeshave.corpus.rewrite.row_writer import open_row_writer
from spokeshave.corpus.sniff import guess_format
from spokeshave.errors import CorpusError

WORDS = (
    "oak",
    "ash",
    "yew",
    "Ärger",
    "北京",
    "😀",
    "3.5",
    "it's",
    "a,b",
    'say "no"',
    "two\nlines",
    "",
)
LABELS = ("wheat", "corn", "oats & rye")
TOKENS = (
    *(b"\n", b"\r", b"\r\n", b'"', b'""', b"'", b",", b"\t", b" ", b"\\", b"\0", b"\xef\xbb\xbf"),
    *(b"\xff\xfe", b"\xe9", b"\xed\xa0\x80", b"#", b"%", b"?", b":", b"-1", b"nan", b"1e999"),
    *(b"9" * 30, b"9" * 5_000, b"99999999999:1 ", b"0:1 ", b"1:1 ", b"qid:1 ", b"null", b"NaN"),
    *(b"[", b"]", b"{", b"}", b"[" * 1_200, b'{"a":' * 1_200, b"\\ud800", b'"text":', b'"label":'),
    *(b"@data\n", b"@attribute a numeric\n", b"@attribute b {x,y}\n", b"@attribute c string\n"),
    *(b"<REUTERS ", b"</REUTERS>", b"<TEXT>", b"<TITLE>", b"<BODY", b"<D>", b"</D>", b"<TOPICS>"),
    *(b"&#99999999;", b"&#" + b"9" * 5_000 + b";", b"&amp", b"NEWID=", b'="', b">", b"<"),
    *(b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"BZh9", b"\x1f\x8b\x08", b"ustar\0", b"x/../"),
)
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda content: gzip.compress(content, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def run(n_runs: int, seed: int) -> list[Finding]:
    """Read damaged files, and return what was found."""
    return run_batches("readers", n_runs, seed)


def write_input(folder: Path, seed: int, number: int) -> Path:
    """Write a damaged file of documents, or a folder of them."""
    rng = Random(f"{seed}-{number}")
    return rng.choice((_write_file, _write_file, _write_archive))(rng, folder)


def read_input(path: Path, seed: int, number: int) -> None:
    """Read a file in every way; only errors of the corpus may occur."""
    rng = Random(f"{number}-{seed}")
    bad_rows = rng.choice(("raise", "skip"))
    format = path.name.split(".")[1]
    columns = {"text": "text", "label": "label"} if format in TABLES and rng.random() < 0.7 else {}
    with suppress(CorpusError):
        load_source(path, bad_rows=bad_rows, **columns)  # type: ignore[arg-type]
    with (
        suppress(CorpusError),
        open_stream(path, bad_rows=bad_rows, allow_dense=True, **columns) as stream,  # type: ignore[arg-type]
    ):
        for batch in stream.read_batches(7):
            assert batch.labels is not None
    with suppress(CorpusError):
        _read_format(path, format, bad_rows)
    with suppress(CorpusError):
        guess_format(path.rename(path.with_name(f"input{path.suffix}")))


def _read_format(path: Path, format: str, bad_rows: str) -> None:
    if format in TABLES:
        with suppress(CorpusError):
            load_texts(path, format=format, bad_rows=bad_rows)
        rewrite(path, format, bad_rows, path.with_name("output.jsonl"))
        rewrite(path, format, bad_rows, path.with_name("output.csv"))
    elif format == "svm":
        read_svmlight(path, multilabel=True, bad_rows=bad_rows)
    elif format == "arff":
        read_arff(path, bad_rows=bad_rows)
    elif format == "sgm":
        read_reuters(path)
    else:
        read_folders(path)


def rewrite(path: Path, format: str, bad_rows: str, target: Path) -> None:
    """Write the rows of a table with a new column."""
    with (
        suppress(CorpusError),
        open_row_reader(path, format=format, bad_rows=bad_rows, batch_size=7) as reader,
        open_row_writer(target, reader) as writer,
    ):
        for batch in reader:
            writer.write(batch, {"new": [1.5] * len(batch)})


def _write_file(rng: Random, folder: Path) -> Path:
    """Write a file that is damaged, or damaged and compressed, or compressed and damaged."""
    suffix, make = rng.choice(list(MAKERS.items()))
    compression = rng.choice(("", "", ".gz", ".bz2", ".xz", ".zip"))
    content = make(rng)
    is_damaged_first = not compression or rng.random() < 0.5
    if is_damaged_first:
        content = mutate(rng, content, TOKENS)
    if compression == ".zip":
        content = _make_zip(rng, {f"input{suffix}": content})
    elif compression:
        content = COMPRESS[compression](content)
    if not is_damaged_first or (compression and rng.random() < 0.3):
        content = mutate(rng, content, TOKENS)
    path = folder / f"input{suffix}{compression}"
    path.write_bytes(content)
    return path


def _write_archive(rng: Random, folder: Path) -> Path:
    """Write an archive or a folder with a folder per class, or of stories."""
    if rng.random() < 0.3:
        members = {f"{number}.sgm": make_stories(rng) for number in range(2)}
    else:
        parts = rng.choice((("",), ("",), ("train/", "test/")))
        members = {
            f"{part}{label}/{number}": make_text(rng).encode()
            for part in parts
            for label in LABELS
            for number in range(rng.randrange(1, 5))
        }
    kind = rng.choice(("folder", ".zip", ".tar", ".tar.gz", ".tar.bz2", ".tar.xz"))
    if kind == "folder" or rng.random() < 0.5:
        damaged = rng.choice(list(members))
        members[damaged] = mutate(rng, members[damaged], TOKENS)
    path = folder / f"input{kind}"
    if kind == "folder":
        path = folder / "input.folder"
        for name, content in members.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content)
        return path
    if kind == ".zip":
        content = _make_zip(rng, members)
    else:
        content = _make_tar(rng, members)
        if rng.random() < 0.3:
            content = mutate(rng, content, TOKENS)
        content = COMPRESS[kind.removeprefix(".tar")](content)
    path.write_bytes(mutate(rng, content, TOKENS) if rng.random() < 0.7 else content)
    return path


def _make_zip(rng: Random, members: dict[str, bytes]) -> bytes:
    methods = (zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_LZMA)
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", rng.choice(methods)) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, archive.compression)
    return output.getvalue()


def _make_tar(rng: Random, members: dict[str, bytes]) -> bytes:
    output = io.BytesIO()
    format = rng.choice((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT))
    with tarfile.open(fileobj=output, mode="w", format=format) as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(rng.choice(("", "", "ä" * 120 + "/../")) + name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return output.getvalue()


def make_text(rng: Random) -> str:
    """Return a text of a few words."""
    return " ".join(rng.choices(WORDS, k=rng.randrange(12)))


def _make_csv(rng: Random) -> bytes:
    rows = [["id", "text", "label"]]
    rows += [[str(i), make_text(rng), rng.choice(LABELS)] for i in range(rng.randrange(30))]
    quoted = ('"' + cell.replace('"', '""') + '"' for row in rows for cell in row)
    cells = iter(quoted)
    return "\n".join(map(",".join, zip(cells, cells, cells, strict=True))).encode()


def _make_tsv(rng: Random) -> bytes:
    texts = (make_text(rng).replace("\n", " ") for _ in range(rng.randrange(30)))
    rows = (f"{text}\t{rng.choice(LABELS)}\n" for text in texts)
    return f"text\tlabel\n{''.join(rows)}".encode()


def _make_jsonl(rng: Random) -> bytes:
    is_multilabel = rng.random() < 0.3
    objects = (
        {
            "text": make_text(rng),
            "label": rng.sample(LABELS, 2) if is_multilabel else rng.choice((*LABELS, 7)),
            "more": rng.choice((None, 1.5, [1, {"a": None}], 10**30)),
        }
        for _ in range(rng.randrange(30))
    )
    return "\n".join(map(json.dumps, objects)).encode()


def _make_svmlight(rng: Random) -> bytes:
    is_multilabel = rng.random() < 0.3
    lines = []
    for _ in range(rng.randrange(30)):
        indices = sorted(rng.sample(range(1, 100), rng.randrange(9)))
        pairs = (f"{index}:{rng.choice((1, 0.5, -2e-3))}" for index in indices)
        label = "wheat,corn" if is_multilabel else rng.choice(("1", "-1", "corn"))
        lines.append(" ".join([label, *pairs]) + rng.choice(("", "", " # note")))
    return "\n".join(lines).encode()


def _make_arff(rng: Random) -> bytes:
    header = "@relation r\n@attribute 'a b' numeric\n@attribute c {x, 'y z'}\n@attribute d {p, q}\n"
    n_rows, is_sparse = rng.randrange(20), rng.random() < 0.5
    dense = ("1.5, 'y z', p", "?, x, q", "-3, ?, p")
    rows = ("{0 1.5, 2 q}", "{1 'y z'}", "{}") if is_sparse else dense
    return "\n".join([f"{header}@data", *rng.choices(rows, k=n_rows)]).encode()


def _make_arff_of_texts(rng: Random) -> bytes:
    rows = [f"'{rng.choice(('it', 'oak ash', '北京'))}', {rng.choice('pq')}" for _ in range(9)]
    header = "@relation r\n@attribute text string\n@attribute d {p, q}\n@data"
    return "\n".join([header, *rows]).encode()


def make_stories(rng: Random) -> bytes:
    """Return a file of stories of Reuters-21578."""
    stories = ['<!DOCTYPE lewis SYSTEM "lewis.dtd">\n']
    for number in range(rng.randrange(1, 8)):
        part = rng.choice(("TRAIN", "TRAIN", "TEST", "NOT-USED"))
        topics = "".join(f"<D>{label}</D>" for label in rng.sample(LABELS, rng.randrange(3)))
        stories.append(
            f'<REUTERS TOPICS="YES" LEWISSPLIT="{part}" NEWID="{number}">\n'
            f"<TOPICS>{topics}</TOPICS><TEXT>&#2;<TITLE>{make_text(rng)}</TITLE>"
            f"<BODY>{make_text(rng)} &lt;B> &amp; C</BODY></TEXT></REUTERS>\n"
        )
    return "".join(stories).encode()


MAKERS: dict[str, Callable[[Random], bytes]] = {
    ".csv": _make_csv,
    ".tsv": _make_tsv,
    ".jsonl": _make_jsonl,
    ".svm": _make_svmlight,
    ".arff": lambda rng: rng.choice((_make_arff, _make_arff, _make_arff_of_texts))(rng),
    ".sgm": make_stories,
}


files = Files(write_input, read_input)
