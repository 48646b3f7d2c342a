"""The whole job: from documents to a model and the record of the run; writes no files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice, product
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline

from spokeshave.corpus.documents import Texts, restore_labels
from spokeshave.curves.cuts import check_cuts
from spokeshave.curves.feature_curve import (
    CurveOptions,
    FoldCurves,
    MeasuredFold,
    average_folds,
    check_options,
    count_fold_labels,
    feature_curve,
    measure_fold,
    merge_labels,
)
from spokeshave.curves.result import Choice, FeatureCurve
from spokeshave.curves.stability import Stability, stability
from spokeshave.errors import ParameterError
from spokeshave.jobs.dataset import (
    Dataset,
    DatasetInfo,
    Documents,
    Part,
    check_labels,
    describe_unknown,
    hold_out_documents,
    list_names,
    make_targets,
    prepare_dataset,
    scale_vectors,
)
from spokeshave.jobs.record import (
    EvaluationRecord,
    Making,
    ModelRecord,
    RunRecord,
    TrialRecord,
)
from spokeshave.jobs.settings import Origin, Settings
from spokeshave.jobs.summary import (
    count_at_cuts,
    describe_making,
    describe_provenance,
    describe_settings,
    make_record,
    predict_ranked,
    summarize_choice,
    summarize_curve,
    summarize_cuts,
    summarize_evaluation,
    summarize_stability,
    summarize_trials,
    summarize_words,
    write_headline,
)
from spokeshave.metrics import Agreement, compare
from spokeshave.model.export import export_model
from spokeshave.model.file import pack_model, unpack_model
from spokeshave.model.inputs import VectorInput
from spokeshave.model.model import Model
from spokeshave.ranking.criteria import Ranking, rank_features
from spokeshave.selection.representation import (
    SEARCHED,
    Representation,
    choose_representation,
)
from spokeshave.selection.shaved_svc import FinalClasses, ShavedSVC, assemble, train_final
from spokeshave.svm.estimator import DualLinearSVC
from spokeshave.svm.solver import count_blocks
from spokeshave.svm.tuning import PAPER_CS, choose_best, score_fold
from spokeshave.text.vectorizer import DocumentVectorizer
from spokeshave.text.weighting import WEIGHTINGS, TermWeighter, are_counts
from spokeshave.utils.timing import Stopwatch
from spokeshave.utils.validation import binarize

Report: TypeAlias = Callable[[float], None]
Task: TypeAlias = tuple[Any, ...]
Folds: TypeAlias = "KFold | StratifiedKFold"


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
        given = (unpack_model(content), test.given), (model.estimator_, test.X)
        return [compare(test.y, predict_ranked(*each), names, test.n_unknown) for each in given]


CHOOSING = "choosing the representation"
FINAL = "warm"  # how the final model is fitted
SHARED = "max"  # how features are ranked for all classes together


@dataclass(frozen=True, eq=False)
class JobResult:
    """The model of a run, the bytes of its file, and the record."""

    model: Model
    content: bytes
    record: RunRecord


def list_steps(settings: Settings, *, has_test: bool) -> dict[str, float]:
    """Return the steps of a run with estimates of their shares of the time."""
    steps = {CHOOSING: 40.0} if settings.effort != "quick" else {}
    steps["making rows"] = 1.0
    if settings.C == "auto" and settings.effort == "quick":
        steps["choosing C"] = 12.0
    of_methods = (1.0 if method in ("mask", "sv_set") else 25.0 for method in settings.methods)
    steps[_name_curves(settings)] = 5.0 + sum(of_methods)
    if settings.with_stability:
        steps["comparing normals"] = 10.0
    steps["training the model"] = 4.0
    if has_test or settings.hold_out:
        steps["judging it"] = 0.5
    return steps


def _name_curves(settings: Settings) -> str:
    return f"tracing the curve ({', '.join(settings.methods)})"


def run_job(
    train: Documents,
    test: Documents | None = None,
    *,
    settings: Settings | None = None,
    origin: Origin | None = None,
    stopwatch: Stopwatch | None = None,
) -> JobResult:
    """Vectorize, measure the curve by cross-validation, choose a cut, and train the final model.

    Parameters
    ----------
    train, test : Texts or Vectors
        Training documents, and test documents if there are any.
    settings : Settings, optional
        The settings of the run.
    origin : Origin, optional
        The source of the documents, for the record.
    stopwatch : Stopwatch, optional
        Times the steps and shows progress.

    Returns
    -------
    result : JobResult
    """
    settings, origin = settings or Settings(), origin or Origin("documents")
    watch = stopwatch or Stopwatch()
    settings, chosen = settle(train, test, settings, watch)
    dataset = watch.run("making rows", make_dataset, train, test, settings)
    warn_of_unknown(dataset)
    return run_steps(Executor(dataset, settings.n_jobs), settings, origin, watch, chosen)


def warn_of_unknown(dataset: Dataset) -> None:
    """Warn if test documents have labels that no training document has."""
    if dataset.unknown:
        warnings.warn(describe_unknown(dataset.unknown), UserWarning, stacklevel=3)


def settle(
    train: Documents, test: Documents | None, settings: Settings, watch: Stopwatch
) -> tuple[Settings, Representation | None]:
    """Return settings whose representation and SVM were chosen by cross-validation, and the choice.

    Documents that will be held out take no part in it.
    """
    if settings.effort == "quick":
        return settings, None
    watch.begin(CHOOSING)
    if test is None and settings.hold_out:
        train, _ = hold_out_documents(train, settings.hold_out, settings.seed)
    chosen = search_representation(train, settings, watch.reach)
    watch.end()
    return apply_representation(settings, chosen), chosen


def search_representation(
    documents: Documents, settings: Settings, report: Callable[[float], None] | None = None
) -> Representation:
    """Choose the representation and the SVM by cross-validation on documents."""
    is_text, labels = isinstance(documents, Texts), check_labels(documents)
    return choose_representation(
        _prepare_search(documents, settings),
        make_targets(labels, list_names(labels)),
        effort=settings.effort,
        fixed=_list_fixed(settings, is_text=is_text),
        vectorizer=make_vectorizer(settings),
        estimator=make_svm(settings, is_text=is_text),
        n_jobs=settings.n_jobs,
        random_state=settings.seed,
        report=report or (lambda share: None),
    )


def _prepare_search(documents: Documents, settings: Settings) -> Any:
    """Return texts, counts as they are, or other vectors as the job scales them."""
    if isinstance(documents, Texts):
        return documents.texts
    if make_weighter(settings, documents) is not None or are_counts(documents.X):
        return documents.X
    return scale_vectors(documents.X)[0]


def _list_fixed(settings: Settings, *, is_text: bool) -> dict[str, Any]:
    """Return the part of the representation that the settings fix."""
    fixed = {name: getattr(settings, name) for name in SEARCHED if name in settings.fixed}
    if "weighting" in fixed:
        fixed["weighting"] = settings.find_weighting(is_text=is_text)
    if {"prior", "prior_strength"} & set(settings.fixed):
        has_prior = settings.find_prior(is_text=is_text) is not None
        fixed["prior_strength"] = settings.prior_strength if has_prior else 0.0
    return fixed


def apply_representation(settings: Settings, chosen: Representation) -> Settings:
    """Return settings with a chosen representation and SVM."""
    return replace(
        settings,
        analyzer=chosen.analyzer,
        ngram_range=chosen.ngram_range,
        min_df=chosen.min_df,
        weighting=chosen.weighting,
        prior="bns" if chosen.prior_strength else None,
        prior_strength=chosen.prior_strength,
        loss=chosen.loss,
        C=chosen.C,
        class_weight=chosen.class_weight or settings.class_weight,
    )


def run_steps(
    executor: Executor,
    settings: Settings,
    origin: Origin,
    watch: Stopwatch,
    chosen: Representation | None = None,
) -> JobResult:
    """Run the job on a dataset that an executor holds; only the result is gathered.

    ``chosen`` is the representation that the settings have, with its trials, if it was searched.
    """
    svc = choose_svm(executor, settings, watch)
    watch.begin(_name_curves(settings))
    curves, measured = measure_curves(executor, svc, settings, watch)
    choice = choose_cut(curves[0], settings)
    watch.begin("training the model")
    folds = _measure_final(executor, svc, choice, settings, measured)
    parts = executor.map(
        train_blocks,
        [(svc, choice, settings, executor.n_jobs, blocks) for blocks in executor.split_classes()],
        watch.reach,
    )
    (model,) = executor.map(assemble_model, [(svc, choice, settings, parts, folds)])
    stable = None
    if settings.with_stability:
        watch.begin("comparing normals")
        tasks = [(model, settings, executor.n_jobs)]
        (stable,) = executor.map(compare_normals, tasks, watch.reach)
    provenance = describe_provenance(executor.info, origin, settings.seed)
    (content,) = executor.map(pack_classifier, [(model, provenance)])
    evaluations = []
    if executor.has_test:
        watch.begin("judging it")
        on, info = origin.test_source or "held-out documents", executor.info
        evaluations = [
            summarize_evaluation(each, info.names, on, is_multilabel=info.is_multilabel)
            for each in executor.evaluate(content, model, watch.reach)
        ]
    watch.end()
    making = describe_making(origin, settings, watch)
    found = [] if chosen is None else summarize_trials(chosen)
    summary = model, stable, content, curves, choice, evaluations, settings, origin, making, found
    (record,) = executor.map(summarize_run, [summary])
    shipped, gathered = executor.gather([content, record])
    return JobResult(unpack_model(shipped), shipped, gathered)


def make_dataset(train: Documents, test: Documents | None, settings: Settings) -> Dataset:
    """Turn documents into rows and targets."""
    return prepare_dataset(
        train,
        test,
        make_vectorizer(settings),
        weighter=make_weighter(settings, train),
        hold_out=settings.hold_out,
        seed=settings.seed,
    )


def make_vectorizer(settings: Settings) -> DocumentVectorizer:
    """Return the vectorizer of a run."""
    return DocumentVectorizer(
        analyzer=settings.analyzer,
        ngram_range=settings.ngram_range,
        min_df=settings.min_df,
        max_df=settings.max_df,
        max_features=settings.max_features,
        stop_words=settings.stop_words,
        strip_markup=settings.strip_markup,
        n_jobs=settings.n_jobs,
        **WEIGHTINGS[settings.find_weighting(is_text=True)],
    )


def make_weighter(settings: Settings, documents: Documents) -> TermWeighter | None:
    """Return the weighter of vectors; None for texts and for vectors that keep their values."""
    if isinstance(documents, Texts):
        return None
    weighting = settings.find_weighting(is_text=False)
    if weighting == "counts":
        return None
    if not sparse.issparse(documents.X):
        raise ParameterError(
            "weighting",
            "must be left out for a dense table; it weighs the terms of texts, or counts in sparse "
            f"vectors. Got {weighting!r} instead.",
        )
    return TermWeighter(**WEIGHTINGS[weighting])


def make_folds(info: DatasetInfo, settings: Settings) -> Folds:
    """Return the folds of a dataset.

    Labels are stratified in the order of the documents, as `ShavedSVC` does by default, since
    neighbours in a file are often alike. Multilabel targets are shuffled.
    """
    n_folds = info.limit_folds(settings.n_folds)
    if info.is_multilabel:
        return KFold(n_folds, shuffle=True, random_state=settings.seed)
    return StratifiedKFold(n_folds)


def find_fold(dataset: Dataset, folds: Folds, fold: int) -> tuple[Any, Any]:
    """Return the training and the test documents of a fold."""
    splits = folds.split(dataset.train.X, dataset.train.y)
    train, test = next(islice(splits, fold, None))
    return train, test


def make_svm(settings: Settings, *, is_text: bool) -> DualLinearSVC:
    """Return the SVM of a run; its C is the default if it has yet to be chosen."""
    return DualLinearSVC(
        1.0 if settings.C == "auto" else float(settings.C),
        loss=settings.loss,
        prior=settings.find_prior(is_text=is_text),
        prior_strength=settings.prior_strength,
        class_weight=settings.class_weight,
    )


def choose_svm(executor: Executor, settings: Settings, watch: Stopwatch) -> DualLinearSVC:
    """Return the SVM of a run, with C chosen by cross-validation if it is "auto"."""
    svc = make_svm(settings, is_text=executor.info.is_text)
    svc.set_params(n_jobs=executor.n_jobs, random_state=settings.seed)
    if settings.C != "auto":
        return svc
    watch.begin("choosing C")
    folds = make_folds(executor.info, settings)
    tasks = [(svc, folds, fold) for fold in range(folds.n_splits)]
    scores = executor.gather(executor.map(tune_fold, tasks, watch.reach))
    watch.end()
    svc.set_params(C=choose_best(PAPER_CS, scores))
    return svc


def tune_fold(dataset: Dataset, svc: DualLinearSVC, folds: Folds, fold: int) -> list[float]:
    """Return the score of each C on a fold."""
    y = dataset.train.y
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.toarray().ravel()  # scikit-learn scores one column as two classes
    return score_fold(svc, dataset.train.X, y, PAPER_CS, *find_fold(dataset, folds, fold))


def measure_curves(
    executor: Executor, svc: DualLinearSVC, settings: Settings, watch: Stopwatch
) -> tuple[list[FeatureCurve], list[Any]]:
    """Return the curve of each method by cross-validation, and handles of the measured folds."""
    start, info = perf_counter(), executor.info
    options = _make_options(info, svc, settings, executor.n_jobs)
    check_options(settings.methods, settings.by, settings.against, options.aggregate, svc)
    groups, splitter = executor.split_classes(), make_folds(info, settings)
    tasks = [
        (options, splitter, fold, blocks)
        for fold, blocks in product(range(splitter.n_splits), groups)
    ]
    measured = executor.map(measure_blocks, tasks, watch.reach)
    folds = join_blocks(executor.gather(measured, "curves"), len(groups))
    seconds = perf_counter() - start
    curves = average_folds(options, info.rows, folds, "cross-validation", seconds)
    return curves, measured


def _make_options(
    info: DatasetInfo, svc: DualLinearSVC, settings: Settings, n_jobs: int | None
) -> CurveOptions:
    return CurveOptions(
        methods=settings.methods,
        by=settings.by,
        estimator=svc,
        cuts=check_cuts(settings.cuts, info.n_features, settings.against),
        against=settings.against,
        aggregate=SHARED if settings.shared_words else None,
        renormalize=None,
        n_jobs=n_jobs,
        random_state=settings.seed,
    )


def measure_blocks(
    dataset: Dataset,
    options: CurveOptions,
    folds: Folds,
    fold: int,
    blocks: list[int] | None,
    measured: MeasuredFold | None = None,
) -> MeasuredFold:
    """Measure some blocks of classes, or all, on a fold; a measured fold is not trained again."""
    X, y = dataset.sparse_train
    train, test = find_fold(dataset, folds, fold)
    classes, indicator = binarize(y)
    names = classes[-indicator.shape[1] :]
    n_blocks = count_blocks(binarize(y[train])[1].shape[1])  # a fold may lack classes
    if blocks is not None and max(blocks) >= n_blocks:
        nothing = FoldCurves([None] * names.size, 0.0, np.zeros(len(options.methods)))
        return MeasuredFold(nothing, None)
    return measure_fold(
        options,
        X[train],
        y[train],
        X[test],
        indicator[test],
        names,
        blocks=blocks,
        solved=None if measured is None else measured.dual,
    )


def join_blocks(parts: list[FoldCurves], n_groups: int) -> list[FoldCurves]:
    """Return the curves of each fold, given those of its groups of blocks one after the other."""
    folds = []
    for first in range(0, len(parts), n_groups):
        group = parts[first : first + n_groups]
        classes = [
            next((curves for curves in of_class if curves is not None), None)
            for of_class in zip(*(part.classes for part in group), strict=True)
        ]
        fit_seconds = sum(part.fit_seconds for part in group)
        seconds = np.sum([part.seconds for part in group], 0)
        best = reduce(merge_labels, [part.best for part in group])
        truth = next((part.truth for part in group if part.truth is not None), None)
        joined = FoldCurves(classes, fit_seconds, seconds, group[0].labels, best, truth)
        folds.append(joined if joined.labels else count_fold_labels(joined))
    return folds


def trace_curves(dataset: Dataset, settings: Settings, watch: Stopwatch) -> list[FeatureCurve]:
    """Return the curve of each method on the test documents, or by folds if there are none."""
    executor = Executor(dataset, settings.n_jobs)
    svc = choose_svm(executor, settings, watch)
    watch.begin(_name_curves(settings))
    test = dataset.test
    if test is not None and dataset.unknown:
        outcome = "are left out of the curve"
        warnings.warn(describe_unknown(dataset.unknown, outcome), UserWarning, stacklevel=2)
        test = _take_known(test)
    if test is None:
        curves, _ = measure_curves(executor, svc, settings, watch)
    else:
        curves = feature_curve(
            dataset.train.X,
            dataset.train.y,
            X_test=test.X,
            y_test=test.y,
            method=settings.methods,
            by=settings.by,
            estimator=svc,
            cuts=settings.cuts,
            against=settings.against,
            aggregate=SHARED if settings.shared_words else None,
            n_jobs=settings.n_jobs,
            random_state=settings.seed,
        )
    watch.end()
    return curves


def _take_known(test: Part) -> Part:
    """Return the test documents that have no unknown label; with several labels, all of them."""
    if test.n_unknown is None or test.y.ndim == 2:
        return test
    rows = np.flatnonzero(test.n_unknown == 0)
    if not rows.size:
        raise ValueError(
            "The test documents must have labels of the training documents. Got none of them; "
            "check that both files have the same column of labels."
        )
    return replace(test, X=test.X[rows], y=test.y[rows], n_unknown=None)


def choose_cut(curve: FeatureCurve, settings: Settings) -> Choice:
    """Return the smallest cut that is as good as the best."""
    n_known = (curve.counts.positive.sum(axis=1) > 0).sum(axis=0).min()  # folds with positives
    if settings.tolerance is None and n_known < 2:
        raise ValueError(
            "The documents are too few to choose a cut by cross-validation. Give more of them."
        )
    measure = settings.measure or curve.default_measure
    return curve.smallest_within(settings.tolerance, measure, settings.average)


def make_shaved(
    info: DatasetInfo, svc: DualLinearSVC, choice: Choice, settings: Settings
) -> ShavedSVC:
    """Return the final model, not fitted; with probabilities if each class has two documents."""
    return ShavedSVC(
        clone(svc).set_params(probability=info.can_calibrate),
        n_features=choice,
        final=FINAL,
        renormalize=_find_renormalize(info),
        by=settings.by,
        aggregate=SHARED if settings.shared_words else None,
        cv=make_folds(info, settings),
        n_jobs=settings.n_jobs,
        random_state=settings.seed,
    )


def _measure_final(
    executor: Executor,
    svc: DualLinearSVC,
    choice: Choice,
    settings: Settings,
    measured: list[Any],
) -> list[Any]:
    """Return handles of the final model's folds, for its thresholds and its calibration."""
    info = executor.info
    if not (info.is_multilabel or info.can_calibrate):
        return []
    options = replace(
        _make_options(info, svc, settings, executor.n_jobs),
        methods=(FINAL,),
        renormalize=_find_renormalize(info),
        cuts=np.broadcast_to(choice.cut, (info.rows.size, 1)),
        keep_scores=info.can_calibrate,
    )
    folds = make_folds(info, settings)
    numbers = product(range(folds.n_splits), executor.split_classes())
    tasks = [
        (options, folds, fold, blocks, fitted)
        for (fold, blocks), fitted in zip(numbers, measured, strict=True)
    ]
    return executor.map(measure_blocks, tasks)


def _find_renormalize(info: DatasetInfo) -> bool | None:
    """Return whether the final model scales documents to length one after the cut.

    It does for vectors, which come in any length. Texts and counts keep the length that all of
    their words give them: scores of classes that keep other words are then in the same unit, and
    models are more accurate.
    """
    return False if info.is_weighted else None


def train_blocks(
    dataset: Dataset,
    svc: DualLinearSVC,
    choice: Choice,
    settings: Settings,
    n_jobs: int | None,
    blocks: list[int] | None,
) -> FinalClasses:
    """Train some blocks of classes of the final model, or all, on all training documents."""
    model = make_shaved(dataset.info, svc, choice, settings).set_params(n_jobs=n_jobs)
    keep_dual = settings.with_stability
    return train_final(*dataset.sparse_train, model, svc, choice.cut, blocks, keep_dual=keep_dual)


def assemble_model(
    dataset: Dataset,
    svc: DualLinearSVC,
    choice: Choice,
    settings: Settings,
    parts: list[FinalClasses],
    measured: list[MeasuredFold],
) -> ShavedSVC:
    """Return the final model from its blocks of classes and its folds."""
    info = dataset.info
    splitter = make_folds(info, settings)
    n_groups = max(1, len(measured) // splitter.n_splits)
    folds = join_blocks([fold.curves for fold in measured], n_groups)
    test_rows = [find_fold(dataset, splitter, fold)[1] for fold in range(len(folds))]
    model = make_shaved(info, svc, choice, settings)
    return assemble(model, svc, *dataset.sparse_train, parts, folds, test_rows)


def rank_dataset(dataset: Dataset, settings: Settings, watch: Stopwatch) -> Ranking:
    """Return the ranking of the features for each class."""
    svc = choose_svm(Executor(dataset, settings.n_jobs), settings, watch)
    return watch.run("ranking", rank_by, dataset, svc, settings)


def rank_by(dataset: Dataset, svc: DualLinearSVC, settings: Settings) -> Ranking:
    """Return the ranking by a criterion; "normal" uses the SVM, fitted or not."""
    return rank_features(
        dataset.train.X,
        dataset.train.y,
        by=settings.by,
        estimator=svc if settings.by == "normal" else None,
        random_state=settings.seed,
    )


def compare_normals(
    dataset: Dataset, model: ShavedSVC, settings: Settings, n_jobs: int | None
) -> Stability:
    """Compare masked and retrained normals at every cut."""
    return stability(
        dataset.train.X,
        dataset.train.y,
        estimator=model.estimator_,
        by=settings.by,
        cuts=settings.cuts,
        n_jobs=n_jobs,
        random_state=settings.seed,
    )


def pack_classifier(dataset: Dataset, classifier: Any, provenance: dict[str, Any]) -> bytes:
    """Return the content of a model file, with the names of classes and features."""
    first = dataset.vectorizer or dataset.scaler
    pipeline = classifier if first is None else make_pipeline(first, classifier)
    classes = restore_labels(dataset.names, dataset.label_type)
    model = export_model(pipeline, classes=classes, provenance=provenance)
    if isinstance(model.input, VectorInput):
        names = tuple(dataset.feature_names[model.input.features].tolist())
        model = replace(model, input=replace(model.input, names=names))
    return pack_model(model, "byte" if dataset.info.is_weighted else "single")


def summarize_run(
    dataset: Dataset,
    model: ShavedSVC,
    stable: Stability | None,
    content: bytes,
    curves: list[FeatureCurve],
    choice: Choice,
    evaluations: list[EvaluationRecord],
    settings: Settings,
    origin: Origin,
    making: Making,
    trials: list[TrialRecord],
) -> RunRecord:
    """Return the record of a run; ``evaluations`` are of the final and of the full model."""
    curve, row_names = curves[0], dataset.row_names
    ranking = rank_by(dataset, model.estimator_, settings)
    if settings.shared_words:
        scores = ranking.aggregate(SHARED).scores
        ranking = replace(ranking, scores=np.repeat(scores, len(row_names), axis=0))
    kept = count_at_cuts(ranking, curve.cuts)
    cuts = summarize_cuts(dataset, kept, ranking, content, choice.index)
    chosen = summarize_choice(choice, curve, settings.tolerance)
    of_final, of_full = evaluations or (None, None)
    coef = model.estimator_.coef_
    return make_record(
        dataset.info,
        origin,
        making,
        headline=write_headline(dataset, cuts, chosen),
        settings=describe_settings(
            settings, model.estimator_, is_text=dataset.vectorizer is not None
        ),
        unit=dataset.unit,
        per_document=dataset.per_document,
        n_test=None if of_final is None else of_final.n_documents,
        curves=[summarize_curve(each, row_names, kept) for each in curves],
        cuts=cuts,
        choice=chosen,
        trials=trials,
        words=summarize_words(unpack_model(content), dataset, ranking, kept),
        model=ModelRecord(
            made_by="retrained on the features kept",
            n_features=len(model.features_),
            n_weights=int(model.kept_.nnz),
            per_document=cuts.per_document[chosen.index],
            n_bytes=len(content),
            judgement=of_final,
        ),
        full_model=ModelRecord(
            made_by="trained on all features",
            n_features=int((coef != 0).any(axis=0).sum()),
            n_weights=int((coef != 0).sum()),
            per_document=cuts.per_document[-1],
            n_bytes=None,
            judgement=of_full,
        ),
        stability=None
        if stable is None
        else summarize_stability(stable, row_names, curve.fractions),
    )
