"""Documents as each class sees them: shaped, scaled and normalised for it, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit
from sklearn.preprocessing import normalize

from spokeshave.levels import Levels, count_class, separate_class, take_census
from spokeshave.scaling import find_factor
from spokeshave.shapes import Places, Shapes, draw_images


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
    scale: str | None,
    norm: str | None,
    n_jobs: int | None = None,
) -> Views:
    """Find the base and the factor of each column for each class."""
    shape = indicator.shape[1], rows.shape[1]
    base, factor = np.zeros(shape), np.ones(shape)
    tables = _list_tables(rows, indicator, shapes, output, n_jobs)
    for k, (levels, positives, images) in enumerate(tables):
        if zero_is_fixed:
            base[k] = images[levels.zero_level]
            images = images - np.repeat(base[k], np.diff(levels.starts))
        if scale is not None:
            n_positive = int(indicator.indptr[k + 1] - indicator.indptr[k])
            found = separate_class(levels, positives, images, n_positive, rows.shape[0])
            factor[k] = find_factor(found, zero_is_fixed=zero_is_fixed)
            base[k] = base[k] if zero_is_fixed else found.lowest
    return Views(shapes, output, base, factor, norm)


def _list_tables(
    rows: sparse.csr_matrix,
    indicator: sparse.csc_matrix,
    shapes: Shapes | None,
    output: str,
    n_jobs: int | None,
) -> Iterator[tuple[Levels, NDArray[np.int32], NDArray[np.float64]]]:
    """Yield, for each class, the levels, its documents at each, and what each becomes."""
    if shapes is not None:
        for positives, images in zip(shapes.positives, shapes.probability, strict=True):
            yield shapes.levels, positives, logit(images) if output == "log_odds" else images
        return
    census = take_census(rows, n_jobs=n_jobs)
    for k in range(indicator.shape[1]):
        documents = indicator.indices[indicator.indptr[k] : indicator.indptr[k + 1]]
        yield census.levels, count_class(census, documents), census.levels.values
