"""load_source: all documents of a source in memory, whatever its format."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from spokeshave.corpus.documents import Documents, Split, Texts
from spokeshave.corpus.files import explain_damage
from spokeshave.corpus.options import Column
from spokeshave.corpus.stream import (
    SourceDescription,
    describe_sources,
    make_stream,
    open_files,
)


@dataclass(frozen=True)
class Source(SourceDescription):
    """Labelled documents, and how their source was read.

    Attributes
    ----------
    documents : Texts, Vectors or Split
        The documents; a Split if the collection is divided.
    problems : Counter of str
        The number of malformed rows that were skipped for each problem.
    name, read, guesses, format, encoding, text, label, is_multilabel
        As in `SourceDescription`.
    """

    documents: Documents
    problems: Counter[str] = field(default_factory=Counter)


def load_source(
    source: str | Path,
    *,
    text: Column | None = None,
    label: Column | None = None,
    label_separator: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    under: str | None = None,
    bad_rows: str = "raise",
    n_features: int | None = None,
) -> Source:
    r"""Read all labelled documents of a source; options that are not given are guessed.

    Parameters
    ----------
    source : str or Path
        A file, plain or compressed, a folder, a tar or zip archive, or ``-`` for standard input.
    text, label : str or int, optional
        The columns of texts and labels in a table: names, or positions from 0. In arff, `label`
        is the class attribute; if it is nominal and there is one string, that is the text.
    label_separator : str, optional
        The separator of labels in the cells of a multilabel table; each label is then a tuple.
    format : {'csv', 'tsv', 'jsonl', 'parquet', 'svmlight', 'arff', 'folders', 'reuters'}, optional
        The format; by default inferred from the name, or else the content.
    encoding : str, optional
        The encoding; by default UTF-8, or Latin-1 for folders and arff that are not UTF-8.
    under : str, optional
        The folder inside a source of folders that contains the folders of classes. By default two
        folders that end in 'train' and 'test' are the two parts of a Split.
    bad_rows : {'raise', 'skip'}
        Whether a malformed row is an error, or is skipped and counted.
    n_features : int, optional
        The number of features: in svmlight by default the largest index, in arff the number that
        the attributes must have.

    Returns
    -------
    source : Source
        The documents, and how the source was read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tickets.csv")
    ...     _ = path.write_text("id,queue,body\n1,display,Black\n2,parcel,Late\n")
    ...     source = load_source(path, text="body")
    >>> source.documents.labels
    ['display', 'parcel']
    >>> source.read
    "csv, text from column 'body', label from column 'queue' (guessed)"
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
    with (
        explain_damage(source),
        open_files([source], format, options, in_memory=True) as (files, reader),
    ):
        stream = make_stream(files, reader, format)
        documents: Documents = stream.read_all("train")
        problems = stream.problems
        if reader.has_test and isinstance(documents, Texts):
            test = stream.read_all("test")
            assert isinstance(test, Texts)
            documents = Split(documents, test)
        about = describe_sources(files, reader, format)
        return Source(**about, documents=documents, problems=problems)
