"""A saved model against a fitted scikit-learn pipeline on 20 Newsgroups: speed, size, start-up.

All predict the groups of the test part from raw text. The default loss of `LinearSVC` is the
squared hinge, so Spokeshave has a model with each loss.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from contest import N_THREADS, read_newsgroups, take_turns
from spokeshave import DocumentVectorizer, DualLinearSVC, ShavedSVC, load_model, save_model

ROUNDS, STARTS = 5, 15
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


def fit_shaved(loss: str, train: Any) -> Any:
    svc = DualLinearSVC(loss=loss, n_jobs=N_THREADS, random_state=0)
    model = make_pipeline(
        DocumentVectorizer(n_jobs=N_THREADS), ShavedSVC(svc, n_jobs=N_THREADS, random_state=0)
    )
    model.fit(train.texts, train.labels)
    print(f"{loss}: {model[-1].choice_}, {len(model[-1].features_):,} words in all")
    return model


def fit_peers(train: Any) -> dict[str, Any]:
    same = CountVectorizer(binary=True, min_df=2, token_pattern=r"(?u)[^\W_]+")
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
    main()
