"""Find how few features a linear text classifier needs, without retraining it.

Names are loaded when they are first used: importing the package loads neither numba nor
scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spokeshave.corpus.vectorizer import DocumentVectorizer
    from spokeshave.errors import CorpusError
    from spokeshave.svm import DualLinearSVC
    from spokeshave.tuning import Tuning, tune_C

_HOMES = {
    "CorpusError": "errors",
    "DocumentVectorizer": "corpus.vectorizer",
    "DualLinearSVC": "svm",
    "Tuning": "tuning",
    "tune_C": "tuning",
}

__all__ = ["CorpusError", "DocumentVectorizer", "DualLinearSVC", "Tuning", "tune_C"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'spokeshave' has no attribute {name!r}")
    return getattr(import_module(f"spokeshave.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
