"""The format and the compression of a source, by its name or by the beginning of its content."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from contextlib import closing
from pathlib import Path, PurePosixPath

from spokeshave.corpus.archives import stream_members
from spokeshave.corpus.files import (
    open_binary,
    require_file,
    require_seekable,
    sniff_compression,
    strip_compression,
)
from spokeshave.corpus.limits import HEAD_BYTES
from spokeshave.errors import CorpusError, NoDocumentsError

ARCHIVE = "archive"

_SUFFIXES = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "arff": (".arff",),
    "reuters": (".sgm", ".sgml"),
    ARCHIVE: (".tar", ".tgz", ".tbz2", ".txz"),
}

# Patterns are compiled when they are first used: most names tell the format.
_PAIR = rb"\d+:[-+.\de]+"
_FIRST_LINES = {
    "arff": rb"@(relation|attribute)\s",
    "reuters": rb"<(!doctype lewis|reuters)\s",
    "jsonl": rb"\{",
    "svmlight": rb"([^\s:]+\s+)?(qid:\d+\s+)?%b(\s+%b)*\s*(#.*)?\Z" % (_PAIR, _PAIR),
    "tsv": rb".*\t",
    "csv": rb"",
}
_JSON_LIST = rb"\[\s*(\{|\Z)"


def guess_format(path: str | Path) -> str:
    """Return the format of a source, by its name or else by its content.

    Parameters
    ----------
    path : str or Path
        A file, plain or compressed, an archive, or a folder. It must not be a pipe unless its name
        tells the format: the part of a pipe that is looked at is lost.

    Returns
    -------
    format : {'csv', 'tsv', 'jsonl', 'parquet', 'svmlight', 'arff', 'folders', 'reuters'}
        'folders' for a folder or archive without stories of Reuters-21578; 'csv' for text in no
        other format.

    Examples
    --------
    >>> from pathlib import Path
    >>> guess_format("tickets.csv.gz"), guess_format(Path(__file__).parent)
    ('csv', 'folders')
    """
    if Path(path).is_dir():
        return _guess_by_members(path)
    format = name_format(path) or _guess_by_content(path)
    if format == "parquet" and strip_compression(path) != Path(path):
        require_unpacked(path)
    return _guess_by_members(path) if format == ARCHIVE else format


def name_format(path: str | Path) -> str | None:
    """Return the format of a suffix, 'archive' for a tar, or None if the suffix is unknown.

    Examples
    --------
    >>> name_format("tickets.csv.gz"), name_format("news.tar.gz"), name_format("tickets.zip")
    ('csv', 'archive', None)
    """
    suffix = strip_compression(path).suffix.lower()
    return next((format for format, known in _SUFFIXES.items() if suffix in known), None)


def is_story_file(name: str) -> bool:
    """Return whether a file is one of Reuters-21578, by its name."""
    return name.lower().endswith(_SUFFIXES["reuters"])


def sniff_format(path: str | Path) -> str:
    """Return the format of a file by the beginning of its content, 'archive' for a tar."""
    require_seekable(path)
    with open_binary(path) as stream:
        head = stream.read(HEAD_BYTES)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head[257:262] == b"ustar":
        return ARCHIVE
    if b"\0" in head:
        raise CorpusError(path, "this is not text; say which format it is in, or save it as csv")
    line = _find_first_line(head).lower()
    if not line:
        raise NoDocumentsError(path, "there are no documents in it")
    if re.match(_JSON_LIST, line):
        raise CorpusError(path, "this is a JSON list; write one JSON object on each line instead")
    return next(format for format, pattern in _FIRST_LINES.items() if re.match(pattern, line))


def require_unpacked(path: str | Path) -> None:
    """Raise if a whole parquet file is compressed, which its reader does not support."""
    require_file(path)
    if sniff_compression(path):
        raise CorpusError(path, "it is compressed, and parquet is not to be again; unpack it")


def _find_first_line(head: bytes) -> bytes:
    """Return the first line that is neither blank nor a comment, without a number cut in two."""
    if len(head) == HEAD_BYTES:
        head = head.rpartition(b" ")[0] or head
    lines = map(bytes.strip, head.removeprefix(BOM_UTF8).splitlines())
    return next((line for line in lines if line and line[:1] not in b"%#"), b"")


def _guess_by_content(path: str | Path) -> str:
    return _guess_by_zip(path) if Path(path).suffix.lower() == ".zip" else sniff_format(path)


def _guess_by_zip(path: str | Path) -> str:
    names = _list_members(path)
    formats = [name_format(name) for name in names]
    if formats.count("arff") == 1:
        return "arff"
    if len(names) == 1:
        return formats[0] or sniff_format(path)
    # If all files are in one folder there are no classes: the zip is there for one of the files.
    is_flat = len({PurePosixPath(name).parent for name in names}) == 1
    return next((format for format in formats if format and is_flat), ARCHIVE)


def _guess_by_members(path: str | Path) -> str:
    # Names are not kept: there may be too many of them for memory.
    with closing(stream_members(path, is_story_file)) as stories:
        return "reuters" if next(stories, None) else "folders"


def _list_members(path: str | Path) -> list[str]:
    names: list[str] = []

    def note(name: str) -> bool:
        names.append(name)
        return False

    return names + [name for name, _ in stream_members(path, note)]
