"""Macro-F1 of the model that `spokeshave fit` writes, beside TfidfVectorizer() + LinearSVC().

    python benchmarks/accuracy.py

A quarter of each collection is held out, the same documents for both. 20 Newsgroups has a test
part.
"""

from __future__ import annotations

from time import perf_counter

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from contest import find_data, read_newsgroups
from spokeshave.corpus import Texts, load_source
from spokeshave.jobs.fit import run_job

DIRECTORIES = ("Science", "Computers", "Health", "Sports")
HELD_OUT = 0.25


def load_collections() -> dict[str, tuple[Texts, Texts]]:
    """Return the training and the test documents of each collection."""
    data = find_data()
    files = {"SMS": data / "sms_spam.tsv"}
    files |= {f"Directory, {name}": data / "dmoz" / f"Dmoz-{name}.csv" for name in DIRECTORIES}
    found = {"20 Newsgroups": (read_newsgroups("train"), read_newsgroups("test"))}
    for name, path in files.items():
        whole = load_source(path).documents
        *texts, train, test = train_test_split(
            whole.texts, whole.labels, test_size=HELD_OUT, random_state=0, stratify=whole.labels
        )
        found[name] = Texts(texts[0], train), Texts(texts[1], test)
    return found


def main() -> None:
    """Print macro-F1, accuracy, seconds and bytes of both on each collection."""
    print(f"{'':22}{'fit':>30}{'TfidfVectorizer + LinearSVC':>34}")
    heads = f"{'macro-F1':>10}{'accuracy':>10}{'seconds':>9}"
    print(f"{'':22}{heads}{'KB':>7}{heads}")
    for name, (train, test) in load_collections().items():
        start = perf_counter()
        ours = run_job(train)
        seconds = perf_counter() - start
        start = perf_counter()
        theirs = make_pipeline(TfidfVectorizer(), LinearSVC()).fit(train.texts, train.labels)
        times = seconds, perf_counter() - start
        cells = []
        for model, taken in zip((ours.model, theirs), times, strict=True):
            labels = model.predict(test.texts)
            macro = f1_score(test.labels, labels, average="macro")
            cells.append(f"{macro:10.4f}{accuracy_score(test.labels, labels):10.4f}{taken:9.2f}")
        print(f"{name:22}{cells[0]}{len(ours.content) / 1000:7.0f}{cells[1]}", flush=True)


if __name__ == "__main__":
    main()
