"""The executor of a job on a Dask cluster: the dataset is held by the workers.

Every worker that runs a task gets the dataset, and a task is a fold and a block of classes. The
results are those of one machine to the last digit: seeds and blocks are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from distributed import Client, Future

from spokeshave.budget.row_batches import Batch
from spokeshave.cluster.blocks import join_rows, join_targets
from spokeshave.cluster.client import Report, collect, submit, wait
from spokeshave.cluster.evaluate import EvaluationParts, evaluate_parts
from spokeshave.jobs.dataset import Dataset, DatasetInfo, Part
from spokeshave.jobs.fit import Executor, Task
from spokeshave.kernels.lanes import LANES
from spokeshave.metrics import Agreement
from spokeshave.svm.solver import count_blocks
from spokeshave.text.vectorizer import DocumentVectorizer
from spokeshave.utils.validation import check_documents

N_CUTS = 16  # scored at a time


def measure_whole(info: DatasetInfo, n_nonzeros: int, *, has_values: bool) -> int:
    """Estimate the bytes of a task that holds the dataset, besides those of the process.

    A nonzero takes 12 bytes in the matrix and in that of a fold, and 4 in each of three copies of
    its feature number; with values, 8 more in a copy that is cut.
    """
    cell = 12 + 12 + 3 * 4 + (8 if has_values else 0)
    row = 8 * 12 + LANES * 10 + 16 * N_CUTS // 4
    feature = 100 + 8 * 2 * info.rows.size + LANES * (8 + 8 + 4)
    return cell * n_nonzeros + row * info.n_documents + feature * info.n_features


def join_dataset(
    blocks: list[Batch], vectorizer: DocumentVectorizer | None, info: DatasetInfo
) -> Dataset:
    """Return the dataset that one machine would have."""
    X = join_rows(blocks, vectorizer, info.n_features)
    y = join_targets(blocks, info.names, is_multilabel=info.is_multilabel)
    X, y = check_documents(X, y)
    numbers = np.array(range(info.n_features)).astype(str).astype(object)
    return Dataset(
        train=Part(None, X, y),
        test=None,
        names=info.names,
        counts=info.counts,
        feature_names=numbers if vectorizer is None else vectorizer.get_feature_names_out(),
        vectorizer=vectorizer,
        scaler=None,
        fingerprint=info.fingerprint,
        label_type=info.label_type,
    )


class DaskExecutor(Executor):
    """Runs tasks on the workers of a cluster; results stay there until they are gathered.

    Parameters
    ----------
    client : Client
        The cluster.
    dataset : Future
        The dataset, without test documents.
    info : DatasetInfo
        The facts about it.
    test : EvaluationParts or None
        Test documents, which are read in their parts.
    vectorizer : Future or None
        The vectorizer of texts.
    """

    n_jobs = 1

    def __init__(
        self,
        client: Client,
        dataset: Future,
        info: DatasetInfo,
        test: EvaluationParts | None,
        vectorizer: Future | None,
    ) -> None:
        self.dataset, self.info, self.has_test = dataset, info, test is not None
        self._client, self._test, self._vectorizer = client, test, vectorizer

    def split_classes(self) -> list[list[int] | None]:
        """Return a task for each block of classes."""
        return [[number] for number in range(count_blocks(self.info.rows.size))]

    def map(
        self, function: Callable[..., Any], tasks: Sequence[Task], report: Report | None = None
    ) -> list[Future]:
        """Run a function of the dataset for every task; wait, but do not fetch the results."""
        futures = [submit(self._client, function, self.dataset, *task) for task in tasks]
        wait(futures, report)
        return futures

    def gather(self, handles: Sequence[Future], field: str | None = None) -> list[Any]:
        """Fetch results, or one field of each."""
        if field is not None:
            handles = [submit(self._client, getattr, each, field) for each in handles]
        return collect(handles)

    def evaluate(self, content: Future, model: Future, report: Report) -> list[Agreement]:
        """Compare predictions for the test documents with their labels, part by part."""
        assert self._test is not None
        full = submit(self._client, getattr, model, "estimator_")
        names = self.info.names
        return evaluate_parts(
            self._client, self._test, content, full, self._vectorizer, names, report
        )
