"""Steps are run and timed, each under its name."""

from __future__ import annotations

import time

import pytest

from spokeshave.utils.timing import Stopwatch


def test_steps_are_timed_in_the_order_they_ran():
    watch = Stopwatch()
    assert watch.run("joining", "-".join, ["ash", "oak"]) == "ash-oak"
    assert watch.run("sorting", sorted, [2, 1], reverse=True) == [2, 1]
    assert list(watch.seconds) == ["joining", "sorting"]


def test_the_times_of_a_step_that_runs_twice_add_up():
    watch = Stopwatch()
    watch.run("waiting", time.sleep, 0.02)
    first = watch.seconds["waiting"]
    watch.run("waiting", time.sleep, 0.02)
    assert first >= 0.02
    assert watch.seconds["waiting"] >= first + 0.02


def test_a_step_that_fails_has_no_time():
    watch = Stopwatch()
    with pytest.raises(ZeroDivisionError):
        watch.run("dividing", divmod, 1, 0)
    assert watch.seconds == {}
