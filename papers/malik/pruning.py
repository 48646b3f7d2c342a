"""Rare and frequent words: quality without them, and with them alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.preprocessing import binarize, normalize

from papers.datasets import read_modapte
from papers.malik import common
from papers.results import to_json
from papers.study import Results, Setting, Task
from spokeshave import DocumentVectorizer, feature_curve, prune_features, rank_features

RARE = 2  # "appearing two or fewer times"
TOP = 1000
FREQUENT = 0.1  # of the documents: few words are more frequent
EVERYTHING = "everything"
LIMITS: dict[str, dict[str, Any]] = {
    EVERYTHING: {},
    **{f"in {n} documents or more": {"min_df": n} for n in (2, 3, 4, 5)},
    **{f"in {share:.0%} at most": {"max_df": share} for share in (0.5, 0.2, 0.1, 0.05)},
    "in 3 or more and 50% at most": {"min_df": 3, "max_df": 0.5},
}
ONLY_RARE = f"only those in {RARE} documents or fewer"
ONLY_FREQUENT = f"only those in more than {FREQUENT:.0%}"
STOP_WORDS, ONLY_STOP_WORDS = "no stop words", "only stop words"
SEEN_MORE = f"seen more than {RARE} times"
FROM_TEXT = (STOP_WORDS, ONLY_STOP_WORDS, SEEN_MORE)  # RCV1's files have neither words nor counts
QUICK = (EVERYTHING, "in 3 documents or more", STOP_WORDS)


class Words(NamedTuple):
    """Binary documents with all words, and properties of the words."""

    X: sparse.csr_matrix
    X_test: sparse.csr_matrix
    occurrences: NDArray[np.int64] | None
    is_stop_word: NDArray[np.bool_] | None


def list_tasks(setting: Setting) -> Iterator[Task]:
    """Yield a task for each way to prune."""
    yield from common.list_descriptions(setting)
    for where in common.list_collections(setting):
        size = 3 if where["collection"] == "RCV1" else 1
        for number, variant in enumerate(_list_variants(where["collection"], setting.is_quick)):
            name = f"prune-{where['collection']}-{number}"
            yield Task(name, prune, {**where, "variant": variant}, cost=size)
        yield Task(f"top-{where['collection']}", look_at_top, where, cost=size)


def _list_variants(collection: str, is_quick: bool) -> tuple[str, ...]:
    if is_quick:
        return QUICK
    from_text = FROM_TEXT if collection == "Reuters-21578" else ()
    return (*LIMITS, ONLY_RARE, ONLY_FREQUENT, *from_text)


@lru_cache(1)
def load_words(data: Path, collection: str) -> Words:
    """Return a collection before pruning.

    The files of RCV1 hold stems without stop words; Reuters-21578 is vectorized from its text.
    """
    if collection == "RCV1":
        split = common.load(data, collection, None)
        return Words(binarize(split.X), binarize(split.X_test), None, None)
    parts = read_modapte(data)
    vectorizer = DocumentVectorizer(
        weighting="counts", norm=None, min_df=1, strip_markup=False, n_jobs=1
    )
    counts = vectorizer.fit_transform(parts.train.texts)
    names = vectorizer.get_feature_names_out()
    return Words(
        binarize(counts),
        binarize(vectorizer.transform(parts.test.texts)),
        np.asarray(counts.sum(axis=0), np.int64).ravel(),
        np.isin(names, list(ENGLISH_STOP_WORDS)),
    )


def choose(words: Words, variant: str) -> NDArray[np.bool_]:
    """Return the mask of the words to keep."""
    if variant in LIMITS:
        return prune_features(words.X, **LIMITS[variant]).kept
    if variant in (ONLY_RARE, ONLY_FREQUENT):
        others = {"min_df": RARE + 1} if variant == ONLY_RARE else {"max_df": FREQUENT}
        return prune_features(words.X).kept & ~prune_features(words.X, **others).kept
    if words.occurrences is None or words.is_stop_word is None:
        raise ValueError(f"{variant!r} needs the text of the documents.")
    if variant == SEEN_MORE:
        return np.asarray(words.occurrences > RARE)
    return words.is_stop_word if variant == ONLY_STOP_WORDS else ~words.is_stop_word


def prune(data: Path, *, collection: str, largest: int | None, variant: str) -> dict[str, Any]:
    """Train on the words that are kept, and measure."""
    split, words = common.load(data, collection, largest), load_words(data, collection)
    kept = choose(words, variant)
    X, X_test = (normalize(part[:, kept]) for part in (words.X, words.X_test))
    curve = feature_curve(
        X,
        split.Y,
        X_test=X_test,
        y_test=split.Y_test,
        cuts=[1.0],
        n_jobs=1,
        random_state=common.SEED,
    )
    return {
        "collection": collection,
        "variant": variant,
        "words": int(kept.sum()),
        "nonzeros": X.nnz / X.shape[0],
        **{name: to_json(curve.per_class(name)[:, 0], common.DIGITS) for name in common.MEASURES},
    }


def look_at_top(data: Path, *, collection: str, largest: int | None) -> dict[str, Any]:
    """Return the shares of rare and of frequent words among all words and in each class's top."""
    split, words = common.load(data, collection, largest), load_words(data, collection)
    ranking = rank_features(normalize(words.X), split.Y, random_state=common.SEED, n_jobs=1)
    tops = [ranking.list_ranked(k)[:TOP] for k in range(split.Y.shape[1])]
    return {
        "collection": collection,
        "top": {
            variant: {
                "words": float(is_chosen.sum() / prune_features(words.X).kept.sum()),
                "top": [float(is_chosen[top].mean()) for top in tops],
            }
            for variant in (ONLY_RARE, ONLY_FREQUENT)
            for is_chosen in (choose(words, variant),)
        },
    }


def tabulate_pruning(results: Results) -> dict[str, pl.DataFrame]:
    """Return the tables of this part: each way to prune against no pruning, and the top words."""
    compared = common.tabulate(common.compare_all(results, "variant", EVERYTHING))
    columns = ("collection", "classes", pl.col("variant").alias("kept"), "words", "nonzeros")
    return {
        "pruning": compared.select(*columns, *common.COMPARED),
        "pruned_in_top": common.tabulate(_list_top(results)),
    }


def _list_top(results: Results) -> Iterator[dict[str, Any]]:
    about = common.read_descriptions(results)
    for result in results.values():
        for variant, shares in result.get("top", {}).items():
            collection = result["collection"]
            for group, classes in common.group_classes(about[collection]["sizes"]).items():
                yield {
                    "collection": collection,
                    "classes": group,
                    "words": variant,
                    "share_of_words": shares["words"],
                    "share_of_top_1000": common.average(common.to_array(shares["top"])[classes]),
                }
