"""Kernels made ready before anything is timed."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

NEEDED = frozenset(
    {
        "columns._fill",
        "cuts.score_mask",
        "descent.polish",
        "descent.rebuild",
        "descent.score",
        "descent.sweep",
        "order.tally",
        "ranks.pack",
        "ranks.unpack",
        "rows.drop_features",
        "rows.find_scale",
        "rows.measure_length",
        "rows.rescale",
        "sums.add_weights",
        "tokens.absorb",
        "tokens.count_kept",
        "tokens.find_known",
        "tokens.join_tokens",
        "tokens.look_up",
        "tokens.scan",
        "tokens.sort_rows",
    }
)  # kernels that Python calls on the way from text to a model on fewer words


LOADING, COMPILING = "loading kernels", "compiling kernels (first run only)"


def describe_preparation() -> str:
    """Say what `prepare_kernels` will have to do: compile, on a first run, or load."""
    from spokeshave.kernels.descent import polish

    return describe_cache(Path(polish.stats.cache_path))


def describe_cache(folder: Path) -> str:
    """Say whether a folder has every kernel, compiled for this Python."""
    indexes = folder.glob(f"*.py{sys.version_info.major}{sys.version_info.minor}*.nbi")
    compiled = {index.name.partition("-")[0] for index in indexes}
    return LOADING if compiled >= NEEDED else COMPILING


def prepare_kernels() -> None:
    """Compile what the whole job on text needs, or load it from the cache of an earlier run."""
    from spokeshave.corpus import Texts
    from spokeshave.jobs.fit import run_job
    from spokeshave.jobs.settings import Settings

    # Two documents of each class in a fold, and one of the last: arrays are laid out differently.
    texts = [f"{letter} {letter}{letter} x" for letter in "abcdefgh"] * 4 + ["i ii x"] * 2
    settings = Settings(hold_out=0.3, with_stability=True, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes with fewer documents than folds
        run_job(Texts(texts, texts), settings=settings)
