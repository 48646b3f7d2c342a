"""Folders of documents to learn from, with their encoding and their division guessed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from spokeshave.corpus.archives import read_members
from spokeshave.corpus.documents import Split, Texts
from spokeshave.corpus.encodings import explain_encoding, is_guessed, read_decoded
from spokeshave.corpus.folders import gather_documents, is_document
from spokeshave.corpus.orders import Delivery, Order, mark
from spokeshave.corpus.wording import quote
from spokeshave.errors import CorpusError


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
    members = list(read_members(order.path, lambda name: _is_wanted(name, order)))
    if order.encoding is None:
        _require_texts(order.path, members)
    parts = _find_parts([name for name, _ in members])

    def read(encoding: str) -> Texts | Split:
        gather = partial(gather_documents, members, order.path, encoding=encoding)
        if not parts:
            return gather(under=order.under)
        return Split(*(gather(under=part) for part in parts))

    documents, encoding = read_decoded(read, order.encoding)
    division = f"training and test documents under {' and '.join(map(quote, parts))}"
    said = f"{encoding}{mark(is_guessed(encoding, order.encoding))}"
    reason = explain_encoding(encoding, order.encoding)
    return Delivery(
        documents,
        read=["folders, one per class", division if parts else "", said],
        guesses=[f"there are {division}" if parts else "", reason],
        encoding=encoding,
    )


def _is_wanted(name: str, order: Order) -> bool:
    folder, *rest = name.lower().split("/")
    is_in_part = order.under is None and len(rest) == 2 and folder.endswith(("train", "test"))
    return is_in_part or is_document(name, order.path, order.under)


def _find_parts(names: Sequence[str]) -> list[str]:
    """Return the folders of training and of test documents, where there are no others."""
    paths = [PurePosixPath(name).parts for name in names]
    folders = {path[0] for path in paths}
    deep = {path[0] for path in paths if len(path) == 3}
    train = [folder for folder in deep if folder.lower().endswith("train")]
    test = [folder for folder in deep if folder.lower().endswith("test")]
    return [*train, *test] if len(train) == len(test) == 1 and len(folders) == 2 else []


def _require_texts(path: Path, members: Sequence[tuple[str, bytes]]) -> None:
    for name, content in members:
        if b"\0" in content:
            raise CorpusError(path / name, "this is not text; take it out, or pass its encoding")
