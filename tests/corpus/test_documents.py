"""Results count their documents and cannot be changed."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from spokeshave.corpus import Texts


def test_length():
    assert len(Texts(["a", "b"], None)) == 2


def test_frozen():
    with pytest.raises(FrozenInstanceError):
        Texts([], []).skipped = 1
