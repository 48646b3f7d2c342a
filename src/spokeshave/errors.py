"""Errors about files.

    ValueError
    ├── CorpusError          documents: names the file, the line if known, and the problem
    │   └── NoDocumentsError   a file without documents
    └── ModelFileError       a model: names the file and the problem

All other errors are the built-in exceptions that users of scikit-learn expect.
"""

from __future__ import annotations

from pathlib import Path


class CorpusError(ValueError):
    """A file of documents that cannot be read.

    Parameters
    ----------
    path : str or Path
        The file.
    problem : str
        What is wrong and what to do about it, as one sentence.
    line : int, optional
        The line number, from one.

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
    """A file without documents; one part of a collection may be such a file."""


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
