"""A saved model against a fitted scikit-learn pipeline on 20 Newsgroups: speed, size, start-up.

All predict the groups of the test part from raw text. The default loss of `LinearSVC` is the
squared hinge, so Spokeshave has a model with each loss. With --terms, whole models of words, of
pairs, of characters and of all together predict beside pipelines with the same features.
"""

from __future__ import annotations

import argparse
import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from contest import N_THREADS, read_newsgroups, take_turns
from spokeshave import DocumentVectorizer, DualLinearSVC, ShavedSVC, load_model, save_model

ROUNDS, ROUNDS_OF_TERMS, STARTS = 5, 3, 15
PATTERN = r"(?u)[^\W_]+"
CHARACTERS = {"analyzer": "char_wb", "ngram_range": (2, 5)}
TERMS: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {  # ours, and those of the peer
    "words": ({}, [{}]),
    "words and pairs": ({"ngram_range": (1, 2)}, [{"ngram_range": (1, 2)}]),
    "characters within words": (CHARACTERS, [CHARACTERS]),
    "all of these": (
        {"analyzer": "word+char_wb", "ngram_range": (1, 2)},
        [{"ngram_range": (1, 2)}, CHARACTERS],
    ),
}
LINE = "The orbit of the shuttle decays after the launch"


def main() -> None:
    train, test = read_newsgroups("train"), read_newsgroups("test")
    n_characters = sum(map(len, test.texts))
    print(f"20 Newsgroups, test part: {len(test):,} documents, {n_characters:,} characters")
    with TemporaryDirectory() as folder:
        paths = {loss: Path(folder, f"{loss}.model") for loss in ("hinge", "squared_hinge")}
        for loss, path in paths.items():
            save_model(fit_shaved(loss, train), path)
        models = {
            **fit_peers(train),
            **{f"Spokeshave, {loss}": load_model(path) for loss, path in paths.items()},
        }
        best, predicted = take_turns(
            {name: partial(model.predict, test.texts) for name, model in models.items()}, ROUNDS
        )
        sizes = {name: weigh(model) for name, model in models.items()}
        sizes |= {f"Spokeshave, {loss}": path.stat().st_size for loss, path in paths.items()}
        macro_f1 = {
            name: f1_score(test.labels, labels, average="macro")
            for name, labels in predicted.items()
        }
        show(best, sizes, macro_f1, len(test))
        time_starts(paths["hinge"], Path(folder, "line.txt"))


def compare_terms() -> None:
    train, test = read_newsgroups("train"), read_newsgroups("test")
    print(f"{'documents per second':26}{'pipeline':>10}{'ours':>10}{'ratio':>8}{'same label':>12}")
    for name, (ours, theirs) in TERMS.items():
        vectorizer = DocumentVectorizer(
            weighting="tfidf", sublinear_tf=True, n_jobs=N_THREADS, **ours
        )
        svc = DualLinearSVC(loss="squared_hinge", n_jobs=N_THREADS, random_state=0)
        saved = make_pipeline(vectorizer, svc).fit(train.texts, train.labels)
        peer = make_pipeline(
            make_union(*(make_peer_vectorizer(**options) for options in theirs)),
            Normalizer(),
            LinearSVC(random_state=0),
        ).fit(train.texts, train.labels)
        with TemporaryDirectory() as folder:
            path = Path(folder, "a.model")
            save_model(saved, path)
            model = load_model(path)
        contestants = {
            "pipeline": partial(peer.predict, test.texts),
            "ours": partial(model.predict, test.texts),
        }
        best, predicted = take_turns(contestants, ROUNDS_OF_TERMS)
        speeds = [len(test) / seconds for seconds in best.values()]
        same = (predicted["ours"] == predicted["pipeline"]).mean()
        row = f"{name:26}{speeds[0]:10,.0f}{speeds[1]:10,.0f}{speeds[1] / speeds[0]:7.1f}x"
        print(f"{row}{same:12.4f}", flush=True)


def make_peer_vectorizer(**options: Any) -> TfidfVectorizer:
    pattern = None if "analyzer" in options else PATTERN
    return TfidfVectorizer(min_df=2, sublinear_tf=True, norm=None, token_pattern=pattern, **options)


def fit_shaved(loss: str, train: Any) -> Any:
    svc = DualLinearSVC(loss=loss, n_jobs=N_THREADS, random_state=0)
    model = make_pipeline(
        DocumentVectorizer(n_jobs=N_THREADS), ShavedSVC(svc, n_jobs=N_THREADS, random_state=0)
    )
    model.fit(train.texts, train.labels)
    print(f"{loss}: {model[-1].choice_}, {len(model[-1].features_):,} words in all")
    return model


def fit_peers(train: Any) -> dict[str, Any]:
    same = CountVectorizer(binary=True, min_df=2, token_pattern=PATTERN)
    peers = {
        "CountVectorizer, LinearSVC": make_pipeline(CountVectorizer(), LinearSVC(random_state=0)),
        "  our features, binary, L2": make_pipeline(same, Normalizer(), LinearSVC(random_state=0)),
    }
    return {name: peer.fit(train.texts, train.labels) for name, peer in peers.items()}


def weigh(model: Any) -> int:
    return len(pickle.dumps(model))


def show(
    best: dict[str, float], sizes: dict[str, int], macro_f1: dict[str, float], n_documents: int
) -> None:
    plain, same = list(best)[:2]
    heads = f"{'':30}{'docs/s':>9}{'ratio':>8}{'to same':>9}"
    print(f"{heads}{'file':>12}{'ratio':>8}{'to same':>9}{'macro-F1':>10}")
    for name, seconds in best.items():
        speeds = best[plain] / seconds, best[same] / seconds
        shares = sizes[plain] / sizes[name], sizes[same] / sizes[name]
        print(
            f"{name:30}{n_documents / seconds:9,.0f}{speeds[0]:7.1f}x{speeds[1]:8.1f}x"
            f"{sizes[name]:12,}{shares[0]:7.1f}x{shares[1]:8.1f}x{macro_f1[name]:10.4f}"
        )


def time_starts(model: Path, line: Path) -> None:
    line.write_text(LINE + "\n")
    command = Path(sys.executable).with_name("spokeshave")
    load = f"from spokeshave import load_model; load_model({str(model)!r})"
    starts: dict[str, list[Any]] = {
        "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
        "  and load the model": [sys.executable, "-c", f"import numpy; {load}"],
        "spokeshave predict, one line": [command, "predict", model, line, "--quiet"],
    }
    runs = {name: partial(run_quietly, start) for name, start in starts.items()}
    best, _ = take_turns(runs, STARTS)
    numpy_alone, loading, predicting = best.values()
    print(f"\n{'start-up':30}{'seconds':>9}")
    for name, seconds in best.items():
        print(f"{name:30}{seconds:9.3f}")
    bound = 2 * numpy_alone + (loading - numpy_alone)
    print(f"predict takes {predicting / bound:.2f} of twice numpy's import plus loading")


def run_quietly(command: list[Any]) -> None:
    subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--terms", action="store_true", help="compare kinds of terms instead")
    compare_terms() if parser.parse_args().terms else main()
