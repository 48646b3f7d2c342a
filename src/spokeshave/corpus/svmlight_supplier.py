"""Vectors in the svmlight format that are to be read again and again."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path

from spokeshave.corpus.bad_rows import BadRows
from spokeshave.corpus.encodings import USUAL
from spokeshave.corpus.loaders import describe_svmlight
from spokeshave.corpus.meters import Meter
from spokeshave.corpus.orders import Order
from spokeshave.corpus.portions import Vector
from spokeshave.corpus.stocks import Reader, Stock, find_first
from spokeshave.corpus.svmlight import check_n_features, find_label_counts, stream_svmlight


def stock_svmlight(orders: Sequence[Order]) -> Stock:
    r"""Find vectors, with one label each unless there is one that has several.

    A first look goes through the labels of all files, up to the first line with several.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "topics.svm")
    ...     _ = path.write_text("wheat 1:0.5\ncorn 2:1\n")
    ...     stock_svmlight([Order(path, "svmlight")]).is_multilabel
    False
    """
    n_features = orders[0].n_features
    check_n_features(n_features)
    counts = {
        count for order in orders for count in find_label_counts(order.path, n_features=n_features)
    }
    is_multilabel = 2 in counts
    read = _make_reader(n_features, is_multilabel=is_multilabel, is_strict=0 in counts)
    if not is_multilabel and 0 in counts and orders[0].bad_rows == "raise":
        # As where all is loaded, a missing label comes last of what may be wrong.
        _read_through(orders, _make_reader(n_features, is_multilabel=True, is_strict=False))
        _read_through(orders, read)
    find_first(orders[0], read)
    return Stock(
        lambda part: read,
        read=describe_svmlight(is_multilabel),
        guesses=[],
        encoding=USUAL,
        is_text=False,
        is_multilabel=is_multilabel,
        first_column=1,
        n_features=n_features,
    )


def _make_reader(n_features: int | None, *, is_multilabel: bool, is_strict: bool) -> Reader:
    """Return what reads a file; without its label a line is malformed where that is strict."""

    def read(path: Path, bad_rows: BadRows, meter: Meter) -> Generator[Vector, None, None]:
        rows = stream_svmlight(
            path,
            bad_rows,
            n_features=n_features,
            multilabel=is_multilabel or not is_strict,
            meter=meter,
        )
        if is_multilabel or is_strict:
            return rows
        return ((labels[0], indices, values) for labels, indices, values in rows)

    return read


def _read_through(orders: Sequence[Order], read: Reader) -> None:
    for order in orders:
        for _ in read(order.path, order.make_bad_rows(), Meter()):
            pass
