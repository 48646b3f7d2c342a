"""Running of tasks: order, processes, saved results and their reuse."""

from __future__ import annotations

import json
import os

import pytest

from made_papers import (
    SIZES,
    cube,
    divide,
    list_calls,
    list_names,
    make_task,
    make_tasks,
    return_an_array,
    return_nan,
)
from papers.running import run_tasks


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def work(tmp_path):
    return tmp_path / "out" / "work"


def find_results(done):
    return {name: result for name, (result, _) in done.items()}


SQUARES = {f"square-{number}": {"pair": [number, number**2]} for number in SIZES}


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_results_do_not_depend_on_processes_or_on_reuse(data, work, n_jobs):
    done = run_tasks(make_tasks(), data, work, n_jobs=n_jobs)
    assert find_results(done) == SQUARES
    assert list(done) == list(SQUARES)  # in the order of the tasks
    assert all(seconds >= 0 for _, seconds in done.values())
    assert sorted(list_names(data)) == sorted(SQUARES)
    assert run_tasks(make_tasks(), data, work, n_jobs=n_jobs) == done
    assert list_names(data) == []


def test_costly_tasks_start_first(data, work):
    run_tasks(make_tasks(), data, work)
    assert list_names(data) == ["square-3", "square-2", "square-1"]


def test_tasks_that_run_alone_come_last_and_in_this_process(data, work):
    tasks = [make_task(9, is_alone=True), make_task(8, run=cube, is_alone=True), *make_tasks()]
    run_tasks(tasks, data, work, n_jobs=2)
    calls = list_calls(data)
    own = str(os.getpid())
    assert calls[3:] == [("square-9", own), ("cube-8", own)]
    assert own not in {process for _, process in calls[:3]}


def test_tasks_that_run_alone_need_no_others(data, work):
    done = run_tasks([make_task(2, is_alone=True)], data, work, n_jobs=2)
    assert find_results(done) == {"square-2": {"pair": [2, 4]}}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_task_that_fails_loses_nothing(data, work, n_jobs):
    broken = data / "broken-square-1"
    broken.touch()
    sentence = r"^task square-1 failed: the data are broken at 1$"
    with pytest.raises(ValueError, match=sentence) as error:
        run_tasks(make_tasks(), data, work, n_jobs=n_jobs)
    assert "the data are broken" in str(error.value.__cause__)
    kept = {path.stem for path in work.glob("*.json")}
    # Of two processes, one may fail before the other is through.
    assert kept == {"square-3", "square-2"} if n_jobs == 1 else kept
    list_names(data)
    broken.unlink()
    assert find_results(run_tasks(make_tasks(), data, work, n_jobs=n_jobs)) == SQUARES
    assert set(list_names(data)) == set(SQUARES) - kept


def test_a_result_is_saved_before_the_next_task_starts(data, work):
    kept = []
    run_tasks(
        make_tasks(),
        data,
        work,
        report=lambda name, done, total: kept.append(len(list(work.iterdir()))),
    )
    assert kept == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("run", "kind", "sentence"),
    [
        (divide, RuntimeError, "task divide-3 failed: KeyError: 3"),
        (return_an_array, RuntimeError, "task return_an_array-3 failed: TypeError: Object of type"),
        (return_nan, ValueError, "task return_nan-3 failed: Out of range float values are not "),
    ],
    ids=["wrong code", "an array", "NaN"],
)
def test_an_error_names_its_task_and_keeps_its_cause(data, work, run, kind, sentence):
    with pytest.raises(kind, match=sentence) as error:
        run_tasks([make_task(3, run=run)], data, work)
    assert error.value.__cause__ is not None
    assert list(work.iterdir()) == []


def change_arguments(task, monkeypatch):
    return task._replace(arguments=task.arguments | {"number": 7})


def change_function(task, monkeypatch):
    return task._replace(run=cube)


def change_version(task, monkeypatch):
    monkeypatch.setattr("papers.running.list_versions", lambda: {"numpy": "9.9"})
    return task


@pytest.mark.parametrize("change", [change_arguments, change_function, change_version])
def test_other_results_are_computed_again(data, work, monkeypatch, change):
    run_tasks([make_task(3)], data, work)
    list_names(data)
    task = change(make_task(3), monkeypatch)
    for ran in (["square-3"], []):
        done = run_tasks([task], data, work)
        assert find_results(done) == {"square-3": json.loads(json.dumps(find(task, data)))}
        assert list_names(data)[: len(ran)] == ran


def find(task, data):
    before = (data / "calls.txt").read_text()
    result = task.run(data, **task.arguments)
    (data / "calls.txt").write_text(before)
    return result


def test_another_cost_or_place_is_the_same_task(data, work):
    run_tasks([make_task(3)], data, work)
    list_names(data)
    run_tasks([make_task(3, cost=50.0, is_alone=True)], data, work)
    assert list_names(data) == []


@pytest.mark.parametrize(
    "content",
    ["", '{"task": {"run"', "[]", "{}", "null", '{"task": 1, "result": 2, "seconds": "long"}'],
)
def test_a_file_of_something_else_is_reported_before_anything_runs(data, work, content):
    work.mkdir(parents=True)
    path = work / "square-1.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"this is not the result of a task, .*; delete it$") as e:
        run_tasks(make_tasks(), data, work)
    assert str(e.value).startswith(f"{path}: ")
    assert not (data / "calls.txt").exists()
    path.unlink()
    assert find_results(run_tasks(make_tasks(), data, work)) == SQUARES


def test_the_cost_that_is_done_is_reported(data, work):
    told = []
    run_tasks(make_tasks(), data, work, report=lambda *words: told.append(words))
    assert told == [("", 0, 6), ("square-3", 3, 6), ("square-2", 5, 6), ("square-1", 6, 6)]
    told.clear()
    run_tasks(make_tasks((3, 4)), data, work, report=lambda *words: told.append(words))
    assert told == [("", 3, 7), ("square-4", 7, 7)]


def test_no_tasks(data, work):
    told = []
    assert run_tasks([], data, work, n_jobs=2, report=lambda *words: told.append(words)) == {}
    assert told == [("", 0, 0)]


def test_an_interrupt_keeps_what_is_done(data, work):
    def interrupt(name, done, total):
        if name == "square-2":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_tasks(make_tasks(), data, work, n_jobs=1, report=interrupt)
    assert {path.stem for path in work.iterdir()} == {"square-3", "square-2"}
    list_names(data)
    assert find_results(run_tasks(make_tasks(), data, work)) == SQUARES
    assert list_names(data) == ["square-1"]
