"""Problems of TechTC-100: two classes of the Open Directory, as bags of words."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from spokeshave import CorpusError
from spokeshave.corpus import Vectors, read_svmlight
from spokeshave.corpus.files import open_text
from spokeshave.corpus.options import quote

_NUMBER = re.compile(r"[0-9]{1,9}")


def read_techtc(folder: str | Path) -> Vectors:
    r"""Read a problem of TechTC-100 (Davidov, Gabrilovich and Markovitch, 2004).

    Parameters
    ----------
    folder : str or Path
        The folder of the problem, such as ``Exp_1092_1110``: ``vectors.dat`` has the documents in
        svmlight format, and ``features.idx`` one line per word with its number, from 1, and the
        word. ``#`` starts a comment.

    Returns
    -------
    vectors : Vectors
        The counts, the labels as in the file, and the words.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "vectors.dat").write_text("1 1:2 2:1\n-1 2:3\n")
    ...     _ = Path(folder, "features.idx").write_text("# words\n1 oak\n2 ash\n")
    ...     problem = read_techtc(folder)
    >>> problem.labels, problem.feature_names
    (['1', '-1'], ('oak', 'ash'))
    """
    folder = Path(folder)
    words = _read_words(folder / "features.idx")
    vectors = read_svmlight(folder / "vectors.dat", n_features=len(words))
    return replace(vectors, feature_names=words)


def _read_words(path: Path) -> tuple[str, ...]:
    """Return the words in the order of their numbers."""
    words: dict[int, str] = {}
    with open_text(path, "latin-1") as stream:
        for line, content in enumerate(stream, 1):
            fields = content.partition("#")[0].split()
            if not fields:
                continue
            if len(fields) != 2 or not _NUMBER.fullmatch(fields[0]):
                problem = (
                    f"each line must be a number and a word. Got {quote(content.strip())} instead."
                )
                raise CorpusError(path, problem, line)
            if int(fields[0]) in words:
                raise CorpusError(path, f"two words have the number {fields[0]}", line)
            words[int(fields[0])] = fields[1]
    if not words or sorted(words) != list(range(1, len(words) + 1)):
        raise CorpusError(path, "the words must be numbered from 1, without gaps")
    return tuple(words[number] for number in sorted(words))
