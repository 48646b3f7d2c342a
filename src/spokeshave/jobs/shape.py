"""The shaping job: from documents to a model on shaped features, and the record of the run."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, Normalizer, StandardScaler

from spokeshave.jobs.dataset import Dataset, Documents, prepare_dataset
from spokeshave.jobs.fit import JobResult, make_folds, pack_classifier, warn_of_unknown
from spokeshave.jobs.record import EvaluationRecord, ModelRecord, ShapeRecord
from spokeshave.jobs.settings import Origin, Settings
from spokeshave.jobs.summary import (
    describe_making,
    describe_provenance,
    describe_settings,
    evaluate_predictions,
    make_record,
)
from spokeshave.model.file import unpack_model
from spokeshave.shaping.shaped_svc import ShapedSVC
from spokeshave.svm.estimator import DualLinearSVC
from spokeshave.text.vectorizer import DocumentVectorizer
from spokeshave.utils.formatting import write_share, write_size
from spokeshave.utils.timing import Stopwatch

MOST_SHAPES = 60  # in a record: of each class its strongest features


def list_shaping_steps() -> dict[str, float]:
    """Return the steps of the job with estimates of their shares of the time."""
    return {
        "making rows": 1.0,
        "shaping": 3.0,
        "training without": 1.0,
        "comparing by folds": 10.0,
        "judging it": 0.5,
    }


def run_shaping(
    train: Documents,
    test: Documents | None = None,
    *,
    settings: Settings | None = None,
    origin: Origin | None = None,
    stopwatch: Stopwatch | None = None,
) -> JobResult:
    """Shape the features for each class, train on them, and compare with features as they are.

    Texts become counts of words. Both models are evaluated on test documents, or by
    cross-validation if there are none.

    Parameters
    ----------
    train, test : Texts or Vectors
        Training documents, and test documents if there are any.
    settings : Settings, optional
        The settings of the run; its loss, its prior, curves and cuts are ignored.
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
    dataset = watch.run("making rows", _make_dataset, train, test, settings)
    warn_of_unknown(dataset)
    svc = DualLinearSVC(C=_check_cost(settings), random_state=settings.seed)
    estimator = clone(svc).set_params(probability=dataset.info.can_calibrate)
    # On a few dense features, length one would leave only their ratios.
    norm = "l2" if sparse.issparse(dataset.train.X) else None
    shaped = ShapedSVC(estimator, norm=norm, n_jobs=settings.n_jobs, random_state=settings.seed)
    plain = _make_plain(dataset, clone(svc).set_params(n_jobs=settings.n_jobs))
    X, y = dataset.train.X, dataset.train.y
    watch.run("shaping", shaped.fit, X, y)
    if plain is not None:
        watch.run("training without", plain.fit, X, y)
    provenance = describe_provenance(dataset.info, origin, settings.seed)
    content = pack_classifier(dataset, shaped, provenance)
    model = unpack_model(content)  # evaluate the model of the file
    if dataset.test is None:
        bare = clone(shaped).set_params(estimator=svc)
        evaluations = watch.run("comparing by folds", _evaluate_by_folds, dataset, bare, plain)
    else:
        evaluations = watch.run("judging it", _evaluate_on_test, dataset, model, plain, origin)
    models = _describe_models(dataset, shaped, plain, content, evaluations)
    record = make_record(
        dataset.info,
        origin,
        describe_making(origin, settings, watch),
        headline=_write_headline(dataset, models, len(content)),
        settings={
            **describe_settings(settings, svc),
            "method": f"local probability, BNS, {'L2' if norm else 'no norm'}",
        },
        unit=dataset.unit,
        per_document=dataset.per_document,
        n_test=None if dataset.test is None else len(dataset.test),
        model=models[0],
        full_model=models[1],
        shapes=list_shapes(dataset, shaped),
    )
    return JobResult(model, content, record)


def _make_dataset(train: Documents, test: Documents | None, settings: Settings) -> Dataset:
    vectorizer = DocumentVectorizer(
        weighting="counts", norm=None, min_df=settings.min_df, n_jobs=settings.n_jobs
    )
    return prepare_dataset(
        train, test, vectorizer, hold_out=settings.hold_out, keep_values=True, seed=settings.seed
    )


def _check_cost(settings: Settings) -> float:
    if isinstance(settings.C, str):
        raise ValueError("C must be a number where features are shaped. Got 'auto' instead.")
    return settings.C


def _make_plain(dataset: Dataset, svc: DualLinearSVC) -> Any:
    """Return the same SVM on features as they are, None where some are missing."""
    X = dataset.train.X
    if dataset.vectorizer is not None:
        return make_pipeline(Binarizer(), Normalizer(), svc)
    if sparse.issparse(X):
        return make_pipeline(Normalizer(), svc)
    return None if np.isnan(X).any() else make_pipeline(StandardScaler(), svc)


def _evaluate_by_folds(dataset: Dataset, *models: Any) -> list[EvaluationRecord | None]:
    folds = make_folds(dataset.info, Settings())
    X, y = dataset.train.X, dataset.train.y
    on = f"{folds.get_n_splits()}-fold cross-validation"
    return [
        None
        if model is None
        else evaluate_predictions(y, cross_val_predict(model, X, y, cv=folds), dataset.names, on)
        for model in models
    ]


def _evaluate_on_test(
    dataset: Dataset, model: Any, plain: Any, origin: Origin
) -> list[EvaluationRecord | None]:
    test, names = dataset.test, dataset.names
    assert test is not None
    on = origin.test_source or "held-out documents"
    found: list[EvaluationRecord | None] = [
        evaluate_predictions(test.y, model.predict(test.given), names, on, test.n_unknown)
    ]
    if plain is not None:
        predicted = plain.predict(test.X)
        return [*found, evaluate_predictions(test.y, predicted, names, on, test.n_unknown)]
    return [*found, None]


def _describe_models(
    dataset: Dataset,
    shaped: ShapedSVC,
    plain: Any,
    content: bytes,
    evaluations: list[EvaluationRecord | None],
) -> tuple[ModelRecord, ModelRecord | None]:
    X, per_document = dataset.train.X, dataset.per_document

    def describe(name: str, coef: Any, n_bytes: int | None, found: Any) -> ModelRecord:
        n_weights = int(np.count_nonzero(coef))
        return ModelRecord(name, X.shape[1], n_weights, per_document, n_bytes, found)

    first = describe("trained on shaped features", shaped.coef_, len(content), evaluations[0])
    if plain is None:
        return first, None
    return first, describe("trained on features as they are", plain[-1].coef_, None, evaluations[1])


def _write_headline(
    dataset: Dataset, models: tuple[ModelRecord, ModelRecord | None], n_bytes: int
) -> str:
    shaped, plain = (None if model is None else model.judgement for model in models)
    assert shaped is not None
    against = "" if plain is None else f", {write_share(plain.macro_f1)} as they are"
    return (
        f"{len(dataset.feature_names):,} {dataset.unit} shaped: macro-F1 "
        f"{write_share(shaped.macro_f1)}{against}, by {shaped.judged_on}; "
        f"model {write_size(n_bytes)}"
    )


def list_shapes(dataset: Dataset, shaped: ShapedSVC) -> list[ShapeRecord]:
    """Return the shapes of the strongest features of each class."""
    names = dataset.row_names
    per_class = max(1, MOST_SHAPES // len(names))
    return [
        _record_shape(dataset, shaped, k, int(j))
        for k in range(min(len(names), MOST_SHAPES))
        for j in np.argsort(-np.abs(shaped.coef_[k]), kind="stable")[:per_class]
    ]


def _record_shape(dataset: Dataset, shaped: ShapedSVC, k: int, j: int) -> ShapeRecord:
    found = shaped.shape_of(j)
    values = [value if isinstance(value, str) else float(value) for value in found.values.tolist()]
    return ShapeRecord(
        class_name=dataset.row_names[k],
        feature=str(dataset.feature_names[j]),
        is_nominal=found.is_nominal,
        values=values,
        images=found.images[k].tolist(),
        sizes=found.sizes.tolist(),
        positives=found.positives[k].tolist(),
        zero=float(found.zero[k]),
        n_zero=found.n_zero,
        weight=float(shaped.coef_[k, j]),
    )
