"""ARFF files that are to be read again and again: sparse vectors, or texts."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spokeshave.corpus.arff import RowEncoder
from spokeshave.corpus.arff_loader import Found, check_width, look_at_header
from spokeshave.corpus.arff_texts import stream_texts
from spokeshave.corpus.bad_rows import BadRows
from spokeshave.corpus.encodings import read_decoded
from spokeshave.corpus.files import open_text
from spokeshave.corpus.meters import Meter
from spokeshave.corpus.orders import Order
from spokeshave.corpus.relations import MEMBER_SUFFIX, open_relation
from spokeshave.corpus.stocks import Stock, find_first
from spokeshave.errors import CorpusError

_CHARACTERS_AT_A_TIME = 2**18


def stock_arff(orders: Sequence[Order]) -> Stock:
    r"""Find texts where the only string stands beside a nominal class, otherwise sparse vectors.

    Where no encoding is given, a first look decodes all files: they are in UTF-8 if every one of
    them can be, otherwise in Latin-1. Another one goes through the rows up to the first sparse
    one.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "corn.arff")
    ...     _ = path.write_text("@attribute story string\n@attribute corn {0, 1}\n@data\nOil,0")
    ...     stock_arff([Order(path, "arff")]).read
    ['arff', "text from attribute 'story' (guessed)", "label from attribute 'corn' (guessed)"]
    """
    order = orders[0]
    encoding = order.encoding or read_decoded(lambda name: _decode(orders, name), None)[1]
    reader, names = _look(order, encoding)
    for other in orders[1:]:
        if _look(other, encoding) != (reader, names):
            problem = f"its attributes are not those of {order.path.name}"
            raise CorpusError(other.path, problem)
    check_width(order, None if names is None else len(names))
    find_first(order, reader)
    if names is not None and not any(reader.has_sparse(order.path) for order in orders):
        problem = "its rows are dense, and only texts and sparse vectors are read bit by bit"
        raise CorpusError(order.path, problem)
    found = reader.found
    read, guesses = found.describe(order, encoding)
    return Stock(
        lambda part: reader,
        read,
        guesses,
        encoding,
        text=found.text,
        label=found.target.name,
        is_text=names is None,
        n_features=None if names is None else len(names),
        feature_names=names,
    )


@dataclass(frozen=True)
class _ArffReader:
    """Reads one file after the other."""

    found: Found
    encoding: str

    def __call__(self, path: Path, bad_rows: BadRows, meter: Meter) -> Generator[Any, None, None]:
        with open_relation(path, self.encoding, meter) as (relation, lines):
            target = relation.locate(self.found.target_name)
            if self.found.text is None:
                yield from RowEncoder(relation, target).read(lines, bad_rows)
            else:
                yield from stream_texts(relation, lines, target, bad_rows)

    def has_sparse(self, path: Path) -> bool:
        """Tell whether there is a sparse row."""
        with open_relation(path, self.encoding) as (relation, lines):
            encoder = RowEncoder(relation, relation.locate(self.found.target_name))
            sparse = ((number, line) for number, line in lines if line.startswith("{"))
            return next(encoder.read(sparse, BadRows(path, "skip")), None) is not None


def _look(order: Order, encoding: str) -> tuple[_ArffReader, tuple[str, ...] | None]:
    """Return what reads a file, and the names of its features unless it holds texts."""
    with open_relation(order.path, encoding) as (relation, _):
        found = look_at_header(relation, order)
        reader = _ArffReader(found, encoding)
        if found.text is not None:
            return reader, None
        return reader, RowEncoder(relation, relation.locate(found.target_name)).feature_names


def _decode(orders: Sequence[Order], encoding: str) -> None:
    for order in orders:
        with open_text(order.path, encoding, member_suffix=MEMBER_SUFFIX) as stream:
            while stream.read(_CHARACTERS_AT_A_TIME):
                pass
