"""Tasks for workers, and what workers say of themselves."""

from __future__ import annotations

import os
import signal
import warnings
from operator import truediv
from time import sleep

import pytest
from dask.utils import parse_timedelta
from distributed import get_worker
from distributed.deploy import spec

from made_clusters import PATIENCE
from spokeshave.cluster.client import (
    FAN_IN,
    HEADROOM,
    collect,
    connect,
    describe_workers,
    list_workers,
    measure_memory,
    measure_resident,
    merge,
    send,
    stay_with,
    submit,
)


def test_results_come_in_the_order_of_the_tasks(client):
    reached = []
    tasks = [submit(client, pow, base, 2) for base in range(5)]
    assert collect(tasks, reached.append) == [0, 1, 4, 9, 16]
    assert reached == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert collect([]) == []


@pytest.mark.parametrize("n", [1, FAN_IN, FAN_IN**2 + 1])
def test_results_are_merged_in_their_order(client, n):
    letters = [submit(client, chr, 97 + i) for i in range(n)]
    assert merge(client, "".join, letters).result() == "".join(chr(97 + i) for i in range(n))


def test_a_large_model_is_sent_without_a_warning(client):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert send(client, len, bytes(20_000_000)).result() == 20_000_000


def test_a_task_stays_with_what_it_is_made_of(client):
    first, second = list_workers(client)
    made = [submit(client, pow, 2, 3, workers=[each]) for each in (second, first)]
    collect(made)
    there = stay_with(client, made)
    assert [each["workers"] for each in there] == [[second], [first]]
    tasks = [
        submit(client, lambda _: get_worker().address, each, **how)
        for each, how in zip(made, there, strict=True)
    ]
    assert collect(tasks) == [second, first]
    pending = submit(client, len, "oak", workers=["tcp://127.0.0.1:1"])  # where nobody is
    assert stay_with(client, [pending]) == [{}]


def test_what_a_task_raises_is_raised(client):
    with pytest.raises(ZeroDivisionError):
        collect([submit(client, truediv, 1, divisor) for divisor in (1, 0)])


def test_tasks_are_made_of_tasks_that_nobody_holds(client):
    total = submit(client, int)
    for _ in range(30):
        total = submit(client, sum, [total, submit(client, abs, -2)])
    assert total.result() == 60


def test_a_worker_that_has_died_is_not_given_up(monkeypatch, tmp_path):
    a_day = 86_400  # goes by in a second
    monkeypatch.setattr(spec, "parse_timedelta", lambda time: parse_timedelta(time) / a_day)
    has_died = tmp_path / "has-died"

    def die_once():
        if not has_died.exists():
            has_died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return "alive"

    with connect("local:1") as client:
        assert submit(client, die_once).result(PATIENCE) == "alive"


def test_workers_outlive_being_measured(client):
    assert len(list_workers(client)) == 2
    assert measure_memory(client) == int(HEADROOM * 1_000_000_000)
    submit(client, len, "oak").result()
    assert 10_000_000 < measure_resident(client) < 1_000_000_000
    sleep(1.2)  # two heartbeats
    assert describe_workers(client) == "2 workers of 1.0 GB or more"
