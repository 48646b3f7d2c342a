"""Words that a class needs: macro-F1 at few words per class, with and without the prior.

    python benchmarks/words.py                  # every collection of texts with one label each
    python benchmarks/words.py SMS Science

Curves are of "mask" on test documents. "before" is binary words, hinge loss and no prior, the
defaults of `fit` before it had a prior. Its number of words is the smallest within one standard
error by cross-validation on the training documents. Beside it are the weights of all classes, and
how many times fewer the other models need for the same macro-F1.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from accuracy import list_collections
from contest import N_THREADS
from spokeshave import DocumentVectorizer, DualLinearSVC, FeatureCurve, feature_curve
from spokeshave.corpus import Texts

CUTS = (10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 10**6)
SHOWN = (100, 300, 1000)
TFIDF = {"weighting": "tfidf", "sublinear_tf": True, "min_df": 2}
MODELS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "before": ({"weighting": "binary", "min_df": 2}, {"loss": "hinge"}),
    "no prior": (TFIDF, {"loss": "squared_hinge"}),
    "prior 1/2": (TFIDF, {"loss": "squared_hinge", "prior": "bns", "prior_strength": 0.5}),
    "prior 1": (TFIDF, {"loss": "squared_hinge", "prior": "bns"}),
}


def compare(name: str, train: Texts, test: Texts) -> dict[str, float]:
    """Print a line for each model; return how many times fewer weights each needs."""
    fewer, value, n_weights = {}, 0.0, 0.0
    for model, (weighting, options) in MODELS.items():
        vectorizer = DocumentVectorizer(n_jobs=N_THREADS, **weighting)
        X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
        svm = DualLinearSVC(n_jobs=N_THREADS, random_state=0, **options)
        common = {"estimator": svm, "cuts": CUTS, "n_jobs": N_THREADS}
        curve = feature_curve(X, train.labels, X_test=X_test, y_test=test.labels, **common)
        macro, weights = curve.macro("label_f1"), curve.n_features.sum(axis=0)
        if model == "before":
            chosen = feature_curve(X, train.labels, **common).smallest_within(name="macro_f1").index
            value, n_weights = macro[chosen], weights[chosen]
        fewer[model] = n_weights / find_weights(curve, value)
        shown = "".join(f"{macro[CUTS.index(cut)]:9.4f}" for cut in SHOWN)
        print(f"{name:16}{model:12}{shown}{macro[-1]:9.4f}{fewer[model]:8.1f}x", flush=True)
    print(f"{'':16}{n_weights:,.0f} weights before, macro-F1 {value:.4f}", flush=True)
    return fewer


def find_weights(curve: FeatureCurve, value: float) -> float:
    """Return the fewest weights of all classes that have a macro-F1."""
    is_enough = curve.macro("label_f1") >= value
    return float(curve.n_features.sum(axis=0)[is_enough.argmax()]) if is_enough.any() else np.inf


def main() -> None:
    """Compare the models on each collection, and print the median ratios."""
    collections = list_collections()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", nargs="*", metavar="NAME", help=", ".join(collections))
    names = parser.parse_args().collections or list(collections)
    if unknown := set(names) - set(collections):
        parser.error(f"there is no collection {unknown.pop()!r}; choose of {list(collections)}")
    print(f"{'':28}" + "".join(f"{cut:9,}" for cut in SHOWN) + f"{'all':>9}{'fewer':>9}")
    found = []
    for name in names:
        train, test = collections[name]()
        if isinstance(train, Texts) and not isinstance(train.labels[0], tuple):
            found.append(compare(name, train, test))
    for model in MODELS:
        print(f"{model:12} median ratio {np.median([fewer[model] for fewer in found]):.1f}x")


if __name__ == "__main__":
    main()
