"""Documents as each class sees them: shaped, scaled and normalised for it, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from spokeshave.levels import Rates, Separation, count_class, separate_class, take_census
from spokeshave.scaling import BNSScaler, separate_shapes
from spokeshave.shapes import Places, Shapes, draw_images, find_zeros
from spokeshave.targets import list_documents


class Views(NamedTuple):
    """What turns the cells of documents into what each class sees.

    Attributes
    ----------
    shapes : what each value becomes; None where it stays itself
    output : whether that is a probability or its log odds
    base, factor : what is taken off it in each column, and what it is then multiplied by
        (classes x features)
    norm : the norm of a document that is then made one
    """

    shapes: Shapes | None
    output: str
    base: NDArray[np.float64]
    factor: NDArray[np.float64]
    norm: str | None

    def show(self, rows: sparse.csr_matrix, places: Places | None, k: int) -> sparse.csr_matrix:
        """Return the documents as class k sees them."""
        base, factor = self.base[k], self.factor[k]
        if self.shapes is None or places is None:
            data = (rows.data - base[rows.indices]) * factor[rows.indices]
        else:
            data = np.empty(rows.nnz)
            draw_images(self.shapes, k, places, self.output, base, factor, data)
        view = sparse.csr_matrix((data, rows.indices, rows.indptr), rows.shape)
        return view if self.norm is None else normalize(view, self.norm, copy=False)


def make_views(
    rows: sparse.csr_matrix,
    indicator: sparse.csc_matrix,
    shapes: Shapes | None,
    *,
    output: str,
    zero_is_fixed: bool,
    scale: BNSScaler | None,
    norm: str | None,
    n_jobs: int | None = None,
) -> Views:
    """Find the base and the factor of each column for each class."""
    shape = indicator.shape[1], rows.shape[1]
    base, factor = np.zeros(shape), np.ones(shape)
    if shapes is not None and zero_is_fixed:
        base = np.array([find_zeros(shapes, k, output) for k in range(shape[0])])
    if scale is not None:
        rates = scale.find_rates(np.diff(indicator.indptr), indicator.shape[0])
        found = _separate(rows, indicator, shapes, output, zero_is_fixed, rates, n_jobs)
        for k, separation in enumerate(found):
            shift, factor[k] = scale.stretch_to(separation, zero_is_fixed=zero_is_fixed)
            base[k] += shift
    return Views(shapes, output, base, factor, norm)


def _separate(
    rows: sparse.csr_matrix,
    indicator: sparse.csc_matrix,
    shapes: Shapes | None,
    output: str,
    zero_is_fixed: bool,
    rates: list[Rates],
    n_jobs: int | None,
) -> Iterator[Separation]:
    """Yield how well a threshold on what values become tells each class from the rest."""
    if shapes is not None:
        for k in range(len(rates)):
            alone, own = shapes.of_class(k), rates[k : k + 1]
            yield separate_shapes(alone, 0, output, own, zero_is_fixed=zero_is_fixed)
        return
    census = take_census(rows, n_jobs=n_jobs)
    for k, of_class in enumerate(rates):
        positives = count_class(census, list_documents(indicator, k))
        yield separate_class(census.levels, positives, census.levels.values, of_class)
