"""The whole job: from documents to a model and the record of the run; nothing touches the disk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline

from spokeshave.curves.feature_curve import feature_curve
from spokeshave.curves.result import Choice, FeatureCurve
from spokeshave.curves.stability import Stability, stability
from spokeshave.jobs.dataset import Collection, Documents, prepare
from spokeshave.jobs.record import (
    ClassRecord,
    CutsRecord,
    JudgementRecord,
    ModelRecord,
    RunRecord,
)
from spokeshave.jobs.settings import Origin, Settings
from spokeshave.jobs.summary import (
    account_for_choice,
    account_for_curve,
    account_for_cuts,
    account_for_stability,
    account_for_words,
    count_at_cuts,
    describe_data,
    describe_making,
    describe_provenance,
    describe_settings,
    judge,
    write_headline,
)
from spokeshave.model.export import export_model
from spokeshave.model.file import pack_model, unpack_model
from spokeshave.model.inputs import VectorInput
from spokeshave.model.model import Model
from spokeshave.ranking.criteria import Ranking, rank_features
from spokeshave.selection.shaved_svc import ShavedSVC
from spokeshave.svm.estimator import DualLinearSVC
from spokeshave.svm.tuning import tune_C
from spokeshave.text.vectorizer import DocumentVectorizer
from spokeshave.utils.timing import Stopwatch

N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Finished:
    """What a run leaves: the model, its bytes, and the record."""

    model: Model
    content: bytes
    record: RunRecord


def list_steps(settings: Settings, *, has_test: bool) -> dict[str, float]:
    """Return the steps that a run will take, each with a guess of its share of the time."""
    steps = {"making rows": 1.0}
    if settings.C == "auto":
        steps["choosing C"] = 12.0
    for method in settings.methods:
        steps[f"tracing the curve ({method})"] = 6.0 if method in ("mask", "sv_set") else 30.0
    if settings.with_stability:
        steps["comparing normals"] = 10.0
    steps["training the model"] = 4.0
    if has_test or settings.hold_out:
        steps["judging it"] = 0.5
    return steps


def run_job(
    train: Documents,
    test: Documents | None = None,
    *,
    settings: Settings | None = None,
    origin: Origin | None = None,
    stopwatch: Stopwatch | None = None,
) -> Finished:
    """Vectorize, train, trace the curve by cross-validation, choose, and make the final model.

    Parameters
    ----------
    train, test : Texts or Vectors
        Documents to train on, and those to judge by where there are some.
    settings : Settings, optional
        What is asked for.
    origin : Origin, optional
        What the record says of where the documents come from.
    stopwatch : Stopwatch, optional
        What runs the steps, so that progress can be shown.

    Returns
    -------
    finished : Finished
    """
    settings, origin = settings or Settings(), origin or Origin("documents")
    watch = stopwatch or Stopwatch()
    collection = watch.run("making rows", make_collection, train, test, settings)
    svc = pose(collection, settings, watch)
    curves = trace_curves(collection, svc, settings, watch)
    choice = choose_cut(curves[0], settings)
    shaved = watch.run("training the model", _train, collection, svc, choice, settings)
    stable = None
    if settings.with_stability:
        stable = watch.run("comparing normals", compare_normals, collection, shaved, settings)
    provenance = describe_provenance(collection, settings, origin)
    content = pack_classifier(collection, shaved, provenance)
    found = Findings(collection, svc, curves, choice, shaved, stable, content)
    model = unpack_model(content)  # what is judged is what is shipped
    judgements = watch.run("judging it", _judge, found, model, origin)
    record = account_for_run(found, judgements, settings, origin, watch)
    return Finished(model, content, record)


def choose_cut(curve: FeatureCurve, settings: Settings) -> Choice:
    """Return the smallest cut that is as good as the best."""
    n_known = (curve.counts.positive.sum(axis=1) > 0).sum(axis=0).min()  # folds that tell something
    if settings.tolerance is None and n_known < 2:
        raise ValueError(
            "The documents are too few to choose a cut by cross-validation. Give more of them."
        )
    return curve.smallest_within(settings.tolerance, settings.measure, settings.average)


@dataclass(frozen=True, eq=False)
class Findings:
    """Everything that a run has found."""

    collection: Collection
    svc: DualLinearSVC
    curves: list[FeatureCurve]
    choice: Choice
    shaved: ShavedSVC
    stable: Stability | None
    content: bytes


def make_collection(train: Documents, test: Documents | None, settings: Settings) -> Collection:
    """Turn documents into rows and targets, as the settings say."""
    vectorizer = DocumentVectorizer(
        weighting=settings.weighting, min_df=settings.min_df, n_jobs=settings.n_jobs
    )
    return prepare(train, test, vectorizer, hold_out=settings.hold_out, seed=settings.seed)


def make_folds(collection: Collection, seed: int) -> KFold | StratifiedKFold:
    """Return five folds, or as many as the largest class has documents.

    Labels are stratified in the order of the documents, as `ShavedSVC` does by default: what
    stands together in a file is often alike. Sets of labels cannot be, and are shuffled.
    """
    n_folds = count_folds(collection.counts, len(collection.train), collection.is_multilabel)
    if collection.is_multilabel:
        return KFold(n_folds, shuffle=True, random_state=seed)
    return StratifiedKFold(n_folds)


def count_folds(counts: list[int], n_documents: int, is_multilabel: bool) -> int:
    """Return how many folds there are, given the documents of each class and of all."""
    n_folds = min(N_FOLDS, n_documents if is_multilabel else max(counts))
    if n_folds < 2:
        raise ValueError("Cross-validation needs two documents of a class. Got one of each.")
    return n_folds


def trace_curves(
    collection: Collection,
    svc: DualLinearSVC,
    settings: Settings,
    watch: Stopwatch,
    *,
    on_test: bool = False,
) -> list[FeatureCurve]:
    """Return the curve of each method, by cross-validation or on test documents if there are."""
    if on_test and collection.test is not None:
        judges = {"X_test": collection.test.X, "y_test": collection.test.y}
    else:
        judges = {"cv": make_folds(collection, settings.seed)}
    return [
        watch.run(
            f"tracing the curve ({method})",
            feature_curve,
            collection.train.X,
            collection.train.y,
            **judges,
            method=method,
            by=settings.by,
            estimator=svc,
            cuts=settings.cuts,
            against=settings.against,
            n_jobs=settings.n_jobs,
            random_state=settings.seed,
        )
        for method in settings.methods
    ]


def make_svm(settings: Settings, n_jobs: int | None) -> DualLinearSVC:
    """Return the SVM that is asked for; C that is to be chosen is not yet."""
    svc = DualLinearSVC(loss=settings.loss, n_jobs=n_jobs, random_state=settings.seed)
    return svc if settings.C == "auto" else svc.set_params(C=settings.C)


def list_targets(collection: Collection) -> Any:
    """Return targets as C is chosen by: scikit-learn scores one column as two classes."""
    y = collection.train.y
    return y.toarray().ravel() if y.ndim == 2 and y.shape[1] == 1 else y


def pose(collection: Collection, settings: Settings, watch: Stopwatch) -> DualLinearSVC:
    """Return the SVM to train, with C chosen by cross-validation where that is asked for."""
    svc = make_svm(settings, settings.n_jobs)
    if settings.C != "auto":
        return svc
    folds, y = make_folds(collection, settings.seed), list_targets(collection)
    tuning = watch.run("choosing C", tune_C, svc, collection.train.X, y, cv=folds)
    svc.set_params(C=tuning.C)
    return svc


def _train(
    collection: Collection, svc: DualLinearSVC, choice: Choice, settings: Settings
) -> ShavedSVC:
    """Return the final model, with probabilities where each class has documents enough."""
    model = make_shaved(collection, svc, choice, settings)
    return model.fit(collection.train.X, collection.train.y)


def make_shaved(
    collection: Collection, svc: DualLinearSVC, choice: Choice, settings: Settings
) -> ShavedSVC:
    """Return the final model, to be fitted."""
    return ShavedSVC(
        clone(svc).set_params(probability=collection.can_calibrate),
        n_features=choice,
        by=settings.by,
        cv=make_folds(collection, settings.seed),
        n_jobs=settings.n_jobs,
        random_state=settings.seed,
    )


def rank_collection(collection: Collection, svc: DualLinearSVC, settings: Settings) -> Ranking:
    """Return the order of the features for each class, by the SVM where that decides."""
    return rank_features(
        collection.train.X,
        collection.train.y,
        by=settings.by,
        estimator=svc if settings.by == "normal" else None,
        random_state=settings.seed,
    )


def compare_normals(collection: Collection, shaved: ShavedSVC, settings: Settings) -> Stability:
    """Compare masked and retrained normals at every cut."""
    return stability(
        collection.train.X,
        collection.train.y,
        estimator=shaved.estimator_,
        by=settings.by,
        cuts=settings.cuts,
        n_jobs=settings.n_jobs,
        random_state=settings.seed,
    )


def join_rows(collection: Collection, classifier: Any) -> Any:
    """Return a pipeline of what made the rows and the classifier."""
    first = collection.vectorizer or collection.scaler
    return classifier if first is None else make_pipeline(first, classifier)


def pack_classifier(collection: Collection, classifier: Any, provenance: dict[str, Any]) -> bytes:
    """Return the content of a model's file, with the names of classes and features."""
    model = export_model(
        join_rows(collection, classifier), classes=collection.names, provenance=provenance
    )
    if isinstance(model.input, VectorInput):
        names = tuple(collection.feature_names[model.input.features].tolist())
        model = replace(model, input=replace(model.input, names=names))
    return pack_model(model)


def _judge(found: Findings, model: Model, origin: Origin) -> list[JudgementRecord | None]:
    """Judge the final model and the SVM on all features."""
    test = found.collection.test
    if test is None:
        return [None, None]
    on = origin.test_source or "held-out documents"
    names = found.collection.names
    return [
        judge(model, test, test.given, names, on),
        judge(found.shaved.estimator_, test, test.X, names, on),
    ]


def account_for_run(
    found: Findings,
    judgements: list[JudgementRecord | None],
    settings: Settings,
    origin: Origin,
    watch: Stopwatch,
) -> RunRecord:
    """Return the record of a run: ``judgements`` are of the final model and of that on all."""
    collection, curve = found.collection, found.curves[0]
    row_names = collection.row_names
    ranking = rank_collection(collection, found.shaved.estimator_, settings)
    kept = count_at_cuts(ranking, curve.cuts)
    cuts = _count_costs(found, ranking, kept)
    chosen = account_for_choice(found.choice, curve, settings.tolerance)
    coef = found.shaved.estimator_.coef_
    return RunRecord(
        title=origin.source,
        headline=write_headline(collection, cuts, chosen),
        making=describe_making(origin, settings, watch),
        data=describe_data(collection, origin),
        settings=describe_settings(settings, found.svc),
        classes=[
            ClassRecord(*pair) for pair in zip(collection.names, collection.counts, strict=True)
        ],
        curves=[account_for_curve(each, row_names) for each in found.curves],
        cuts=cuts,
        choice=chosen,
        words=account_for_words(row_names, collection.feature_names, coef, ranking, kept),
        model=_describe_model(found, judgements[0], cuts.per_document[chosen.index]),
        full_model=_describe_full(found, judgements[1], cuts.per_document[-1]),
        shapes=[],
        stability=None
        if found.stable is None
        else account_for_stability(found.stable, row_names, curve.fractions),
    )


def _count_costs(found: Findings, ranking: Ranking, kept: Any) -> CutsRecord:
    """Return what each cut costs; the file of the chosen one is there to be measured."""
    bare = account_for_cuts(found.collection, kept, ranking, 0)
    spare_bytes = len(found.content) - bare.n_bytes[found.choice.index]
    return account_for_cuts(found.collection, kept, ranking, spare_bytes)


def _describe_model(
    found: Findings, judgement: JudgementRecord | None, per_document: float
) -> ModelRecord:
    return ModelRecord(
        made_by="retrained on the features kept",
        n_features=len(found.shaved.features_),
        n_weights=int(found.shaved.kept_.nnz),
        per_document=per_document,
        n_bytes=len(found.content),
        judgement=judgement,
    )


def _describe_full(
    found: Findings, judgement: JudgementRecord | None, per_document: float
) -> ModelRecord:
    is_used = found.shaved.estimator_.coef_ != 0
    return ModelRecord(
        made_by="trained on all features",
        n_features=int(is_used.any(axis=0).sum()),
        n_weights=int(is_used.sum()),
        per_document=per_document,
        n_bytes=None,
        judgement=judgement,
    )
