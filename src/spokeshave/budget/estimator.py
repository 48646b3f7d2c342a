"""A linear SVM trained in a given memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from spokeshave.budget.counts import CollectionCounts
from spokeshave.budget.curve import has_unit_rows
from spokeshave.budget.memory import AvailableMemory
from spokeshave.budget.request import BatchReader, Request
from spokeshave.budget.run import STAGES, Result, run
from spokeshave.budget.warmup import exercise
from spokeshave.budget.working_set import Objective
from spokeshave.corpus.documents import Vectors, restore_labels
from spokeshave.corpus.options import Column
from spokeshave.corpus.stream import open_stream
from spokeshave.curves.cuts import check_nonzeros
from spokeshave.kernels.compile import is_compiled, warm_up
from spokeshave.model.file import list_versions
from spokeshave.model.inputs import TextInput, VectorInput
from spokeshave.model.model import Model
from spokeshave.model.scorers import SparseScorer
from spokeshave.ranking.criteria import check_criterion
from spokeshave.svm.estimator import DualLinearSVC, check_svc, compute_costs, make_svc
from spokeshave.svm.one_vs_rest import OneVsRestMixin
from spokeshave.svm.solver import Stop
from spokeshave.text.vectorizer import (
    DocumentVectorizer,
    check_vectorizer,
    list_stop_words,
    make_analysis,
)
from spokeshave.utils.checkpoint import WorkFolder, describe, digest
from spokeshave.utils.formatting import parse_size
from spokeshave.utils.timing import Stopwatch
from spokeshave.utils.validation import (
    binarize,
    check_magnitude,
    check_targets,
    tidy,
    validate_data,
)

TOLERANCE = 0.001
ROWS = 4096  # rows of a matrix in a batch
FOLDER_FORMAT = 4  # of the files that a run leaves to be resumed


class BudgetedSVC(OneVsRestMixin, BaseEstimator):  # type: ignore[misc]
    """A linear SVM trained on all documents in a given memory.

    Reads the documents twice. The first pass counts them and keeps the largest random sample that
    fits. An SVM on the sample ranks the features, and as many are kept as let all documents fit in
    memory. The second pass reduces every document to these features, and the final SVM is trained
    on all documents. If even the fewest features that do as well as all of them on part of the
    sample are too many, the SVM is trained in rounds over the disk, to the same duality gap.

    Brank et al., "Feature selection using support vector machines" (2002).

    Parameters
    ----------
    memory : int or str, default="2GB"
        Memory that the whole process may hold, interpreter included: bytes, or text as "512MB".
    estimator : DualLinearSVC, optional
        The SVM, which is cloned. ``warm_start`` and ``probability`` are ignored.
    vectorizer : DocumentVectorizer, optional
        Turns texts into rows: words, n-grams or the terms of a function, with the values of any
        weighting. ``min_df``, ``max_df``, ``max_features`` and the frequencies of "tfidf" refer to
        the sample. A model with the terms of a function can predict, but has no file.
    nonzeros_per_document : float, optional
        Mean number of features that documents keep; as many as fit by default.
    by : str, default="normal"
        Ranking criterion, as in `rank_features`.
    tolerance : float, default=0.001
        Loss in macro-averaged F1 on the sample that is acceptable if more features would not fit
        in memory. The loss on all documents is larger, the more of them there are.
    folder : str or Path, optional
        Folder of temporary files. A killed run resumes from its last finished stage if it is
        started again with the same folder. The folder is removed at the end. By default a
        temporary folder, which cannot be resumed from.
    verbose : bool, default=False
        Whether to print the plan on standard error.
    n_jobs : int, optional
        Threads; -1 for all cores. Each takes memory of its own, so more than two are used only as
        far as they fit. The model does not depend on their number.
    random_state : int, RandomState instance or None, default=None
        Seed of everything; that of the estimator by default.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels; column numbers for an indicator matrix. Those of files are strings, or whole
        numbers or truth values if all of them are in a jsonl or parquet file.
    coef_ : ndarray of shape (n_classes, n_kept)
        Weights of the features kept; one row for two classes.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts.
    features_ : ndarray of shape (n_kept,)
        The kept features: column numbers, or terms of texts.
    counts_ : CollectionCounts
        Counts of all documents, from the first pass.
    plan_ : Plan
        The plan, made after the first pass.
    cut_ : Cut
        The number of features kept, decided after ranking.
    reduced_ : Reduced
        Size of the documents after the second pass.
    objective_, duality_gap_ : ndarray of shape (n_classes,)
        Primal objective reached, and primal minus dual.
    n_rounds_ : int
        Most passes over the disk that a class took; 0 if all was in memory.
    multilabel_ : bool
        Whether a document may have several classes.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from spokeshave import BudgetedSVC
    >>> X, y = load_digits(return_X_y=True)
    >>> model = BudgetedSVC("4GB", nonzeros_per_document=20, random_state=0).fit(normalize(X), y)
    >>> model.reduced_.per_document < 22
    True
    """

    def __init__(
        self,
        memory: int | str = "2GB",
        *,
        estimator: DualLinearSVC | None = None,
        vectorizer: DocumentVectorizer | None = None,
        nonzeros_per_document: float | None = None,
        by: str = "normal",
        tolerance: float = TOLERANCE,
        folder: str | Path | None = None,
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.memory = memory
        self.estimator = estimator
        self.vectorizer = vectorizer
        self.nonzeros_per_document = nonzeros_per_document
        self.by = by
        self.tolerance = tolerance
        self.folder = folder
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Train on documents that are in memory, or mapped into it.

        Their own memory counts towards the budget.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents. A dense table is converted to sparse rows.
        y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
            Labels, or a column of zeros and ones per class, dense or sparse.

        Returns
        -------
        self : BudgetedSVC
        """
        given = X, y
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], multi_output=True
        )
        check_magnitude(X)
        X, y = tidy(X), check_targets(y)
        classes, _ = binarize(y)
        stream = MatrixStream(X, y, classes, measure_arrays(*given, X, y))
        _run(self, stream, "l2" if stream.has_unit_rows else None, Stopwatch(), _ignore)
        self.classes_ = classes[: y.shape[1]] if y.ndim == 2 else classes
        return self

    def fit_files(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        text: Column | None = None,
        label: Column | None = None,
        label_separator: str | None = None,
        format: str | None = None,
        encoding: str | None = None,
        under: str | None = None,
        bad_rows: str = "raise",
    ) -> Self:
        """Train on documents in files, which are read twice and never held in memory.

        Parameters
        ----------
        paths : str, Path, or sequence of them
            A file or folder of any format that `load_source` reads, or several of one format.
        text, label, label_separator, format, encoding, under, bad_rows
            As in `load_source`; guessed by default.

        Returns
        -------
        self : BudgetedSVC
        """
        with open_stream(
            paths,
            text=text,
            label=label,
            label_separator=label_separator,
            format=format,
            encoding=encoding,
            under=under,
            bad_rows=bad_rows,
        ) as supply:
            return fit_stream(self, supply)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each document for each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features), or iterable of str
            Documents: texts after `fit_files` on texts, otherwise vectors.

        Returns
        -------
        scores : ndarray of shape (n_documents, n_classes), or (n_documents,) for two classes
        """
        check_is_fitted(self)
        if self.is_text_:
            return self.to_model().decision_function(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        kept = tidy(X)[:, self.features_]
        if self.norm_ is not None:
            kept = normalize(kept, norm=self.norm_, copy=False)
        return self._shape_scores(np.asarray(kept @ self.coef_.T) + self.intercept_)

    def to_model(
        self, classes: Sequence[Any] | None = None, provenance: dict[str, Any] | None = None
    ) -> Model:
        """Return the model that predicts, as `save_model` writes it."""
        check_is_fitted(self)
        n_rows, n_features = self.coef_.shape
        reader: TextInput | VectorInput
        if self.is_text_:
            vectorizer = self.vectorizer or DocumentVectorizer()
            reader = TextInput(
                self.features_.tolist(),
                vectorizer.weighting,
                vectorizer.norm,
                vectorizer.strip_markup,
                None if self.idf_ is None else self.idf_.astype(float),
                make_analysis(vectorizer),
                sublinear_tf=vectorizer.sublinear_tf,
            )
        else:
            features = self.features_.astype(np.int64)
            names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
            kept = tuple(map(str, np.asarray(names)[features]))
            reader = VectorInput(self.n_features_in_, features, kept, False)
        scorer = SparseScorer(
            starts=n_rows * np.arange(n_features + 1, dtype=np.int64),
            classes=np.tile(np.arange(n_rows, dtype=np.min_scalar_type(n_rows - 1)), n_features),
            weights=self.coef_.T.astype(np.float32).ravel(),
            intercept=np.asarray(self.intercept_, float),
            unit=not self.is_text_ and self.norm_ == "l2",
        )
        names_of_classes = self.classes_ if classes is None else classes
        return Model(
            classes_=np.array(list(names_of_classes)),
            multilabel_=self.multilabel_,
            input=reader,
            scorer=scorer,
            thresholds_=np.zeros(n_rows),
            calibration_=None,
            provenance=dict(provenance or {}),
        )


def _print_error(sentence: str) -> None:
    print(sentence, file=sys.stderr)


def _ignore(sentence: str) -> None:
    """Say nothing."""


def measure_arrays(*tables: Any) -> int:
    """Return the bytes of dense and sparse tables; arrays that they share count once.

    Examples
    --------
    >>> X = sparse.csr_matrix(np.eye(3))
    >>> measure_arrays(X, X, np.zeros(3), [1, 2])
    76
    """
    parts = [each for table in tables for each in (table, *getattr(table, "__dict__", {}).values())]
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    return sum({array.__array_interface__["data"][0]: array.nbytes for array in arrays}.values())


def fit_stream(
    svc: BudgetedSVC,
    stream: BatchReader,
    watch: Stopwatch | None = None,
    say: Callable[[str], None] | None = None,
    memory: AvailableMemory | None = None,
) -> BudgetedSVC:
    """Fit an estimator to any stream of documents that can be read twice.

    ``watch`` times the stages and receives their progress. ``say`` is called with the plan; by
    default it is printed if ``svc.verbose``. ``memory`` is what the budget leaves; by default as
    found when the kernels are loaded.
    """
    # Vectors are scaled to length one, as they are if they are read as a whole.
    norm = find_vectorizer(svc).norm if stream.is_text else "l2"
    default = _print_error if svc.verbose else _ignore
    _run(svc, stream, norm, watch or Stopwatch(), say or default, memory)
    if not stream.is_text:
        svc.n_features_in_ = getattr(stream, "n_features", None) or svc.counts_.n_features
    return svc


def _run(
    svc: BudgetedSVC,
    stream: BatchReader,
    norm: str | None,
    watch: Stopwatch,
    say: Callable[[str], None],
    memory: AvailableMemory | None = None,
) -> None:
    request = make_request(svc, stream, norm)
    kind = {"is_text": request.is_text, "has_values": request.has_values}
    if request.has_prior:
        kind["has_prior"] = True
    if request.has_ngrams:
        kind["has_ngrams"] = True
    if not is_compiled(exercise, **kind):
        say("kernels are compiled first; that takes a minute, once")
    warm_up(exercise, **kind)
    with _open_folder(svc, stream, request) as work:
        request = replace(request, seed=work.remember("seed", request.seed))
        result = run(stream, request, work, watch, say, memory)
    set_result(svc, result, request)


def find_vectorizer(svc: BudgetedSVC) -> DocumentVectorizer:
    """Return a copy of the vectorizer of an estimator, or raise if it is not usable."""
    vectorizer: Any = DocumentVectorizer() if svc.vectorizer is None else svc.vectorizer
    if not isinstance(vectorizer, DocumentVectorizer):
        raise ValueError(
            f"vectorizer must be a DocumentVectorizer. Got {type(vectorizer).__name__} instead."
        )
    check_vectorizer(vectorizer)
    found: DocumentVectorizer = clone(vectorizer)
    found.set_params(stop_words=sorted(list_stop_words(vectorizer)), n_jobs=None)
    return found


def _check_svc(svc: BudgetedSVC) -> DualLinearSVC:
    """Return the SVM of an estimator, or raise if a parameter is not usable."""
    found = make_svc(svc.estimator, svc.n_jobs, svc.random_state)
    check_svc(found)
    check_criterion(svc.by)
    if svc.nonzeros_per_document is not None:
        check_nonzeros(svc.nonzeros_per_document)
    if found.fit_intercept == "free":
        raise ValueError(
            "estimator must have a regularised intercept or none: a free one needs documents "
            "in memory. Got fit_intercept='free'; use True."
        )
    if found.prior is not None and not isinstance(found.prior, str):
        raise ValueError(
            "estimator must have prior=None or 'bns': the features of an array are not known "
            "before they are chosen. Got an array instead."
        )
    tolerance: Any = svc.tolerance
    if not isinstance(tolerance, Real) or not 0 <= float(tolerance) < 1:
        raise ValueError(f"tolerance must be from 0 to below 1. Got {svc.tolerance!r} instead.")
    return found


def make_request(svc: BudgetedSVC, stream: Any, norm: str | None) -> Request:
    """Check the parameters of an estimator, and return the options of a run.

    Only ``is_text``, ``is_multilabel`` and, if there are any, ``classes`` and ``class_names`` of
    the stream are used.
    """
    vectorizer, estimator = find_vectorizer(svc), _check_svc(svc)
    seed = estimator.random_state if svc.random_state is None else svc.random_state

    def pose(names: NDArray[Any], codes: NDArray[np.intp], counts: CollectionCounts) -> Objective:
        sizes = np.array([counts.class_counts[name] for name in names.tolist()], float)
        labels = stream.classes[names] if isinstance(stream, MatrixStream) else names
        prices = compute_costs(estimator, labels, sizes, counts.n_documents, stream.is_multilabel)
        strength = None if estimator.prior is None else float(estimator.prior_strength)
        return Objective(*prices, codes, strength)

    return Request(
        memory=parse_size(svc.memory),
        is_text=stream.is_text,
        is_multilabel=stream.is_multilabel,
        svm=pose,
        stop=Stop(estimator.tol, estimator.max_iter),
        by=svc.by,
        nonzeros_per_document=svc.nonzeros_per_document,
        tolerance=svc.tolerance,
        vectorizer=vectorizer,
        norm=norm,
        seed=int(check_random_state(seed).randint(2**31)),
        n_jobs=svc.n_jobs,
        class_names=getattr(stream, "class_names", ()),
        has_prior=estimator.prior is not None,
        n_given=getattr(stream, "n_given", 0),
    )


@contextmanager
def _open_folder(svc: BudgetedSVC, stream: BatchReader, request: Request) -> Iterator[WorkFolder]:
    """Give a run a folder, removed at the end; a named one is kept if the run fails."""
    if svc.folder is None:
        with TemporaryDirectory(prefix="spokeshave-") as folder:
            yield WorkFolder(Path(folder, "work"), {})
        return
    work = WorkFolder(svc.folder, _take_fingerprint(svc, stream, request), STAGES)
    try:
        yield work
        work.clear()
    finally:
        work.release()


def _take_fingerprint(svc: BudgetedSVC, stream: BatchReader, request: Request) -> dict[str, Any]:
    """Return the inputs of a run, by name."""
    estimator = make_svc(svc.estimator, None, None).set_params(n_jobs=None)
    return {
        "version": list_versions()["spokeshave"],
        "format": FOLDER_FORMAT,
        "documents": stream.stamps,
        "memory": request.memory,
        "estimator": describe(estimator),
        "vectorizer": describe(request.vectorizer),
        "nonzeros_per_document": svc.nonzeros_per_document,
        "by": svc.by,
        "tolerance": svc.tolerance,
        "random_state": describe(svc.random_state),
    }


def set_result(svc: BudgetedSVC, result: Result, request: Request) -> None:
    """Set the fitted attributes of an estimator."""
    label_type = result.counts.label_type
    svc.classes_ = np.array(restore_labels(result.classes.tolist(), label_type))
    svc.multilabel_ = request.is_multilabel
    svc.is_text_, svc.norm_ = request.is_text, request.norm
    svc.features_ = np.asarray(result.features, object if request.is_text else np.intp)
    svc.idf_ = result.idf
    weights = result.weights
    svc.coef_, svc.intercept_ = weights.coef, weights.intercept
    if not request.is_text:  # they are sorted by frequency
        order = np.argsort(svc.features_)
        svc.features_, svc.coef_ = svc.features_[order], svc.coef_[:, order]
    svc.objective_, svc.duality_gap_ = weights.objective, weights.gap
    svc.n_rounds_ = weights.n_rounds
    svc.n_iter_ = max(1, weights.n_rounds)
    svc.checksum_ = result.checksum
    svc.counts_, svc.plan_ = result.counts, result.plan
    svc.cut_, svc.reduced_ = result.cut, result.reduced


class MatrixStream:
    """A matrix and its targets in batches of rows; labels are class numbers."""

    is_text, name = False, "X"

    def __init__(
        self, X: sparse.csr_matrix, y: Any, classes: NDArray[Any], n_given: int = 0
    ) -> None:
        self._X, self._y, self.classes, self.n_given = X, y, classes, n_given
        self.is_multilabel = y.ndim == 2
        self.class_names = list(range(len(classes)))
        self._codes = y if self.is_multilabel else np.searchsorted(classes, y)
        self.n_bytes, self.position = X.shape[0], 0

    @property
    def stamps(self) -> list[Any]:
        """Fingerprint of the matrix and its targets."""
        return [digest(self._X), digest(self._y)]

    @property
    def has_unit_rows(self) -> bool:
        """Whether every nonempty document has Euclidean length one."""
        return all(map(has_unit_rows, self._split()))

    def read_batches(self, batch_size: int = ROWS) -> Iterator[Vectors]:
        """Yield the rows in batches."""
        self.position = 0
        for part in self._split():
            stop = self.position + part.shape[0]
            yield Vectors(part, self._list_labels(self.position, stop), None)
            self.position = stop

    def _split(self) -> Iterator[sparse.csr_matrix]:
        for first in range(0, self._X.shape[0], ROWS):
            yield self._X[first : first + ROWS]

    def _list_labels(self, first: int, stop: int) -> list[Any]:
        if not self.is_multilabel:
            return list(self._codes[first:stop].tolist())
        rows = self._codes[first:stop]
        ends = rows.indptr
        return [tuple(rows.indices[ends[i] : ends[i + 1]].tolist()) for i in range(stop - first)]
