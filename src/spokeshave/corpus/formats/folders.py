"""Documents as files, in one folder per class."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from spokeshave.corpus.archives import Members, read_members, split_name, stream_members
from spokeshave.corpus.documents import Texts
from spokeshave.corpus.encoding import LATIN_1, UTF_8, decode, explain_guessed_encoding
from spokeshave.corpus.files import Progress
from spokeshave.corpus.options import BadRows, SourceOptions, mark_guess, quote
from spokeshave.corpus.reader import Reader
from spokeshave.errors import CorpusError

Shape: TypeAlias = tuple[str, int]  # the first folder of a name, and the number of its parts


def read_folders(path: str | Path, *, under: str | None = None, encoding: str = UTF_8) -> Texts:
    """Read documents that are files, labelled by their folder.

    Parameters
    ----------
    path : str or Path
        A folder, or a tar or zip archive of one.
    under : str, optional
        The folder inside `path` that contains the folders of classes; by default `path` itself.
    encoding : str
        The encoding of the documents.

    Returns
    -------
    texts : Texts
        The documents, ordered by class, then by name. Hidden files, and files outside the folders
        of classes, are ignored.

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
    documents = list(_read_documents(members, path, under, encoding))
    _require_documents(path, under, len(documents))
    return Texts([text for text, _ in documents], [label for _, label in documents])


class FolderReader(Reader):
    """Read folders or archives with a folder per class, or with two parts of such folders.

    The constructor looks at all names. Without an encoding it also reads all documents of both
    parts: the encoding is UTF-8 if all of them are, otherwise Latin-1.
    """

    def __init__(self, sources: Sequence[SourceOptions], *, in_memory: bool = False) -> None:
        super().__init__(sources, in_memory=in_memory)
        self._kept: dict[Path, list[tuple[str, bytes]]] = {}
        looks = [self._look_at(source) for source in sources]
        self._parts = {look.options.path: look.find_parts() for look in looks}
        self._require_same_division(sources)
        given = self.options.encoding
        is_latin = any(look.has_latin for look in looks)
        self.encoding = given or (LATIN_1 if is_latin else UTF_8)
        parts = self._parts[self.options.path]
        self.has_test = bool(parts)
        division = f"training and test documents under {' and '.join(map(quote, parts))}"
        reason = explain_guessed_encoding(self.encoding, given)
        encoding = f"{self.encoding}{mark_guess(bool(reason))}"
        self.description = ["folders, one per class", division if parts else "", encoding]
        self.guesses = [f"there are {division}" if parts else "", reason]

    def read(
        self, path: Path, part: str, bad_rows: BadRows, progress: Progress
    ) -> Generator[tuple[str, str], None, None]:
        """Yield the text and the class of each document of a part."""
        parts = self._parts[path]
        under = parts[("train", "test").index(part)] if parts else self.options.under
        members: Iterable[tuple[str, bytes]] | Members
        if path in self._kept:
            members = self._kept[path]
        else:
            members = stream_members(path, lambda name: is_document(name, path, under), progress)
        return _read_documents(members, path, under, self.encoding)

    def _look_at(self, source: SourceOptions) -> _Look:
        look = _Look(source)
        if self.in_memory:
            # The content is kept: reading an archive again would take as long as the first time.
            kept = list(read_members(source.path, lambda name: look.add(name) or look.is_wanted))
            self._kept[source.path] = kept
            members: Members = (member for member in kept)
        else:
            members = stream_members(source.path, look.add)
        with closing(members):
            for name, content in members:
                look.add_content(name, content)
        return look

    def _require_same_division(self, sources: Sequence[SourceOptions]) -> None:
        for source in sources:
            parts = self._parts[source.path]
            if bool(parts) != bool(self._parts[self.options.path]):
                found = "is divided" if parts else "is not divided"
                problem = f"it {found} into training and test documents, unlike the first source"
                raise CorpusError(source.path, problem)


class _Look:
    """The shapes and encodings of the names and documents in a folder or archive."""

    def __init__(self, options: SourceOptions) -> None:
        self.options = options
        self.is_wanted = False
        self._shapes: set[Shape] = set()
        self._latin_depths: set[int] = set()
        self._first_deep: str | None = None

    def add(self, name: str) -> bool:
        """Add the name of a file, and return whether its content matters too."""
        self.is_wanted = _is_wanted(name, self.options)
        if not self.is_wanted:
            return False
        shape = _find_shape(name)
        self._shapes.add(shape)
        if shape[1] == 3 and self.options.under is None:
            self._first_deep = min(filter(None, [self._first_deep, name]), key=split_name)
        return self.options.encoding is None

    def add_content(self, name: str, content: bytes) -> None:
        """Add the content of a file, and raise if it is not text."""
        if self.options.encoding is not None:
            return
        if b"\0" in content:
            problem = "this is not text; take it out, or pass its encoding"
            raise CorpusError(self.options.path / name, problem)
        _, depth = _find_shape(name)
        if depth not in self._latin_depths and not _is_utf_8(content):
            self._latin_depths.add(depth)

    def find_parts(self) -> list[str]:
        """Return the folders of both parts, if any; raise if documents are too deep."""
        parts = find_parts(self._shapes)
        if self._first_deep and not parts:
            is_document(self._first_deep, self.options.path, None)
        _require_documents(self.options.path, self.options.under, len(self._shapes))
        return parts

    @property
    def has_latin(self) -> bool:
        """Return whether a document is not in UTF-8; files that are no documents do not count."""
        root = len(PurePosixPath(self.options.under or ".").parts)
        return (3 if find_parts(self._shapes) else root + 2) in self._latin_depths


def find_parts(shapes: Collection[Shape]) -> list[str]:
    """Return the folders of training and test documents, if there are no other folders."""
    folders = {folder for folder, _ in shapes}
    deep = {folder for folder, depth in shapes if depth == 3}
    train = [folder for folder in deep if folder.lower().endswith("train")]
    test = [folder for folder in deep if folder.lower().endswith("test")]
    return [*train, *test] if len(train) == len(test) == 1 and len(folders) == 2 else []


def is_document(name: str, path: str | Path, under: str | None) -> bool:
    """Return whether a file is in the folder of a class; raise if it is deeper."""
    file, root = PurePosixPath(name), PurePosixPath(under or ".")
    depth = len(file.relative_to(root).parts) if file.is_relative_to(root) else 0
    if depth > 2:
        problem = f"'{name}' lies in a folder of a folder; say under= which folder the classes are"
        raise CorpusError(path, f"{problem}, as under='{file.parent.parent}'")
    return depth == 2


def _is_wanted(name: str, options: SourceOptions) -> bool:
    """Return whether a file is a document, or would be if the folders came in two parts."""
    folder, *rest = name.lower().split("/")
    is_in_part = options.under is None and len(rest) == 2 and folder.endswith(("train", "test"))
    return is_in_part or is_document(name, options.path, options.under)


def _find_shape(name: str) -> Shape:
    parts = split_name(name)
    return parts[0], len(parts)


def _is_utf_8(content: bytes) -> bool:
    try:
        content.decode(UTF_8)
    except UnicodeDecodeError:
        return False
    return True


def _read_documents(
    members: Iterable[tuple[str, bytes]], path: str | Path, under: str | None, encoding: str
) -> Generator[tuple[str, str], None, None]:
    """Yield the text and the class of each document among files."""
    for name, content in members:
        if is_document(name, path, under):
            yield decode(content, encoding, Path(path, name)), PurePosixPath(name).parent.name


def _require_documents(path: str | Path, under: str | None, count: int) -> None:
    if not count:
        where = f" under '{under}'" if under else ""
        raise CorpusError(path, f"there is no folder with documents{where}")
