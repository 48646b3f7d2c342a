"""The two-class problems of Figure 2: how hard pairs are, and what selection gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spokeshave import PAPER_FRACTIONS, FeatureCurve, feature_curve
from spokeshave.papers.kolcz2007.pairs import (
    Directory,
    Problem,
    draw_candidates,
    draw_samples,
    load_directory,
    make_problem,
    spread_evenly,
)
from spokeshave.papers.kolcz2007.tasks import DIGITS, FOLDS, METHODS, make_svc

CONTROLLED = ("exact", "mask")  # their cut is also chosen honestly, and their ranking by chance


def study_pairs(
    data: Path,
    *,
    turn: int,
    n_turns: int,
    n_candidates: int,
    n_problems: int,
    low: float,
    noise: int,
) -> dict[str, Any]:
    """Return the baseline AUC of a turn's candidates, and what selection gives on those chosen.

    Every turn has other candidates and chooses of them what is spread evenly. How hard a pair is
    was measured on other documents than those of its study: a pair that looked hard by chance
    looks as hard as it is in the study.
    """
    directory = load_directory(data)
    candidates = draw_candidates(directory.labels, n_turns * n_candidates)[turn::n_turns]
    screened = [_screen(directory, pair, noise) for pair in candidates]
    chosen = spread_evenly(screened, n_problems, low)
    return {
        "screened": screened,
        "problems": [
            {
                "first": candidates[i][0],
                "second": candidates[i][1],
                "screening_auc": screened[i],
                **_study(directory, candidates[i], noise),
            }
            for i in chosen
        ],
    }


def _screen(directory: Directory, pair: tuple[str, str], noise: int) -> float:
    rows = draw_samples(directory.labels, pair).screening
    curve = _trace(make_problem(directory, pair, rows, noise), "mask", cuts=(1.0,))
    return round(float(curve.auc[0, 0]), DIGITS)


def _study(directory: Directory, pair: tuple[str, str], noise: int) -> dict[str, Any]:
    """Return the AUC with all features, at the best cut, at a cut chosen within, and by chance."""
    rows = draw_samples(directory.labels, pair).study
    problem = make_problem(directory, pair, rows, noise)
    curves = {method: _trace(problem, method) for method in METHODS}
    found: dict[str, float] = {"all": curves["mask"].auc[0, -1]}
    found |= {method: _find_best(curve) for method, curve in curves.items()}
    found |= {f"nested_{method}": _nest(problem, method, curves[method]) for method in CONTROLLED}
    found |= {
        f"random_{method}": _find_best(_trace(problem, method, by="random"))
        for method in CONTROLLED
    }
    return {
        "words": problem.X.shape[1],
        "best_fraction": float(curves["exact"].fractions[_choose(curves["exact"])]),
        **{name: round(float(value), DIGITS) for name, value in found.items()},
    }


def _trace(problem: Problem, method: str, **options: Any) -> FeatureCurve:
    given: dict[str, Any] = {"cv": FOLDS, "estimator": make_svc(), **options}
    curve: FeatureCurve = feature_curve(problem.X, problem.y, method=method, **given)
    return curve


def _choose(curve: FeatureCurve) -> int:
    """Return the number of the best of the paper's cuts, all features not being one of them."""
    return int(curve.auc[0, : len(PAPER_FRACTIONS) - 1].argmax())


def _find_best(curve: FeatureCurve) -> float:
    return float(curve.auc[0, _choose(curve)])


def _nest(problem: Problem, method: str, curve: FeatureCurve) -> float:
    """Return the AUC when each fold has the cut that was best within its training documents."""
    by_fold: NDArray[np.float64] = (curve.counts.won / curve.counts.pairs)[:, 0]
    splits = FOLDS.split(problem.X, problem.y)
    inner = [_trace(Problem(problem.X[train], problem.y[train]), method) for train, _ in splits]
    return float(np.mean([by_fold[f, _choose(found)] for f, found in enumerate(inner)]))
