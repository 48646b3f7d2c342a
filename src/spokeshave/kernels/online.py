"""Online linear learners for one class with targets y in {-1, +1}.

Every pass visits the documents in a new random order, and a step takes time proportional to the
nonzeros of its document. Malik and Tarique ("Analysis of Sparsity in a Support Vector Machine
Based Feature Selection Method") propose to rank features by the weights of these learners.
"""

from __future__ import annotations

import numpy as np

from spokeshave.kernels.compile import compiled
from spokeshave.kernels.rows import add_row, dot
from spokeshave.kernels.sorting import seeded, shuffle

FURTHEST = 1e100  # largest ratio of a Winnow weight to its start, so that all stay finite
DRIFT = 1e3  # ratio to one at which a running sum of weights is computed again


@compiled
def learn_perceptron(rows, y, bias, w, max_passes, state):
    """Add or subtract every misclassified document until a pass finds none (Rosenblatt 1958).

    ``bias`` is the squared value of a constant feature, as in ``kernels.descent``. Changes ``w``,
    which must start at zero, and the generator's ``state`` in place; returns the intercept and the
    number of mistakes in the last pass.
    """
    order = np.arange(y.size).astype(np.uint32)
    b, n_mistakes = 0.0, 0
    for _ in range(max_passes):
        shuffle(order, order.size, state)
        n_mistakes = 0
        for i in order:
            if y[i] * (dot(rows, i, w) + b) <= 0:
                add_row(rows, i, y[i], w)
                b += y[i] * bias
                n_mistakes += 1
        if n_mistakes == 0:
            break
    return b, n_mistakes


@compiled
def learn_bayes_point(rows, y, bias, mean, n_orders, max_passes, seed):
    """Average the unit-length perceptrons of many random orders of the documents.

    The perceptrons are spread over the version space, so their mean approximates its centre, the
    Bayes point (Herbrich and Graepel, "Large scale Bayes point machines", NIPS 2000). The length
    includes the intercept. Adds to ``mean`` in place; returns the intercept.
    """
    state = seeded(seed)
    w = np.empty_like(mean)
    mean_b = 0.0
    for _ in range(n_orders):
        w[:] = 0
        b, _ = learn_perceptron(rows, y, bias, w, max_passes, state)
        squared_length = np.square(w).sum() + b * b / bias
        if squared_length > 0:
            share = 1 / (n_orders * np.sqrt(squared_length))
            mean_b += share * b
            for j in range(w.size):
                mean[j] += share * w[j]
    return mean_b


@compiled
def learn_winnow(rows, y, start, rate, w, max_passes, seed):
    """Train Balanced Winnow, which multiplies the weights of misclassified documents.

    A feature has a weight for the class and one against it; both begin at ``start``. A document is
    of the class if the sum of its values times the difference of the weights exceeds 1. A mistake
    multiplies one weight by ``rate`` and divides the other, for every feature of the document
    (Dagan, Karov and Roth, "Mistake-driven learning in text categorization", EMNLP 1997;
    Littlestone 1988). Writes the difference into ``w``; returns the number of mistakes in the last
    pass.
    """
    order = np.arange(y.size).astype(np.uint32)
    state = seeded(seed)
    pro, contra = np.full(w.size, start), np.full(w.size, start)
    w[:] = 0
    n_mistakes = 0
    for _ in range(max_passes):
        shuffle(order, order.size, state)
        n_mistakes = 0
        for i in order:
            if y[i] * (dot(rows, i, w) - 1.0) > 0:
                continue
            n_mistakes += 1
            factor = rate if y[i] > 0 else 1 / rate
            for p in range(rows.indptr[i], rows.indptr[i + 1]):
                j = rows.indices[p]
                pro[j] = _bounded(pro[j] * factor, start)
                contra[j] = _bounded(contra[j] / factor, start)
                w[j] = pro[j] - contra[j]
        if n_mistakes == 0:
            break
    return n_mistakes


@compiled
def learn_widrow_hoff(rows, y, rate, average, seed):
    """Take one gradient step on the squared error of each document; targets are 1 and 0.

    Adds to ``average`` the mean of the weight vectors before and after every step (Lewis,
    Schapire, Callan and Papka, "Training algorithms for linear text classifiers", SIGIR 1996).
    """
    n = y.size
    order = np.arange(n).astype(np.uint32)
    shuffle(order, n, seeded(seed))
    w = np.zeros_like(average)
    for t in range(n):
        i = order[t]
        step = -2 * rate * _error(y[i], dot(rows, i, w))
        add_row(rows, i, step, w)
        # A step is part of all later weight vectors.
        add_row(rows, i, step * (n - t) / (n + 1), average)


@compiled
def learn_exponentiated_gradient(rows, y, rate, average, seed):
    """Train like Widrow and Hoff, with multiplicative steps and weights that sum to one.

    The weights are ``u / total`` (Kivinen and Warmuth's EG, in the form of Lewis et al. 1996). The
    mean of a weight is updated only when the weight changes; in between it grows by u times the
    sum of 1 / total. Writes the mean into ``average``. The last entry of ``average`` belongs to a
    feature that never changes and is not part of the sum.
    """
    n = y.size
    order = np.arange(n).astype(np.uint32)
    shuffle(order, n, seeded(seed))
    u = np.full(average.size, 1 / (average.size - 1))
    since = np.zeros(average.size)
    average[:] = 0
    total = elapsed = 1.0
    for i in order:
        step = -2 * rate * _error(y[i], dot(rows, i, u) / total) * rows.scale[i]
        start, stop = rows.indptr[i], rows.indptr[i + 1]
        total += _multiply(rows.indices, rows.data, start, stop, step, u, average, since, elapsed)
        if not 1 / DRIFT < total < DRIFT:
            _bring_up_to_date(u, average, since, elapsed)
            u /= u[:-1].sum()
            total, elapsed = 1.0, 0.0
        elapsed += 1 / total
    _bring_up_to_date(u, average, since, elapsed)
    average /= n + 1


@compiled
def _error(y, predicted):
    return predicted - (1.0 if y > 0 else 0.0)


@compiled
def _bounded(weight, start):
    return min(max(weight, start / FURTHEST), start * FURTHEST)


# ``data`` is a separate argument so that numba prunes the test for None when it compiles.


@compiled
def _multiply(indices, data, start, stop, step, u, average, since, elapsed):
    """Multiply the weights of one document's features; return the change of their sum."""
    growth = 0.0
    for p in range(start, stop):
        j = indices[p]
        average[j] += u[j] * (elapsed - since[j])
        since[j] = elapsed
        before = u[j]
        if data is None:
            u[j] *= np.exp(step)
        else:
            u[j] *= np.exp(step * data[p])
        growth += u[j] - before
    return growth


@compiled
def _bring_up_to_date(u, average, since, elapsed):
    """Update the mean of every weight up to ``elapsed``, and reset ``since`` to zero, in place."""
    for j in range(u.size):
        average[j] += u[j] * (elapsed - since[j])
        since[j] = 0
