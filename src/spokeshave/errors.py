"""What goes wrong with a file.

    ValueError
    ├── CorpusError          of documents: the file, the line where there is one, and the problem
    │   └── NoDocumentsError   of a file that has none
    └── ModelFileError       of a model: names the file and the problem

Everything else raises the built-in exceptions scikit-learn's users expect.
"""

from __future__ import annotations

from pathlib import Path


class CorpusError(ValueError):
    """A file of documents that cannot be read as asked.

    Parameters
    ----------
    path : str or Path
        The file.
    problem : str
        What is wrong and what to do about it, as one sentence.
    line : int, optional
        The line, counted from one.

    Examples
    --------
    >>> print(CorpusError("tickets.csv", "there is no column 'body'", line=1))
    tickets.csv, line 1: there is no column 'body'
    """

    def __init__(self, path: str | Path, problem: str, line: int | None = None) -> None:
        self.path, self.problem, self.line = str(path), problem, line
        where = f"{path}, line {line}" if line is not None else str(path)
        super().__init__(f"{where}: {problem}")

    def __reduce__(self) -> tuple[type, tuple[str, str, int | None]]:
        return type(self), (self.path, self.problem, self.line)


class NoDocumentsError(CorpusError):
    """A file of documents that has none; a part of a collection may be so."""


class ModelFileError(ValueError):
    """A model file that cannot be read.

    Parameters
    ----------
    path : str or Path
        The file.
    problem : str
        What is wrong and what to do about it, as one sentence.

    Examples
    --------
    >>> print(ModelFileError("tickets.model", "there is no such file"))
    tickets.model: there is no such file
    """

    def __init__(self, path: str | Path, problem: str) -> None:
        self.path, self.problem = str(path), problem
        super().__init__(f"{path}: {problem}")

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.path, self.problem)
