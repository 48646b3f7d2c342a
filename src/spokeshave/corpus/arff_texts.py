"""Texts in the ARFF format: a string attribute beside a nominal class, as Weka's text sets are."""

from __future__ import annotations

import re
from pathlib import Path

from spokeshave.corpus.bad_rows import BadRows, MalformedRow
from spokeshave.corpus.documents import Texts
from spokeshave.corpus.relations import find_text, open_relation
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
    texts: list[str] = []
    labels: list[str] = []
    with open_relation(path, encoding) as (relation, lines):
        place = relation.locate(target)
        text = find_text(relation, place)
        if text is None:
            raise CorpusError(path, "it must have one string attribute and a nominal class")
        text_place = relation.attributes.index(text)
        for number, line in lines:
            try:
                cells = relation.split(_read_spaces(line))
                label = relation.attributes[place].read_label(cells.get(place))
                texts.append(text.read_text(cells.get(text_place)))
            except MalformedRow as problem:
                troubles.report(problem, number)
            else:
                labels.append(label)
    troubles.require_documents(len(texts))
    return Texts(texts, labels, troubles.skipped)


def _read_spaces(line: str) -> str:
    r"""Put line ends and tabs where ``\n``, ``\r`` and ``\t`` stand for them."""
    return re.sub(r"\\(.)", lambda match: _SPACES.get(match[1], match[0]), line)
