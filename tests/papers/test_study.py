"""The parts of a study, chosen by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from made_papers import PAPER


def test_all_parts_unless_some_are_named():
    assert PAPER.choose_parts(None) == PAPER.parts


def test_extras_run_only_if_they_are_named():
    extra = replace(PAPER.parts[0], name="extra")
    paper = replace(PAPER, extras=(extra,))
    assert paper.choose_parts(None) == PAPER.parts
    assert paper.choose_parts(["extra"]) == (extra,)


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
