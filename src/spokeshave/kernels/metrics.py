"""AUC, best F1 and precision from the scores of positives and negatives.

Only the positives are sorted. Each negative is then placed among them: the measures depend only on
the number of negatives above each positive and tied with it. The counts of two sets of negatives
add up, so a collection can be counted in parts.
"""

from __future__ import annotations

import numpy as np

from spokeshave.kernels.compile import compiled


@compiled
def tally(scores, positives, table, top, counts):
    """Write the counts behind the measures of each cut into the rows of ``counts``.

    ``scores`` (cuts x documents) are minus infinity for the positives, whose scores ascend along
    the rows of ``positives``. A row of counts: pairs won, then true and false positives at the best
    F1 and at 0, positives among the ``top`` highest scores, and the threshold of the best F1.
    """
    n_documents, n_positive = scores.shape[1], positives.shape[1]
    n_negative = n_documents - n_positive
    reached, tied = np.empty(n_positive, np.int64), np.empty(n_positive, np.int64)
    for c in range(scores.shape[0]):
        reached[:] = 0
        tied[:] = 0
        place(scores[c], positives[c], table, reached, tied)
        above = _count_above(scores[c], 0.0)
        _sum_up_cut(positives[c], reached, tied, above, n_negative, top, counts[c])


@compiled
def raise_best(scores, k, best, label):
    """Replace the best score and its class by a score of class k that is higher, in place.

    All arrays are (cuts x documents). Of equal scores the first class counts.
    """
    for c in range(scores.shape[0]):
        for i in range(scores.shape[1]):
            is_tie_won = scores[c, i] == best[c, i] and k < label[c, i]
            if scores[c, i] > best[c, i] or is_tie_won:
                best[c, i] = scores[c, i]
                label[c, i] = k


@compiled
def count_labels(label, truth, right, predicted):
    """Count the right predictions and all predictions of each class and cut, in place.

    ``label`` is (cuts x documents), ``right`` and ``predicted`` are (classes x cuts).
    """
    for c in range(label.shape[0]):
        for i in range(label.shape[1]):
            predicted[label[c, i], c] += 1
            right[label[c, i], c] += label[c, i] == truth[i]


@compiled
def place_cuts(scores, positives, table, reached, tied, above):
    """Place the scores of each cut among its positives and add to the counts, in place.

    ``reached`` and ``tied`` (cuts x positives) are the counts of `place`; ``above`` counts the
    scores above 0. Several batches of documents can be added to the same counts.
    """
    for c in range(scores.shape[0]):
        place(scores[c], positives[c], table, reached[c], tied[c])
        above[c] += _count_above(scores[c], 0.0)


@compiled
def sum_up(positives, reached, tied, above, n_negative, top, counts):
    """Write the counts of `tally`, given the `place_cuts` counts of all negatives."""
    for c in range(positives.shape[0]):
        _sum_up_cut(positives[c], reached[c], tied[c], above[c], n_negative, top, counts[c])


@compiled
def _sum_up_cut(positives, reached, tied, above, n_negative, top, counts):
    """Write the counts of one cut; negatives below all positives lose to every positive."""
    below = n_negative - reached.sum()
    threshold, best_true, best_false = find_best_f1(positives, reached)
    counts[0] = win_pairs(positives, reached, tied) + np.float64(below) * positives.size
    counts[1], counts[2] = best_true, best_false
    counts[3], counts[4] = (positives > 0).sum(), above
    counts[5] = count_top(positives, reached, tied, top)
    counts[6] = threshold


@compiled
def _count_above(scores, threshold):
    count = 0
    for i in range(scores.size):
        count += scores[i] > threshold
    return count


@compiled
def place(scores, positives, table, reached, tied):
    """Place each score among the ascending positives; scores below all of them are not counted.

    Adds to ``reached[r]`` the number of scores that reach exactly r + 1 positives, and to
    ``tied[r]`` the number of those that equal the last positive they reach. ``table`` is work
    space: it divides the range of the positives into cells of equal width, in which a search
    starts. Equal values fall in the same cell, because they are rounded alike. Differences of
    positives must not overflow.
    """
    n_positive, n_cells = np.uint64(positives.size), np.uint64(table.size - 1)
    lowest, highest = positives[0], positives[n_positive - np.uint64(1)]
    last = np.float64(n_cells - np.uint64(1))
    per_unit = n_cells / (highest - lowest)
    if not per_unit < np.inf:
        per_unit = 0.0
    table[:] = 0
    for r in range(n_positive):
        table[np.uint64(min((positives[r] - lowest) * per_unit, last)) + np.uint64(1)] += 1
    for cell in range(n_cells):
        table[cell + np.uint64(1)] += table[cell]
    for i in range(scores.size):
        s = scores[i]
        if not s >= lowest:
            continue
        r = n_positive
        if s < highest:
            cell = np.uint64(min((s - lowest) * per_unit, last))
            r = np.uint64(table[cell])
            while positives[r] <= s:  # the highest is not
                r += np.uint64(1)
        r -= np.uint64(1)
        reached[r] += 1
        if positives[r] == s:
            tied[r] += 1


@compiled
def win_pairs(positives, reached, tied):
    """Return the pairs in which the positive is above the negative, ties counting half.

    Negatives below all positives are not included: each adds one pair per positive.
    """
    n_positive = positives.size
    won = 0.0
    ties = 0
    for r in range(n_positive):
        ties = ties + 1 if r > 0 and positives[r] == positives[r - 1] else 1
        won += np.float64(reached[r]) * (n_positive - 1 - r) + 0.5 * np.float64(tied[r]) * ties
    return won


@compiled
def find_best_f1(positives, reached):
    """Return the threshold of the best F1, and how many positives and negatives reach it.

    The best threshold is the score of a positive; of several equally good ones, the highest.
    """
    n_positive = positives.size
    best, best_true, best_false = -1.0, 0, 0
    threshold = np.inf
    false = 0
    for r in range(n_positive - 1, -1, -1):
        false += reached[r]
        if r > 0 and positives[r] == positives[r - 1]:
            continue
        true = n_positive - r
        f1 = 2.0 * true / (true + false + n_positive)
        if f1 > best:
            best, best_true, best_false, threshold = f1, true, false, positives[r]
    return threshold, best_true, best_false


@compiled
def count_top(positives, reached, tied, size):
    """Return how many of the ``size`` highest scores are positives; ties count in proportion."""
    taken = 0.0
    r = positives.size - 1
    above = 0.0
    while r >= 0 and above < size:
        above += reached[r] - tied[r]
        group = 1
        while r - group >= 0 and positives[r - group] == positives[r]:
            group += 1
        room = max(size - above, 0.0)
        everyone = group + tied[r]
        taken += group * min(room / everyone, 1.0)
        above += everyone
        r -= group
    return taken
