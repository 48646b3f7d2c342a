"""Export of a fitted estimator or pipeline as a Model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_selection import SelectorMixin
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Binarizer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from spokeshave.model.inputs import TextInput, VectorInput
from spokeshave.model.model import Model
from spokeshave.model.scorers import N_BINS, ShapedScorer, ShapeTable, SparseScorer
from spokeshave.selection.shaved_svc import ShavedSVC
from spokeshave.shaping.shaped_svc import ShapedSVC
from spokeshave.svm.estimator import DualLinearSVC
from spokeshave.text.vectorizer import DocumentVectorizer, make_analysis
from spokeshave.text.weighting import TermWeighter

CLASSIFIERS = (
    *(ShavedSVC, ShapedSVC, DualLinearSVC),
    *(LinearSVC, LogisticRegression, SGDClassifier, Perceptron),
)
SMALLEST = 1e-7  # probability: one minus less would round to one in single precision


def export_model(
    model: Any, *, classes: Sequence[Any] | None = None, provenance: dict[str, Any] | None = None
) -> Model:
    """Return the part of a fitted model that is needed to predict; see `save_model`."""
    if hasattr(model, "to_model"):  # a BudgetedSVC, which is in a higher layer
        exported: Model = model.to_model(classes, provenance)
        if isinstance(exported.input, TextInput):
            require_names(exported.input.analysis)
        return exported
    stages = _split_pipeline(model)
    classifier = stages.classifier
    is_shaped = isinstance(classifier, ShapedSVC)
    known, scorer = (_export_shaped if is_shaped else _export_linear)(classifier, stages)
    n_scores = len(scorer.intercept)
    return Model(
        classes_=_name_classes(classifier, classes),
        multilabel_=bool(getattr(classifier, "multilabel_", False)),
        input=_export_input(stages, known, scorer),
        scorer=scorer,
        thresholds_=np.asarray(getattr(classifier, "thresholds_", np.zeros(n_scores)), float),
        calibration_=getattr(classifier, "calibration_", None),
        provenance=dict(provenance or {}),
    )


class _Stages(NamedTuple):
    """A pipeline: its first step, the columns it passes to the classifier, and the classifier."""

    vectorizer: DocumentVectorizer | None
    weighter: TermWeighter | None
    scaler: StandardScaler | None
    columns: NDArray[np.intp]
    n_columns: int
    classifier: Any

    @property
    def needs_every_word(self) -> bool:
        """Whether documents are normalised over words that the classifier may ignore."""
        weighter = self.vectorizer or self.weighter
        return weighter is not None and weighter.norm is not None


def _split_pipeline(model: Any) -> _Stages:
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    *before, classifier = [step for step in steps if step not in (None, "passthrough")]
    vectorizer = weighter = scaler = None
    if before and isinstance(before[0], DocumentVectorizer):
        vectorizer, *before = before
    elif before and isinstance(before[0], TermWeighter):
        weighter, *before = before
    elif before and isinstance(before[0], StandardScaler):
        scaler, *before = before
    for step in before:
        if not isinstance(step, SelectorMixin):
            raise ValueError(
                "model must be a pipeline of a DocumentVectorizer, a TermWeighter or a "
                "StandardScaler, feature selectors and a linear classifier. "
                f"Got a {type(step).__name__} in it instead."
            )
    for step in (*before, classifier):
        check_is_fitted(step)
    if not isinstance(classifier, CLASSIFIERS):
        names = ", ".join(kind.__name__ for kind in CLASSIFIERS)
        raise ValueError(
            f"model must end in one of {names}. Got a {type(classifier).__name__} instead."
        )
    if vectorizer is not None:
        check_is_fitted(vectorizer)
        n_columns = len(vectorizer.vocabulary_)
    else:
        n_columns = (*before, classifier)[0].n_features_in_
    if weighter is not None:
        check_is_fitted(weighter, "n_features_in_")
    columns = np.arange(n_columns)
    for step in before:
        columns = columns[step.get_support()]
    return _Stages(vectorizer, weighter, scaler, columns, n_columns, classifier)


def _name_classes(classifier: Any, classes: Sequence[Any] | None) -> NDArray[Any]:
    if classes is None:
        return np.array(classifier.classes_.tolist())
    if len(classes) != len(classifier.classes_):
        raise ValueError(
            f"classes must name the {len(classifier.classes_)} classes of the model. "
            f"Got {len(classes)} names instead."
        )
    return np.array(list(classes))


def _export_linear(classifier: Any, stages: _Stages) -> tuple[NDArray[np.intp], SparseScorer]:
    """Return the columns that the model needs, and the weights."""
    coef = np.atleast_2d(classifier.coef_)
    if isinstance(classifier, ShavedSVC):
        kept = sparse.csr_matrix(classifier.kept_, copy=True)
        rows = np.repeat(np.arange(kept.shape[0]), np.diff(kept.indptr))
        kept.data = coef[rows, kept.indices]
        is_unit = classifier.unit_
    else:
        kept, is_unit = sparse.csr_matrix(coef), False
    by_feature = kept.tocsc()
    by_feature.sort_indices()
    if is_unit or not stages.needs_every_word:
        used = np.flatnonzero(np.diff(by_feature.indptr))
        counts = np.diff(by_feature.indptr)[used]
        known = stages.columns[used]
    else:
        known = np.arange(stages.n_columns)
        counts = np.zeros(stages.n_columns, np.int64)
        counts[stages.columns] = np.diff(by_feature.indptr)
    intercept = np.broadcast_to(np.asarray(classifier.intercept_, float), (len(coef),)).copy()
    weights = by_feature.data
    if stages.scaler is not None:
        weights, shift = _fold_scaling(stages, is_unit, by_feature)
        intercept -= shift
    scorer = SparseScorer(
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        classes=by_feature.indices.astype(np.min_scalar_type(max(len(coef) - 1, 0))),
        weights=weights.astype(np.float32),
        intercept=intercept,
        unit=bool(is_unit),
    )
    return known, scorer


def _fold_scaling(
    stages: _Stages, is_unit: bool, by_feature: sparse.csc_matrix
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights of unscaled columns, and the shift to subtract from the intercepts."""
    if is_unit:
        raise ValueError("model must not scale documents to length one after a StandardScaler.")
    scaler: Any = stages.scaler
    n_classes = by_feature.shape[0]
    ones, zeros = np.ones(stages.n_columns), np.zeros(stages.n_columns)
    scale = ones if scaler.scale_ is None else scaler.scale_
    mean = scaler.mean_ if scaler.with_mean else zeros
    of_weight = np.repeat(stages.columns, np.diff(by_feature.indptr))
    # Rounded as in the file, so that the shift matches the stored weights.
    weights = (by_feature.data / scale[of_weight]).astype(np.float32).astype(float)
    shift = np.bincount(by_feature.indices, weights * mean[of_weight], minlength=n_classes)
    return weights, np.asarray(shift, float)


def _export_shaped(classifier: ShapedSVC, stages: _Stages) -> tuple[NDArray[np.intp], ShapedScorer]:
    """Return the columns that the model needs, and the shapes and weights."""
    transforms, shaper = classifier.transforms_, classifier.shaper_
    if stages.scaler is not None:
        raise ValueError("model must not have a StandardScaler before features are shaped.")
    if stages.needs_every_word and len(stages.columns) < stages.n_columns:
        raise ValueError(
            "model must not select features of normalised documents before they are shaped; "
            "use DocumentVectorizer(norm=None)."
        )
    table = None
    if transforms.shapes is not None:
        if transforms.shapes.is_nominal.any():
            raise ValueError(
                "model must not have nominal features: a model file cannot store their values."
            )
        starts, levels, *_ = transforms.shapes.levels
        is_bin = (starts[:-1, None] + np.arange(N_BINS)).ravel()
        levels = levels.copy()
        levels[is_bin] = 0  # bins have no value
        table = ShapeTable(
            starts,
            levels,
            transforms.shapes.probability.clip(SMALLEST, 1 - SMALLEST).astype(np.float32),
            transforms.shapes.prior,
        )
    scorer = ShapedScorer(
        table=table,
        is_binary=isinstance(shaper, Binarizer),
        is_log=transforms.output == "log_odds",
        base=transforms.base.astype(np.float32),
        factor=transforms.factor.astype(np.float32),
        weights=classifier.coef_.astype(np.float32),
        norm=transforms.norm,
        intercept=np.asarray(classifier.intercept_, float),
    )
    return stages.columns, scorer


def require_names(options: Any) -> None:
    """Raise if an option of a vectorizer or of its analysis is a function."""
    for name in ("analyzer", "strip_accents"):
        if callable(getattr(options, name)):
            raise ValueError(
                f"model must have a DocumentVectorizer whose {name} is named by a string: a model "
                "file cannot store a function."
            )


def _export_input(
    stages: _Stages, known: NDArray[np.intp], scorer: SparseScorer | ShapedScorer
) -> TextInput | VectorInput:
    vectorizer, classifier = stages.vectorizer, stages.classifier
    is_unit = isinstance(scorer, SparseScorer) and scorer.unit
    if vectorizer is None:
        names = getattr(classifier, "feature_names_in_", None)
        of_classifier = np.searchsorted(stages.columns, known)
        labels = known if names is None else np.asarray(names)[of_classifier]
        is_dense = isinstance(classifier, ShapedSVC) and not classifier.is_sparse_
        keep_zeros = is_dense and not getattr(classifier.shaper_, "zero_is_fixed_", False)
        found = VectorInput(stages.n_columns, known, tuple(map(str, labels)), keep_zeros)
        if (weighter := stages.weighter) is None:
            return found
        return replace(
            found,
            weighting=weighter.weighting,
            sublinear_tf=bool(weighter.sublinear_tf),
            norm=None if is_unit else weighter.norm,
            idf=weighter.idf_[known] if weighter.weighting == "tfidf" else None,
        )
    is_tfidf = vectorizer.weighting == "tfidf"
    require_names(vectorizer)
    return TextInput(
        vectorizer.get_feature_names_out()[known].tolist(),
        vectorizer.weighting,
        None if is_unit else vectorizer.norm,
        vectorizer.strip_markup,
        vectorizer.idf_[known] if is_tfidf else None,
        make_analysis(vectorizer),
        sublinear_tf=bool(vectorizer.sublinear_tf),
    )
