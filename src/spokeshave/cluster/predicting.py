"""Labels for documents in parts: each file becomes one in a folder, with the labels added."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from distributed import Client

from spokeshave.cluster.fetching import fetching, name_source
from spokeshave.cluster.parts import expand
from spokeshave.cluster.workers import Report, collect, list_workers, send, submit
from spokeshave.corpus.files import strip_compression
from spokeshave.corpus.sniff import ARCHIVE, name_format
from spokeshave.corpus.stdin import STDIN
from spokeshave.model.file import load_model, pack_model, unpack_model
from spokeshave.model.label_files import (
    VECTORS,
    Labelled,
    Labelling,
    check_kind,
    choose_columns,
    find_format,
    is_plain_text,
    label_file,
)
from spokeshave.model.model import Model

GRACE = 10  # seconds to clear up in


def predict_on_cluster(
    client: Client,
    model: Model | str | Path,
    parts: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    text: str | int | None = None,
    to: str | None = None,
    scores: str = "none",
    probability: bool = False,
    prefix: str = "predicted_",
    label_separator: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    bad_rows: str = "raise",
    report: Report | None = None,
    say: Callable[[str], None] = lambda sentence: None,
) -> list[str]:
    """Add the label of each document to files of them, on the workers of a Dask cluster.

    Each file becomes one in a folder, with the content that ``spokeshave predict`` gives it on one
    machine. All of them take their names when the last is written, and none where one fails.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    model : Model, str or Path
        What `load_model` gave, or a model file.
    parts : str, Path, or sequence of them
        Files that every worker can open, by path or address, with ``*`` for any letters.
    out : str or Path
        A folder that every worker can write to; it is made where it is missing. The files in it are
        called as the parts are, with the ending of the format that is written.
    text : str or int, optional
        The column of texts; that of the training documents, or one that is guessed, by default.
    to : {"csv", "tsv", "jsonl", "parquet"}, optional
        The format that is written: by default that of each part, csv for plain text and vectors.
    scores : {"none", "best", "all"}
        Whether to add the score of the class predicted, or those of all classes.
    probability : bool
        Whether scores are probabilities.
    prefix : str
        What the names of the new columns begin with.
    label_separator : str, optional
        What is put between the labels of a document that may have several; a list without it.
    format : {"text", "csv", "tsv", "jsonl", "parquet", "svmlight", "arff"}, optional
        The format of the parts, where their names do not tell.
    encoding : str, optional
        Their encoding, where it is not UTF-8.
    bad_rows : {"raise", "skip"}
        Whether a malformed row is an error, or is left out and counted.
    report : callable, optional
        Is told the share of the parts that is done.
    say : callable
        Is told what was guessed, left out and written.

    Returns
    -------
    paths : list of str
        The files that were written, in the order of the parts.
    """
    found = model if isinstance(model, Model) else load_model(model)
    asked = Labelling(
        text=text,
        format=format,
        encoding=encoding,
        bad_rows=bad_rows,
        to=to,
        prefix=prefix,
        columns=choose_columns(found, scores, label_separator, as_probability=probability),
    )
    folder = check_target(out)
    list_workers(client)  # raises where there are none to wait for
    sources = list_files(client, parts)
    formats = find_formats(client, sources, format)
    for source, each in zip(sources, formats, strict=True):
        check_kind(found, source, each)
    names = name_targets(sources, formats, to)
    with open_folder(client, folder, dict(zip(names, sources, strict=True))) as aside:
        targets = [os.path.join(aside, name) for name in names]
        done = _label(client, found, sources, targets, asked, report)
        submit(client, put_in_place, targets, folder).result()
    _tell(done, out, say)
    return [os.path.join(folder, name) for name in names]


def check_target(out: str | Path) -> str:
    """Return the folder to write to, as every worker knows it."""
    if "://" in str(out):
        raise ValueError(f"out must be the path of a folder. Got {str(out)!r} instead.")
    return os.path.abspath(out)


def list_files(client: Client, parts: Any) -> list[str]:
    """Return the files that paths and addresses stand for; workers know which there are."""
    names = [parts] if isinstance(parts, str | Path) else parts
    if not isinstance(names, Sequence) or not all(isinstance(name, str | Path) for name in names):
        raise ValueError(
            f"parts must be paths or addresses of files. Got {type(parts).__name__} instead."
        )
    if not names or STDIN in names:
        raise ValueError("parts must be files that every worker can open. Got none instead.")
    found = collect([submit(client, expand, _locate(str(name))) for name in names])
    return [path for paths in found for path in paths]


def _locate(name: str) -> str:
    return name if "://" in name or "::" in name else os.path.abspath(name)


def find_formats(client: Client, sources: list[str], format: str | None) -> list[str]:
    """Return the format of each file: workers look into those whose names do not tell."""
    told = [format or tell_format(source) for source in sources]
    looks = {
        number: submit(client, look_for_format, sources[number])
        for number, each in enumerate(told)
        if each is None
    }
    seen = dict(zip(looks, collect(list(looks.values())), strict=True))
    return [each or seen[number] for number, each in enumerate(told)]


def tell_format(source: str) -> str | None:
    """Return the format that a name tells, if it tells any.

    Examples
    --------
    >>> tell_format("part-0.txt"), tell_format("s3://bucket/part-0.csv.gz"), tell_format("part-0")
    ('text', 'csv', None)
    """
    name = name_source(source)
    told = "text" if is_plain_text(name) else name_format(name)
    return None if told == ARCHIVE else told


def look_for_format(source: str) -> str:
    """Return the format of a file by what is in it."""
    with fetching(source) as path:
        return find_format(path)


def name_targets(sources: list[str], formats: list[str], to: str | None) -> list[str]:
    """Name the file that each part becomes; no two may become the same."""
    names = [name_target(name_source(source), format, to)
             for source, format in zip(sources, formats, strict=True)]  # fmt: skip
    first: dict[str, str] = {}
    for source, name in zip(sources, names, strict=True):
        if name in first:
            raise ValueError(
                f"parts must have names of their own, which they keep. Got {first[name]} and "
                f"{source} instead, which both become {name}."
            )
        first[name] = source
    return names


def name_target(name: str, format: str, to: str | None) -> str:
    """Name the file that a part becomes: its own name, with the ending of what is written.

    Examples
    --------
    >>> name_target("part-0.csv.gz", "csv", None), name_target("part-0.csv.gz", "csv", "parquet")
    ('part-0.csv.gz', 'part-0.parquet')
    >>> name_target("part-0.txt", "text", None), name_target("part.0001", "jsonl", None)
    ('part-0.csv', 'part.0001.jsonl')
    """
    written = to or ("csv" if format in ("text", *VECTORS) else format)
    bare = strip_compression(name)
    compression = name.removeprefix(bare.name)
    if written == "parquet" or compression.lower() == ".zip":  # which are not written compressed
        compression = ""
    if name_format(bare) == written:
        return bare.name + compression
    stem = bare.stem if tell_format(bare.name) else bare.name
    return f"{stem}.{written}{compression}"


class Part(NamedTuple):
    """What came of a part: the rows written, those left out, and what was guessed."""

    name: str
    labelled: Labelled
    guesses: list[str]


def _label(
    client: Client,
    model: Model,
    sources: list[str],
    targets: list[str],
    asked: Labelling,
    report: Report | None,
) -> list[Part]:
    """Label all parts; where one fails the others are given up."""
    restored = send(client, unpack_model, pack_model(model))
    tasks = [
        submit(client, label_part, restored, source, target, asked)
        for source, target in zip(sources, targets, strict=True)
    ]
    try:
        return collect(tasks, report)
    except BaseException:
        client.cancel(tasks)
        raise


def label_part(model: Model, source: str, target: str, asked: Labelling) -> Part:
    """Label the documents of a file."""
    guesses: list[str] = []
    with fetching(source) as path:
        labelled = label_file(model, path, target, asked, say=guesses.append)
    return Part(name_source(source), labelled, guesses)


@contextmanager
def open_folder(client: Client, folder: str, sources: dict[str, str]) -> Iterator[str]:
    """Make a folder, and one in it to write to aside, which is gone in the end.

    The workers make them: whoever asks need not have what they share.
    """
    aside = os.path.join(folder, f".spokeshave-{uuid4().hex[:12]}")
    is_new = submit(client, make_folder, folder, aside, sources).result()
    try:
        yield aside
    finally:
        clear(aside, is_new)  # in case that there are no workers any more
        with suppress(Exception):
            submit(client, clear, aside, is_new).result(timeout=GRACE)


def make_folder(folder: str, aside: str, sources: dict[str, str]) -> bool:
    """Make the folders; say whether the first is new.

    No file that is going to be replaced may be one of the parts.
    """
    is_new = not os.path.exists(folder)
    if not is_new and not os.path.isdir(folder):
        raise ValueError(f"{folder}: this is a file; name a folder to write to")
    for name, source in sources.items():
        target = Path(folder, name)
        if target.is_dir():
            raise ValueError(f"{target}: this is a folder; name another to write to")
        if target.exists() and os.path.exists(source) and target.samefile(source):
            raise ValueError(f"{folder}: the parts themselves are there; name another folder")
    try:
        os.makedirs(aside, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{folder}: it cannot be written to ({error.strerror})") from None
    return is_new


def put_in_place(files: list[str], folder: str) -> None:
    """Give files their places in a folder; a second run leaves those that the first has moved."""
    for path in files:
        target = Path(folder, os.path.basename(path))
        try:
            os.replace(path, target)
        except FileNotFoundError:
            if not target.exists():
                raise


def clear(aside: str, is_new: bool) -> None:
    """Remove what is left aside, and the folder that it is in, if that is new and nothing else is.

    A worker whose part is given up may be writing still: it finds nothing to write to.
    """
    for _ in range(3):
        shutil.rmtree(aside, ignore_errors=True)
    if is_new:
        with suppress(OSError):  # there are files in it, as there should be
            os.rmdir(os.path.dirname(aside))


def _tell(done: list[Part], out: str | Path, say: Callable[[str], None]) -> None:
    guessed = defaultdict(list)
    for part in done:
        for guess in part.guesses:
            guessed[guess].append(part.name)
    for guess, names in guessed.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        say(f"{names[0]}{more}: {guess}")
    n_skipped = sum(part.labelled.n_skipped for part in done)
    if n_skipped:
        n_parts = sum(part.labelled.n_skipped > 0 for part in done)
        say(f"{n_skipped:,} malformed rows were left out of {n_parts:,} of the files")
    n_rows = sum(part.labelled.n_rows for part in done)
    say(f"{n_rows:,} rows written to {len(done):,} files in {out}")
