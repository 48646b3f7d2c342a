"""Names of curves: short, and no two alike."""

from __future__ import annotations

from dataclasses import replace

import pytest

from records import make_record
from spokeshave.report.naming import name_curves

CURVE = make_record(n_classes=3, n_methods=1).curves[0]


@pytest.mark.parametrize(
    ("ways", "names"),
    [
        ([], []),
        ([("mask", "normal")], ["mask"]),
        ([("mask", "normal"), ("sv_set", "normal")], ["mask", "sv set"]),
        (
            [("mask", "normal"), ("mask", "information_gain")],
            ["mask by normal", "mask by information gain"],
        ),
        ([("mask", "normal")] * 3, ["mask", "mask (2)", "mask (3)"]),
    ],
)
def test_a_name_says_what_tells_a_curve_from_others(ways, names):
    assert name_curves([replace(CURVE, method=method, by=by) for method, by in ways]) == names
