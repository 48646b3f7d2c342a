"""Classes numbered as they come, and in order in the end."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spokeshave.budget.classes import Classes

NAMES = st.sampled_from(["oak", "ash", "yew", "Ähre", ""])
LABELS = st.lists(NAMES | st.lists(NAMES, max_size=3).map(tuple), max_size=12)


def decode(classes, ends, codes):
    names = np.array(classes.names, object)[codes].tolist()
    return [tuple(names[first:last]) for first, last in pairwise(ends)]


@given(LABELS, st.integers(0, 12))
def test_codes_are_those_of_the_labels_however_they_are_divided(labels, bound):
    classes = Classes()
    found = []
    for part in (labels[:bound], labels[bound:]):
        found += decode(classes, *classes.encode(part))
    sets = [label if isinstance(label, tuple) else (label,) for label in labels]
    assert found == [tuple(dict.fromkeys(names)) for names in sets]
    assert classes.names == list(dict.fromkeys(name for names in sets for name in names))
    assert len(classes) == len(classes.names)


def test_classes_that_are_known_before_keep_their_codes():
    classes = Classes([2, 0, 1])
    _, codes = classes.encode([0, 1, 5])
    assert codes.tolist() == [1, 2, 3]
    assert classes.names == [2, 0, 1, 5]


@pytest.mark.parametrize(
    ("names", "is_multilabel", "ordered", "codes"),
    [
        (["oak", "ash"], False, ["ash", "oak"], [0]),
        (["oak", "ash"], True, ["ash", "oak"], [1, 0]),
        (["oak", "ash", "elm"], False, ["ash", "elm", "oak"], [1, 2, 0]),
        ([10, 9, 2], False, [2, 9, 10], [2, 1, 0]),
        (["only"], True, ["only"], [0]),
    ],
)
def test_classes_are_trained_in_order_and_one_for_two(names, is_multilabel, ordered, codes):
    found, trained = Classes(names).rank(is_multilabel)
    assert found.tolist() == ordered
    assert trained.tolist() == codes
