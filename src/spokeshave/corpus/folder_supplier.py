"""Folders of documents that are to be read again and again."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from spokeshave.corpus.archives import stream_members
from spokeshave.corpus.bad_rows import BadRows
from spokeshave.corpus.encodings import OLD, USUAL
from spokeshave.corpus.folder_loader import (
    Shape,
    describe_folders,
    find_parts,
    find_shape,
    is_wanted,
    require_text,
)
from spokeshave.corpus.folders import is_document, require_documents, stream_documents
from spokeshave.corpus.meters import Meter
from spokeshave.corpus.orders import Order
from spokeshave.corpus.stocks import Reader, Stock
from spokeshave.errors import CorpusError


def stock_folders(orders: Sequence[Order]) -> Stock:
    """Find the documents in folders or archives with a folder per class, or with two parts of such.

    A first look goes through all of their names, and where no encoding is given through all
    documents of both parts: they are in UTF-8 if every one of them can be, otherwise in Latin-1.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for part in ("train", "test"):
    ...         Path(folder, part, "space").mkdir(parents=True)
    ...         _ = Path(folder, part, "space", "1").write_text("The orbit decays.")
    ...     stock_folders([Order(Path(folder), "folders")]).guesses[0]
    "there are training and test documents under 'train' and 'test'"
    """
    looks = [_look(order) for order in orders]
    parts = {order.path: look.find_parts() for order, look in zip(orders, looks, strict=True)}
    _require_same_division(orders, parts)
    is_old = any(look.is_old for look in looks)
    order, encoding = orders[0], orders[0].encoding or (OLD if is_old else USUAL)

    def begin(part: str) -> Reader:
        return _FolderReader(order, encoding, parts, place=("train", "test").index(part))

    read, guesses = describe_folders(order, parts[order.path], encoding)
    return Stock(begin, read, guesses, encoding, has_test=bool(parts[order.path]))


@dataclass
class _Look:
    """What a look at a folder or archive has found."""

    order: Order
    shapes: set[Shape] = field(default_factory=set)
    old_depths: set[int] = field(default_factory=set)
    first_deep: str | None = None

    def note(self, name: str) -> bool:
        """Note the name of a file, and tell whether its content matters too."""
        if not is_wanted(name, self.order):
            return False
        shape = find_shape(name)
        self.shapes.add(shape)
        if shape[1] == 3 and self.order.under is None:
            self.first_deep = min(filter(None, [self.first_deep, name]), key=_split)
        return self.order.encoding is None

    def note_content(self, name: str, content: bytes) -> None:
        require_text(self.order.path / name, content)
        _, depth = find_shape(name)
        if depth not in self.old_depths and not _is_usual(content):
            self.old_depths.add(depth)

    def find_parts(self) -> list[str]:
        """Return the folders of both parts, if any; raise where documents lie too deep."""
        parts = find_parts(self.shapes)
        if self.first_deep and not parts:
            is_document(self.first_deep, self.order.path, None)
        require_documents(self.order.path, self.order.under, len(self.shapes))
        return parts

    @property
    def is_old(self) -> bool:
        """Tell whether a document is not in the usual encoding; what is none has no say."""
        root = len(PurePosixPath(self.order.under or ".").parts)
        return (3 if find_parts(self.shapes) else root + 2) in self.old_depths


class _FolderReader:
    """Reads one part of one folder or archive after the other."""

    def __init__(
        self, order: Order, encoding: str, parts: dict[Path, list[str]], place: int
    ) -> None:
        self._under, self._encoding, self._parts, self._place = order.under, encoding, parts, place

    def __call__(
        self, path: Path, bad_rows: BadRows, meter: Meter
    ) -> Generator[tuple[str, str], None, None]:
        parts = self._parts[path]
        under = parts[self._place] if parts else self._under
        members = stream_members(path, lambda name: is_document(name, path, under), meter)
        return stream_documents(members, path, under=under, encoding=self._encoding)


def _look(order: Order) -> _Look:
    look = _Look(order)
    with closing(stream_members(order.path, look.note)) as members:
        for name, content in members:
            look.note_content(name, content)
    return look


def _is_usual(content: bytes) -> bool:
    try:
        content.decode(USUAL)
    except UnicodeDecodeError:
        return False
    return True


def _require_same_division(orders: Sequence[Order], parts: dict[Path, list[str]]) -> None:
    for order in orders:
        if bool(parts[order.path]) != bool(parts[orders[0].path]):
            said = "is divided" if parts[order.path] else "is not divided"
            problem = f"it {said} into training and test documents, unlike the first source"
            raise CorpusError(order.path, problem)


def _split(name: str) -> list[str]:
    return name.split("/")
