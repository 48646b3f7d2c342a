"""Damaged and hostile model files: a small part of what ``python -m fuzz models`` tries."""

from __future__ import annotations

from fuzz import models


def test_model_files_are_refused_by_a_sentence_or_do_no_harm():
    assert list(map(str, models.run(100, seed=0))) == []


def test_an_input_can_be_made_again():
    contents = [models.make_input(number, seed=0) for number in range(60)]
    assert len(set(contents)) > 55
    assert contents == [models.make_input(number, seed=0) for number in range(60)]
