"""Files of documents labelled by a model: the rows of a table, with columns of predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spokeshave.corpus.encoding import UTF_8
from spokeshave.corpus.files import open_text, require_file, strip_compression
from spokeshave.corpus.formats.columns import guess_columns, list_columns
from spokeshave.corpus.open import name_source
from spokeshave.corpus.options import TABLES, check_column
from spokeshave.corpus.rewrite.row_reader import CellBatch, RowBatch, RowReader, open_row_reader
from spokeshave.corpus.rewrite.row_writer import open_row_writer
from spokeshave.corpus.sniff import guess_format
from spokeshave.corpus.stdin import STDIN
from spokeshave.errors import CorpusError, NoDocumentsError
from spokeshave.model.inputs import TextInput
from spokeshave.model.model import Model, calibrate, decide, map_scores

STREAMED = ("text", *TABLES)
VECTORS = ("svmlight", "arff")
WRITTEN = TABLES
SCORES = ("none", "best", "all")
TEXT_SUFFIXES = (".txt", ".text")

Pairs: TypeAlias = "Iterator[tuple[RowBatch, Any]]"
Opened: TypeAlias = tuple[RowReader, Pairs]


@dataclass(frozen=True)
class PredictedColumns:
    """The columns to predict.

    Attributes
    ----------
    scores : {"none", "best", "all"}
        Whether there is a score of the predicted class, or of every class.
    as_probability : bool
        Whether scores are probabilities.
    separator : str or None
        The separator of the labels of a multilabel document; None gives a list.
    """

    scores: str = "none"
    as_probability: bool = False
    separator: str | None = None


@dataclass(frozen=True)
class Labelling:
    """How documents are read, and what is written.

    Attributes
    ----------
    text : str, int or None
        The column of texts; by default that of the training documents, or a guess.
    format : {'text', 'csv', 'tsv', 'jsonl', 'parquet', 'svmlight', 'arff'} or None
        The format; by default inferred from the name.
    encoding : str or None
        The encoding; by default UTF-8.
    bad_rows : {'raise', 'skip'}
        Whether a malformed row is an error, or is skipped and counted.
    to : {'csv', 'tsv', 'jsonl', 'parquet'} or None
        The format to write; by default inferred from the name, or that of the input.
    prefix : str
        The prefix of the names of the new columns.
    columns : PredictedColumns
        The new columns.
    """

    text: str | int | None = None
    format: str | None = None
    encoding: str | None = None
    bad_rows: str = "raise"
    to: str | None = None
    prefix: str = "predicted_"
    columns: PredictedColumns = field(default_factory=PredictedColumns)

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
    """The number of rows written, and of malformed rows skipped."""

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
    """Add the predicted label of each document to a table, in batches.

    A table without rows becomes a table without rows.

    Parameters
    ----------
    model : Model
        The model.
    source : str
        The file of documents, or '-' for standard input.
    target : str or None
        The file to write, atomically; '-' or None is standard output.
    asked : Labelling
        How documents are read, and what is written.
    say : callable
        Takes the guess of the column of texts and its reason.
    track : callable
        Takes an iterator over the batches of rows, each with its documents, and returns one, for
        example to show progress.

    Returns
    -------
    labelled : Labelled
    """
    asked = replace(asked, format=asked.format or find_format(source))
    open_documents = _open_texts if check_kind(model, source, str(asked.format)) else _open_vectors
    with (
        open_documents(model, source, asked, say) as (reader, pairs),
        open_row_writer(target, reader, format=asked.to, prefix=asked.prefix) as writer,
    ):
        for batch, documents in track(pairs):
            writer.write(batch, predict_columns(model, documents, asked.columns))
    return Labelled(writer.n_rows, reader.skipped)


def choose_columns(
    model: Model,
    scores: str = "none",
    label_separator: str | None = None,
    *,
    probability: bool = False,
) -> PredictedColumns:
    """Return the columns to predict; raise if the model has no probabilities.

    If probabilities are wanted but no scores, they are those of the predicted classes.
    """
    if scores not in SCORES:
        listed = ", ".join(map(repr, SCORES))
        raise ValueError(f"scores must be one of {listed}. Got {scores!r} instead.")
    if probability and model.calibration_ is None:
        raise ValueError(
            "probability must be False, as the model has no probabilities. Got True instead."
        )
    scores = "best" if probability and scores == "none" else scores
    return PredictedColumns(scores, probability, label_separator)


def predict_columns(model: Model, documents: Any, wanted: PredictedColumns) -> dict[str, Any]:
    """Return the predicted labels of documents, and their scores if wanted.

    Parameters
    ----------
    model : Model
        The model.
    documents : list of str, or matrix
        The documents.
    wanted : PredictedColumns
        The columns.

    Returns
    -------
    columns : dict of str to list or ndarray
        ``label``; ``score`` of the predicted class, the highest of a multilabel model; or a
        ``score_`` of each class. Probabilities are called ``probability``.
    """
    parts = map_scores(model, documents, lambda scores: _make_columns(model, scores, wanted))
    return {name: _join([part[name] for part in parts]) for name in parts[0]}


def _join(parts: list[Any]) -> Any:
    """Return the parts of a column, which are lists or arrays, as one."""
    return list(chain(*parts)) if isinstance(parts[0], list) else np.concatenate(parts)


def _make_columns(
    model: Model, scores: NDArray[np.float64], wanted: PredictedColumns
) -> dict[str, Any]:
    """Return the columns of `predict_columns` for documents with these scores."""
    columns: dict[str, Any] = {"label": _list_labels(model, scores, wanted.separator)}
    if wanted.scores == "none":
        return columns
    name = "probability" if wanted.as_probability else "score"
    table = calibrate(model, scores) if wanted.as_probability else _score_classes(model, scores)
    if wanted.scores == "all":
        return columns | {
            f"{name}_{label}": table[:, k] for k, label in enumerate(model.classes_.tolist())
        }
    if model.multilabel_:
        return columns | {name: table.max(axis=1)}
    predicted = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
    return columns | {name: table[np.arange(len(table)), predicted]}


def find_format(source: str) -> str:
    """Return the format of a file of documents, by its name or else by its content.

    Examples
    --------
    >>> find_format("-"), find_format(__file__)
    ('text', 'csv')
    """
    if source == STDIN:
        return "text"
    require_file(source)
    return "text" if is_plain_text(source) else guess_format(source)


def is_plain_text(name: str) -> bool:
    """Return whether a file has one document on each line, by its name."""
    return strip_compression(name).suffix.lower() in TEXT_SUFFIXES


def check_kind(model: Model, source: str, format: str) -> bool:
    """Return whether a model reads texts; raise if the documents are of the other kind."""
    reads_text = isinstance(model.input, TextInput)
    if reads_text != (format in STREAMED):
        kinds = "texts" if reads_text else "vectors, as svmlight or arff"
        parameters = ["format"] if source == STDIN else []
        problem = f"the model reads {kinds}, and this is {format}"
        raise CorpusError(source, problem, parameters=parameters)
    return reads_text


def _list_labels(model: Model, scores: NDArray[np.float64], separator: str | None) -> list[Any]:
    decided = decide(model, scores)
    if not model.multilabel_:
        labels: list[Any] = decided.tolist()
        return labels
    names = model.classes_.tolist()
    sets = [[names[k] for k in np.flatnonzero(row)] for row in decided]
    return sets if separator is None else [separator.join(map(str, labels)) for labels in sets]


def _score_classes(model: Model, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a score for each class; a binary model has one score for two classes."""
    return np.column_stack([-scores, scores]) if model.is_binary_ else scores


@contextmanager
def _open_texts(
    model: Model, source: str, asked: Labelling, say: Callable[[str], None]
) -> Iterator[Opened]:
    column, has_header = _find_text(model, source, asked, say)
    with open_row_reader(
        source,
        format=str(asked.format),
        text=column,
        has_header=has_header,
        encoding=asked.encoding or UTF_8,
        bad_rows=asked.bad_rows,
    ) as reader:
        yield reader, ((batch, batch.texts) for batch in reader)


def _find_text(
    model: Model, source: str, asked: Labelling, say: Callable[[str], None]
) -> tuple[Any, bool]:
    """Return the column of texts and whether columns have names.

    It is the given one, that of the training documents, or a guess.
    """
    if asked.format == "text":
        return "text", True
    format, encoding = str(asked.format), asked.encoding or UTF_8
    text, learned = asked.text, model.provenance.get("text_column")
    if source == STDIN:  # which cannot be looked at before it is read
        column = check_column(text if text is not None else learned)
        return ("text" if column is None else column), not isinstance(column, int)
    if format != "parquet" and _is_blank(source, encoding):
        return ("text", True) if format == "jsonl" else (0, False)
    try:
        if text is None and learned in list_columns(source, format, encoding):
            text = learned
        columns = guess_columns(source, format, encoding, text=check_column(text), labelled=False)
    except NoDocumentsError:  # there is only a header, of which any column will do
        return 0, True
    if columns.reason and text is None:
        say(columns.reason)
    return columns.text, columns.has_header


def _is_blank(source: str, encoding: str) -> bool:
    """Return whether a file is empty, as a part of a collection may be."""
    if not Path(source).is_file():  # the part of a pipe that is looked at is lost
        return False
    with open_text(source, encoding) as stream:
        return not any(line.strip("\r\n") for line in stream)


@contextmanager
def _open_vectors(
    model: Any, source: str, asked: Labelling, say: Callable[[str], None]
) -> Iterator[Opened]:
    """Open vectors, whose rows are identified by their numbers."""
    name, columns = name_source(source), ("row",)
    is_svmlight, width = asked.format == "svmlight", model.input.n_features
    if is_svmlight and _is_blank(source, asked.encoding or UTF_8):
        from scipy.sparse import csr_matrix

        empty = CellBatch(columns, [], [], [])
        yield (
            RowReader(name, "csv", True, columns, iter(()), int),
            iter([(empty, csr_matrix((0, width)))]),
        )
        return
    from spokeshave.corpus.stream import open_stream  # tables and texts do not need it

    with open_stream(
        source,
        format=asked.format,
        encoding=asked.encoding,
        bad_rows=asked.bad_rows,
        n_features=width if is_svmlight else None,
        allow_dense=True,
    ) as stream:
        if stream.is_text:
            raise ValueError(f"{source}: the model reads vectors, and these are texts")
        counter = count(1)

        def read_pairs() -> Pairs:
            for batch in stream.read_batches():
                numbers = [next(counter) for _ in batch.labels or ()]
                rows = [[str(number)] for number in numbers]
                yield CellBatch(columns, numbers, [], rows), batch.X  # type: ignore[union-attr]

        reader = RowReader(name, "csv", True, columns, iter(()), lambda: stream.skipped)
        yield reader, read_pairs()
