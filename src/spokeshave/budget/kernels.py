"""Kernels compiled before memory is measured: compiling takes more than a small budget."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from spokeshave import kernels
from spokeshave.budget.memory import AvailableMemory
from spokeshave.budget.request import Request
from spokeshave.budget.rounds import Objective, Setting, train_classes
from spokeshave.budget.run import run
from spokeshave.budget.shards import list_shards
from spokeshave.corpus.documents import Texts, Vectors
from spokeshave.kernels.descent import polish
from spokeshave.svm.solver import Stop
from spokeshave.utils.checkpoint import WorkFolder
from spokeshave.utils.timing import Stopwatch

N_CLASSES = 5  # enough for sweeps shared by classes


@lru_cache
def prepare(*, is_text: bool, has_values: bool) -> None:
    """Load the kernels of a run; compile them in another process if necessary."""
    if not is_compiled(is_text=is_text, has_values=has_values):
        program = (
            "from spokeshave.budget.kernels import exercise; "
            f"exercise(is_text={is_text}, has_values={has_values})"
        )
        subprocess.run([sys.executable, "-c", program], check=True)
        marker = _find_marker(is_text, has_values)
        if marker.parent.is_dir():
            marker.touch()
    exercise(is_text=is_text, has_values=has_values)


def is_compiled(*, is_text: bool, has_values: bool) -> bool:
    """Return whether the kernels of a run were compiled after their last change."""
    marker = _find_marker(is_text, has_values)
    sources = Path(str(kernels.__file__)).parent.glob("*.py")
    newest = max(path.stat().st_ctime for path in sources)
    return marker.exists() and marker.stat().st_mtime >= newest


def _find_marker(is_text: bool, has_values: bool) -> Path:
    """Return the marker file beside the compiled kernels."""
    return Path(polish.stats.cache_path) / f"budget-{is_text:d}{has_values:d}.ready"


def exercise(*, is_text: bool, has_values: bool) -> None:
    """Run all kernels on a few documents."""
    request = Request(
        memory=1 << 50,
        is_text=is_text,
        is_multilabel=False,
        svm=_pose,
        stop=Stop(0.1, 20),
        by="normal",
        nonzeros_per_document=3.0,
        tolerance=0.0,
        weighting="counts" if has_values else "binary",
        norm="l2",
        min_df=1,
        max_df=1.0,
        stop_words=frozenset(),
        strip_markup=False,
        seed=0,
        n_jobs=1,
    )
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work, memory = WorkFolder(Path(folder, "work"), {}), AvailableMemory(10_000_000, 0)
        found = run(_Few(is_text), request, work, Stopwatch(), lambda sentence: None, memory)
        shards = list_shards(Path(folder, "work", "reduced"), "l2", 20)
        objective = _pose(None, np.arange(N_CLASSES), None)
        n_features = len(found.features)
        setting = Setting(
            *(shards, 1000, Path(folder, "training"), n_features, Stop(1e-9, 3), 0, 1),
            lambda share: None,
        )
        train_classes(objective, setting)


def _pose(names: Any, codes: Any, counts: Any) -> Objective:
    return Objective(np.ones((len(codes), 2)), np.zeros((len(codes), 2)), 1.0, codes)


class _Few:
    """A few documents of some classes."""

    name, n_bytes, position, is_multilabel = "documents", 1, 0, False
    stamps: ClassVar[list[Any]] = []

    def __init__(self, is_text: bool) -> None:
        self.is_text = is_text

    def read_batches(self, batch_size: int = 1) -> Iterator[Any]:
        """Yield documents in several batches, where ranges may begin."""
        generator = np.random.default_rng(0)
        for first in range(0, 60, 15):
            labels = [str(i % N_CLASSES) for i in range(first, first + 15)]
            if self.is_text:
                yield Texts([f"x{label} y{i} oak" for i, label in enumerate(labels)], labels)
            else:
                X = sparse.csr_matrix(generator.integers(0, 3, (15, 20)), dtype=float)
                yield Vectors(X, labels, None)
