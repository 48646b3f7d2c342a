"""The linear SVM that is told how much memory it may take."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
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
from sklearn.utils.validation import check_is_fitted, validate_data

from spokeshave.budget.request import Feed, Reporter, Request
from spokeshave.budget.rounds import Objective
from spokeshave.budget.run import Result, run
from spokeshave.budget.survey import Survey
from spokeshave.budget.warmup import exercise
from spokeshave.budget.workplace import Workplace
from spokeshave.corpus.documents import Vectors
from spokeshave.corpus.options import Column
from spokeshave.corpus.stream import open_stream
from spokeshave.curves.cuts import check_nonzeros
from spokeshave.curves.fitted import UNIT_TOLERANCE
from spokeshave.model.inputs import TextInput, VectorInput
from spokeshave.model.model import Model
from spokeshave.model.scorers import SparseScorer
from spokeshave.ranking.criteria import check_criterion
from spokeshave.svm.estimator import DualLinearSVC, check_svc, compute_costs, make_svc
from spokeshave.svm.one_vs_rest import OneVsRestMixin
from spokeshave.svm.solver import Stop
from spokeshave.text.vectorizer import DocumentVectorizer, check_vectorizer, list_stop_words
from spokeshave.utils.checkpoint import describe, digest
from spokeshave.utils.formatting import parse_size
from spokeshave.utils.validation import binarize, check_targets, tidy
from spokeshave.utils.versions import list_versions
from spokeshave.warmup import is_compiled, warm_up

TOLERANCE = 0.001
ROWS = 4096  # of a matrix that are taken at a time


class BudgetedSVC(OneVsRestMixin, BaseEstimator):  # type: ignore[misc]
    """A linear SVM trained on everything, in no more memory than it is told.

    Goes over the documents twice. The first time counts them and keeps the largest random subset
    that fits; an SVM on that ranks the features, and as many are kept as let all documents fit in
    memory. The second time reduces every document to these; and the final SVM is trained on all.
    Where even the fewest features that do as well as all of them, judged on part of the subset,
    are too many, it is trained over the disk, to the same duality gap.

    Brank et al., "Feature selection using support vector machines" (2002).

    Parameters
    ----------
    memory : int or str, default="2GB"
        Memory that the whole process may hold, interpreter included: bytes, or text as "512MB".
    estimator : DualLinearSVC, optional
        The SVM; it is cloned. ``warm_start`` and ``probability`` have no part in it.
    vectorizer : DocumentVectorizer, optional
        How texts become rows. ``min_df`` and ``max_df`` count the documents of the subset, and so
        do the frequencies of "tfidf".
    nonzeros_per_document : float, optional
        The mean number of features that documents keep; as many as fit by default.
    by : str, default="normal"
        What features are ranked by, as in `rank_features`.
    tolerance : float, default=0.001
        How much less than the best macro-averaged F1 fewer features may give on the subset, where
        more would not fit in memory. The more documents there are beside the subset, the more
        they lose by it.
    folder : str or Path, optional
        Where temporary files go. A run that was killed goes on from its last finished stage when
        it is started again with the same folder, which is removed in the end. By default a folder
        of its own in the system's place for such files, which no run goes on from.
    verbose : bool, default=False
        Whether to print the plan on standard error before it is followed.
    n_jobs : int, optional
        Threads; -1 for all cores. The more, the more memory each class takes.
    random_state : int, RandomState instance or None, default=None
        Seed of everything; that of the estimator by default.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels; column numbers for an indicator matrix, names for files.
    coef_ : ndarray of shape (n_classes, n_kept)
        Weights of the features kept; one row for two classes.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts.
    features_ : ndarray of shape (n_kept,)
        The features kept: their columns, or the words themselves.
    plan_ : Plan
        What was expected after the first pass.
    cut_ : Cut
        What was decided after ranking.
    reduced_ : Reduced
        What the second pass came to.
    objective_, duality_gap_ : ndarray of shape (n_classes,)
        Primal objective reached, and primal minus dual.
    n_rounds_ : int
        Most passes over the disk that a class took; 0 where all was in memory.
    multilabel_ : bool
        Whether a document may be of several classes.

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

        What they take counts: memory must be enough for them and for training.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents; a dense table is converted to sparse rows.
        y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
            Labels, or a column of zeros and ones per class, dense or sparse.

        Returns
        -------
        self : BudgetedSVC
        """
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], multi_output=True
        )
        X, y = tidy(X), check_targets(y)
        classes, _ = binarize(y)
        feed = MatrixFeed(X, y, classes)
        self._run(feed, "l2" if feed.has_unit_rows else None, Reporter())
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
            As in `load_source`; what is not told is guessed.

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
            return self.fit_feed(supply)

    def fit_feed(self, feed: Feed, reporter: Reporter | None = None) -> Self:
        """Train on documents of any source that can be read twice.

        Parameters
        ----------
        feed : Feed
            The documents, as `spokeshave.corpus.open_stream` gives them.
        reporter : Reporter, optional
            Is told of the plan, and of progress.

        Returns
        -------
        self : BudgetedSVC
        """
        # Vectors are brought to length one, as they are when they are read as a whole.
        norm = self.check_vectorizer().norm if feed.is_text else "l2"
        self._run(feed, norm, reporter or (Teller() if self.verbose else Reporter()))
        if not feed.is_text:
            self.n_features_in_ = getattr(feed, "n_features", None) or self.survey_.n_features
        return self

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
        """Return what is needed to predict, as `save_model` writes it."""
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

    def _run(self, feed: Feed, norm: str | None, reporter: Reporter) -> None:
        vectorizer = self.check_vectorizer()
        self._check_parameters(make_svc(self.estimator, self.n_jobs, self.random_state))
        has_values = not feed.is_text or vectorizer.weighting != "binary"
        if not is_compiled(exercise, is_text=feed.is_text, has_values=has_values):
            reporter.say("kernels are compiled first; that takes a minute, once")
        warm_up(exercise, is_text=feed.is_text, has_values=has_values)
        request = self.make_request(feed, norm)
        with self._open_workplace(feed, request) as workplace:
            request = replace(request, seed=workplace.remember("seed", request.seed))
            result = run(feed, request, workplace, reporter)
        self.take(result, feed, norm)

    def check_vectorizer(self) -> DocumentVectorizer:
        """Return what makes rows of texts, or raise where it cannot."""
        vectorizer: Any = DocumentVectorizer() if self.vectorizer is None else self.vectorizer
        if not isinstance(vectorizer, DocumentVectorizer):
            raise ValueError(
                f"vectorizer must be a DocumentVectorizer. Got {type(vectorizer).__name__} instead."
            )
        check_vectorizer(vectorizer)
        return vectorizer

    def _check_parameters(self, svc: DualLinearSVC) -> None:
        check_svc(svc)
        check_criterion(self.by)
        if self.nonzeros_per_document is not None:
            check_nonzeros(self.nonzeros_per_document)
        if svc.fit_intercept == "free":
            raise ValueError(
                "estimator must have a regularised intercept or none: a free one needs documents "
                "in memory. Got fit_intercept='free'; use True."
            )
        tolerance: Any = self.tolerance
        if not isinstance(tolerance, Real) or not 0 <= float(tolerance) < 1:
            raise ValueError(
                f"tolerance must be from 0 to below 1. Got {self.tolerance!r} instead."
            )

    def make_request(self, feed: Any, norm: str | None) -> Request:
        """Return what is asked of a run.

        Parameters
        ----------
        feed : Feed
            The documents; how they are labelled matters, and nothing else of them.
        norm : {"l2", "l1"} or None
            The length that documents are brought to.

        Returns
        -------
        request : Request
        """
        svc = make_svc(self.estimator, self.n_jobs, self.random_state)
        vectorizer = self.check_vectorizer()
        self._check_parameters(svc)
        seed = svc.random_state if self.random_state is None else self.random_state

        def pose(names: NDArray[Any], codes: NDArray[np.intp], survey: Survey) -> Objective:
            sizes = np.array([survey.class_counts[name] for name in names.tolist()], float)
            labels = feed.classes[names] if isinstance(feed, MatrixFeed) else names
            prices = compute_costs(svc, labels, sizes, survey.n_documents, feed.is_multilabel)
            return Objective(*prices, codes)

        return Request(
            memory=parse_size(self.memory),
            svm=pose,
            stop=Stop(svc.tol, svc.max_iter),
            by=self.by,
            nonzeros_per_document=self.nonzeros_per_document,
            tolerance=self.tolerance,
            weighting=vectorizer.weighting,
            norm=norm,
            min_df=vectorizer.min_df,
            max_df=vectorizer.max_df,
            stop_words=list_stop_words(vectorizer),
            strip_markup=vectorizer.strip_markup,
            seed=int(check_random_state(seed).randint(2**31)),
            n_jobs=self.n_jobs,
            class_names=getattr(feed, "class_names", ()),
        )

    @contextmanager
    def _open_workplace(self, feed: Feed, request: Request) -> Iterator[Workplace]:
        """Give a run a folder, and remove it in the end; one that has a name is kept for later."""
        if self.folder is None:
            with TemporaryDirectory(prefix="spokeshave-") as folder:
                yield Workplace(Path(folder, "work"), {})
            return
        workplace = Workplace(self.folder, self._take_fingerprint(feed, request))
        try:
            yield workplace
            workplace.clear()
        finally:
            workplace.leave()

    def _take_fingerprint(self, feed: Feed, request: Request) -> dict[str, Any]:
        """Return what a run depends on, by name."""
        svc = make_svc(self.estimator, None, None).set_params(n_jobs=None)
        vectorizer = clone(self.vectorizer or DocumentVectorizer())
        vectorizer.set_params(n_jobs=None, stop_words=sorted(request.stop_words))
        return {
            "version": list_versions()["spokeshave"],
            "documents": feed.stamps,
            "memory": request.memory,
            "estimator": describe(svc),
            "vectorizer": describe(vectorizer),
            "nonzeros_per_document": self.nonzeros_per_document,
            "by": self.by,
            "tolerance": self.tolerance,
            "random_state": describe(self.random_state),
        }

    def take(self, result: Result, feed: Any, norm: str | None) -> None:
        """Take the outcome of a run.

        Parameters
        ----------
        result : Result
            What came out.
        feed : Feed
            The documents; whether they are texts, and how they are labelled, matters.
        norm : {"l2", "l1"} or None
            The length that documents were brought to.
        """
        self.classes_ = result.classes
        self.multilabel_ = feed.is_multilabel
        self.is_text_, self.norm_ = feed.is_text, norm
        self.features_ = np.asarray(result.features, object if feed.is_text else np.intp)
        self.idf_ = result.idf
        weights = result.weights
        self.coef_, self.intercept_ = weights.coef, weights.intercept
        if not feed.is_text:  # the most frequent came first
            order = np.argsort(self.features_)
            self.features_, self.coef_ = self.features_[order], self.coef_[:, order]
        self.objective_, self.duality_gap_ = weights.objective, weights.gap
        self.n_rounds_ = weights.n_rounds
        self.n_iter_ = max(1, weights.n_rounds)
        self.checksum_ = result.checksum
        self.survey_, self.plan_ = result.survey, result.plan
        self.cut_, self.reduced_ = result.cut, result.reduced


class Teller(Reporter):
    """Prints the plan on standard error."""

    def say(self, sentence: str) -> None:
        """Print a sentence."""
        print(sentence, file=sys.stderr)


class MatrixFeed:
    """A matrix and its targets, a few rows at a time; labels are numbers of classes."""

    is_text, name = False, "X"

    def __init__(self, X: sparse.csr_matrix, y: Any, classes: NDArray[Any]) -> None:
        self._X, self._y, self.classes = X, y, classes
        self.is_multilabel = y.ndim == 2
        self.class_names = list(range(len(classes)))
        self._codes = y if self.is_multilabel else np.searchsorted(classes, y)
        self.n_bytes, self.position = X.shape[0], 0

    @property
    def stamps(self) -> list[Any]:
        """What tells the matrix from any other."""
        return [digest(self._X), digest(self._y)]

    @property
    def has_unit_rows(self) -> bool:
        """Whether every document that is not empty has Euclidean length one."""
        return all(
            (np.abs(squares[squares > 0] - 1) < UNIT_TOLERANCE).all()
            for part in self._split()
            for squares in [np.asarray(part.multiply(part).sum(axis=1)).ravel()]
        )

    def read_batches(self, batch_size: int = ROWS) -> Iterator[Vectors]:
        """Yield the rows, a few at a time."""
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
