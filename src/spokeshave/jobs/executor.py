"""The executor of a job: runs functions of a dataset, here in threads of this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from joblib import Parallel, delayed

from spokeshave.jobs.dataset import DatasetInfo
from spokeshave.metrics import Agreement, compare
from spokeshave.model.file import unpack_model
from spokeshave.svm.solver import count_blocks

Report: TypeAlias = Callable[[float], None]
Task: TypeAlias = tuple[Any, ...]


class Executor:
    """Runs the tasks of a job in threads of this process.

    Tasks run one after the other, each in ``n_jobs`` threads over blocks of classes, so that one
    fold is held at a time. A problem of a single block has its tasks side by side instead.

    The results of tasks are handles: they may be arguments of other tasks, also in lists, and
    `gather` returns their values. Here they are the values themselves. Other executors hold the
    dataset elsewhere; results do not depend on the executor.

    Attributes
    ----------
    info : DatasetInfo
        The facts about the dataset.
    has_test : bool
        Whether there are test documents.
    n_jobs : int or None
        The threads of a task.
    """

    info: DatasetInfo
    has_test: bool
    n_jobs: int | None

    def __init__(self, dataset: Any, n_jobs: int | None) -> None:
        self.dataset = dataset
        self.info, self.has_test = dataset.info, dataset.test is not None
        is_one_block = count_blocks(len(self.info.row_names)) == 1
        self.n_jobs = 1 if is_one_block else n_jobs
        self._n_tasks = n_jobs if is_one_block else 1

    def split_classes(self) -> list[list[int] | None]:
        """Return the solver's blocks of classes for each task of a fold; None for all classes."""
        return [None]

    def map(
        self, function: Callable[..., Any], tasks: Sequence[Task], report: Report | None = None
    ) -> list[Any]:
        """Run ``function(dataset, *task)`` for every task, and return the handles of the results.

        ``report`` is called with the share of the tasks that are done.
        """
        results = []
        found = Parallel(
            n_jobs=self._n_tasks, require="sharedmem", batch_size=1, return_as="generator"
        )(delayed(function)(self.dataset, *task) for task in tasks)
        for result in found:
            results.append(result)
            if report is not None:
                report(len(results) / len(tasks))
        return results

    def gather(self, handles: Sequence[Any], field: str | None = None) -> list[Any]:
        """Return the values of handles, or of one field of each."""
        return [each if field is None else getattr(each, field) for each in handles]

    def evaluate(self, content: Any, model: Any, report: Report) -> list[Agreement]:
        """Compare the labels of the test documents with two predictions.

        The first is by the model file ``content``, the second by the SVM on all features of
        ``model``. Both arguments are handles.
        """
        test, names = self.dataset.test, self.info.names
        predicted = unpack_model(content).predict(test.given), model.estimator_.predict(test.X)
        return [compare(test.y, each, names) for each in predicted]
