"""The format a source is in, told by its name or else by what is in it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path, PurePosixPath

from spokeshave.corpus.archives import stream_members
from spokeshave.corpus.contents import ARCHIVE, sniff_compression, sniff_format
from spokeshave.corpus.files import require_file, strip_compression
from spokeshave.errors import CorpusError

_ENDS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "arff": (".arff",),
    "reuters": (".sgm", ".sgml"),
    ARCHIVE: (".tar", ".tgz", ".tbz2", ".txz"),
}


def guess_format(path: str | Path) -> str:
    """Tell the format of a source by its name, otherwise by what is in it.

    Parameters
    ----------
    path : str or Path
        A file, plain or compressed, an archive, or a folder. Where its name does not tell, it
        must not be a pipe: what is read of one to tell its format is gone.

    Returns
    -------
    format : {'csv', 'tsv', 'jsonl', 'parquet', 'svmlight', 'arff', 'folders', 'reuters'}
        A folder or archive without stories of Reuters-21578 is of folders; a text that is nothing
        else is csv.

    Examples
    --------
    >>> from pathlib import Path
    >>> guess_format("tickets.csv.gz"), guess_format(Path(__file__).parent)
    ('csv', 'folders')
    """
    if Path(path).is_dir():
        return _judge_members(path)
    format = name_format(path) or _judge_content(path)
    if format == "parquet" and strip_compression(path) != Path(path):
        require_unpacked(path)
    return _judge_members(path) if format == ARCHIVE else format


def name_format(path: str | Path) -> str | None:
    """Return the format that the end of a name tells, 'archive' for a tar, if it tells any.

    Examples
    --------
    >>> name_format("tickets.csv.gz"), name_format("news.tar.gz"), name_format("tickets.zip")
    ('csv', 'archive', None)
    """
    end = strip_compression(path).suffix.lower()
    return next((format for format, ends in _ENDS.items() if end in ends), None)


def is_story_file(name: str) -> bool:
    """Tell whether a name is that of a file of Reuters-21578.

    Examples
    --------
    >>> is_story_file("reut2-000.SGM"), is_story_file("lewis.dtd")
    (True, False)
    """
    return name.lower().endswith(_ENDS["reuters"])


def require_unpacked(path: str | Path) -> None:
    """Raise where a parquet file is compressed as a whole, as its reader takes none."""
    require_file(path)
    if sniff_compression(path):
        raise CorpusError(path, "it is compressed, and parquet is not to be again; unpack it")


def _judge_content(path: str | Path) -> str:
    return _judge_zip(path) if Path(path).suffix.lower() == ".zip" else sniff_format(path)


def _judge_zip(path: str | Path) -> str:
    names = _list_members(path)
    formats = [name_format(name) for name in names]
    if formats.count("arff") == 1:
        return "arff"
    if len(names) == 1:
        return formats[0] or sniff_format(path)
    # Where all files lie in one folder there are no classes: the zip is there for one of them.
    is_flat = len({PurePosixPath(name).parent for name in names}) == 1
    return next((format for format in formats if format and is_flat), ARCHIVE)


def _judge_members(path: str | Path) -> str:
    # Names are not kept, as there may be more of them than memory has room for.
    with closing(stream_members(path, is_story_file)) as stories:
        return "reuters" if next(stories, None) else "folders"


def _list_members(path: str | Path) -> list[str]:
    names: list[str] = []

    def note(name: str) -> bool:
        names.append(name)
        return False

    return names + [name for name, _ in stream_members(path, note)]
