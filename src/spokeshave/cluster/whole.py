"""The job where the documents of all parts fit in one worker.

Every worker gets them, and takes a fold, a part of the classes, and a method at a time. What comes
out is what one machine gives, to the last digit: the same seeds, and the same blocks of classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from spokeshave.budget.row_batches import Batch
from spokeshave.cluster.blocks import join_rows, join_targets
from spokeshave.cluster.client import collect, submit
from spokeshave.corpus.vectorizer import DocumentVectorizer
from spokeshave.curves.cuts import check_cuts
from spokeshave.curves.feature_curve import Fold, Plan, gather_folds, trace_fold
from spokeshave.curves.fitted import train
from spokeshave.curves.result import Choice, FeatureCurve
from spokeshave.jobs.dataset import Collection, Part
from spokeshave.jobs.fit import (
    Findings,
    account_for_run,
    choose_cut,
    compare_normals,
    count_folds,
    list_targets,
    make_folds,
    make_shaved,
    make_svm,
    pack_classifier,
)
from spokeshave.jobs.record import RunRecord
from spokeshave.jobs.settings import Origin, Settings
from spokeshave.jobs.summary import describe_provenance
from spokeshave.kernels.lanes import LANES
from spokeshave.selection.shaved_svc import (
    ShavedSVC,
    Shaven,
    draw_seeds,
    read_thresholds,
    score_shaven,
    shave,
)
from spokeshave.svm.calibration import fit_sigmoids, halve
from spokeshave.svm.estimator import DualLinearSVC
from spokeshave.svm.solver import count_blocks
from spokeshave.svm.tuning import PAPER_CS, choose_best, score_fold
from spokeshave.utils.timing import Stopwatch
from spokeshave.utils.validation import binarize, check_documents

N_CUTS = 16  # that are scored at a time
WHOLE, HALVES = 0, (1, 2)  # the documents that a final model is trained on


@dataclass(frozen=True)
class Facts:
    """What the client knows of the documents.

    Attributes
    ----------
    names, counts : list
        The classes, and the documents of each.
    n_documents, n_features : int
        How many there are.
    is_multilabel : bool
        Whether a document may be of several classes.
    fingerprint : str
        Tells the documents from any others.
    """

    names: list[str]
    counts: list[int]
    n_documents: int
    n_features: int
    is_multilabel: bool
    fingerprint: str

    @property
    def rows(self) -> NDArray[Any]:
        """The classes that have a score of their own, as a curve names them."""
        if self.is_multilabel:
            return np.arange(len(self.names))
        return np.array(self.names)[-1 if len(self.names) == 2 else 0 :]

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return count_folds(self.counts, self.n_documents, self.is_multilabel)

    @property
    def can_calibrate(self) -> bool:
        """Whether each class has the two documents that probabilities need."""
        return self.is_multilabel or min(self.counts) > 1


def measure_whole(facts: Facts, n_nonzeros: int, *, has_values: bool) -> int:
    """Return about how many bytes a task takes that has all documents, what a process has aside.

    A cell is 12 bytes in the matrix and in that of a fold, and 4 in each of three copies of its
    feature's number; where values differ, 8 more in a copy that is cut.
    """
    cell = 12 + 12 + 3 * 4 + (8 if has_values else 0)
    n_rows = facts.rows.size
    row = 8 * 12 + LANES * 10 + 16 * N_CUTS // 4
    feature = 100 + 8 * 2 * n_rows + LANES * (8 + 8 + 4)
    return cell * n_nonzeros + row * facts.n_documents + feature * facts.n_features


class Answer(NamedTuple):
    """What a run leaves: the model's bytes, the record, and the SVM on all features."""

    content: bytes
    record: RunRecord
    full: DualLinearSVC


def gather_collection(
    blocks: list[Batch], vectorizer: DocumentVectorizer | None, facts: Facts
) -> Collection:
    """Return all documents as they are on one machine."""
    X = join_rows(blocks, vectorizer, facts.n_features)
    y = join_targets(blocks, facts.names, is_multilabel=facts.is_multilabel)
    X, y = check_documents(X, y)
    numbers = np.array(range(facts.n_features)).astype(str).astype(object)
    return Collection(
        train=Part(None, X, y),
        test=None,
        names=facts.names,
        counts=facts.counts,
        feature_names=numbers if vectorizer is None else vectorizer.get_feature_names_out(),
        vectorizer=vectorizer,
        scaler=None,
        fingerprint=facts.fingerprint,
    )


def run_whole(
    client: Client,
    collection: Future,
    facts: Facts,
    settings: Settings,
    origin: Origin,
    watch: Stopwatch,
) -> Future:
    """Start the whole job on documents that each worker can hold; return its answer to come."""
    svc = make_svm(settings, n_jobs=1)
    if settings.C == "auto":
        watch.begin("choosing C")
        svc.set_params(C=_choose_C(client, collection, facts, svc, settings, watch))
    curves = []
    for method in settings.methods:
        watch.begin(f"tracing the curve ({method})")
        plan = _plan(facts, svc, settings, method, settings.cuts)
        curves.append(_trace(client, collection, facts, plan, settings.seed, watch))
    choice = choose_cut(curves[0], settings)
    watch.begin("training the model")
    thresholds = np.zeros(facts.rows.size)
    if facts.is_multilabel:
        plan = _plan(facts, svc, settings, "warm", [choice.cut])
        thresholds = read_thresholds(
            _trace(client, collection, facts, plan, settings.seed, watch),
            np.broadcast_to(choice.cut, thresholds.size),
        )
    parts = (WHOLE, *HALVES) if facts.can_calibrate else (WHOLE,)
    shares = {
        (part, number): submit(client, shave_block, collection, svc, choice, settings, part, number)
        for part, number in product(parts, range(count_blocks(facts.rows.size)))
    }
    collect([submit(client, _is_there, share) for share in shares.values()], watch.reach)
    calibration = None
    if facts.can_calibrate:
        halves = [share for (part, _), share in shares.items() if part in HALVES]
        calibration = submit(client, calibrate, collection, halves, thresholds)
    whole = [share for (part, _), share in shares.items() if part == WHOLE]
    model = submit(
        client, join_model, collection, svc, choice, settings, whole, thresholds, calibration
    )
    return submit(client, finish, collection, svc, curves, choice, model, settings, origin)


def _is_there(result: Any) -> None:
    """Wait for a result without fetching it."""


def _plan(facts: Facts, svc: DualLinearSVC, settings: Settings, method: str, cuts: Any) -> Plan:
    return Plan(
        method=method,
        by=settings.by,
        estimator=svc,
        cuts=check_cuts(cuts, facts.n_features, settings.against),
        against=settings.against,
        aggregate=None,
        renormalize=None,
        n_jobs=1,
        random_state=settings.seed,
    )


def _choose_C(
    client: Client,
    collection: Future,
    facts: Facts,
    svc: DualLinearSVC,
    settings: Settings,
    watch: Stopwatch,
) -> float:
    folds = range(facts.n_folds)
    scores = [submit(client, tune_fold, collection, svc, settings.seed, fold) for fold in folds]
    return choose_best(PAPER_CS, collect(scores, watch.reach))


def tune_fold(collection: Collection, svc: DualLinearSVC, seed: int, fold: int) -> list[float]:
    """Return the score of each C in a fold."""
    X, y = collection.train.X, list_targets(collection)
    train, test = _find_fold(collection, seed, fold)
    return score_fold(svc, X, y, PAPER_CS, train, test)


def _trace(
    client: Client, collection: Future, facts: Facts, plan: Plan, seed: int, watch: Stopwatch
) -> FeatureCurve:
    """Return a curve by cross-validation: a task for each fold and block of classes."""
    start, n_blocks = perf_counter(), count_blocks(facts.rows.size)
    tasks = [
        submit(client, trace_block, collection, plan, seed, fold, number)
        for fold, number in product(range(facts.n_folds), range(n_blocks))
    ]
    found = collect(tasks, watch.reach)
    folds = [join_folds(found[at : at + n_blocks]) for at in range(0, len(found), n_blocks)]
    return gather_folds(plan, facts.rows, folds, "cross-validation", start)


def trace_block(collection: Collection, plan: Plan, seed: int, fold: int, number: int) -> Fold:
    """Trace the classes of a block in a fold."""
    X, y = collection.train.X, collection.train.y
    train, test = _find_fold(collection, seed, fold)
    classes, indicator = binarize(y)
    names = classes[-indicator.shape[1] :]
    if number >= count_blocks(binarize(y[train])[1].shape[1]):  # a fold may lack classes
        return Fold([None] * names.size, 0.0)
    documents = X[train], y[train], X[test], indicator[test]
    return trace_fold(plan, *documents, names, [number])


def join_folds(shares: list[Fold]) -> Fold:
    """Return the curves of all classes of a fold."""
    curves = [
        next((curve for curve in of_class if curve is not None), None)
        for of_class in zip(*(share.curves for share in shares), strict=True)
    ]
    return Fold(curves, sum(share.fit_seconds for share in shares))


def _find_fold(
    collection: Collection, seed: int, fold: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    splits = make_folds(collection, seed).split(collection.train.X, collection.train.y)
    train, test = next(islice(splits, fold, None))
    return train, test


class Share(NamedTuple):
    """Some classes of the final model, trained on all documents or on half of them.

    ``rows`` are their numbers. Of all documents there is the model at the cut, and the weights,
    intercepts and dual on all features; of a half the scores of the ``others``.
    """

    rows: NDArray[np.intp]
    shaven: Shaven | None
    coef: NDArray[np.float64] | None
    intercept: NDArray[np.float64] | None
    dual: sparse.csr_matrix | None
    others: NDArray[np.intp] | None
    scores: NDArray[np.float64] | None


def shave_block(
    collection: Collection,
    svc: DualLinearSVC,
    choice: Choice,
    settings: Settings,
    part: int,
    number: int,
) -> Share:
    """Train a block of classes, and cut them: what `ShavedSVC` does with all."""
    X, y, seed = collection.train.X, collection.train.y, settings.seed
    used = others = None
    if part in HALVES:
        used, others = list(halve(y, seed))[part - 1]
        X, y = X[used], y[used]
    classes, indicator = binarize(y)
    names = classes[-indicator.shape[1] :]
    trained = train(X, y, svc, settings.by, None, 1, seed, [number])
    rows = np.flatnonzero(np.isin(names, trained.classes))
    shaven = shave(
        trained,
        np.broadcast_to(choice.cut, rows.size),
        draw_seeds(seed, names.size)[rows],
        against=choice.against,
        final="warm",
        renormalize=None,
        n_jobs=1,
    )
    if others is None:
        assert trained.dual is not None
        dual = trained.dual.beta if settings.with_stability else None
        return Share(rows, shaven, trained.coef, trained.intercept, dual, None, None)
    scores = score_shaven(
        collection.train.X[others], shaven.coef.toarray(), shaven.kept, shaven.unit
    )
    return Share(rows, None, None, None, None, others, scores + shaven.intercept)


def calibrate(
    collection: Collection, halves: list[Share], thresholds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Fit Platt's sigmoid on scores that each half of the documents gets from the other."""
    _, indicator = binarize(collection.train.y)
    scores = np.empty(indicator.shape)
    for half in halves:
        assert half.others is not None
        scores[np.ix_(half.others, half.rows)] = half.scores
    return fit_sigmoids(scores - thresholds, indicator, np.ones(len(scores)))


def join_model(
    collection: Collection,
    svc: DualLinearSVC,
    choice: Choice,
    settings: Settings,
    shares: list[Share],
    thresholds: NDArray[np.float64],
    calibration: NDArray[np.float64] | None,
) -> ShavedSVC:
    """Return the final model, fitted, from the shares of its classes."""
    order: Any = np.argsort(np.concatenate([share.rows for share in shares]))
    parts: list[Any] = [share.shaven for share in shares]
    shaven = Shaven(
        coef=sparse.vstack([part.coef for part in parts], format="csr")[order],
        intercept=np.concatenate([part.intercept for part in parts])[order],
        kept=sparse.vstack([part.kept for part in parts], format="csr")[order],
        unit=parts[0].unit,
    )
    y = collection.train.y
    model = make_shaved(collection, svc, choice, settings)
    model.classes_, _ = binarize(y)
    model.multilabel_ = y.ndim == 2
    model.n_features_in_ = collection.train.X.shape[1]
    model.choice_, model.thresholds_ = choice, thresholds
    model.estimator_ = _join_full(clone(svc), model, shares, order)
    model.take(shaven)
    if calibration is not None:
        model.calibration_ = calibration
    return model


def _join_full(
    svc: DualLinearSVC, model: ShavedSVC, shares: list[Any], order: NDArray[np.intp]
) -> DualLinearSVC:
    """Return the SVM on all features; its dual is there where normals are to be compared."""
    svc.classes_, svc.multilabel_ = model.classes_, model.multilabel_
    svc.n_features_in_ = model.n_features_in_
    svc.coef_ = np.concatenate([share.coef for share in shares])[order]
    svc.intercept_ = np.concatenate([share.intercept for share in shares])[order]
    if shares[0].dual is not None:
        svc.dual_coef_ = sparse.vstack([share.dual for share in shares], format="csr")[order]
    return svc


def finish(
    collection: Collection,
    svc: DualLinearSVC,
    curves: list[FeatureCurve],
    choice: Choice,
    model: ShavedSVC,
    settings: Settings,
    origin: Origin,
) -> Answer:
    """Pack the model and write the record; what it took, and judgements, are not in it yet."""
    stable = compare_normals(collection, model, settings) if settings.with_stability else None
    content = pack_classifier(collection, model, describe_provenance(collection, settings, origin))
    found = Findings(collection, svc, curves, choice, model, stable, content)
    record = account_for_run(found, [None, None], settings, origin, Stopwatch())
    return Answer(content, record, model.estimator_)
