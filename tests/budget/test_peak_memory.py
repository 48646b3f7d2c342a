"""What a run holds of memory at most, as the system counts it, against what it was allowed."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from zipf import make_zipf, write_csv

MEGABYTE = 1_000_000
BUDGET = 400 * MEGABYTE
# More nonzeros than there is memory for, so that every stage has all it is allowed to take.
PROGRAM = f"""
import sys
from spokeshave import BudgetedSVC, DocumentVectorizer, DualLinearSVC
model = BudgetedSVC(
    {BUDGET},
    estimator=DualLinearSVC(C=0.01, tol=0.1, random_state=0),
    vectorizer=DocumentVectorizer(weighting="counts", **eval(sys.argv[2])),
    nonzeros_per_document=150,
    n_jobs=2,
).fit_files(sys.argv[1])
print(model.reduced_.n_documents, model.plan_.n_sampled, model.n_rounds_)
"""

# A row of weights for each of many classes, which are most of the memory.
JOB = f"""
import sys
from spokeshave.budget.memory import LIBRARIES
from spokeshave.jobs.budget import Files, run_budgeted
from spokeshave.jobs.settings import Budget, Settings
budget = LIBRARIES + {130 * MEGABYTE}
found = run_budgeted(Files(sys.argv[1]), Budget(budget), settings=Settings(C=0.1, n_jobs=1))
print(found.record.model.n_weights, budget)
"""
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what a process holds")


def watch(program, path, options=None):
    """Run a program; return the most memory that it has held, in bytes, and what it printed."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, path, repr(options or {})],
        stdout=subprocess.PIPE,
        text=True,
    )
    status, most = Path(f"/proc/{process.pid}/status"), 0
    while process.poll() is None:
        if found := re.search(r"VmHWM:\s+(\d+) kB", status.read_text()):
            most = 1024 * int(found[1])  # it never falls
        time.sleep(0.01)
    out = process.communicate()[0]
    assert process.returncode == 0
    return most, [int(number) for number in out.split()]


@ON_LINUX
def test_a_run_stays_within_its_budget(tmp_path):
    path = tmp_path / "zipf.csv"
    texts, labels = make_zipf(20_000, n_words=60_000, length=200)
    for part in range(4):
        rare = [f"{text} x{part}{number % 5_000}" for number, text in enumerate(texts)]
        write_csv(path, rare, labels, "a" if part else "w")
    assert path.stat().st_size > 55 * MEGABYTE
    most, (n_documents, n_sampled, _) = watch(PROGRAM, path)
    assert n_documents == 80_000
    assert n_sampled < 60_000  # it was short of memory
    assert 200 * MEGABYTE < most < BUDGET


@ON_LINUX
@pytest.mark.parametrize(
    "options",
    [{"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (2, 4)}],
    ids=["pairs", "characters"],
)
def test_ngrams_stay_within_the_budget(tmp_path, options):
    texts, labels = make_zipf(20_000, n_words=60_000, length=200)
    path = write_csv(tmp_path / "zipf.csv", texts, labels)
    most, (n_documents, n_sampled, _) = watch(PROGRAM, path, options)
    assert n_documents == 20_000
    assert n_sampled < 18_000
    assert 200 * MEGABYTE < most < BUDGET


@ON_LINUX
def test_a_job_with_many_classes_stays_within_its_budget(tmp_path):
    texts, labels = make_zipf(12_000, n_words=60_000, length=40, n_classes=250)
    most, (n_weights, budget) = watch(JOB, write_csv(tmp_path / "zipf.csv", texts, labels))
    assert n_weights > 1_000_000
    assert budget - 120 * MEGABYTE < most < budget
