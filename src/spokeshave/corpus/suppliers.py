"""What finds the documents of each format in sources that are to be read again and again."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from spokeshave.corpus.arff_supplier import stock_arff
from spokeshave.corpus.bad_rows import BadRows
from spokeshave.corpus.columns import Columns, guess_columns
from spokeshave.corpus.encodings import USUAL
from spokeshave.corpus.files import require_file
from spokeshave.corpus.folder_supplier import stock_folders
from spokeshave.corpus.labels import LabelParser
from spokeshave.corpus.loaders import describe_table
from spokeshave.corpus.meters import Meter
from spokeshave.corpus.orders import TABLES, Order
from spokeshave.corpus.portions import Text
from spokeshave.corpus.reuters_supplier import stock_reuters
from spokeshave.corpus.rows import Table
from spokeshave.corpus.stocks import Reader, Stock, find_first
from spokeshave.corpus.svmlight_supplier import stock_svmlight
from spokeshave.corpus.tables import read_documents


def stock_tables(orders: Sequence[Order]) -> Stock:
    r"""Find the texts of tables, whose columns are guessed from the first.

    Whether there are several labels per document is decided by the first document.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tickets.csv")
    ...     _ = path.write_text("queue,body\ndisplay,Black\nparcel,Late\n")
    ...     stock_tables([Order(path, "csv", text="body")]).read
    ['csv', "text from column 'body'", "label from column 'queue' (guessed)"]
    """
    order = orders[0]
    encoding = order.encoding or USUAL
    columns = guess_columns(order.path, order.format, encoding, text=order.text, label=order.label)

    def begin(part: str) -> Reader:
        return _TableReader(order, columns, encoding)

    return Stock(
        begin,
        read=describe_table(order, columns),
        guesses=[columns.reason],
        encoding=encoding,
        text=columns.text,
        label=columns.label,
        is_multilabel=_look_at_tables(orders, begin("train")),
    )


SUPPLIERS: dict[str, Callable[[Sequence[Order]], Stock]] = {
    **dict.fromkeys(TABLES, stock_tables),
    "svmlight": stock_svmlight,
    "arff": stock_arff,
    "folders": stock_folders,
    "reuters": stock_reuters,
}


class _TableReader:
    """Reads one table after the other, with labels of one kind in all of them."""

    def __init__(self, order: Order, columns: Columns, encoding: str) -> None:
        self._format, self._columns, self._encoding = order.format, columns, encoding
        self._parser = LabelParser(order.label_separator)

    def __call__(self, path: Path, bad_rows: BadRows, meter: Meter) -> Generator[Text, None, None]:
        require_file(path)
        text, label = self._columns.text, self._columns.label
        table = Table(path, text, label, self._encoding, bad_rows, meter)
        return read_documents(table, self._format, self._parser)


def _look_at_tables(orders: Sequence[Order], read: Reader) -> bool:
    """Tell whether labels are tuples; raise where a table lacks a column or the first is empty."""
    firsts = [find_first(order, read, is_needed=order is orders[0]) for order in orders]
    return isinstance(firsts[0][1], tuple)
