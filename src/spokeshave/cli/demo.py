"""``spokeshave demo``: the main job on text that every installation already has."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spokeshave.cli.kernels import describe_preparation, prepare_kernels
from spokeshave.cli.steps import Steps

if TYPE_CHECKING:
    from rich.console import Console

WORDS_PER_CLASS = 5


@dataclass(frozen=True)
class DemoResult:
    """What the demo found, ready to print."""

    n_train: int
    n_test: int
    n_classes: int
    n_features: int
    words_per_document: float
    n_support: int
    relative_gap: float
    accuracy: float
    macro_f1: float
    seconds: dict[str, float]
    strongest_words: dict[str, list[str]]


def demo(
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the split and of the training order.")
    ] = 0,
    n_jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = -1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Train on the docstrings of the installed packages and show what comes out.

    The documents are the docstrings of Python's standard library and of the scientific packages
    that come with Spokeshave; the classes are the packages. Nothing is downloaded.

    Example: spokeshave demo --json
    """
    result = run_demo(seed, n_jobs)
    if as_json:
        print(json.dumps(asdict(result)))
    else:
        from rich.console import Console

        _show(result, Console())


def run_demo(seed: int, n_jobs: int) -> DemoResult:
    """Read, vectorize, train and score."""
    with Steps(6) as steps:
        steps.run(describe_preparation(), prepare_kernels)

        from sklearn.metrics import accuracy_score, f1_score
        from sklearn.model_selection import train_test_split

        from spokeshave import DocumentVectorizer, DualLinearSVC
        from spokeshave.corpus import load_embedded

        corpus = steps.run("reading docstrings", load_embedded)
        train, test, y_train, y_test = train_test_split(
            corpus.texts, corpus.labels, stratify=corpus.labels, random_state=seed
        )
        vectorizer = DocumentVectorizer(n_jobs=n_jobs)
        X_train = steps.run("vectorizing training documents", vectorizer.fit_transform, train)
        X_test = steps.run("vectorizing held-out documents", vectorizer.transform, test)
        model = DualLinearSVC(n_jobs=n_jobs, random_state=seed)
        steps.run("training", model.fit, X_train, y_train)
        predicted = steps.run("predicting", model.predict, X_test)
    return DemoResult(
        n_train=len(train),
        n_test=len(test),
        n_classes=len(model.classes_),
        n_features=X_train.shape[1],
        words_per_document=X_train.nnz / X_train.shape[0],
        n_support=len(model.support_),
        relative_gap=float((model.duality_gap_ / model.objective_).max()),
        accuracy=float(accuracy_score(y_test, predicted)),
        macro_f1=float(f1_score(y_test, predicted, average="macro")),
        seconds=steps.seconds,
        strongest_words=_list_strongest(model, vectorizer.get_feature_names_out()),
    )


def _list_strongest(model: Any, words: Any) -> dict[str, list[str]]:
    best = (-model.coef_).argsort(axis=1)[:, :WORDS_PER_CLASS]
    return {
        str(name): words[columns].tolist()
        for name, columns in zip(model.classes_, best, strict=True)
    }


def _show(result: DemoResult, console: Console) -> None:
    from rich.table import Table

    console.print("\n[bold]Which package does a docstring come from?[/bold]\n")
    console.print(
        f"{result.n_train:,} documents to train on and {result.n_test:,} held out, "
        f"{result.n_classes} classes, {result.n_features:,} words, "
        f"{result.words_per_document:.0f} of them in a document"
    )
    console.print(
        f"{result.n_support:,} documents support a class; the objective is within "
        f"{result.relative_gap:.2%} of the optimum in every class"
    )
    console.print(
        f"on the held-out documents: [bold]accuracy {result.accuracy:.3f}, "
        f"macro-F1 {result.macro_f1:.3f}[/bold]\n"
    )
    times = Table("step", "seconds", box=None)
    times.columns[1].justify = "right"
    for step, seconds in result.seconds.items():
        times.add_row(step, f"{seconds:.2f}")
    console.print(times, "")
    words = Table("class", "strongest words", box=None)
    for name, strongest in result.strongest_words.items():
        words.add_row(name, " ".join(strongest))
    console.print(words)
