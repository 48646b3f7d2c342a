"""A stream of documents: sources that are read in batches, as often as needed."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from spokeshave.corpus import limits
from spokeshave.corpus.documents import Texts, Vectors
from spokeshave.corpus.files import Progress, explain_damage
from spokeshave.corpus.formats.arff import ArffReader
from spokeshave.corpus.formats.folders import FolderReader
from spokeshave.corpus.formats.reuters import ReutersReader
from spokeshave.corpus.formats.svmlight import SvmlightReader
from spokeshave.corpus.formats.tables import TableReader
from spokeshave.corpus.open import FileState, SourceFile, make_options, open_source
from spokeshave.corpus.options import (
    TABLES,
    BadRows,
    Column,
    check_batch_size,
    check_choices,
    describe_reading,
)
from spokeshave.corpus.reader import Reader, batch_texts, batch_vectors
from spokeshave.corpus.stdin import is_piped
from spokeshave.errors import CorpusError

Batches: TypeAlias = "Generator[Texts | Vectors, None, None]"

READERS: dict[str, type[Reader]] = {
    **dict.fromkeys(TABLES, TableReader),
    "svmlight": SvmlightReader,
    "arff": ArffReader,
    "folders": FolderReader,
    "reuters": ReutersReader,
}


class _Iteration:
    """One iteration over all sources: its progress and its malformed rows."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.bad_rows: list[BadRows] = []

    def count_skipped(self) -> int:
        return sum(bad_rows.skipped for bad_rows in self.bad_rows)

    def count_problems(self) -> Counter[str]:
        return sum((bad_rows.problems for bad_rows in self.bad_rows), Counter())


@dataclass(frozen=True)
class SourceDescription:
    """How sources are read.

    Attributes
    ----------
    name : str
        The name of the file or folder, or 'standard input'; for several sources the name of the
        first and the number of the others.
    read : str
        A description of how the sources are read.
    guesses : tuple of str
        Descriptions of all that was guessed.
    format : str
        The format, as `load_source` takes it.
    encoding : str
        The encoding.
    text, label : str, int or None
        The columns of texts and labels, or the class attribute, if the format has them.
    is_multilabel : bool
        Whether the label of each document is a tuple.
    """

    name: str
    read: str
    guesses: tuple[str, ...]
    format: str
    encoding: str
    text: Column | None
    label: Column | None
    is_multilabel: bool


@dataclass(frozen=True, eq=False)
class DocumentStream(SourceDescription):
    """Labelled documents that are read in batches, as often as needed.

    Attributes
    ----------
    name, read, guesses, format, encoding, text, label, is_multilabel
        As in `SourceDescription`.
    is_text : bool
        Whether the documents are texts; otherwise they are vectors.
    has_test : bool
        Whether the collection is divided into training and test documents.
    n_features : int or None
        The number of features of vectors, if it is known.
    feature_names : tuple of str or None
        Their names, if there are any.
    n_bytes : int
        The size of all files; hidden files in a folder are ignored.
    """

    is_text: bool
    has_test: bool
    n_features: int | None
    feature_names: tuple[str, ...] | None
    n_bytes: int
    _reader: Reader = field(repr=False)
    _part: str = field(repr=False)
    _files: list[SourceFile] = field(repr=False)
    _iterations: list[_Iteration] = field(repr=False)

    def read_batches(self, batch_size: int = limits.BATCH_SIZE) -> Batches:
        """Start an iteration over all documents in batches, in the same order every time.

        Parameters
        ----------
        batch_size : int
            The largest number of documents in a batch. A batch also has no more than about 2
            million characters of text, or a million nonzeros of vectors, unless one document has.

        Returns
        -------
        batches : generator of Texts or Vectors
            Without `n_features` the matrix of each batch is as wide as its largest index. Each
            batch has the number of malformed rows skipped since the previous batch.
        """
        check_batch_size(batch_size)
        return self._start(self._part, batch_size, limits.MAX_CHARACTERS, limits.MAX_NONZEROS)

    def read_all(self, part: str | None = None) -> Texts | Vectors:
        """Read all documents of a part into memory, as one batch."""
        [documents] = self._start(part or self._part, sys.maxsize, sys.maxsize, sys.maxsize)
        return documents

    @property
    def position(self) -> int:
        """Return the approximate number of bytes read by the latest iteration."""
        return self._iterations[0].progress.position

    @property
    def skipped(self) -> int:
        """Return the number of malformed rows skipped by the latest iteration."""
        return self._iterations[0].count_skipped()

    @property
    def problems(self) -> Counter[str]:
        """Return the number of these rows with each problem."""
        return self._iterations[0].count_problems()

    @property
    def stamps(self) -> list[FileState]:
        """Return the name, size and modification time in nanoseconds of every file, sorted.

        They tell whether a source has changed. Hidden files in a folder are ignored; the content
        of a pipe has a checksum instead of the time.
        """
        return sorted(state for file in self._files for state in file.list_states())

    def _start(self, part: str, size: int, max_characters: int, max_nonzeros: int) -> Batches:
        self._iterations[:] = [_Iteration()]
        current = self._iterations[0]
        return self._gather(current, part, size, max_characters, max_nonzeros)

    def _gather(
        self, current: _Iteration, part: str, size: int, max_characters: int, max_nonzeros: int
    ) -> Batches:
        with closing(self._read_documents(current, part)) as documents:
            if self.is_text:
                yield from batch_texts(documents, size, max_characters, current.count_skipped)
            else:
                yield from batch_vectors(
                    documents,
                    size,
                    max_nonzeros,
                    current.count_skipped,
                    first_column=self._reader.first_column,
                    n_features=self.n_features,
                    feature_names=self.feature_names,
                    is_dense=self._reader.is_dense,
                )

    def _read_documents(self, current: _Iteration, part: str) -> Generator[Any, None, None]:
        progress = current.progress
        for file in self._files:
            bad_rows = file.options.make_bad_rows()
            current.bad_rows.append(bad_rows)
            with (
                file.explain_errors(),
                progress.measure(file.size),
                closing(
                    self._reader.read(file.options.path, part, bad_rows, progress)
                ) as documents,
            ):
                yield from documents


@contextmanager
def open_stream(
    sources: str | Path | Sequence[str | Path],
    *,
    text: Column | None = None,
    label: Column | None = None,
    label_separator: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    under: str | None = None,
    bad_rows: str = "raise",
    n_features: int | None = None,
    part: str | None = None,
    allow_dense: bool = False,
) -> Iterator[DocumentStream]:
    r"""Open labelled documents, to be read in as many iterations as needed.

    Memory holds one batch of documents, and one document, one row group of a parquet file, or one
    file of a folder or archive. Options that are not given are guessed as in `load_source`, from
    the first source, and must hold for all sources.

    Parameters
    ----------
    sources : str, Path, or sequence of them
        A file, plain or compressed, a folder, a tar or zip archive, or ``-`` for standard input;
        or several files or folders of one format, which are read in the given order. Standard
        input and pipes are copied to a temporary file.
    text, label, label_separator, format, encoding, under, bad_rows, n_features
        As in `load_source`. The number of features in svmlight is unknown if it is not given.
    part : {'train', 'test'}, optional
        The part of a divided collection to read; by default the training part.
    allow_dense : bool
        Whether dense vectors are read, as arrays.

    Yields
    ------
    stream : DocumentStream
        The documents, and how the sources are read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tickets.csv")
    ...     _ = path.write_text("queue,body\ndisplay,Black\nparcel,Late\nparcel,Lost\n")
    ...     with open_stream(path) as stream:
    ...         for batch in stream.read_batches(batch_size=2):
    ...             print(batch.texts, batch.labels)
    ['Black', 'Late'] ['display', 'parcel']
    ['Lost'] ['parcel']
    """
    options = {
        "text": text,
        "label": label,
        "label_separator": label_separator,
        "encoding": encoding,
        "under": under,
        "bad_rows": bad_rows,
        "n_features": n_features,
    }
    if part not in ("train", "test", None):
        raise ValueError(f"part must be 'train' or 'test'. Got {part!r} instead.")
    with open_files(_list_sources(sources), format, options) as (files, reader):
        if reader.is_dense and not allow_dense:
            problem = "its rows are dense, and only texts and sparse vectors are read bit by bit"
            raise CorpusError(files[0].options.path, problem)
        if part == "test" and not reader.has_test:
            raise ValueError("part must be left out where nothing is divided. Got 'test' instead.")
        yield make_stream(files, reader, format, part)


@contextmanager
def open_files(
    sources: Sequence[str | Path],
    format: str | None,
    options: dict[str, Any],
    *,
    in_memory: bool = False,
) -> Iterator[tuple[list[SourceFile], Reader]]:
    """Open sources of one format; return their files and the reader of all of them."""
    for source in sources:
        check_choices(source, format, options["bad_rows"])
    with ExitStack() as stack:
        # An error in the caller's block is no damage to a file, so the block stays outside.
        with explain_damage(sources[0]):
            path = stack.enter_context(open_source(sources[0], format))
            files = [SourceFile(sources[0], make_options(path, format, **options))]
            files[0].options.check()
        for source in sources[1:]:
            with explain_damage(source):
                files.append(SourceFile(source, make_options(Path(source), format, **options)))
        _require_one_format(files)
        with explain_damage(sources[0]):
            make_reader = READERS[files[0].options.format]
            reader = make_reader([file.options for file in files], in_memory=in_memory)
        yield files, reader


def describe_sources(
    files: list[SourceFile], reader: Reader, format: str | None, *chosen: str
) -> dict[str, Any]:
    """Return the fields of a `SourceDescription`; `format` is what the user gave."""
    more = len(files) - 1
    return {
        "name": files[0].name + (f" and {more} more" if more else ""),
        "read": describe_reading([*reader.description, *chosen], reader.is_multilabel),
        "guesses": tuple(filter(None, [files[0].explain_format(format), *reader.guesses])),
        "format": files[0].options.format,
        "encoding": reader.encoding,
        "text": reader.text,
        "label": reader.label,
        "is_multilabel": reader.is_multilabel,
    }


def make_stream(
    files: list[SourceFile], reader: Reader, format: str | None, part: str | None = None
) -> DocumentStream:
    """Return the stream of the documents of a part, by default the training part."""
    chosen = f"only the {'test' if part == 'test' else 'training'} part" if reader.has_test else ""
    return DocumentStream(
        **describe_sources(files, reader, format, chosen),
        is_text=reader.is_text,
        has_test=reader.has_test,
        n_features=reader.n_features,
        feature_names=reader.feature_names,
        n_bytes=sum(file.size for file in files),
        _reader=reader,
        _part=part or "train",
        _files=files,
        _iterations=[_Iteration()],
    )


def _list_sources(sources: str | Path | Sequence[str | Path]) -> list[str | Path]:
    listed = [sources] if isinstance(sources, str | Path) else list(sources)
    if not listed:
        raise ValueError("sources must name a file or folder, or more. Got none instead.")
    if len(listed) > 1 and any(map(_is_pipe, listed)):
        raise ValueError(f"sources must name a pipe alone. Got {len(listed)} sources instead.")
    return listed


def _is_pipe(source: str | Path) -> bool:
    with explain_damage(source):
        return is_piped(source)


def _require_one_format(files: list[SourceFile]) -> None:
    first, *others = files
    for other in others:
        format, expected = other.options.format, first.options.format
        if format != expected:
            problem = f"it is {format}, and {first.name} is {expected}"
            raise CorpusError(other.options.path, f"{problem}; sources must be of one format")
