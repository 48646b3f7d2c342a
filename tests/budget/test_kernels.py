"""Kernels are made ready before memory is measured."""

from __future__ import annotations

import os
import sys

import pytest

from spokeshave.budget import kernels
from spokeshave.budget.kernels import exercise, is_compiled, prepare

TEXTS = {"is_text": True, "has_values": False}


@pytest.fixture
def marker(tmp_path, monkeypatch):
    """Let nothing be compiled yet."""
    path = tmp_path / "budget.ready"
    monkeypatch.setattr(kernels, "_find_marker", lambda is_text, has_values: path)
    return path


@pytest.fixture
def programs(monkeypatch):
    """Collect what other processes are asked to do."""
    found = []
    monkeypatch.setattr(
        kernels.subprocess, "run", lambda command, check: found.append((command, check))
    )
    return found


def test_kernels_are_compiled_in_another_process_once(marker, programs):
    assert not is_compiled(**TEXTS)
    for _ in range(2):
        prepare.__wrapped__(**TEXTS)
    assert is_compiled(**TEXTS)
    [(command, is_checked)] = programs
    assert command[:2] == [sys.executable, "-c"]
    assert "exercise(is_text=True, has_values=False)" in command[2]
    assert is_checked


def test_kernels_that_have_changed_are_compiled_again(marker):
    marker.touch()
    assert is_compiled(**TEXTS)
    os.utime(marker, (0, 0))
    assert not is_compiled(**TEXTS)


@pytest.mark.parametrize("is_text", [True, False])
@pytest.mark.parametrize("has_values", [True, False])
def test_all_kernels_of_a_run_are_exercised(is_text, has_values, monkeypatch):
    called = []
    advance = kernels.train_classes

    def train_and_tell(objective, setting):
        weights = advance(objective, setting)
        called.append((len(setting.shards) > 1, weights.n_rounds > 0))
        return weights

    monkeypatch.setattr(kernels, "train_classes", train_and_tell)
    exercise(is_text=is_text, has_values=has_values)
    assert called == [(True, True)]
