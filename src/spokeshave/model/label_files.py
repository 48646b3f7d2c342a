"""Predictions for the rows of a file, written beside the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spokeshave.corpus.files import open_text, require_file, strip_compression
from spokeshave.corpus.formats import guess_format
from spokeshave.corpus.sinks import open_sink
from spokeshave.corpus.streams import Stream, open_stream
from spokeshave.errors import CorpusError, NoDocumentsError
from spokeshave.model.inputs import TextInput
from spokeshave.model.model import Model

if TYPE_CHECKING:
    from spokeshave.corpus.batches import Batch

SCORES = ("none", "best", "all")


@dataclass(frozen=True)
class Columns:
    """Which columns are wanted.

    Attributes
    ----------
    scores : {"none", "best", "all"}
        Whether there is a score of the class that is predicted, or one of every class.
    as_probability : bool
        Whether scores are probabilities.
    separator : str or None
        What is put between the labels of a document that may have several; a list without it.
    """

    scores: str = "none"
    as_probability: bool = False
    separator: str | None = None


def choose_columns(
    model: Model,
    scores: str = "none",
    separator: str | None = None,
    *,
    as_probability: bool = False,
) -> Columns:
    """Return the columns that are asked for; raise where a model has no such scores.

    Probabilities without a word on scores are those of the classes predicted.
    """
    if scores not in SCORES:
        listed = ", ".join(map(repr, SCORES))
        raise ValueError(f"scores must be one of {listed}. Got {scores!r} instead.")
    if as_probability and model.calibration_ is None:
        raise ValueError(
            "probability must be False, as the model has no probabilities. Got True instead."
        )
    scores = "best" if as_probability and scores == "none" else scores
    return Columns(scores, as_probability, separator)


def predict_columns(model: Model, documents: Any, wanted: Columns) -> dict[str, Any]:
    """Return the columns that a model adds to documents: labels, and scores where wanted.

    Parameters
    ----------
    model : Model
        The model.
    documents : list of str, or matrix
        The documents.
    wanted : Columns
        The columns.

    Returns
    -------
    columns : dict of str to list or ndarray
        ``label``; ``score`` of the class predicted, the highest of a multilabel model; or a
        ``score_`` of each class. Probabilities are called ``probability``.
    """
    scores = model.decision_function(documents)
    columns: dict[str, Any] = {"label": _list_labels(model, scores, wanted.separator)}
    if wanted.scores == "none":
        return columns
    name = "probability" if wanted.as_probability else "score"
    table = model.calibrate(scores) if wanted.as_probability else _spread(model, scores)
    if wanted.scores == "all":
        return columns | {
            f"{name}_{label}": table[:, k] for k, label in enumerate(model.classes_.tolist())
        }
    if model.multilabel_:
        return columns | {name: table.max(axis=1)}
    predicted = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
    return columns | {name: table[np.arange(len(table)), predicted]}


def _list_labels(model: Model, scores: NDArray[np.float64], separator: str | None) -> list[Any]:
    decided = model.decide(scores)
    if not model.multilabel_:
        labels: list[Any] = decided.tolist()
        return labels
    names = model.classes_.tolist()
    sets = [[names[k] for k in np.flatnonzero(row)] for row in decided]
    return sets if separator is None else [separator.join(map(str, labels)) for labels in sets]


def _spread(model: Model, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a score for each class, also where one tells two apart."""
    return np.column_stack([-scores, scores]) if model.is_binary_ else scores


PIPE = "-"
STREAMED = ("text", "csv", "tsv", "jsonl", "parquet")
VECTORS = ("svmlight", "arff")
WRITTEN = ("csv", "tsv", "jsonl", "parquet")
TEXT_ENDS = (".txt", ".text")
N_ROWS = 1_000  # of vectors, that are labelled at a time

Pairs: TypeAlias = "Iterator[tuple[Batch, Any]]"
Opened: TypeAlias = tuple[Stream, Pairs]


@dataclass(frozen=True)
class Labelling:
    """How documents are read, and what is written of them.

    Attributes
    ----------
    text : str, int or None
        The column of texts; that of the training documents, or one that is guessed, where None.
    format : {'text', 'csv', 'tsv', 'jsonl', 'parquet', 'svmlight', 'arff'} or None
        The format, where the name does not tell.
    encoding : str or None
        The encoding; UTF-8 where it is None.
    bad_rows : {'raise', 'skip'}
        Whether a malformed row is an error, or is left out and counted.
    to : {'csv', 'tsv', 'jsonl', 'parquet'} or None
        The format that is written, where the name does not tell and it is not that of the input.
    prefix : str
        What the names of the new columns begin with.
    columns : Columns
        The new columns.
    """

    text: str | int | None = None
    format: str | None = None
    encoding: str | None = None
    bad_rows: str = "raise"
    to: str | None = None
    prefix: str = "predicted_"
    columns: Columns = field(default_factory=Columns)

    def __post_init__(self) -> None:
        choices: dict[str, tuple[str | None, ...]] = {
            "format": (None, *STREAMED, *VECTORS),
            "to": (None, *WRITTEN),
            "bad_rows": ("raise", "skip"),
        }
        for name, known in choices.items():
            if getattr(self, name) not in known:
                listed = ", ".join(repr(choice) for choice in known if choice)
                raise ValueError(
                    f"{name} must be one of {listed}. Got {getattr(self, name)!r} instead."
                )


class Labelled(NamedTuple):
    """How many rows were written, and how many malformed ones were left out."""

    n_rows: int
    n_skipped: int


def label_file(
    model: Model,
    source: str,
    target: str | None,
    asked: Labelling,
    *,
    say: Callable[[str], None] = lambda reason: None,
    track: Callable[[Pairs], Pairs] = iter,
) -> Labelled:
    """Add the label of each document to a table of them, a few rows at a time.

    A table without rows becomes one without rows.

    Parameters
    ----------
    model : Model
        The model.
    source : str
        The file of documents, or '-' for standard input.
    target : str or None
        The file to write, whole or not at all; '-' or None is standard output.
    asked : Labelling
        How documents are read, and what is written of them.
    say : callable
        Is told which column was guessed to be that of the texts, and by what.
    track : callable
        Is given the batches of rows, each with its documents, and passes them on.

    Returns
    -------
    labelled : Labelled
    """
    asked = replace(asked, format=asked.format or find_format(source))
    open_documents = _open_texts if check_kind(model, source, str(asked.format)) else _open_vectors
    with (
        open_documents(model, source, asked, say) as (stream, pairs),
        open_sink(target, stream, format=asked.to, prefix=asked.prefix) as sink,
    ):
        for batch, documents in track(pairs):
            sink.write(batch, predict_columns(model, documents, asked.columns))
    return Labelled(sink.rows, stream.skipped)


def find_format(source: str) -> str:
    """Tell the format of a file of documents, by its name or else by what is in it.

    Examples
    --------
    >>> find_format("-"), find_format(__file__)
    ('text', 'csv')
    """
    if source == PIPE:
        return "text"
    require_file(source)
    return "text" if is_plain_text(source) else guess_format(source)


def is_plain_text(name: str) -> bool:
    """Tell whether a name is that of a file with a document on each line.

    Examples
    --------
    >>> is_plain_text("new.txt.gz"), is_plain_text("new.csv")
    (True, False)
    """
    return strip_compression(name).suffix.lower() in TEXT_ENDS


def check_kind(model: Model, source: str, format: str) -> bool:
    """Say whether a model reads texts, as the documents must be then; raise where they are not."""
    reads_text = isinstance(model.input, TextInput)
    if reads_text != (format in STREAMED):
        kinds = "texts" if reads_text else "vectors, as svmlight or arff"
        parameters = ["format"] if source == PIPE else []
        problem = f"the model reads {kinds}, and this is {format}"
        raise CorpusError(source, problem, parameters=parameters)
    return reads_text


@contextmanager
def _open_texts(
    model: Model, source: str, asked: Labelling, say: Callable[[str], None]
) -> Iterator[Opened]:
    column, has_header = _find_text(model, source, asked, say)
    with open_stream(
        source,
        format=str(asked.format),
        text=column,
        has_header=has_header,
        encoding=asked.encoding or "utf-8",
        bad_rows=asked.bad_rows,
    ) as stream:
        yield stream, ((batch, batch.texts) for batch in stream)


def _find_text(
    model: Model, source: str, asked: Labelling, say: Callable[[str], None]
) -> tuple[Any, bool]:
    """Return the column of texts and whether columns have names.

    It is the one that was told, that of the training documents, or one that is told by its name.
    """
    if asked.format == "text":
        return "text", True
    from spokeshave.corpus.column_names import check_column
    from spokeshave.corpus.columns import guess_columns, list_columns

    format, encoding = str(asked.format), asked.encoding or "utf-8"
    text, learned = asked.text, model.provenance.get("text_column")
    if source == PIPE:  # which cannot be looked at before it is read
        column = check_column(text if text is not None else learned)
        return ("text" if column is None else column), not isinstance(column, int)
    if format != "parquet" and _is_blank(source, encoding):
        return ("text", True) if format == "jsonl" else (0, False)
    try:
        if text is None and learned in list_columns(source, format, encoding):
            text = learned
        columns = guess_columns(source, format, encoding, text=check_column(text), labelled=False)
    except NoDocumentsError:  # there is a header alone, of which any column will do
        return 0, True
    if columns.reason and text is None:
        say(columns.reason)
    return columns.text, columns.has_header


def _is_blank(source: str, encoding: str) -> bool:
    """Tell whether there is nothing in a file, as there may be in a part of a collection."""
    if not Path(source).is_file():  # what is read of a pipe is gone
        return False
    with open_text(source, encoding) as stream:
        return not any(line.strip("\r\n") for line in stream)


@contextmanager
def _open_vectors(
    model: Any, source: str, asked: Labelling, say: Callable[[str], None]
) -> Iterator[Opened]:
    """Open vectors, which are read as a whole; their rows are known by their numbers."""
    from spokeshave.corpus.bad_rows import BadRows
    from spokeshave.corpus.batches import CellBatch
    from spokeshave.corpus.openings import find_name

    X, n_skipped = _load_vectors(model, source, asked)
    troubles = BadRows(find_name(source), asked.bad_rows)
    troubles.skipped = n_skipped
    stream = Stream(find_name(source), "csv", True, ("row",), iter(()), troubles)
    slices = [slice(start, start + N_ROWS) for start in range(0, max(X.shape[0], 1), N_ROWS)]
    numbers = list(range(1, X.shape[0] + 1))
    yield (
        stream,
        (
            (CellBatch(("row",), numbers[at], [], [[str(n)] for n in numbers[at]]), X[at])
            for at in slices
        ),
    )


def _load_vectors(model: Any, source: str, asked: Labelling) -> tuple[Any, int]:
    """Return vectors, and how many malformed rows were left out."""
    from spokeshave.corpus import Vectors, load_source

    is_svmlight, width = asked.format == "svmlight", model.input.n_features
    if is_svmlight and _is_blank(source, asked.encoding or "utf-8"):
        from scipy import sparse

        return sparse.csr_matrix((0, width)), 0
    documents = load_source(
        source,
        format=asked.format,
        encoding=asked.encoding,
        bad_rows=asked.bad_rows,
        n_features=width if is_svmlight else None,
    ).documents
    if not isinstance(documents, Vectors):
        raise ValueError(f"{source}: the model reads vectors, and these are texts")
    return documents.X, documents.skipped
