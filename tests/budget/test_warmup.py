"""The exercise of a run in limited memory calls all of its kernels."""

from __future__ import annotations

import pytest

from spokeshave.budget import warmup
from spokeshave.budget.warmup import exercise


@pytest.mark.parametrize("is_text", [True, False])
@pytest.mark.parametrize("has_values", [True, False])
def test_all_kernels_of_a_run_are_exercised(is_text, has_values, monkeypatch):
    called = []
    advance = warmup.train_classes

    def train_and_tell(objective, setting):
        weights = advance(objective, setting)
        called.append((len(setting.shards) > 1, weights.n_rounds > 0))
        return weights

    monkeypatch.setattr(warmup, "train_classes", train_and_tell)
    exercise(is_text=is_text, has_values=has_values, has_ngrams=is_text)
    assert called == [(True, True)]
