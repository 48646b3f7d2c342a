"""Tests of the limits of verdicts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from papers.limits import LEVEL, VISIBLE, find_error, shows


def test_standard_error_is_that_of_the_paired_test(rng: np.random.Generator) -> None:
    differences = rng.normal(0.01, 0.02, 40)
    error = find_error(differences)
    assert error is not None
    statistic = stats.ttest_1samp(differences, 0).statistic
    assert differences.mean() / error == pytest.approx(statistic)


def test_one_difference_has_no_standard_error() -> None:
    assert find_error([0.1]) is None


@pytest.mark.parametrize("sign", [1, -1])
def test_difference_shows_from_half_a_point_and_two_standard_errors_on(sign: int) -> None:
    assert shows(sign * VISIBLE, error=VISIBLE / 2)
    assert not shows(sign * VISIBLE, error=VISIBLE / 1.9)
    assert not shows(sign * 0.99 * VISIBLE, error=0)
    assert shows(sign * VISIBLE, p_value=0.9 * LEVEL)
    assert not shows(sign, p_value=LEVEL)
    assert shows(sign * VISIBLE)
