"""Texts in the ARFF format: a string attribute beside a nominal class, as Weka's text sets are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from spokeshave.corpus.bad_rows import BadRows, MalformedRow
from spokeshave.corpus.documents import Texts
from spokeshave.corpus.relations import Lines, Relation, find_text, open_relation
from spokeshave.errors import CorpusError

_SPACES = {"n": "\n", "r": "\r", "t": "\t"}


def read_arff_texts(
    path: str | Path,
    *,
    target: str | None = None,
    encoding: str = "utf-8",
    bad_rows: str = "raise",
) -> Texts:
    r"""Read texts in the ARFF format; attributes that are neither text nor class are left out.

    Parameters
    ----------
    path : str or Path
        The file, as `read_arff` takes it, with one string attribute.
    target : str, optional
        The name of the class attribute, which is nominal; the last attribute where it is not
        given.
    encoding : str
        The encoding of the file.
    bad_rows : {'raise', 'skip'}
        Whether a malformed row is an error, or is left out and counted.

    Returns
    -------
    texts : Texts
        The documents.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> header = "@attribute story string\n@attribute class {0, 1}\n@data\n"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "corn.arff")
    ...     _ = path.write_text(f"{header}'Corn rose,\\nas did wheat.',1\n'Oil fell.',0\n")
    ...     read_arff_texts(path)
    Texts(texts=['Corn rose,\nas did wheat.', 'Oil fell.'], labels=['1', '0'], skipped=0)
    """
    troubles = BadRows(path, bad_rows)
    with open_relation(path, encoding) as (relation, lines):
        documents = list(stream_texts(relation, lines, relation.locate(target), troubles))
    troubles.require_documents(len(documents))
    texts, labels = [text for text, _ in documents], [label for _, label in documents]
    return Texts(texts, labels, troubles.skipped)


def stream_texts(
    relation: Relation, lines: Lines, target: int, bad_rows: BadRows
) -> Iterator[tuple[str, str]]:
    """Yield the text and the label of each row of an ARFF file.

    Parameters
    ----------
    relation : Relation
        What the header declares.
    lines : iterator of tuple
        The rows, as `open_relation` gives them.
    target : int
        The position of the class attribute.
    bad_rows : BadRows
        What becomes of malformed rows.

    Examples
    --------
    >>> from spokeshave.corpus.attributes import parse_attribute
    >>> attributes = map(parse_attribute, ["@attribute story string", "@attribute class {0, 1}"])
    >>> relation = Relation("corn.arff", tuple(attributes))
    >>> list(stream_texts(relation, iter([(4, "'Oil fell.',0")]), 1, BadRows("corn.arff", "raise")))
    [('Oil fell.', '0')]
    """
    text = find_text(relation, target)
    if text is None:
        problem = "it must have one string attribute and a nominal class"
        raise CorpusError(relation.path, problem)
    place = relation.attributes.index(text)
    for number, line in lines:
        try:
            cells = relation.split(_read_spaces(line))
            label = relation.attributes[target].read_label(cells.get(target))
            document = text.read_text(cells.get(place)), label
        except MalformedRow as problem:
            bad_rows.report(problem, number)
        else:
            yield document


def _read_spaces(line: str) -> str:
    r"""Put line ends and tabs where ``\n``, ``\r`` and ``\t`` stand for them."""
    return re.sub(r"\\(.)", lambda match: _SPACES.get(match[1], match[0]), line)
