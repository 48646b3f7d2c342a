"""The limits of verdicts: one set for the three papers.

Nearly all claims are about the mean difference of two methods over classes or tasks, whose standard
error a paired test gives. A difference *shows* if it is at least two of its standard errors and at
least `VISIBLE`. A claim that methods differ holds where the difference shows, or, if the claim has
no size, where it is two standard errors. A claim that they do not differ holds where no difference
shows. `VISIBLE` is about two standard errors of F in a typical comparison: their medians are .0012
in Table 1 of Kolcz and Chowdhury (100 classes), .0028 on the 104 text tasks of Forman, Scholz and
Rajaram, and .0052 on the large classes of Malik and Tarique.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

LEVEL = 0.05  # of paired tests over classes or tasks: two standard errors
ERRORS = 2.0  # standard errors from which on a difference is no accident
VISIBLE = 0.005  # half a point: the smallest difference that shows
POINT = 0.01  # a point: the smallest appreciable gain or substantial loss
MOST = 0.5  # of the cases


def find_error(differences: ArrayLike) -> float | None:
    """Return the standard error of a mean difference, None for fewer than two differences.

    Examples
    --------
    >>> find_error([0.01, 0.03])
    0.01
    """
    values = np.asarray(differences, float)
    if values.size < 2:
        return None
    return float(stats.sem(values))


def shows(difference: float, *, error: float | None = None, p_value: float | None = None) -> bool:
    """Return whether a difference is visible and at least two standard errors.

    The standard error or the two-sided p-value of a paired test tells; without either, as for
    micro-averages, visibility alone.

    Examples
    --------
    >>> shows(0.02, error=0.004), shows(0.02, error=0.015), shows(0.002, error=0.0001)
    (True, False, False)
    >>> shows(-0.02, p_value=0.2), shows(0.006)
    (False, True)
    """
    if abs(difference) < VISIBLE:
        return False
    if p_value is not None:
        return p_value < LEVEL
    return error is None or abs(difference) >= ERRORS * error
