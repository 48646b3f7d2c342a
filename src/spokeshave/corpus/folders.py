"""Documents as files, in one folder per class."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from pathlib import Path, PurePosixPath

from spokeshave.corpus.archives import read_members
from spokeshave.corpus.documents import Texts
from spokeshave.corpus.files import decode
from spokeshave.errors import CorpusError


def read_folders(path: str | Path, *, under: str | None = None, encoding: str = "utf-8") -> Texts:
    """Read documents that are files, where the folder a file is in is its class.

    Parameters
    ----------
    path : str or Path
        A folder, or a tar or zip archive of one.
    under : str, optional
        The folder inside `path` that holds the folders of classes; `path` itself where it is not
        given.
    encoding : str
        The encoding of the documents.

    Returns
    -------
    texts : Texts
        The documents, by class and then by the name of their file, both in the order of their
        characters. Hidden files, and files outside the folders of classes, are left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Path(folder, "train", "sci.space").mkdir(parents=True)
    ...     _ = Path(folder, "train", "sci.space", "59848").write_text("The orbit decays.")
    ...     read_folders(folder, under="train")
    Texts(texts=['The orbit decays.'], labels=['sci.space'], skipped=0)
    """
    members = read_members(path, lambda name: is_document(name, path, under))
    return gather_documents(members, path, under=under, encoding=encoding)


def gather_documents(
    members: Iterable[tuple[str, bytes]],
    path: str | Path,
    *,
    under: str | None = None,
    encoding: str = "utf-8",
) -> Texts:
    """Gather the documents among files that have been read, as `read_folders` does.

    Examples
    --------
    >>> gather_documents([("sci.space/59848", b"The orbit decays.")], "news.tar.gz")
    Texts(texts=['The orbit decays.'], labels=['sci.space'], skipped=0)
    """
    documents = list(stream_documents(members, path, under=under, encoding=encoding))
    require_documents(path, under, len(documents))
    return Texts([text for text, _ in documents], [label for _, label in documents])


def stream_documents(
    members: Iterable[tuple[str, bytes]],
    path: str | Path,
    *,
    under: str | None = None,
    encoding: str = "utf-8",
) -> Generator[tuple[str, str], None, None]:
    """Yield the text and the class of each document among files, as they are read.

    Examples
    --------
    >>> list(stream_documents([("sci.space/59848", b"The orbit decays.")], "news.tar.gz"))
    [('The orbit decays.', 'sci.space')]
    """
    for name, content in members:
        if is_document(name, path, under):
            yield decode(content, encoding, Path(path, name)), PurePosixPath(name).parent.name


def require_documents(path: str | Path, under: str | None, count: int) -> None:
    """Raise where there is no document.

    Examples
    --------
    >>> require_documents("news.tar.gz", "train", 0)
    Traceback (most recent call last):
    ...
    spokeshave.errors.CorpusError: news.tar.gz: there is no folder with documents under 'train'
    """
    if not count:
        where = f" under '{under}'" if under else ""
        raise CorpusError(path, f"there is no folder with documents{where}")


def is_document(name: str, path: str | Path, under: str | None) -> bool:
    """Tell whether a file lies in a folder of a class; raise where it lies deeper.

    Examples
    --------
    >>> is_document("sci.space/59848", "news.tar.gz", None)
    True
    """
    file, root = PurePosixPath(name), PurePosixPath(under or ".")
    depth = len(file.relative_to(root).parts) if file.is_relative_to(root) else 0
    if depth > 2:
        problem = f"'{name}' lies in a folder of a folder; say under= which folder the classes are"
        raise CorpusError(path, f"{problem}, as under='{file.parent.parent}'")
    return depth == 2
