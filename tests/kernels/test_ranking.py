"""The order of features against a stable sort."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spokeshave.kernels.ranking import order_nonzero

NEAR_ONE = st.integers(-3, 3).map(lambda k: 1.0 + k * 2e-16)


@settings(deadline=None)
@given(
    st.one_of(
        st.lists(st.floats(allow_nan=False), max_size=50),
        st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0]), max_size=50),
        st.lists(NEAR_ONE, max_size=50),  # alike in float32
    )
)
@example([1e-320, 5e-324, -1e-320, 1e300, 2e300])
def test_order_is_that_of_a_stable_sort(values):
    scores = np.array(values, float)
    nonzero = np.flatnonzero(scores)
    expected = nonzero[np.argsort(-scores[nonzero], kind="stable")]
    np.testing.assert_array_equal(order_nonzero(scores), expected)
