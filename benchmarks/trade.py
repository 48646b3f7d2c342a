"""Documents against words in one memory, on RCV1 and Reuters-21578.

Binary rows of length one. For each memory, a share of what the whole matrix takes, features are
ranked on as many documents as fit with all their words; twice as many fit with about half the
words each, and so on up to all of them. The mean over classes on the test documents; the best pair
of each measure is marked, and the last column is the p-value of a paired t-test over classes of
its best F1 against that of the first pair, which is training on what fits.

--json FILE   everything
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from contest import N_THREADS
from sparsity import LOADERS, Job
from spokeshave import BudgetCurve, DualLinearSVC, budget_curve, paired_test

SHARES = (1 / 4, 1 / 16, 1 / 64)
MEASURES = ("best_f1", "f1", "auc")


def trade(job: Job, share: float) -> BudgetCurve:
    """Return the curve of a memory that is a share of what the whole matrix takes."""
    whole = 8 * job.X.nnz + 8 * (job.X.shape[0] + 1)
    return budget_curve(
        job.X,
        job.Y,
        int(whole * share),
        X_test=job.X_test,
        y_test=job.Y_test,
        estimator=DualLinearSVC(n_jobs=N_THREADS, random_state=0),
        random_state=0,
    )


def describe(curve: BudgetCurve) -> list[dict[str, Any]]:
    """Return what each pair is and what it scores."""
    values = {name: curve.macro(name) for name in MEASURES}
    f1 = curve.per_class("best_f1")
    return [
        {
            **pair._asdict(),
            **{name: float(macro[p]) for name, macro in values.items()},
            "is_best": {name: bool(p == np.nanargmax(macro)) for name, macro in values.items()},
            "p_value": paired_test(f1[:, p], f1[:, 0]).p_value if p else None,
        }
        for p, pair in enumerate(curve.pairs)
    ]


def show(name: str, share: float, curve: BudgetCurve, rows: list[dict[str, Any]]) -> None:
    print(f"\n{name}, {curve.memory / 1e6:.2f} MB, {share:.3g} of the whole matrix")
    print(f"{'documents':>9} {'words':>7} {'nonzeros':>8} {'MB':>5}", end="")
    print("".join(f"{measure:>10}" for measure in MEASURES), f"{'p':>9}")
    for row in rows:
        marks = [f"{row[m]:.4f}{'*' if row['is_best'][m] else ' '}" for m in MEASURES]
        p_value = "" if row["p_value"] is None else f"{row['p_value']:.1e}"
        print(
            f"{row['n_documents']:>9,} {row['n_features']:>7,} {row['nonzeros']:>8.1f} "
            f"{row['matrix_bytes'] / 1e6:>5.2f}" + "".join(f"{mark:>10}" for mark in marks),
            f"{p_value:>9}",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="where to write everything")
    arguments = parser.parse_args()
    found = []
    for name, load in LOADERS.items():
        job = load()
        for share in SHARES:
            curve = trade(job, share)
            rows = describe(curve)
            show(name, share, curve, rows)
            found.append({"collection": name, "memory": curve.memory, "pairs": rows})
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
