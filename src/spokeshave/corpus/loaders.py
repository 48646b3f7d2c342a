"""What loads the documents of each format to learn from, with a word on what was guessed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from spokeshave.corpus.arff_loader import load_arff
from spokeshave.corpus.column_names import show_column
from spokeshave.corpus.columns import Columns, guess_columns
from spokeshave.corpus.documents import Vectors
from spokeshave.corpus.encodings import OLD, USUAL
from spokeshave.corpus.folder_loader import load_folders
from spokeshave.corpus.orders import TABLES, Delivery, Order, mark
from spokeshave.corpus.reuters import read_reuters
from spokeshave.corpus.svmlight import read_svmlight
from spokeshave.corpus.tables import load_texts
from spokeshave.errors import CorpusError


def load_table(order: Order) -> Delivery:
    r"""Read a table, with the columns of texts and labels guessed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tickets.csv")
    ...     _ = path.write_text("queue,body\ndisplay,Black\nparcel,Late\n")
    ...     load_table(Order(path, "csv", text="body")).read
    ['csv', "text from column 'body'", "label from column 'queue' (guessed)"]
    """
    encoding = order.encoding or USUAL
    columns = guess_columns(order.path, order.format, encoding, text=order.text, label=order.label)
    texts = load_texts(
        order.path,
        text=columns.text,
        label=columns.label,
        label_separator=order.label_separator,
        format=order.format,
        encoding=encoding,
        bad_rows=order.bad_rows,
    )
    read = describe_table(order, columns)
    return Delivery(texts, read, [columns.reason], encoding, columns.text, columns.label)


def describe_table(order: Order, columns: Columns) -> list[str]:
    """Say how a table is read.

    Examples
    --------
    >>> from pathlib import Path
    >>> order = Order(Path("tickets.csv"), "csv", text="body")
    >>> describe_table(order, Columns("body", "queue", has_header=True, reason=""))
    ['csv', "text from column 'body'", "label from column 'queue' (guessed)"]
    """
    return [
        order.format if columns.has_header else f"{order.format} without a header",
        f"text from {show_column(columns.text)}{mark(order.text is None)}",
        f"label from {show_column(columns.label)}{mark(order.label is None)}",
    ]


def load_svmlight(order: Order) -> Delivery:
    r"""Read vectors, with one label each unless there is one that has several.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "topics.svm")
    ...     _ = path.write_text("wheat 1:0.5\ncorn 2:1\n")
    ...     load_svmlight(Order(path, "svmlight")).documents.labels
    ['wheat', 'corn']
    """
    vectors = _read_svmlight(order, multilabel=True)
    if any(len(labels) > 1 for labels in vectors.labels):
        return Delivery(vectors, describe_svmlight(is_multilabel=True), [], USUAL)
    # Without its label, a line is malformed in a file that gives every document one.
    has_all = all(vectors.labels)
    vectors = _take_single(vectors) if has_all else _read_svmlight(order, multilabel=False)
    return Delivery(vectors, describe_svmlight(is_multilabel=False), [], USUAL)


def describe_svmlight(is_multilabel: bool) -> list[str]:
    """Say how a file in the svmlight format is read.

    Examples
    --------
    >>> describe_svmlight(is_multilabel=False)
    ['svmlight', 'one label per document']
    """
    return ["svmlight", "" if is_multilabel else "one label per document"]


def load_reuters(order: Order) -> Delivery:
    """Read Reuters-21578, divided where there are stories to test on.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> story = '<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="1"><TEXT>Oil</TEXT></REUTERS>'
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "reut2-000.sgm").write_text(story)
    ...     load_reuters(Order(Path(folder), "reuters")).read
    ['reuters', 'training stories only']
    """
    split = read_reuters(order.path)
    if not len(split.train):
        raise CorpusError(order.path, "there are no training stories in it")
    documents = split if len(split.test) else split.train
    return Delivery(documents, describe_stories(bool(len(split.test))), [], OLD)


def describe_stories(has_test: bool) -> list[str]:
    """Say how Reuters-21578 is read.

    Examples
    --------
    >>> describe_stories(has_test=True)
    ['reuters', 'the ModApte split']
    """
    return ["reuters", "the ModApte split" if has_test else "training stories only"]


LOADERS: dict[str, Callable[[Order], Delivery]] = {
    **dict.fromkeys(TABLES, load_table),
    "svmlight": load_svmlight,
    "arff": load_arff,
    "folders": load_folders,
    "reuters": load_reuters,
}


def _read_svmlight(order: Order, *, multilabel: bool) -> Vectors:
    return read_svmlight(
        order.path, n_features=order.n_features, multilabel=multilabel, bad_rows=order.bad_rows
    )


def _take_single(vectors: Vectors) -> Vectors:
    return replace(vectors, labels=[labels[0] for labels in vectors.labels])
