"""All criteria of rank_features on all topics of RCV1, and chi2 of scikit-learn."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.feature_selection import chi2

from contest import N_THREADS, load_rcv1, take_turns
from spokeshave import rank_features

ROUNDS = 2
CRITERIA = (
    "normal",
    "information_gain",
    "chi2",
    "odds_ratio",
    "bns",
    "hellinger",
    "naive_bayes",
    "perceptron",
    "winnow",
    "widrow_hoff",
    "exponentiated_gradient",
    "bayes_point",
    "least_squares",
    "random",
)


def rank_with_scikit_learn(X, Y):
    return np.array([chi2(X, y)[0] for y in Y.T])


if __name__ == "__main__":
    X, Y = load_rcv1("binary")
    rank = partial(rank_features, random_state=0, n_jobs=N_THREADS)
    contestants = {"chi2 of scikit-learn": partial(rank_with_scikit_learn, X, Y)}
    for by in CRITERIA:
        rank(X[:300], Y[:300, :2], by)  # compiles
        contestants[by] = partial(rank, X, Y, by)
    best, results = take_turns(contestants, ROUNDS)
    normal = results["normal"].order[:, :1000]
    print(f"RCV1, {X.shape[0]:,} documents, {X.shape[1]:,} features, {Y.shape[1]} topics")
    print(f"{'':24}{'seconds':>9}{'of the top 1,000 also in that of normal':>42}")
    for by, seconds in best.items():
        line = f"{by:24}{seconds:9.2f}"
        if by in CRITERIA:
            order = results[by].order[:, :1000]
            shared = [np.intersect1d(*rows).size / 1000 for rows in zip(order, normal, strict=True)]
            line += f"{np.mean(shared):42.2f}"
        print(line)
