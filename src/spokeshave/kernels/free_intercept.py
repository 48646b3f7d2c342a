"""The linear SVM with an intercept that costs nothing, as LIBSVM and SMO have it.

The problem is that of ``kernels.descent`` without the constant feature: the primal objective is

    P(w, b) = 1/2 |w|^2 + sum_i c_i loss(y_i (w.x_i + b)),

and the dual has the constraint sum_i beta_i = 0, which coordinate descent cannot keep. So the
intercept is penalised by its distance to a centre c,

    P(w, b) + (b - c)^2 / (2 * bias),     b = c + bias * sum_i beta_i,

which `polish` solves. The least value of that is the Moreau envelope of the least P for each b. It
is convex in c, and its derivative, -sum_i beta_i, is continuous: the centre at which it is zero is
an optimal intercept. It is found by a bracketed secant search (Illinois) from warm starts. Updates
of pairs would keep the constraint, as in LIBSVM, but each needs the scores of all candidates.
"""

from __future__ import annotations

import numpy as np

from spokeshave.kernels.compile import compiled
from spokeshave.kernels.descent import PATIENCE, measure, polish_to, rebuild, score

FIRST_SHARE = 0.03  # of the objective: the gap at the first centre
TIGHTER = 0.1  # times the gap, if the sign of the sum of beta is not certain
TRUSTED = 0.1  # of the gap that is asked for: at such a gap the sign is taken as it is
TIGHTEST = 1e-4  # of the gap that is asked for: less is not asked of any centre
FARTHEST = 10.0  # times the last step: the longest step towards an end that is not yet bracketed
LARGEST_BIAS = 100.0  # times the mean squared length of a document
ROUNDING_OF_SUMS = 1e-12
ROUNDING = 1e-14  # of the objective: nor is less than that


@compiled
def polish_free(rows, task, beta, w, b, margins, is_stale, tol, max_passes, seed):
    """Solve one class with a free intercept until its duality gap is at most ``tol`` times P.

    The arguments and the answer are those of ``kernels.descent.polish``; the dual that is left in
    ``beta`` satisfies the constraint to rounding, ``w``, the intercept and ``margins`` are its own,
    and objective and gap are those of the problem above, constraint included. If the passes run
    out, they are the best that were met.
    """
    bias = _choose_bias(rows, task)
    best, spare_w, scores = np.empty_like(beta), np.empty_like(w), np.empty_like(beta)
    trial = np.empty_like(beta)
    centre, primal, gap = pose(rows, task, beta, best, spare_w, scores)
    lowest, best_centre = primal, centre
    margins += centre - b
    b, passes, share = centre, 0, FIRST_SHARE
    low, at_low, high, at_high = -np.inf, 0.0, np.inf, 0.0
    last, at_last, side = centre, 0.0, 0
    while gap > tol * primal and passes < max_passes:
        pull = centre + bias * beta.sum() - b
        margins += pull
        limit = max(share, TIGHTEST * tol, ROUNDING) * lowest
        left = max_passes - passes
        b, used, _, inner = polish_to(
            *(rows, task, bias, beta, w, b + pull, margins, is_stale),
            *(0.0, limit, left, PATIENCE, seed),
        )
        passes, is_stale = passes + used, False
        excess = beta.sum()
        if inner + 0.5 * bias * excess * excess <= tol * lowest or passes >= max_passes:
            found, primal_here, gap_here = pose(rows, task, beta, trial, spare_w, scores)
            lowest = min(lowest, primal_here)
            if gap_here < gap:
                best[:] = trial
                best_centre, primal, gap = found, primal_here, gap_here
        if excess * excess <= 8 * inner / bias:  # twice the largest error of the sum
            share *= TIGHTER
            if inner > TRUSTED * tol * lowest:
                continue
        if excess > 0:
            low, at_low = centre, excess
            at_high *= 0.5 if side > 0 else 1.0
            high = high if high > low else np.inf
            side = 1
        else:
            high, at_high = centre, excess
            at_low *= 0.5 if side < 0 else 1.0
            low = low if low < high else -np.inf
            side = -1
        new = _search(bias, centre, excess, last, at_last, low, at_low, high, at_high)
        last, at_last, centre = centre, excess, new
    beta[:] = best
    rebuild(rows, 0.0, beta, w)
    score(rows, w, best_centre, margins)
    return best_centre, passes, primal, gap


@compiled
def pose(rows, task, beta, balanced, w, scores):
    """Write a dual near ``beta`` that satisfies the constraint, its weights and its scores.

    The intercept is the best one for these weights. Returns it, the primal objective and the
    duality gap.
    """
    balanced[:] = beta
    balance(rows.weight, task, balanced)
    rebuild(rows, 0.0, balanced, w)
    score(rows, w, 0.0, scores)
    b = find_intercept(rows.weight, task, scores)
    scores += b
    primal, gap = measure(rows.weight, task, balanced, scores)
    return b, primal, gap


@compiled
def balance(weight, task, beta):
    """Shorten the alphas of the heavier side in place, so that ``beta`` sums to zero.

    Alphas inside the box have a gradient of about zero, so those are shortened if they suffice.
    """
    excess = beta.sum()
    inside, whole = 0.0, 0.0
    for i in range(np.uint64(beta.size)):
        if beta[i] * excess > 0:
            whole += abs(beta[i])
            if _is_inside(weight, task, beta, i):
                inside += abs(beta[i])
    if whole == 0:
        return
    suffices = inside > abs(excess)
    factor = max(1 - abs(excess) / (inside if suffices else whole), 0.0)
    for i in range(np.uint64(beta.size)):
        if beta[i] * excess > 0 and (not suffices or _is_inside(weight, task, beta, i)):
            beta[i] *= factor


@compiled
def _is_inside(weight, task, beta, i):
    """Return whether the alpha of document i is below its box."""
    return abs(beta[i]) < task.box[1 if task.y[i] > 0 else 0] * weight[i]


@compiled
def find_intercept(weight, task, scores):
    """Return the intercept of the least loss; the middle of them if there are several.

    ``scores`` are without intercept. The loss of document i has its kink at y_i - score_i. The
    slope of the summed loss rises from kink to kink, and is zero at the optimum.
    """
    kinks = task.y - scores
    order = np.argsort(kinks)
    is_squared = task.ridge[0] > 0
    n_active, slope, curvature, moment = 0, 0.0, 0.0, 0.0
    for i in range(np.uint64(kinks.size)):
        if task.y[i] > 0:
            cost = _cost(weight, task, i)
            n_active += 1
            slope -= cost
            curvature += cost
            moment += cost * kinks[i]
    rounding = -ROUNDING_OF_SUMS * slope
    before = kinks[order[0]]
    for t in order:
        i = np.uint64(t)
        slack = ROUNDING_OF_SUMS * abs(moment)
        if is_squared and n_active > 0 and moment < curvature * kinks[i] - slack:
            return max(moment / curvature, before)
        if n_active == 0 or (not is_squared and slope >= -rounding):
            return 0.5 * (before + kinks[i]) if slope <= rounding or is_squared else before
        cost, sign = _cost(weight, task, i), -task.y[i]
        n_active += sign
        slope += cost
        curvature += sign * cost
        moment += sign * cost * kinks[i]
        before = kinks[i]
    return moment / curvature if is_squared and n_active > 0 else before


@compiled
def _cost(weight, task, i):
    """Return the slope of a hinge loss, or the curvature of a squared one, of document i."""
    side = 1 if task.y[i] > 0 else 0
    ridge = task.ridge[side]
    return weight[i] / ridge if ridge > 0 else task.box[side] * weight[i]


@compiled
def _choose_bias(rows, task):
    """Return how far the intercept may move: of the size of a squared length, more at low cost."""
    length = rows.squared_length.mean()
    length = length if length > 0 else 1.0
    return min(max(1 / task.box.max(), task.ridge.min(), length), LARGEST_BIAS * length)


@compiled
def _search(bias, centre, excess, last, at_last, low, at_low, high, at_high):
    """Return the next centre: by secants, but never short of a proximal step.

    A proximal step, ``bias`` times the sum of beta, does not go beyond the optimum.
    """
    if low > -np.inf and high < np.inf:
        new = low + (high - low) * at_low / (at_low - at_high)
        first, final = low + bias * at_low, high + bias * at_high
        return min(max(new, first), final) if first < final else 0.5 * (low + high)
    step = bias * excess
    if centre == last or abs(excess) >= abs(at_last):
        return centre + 2 * step
    secant = excess * (centre - last) / (at_last - excess)
    farthest = FARTHEST * max(abs(centre - last), abs(step))
    return centre + np.copysign(max(abs(step), min(abs(secant), farthest)), excess)
