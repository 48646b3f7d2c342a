"""What documents and features cost in memory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spokeshave.budget.costs import CELL, VALUE, Costs

COSTS = st.builds(Costs, st.integers(1, 1000), st.integers(1, 64), st.booleans())


@given(COSTS)
def test_more_classes_and_more_threads_cost_no_less(costs):
    more = costs._replace(n_rows=costs.n_rows + 1), costs._replace(n_threads=costs.n_threads + 1)
    for name in ("cell", "row", "swept_row", "feature", "swept_feature"):
        assert all(getattr(costs, name) <= getattr(other, name) for other in more)


@given(COSTS)
def test_shared_passes_cost_more_than_those_of_one_class(costs):
    assert costs.swept_row > costs.row > 0
    assert costs.swept_feature > costs.feature > 0


@given(COSTS)
def test_no_more_classes_are_busy_than_there_are(costs):
    assert 1 <= costs.n_busy <= min(costs.n_rows, costs.n_threads)


def test_values_cost_as_much_as_numbers_of_features():
    assert Costs(3, 1, has_values=False).cell == CELL
    assert Costs(3, 1, has_values=True).cell == CELL + VALUE
