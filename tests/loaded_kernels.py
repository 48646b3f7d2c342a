"""Kernels loaded at import: processes forked from the one that imports this have them at once.

If some are not compiled yet, one process does it, and not every worker for itself.
"""

from __future__ import annotations

import warnings

from spokeshave.budget.warmup import exercise as exercise_budget
from spokeshave.budget.warmup import exercise_ngrams
from spokeshave.cli.progress import exercise as exercise_fit
from spokeshave.corpus import Texts
from spokeshave.jobs.fit import run_job
from spokeshave.jobs.settings import Settings


def exercise_weights():
    """Run the job on rows whose features have values, with a cost that is chosen."""
    texts = [f"{letter} {letter}{letter} x" for letter in "abcdefgh"] * 6
    settings = Settings(weighting="tfidf", C="auto", by="bns", hold_out=0.3, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_job(Texts(texts, texts), settings=settings)


exercise_fit()
exercise_weights()
for has_values in (False, True):
    for has_prior in (False, True):
        exercise_budget(is_text=True, has_values=has_values, has_prior=has_prior)
exercise_ngrams()
