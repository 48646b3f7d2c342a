"""The search of `spokeshave fit` against grid searches of scikit-learn, on 20 Newsgroups.

    python benchmarks/search.py

Two threads or processes each. Tuning C of one pipeline is timed whole. A grid search over all
candidates of our search takes hours, so that it is estimated: a pipeline of each choice of terms is
fitted once on a fifth less than all documents, as a fold is, and the time is multiplied by the
weightings, the folds and the SVMs. Pipelines of scikit-learn have no prior, so that its strengths
are counted as one.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import LinearSVC

from contest import N_THREADS, read_newsgroups
from spokeshave.corpus import Texts
from spokeshave.jobs.fit import run_job
from spokeshave.jobs.settings import Settings
from spokeshave.selection.representation import NORMAL

CS = (0.1, 0.3, 1.0, 3.0, 10.0)
PAIRS = {"min_df": 2, "ngram_range": (1, 2)}
CHARACTERS = {"min_df": 2, "analyzer": "char_wb", "ngram_range": (2, 5)}
TERMS: dict[str, list[dict[str, Any]]] = {
    "words, rare ones too": [{"min_df": 1}],
    "words": [{"min_df": 2}],
    "words and pairs": [PAIRS],
    "characters within words": [CHARACTERS],
    "characters within words, and words and pairs": [PAIRS, CHARACTERS],
}


def main() -> None:
    texts = read_newsgroups("train")
    start = perf_counter()
    run_job(Texts(texts.texts, texts.labels), settings=Settings(effort="normal", n_jobs=N_THREADS))
    ours = perf_counter() - start
    print(f"fit, search included: {ours:.0f} s", flush=True)
    start = perf_counter()
    pipeline = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LinearSVC())
    grid = GridSearchCV(pipeline, {"linearsvc__C": CS}, n_jobs=N_THREADS, cv=NORMAL.n_folds)
    grid.fit(texts.texts, texts.labels)
    seconds = perf_counter() - start
    print(f"C of words and pairs tuned: {seconds:.0f} s, {seconds / ours:.1f} times", flush=True)
    seconds = estimate_grid(texts) / ours
    print(f"grid search over the candidates, estimated: {seconds:.1f} times")


def estimate_grid(texts: Texts) -> float:
    """Return the seconds of a grid search over all candidates, from one fit of each pipeline."""
    train, test, y, _ = train_test_split(
        texts.texts, texts.labels, test_size=1 / NORMAL.n_folds, random_state=0
    )
    total = 0.0
    for name, vocabularies in TERMS.items():
        start = perf_counter()
        vectorizers = [TfidfVectorizer(sublinear_tf=True, **terms) for terms in vocabularies]
        make_pipeline(make_union(*vectorizers), LinearSVC()).fit(train, y).predict(test)
        seconds = perf_counter() - start
        print(f"  {name}: {seconds:.1f} s", flush=True)
        total += seconds
    n_svms = sum(map(len, NORMAL.Cs.values()))
    return total * len(NORMAL.weightings) * NORMAL.n_folds * n_svms / N_THREADS


if __name__ == "__main__":
    main()
