"""What is on a folder is what was put there, wherever it goes, and is gone when nobody has it."""

from __future__ import annotations

import gc
import os
import pickle
import resource
from errno import ENOSPC
from pathlib import Path
from signal import SIGKILL
from tempfile import gettempdir
from time import monotonic, sleep
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from dask.sizeof import sizeof
from distributed.protocol.serialize import deserialize_bytes, serialize_bytes
from distributed.spill import SpillBuffer
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from made_clusters import PATIENCE
from made_parts import make_collection
from spokeshave import DocumentVectorizer, DualLinearSVC
from spokeshave.cluster.blocks import Block
from spokeshave.cluster.client import list_workers, submit
from spokeshave.cluster.count import PrunedWords
from spokeshave.cluster.spill import (
    ALIGNMENT,
    TRIES,
    SpillPlugin,
    add_folder,
    find_folder,
    join_arrays,
    remove_folder,
    spill,
    spilling,
)
from spokeshave.cluster.statistics import Tally
from spokeshave.jobs.dataset import Dataset, Part

NAME = "spill-of-a-test"


class Pair(NamedTuple):
    """Arrays with a name, as results have them."""

    one: np.ndarray
    other: np.ndarray | None


@pytest.fixture(autouse=True)
def folder(tmp_path):
    """Have a folder in a folder of the test."""
    add_folder(NAME, tmp_path)
    yield tmp_path / NAME
    remove_folder(NAME)


def list_files(folder):
    """Return what is on the folder, when all that nobody has is gone."""
    gc.collect()
    return sorted(folder.iterdir())


def assert_same(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    elif isinstance(expected, tuple | list):
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert found == expected


VALUES = [
    Pair(np.arange(1000), np.linspace(0, 1, 7)),
    Pair(np.empty(0, np.uint32), None),
    [np.arange(12, dtype=np.int8).reshape(3, 4).T, np.arange(10)[::3], "oak", 7],
    None,
    {"ash": 1.5},
]


def test_values_are_what_they_were():
    spilled = spill(NAME, iter(VALUES))
    assert len(spilled) == len(VALUES)
    assert_same(list(spilled), VALUES)
    for number in reversed(range(len(VALUES))):
        assert_same(spilled.read(number), VALUES[number])


def test_arrays_are_mapped_aligned_and_changed_for_nobody_else():
    spilled = spill(NAME, [np.arange(3, dtype=np.int8), Pair(np.arange(5), np.ones(2))])
    one, other = spilled.read(1)
    assert one.ctypes.data % ALIGNMENT == other.ctypes.data % ALIGNMENT == 0
    one[:] = -1
    np.testing.assert_array_equal(spilled.read(1).one, np.arange(5))


def test_a_file_is_gone_with_what_is_in_it(folder):
    spilled = spill(NAME, VALUES)
    assert list_files(folder) == [spilled.path]
    kept = spilled.read(0)
    del spilled
    assert list_files(folder) == []
    assert_same(kept, VALUES[0])  # what is mapped is there for as long as it is needed


def test_dask_keeps_the_place_of_what_it_puts_on_the_disk(folder):
    spilled = spill(NAME, [np.zeros(100_000)])
    written = serialize_bytes(spilled)
    assert len(written) < 2000
    path = spilled.path
    del spilled
    assert list_files(folder) == [path]
    again = deserialize_bytes(written)
    assert_same(again.read(0), np.zeros(100_000))
    del again
    assert list_files(folder) == []


@pytest.mark.parametrize("send", ["pickle", "dask"])
def test_whoever_gets_it_has_a_file_of_its_own(folder, send):
    spilled = spill(NAME, VALUES)
    if send == "pickle":
        copy = pickle.loads(pickle.dumps(spilled))
    else:
        copy = deserialize_bytes(serialize_bytes(spilled, context={"recipient": "another"}))
    assert len(list_files(folder)) == 2
    del spilled
    assert list_files(folder) == [copy.path]
    assert_same(list(copy), VALUES)


def test_dask_knows_what_it_takes_to_send():
    assert 80_000 < sizeof(spill(NAME, [np.zeros(10_000)])) < 81_000
    assert sizeof(spill(NAME, [])) == 0


def fill_the_disk():
    yield np.zeros(3)
    raise OSError(ENOSPC, os.strerror(ENOSPC))


def test_a_disk_that_is_full_is_named_and_has_no_file(folder):
    with pytest.raises(OSError, match=NAME) as caught:
        spill(NAME, fill_the_disk())
    assert caught.value.errno == ENOSPC
    assert Path(caught.value.filename).parent == folder
    assert list_files(folder) == []


def make_doubtful():
    yield np.zeros(3)
    raise ZeroDivisionError


def test_values_that_cannot_be_made_leave_nothing(folder):
    with pytest.raises(ZeroDivisionError):
        spill(NAME, make_doubtful())
    assert list_files(folder) == []


PAIRS = st.builds(
    Pair,
    arrays.arrays(np.int32, st.integers(0, 5)),
    arrays.arrays(np.float64, st.integers(0, 3), elements={"allow_nan": False}),
)


@given(st.lists(st.lists(PAIRS, max_size=4), min_size=1).filter(any))
def test_arrays_are_joined_end_to_end(groups):
    one, none, other = join_arrays(
        [spill(NAME, group) for group in groups], lambda pair: (pair.one, None, pair.other)
    )
    assert none is None
    assert_same(one, np.concatenate([pair.one for group in groups for pair in group]))
    assert_same(other, np.concatenate([pair.other for group in groups for pair in group]))


def test_many_are_joined_with_few_files_open():
    spilled = [spill(NAME, [np.full(2, i)]) for i in range(200)]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 50, hard))
    try:
        (joined,) = join_arrays(spilled, lambda array: (array,))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    np.testing.assert_array_equal(joined, np.repeat(np.arange(200), 2))


@pytest.mark.parametrize("target", [100, 100_000])
def test_dask_may_read_it_from_the_disk_again_and_again(target, tmp_path, folder):
    add_folder(NAME, tmp_path, target)
    data = SpillBuffer(str(tmp_path / "spilled"), target)
    data["oak"] = spill(NAME, [np.arange(50)])  # which is too large for the lower target
    if data.fast:
        data.evict()
    for _ in range(3):
        assert_same(data["oak"].read(0), np.arange(50))
        assert len(list_files(folder)) == 1
    del data["oak"]
    assert len(list_files(folder)) == (target < 400)  # which is removed with the folder


class Worker:
    """What a plugin knows of a worker."""

    def __init__(self, folder):
        self.local_directory = str(folder)
        self.data = SpillBuffer(str(folder / "spilled"), 100_000)
        self.plugin = SpillPlugin(NAME)
        self.plugin.setup(self)

    def take(self, key, result):
        """Have a result, which Dask puts on the disk."""
        self.data[key] = result
        self.plugin.transition(key, "executing", "memory")
        assert self.data.evict() > 0

    def drop(self, key):
        """Have a result no longer."""
        del self.data[key]
        self.plugin.transition(key, "memory", "released")


@pytest.fixture
def worker(tmp_path):
    return Worker(tmp_path)


def test_what_dask_has_put_on_the_disk_and_lets_go_is_gone(worker, folder):
    worker.take("oak", spill(NAME, [np.arange(3)]))
    worker.take("ash", "no file")
    assert len(list_files(folder)) == 1
    worker.drop("ash")
    assert len(list_files(folder)) == 1
    worker.drop("oak")
    assert list_files(folder) == []


def test_a_file_stays_until_the_last_result_that_has_it(worker, folder):
    found = spill(NAME, [np.arange(3)])
    worker.take("look", ("oak", {7: found}))  # of which Dask has a copy
    worker.take("taken", found)
    worker.take("again", found)
    del found
    for key in ("look", "taken"):
        worker.drop(key)
        assert len(list_files(folder)) == 1
    assert_same(list(worker.data["again"]), [np.arange(3)])
    worker.drop("again")
    assert list_files(folder) == []


def test_a_file_stays_for_as_long_as_somebody_looks_at_it(worker, folder):
    held = spill(NAME, [np.arange(3)])
    worker.take("oak", held)
    worker.drop("oak")
    assert_same(list(held), [np.arange(3)])
    del held
    assert list_files(folder) == []


def test_a_result_that_is_made_again_of_the_same_file_is_there(worker, folder):
    found = spill(NAME, [np.arange(3)])
    worker.take("oak", found)
    worker.data["oak"]  # so it is not on Dask's disk when that lets it go
    found.release()
    worker.drop("oak")
    worker.take("oak", found)
    del found
    assert len(list_files(folder)) == 1
    assert_same(list(worker.data["oak"]), [np.arange(3)])


def test_a_result_that_comes_back_from_the_disk_is_gone_in_the_end(worker, folder):
    held = spill(NAME, [np.arange(3)])
    worker.take("oak", held)
    assert worker.data["oak"] is held  # as Dask knows that it is still there
    del held
    assert len(list_files(folder)) == 1
    worker.drop("oak")
    assert list_files(folder) == []


def make_tasks():
    """Return what workers are asked to do: they cannot import this file, so it is sent to them."""

    def add_up(spilled):
        return sum(float(array.sum()) for array in spilled), str(spilled.path)

    def is_there(name, dask_worker):
        return any(Path(at, name).exists() for at in (dask_worker.local_directory, gettempdir()))

    def leave_a_file(name):
        spill(name, [np.ones(3)]).keep()

    return add_up, is_there, leave_a_file


def test_workers_send_it_to_each_other_and_have_nothing_in_the_end(client):
    add_up, is_there, leave_a_file = make_tasks()
    workers = list_workers(client)
    with spilling(client) as name:
        made = submit(client, spill, name, [np.ones(4), np.ones(5)], workers=list(workers)[:1])
        for address in workers:
            total, path = submit(client, add_up, made, workers=[address]).result()
            assert total == 9
            assert Path(path).parent == Path(workers[address]["local_directory"], name)
        client.run(leave_a_file, name)
        assert all(client.run(is_there, name).values())
        del made
    assert not any(client.run(is_there, name).values())


def test_a_worker_that_comes_later_has_it_too(four):
    def kill(dask_worker):
        os.kill(os.getpid(), SIGKILL)

    with spilling(four) as name:
        dead, *others = list_workers(four)
        four.run(kill, workers=[dead], on_error="ignore")
        deadline = monotonic() + PATIENCE
        while not (new := list_workers(four).keys() - {dead, *others}):
            assert monotonic() < deadline
            sleep(0.05)
        made = submit(four, spill, name, [np.ones(4)], workers=list(new))
        assert submit(four, len, made, workers=others[:1]).result() == 1
        del made


class Unreached:
    """A client that cannot reach a worker a few times."""

    def __init__(self, n_failures):
        self.n_failures, self.registered = n_failures, []

    def register_plugin(self, plugin, name):
        if self.n_failures:
            self.n_failures -= 1
            raise OSError("a worker has died")
        self.registered.append(name)

    def unregister_worker_plugin(self, name):
        if name not in self.registered:
            raise ValueError("The worker plugin does not exist")
        self.registered.remove(name)


def test_a_worker_that_dies_meanwhile_is_done_without():
    client = Unreached(TRIES - 1)
    with spilling(client) as name:
        assert client.registered == [name]
    assert client.registered == []


def test_workers_that_cannot_be_reached_are_told_of():
    with pytest.raises(OSError, match="a worker has died"), spilling(Unreached(TRIES)):
        raise AssertionError("there is no folder")


def test_a_folder_that_is_not_there_is_named_and_can_be_removed():
    remove_folder(NAME)
    remove_folder(NAME)
    with pytest.raises(ValueError, match=f"There is no folder {NAME} here"):
        find_folder(NAME)


def make_results():
    """Return results of every kind that holds much: each is large enough for its frame to be."""
    collection = make_collection(400, n_words=3000)
    vectorizer = DocumentVectorizer()
    X, y = vectorizer.fit_transform(collection.texts), np.array(collection.labels)
    words = pl.DataFrame({"word": [f"word{i}" for i in range(9000)], "frequency": range(9000)})
    part = Part(None, X, y)
    return {
        "words": PrunedWords(words, 1, 2, 3),
        "buckets": [words] * 3,
        "tally": Tally(words, np.zeros(5, np.int64)),
        "block": Block(X, sparse.csc_matrix(X[:, :4])),
        "vectorizer": vectorizer,
        "model": DualLinearSVC(random_state=0).fit(X, y),
        "collection": Dataset(
            train=part,
            test=None,
            names=[],
            counts=[],
            feature_names=np.array([]),
            vectorizer=None,
            scaler=None,
            fingerprint="",
        ),
    }


RESULTS = make_results()


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_takes_about_what_dask_believes(name):
    believed, written = sizeof(RESULTS[name]), len(pickle.dumps(RESULTS[name]))
    assert 0.7 * written < believed < 10 * written  # what is written is packed
