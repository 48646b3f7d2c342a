"""Small studies of made-up papers; processes that run their tasks find this file by its name."""

from __future__ import annotations

import os
import time
from functools import partial

import numpy as np
import polars as pl

from papers.study import Paper, Part, Task
from papers.verdicts import IN_PART, REPRODUCED, Claim, Verdict

SIZES = (3, 1, 2)


def _note(data, name):
    with (data / "calls.txt").open("a") as calls:
        calls.write(f"{name} {os.getpid()}\n")


def list_calls(data):
    """Return the tasks that were run so far, with the processes."""
    calls = data / "calls.txt"
    return [tuple(line.split()) for line in calls.read_text().split("\n")[:-1]]


def list_names(data):
    """Return the names of the tasks that were run since this was asked last."""
    names = [name for name, _ in list_calls(data)]
    (data / "calls.txt").write_text("")
    return names


def square(data, *, name, number):
    """Return a number and its square; fail where the data say so."""
    _note(data, name)
    if (data / f"broken-{name}").exists():
        raise ValueError(f"the data are broken at {number}")
    if (data / f"slow-{name}").exists():
        time.sleep(60)
    return {"pair": (number, number**2)}


def cube(data, *, name, number):
    """Return a number and its cube."""
    _note(data, name)
    return {"pair": (number, number**3)}


def divide(data, *, name, number):
    """Fail as code does that is wrong."""
    return {}[number]


def return_an_array(data, *, name, number):
    """Return what is not JSON."""
    return np.zeros(number)


def return_nan(data, *, name, number):
    """Return what is not JSON either, though Python writes it."""
    return [float("nan")]


def make_task(number, run=square, **options):
    """Return a task whose cost is its number."""
    name = f"{run.__name__}-{number}"
    arguments = {"name": name, "number": number}
    return Task(name, run, arguments, **{"cost": float(number)} | options)


def make_tasks(numbers=SIZES, **options):
    """Return a task for each number."""
    return [make_task(number, **options) for number in numbers]


def _list_tasks(setting, *, sizes, **options):
    return make_tasks(sizes[:1] if setting.is_quick else sizes, **options)


def _tabulate(results, *, name):
    pairs = [result["pair"] for result in results.values()]
    return {name: pl.DataFrame(pairs, schema=["number", "power"], orient="row")}


def _draw(tables, *, names, figure):
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(2, 2))
    ax = drawn.add_subplot()
    for name in names:
        ax.plot(tables[name]["number"], tables[name]["power"])
    return {figure: drawn}


def _make_part(name, run, needs=(), is_drawn=False, sizes=SIZES, **options):
    return Part(
        name,
        f"Powers, {name}",
        partial(_list_tasks, sizes=sizes, run=run, **options),
        partial(_tabulate, name=f"{name}-powers"),
        partial(_draw, names=(f"{name}-powers", *needs), figure=name) if is_drawn else None,
    )


def _judge_squares(tables):
    powers = tables["table1-powers"]["power"].to_list()
    is_known = set(powers) <= {1, 4, 9}
    return Verdict(REPRODUCED if is_known else IN_PART, f"{len(powers)} powers: {powers}")


def _judge_cubes(tables):
    largest = tables["figure1-powers"]["power"].max()
    return Verdict(REPRODUCED, f"the largest is {largest}\nof | x | cubed")


CLAIMS = (
    Claim("Table 1", "squares are 9, 1 and 4", _judge_squares),
    Claim("Figure 1", "cubes grow", _judge_cubes),
    Claim("2", "it took a year", "its machine is gone"),
)
PAPER = Paper(
    "powers",
    "On powers",
    (
        _make_part("table1", square),
        _make_part("table2", square, sizes=(3, 4)),
        _make_part("figure1", cube, is_drawn=True, is_alone=True),
        _make_part("figure2", cube, needs=("table1-powers",), is_drawn=True, is_alone=True),
    ),
    CLAIMS,
    ("numbers.csv",),
)
