"""Exceptions with attributes.

    ValueError
    ├── CorpusError            a file of documents, with the line and the problem
    │   ├── NoDocumentsError   a file without documents
    │   └── EncodingError      a file in another encoding
    ├── ModelFileError         a model file, with the problem
    └── ParameterError         a parameter, with the problem

All other errors are built-in exceptions, as in scikit-learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class CorpusError(ValueError):
    """A file of documents that cannot be read.

    Parameters
    ----------
    path : str or Path
        The file.
    problem : str
        The problem and its remedy, as one sentence.
    line : int, optional
        The line, counted from one.
    parameters : sequence of str, default=()
        Names of the parameters that must be passed to read the file.

    Examples
    --------
    >>> print(CorpusError("tickets.csv", "there is no column 'body'", line=1))
    tickets.csv, line 1: there is no column 'body'
    """

    def __init__(
        self,
        path: str | Path,
        problem: str,
        line: int | None = None,
        parameters: Sequence[str] = (),
    ) -> None:
        self.path, self.problem, self.line = str(path), problem, line
        self.parameters = tuple(parameters)
        where = f"{path}, line {line}" if line is not None else str(path)
        super().__init__(f"{where}: {problem}")

    def __reduce__(self) -> tuple[type, tuple[str, str, int | None, tuple[str, ...]]]:
        return type(self), (self.path, self.problem, self.line, self.parameters)


class NoDocumentsError(CorpusError):
    """A file without documents; as a part of a collection it is allowed."""


class EncodingError(CorpusError):
    """A file of documents in another encoding than it was read with."""


class ModelFileError(ValueError):
    """A model file that cannot be read.

    Parameters
    ----------
    path : str or Path
        The file.
    problem : str
        The problem and its remedy, as one sentence.

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


class ParameterError(ValueError):
    """A parameter with a value that cannot be used.

    The name of the parameter is an attribute, so that the command line can name its option instead.

    Parameters
    ----------
    parameter : str
        The name of the parameter.
    problem : str
        The rest of the sentence: the expectation, and the value that was passed.

    Examples
    --------
    >>> print(ParameterError("hold_out", "must be below 1. Got 2 instead."))
    hold_out must be below 1. Got 2 instead.
    """

    def __init__(self, parameter: str, problem: str) -> None:
        self.parameter, self.problem = parameter, problem
        super().__init__(f"{parameter} {problem}")

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.parameter, self.problem)
