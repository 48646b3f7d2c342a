"""Dual coordinate descent for the linear SVM, keeping the dual.

The problem, for one class with targets y in {-1, +1} and costs c (LIBLINEAR's, Hsieh et al.,
"A dual coordinate descent method for large-scale linear SVM", ICML 2008, algorithm 3):

    primal   min_w  1/2 |w|^2 + sum_i c_i loss(y_i f_i),     f_i = w.x_i + b
    dual     max_a  sum_i a_i - 1/2 |w|^2 - 1/2 sum_i r_i a_i^2,   0 <= a_i <= u_i

with w = sum_i beta_i x_i and beta_i = y_i a_i. A prior of the weights replaces |w|^2 by
sum_j w_j^2 / v_j with variances v_j (see ``Rows``); then w_j = v_j sum_i beta_i x_ij, and nothing
else changes. The hinge loss has box u = c and ridge r = 0; the
squared hinge has no box and r = 1 / (2c). The intercept is the weight of a constant feature. The
square of its value is ``bias``, and b is its weight times its value: b = bias * sum_i beta_i.

The duality gap is a sum of nonnegative terms, one per document, so a pass over the active
documents measures their gap on the way:

    gap = sum_i  a_i (y_i f_i - 1) + c_i loss(y_i f_i) + r_i a_i^2 / 2

There are two stages. ``sweep`` visits all documents a few times in float32 for sixteen classes at
once, while nearly every document is still active in some class. ``polish`` finishes one class in
float64 on its active documents, and returns when the gap over all documents is small. Shrinking is
LIBLINEAR's but more eager, because the final gap is measured over all documents. Most visits go to
the few documents of largest violation, which at least halves the work. Where passes over one active
set do not suffice, a free intercept has the face of the box on which its alphas lie crossed by
conjugate gradients; at a large C that was slower than more passes where the intercept is not free.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.compile import compiled
from spokeshave.kernels.lanes import LANES, add_to_rows, sum_rows, sum_variances
from spokeshave.kernels.rows import add_row, dot
from spokeshave.kernels.sorting import seeded, shuffle

SETTLED_SHARE = 0.3  # of the worst violation: shrink a bounded document whose gradient exceeds it
HOT_SHARE = 0.1  # of the worst violation: documents that violate more are hot
HOT_PASSES = 3  # visits to the hot documents between two passes over all active ones
PATIENCE = 4  # passes over one active set of a free intercept; then its face is crossed
FACE_VISITS = 100  # to every document, at most, while faces are crossed
FACE_STEPS = 50  # of conjugate gradients on one face
FACE_SHRINK = 0.25  # the next length of a step that does not help when it is projected on the box
FACE_SHARE = 0.01  # of the gradient: conjugate gradients stop when it has fallen to that
FLAT = 1e-12  # of the largest curvature of one document: less is no curvature
EARLY_SHARE = 0.03  # of the gap: the active set is revised when its gap has fallen to that


class Task(NamedTuple):
    """One class: targets, and box and ridge of a document of weight one, (negative, positive)."""

    y: NDArray[np.int8]
    box: NDArray[np.float64]
    ridge: NDArray[np.float64]


@compiled
def sweep(rows, y, box, ridge, bias, beta, W, b, margins, n_sweeps, seed, squared_length):
    """Visit every document ``n_sweeps`` times for ``LANES`` classes at once, in float32.

    With a prior, a row of ``W`` has the variances of its weights after them, and
    ``squared_length`` (documents x lanes) is for the squared lengths of the documents with these;
    without one, ``squared_length`` is None. Changes ``beta`` (documents x lanes), ``W`` (features
    x lanes) and ``b`` in place, and writes to ``margins`` the scores of each document at its last
    visit. A lane of box 0 does not change.
    """
    n = rows.scale.size
    order = np.arange(n).astype(np.uint32)
    state = seeded(seed)
    total = np.empty(LANES, np.float32)
    step = np.empty(LANES, np.float32)
    bias = np.float32(bias)
    for number in range(n_sweeps):
        shuffle(order, n, state)
        for i in order:
            start, stop = rows.indptr[i], rows.indptr[i + np.uint32(1)]
            scale, weight = np.float32(rows.scale[i]), np.float32(rows.weight[i])
            if squared_length is not None and number == 0:
                sum_variances(W, rows.indices, rows.data, start, stop, total, squared_length)
                for k in range(LANES):
                    squared_length[i, k] = total[k] * scale * scale
            sum_rows(W, rows.indices, rows.data, start, stop, total, squared_length)
            largest = np.float32(0)
            for k in range(LANES):
                f = total[k] * scale + b[k]
                margins[i, k] = f
                side = np.uint8(y[i, k] > 0)
                damping = ridge[side, k] / weight
                upper = box[side, k] * weight
                sign = np.float32(y[i, k])
                alpha = beta[i, k] * sign
                gradient = sign * f - np.float32(1) + damping * alpha
                curvature = _curvature(rows.squared_length, squared_length, i, k) + bias + damping
                new = min(max(alpha - gradient / curvature, np.float32(0)), upper)
                step[k] = (new - alpha) * sign
                largest = max(largest, abs(step[k]))
            if largest > 0:
                for k in range(LANES):
                    beta[i, k] += step[k]
                    b[k] += step[k] * bias
                    step[k] *= scale
                add_to_rows(W, rows.indices, rows.data, start, stop, step, squared_length)


@compiled
def _curvature(shared, by_lane, i, k):
    """Return the squared length of document i for lane k."""
    if by_lane is None:
        return np.float32(shared[i])
    else:  # noqa: RET505 (numba prunes this branch only where there is an else)
        return by_lane[i, k]


@compiled
def polish(rows, task, bias, beta, w, b, margins, is_stale, tol, max_passes, seed):
    """Solve one class until its duality gap is at most ``tol`` times its primal objective.

    ``w`` and ``b`` must be the weights and the intercept of ``beta``. ``margins`` choose the first
    active documents; stale ones cost time, not accuracy. Changes ``beta``, ``w`` and ``margins``
    in place: see `_update_margins` for which of them are bounds. Returns the intercept, the number
    of passes, and the primal objective and the gap over all documents.
    """
    return polish_to(
        *(rows, task, bias, beta, w, b, margins, is_stale, tol, 0.0, max_passes, max_passes, seed)
    )


@compiled
def polish_to(
    rows, task, bias, beta, w, b, margins, is_stale, tol, least, max_passes, patience, seed
):
    """Solve one class like `polish`, but stop at a gap of ``least`` too if that is more.

    After ``patience`` passes over one active set its face is crossed, if passes are left.
    """
    active, before = np.empty(beta.size, np.uint32), np.empty_like(beta)
    state = seeded(seed)
    primal, gap = measure(rows.weight, task, beta, margins)
    passes = 0
    share = 1.0
    while True:
        # Far from the optimum the active set is a rough guess, so it is revised early.
        target = max(share * max(tol * primal, least), EARLY_SHARE * gap)
        left, before[:] = min(max_passes - passes, patience), beta
        b, used = _descend(rows, task, bias, beta, w, b, margins, active, target, left, state)
        passes += used
        is_slow = used == patience and passes < max_passes
        if is_slow:
            b = cross_face(rows, task, bias, beta, w, b)
        if is_stale:
            score(rows, w, b, margins)
            is_stale = False
        else:
            _update_margins(rows, task.y, bias, beta, before, w, b, margins)
        primal, gap = measure(rows.weight, task, beta, margins)
        if gap <= max(tol * primal, least) or passes >= max_passes:
            return b, passes, primal, gap
        if not is_slow:
            share *= 0.5


@compiled
def cross_face(rows, task, bias, beta, w, b):
    """Move the alphas inside the box towards their common optimum, where single steps are slow.

    Conjugate gradients explore a face of the box. When they leave it, their way is projected on the
    box, and the smaller face is next (Moré and Toraldo, "On the solution of large quadratic
    programming problems with bound constraints", SIAM J. Optimization 1991). Changes ``beta`` and
    ``w`` in place; returns the intercept.
    """
    v, left = np.empty_like(w), FACE_VISITS * beta.size
    while left > 0:
        face = _list_inside(rows.weight, task, beta)
        gradient, step, n_steps = _explore_face(rows, task, bias, beta, w, b, face, v)
        reach = _find_reach(rows.weight, task, beta, face, step)
        left -= n_steps * face.size
        moved, change, bent = np.empty((3, face.size))
        share, improves = 1.0, False
        while not improves and share > 0:
            for s in range(face.size):
                i = np.uint64(face[s])
                upper, _ = _limits(rows.weight, task, i)
                alpha = task.y[i] * (beta[i] + share * step[s])
                moved[s] = task.y[i] * min(max(alpha, 0.0), upper)
                change[s] = moved[s] - beta[i]
            _bend(rows, task, bias, face, change, v, bent)
            left -= face.size
            improves = (gradient * change).sum() + 0.5 * (change * bent).sum() < 0
            # The way goes down at least to the end of the face.
            share = max(FACE_SHRINK * share, reach) if share > reach else 0.0
        if not improves:
            break
        for s in range(face.size):
            beta[face[s]] = moved[s]
        w += v
        b += bias * change.sum()
        if reach > 1:
            break
    return b


@compiled
def _list_inside(weight, task, beta):
    """Return the documents whose alpha is strictly inside the box."""
    face, m = np.empty(beta.size, np.uint32), 0
    for i in range(np.uint64(beta.size)):
        upper, _ = _limits(weight, task, i)
        if 0 < beta[i] * task.y[i] < upper:
            face[m] = i
            m += 1
    return face[:m]


@compiled
def _explore_face(rows, task, bias, beta, w, b, face, v):
    """Take steps of conjugate gradients on some documents until one leaves the box.

    Returns the gradient at the start, the sum of the steps, and their number.
    """
    gradient, step, bent = np.empty(face.size), np.zeros(face.size), np.empty(face.size)
    largest = 0.0
    for s in range(face.size):
        i = np.uint64(face[s])
        _, damping = _limits(rows.weight, task, i)
        gradient[s] = b + dot(rows, i, w) - task.y[i] + damping * beta[i]
        largest = max(largest, rows.squared_length[i] + bias)
    residual, way = -gradient, -gradient
    squares = (residual * residual).sum()
    enough, n_steps = FACE_SHARE * FACE_SHARE * squares, 0
    while n_steps < FACE_STEPS and squares > enough:
        n_steps += 1
        _bend(rows, task, bias, face, way, v, bent)
        # A way without curvature leads out of the box.
        bend = max((way * bent).sum(), FLAT * largest * (way * way).sum())
        step += squares / bend * way
        if _find_reach(rows.weight, task, beta, face, step) <= 1:
            break
        residual -= squares / bend * bent
        before, squares = squares, (residual * residual).sum()
        way = residual + squares / before * way
    return gradient, step, n_steps


@compiled
def _find_reach(weight, task, beta, face, step):
    """Return how many times a step can be taken until a document leaves the box."""
    reach = np.inf
    for s in range(face.size):
        i = np.uint64(face[s])
        upper, _ = _limits(weight, task, i)
        alpha, ahead = beta[i] * task.y[i], step[s] * task.y[i]
        if ahead < 0:
            reach = min(reach, alpha / -ahead)
        elif ahead > 0:
            reach = min(reach, (upper - alpha) / ahead)
    return reach


@compiled
def _bend(rows, task, bias, face, way, v, bent):
    """Write what a change of the beta of a face adds to the weights and to its gradients."""
    v[:] = 0
    for s in range(face.size):
        add_row(rows, np.uint64(face[s]), way[s], v)
    b = bias * way.sum()
    for s in range(face.size):
        i = np.uint64(face[s])
        _, damping = _limits(rows.weight, task, i)
        bent[s] = b + dot(rows, i, v) + damping * way[s]


@compiled
def _update_margins(rows, y, bias, beta, before, w, b, margins):
    """Score the documents again, but for those that surely have no loss and no alpha.

    Weights that moved by d change a score by at most |x_i| d (Cauchy-Schwarz), and
    d^2 = sum_i (beta_i - before_i) (f_i - f_i before), by which only documents whose alpha changed
    count. A document without alpha whose margin stays above one has no part in the objective or
    the gap; a lower bound of its margin is written. Margins may be such bounds when they are read:
    as alpha is not negative, d is then too large, and the bounds hold.
    """
    squared = 0.0
    for i in range(np.uint64(beta.size)):
        if beta[i] != 0 or before[i] != 0:
            f = b + dot(rows, i, w)
            squared += (beta[i] - before[i]) * (f - margins[i])
            margins[i] = f
    distance = 1.000001 * np.sqrt(max(squared, 0.0)) + 1e-9  # a little more, for rounding
    for i in range(np.uint64(beta.size)):
        if beta[i] == 0 and before[i] == 0:
            most = distance * np.sqrt(rows.squared_length[i] + bias)
            if y[i] * margins[i] - most > 1.0:
                margins[i] -= y[i] * most
            else:
                margins[i] = b + dot(rows, i, w)


@compiled
def advance(rows, task, bias, beta, w, b, margins, target, max_passes, seed):
    """Run coordinate descent on some documents of one class; the alphas of the others stay fixed.

    ``w`` and ``b`` must be the weights and the intercept of all documents, and ``margins`` the
    scores of these. Stops when the gap of these documents has fallen to a tenth or to ``target``.
    Changes ``beta`` and ``w`` in place; returns the intercept.
    """
    _, gap = measure(rows.weight, task, beta, margins)
    active, state = np.empty(beta.size, np.uint32), seeded(seed)
    target = max(target, 0.1 * gap)
    b, _ = _descend(rows, task, bias, beta, w, b, margins, active, target, max_passes, state)
    return b


@compiled
def judge(weight, task, beta, margins, violation):
    """Write how much each document violates optimality into ``violation``.

    It is -1 for a document at a bound whose gradient points out of the box. Returns the terms of
    these documents in the primal objective and in the gap.
    """
    for i in range(np.uint64(beta.size)):
        upper, damping = _limits(weight, task, i)
        alpha = beta[i] * task.y[i]
        gradient = task.y[i] * margins[i] - 1.0 + damping * alpha
        rests = (alpha <= 0 and gradient > 0) or (alpha >= upper and gradient < 0)
        violation[i] = -1.0 if rests else abs(gradient)
    return measure(weight, task, beta, margins)


@compiled
def rebuild(rows, bias, beta, w):
    """Write the weights of ``beta`` into ``w``; return the intercept."""
    w[:] = 0
    return add_up(rows, bias, beta, w)


@compiled
def add_up(rows, bias, beta, w):
    """Add the weights of ``beta`` to ``w`` in place; return the change of the intercept."""
    b = 0.0
    for i in range(np.uint64(beta.size)):
        if beta[i] != 0:
            b += beta[i] * bias
            add_row(rows, i, beta[i], w)
    return b


@compiled
def score(rows, w, b, margins):
    """Write the score of every document into ``margins``."""
    for i in range(np.uint64(margins.size)):
        margins[i] = b + dot(rows, i, w)


@compiled
def score_lanes(rows, W, b, margins):
    """Write the scores (lanes x documents) of ``LANES`` classes into ``margins``.

    The weights ``W`` are (features x lanes), so a nonzero is loaded once for all classes.
    """
    total = np.empty(LANES)
    for i in range(margins.shape[1]):
        sum_rows(W, rows.indices, rows.data, rows.indptr[i], rows.indptr[i + 1], total, None)
        for k in range(LANES):
            margins[k, i] = b[k] + total[k] * rows.scale[i]


@compiled
def measure(weight, task, beta, margins):
    """Return the primal objective and the duality gap at the given scores."""
    primal, gap = 0.0, 0.0
    for i in range(np.uint64(beta.size)):
        upper, damping = _limits(weight, task, i)
        alpha, excess = beta[i] * task.y[i], task.y[i] * margins[i] - 1.0
        primal += 0.5 * beta[i] * margins[i] + _loss(excess, upper, damping)
        gap += _gap(alpha, excess, upper, damping)
    return primal, gap


@compiled
def _descend(rows, task, bias, beta, w, b, margins, active, target, max_passes, state):
    """Pass over the active documents until their gap is at most ``target``.

    Between two passes, the hot documents are visited ``HOT_PASSES`` times. Changes ``beta``, ``w``,
    ``active`` and ``state`` in place; returns the intercept and the number of passes.
    """
    violation = np.empty(beta.size, np.float32)
    highest, lowest = _violations(rows.weight, task, beta, margins)
    m = _choose_active(rows.weight, task, beta, margins, highest, lowest, active)
    passes = 0
    while passes < max_passes:
        passes += 1
        shuffle(active, m, state)
        b, m, gap, highest, lowest = _visit_active(
            rows, task, bias, beta, w, b, active, m, highest, lowest, violation
        )
        if gap <= target:
            break
        n_hot = _bring_forward(active, m, violation, HOT_SHARE * max(highest, -lowest))
        for _ in range(HOT_PASSES):
            shuffle(active, n_hot, state)
            b = _visit_hot(rows, task, bias, beta, w, b, active, n_hot)
    return b, passes


@compiled
def _visit_active(rows, task, bias, beta, w, b, active, m, highest, lowest, violation):
    """Take a step on each active document, and drop those settled by the bounds of the last pass.

    Returns the intercept, the number of documents that stay active, their gap before each step,
    and the largest and smallest projected gradient.
    """
    bound_above, bound_below = _bound(highest, np.inf), _bound(lowest, -np.inf)
    highest, lowest, gap = 0.0, 0.0, 0.0
    s = 0
    while s < m:
        i = np.uint64(active[s])
        y = task.y[i]
        upper, damping = _limits(rows.weight, task, i)
        alpha, excess = beta[i] * y, y * (b + dot(rows, i, w)) - 1.0
        gradient = excess + damping * alpha
        if _is_settled(alpha, gradient, upper, bound_above, bound_below):
            m -= 1
            active[s] = active[m]
            continue
        s += 1
        gap += _gap(alpha, excess, upper, damping)
        projected = _project(alpha, gradient, upper)
        highest, lowest = max(highest, projected), min(lowest, projected)
        violation[i] = abs(projected)
        if projected != 0:
            b += bias * _step(rows, i, y, alpha, gradient, upper, damping, bias, beta, w)
    return b, m, gap, highest, lowest


@compiled
def _visit_hot(rows, task, bias, beta, w, b, active, n_hot):
    """Take a step on each of the first ``n_hot`` active documents; return the intercept."""
    for s in range(n_hot):
        i = np.uint64(active[s])
        y = task.y[i]
        upper, damping = _limits(rows.weight, task, i)
        alpha = beta[i] * y
        gradient = y * (b + dot(rows, i, w)) - 1.0 + damping * alpha
        if _project(alpha, gradient, upper) != 0:
            b += bias * _step(rows, i, y, alpha, gradient, upper, damping, bias, beta, w)
    return b


@compiled
def _step(rows, i, y, alpha, gradient, upper, damping, bias, beta, w):
    """Set one alpha to its optimum given all others; return the change of beta."""
    new = alpha - gradient / (rows.squared_length[i] + bias + damping)
    new = min(max(new, 0.0), upper)
    beta[i] = new * y
    step = (new - alpha) * y
    add_row(rows, i, step, w)
    return step


@compiled
def _bring_forward(active, m, violation, bar):
    """Move the active documents of violation ``bar`` or more to the front; return their number."""
    n_hot = 0
    for s in range(m):
        i = active[s]
        if violation[i] >= bar:
            active[s], active[n_hot] = active[n_hot], i
            n_hot += 1
    return n_hot


@compiled
def _violations(weight, task, beta, margins):
    """Return the largest and smallest projected gradient over all documents."""
    highest, lowest = 0.0, 0.0
    for i in range(np.uint64(beta.size)):
        upper, damping = _limits(weight, task, i)
        alpha = beta[i] * task.y[i]
        gradient = task.y[i] * margins[i] - 1.0 + damping * alpha
        projected = _project(alpha, gradient, upper)
        highest, lowest = max(highest, projected), min(lowest, projected)
    return highest, lowest


@compiled
def _choose_active(weight, task, beta, margins, highest, lowest, active):
    """Write the documents that are not settled into ``active``; return their number."""
    highest, lowest = _bound(highest, np.inf), _bound(lowest, -np.inf)
    m = 0
    for i in range(np.uint64(beta.size)):
        upper, damping = _limits(weight, task, i)
        alpha = beta[i] * task.y[i]
        gradient = task.y[i] * margins[i] - 1.0 + damping * alpha
        if not _is_settled(alpha, gradient, upper, highest, lowest):
            active[m] = i
            m += 1
    return m


@compiled
def _is_settled(alpha, gradient, upper, highest, lowest):
    """Return whether alpha is at a bound and its gradient points outward beyond the limits."""
    return (alpha <= 0 and gradient > highest) or (alpha >= upper and gradient < lowest)


@compiled
def _project(alpha, gradient, upper):
    """Return the gradient, or zero if it points out of the box."""
    if alpha <= 0:
        return min(gradient, 0.0)
    if alpha >= upper:
        return max(gradient, 0.0)
    return gradient


@compiled
def _limits(weight, task, i):
    """Return the box and the ridge of document i."""
    side = 1 if task.y[i] > 0 else 0
    return task.box[side] * weight[i], task.ridge[side] / weight[i]


@compiled
def _loss(excess, upper, damping):
    """Return the cost of a document of margin ``excess + 1``."""
    slack = max(-excess, 0.0)
    return slack * slack / (2 * damping) if damping > 0 else upper * slack


@compiled
def _gap(alpha, excess, upper, damping):
    """Return a document's term of the gap, in a form without cancellation near the optimum."""
    slack = max(-excess, 0.0)
    if damping > 0:
        unbalanced = slack - damping * alpha
        return alpha * max(excess, 0.0) + unbalanced * unbalanced / (2 * damping)
    return alpha * max(excess, 0.0) + (upper - alpha) * slack


@compiled
def _bound(violation, otherwise):
    """Return the outward gradient beyond which a document is settled, given the worst violation."""
    return SETTLED_SHARE * violation if violation != 0 else otherwise
