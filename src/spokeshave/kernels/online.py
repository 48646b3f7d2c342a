"""Linear learners that see one document at a time, for one class with targets y in {-1, +1}.

Each visits the documents in an order shuffled anew for every pass, and a step costs no more than
the nonzeros of its document. They are the learners by whose weights Malik and Tarique ("Analysis
of Sparsity in a Support Vector Machine Based Feature Selection Method") would rank features too.
"""

from __future__ import annotations

import numpy as np

from spokeshave.kernels.compile import compiled
from spokeshave.kernels.rows import add_row, dot
from spokeshave.kernels.sorting import seeded, shuffle

FURTHEST = 1e100  # by what factor a winnowed weight may part from its start: all stay finite
DRIFT = 1e3  # how far a running sum of weights may part from one before it is taken anew


@compiled
def learn_perceptron(rows, y, bias, w, max_passes, state):
    """Add or take away every misjudged document until a pass finds none (Rosenblatt 1958).

    ``bias`` is the squared value of a constant feature, as in ``kernels.descent``. Changes ``w``,
    which must be zero at first, and the generator's ``state`` in place; returns the intercept and
    how many mistakes the last pass made.
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
    """Average the unit-length perceptrons of many orders of the documents.

    They are spread over the version space, so that their mean comes near to its centre, the Bayes
    point (Herbrich and Graepel, "Large scale Bayes point machines", NIPS 2000). A perceptron's
    length includes its intercept. Adds to ``mean`` in place; returns the intercept.
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
    """Multiply the weights of the words in misjudged documents: Balanced Winnow.

    A word has a weight for the class and one against it; both begin at ``start``, and a document
    is of the class when the sum of its values times their difference exceeds 1. A mistake
    multiplies the one by ``rate`` and divides the other for every word of the document (Dagan,
    Karov and Roth, "Mistake-driven learning in text categorization", EMNLP 1997; Littlestone
    1988). Writes the difference into ``w``; returns how many mistakes the last pass made.
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
    """Step down the squared error of each document once, towards 1 for the class and 0 else.

    Adds to ``average`` the mean of the weights before, between and after all steps (Lewis,
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
        # A step is in all weight vectors that come after it.
        add_row(rows, i, step * (n - t) / (n + 1), average)


@compiled
def learn_exponentiated_gradient(rows, y, rate, average, seed):
    """Do as Widrow and Hoff, with weights that are multiplied and always sum to one.

    The weights are ``u / total`` (Kivinen and Warmuth's EG, in the form of Lewis et al. 1996). A
    word's mean is brought up to date only when it moves: until then it has gained u times the sum
    of 1 / total. Writes the mean into ``average``, whose last entry is that of a feature that
    never moves and is no part of the sum.
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


# ``data`` is an argument of its own here: numba prunes the test for None when it compiles.


@compiled
def _multiply(indices, data, start, stop, step, u, average, since, elapsed):
    """Multiply the weights of one document's words; return by how much their sum grew."""
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
    """Add what each word has gained since it last moved, and count from zero again."""
    for j in range(u.size):
        average[j] += u[j] * (elapsed - since[j])
        since[j] = 0
