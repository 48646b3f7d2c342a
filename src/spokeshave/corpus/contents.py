"""The content of a file, whose beginning tells how it is compressed and which format it is in."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from pathlib import Path

from spokeshave.corpus.files import open_binary, require_lasting
from spokeshave.errors import CorpusError, NoDocumentsError

ARCHIVE = "archive"

# Patterns are compiled when they are first used: most names tell the format.
_COMPRESSIONS = {
    ".gz": rb"\x1f\x8b",
    ".bz2": rb"BZh[1-9]1AY&SY",
    ".xz": rb"\xfd7zXZ\0",
    ".zip": rb"PK(\x03\x04|\x05\x06)",
}
_LONGEST_MAGIC = 16
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
_LONGEST_HEAD = 2**16


def sniff_format(path: str | Path) -> str:
    """Tell the format of a file by how its content begins, 'archive' for a tar.

    Examples
    --------
    >>> sniff_format(__file__)
    'csv'
    """
    require_lasting(path)
    with open_binary(path) as stream:
        head = stream.read(_LONGEST_HEAD)
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


def sniff_compression(path: str | Path) -> str:
    """Return the end that tells how a file is compressed, by how it begins; none where it is not.

    Examples
    --------
    >>> sniff_compression(__file__)
    ''
    """
    require_lasting(path)
    with Path(path).open("rb") as stream:
        head = stream.read(_LONGEST_MAGIC)
    return next((end for end, magic in _COMPRESSIONS.items() if re.match(magic, head)), "")


def _find_first_line(head: bytes) -> bytes:
    """Return the first line that is neither blank nor a comment, without a number cut in two."""
    if len(head) == _LONGEST_HEAD:
        head = head.rpartition(b" ")[0] or head
    lines = map(bytes.strip, head.removeprefix(BOM_UTF8).splitlines())
    return next((line for line in lines if line and line[:1] not in b"%#"), b"")
