"""Kernels are compiled once on a host, whatever happens to the workers there."""

from __future__ import annotations

from time import sleep

import pytest
from distributed import get_worker

from spokeshave.cluster import warmup
from spokeshave.cluster.warmup import COMPILING, warm_up_workers
from spokeshave.warmup import warm_up


def test_every_worker_has_kernels_that_were_compiled_before(client):
    said = []
    warm_up_workers(client, is_text=True, has_values=False, say=said.append)
    assert said == []
    assert all(n > 0 for n in client.run(lambda: warm_up.cache_info().currsize).values())


@pytest.mark.parametrize("n_compiled", [0, 1])
def test_what_takes_long_is_told_of(client, monkeypatch, n_compiled):
    monkeypatch.setattr(warmup, "are_compiled", lambda is_text, has_values: bool(n_compiled))
    said = []
    warm_up_workers(client, is_text=True, has_values=False, say=said.append)
    assert said == [COMPILING] * (1 - n_compiled)


def test_one_worker_of_a_host_comes_before_the_others(client, monkeypatch, tmp_path):
    log = tmp_path / "log"

    def load(is_text, has_values):
        for event in ("begins", "ends"):
            with log.open("a") as file:
                file.write(f"{get_worker().address} {event} {is_text} {has_values}\n")
            sleep(0.05)

    monkeypatch.setattr(warmup, "load_kernels", load)
    warm_up_workers(client, is_text=False, has_values=True, say=lambda sentence: None)
    events = [line.split() for line in log.read_text().splitlines()]
    assert len(events) == 4
    assert [event for _, event, *_ in events[:2]] == ["begins", "ends"]
    assert events[0][0] == events[1][0]
    assert all(asked == ["False", "True"] for _, _, *asked in events)


def test_a_worker_that_dies_is_not_waited_for(four, make_deadly):
    deadly = make_deadly(warmup, "load_kernels", at=2)
    warm_up_workers(four, is_text=True, has_values=False, say=lambda sentence: None)
    assert deadly.has_killed
