"""The record of a run, built from its dataset, curves, rankings, models and evaluations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from spokeshave.corpus.documents import Texts, Vectors
from spokeshave.curves.cuts import count_kept
from spokeshave.curves.result import Choice, FeatureCurve
from spokeshave.curves.stability import Stability
from spokeshave.jobs.dataset import (
    Dataset,
    DatasetInfo,
    count_unknown_labels,
    make_targets,
)
from spokeshave.jobs.record import (
    ChoiceRecord,
    ClassRecord,
    CurveRecord,
    CutsRecord,
    Data,
    EdgeRecord,
    EvaluationRecord,
    Making,
    MeasureRecord,
    ModelRecord,
    RunRecord,
    StabilityRecord,
    TrialRecord,
    WordRecord,
    WordsRecord,
)
from spokeshave.jobs.settings import Origin, Settings
from spokeshave.metrics import LABEL_F1, MEASURES, Agreement, RankedLabels, compare
from spokeshave.model.file import list_versions, measure_arrays
from spokeshave.model.inputs import VectorInput
from spokeshave.model.model import Model
from spokeshave.model.scorers import SparseScorer
from spokeshave.ranking.criteria import Ranking
from spokeshave.selection.representation import Representation
from spokeshave.svm.estimator import DualLinearSVC
from spokeshave.text.analyzers import JOINT
from spokeshave.utils.formatting import name_measure, write_share, write_size
from spokeshave.utils.timing import Stopwatch

N_STRONGEST = 20  # words for a class, and as many against it
N_EDGE = 10  # words on each side of a cut
MOST_EDGE_WORDS = 60_000  # in all: with more classes there are fewer at each cut
# Arrays of a model file whose sizes are in proportion to its weights, or to its features.
FIXED = 10  # bytes of an array that is compressed, whatever its size
OF_WEIGHTS = ("weights", "of_class")
OF_FEATURES = ("names", "name_lengths", "name_shared", "features", "counts")


def summarize_curve(
    curve: FeatureCurve, names: list[str], kept: NDArray[np.intp] | None = None
) -> CurveRecord:
    """Return the record of a curve; ``names`` are its classes.

    ``kept`` are the features that the model would keep (classes x cuts). The folds of a curve keep
    fewer, as they have fewer documents; without a model, the mean over folds is recorded.
    """
    return CurveRecord(
        method=curve.method,
        by=curve.by,
        evaluated_on=curve.evaluated_on,
        n_folds=len(curve.counts.won),
        names=names,
        fractions=curve.fractions.tolist(),
        n_features=(np.rint(curve.n_features).astype(int) if kept is None else kept).tolist(),
        measures={name: _summarize_measure(curve, name) for name in list_measures(curve)},
        seconds=curve.seconds,
        fit_seconds=curve.fit_seconds,
    )


def list_measures(curve: FeatureCurve) -> list[str]:
    """Return the measures that a curve has."""
    return [*MEASURES] if curve.labels is None else [*MEASURES, LABEL_F1]


def _summarize_measure(curve: FeatureCurve, name: str) -> MeasureRecord:
    errors = [_find_errors(curve, name, average) for average in ("macro", "micro")]
    return MeasureRecord(
        macro=_list(curve.macro(name)),
        micro=_list(curve.micro(name)),
        macro_error=errors[0],
        micro_error=errors[1],
        classes=[_list(row) for row in curve.per_class(name)],
    )


def _find_errors(curve: FeatureCurve, name: str, average: str) -> list[float | None] | None:
    """Return the standard errors of a measure, None if fewer than two folds have it."""
    try:
        return _list(curve.standard_error(name, average))
    except ValueError:
        return None


def summarize_cuts(
    dataset: Dataset,
    kept: NDArray[np.intp],
    ranking: Ranking,
    content: bytes,
    chosen: int,
) -> CutsRecord:
    """Return the cost of each cut, given the number of features that each class keeps.

    Bytes are estimated from the model file of the chosen cut, in proportion to weights and
    features. A file of texts or counts lists every word, as they are normalised over all of them.
    """
    first_cut = find_first_cuts(ranking, kept)
    n_cuts = kept.shape[1]
    per_cut = np.bincount(first_cut, minlength=n_cuts + 1)[:n_cuts]
    n_features, n_weights = np.cumsum(per_cut), kept.sum(axis=0)
    sizes = measure_arrays(content)
    n_bytes = np.full(n_cuts, float(len(content)))
    of_features = () if dataset.info.is_weighted else OF_FEATURES
    for arrays, count in ((OF_WEIGHTS, n_weights), (of_features, n_features)):
        share = count / max(count[chosen], 1) - 1
        n_bytes += sum(max(sizes[name] - FIXED, 0) for name in arrays) * share
    in_documents = np.bincount(_list_cells(dataset.train.X, first_cut), minlength=n_cuts + 1)
    return CutsRecord(
        n_features=n_features.tolist(),
        n_weights=n_weights.tolist(),
        n_bytes=np.round(n_bytes).astype(int).tolist(),
        per_document=(np.cumsum(in_documents[:n_cuts]) / len(dataset.train)).tolist(),
    )


def find_first_cuts(ranking: Ranking, kept: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the first cut at which any class keeps each feature, or the number of cuts.

    Examples
    --------
    >>> ranking = Ranking(np.array([[3.0, 0.0, 2.0], [0.0, 0.0, 5.0]]), np.array([0, 1]), "normal")
    >>> find_first_cuts(ranking, np.array([[1, 2], [1, 1]]))
    array([0, 2, 0])
    """
    n_cuts = kept.shape[1]
    first = np.full(ranking.scores.shape[1], n_cuts)
    for k, counts in enumerate(kept):
        order = ranking.list_ranked(k)[: counts[-1]]
        cuts = np.searchsorted(counts, np.arange(len(order)), side="right")
        first[order] = np.minimum(first[order], cuts)
    return first


def _list_cells(X: Any, first_cut: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the first cut of the feature of every nonzero cell."""
    columns = X.indices if sparse.issparse(X) else np.nonzero(X)[1]
    return np.asarray(first_cut[columns])


def count_at_cuts(ranking: Ranking, cuts: NDArray[Any]) -> NDArray[np.intp]:
    """Return how many features of a ranking each class keeps at each cut."""
    return count_kept(cuts, ranking.n_ranked)


def summarize_choice(choice: Choice, curve: FeatureCurve, tolerance: float | None) -> ChoiceRecord:
    """Return the record of the chosen cut."""
    assert choice.average is not None
    rule = "one standard error" if tolerance is None else f"{tolerance:g}"
    error = None
    if len(curve.counts.won) > 1:
        error = float(curve.standard_error(choice.measure, choice.average)[choice.index])
    return ChoiceRecord(
        measure=choice.measure,
        average=choice.average,
        rule=f"the smallest within {rule} of the best",
        index=int(choice.index),
        value=float(choice.value),
        error=error,
        best_index=int(curve.best(choice.measure, choice.average).index),
        best_value=float(choice.best_value),
        evaluated_on=choice.evaluated_on,
    )


def summarize_words(
    shipped: Model, dataset: Dataset, ranking: Ranking, kept: NDArray[np.intp]
) -> list[WordsRecord]:
    """Return the words of largest weight for each class, and the words at the edge of each cut.

    Weights are those of the model file; ranks and edges follow the ranking.
    """
    n_edge = max(1, min(N_EDGE, MOST_EDGE_WORDS // (2 * kept.size)))
    names, columns = dataset.feature_names, _find_columns(shipped, dataset)
    weights = group_weights(shipped)
    words = []
    for k, name in enumerate(dataset.row_names):
        order = ranking.list_ranked(k)
        rank = np.full(len(names), len(names))
        rank[order] = np.arange(len(order))
        features, of_class = weights[k]
        known = columns[features]
        words.append(
            WordsRecord(
                name,
                *list_strongest(of_class, names[known], rank[known]),
                edges=[_find_edge(order, int(n), n_edge, names) for n in kept[k]],
            )
        )
    return words


def _find_columns(shipped: Model, dataset: Dataset) -> NDArray[np.int64]:
    """Return the column of the dataset that each feature of a model is."""
    if isinstance(shipped.input, VectorInput):
        return shipped.input.features
    assert dataset.vectorizer is not None
    column = dataset.vectorizer.vocabulary_
    return np.array([column[name] for name in shipped.feature_names_], np.int64)


def group_weights(shipped: Model) -> list[tuple[NDArray[Any], NDArray[np.float64]]]:
    """Return the features of each class of a linear model, and their weights."""
    scorer = shipped.scorer
    assert isinstance(scorer, SparseScorer)
    shape = len(scorer.starts) - 1, len(scorer.intercept)
    by_class = sparse.csr_matrix((scorer.weights, scorer.classes, scorer.starts), shape).tocsc()
    return [
        (by_class.indices[start:stop], by_class.data[start:stop].astype(float))
        for start, stop in pairwise(by_class.indptr)
    ]


def list_strongest(
    weights: NDArray[np.float64], names: NDArray[Any], rank: NDArray[Any]
) -> tuple[list[WordRecord], list[WordRecord]]:
    """Return the words of the largest positive and negative weights of a class.

    Examples
    --------
    >>> names = np.array(["oak", "yew"])
    >>> for_it, against = list_strongest(np.array([2.0, -1.0]), names, np.array([0, 1]))
    >>> for_it[0].name, against[0].name
    ('oak', 'yew')
    """
    sides = (
        np.lexsort((rank, -sign * weights))[: min(N_STRONGEST, int((sign * weights > 0).sum()))]
        for sign in (1, -1)
    )
    positive, negative = (
        [WordRecord(str(names[j]), float(weights[j]), int(rank[j])) for j in side] for side in sides
    )
    return positive, negative


def _find_edge(order: NDArray[Any], n: int, n_edge: int, names: NDArray[Any]) -> EdgeRecord:
    stay, go = order[max(n - n_edge, 0) : n], order[n : n + n_edge]
    return EdgeRecord([str(names[j]) for j in stay], [str(names[j]) for j in go])


def evaluate_predictions(
    y: Any,
    predicted: Any,
    names: list[str],
    on: str,
    n_unknown: NDArray[np.intp] | None = None,
) -> EvaluationRecord:
    """Return the measures of predictions against targets; ``names`` are the classes.

    ``n_unknown`` is the number of labels of each document that are no classes.
    """
    found = compare(y, predicted, names, n_unknown)
    return summarize_evaluation(found, names, on, is_multilabel=y.ndim == 2)


def summarize_evaluation(
    found: Agreement, names: list[str], on: str, *, is_multilabel: bool
) -> EvaluationRecord:
    """Return the measures of predictions, given how they agree with targets.

    The macro-average of labels is over the labels that occur or are predicted, as in scikit-learn;
    for multilabel targets it is over all classes.
    """
    is_met = np.ones(len(names), bool) if is_multilabel else (found.true + found.predicted) > 0
    return EvaluationRecord(
        judged_on=on,
        n_documents=found.n_documents,
        accuracy=found.accuracy,
        macro_f1=float(found.f1[is_met].mean()),
        micro_f1=found.micro_f1,
        classes=dict(zip(names, found.f1.tolist(), strict=True)),
        precision_at_k={str(k): value for k, value in found.precision_at_k.items()},
    )


def compare_batches(
    batches: Iterable[Texts | Vectors],
    names: list[str],
    predictors: Sequence[Callable[[Texts | Vectors], Any]],
) -> list[Agreement]:
    """Return how the predictions of each model agree with the labels of batches of documents."""
    none = np.zeros(len(names), np.int64)
    found = [Agreement(0, 0, none, none, none)] * len(predictors)
    for batch in batches:
        labels = batch.labels or []
        y, n_unknown = make_targets(labels, names), count_unknown_labels(labels, names)
        found = [
            each.merge(compare(y, predict(batch), names, n_unknown))
            for each, predict in zip(found, predictors, strict=True)
        ]
    return found


def predict_batch(model: Model, batch: Texts | Vectors) -> Any:
    """Return the predictions of a model for a batch of documents."""
    if isinstance(batch, Texts):
        return predict_ranked(model, batch.texts)
    return predict_ranked(model, widen(batch.X, model.input.n_features))  # type: ignore[union-attr]


def predict_ranked(model: Any, documents: Any) -> Any:
    """Return the predicted labels as strings; for a multilabel model with scores that rank them.

    Labels are ranked by their scores before thresholds, which are a better order: a low threshold
    means that a class is hard to find, not that it is likely.
    """
    if not model.multilabel_:
        return np.asarray(model.predict(documents)).astype(str)
    scores = model.decision_function(documents)
    return RankedLabels(scores > 0, scores + getattr(model, "thresholds_", 0.0))


def widen(X: Any, n_features: int) -> Any:
    """Return sparse rows with the columns of a model; a batch may lack the last ones."""
    X.resize(X.shape[0], n_features)
    return X


def write_headline(dataset: Dataset, cuts: CutsRecord, choice: ChoiceRecord) -> str:
    """Return one sentence on the chosen cut and its cost."""
    at, best = choice.index, choice.best_index
    n_features, n_all = cuts.n_features[at], len(dataset.feature_names)
    share = f"{n_features / n_all:.1%}"
    if len(dataset.row_names) > 1:
        share += f", {cuts.n_weights[at] / max(cuts.n_weights[-1], 1):.1%} of the weights"
    error = "" if choice.error is None else f" ± {write_share(choice.error)}"
    return (
        f"{n_features:,} of {n_all:,} {dataset.unit} ({share}): "
        f"{name_measure(choice.average, choice.measure)} {write_share(choice.value)}{error}, "
        f"best {write_share(choice.best_value)} at {cuts.n_features[best]:,}; "
        f"model {write_size(cuts.n_bytes[at])}"
    )


def summarize_stability(
    found: Stability, names: list[str], fractions: NDArray[np.float64]
) -> StabilityRecord:
    """Return the record of the comparison of masked and retrained SVMs."""
    measures = ("cosine", "pearson", "overlap", "containment")
    return StabilityRecord(
        names=names,
        fractions=fractions.tolist(),
        macro={name: _list(found.macro(name)) for name in measures},
        classes={name: [_list(row) for row in getattr(found, name)] for name in measures},
    )


def _list(values: NDArray[np.float64]) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


def make_record(
    info: DatasetInfo,
    origin: Origin,
    making: Making,
    *,
    headline: str,
    settings: dict[str, str],
    unit: str,
    per_document: float,
    n_test: int | None,
    model: ModelRecord,
    **found: Any,
) -> RunRecord:
    """Return the record of a run.

    ``found`` are the other fields of `RunRecord`, of which a run may have none: curves, cuts,
    choice, words, full_model, shapes, stability.
    """
    return RunRecord(
        title=origin.source,
        headline=headline,
        making=making,
        data=Data(
            source=origin.source,
            read=origin.read,
            fingerprint=info.fingerprint,
            kind="multilabel" if info.is_multilabel else "labels",
            unit=unit,
            n_documents=info.n_documents,
            n_features=info.n_features,
            per_document=per_document,
            n_skipped=origin.n_skipped,
            test_source=None if n_test is None else origin.test_source or "held out",
            n_test=n_test,
        ),
        settings=settings,
        classes=[ClassRecord(*pair) for pair in zip(info.names, info.counts, strict=True)],
        model=model,
        **found,
    )


def describe_making(origin: Origin, settings: Settings, watch: Stopwatch) -> Making:
    """Return the command, the versions and the time of a run, at its end."""
    return Making(
        command=origin.command,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=dict(watch.seconds),
        versions=list_versions(),
        seed=settings.seed,
    )


def describe_settings(
    settings: Settings, svc: DualLinearSVC, *, is_text: bool = True
) -> dict[str, str]:
    """Return the settings of a run in words, with the C that was chosen."""
    is_searched = settings.effort != "quick" and "C" not in settings.fixed
    how = " (chosen by cross-validation)" if settings.C == "auto" or is_searched else ""
    found = {
        "method": ", ".join(settings.methods),
        "ranked by": settings.by,
        "C": f"{svc.C:g}{how}",
        "loss": svc.loss,
        "weights of classes": f"{svc.class_weight or 'none'}",
        "prior of the weights": f"{svc.prior}, strength {svc.prior_strength:g}"
        if svc.prior is not None
        else "none",
    }
    weighting = settings.find_weighting(is_text=is_text)
    if not is_text:
        return found if weighting == "counts" else found | {"value of a feature": weighting}
    return found | {
        "terms": describe_terms(settings.analyzer, settings.ngram_range, settings.min_df),
        "value of a term": weighting,
        "fewest documents of a term": f"{settings.min_df:g}",
    }


def describe_terms(analyzer: Any, ngram_range: tuple[int, int], min_df: float) -> str:
    """Return the choice of terms in words.

    Examples
    --------
    >>> describe_terms("word", (1, 2), 2), describe_terms("char_wb", (2, 5), 1)
    ('words, 1 to 2', 'characters within words, 2 to 5, rare ones too')
    """
    kinds = {
        "word": "words",
        "char": "characters",
        "char_wb": "characters within words",
        JOINT: "characters within words, and words",
    }
    first, last = ngram_range
    lengths = "" if last == 1 else f", {first} to {last}" if first < last else f", {last}"
    rare = ", rare ones too" if min_df == 1 else ""
    return kinds.get(analyzer, "terms of a function") + lengths + rare


def summarize_trials(chosen: Representation) -> list[TrialRecord]:
    """Return the record of the trials of a chosen representation."""
    last = max(
        (n for n, each in enumerate(chosen.trials) if each.representation == chosen), default=0
    )
    return [
        TrialRecord(
            terms=describe_terms(*each.representation.terms),
            weighting=each.representation.weighting,
            prior_strength=each.representation.prior_strength,
            loss=each.representation.loss,
            C=each.representation.C,
            n_documents=each.n_documents,
            n_features=each.n_features,
            score=each.score,
            error=each.error,
            seconds=each.seconds,
            is_chosen=n == last,
            class_weight=each.representation.class_weight,
        )
        for n, each in enumerate(chosen.trials)
    ]


def describe_provenance(info: DatasetInfo, origin: Origin, seed: Any) -> dict[str, Any]:
    """Return the origin of a model, for its file."""
    return {
        "source": origin.source,
        "text_column": origin.text_column,
        "fingerprint": info.fingerprint,
        "n_documents": info.n_documents,
        "command": origin.command,
        "seed": seed,
        "versions": list_versions(),
    }
