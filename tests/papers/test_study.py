"""The parts of a study, chosen by name."""

from __future__ import annotations

import pytest

from made_papers import PAPER


def test_all_parts_unless_some_are_named():
    assert PAPER.choose_parts(None) == PAPER.parts


def test_parts_come_in_the_order_of_the_paper():
    chosen = PAPER.choose_parts(["figure1", "table1", "figure1"])
    assert [part.name for part in chosen] == ["table1", "figure1"]


@pytest.mark.parametrize(
    ("only", "got"),
    [(["table9"], "'table9'"), (["table1", "Table2"], "'Table2'"), ([""], "''"), ([], "'none'")],
)
def test_an_unknown_part_is_reported_with_the_known_ones(only, got):
    with pytest.raises(ValueError, match="powers has the parts table1, table2, ") as error:
        PAPER.choose_parts(only)
    assert str(error.value).endswith(f"figure2. Got {got} instead.")
