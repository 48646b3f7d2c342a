"""Measures and numbers written for people."""

from __future__ import annotations

import pytest

from spokeshave.evaluation import MEASURES
from spokeshave.figures import LABELS, write_share, write_size


def test_every_measure_has_a_label():
    assert set(LABELS) == set(MEASURES)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, ".000"), (0.8714, ".871"), (0.9996, "1.000"), (1.0, "1.000"), (0.0004, ".000")],
)
def test_shares(value, text):
    assert write_share(value) == text


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1_000, "1 KB"),
        (190_200, "190 KB"),
        (999_400, "999 KB"),
        (1_000_000, "1.0 MB"),
        (2_340_000, "2.3 MB"),
    ],
)
def test_sizes(n_bytes, text):
    assert write_size(n_bytes) == text
