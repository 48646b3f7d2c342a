"""A supply of documents: sources that are read again and again, a few documents at a time."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from spokeshave.corpus.column_names import Column
from spokeshave.corpus.documents import Texts, Vectors
from spokeshave.corpus.files import explain_damage
from spokeshave.corpus.openings import (
    check_choices,
    explain_format,
    is_piped,
    open_source,
    place_order,
)
from spokeshave.corpus.orders import describe_reading
from spokeshave.corpus.passes import Pass
from spokeshave.corpus.places import Place
from spokeshave.corpus.portions import portion_texts, portion_vectors
from spokeshave.corpus.stamps import Stamp
from spokeshave.corpus.stocks import Stock
from spokeshave.corpus.suppliers import SUPPLIERS
from spokeshave.errors import CorpusError

Batches: TypeAlias = "Generator[Texts | Vectors, None, None]"


@dataclass(frozen=True, eq=False)
class Supply:
    """Documents to learn from that are read again and again, and never all in memory.

    Attributes
    ----------
    name : str
        The name of the file or folder, or 'standard input'; of several, that of the first and how
        many more there are.
    read : str
        How the sources are understood, to be shown.
    guesses : tuple of str
        What was not told but guessed, to be shown.
    format : str
        The format, as `open_supply` takes it.
    encoding : str
        The encoding.
    text, label : str, int or None
        The columns of texts and labels, or the class attribute, where the format has them.
    is_text : bool
        Whether the documents are texts, otherwise sparse vectors.
    is_multilabel : bool
        Whether the label of each document is a tuple.
    has_test : bool
        Whether the collection comes divided, so that there is a test part of it.
    n_features : int or None
        The number of features of vectors, where it is known.
    feature_names : tuple of str or None
        Their names, where they have any.
    n_bytes : int
        The size of all files, hidden ones below a folder not counted.
    """

    name: str
    read: str
    guesses: tuple[str, ...]
    format: str
    encoding: str
    text: Column | None
    label: Column | None
    is_text: bool
    is_multilabel: bool
    has_test: bool
    n_features: int | None
    feature_names: tuple[str, ...] | None
    n_bytes: int
    _stock: Stock = field(repr=False)
    _part: str = field(repr=False)
    _places: list[Place] = field(repr=False)
    _passes: list[Pass] = field(repr=False)

    def read_batches(self, batch_size: int = 1_000) -> Batches:
        """Begin a pass: read all documents in batches, in the same order every time.

        Parameters
        ----------
        batch_size : int
            How many documents a batch holds at most. It holds no more than about 2 million
            characters, or a million numbers of vectors, either, unless one document does.

        Returns
        -------
        batches : generator of Texts or Vectors
            Texts, or Vectors with a csr_matrix, which is only as wide as the largest index in the
            batch where `n_features` is None. Each says how many malformed rows were left out
            since the one before.
        """
        if not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(f"batch_size must be a positive integer. Got {batch_size!r} instead.")
        self._passes[:] = [Pass()]
        return self._read_portions(self._passes[0], batch_size)

    @property
    def position(self) -> int:
        """Return about how many of all bytes the pass that began last has gone through."""
        return self._passes[0].meter.position

    @property
    def skipped(self) -> int:
        """Count the malformed rows that the pass that began last has left out so far."""
        return self._passes[0].count_skipped()

    @property
    def stamps(self) -> list[Stamp]:
        """Return the name, size and time of change, in nanoseconds, of every file as it is now.

        They are sorted, and tell whether a source has changed. Hidden files below a folder are
        left out; what came through a pipe has a checksum in place of the time.
        """
        return sorted(stamp for place in self._places for stamp in place.stamp())

    def _read_portions(self, current: Pass, batch_size: int) -> Batches:
        with closing(self._read_documents(current)) as documents:
            if self.is_text:
                yield from portion_texts(documents, batch_size, current.count_skipped)
            else:
                yield from portion_vectors(
                    documents,
                    batch_size,
                    current.count_skipped,
                    first_column=self._stock.first_column,
                    n_features=self.n_features,
                    feature_names=self.feature_names,
                )

    def _read_documents(self, current: Pass) -> Generator[Any, None, None]:
        read = self._stock.begin(self._part)
        for place in self._places:
            path, bad_rows = place.order.path, current.add_bad_rows(place.order)
            with (
                place.explain(),
                current.meter.measure(place.size),
                closing(read(path, bad_rows, current.meter)) as documents,
            ):
                yield from documents


@contextmanager
def open_supply(
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
) -> Iterator[Supply]:
    r"""Open documents to learn from, to be read in as many passes as it takes.

    Memory holds one batch of them, and what one document needs, one group of rows of a parquet
    file, or one file of a folder or archive. What is not told of the sources is guessed as
    `load_source` does it, from the first of them, and must hold for all.

    Parameters
    ----------
    sources : str, Path, or sequence of them
        A file, plain or compressed, a folder, a tar or zip archive, or ``-`` for standard input;
        or several files or folders of one format, which are read in the order given. Standard
        input and pipes are kept in a temporary file meanwhile.
    text, label, label_separator, format, encoding, under, bad_rows, n_features
        As `load_source` takes them. The number of features in svmlight is not known where it is
        not given.
    part : {'train', 'test'}, optional
        What to read of a collection that comes divided; the training part where it is not given.

    Yields
    ------
    supply : Supply
        The documents, and how the sources are understood.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tickets.csv")
    ...     _ = path.write_text("queue,body\ndisplay,Black\nparcel,Late\nparcel,Lost\n")
    ...     with open_supply(path) as supply:
    ...         for batch in supply.read_batches(batch_size=2):
    ...             print(batch.texts, batch.labels)
    ['Black', 'Late'] ['display', 'parcel']
    ['Lost'] ['parcel']
    """
    paths = _list_sources(sources)
    _check_part(part)
    for source in paths:
        check_choices(source, format, bad_rows)
    options = {
        "text": text,
        "label": label,
        "label_separator": label_separator,
        "encoding": encoding,
        "under": under,
        "bad_rows": bad_rows,
        "n_features": n_features,
    }
    with ExitStack() as stack:
        # What goes wrong in the body of the caller is no damage to a file, and stays outside.
        with explain_damage(paths[0]):
            first = stack.enter_context(open_source(paths[0], format))
            places = [Place(paths[0], place_order(first, format, **options))]
            places[0].order.check()
        for source in paths[1:]:
            with explain_damage(source):
                places.append(Place(source, place_order(Path(source), format, **options)))
        _require_one_format(places)
        with explain_damage(paths[0]):
            stock = SUPPLIERS[places[0].order.format]([place.order for place in places])
        _require_part(stock, part)
        by_content = explain_format(paths[0], format, places[0].order)
        yield _describe(places, stock, part or "train", by_content)


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


def _check_part(part: object) -> None:
    if part not in ("train", "test", None):
        raise ValueError(f"part must be 'train' or 'test'. Got {part!r} instead.")


def _require_one_format(places: list[Place]) -> None:
    first, *others = places
    for place in others:
        if place.order.format != first.order.format:
            problem = f"it is {place.order.format}, and {first.name} is {first.order.format}"
            raise CorpusError(place.order.path, f"{problem}; sources must be of one format")


def _require_part(stock: Stock, part: str | None) -> None:
    if part == "test" and not stock.has_test:
        raise ValueError("part must be left out where nothing is divided. Got 'test' instead.")


def _describe(places: list[Place], stock: Stock, part: str, by_content: str) -> Supply:
    order, more = places[0].order, len(places) - 1
    chosen = f"only the {'training' if part == 'train' else 'test'} part" if stock.has_test else ""
    return Supply(
        name=places[0].name + (f" and {more} more" if more else ""),
        read=describe_reading([*stock.read, chosen], stock.is_multilabel),
        guesses=tuple(filter(None, [by_content, *stock.guesses])),
        format=order.format,
        encoding=stock.encoding,
        text=stock.text,
        label=stock.label,
        is_text=stock.is_text,
        is_multilabel=stock.is_multilabel,
        has_test=stock.has_test,
        n_features=stock.n_features,
        feature_names=stock.feature_names,
        n_bytes=sum(place.size for place in places),
        _stock=stock,
        _part=part,
        _places=places,
        _passes=[Pass()],
    )
