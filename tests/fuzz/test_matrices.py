"""Malformed matrices: a small part of what ``python -m fuzz matrices`` tries."""

from __future__ import annotations

from fuzz import matrices


def test_malformed_matrices_are_refused_by_a_sentence_by_everything():
    assert list(map(str, matrices.run(40, seed=0))) == []


def test_every_change_is_made():
    cases = [matrices.make_input(number, seed=0) for number in range(300)]
    expected = [
        *(*matrices.OF_COMPRESSED, *matrices.OF_CELLS, *matrices.OF_LISTS, *matrices.OF_KEYS),
        *(*matrices.OF_DIAGONALS, *matrices.OF_VALUES),
    ]
    made = {case.change.split(", ")[1] for case in cases}
    assert made == {change.__name__ for change in expected}
