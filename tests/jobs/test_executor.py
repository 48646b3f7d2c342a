"""The executor of one process: its tasks, their results and its progress."""

from __future__ import annotations

import numpy as np
import pytest

from made_up import KINDS, TREES
from spokeshave import DocumentVectorizer
from spokeshave.corpus import Texts
from spokeshave.jobs.dataset import prepare_dataset
from spokeshave.jobs.executor import Executor

MANY = [f"{kind} {k % 3}" for k, kind in enumerate(KINDS)]


def make_dataset(labels=KINDS, test=None):
    return prepare_dataset(Texts(TREES, labels), test, DocumentVectorizer())


def count_rows(dataset, *numbers):
    return dataset.train.X.shape[0], *numbers


@pytest.mark.parametrize("labels", [KINDS, MANY], ids=["binary", "labels"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_tasks_run_on_the_dataset_in_order(labels, n_jobs):
    shares = []
    executor = Executor(make_dataset(labels), n_jobs)
    found = executor.map(count_rows, [(k, k + 1) for k in range(4)], shares.append)
    assert executor.gather(found) == [(len(TREES), k, k + 1) for k in range(4)]
    assert shares == [0.25, 0.5, 0.75, 1.0]


def test_tasks_of_one_block_run_side_by_side_and_others_in_threads():
    assert Executor(make_dataset(), 2).n_jobs == 1
    assert Executor(make_dataset(MANY), 2).n_jobs == 2


def test_a_field_of_each_result_can_be_gathered():
    executor = Executor(make_dataset(), 1)
    parts = executor.map(lambda dataset: dataset.train, [()])
    assert executor.gather(parts, "X")[0].shape[0] == len(TREES)


def test_the_facts_are_those_of_the_dataset():
    executor = Executor(make_dataset(test=Texts(["oak"], ["oak"])), 1)
    assert executor.has_test
    assert (executor.info.n_documents, executor.info.names) == (len(TREES), sorted(set(KINDS)))
    assert executor.info.row_names == sorted(set(KINDS))[1:]
    assert not Executor(make_dataset(), 1).has_test
    np.testing.assert_array_equal(executor.info.rows, sorted(set(KINDS))[1:])
