"""The job of shaping: from documents to a model on shaped features, and the record of the run."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, Normalizer, StandardScaler

from spokeshave.jobs.dataset import Collection, Documents, prepare
from spokeshave.jobs.fit import Finished, make_folds, pack_classifier
from spokeshave.jobs.record import ClassRecord, JudgementRecord, ModelRecord, RunRecord, ShapeRecord
from spokeshave.jobs.settings import Origin, Settings
from spokeshave.jobs.summary import (
    describe_data,
    describe_making,
    describe_provenance,
    describe_settings,
    judge,
    judge_predictions,
)
from spokeshave.model.file import unpack_model
from spokeshave.shaping.shaped_svc import ShapedSVC
from spokeshave.svm.estimator import DualLinearSVC
from spokeshave.text.vectorizer import DocumentVectorizer
from spokeshave.utils.formatting import write_share, write_size
from spokeshave.utils.timing import Stopwatch

MOST_SHAPES = 60  # in a record: of each class its strongest features


def list_shaping_steps() -> dict[str, float]:
    """Return the steps of the job, each with a guess of its share of the time."""
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
) -> Finished:
    """Shape the features for each class, train on them, and compare with features as they are.

    Texts become counts of words. Both models are judged on test documents where there are some,
    and otherwise by cross-validation.

    Parameters
    ----------
    train, test : Texts or Vectors
        Documents to train on, and those to judge by where there are some.
    settings : Settings, optional
        What is asked for; curves and cuts play no part.
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
    collection = watch.run("making rows", _make_collection, train, test, settings)
    svc = DualLinearSVC(C=_check_cost(settings), loss=settings.loss, random_state=settings.seed)
    estimator = clone(svc).set_params(probability=collection.can_calibrate)
    # On a few dense features, length one would leave only their ratios.
    norm = "l2" if sparse.issparse(collection.train.X) else None
    shaped = ShapedSVC(estimator, norm=norm, n_jobs=settings.n_jobs, random_state=settings.seed)
    plain = _make_plain(collection, clone(svc).set_params(n_jobs=settings.n_jobs))
    X, y = collection.train.X, collection.train.y
    watch.run("shaping", shaped.fit, X, y)
    if plain is not None:
        watch.run("training without", plain.fit, X, y)
    provenance = describe_provenance(collection, settings, origin)
    content = pack_classifier(collection, shaped, provenance)
    model = unpack_model(content)  # what is judged is what is shipped
    if collection.test is None:
        bare = clone(shaped).set_params(estimator=svc)
        judgements = watch.run("comparing by folds", _judge_by_folds, collection, bare, plain)
    else:
        judgements = watch.run("judging it", _judge_by_test, collection, model, plain, origin)
    models = _describe_models(collection, shaped, plain, content, judgements)
    record = RunRecord(
        title=origin.source,
        headline=_write_headline(collection, models, len(content)),
        making=describe_making(origin, settings, watch),
        data=describe_data(collection, origin),
        settings={
            **describe_settings(settings, svc),
            "method": f"local probability, BNS, {'L2' if norm else 'no norm'}",
        },
        classes=[
            ClassRecord(*pair) for pair in zip(collection.names, collection.counts, strict=True)
        ],
        curves=[],
        cuts=None,
        choice=None,
        words=[],
        model=models[0],
        full_model=models[1],
        shapes=list_shapes(collection, shaped),
        stability=None,
    )
    return Finished(model, content, record)


def _make_collection(train: Documents, test: Documents | None, settings: Settings) -> Collection:
    vectorizer = DocumentVectorizer(
        weighting="counts", norm=None, min_df=settings.min_df, n_jobs=settings.n_jobs
    )
    return prepare(
        train, test, vectorizer, hold_out=settings.hold_out, keep_values=True, seed=settings.seed
    )


def _check_cost(settings: Settings) -> float:
    if isinstance(settings.C, str):
        raise ValueError("C must be a number where features are shaped. Got 'auto' instead.")
    return settings.C


def _make_plain(collection: Collection, svc: DualLinearSVC) -> Any:
    """Return the same SVM on features as they are, None where some are missing."""
    X = collection.train.X
    if collection.vectorizer is not None:
        return make_pipeline(Binarizer(), Normalizer(), svc)
    if sparse.issparse(X):
        return make_pipeline(Normalizer(), svc)
    return None if np.isnan(X).any() else make_pipeline(StandardScaler(), svc)


def _judge_by_folds(collection: Collection, *models: Any) -> list[JudgementRecord | None]:
    folds = make_folds(collection, 0)
    X, y = collection.train.X, collection.train.y
    on = f"{folds.get_n_splits()}-fold cross-validation"
    return [
        None
        if model is None
        else judge_predictions(y, cross_val_predict(model, X, y, cv=folds), collection.names, on)
        for model in models
    ]


def _judge_by_test(
    collection: Collection, model: Any, plain: Any, origin: Origin
) -> list[JudgementRecord | None]:
    test, names = collection.test, collection.names
    assert test is not None
    on = origin.test_source or "held-out documents"
    found = [judge(model, test, test.given, names, on), None]
    if plain is not None:
        found[1] = judge(plain, test, test.X, names, on)
    return found


def _describe_models(
    collection: Collection,
    shaped: ShapedSVC,
    plain: Any,
    content: bytes,
    judgements: list[JudgementRecord | None],
) -> tuple[ModelRecord, ModelRecord | None]:
    X = collection.train.X
    per_document = float(getattr(X, "nnz", X.size) / X.shape[0])

    def describe(name: str, coef: Any, n_bytes: int | None, found: Any) -> ModelRecord:
        n_weights = int(np.count_nonzero(coef))
        return ModelRecord(name, X.shape[1], n_weights, per_document, n_bytes, found)

    first = describe("trained on shaped features", shaped.coef_, len(content), judgements[0])
    if plain is None:
        return first, None
    return first, describe("trained on features as they are", plain[-1].coef_, None, judgements[1])


def _write_headline(
    collection: Collection, models: tuple[ModelRecord, ModelRecord | None], n_bytes: int
) -> str:
    shaped, plain = (None if model is None else model.judgement for model in models)
    assert shaped is not None
    against = "" if plain is None else f", {write_share(plain.macro_f1)} as they are"
    return (
        f"{len(collection.feature_names):,} {collection.unit} shaped: macro-F1 "
        f"{write_share(shaped.macro_f1)}{against}, by {shaped.judged_on}; "
        f"model {write_size(n_bytes)}"
    )


def list_shapes(collection: Collection, shaped: ShapedSVC) -> list[ShapeRecord]:
    """Return the shapes of the strongest features of each class."""
    names = collection.row_names
    per_class = max(1, MOST_SHAPES // len(names))
    return [
        _record_shape(collection, shaped, k, int(j))
        for k in range(min(len(names), MOST_SHAPES))
        for j in np.argsort(-np.abs(shaped.coef_[k]), kind="stable")[:per_class]
    ]


def _record_shape(collection: Collection, shaped: ShapedSVC, k: int, j: int) -> ShapeRecord:
    found = shaped.shape_of(j)
    values = [value if isinstance(value, str) else float(value) for value in found.values.tolist()]
    return ShapeRecord(
        class_name=collection.row_names[k],
        feature=str(collection.feature_names[j]),
        is_nominal=found.is_nominal,
        values=values,
        images=found.images[k].tolist(),
        sizes=found.sizes.tolist(),
        positives=found.positives[k].tolist(),
        zero=float(found.zero[k]),
        n_zero=found.n_zero,
        weight=float(shaped.coef_[k, j]),
    )
