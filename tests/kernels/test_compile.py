from __future__ import annotations

import os

from spokeshave.kernels import compile as module


def test_kernels_older_than_a_source_are_forgotten(tmp_path):
    old, new = tmp_path / "descent.polish-1.py311.nbi", tmp_path / "descent.sweep-1.py311.nbi"
    for index in (old, new):
        index.touch()
    os.utime(old, (0, 0))
    module._forget_stale(str(tmp_path))
    assert not old.exists()
    assert new.exists()


def test_division_by_zero_is_infinite():
    @module.compiled
    def divide(a, b):
        return a / b

    assert divide(1.0, 0.0) == float("inf")
