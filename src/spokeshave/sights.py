"""Documents as the steps before a classifier show them to each class."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import assert_all_finite, get_tags

from spokeshave.documents import tidy
from spokeshave.levels import store_all
from spokeshave.scaling import BNSScaler
from spokeshave.shapes import Places, find_places
from spokeshave.shaping import LocalProbabilityShaper
from spokeshave.stages import FeatureShaper, make_scaler, make_shaper
from spokeshave.two_classes import Laid, check_rows, lay_out
from spokeshave.views import Views, make_views


class Sight(NamedTuple):
    """Training documents, laid out, and documents to test on, as a class sees them."""

    train: Laid
    test: Any


Look = Callable[[int], Sight]


def look(before: Any, X: Any, Y: NDArray[np.intp], X_test: Any) -> Look:
    """Fit the steps before a classifier, and return what shows each class its documents.

    ``Y`` has a column of zeros and ones for each class. Steps that need no target are fitted once
    for all classes and are given none. Of a last `FeatureShaper` the classes share what is sorted
    and counted, where they can; anything else is fitted for each class anew.
    """
    shared, own = split_shared(before)
    if shared is not None:
        shared = clone(shared)
        X, X_test = shared.fit_transform(X), shared.transform(X_test)
    if own is None:
        sight = Sight(lay_out(check_rows(X)), check_rows(X_test))
        return lambda k: sight
    if type(own) is FeatureShaper and has_views(own):
        return _look_through_views(own, X, Y, X_test)

    def look_alone(k: int) -> Sight:
        steps = clone(own)
        train = steps.fit_transform(X, Y[:, k])
        return Sight(lay_out(check_rows(train)), check_rows(steps.transform(X_test)))

    return look_alone


def split_shared(before: Any) -> tuple[Any, Any]:
    """Return the first steps, which need no target, and the others; None where there are none."""
    if before is None:
        return None, None
    steps = [step for _, step in before.steps] if isinstance(before, Pipeline) else [before]
    steps = [step for step in steps if step not in ("passthrough", None)]
    needs = [_needs_target(step) for step in steps]
    first = needs.index(True) if any(needs) else len(steps)
    return _join(steps[:first]), _join(steps[first:])


def has_views(shaper: FeatureShaper) -> bool:
    """Say whether all classes can be shown their documents from one census of the values."""
    shape, scale = make_shaper(shaper.shape, None), make_scaler(shaper.scale, None)
    is_known = shape is None or type(shape) is LocalProbabilityShaper or shaper.shape == "binary"
    is_crossed = getattr(shape, "cross_fit", False) or getattr(shape, "n_neighbors", 0) == "auto"
    is_scaled = scale is None or type(scale) is BNSScaler
    return is_known and is_scaled and not is_crossed and not shaper.keep_raw


def _look_through_views(shaper: FeatureShaper, X: Any, Y: NDArray[np.intp], X_test: Any) -> Look:
    shape, scale = make_shaper(shaper.shape, None), make_scaler(shaper.scale, None)
    indicator = sparse.csc_matrix(Y, dtype=np.int8)
    shapes, output, zero_is_fixed = None, "probability", sparse.issparse(X)
    places = places_test = None
    if isinstance(shape, LocalProbabilityShaper):
        study = shape.learn(X, Y if Y.shape[1] > 1 else Y.ravel())
        rows, places = study.given.rows, study.places
        shapes, output, zero_is_fixed = shape.shapes_, shape.output, shape.zero_is_fixed_
        rows_test = shape.read(X_test).rows
        places_test = find_places(shapes, rows_test, None)
    else:
        rows, rows_test = (
            _store(part if shape is None else shape.fit_transform(part)) for part in (X, X_test)
        )
    views = make_views(
        rows,
        indicator,
        shapes,
        output=output,
        zero_is_fixed=zero_is_fixed,
        scale=scale,
        norm=shaper.norm,
    )

    def look_alone(k: int) -> Sight:
        return Sight(
            lay_out(_show(views, rows, places, k, zero_is_fixed)),
            _show(views, rows_test, places_test, k, zero_is_fixed),
        )

    return look_alone


def _show(
    views: Views, rows: sparse.csr_matrix, places: Places | None, k: int, zero_is_fixed: bool
) -> Any:
    """Return documents as class k sees them, as a table where all of their cells are stored."""
    view = views.show(rows, places, k)
    return view if zero_is_fixed else view.data.reshape(view.shape)


def _store(X: Any) -> sparse.csr_matrix:
    assert_all_finite(X, input_name="X")
    return tidy(X) if sparse.issparse(X) else store_all(X)


def _needs_target(step: Any) -> bool:
    """Say whether a step, or one inside it, is to be given a target.

    `SelectKBest` may need one whatever its tags say, and so may others like it.
    """
    inside = [part for part in step.get_params().values() if hasattr(part, "fit")]
    return any(
        isinstance(part, SelectorMixin) or _must_have_target(part) for part in (step, *inside)
    )


def _must_have_target(part: Any) -> bool:
    """Say whether an estimator must have a target, by its tags or because fit cannot do without."""
    y = signature(part.fit).parameters.get("y")
    return (y is not None and y.default is y.empty) or bool(get_tags(part).target_tags.required)


def _join(steps: list[Any]) -> Any:
    """Return steps as one."""
    if len(steps) < 2:
        return steps[0] if steps else None
    return make_pipeline(*steps)
