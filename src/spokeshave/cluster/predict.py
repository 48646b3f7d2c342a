"""Prediction for files in parts: each becomes a file in a folder, with the labels added."""

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

from spokeshave.cluster.client import Report, collect, list_workers, send, submit
from spokeshave.cluster.parts import expand_all, fetching, name_source
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
from spokeshave.utils.atomic import locking, remove_abandoned

GRACE = 10  # seconds to clean up in
PREFIX = ".spokeshave-parts-"  # of temporary folders


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

    Each file becomes a file in a folder, with the content that ``spokeshave predict`` writes on one
    machine. All files get their names when the last is written, and none if one fails.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    model : Model, str or Path
        A model, as returned by `load_model`, or a model file.
    parts : str, Path, or sequence of them
        Files that every worker can open, by path or URL, with ``*`` as a wildcard.
    out : str or Path
        A folder that every worker can write to, created if it is missing. Files are named after the
        parts, with the suffix of the output format.
    text : str or int, optional
        The column of texts; by default that of the training documents, or guessed.
    to : {"csv", "tsv", "jsonl", "parquet"}, optional
        The output format; by default that of each part, csv for plain text and vectors.
    scores : {"none", "best", "all"}
        Whether to add the score of the class predicted, or those of all classes.
    probability : bool
        Whether scores are probabilities.
    prefix : str
        Prefix of the names of the new columns.
    label_separator : str, optional
        Separator of the labels of a document that may have several; without it they are a list.
    format : {"text", "csv", "tsv", "jsonl", "parquet", "svmlight", "arff"}, optional
        The format of the parts; by default from their names, or guessed.
    encoding : str, optional
        Their encoding, if it is not UTF-8.
    bad_rows : {"raise", "skip"}
        Whether a malformed row raises an error, or is skipped and counted.
    report : callable, optional
        Called with the share of the parts that is done.
    say : callable
        Called with guesses, numbers of skipped rows, and files written, sentence by sentence.

    Returns
    -------
    paths : list of str
        The files written, in the order of the parts.
    """
    found = model if isinstance(model, Model) else load_model(model)
    asked = Labelling(
        text=text,
        format=format,
        encoding=encoding,
        bad_rows=bad_rows,
        to=to,
        prefix=prefix,
        columns=choose_columns(found, scores, label_separator, probability=probability),
    )
    folder = check_target(out)
    list_workers(client)  # raises if there are none
    sources = list_files(client, parts)
    formats = find_formats(client, sources, format)
    for source, each in zip(sources, formats, strict=True):
        check_kind(found, source, each)
    names = name_targets(sources, formats, to)
    with open_folder(client, folder, dict(zip(names, sources, strict=True))) as temporary:
        targets = [os.path.join(temporary, name) for name in names]
        done = _label(client, found, sources, targets, asked, report)
        submit(client, move_files, targets, folder).result()
    _summarize(done, out, say)
    return [os.path.join(folder, name) for name in names]


def check_target(out: str | Path) -> str:
    """Return the absolute path of the folder to write to."""
    if "://" in str(out):
        raise ValueError(f"out must be the path of a folder. Got {str(out)!r} instead.")
    return os.path.abspath(out)


def list_files(client: Client, parts: Any) -> list[str]:
    """Return the files that paths and URLs match; the workers look for them."""
    names = [parts] if isinstance(parts, str | Path) else parts
    if not isinstance(names, Sequence) or not all(isinstance(name, str | Path) for name in names):
        raise ValueError(
            f"parts must be paths or addresses of files. Got {type(parts).__name__} instead."
        )
    if not names or STDIN in names:
        raise ValueError("parts must be files that every worker can open. Got none instead.")
    return expand_all(client, names)


def find_formats(client: Client, sources: list[str], format: str | None) -> list[str]:
    """Return the format of each file; workers inspect files whose names do not tell it."""
    told = [format or tell_format(source) for source in sources]
    looks = {
        number: submit(client, look_for_format, sources[number])
        for number, each in enumerate(told)
        if each is None
    }
    seen = dict(zip(looks, collect(list(looks.values())), strict=True))
    return [each or seen[number] for number, each in enumerate(told)]


def tell_format(source: str) -> str | None:
    """Return the format that a file name tells, if any.

    Examples
    --------
    >>> tell_format("part-0.txt"), tell_format("s3://bucket/part-0.csv.gz"), tell_format("part-0")
    ('text', 'csv', None)
    """
    name = name_source(source)
    told = "text" if is_plain_text(name) else name_format(name)
    return None if told == ARCHIVE else told


def look_for_format(source: str) -> str:
    """Return the format of a file by its content."""
    with fetching(source) as path:
        return find_format(path)


def name_targets(sources: list[str], formats: list[str], to: str | None) -> list[str]:
    """Return the name of the output file of each part; no two may be equal."""
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
    """Return the name of the output file of a part: its own, with the suffix of the output format.

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
    if written == "parquet" or compression.lower() == ".zip":  # never written compressed
        compression = ""
    if name_format(bare) == written:
        return bare.name + compression
    stem = bare.stem if tell_format(bare.name) else bare.name
    return f"{stem}.{written}{compression}"


class Part(NamedTuple):
    """Result of a part: its name, the rows written and skipped, and the guesses made."""

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
    """Label all parts; if one fails the others are cancelled."""
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
    with fetching(source) as path, locking(Path(target).parent):
        labelled = label_file(model, path, target, asked, say=guesses.append)
    return Part(name_source(source), labelled, guesses)


@contextmanager
def open_folder(client: Client, folder: str, sources: dict[str, str]) -> Iterator[str]:
    """Make a folder, and a temporary one inside it, which is removed at the end.

    The workers make them, as the client may not share their file system. If it does, it removes the
    temporary folders of runs that were killed.
    """
    remove_abandoned(Path(folder), PREFIX)
    temporary = os.path.join(folder, f"{PREFIX}{uuid4().hex[:8]}")
    is_new = submit(client, make_folder, folder, temporary, sources).result()
    try:
        with locking(Path(temporary)):
            yield temporary
    finally:
        clear(temporary, is_new)  # in case there are no workers any more
        with suppress(Exception):
            submit(client, clear, temporary, is_new).result(timeout=GRACE)


def make_folder(folder: str, temporary: str, sources: dict[str, str]) -> bool:
    """Make the folders; return whether the first is new.

    No file that will be replaced may be one of the parts.
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
        os.makedirs(temporary, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{folder}: it cannot be written to ({error.strerror})") from None
    return is_new


def move_files(files: list[str], folder: str) -> None:
    """Move files to a folder; a second run of this task skips the files already moved."""
    for path in files:
        target = Path(folder, os.path.basename(path))
        try:
            os.replace(path, target)
        except FileNotFoundError:
            if not target.exists():
                raise


def clear(temporary: str, is_new: bool) -> None:
    """Remove the temporary folder, and its parent if that is new and empty.

    It is tried several times, as a worker whose part was cancelled may still be writing.
    """
    for _ in range(3):
        shutil.rmtree(temporary, ignore_errors=True)
    if is_new:
        with suppress(OSError):  # it has files, as it should
            os.rmdir(os.path.dirname(temporary))


def _summarize(done: list[Part], out: str | Path, say: Callable[[str], None]) -> None:
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
