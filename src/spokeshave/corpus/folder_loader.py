"""Folders of documents to learn from, with their encoding and their division guessed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from spokeshave.corpus.archives import read_members
from spokeshave.corpus.documents import Split, Texts
from spokeshave.corpus.encodings import explain_encoding, is_guessed, read_decoded
from spokeshave.corpus.folders import gather_documents, is_document
from spokeshave.corpus.orders import Delivery, Order, mark
from spokeshave.corpus.wording import quote
from spokeshave.errors import CorpusError

Shape: TypeAlias = tuple[str, int]


def load_folders(order: Order) -> Delivery:
    """Read a folder or archive with a folder per class, or with two parts of such folders.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for part in ("train", "test"):
    ...         Path(folder, part, "space").mkdir(parents=True)
    ...         _ = Path(folder, part, "space", "1").write_text("The orbit decays.")
    ...     load_folders(Order(Path(folder), "folders")).guesses[0]
    "there are training and test documents under 'train' and 'test'"
    """
    members = list(read_members(order.path, lambda name: is_wanted(name, order)))
    if order.encoding is None:
        for name, content in members:
            require_text(order.path / name, content)
    parts = find_parts({find_shape(name) for name, _ in members})

    def read(encoding: str) -> Texts | Split:
        gather = partial(gather_documents, members, order.path, encoding=encoding)
        if not parts:
            return gather(under=order.under)
        return Split(*(gather(under=part) for part in parts))

    documents, encoding = read_decoded(read, order.encoding)
    return Delivery(documents, *describe_folders(order, parts, encoding), encoding)


def describe_folders(
    order: Order, parts: Sequence[str], encoding: str
) -> tuple[list[str], list[str]]:
    """Say how folders are read and what was guessed, the folders of their two parts included.

    Examples
    --------
    >>> describe_folders(Order(Path("news"), "folders"), [], "latin-1")[0]
    ['folders, one per class', '', 'latin-1 (guessed)']
    """
    division = f"training and test documents under {' and '.join(map(quote, parts))}"
    said = f"{encoding}{mark(is_guessed(encoding, order.encoding))}"
    read = ["folders, one per class", division if parts else "", said]
    reason = explain_encoding(encoding, order.encoding)
    return read, [f"there are {division}" if parts else "", reason]


def is_wanted(name: str, order: Order) -> bool:
    """Tell whether a file is a document, or would be one if the folders came in two parts.

    Examples
    --------
    >>> order = Order(Path("news"), "folders")
    >>> is_wanted("space/1", order), is_wanted("train/space/1", order), is_wanted("README", order)
    (True, True, False)
    """
    folder, *rest = name.lower().split("/")
    is_in_part = order.under is None and len(rest) == 2 and folder.endswith(("train", "test"))
    return is_in_part or is_document(name, order.path, order.under)


def find_shape(name: str) -> Shape:
    """Return the first folder of a name, and how many parts the name has.

    Examples
    --------
    >>> find_shape("train/space/1")
    ('train', 3)
    """
    parts = name.split("/")
    return parts[0], len(parts)


def find_parts(shapes: Collection[Shape]) -> list[str]:
    """Return the folders of training and of test documents, where there are no others.

    Examples
    --------
    >>> find_parts([("news-test", 3), ("news-train", 3)])
    ['news-train', 'news-test']
    """
    folders = {folder for folder, _ in shapes}
    deep = {folder for folder, depth in shapes if depth == 3}
    train = [folder for folder in deep if folder.lower().endswith("train")]
    test = [folder for folder in deep if folder.lower().endswith("test")]
    return [*train, *test] if len(train) == len(test) == 1 and len(folders) == 2 else []


def require_text(path: Path, content: bytes) -> None:
    r"""Raise where a file is not text.

    Examples
    --------
    >>> require_text(Path("news/space/1"), b"The orbit decays.")
    """
    if b"\0" in content:
        raise CorpusError(path, "this is not text; take it out, or pass its encoding")
