"""Kernels made ready before anything is timed."""

from __future__ import annotations

from pathlib import Path


def describe_preparation() -> str:
    """Say what `prepare_kernels` will have to do: compile, on a first run, or load."""
    from spokeshave.kernels.descent import polish

    is_compiled = any(Path(polish.stats.cache_path).glob("descent.polish-*.nbi"))
    return "loading kernels" if is_compiled else "compiling kernels (first run only)"


def prepare_kernels() -> None:
    """Compile what a fit on text needs, or load it from the cache of an earlier run."""
    from spokeshave import DocumentVectorizer, DualLinearSVC

    texts = [f"{letter} {letter}{letter} x" for letter in "abcdefgh"] * 2
    vectorizer = DocumentVectorizer()
    X = vectorizer.fit_transform(texts)
    DualLinearSVC(random_state=0).fit(X, texts).predict(vectorizer.transform(texts))
