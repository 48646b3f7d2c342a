"""``spokeshave demo``: the main job on text that every installation already has."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spokeshave.cli.demo_page import CHOOSING, show
from spokeshave.cli.demo_result import ChoiceResult, CurveResult, DemoResult, ModelResult
from spokeshave.cli.kernels import describe_preparation, prepare_kernels
from spokeshave.cli.steps import Steps

if TYPE_CHECKING:
    from spokeshave import FeatureCurve, ShavedSVC

WORDS_PER_CLASS = 5


def demo(
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the split and of the training order.")
    ] = 0,
    n_jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = -1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find how few words it takes to tell the docstrings of packages apart.

    The documents are the docstrings of Python's standard library and of the
    scientific packages that come with Spokeshave; the classes are the packages.
    Nothing is downloaded. A cut is chosen by cross-validation on three quarters
    of them; the rest judge the model on all words and that on the words kept.

    Example: spokeshave demo --json
    """
    result = run_demo(seed, n_jobs)
    if as_json:
        print(json.dumps(asdict(result)))
    else:
        from rich.console import Console

        show(result, Console())


def run_demo(seed: int, n_jobs: int) -> DemoResult:
    """Read, vectorize, train on all words, choose a cut, and compare."""
    with Steps(8) as steps:
        steps.run(describe_preparation(), prepare_kernels)

        from sklearn.model_selection import train_test_split

        from spokeshave import DocumentVectorizer, DualLinearSVC, ShavedSVC
        from spokeshave.corpus import load_embedded

        corpus = steps.run("reading docstrings", load_embedded)
        train, test, y_train, y_test = train_test_split(
            corpus.texts, corpus.labels, stratify=corpus.labels, random_state=seed
        )
        vectorizer = DocumentVectorizer(n_jobs=n_jobs)
        X_train = steps.run("vectorizing training documents", vectorizer.fit_transform, train)
        X_test = steps.run("vectorizing held-out documents", vectorizer.transform, test)
        full = DualLinearSVC(n_jobs=n_jobs, random_state=seed)
        steps.run("training on all words", full.fit, X_train, y_train)
        shaved = ShavedSVC(n_jobs=n_jobs, random_state=seed)
        steps.run(CHOOSING, shaved.fit, X_train, y_train)
        by_full = steps.run("predicting from all words", full.predict, X_test)
        by_shaved = steps.run("predicting from the words kept", shaved.predict, X_test)
    curve = _summarize_curve(shaved.curve_)
    return DemoResult(
        n_train=len(train),
        n_test=len(test),
        n_classes=len(full.classes_),
        n_features=X_train.shape[1],
        words_per_document=X_train.nnz / X_train.shape[0],
        n_support=len(full.support_),
        relative_gap=float((full.duality_gap_ / full.objective_).max()),
        curve=curve,
        choice=_summarize_choice(shaved, curve),
        full=_judge(full, y_test, by_full),
        shaved=_judge(shaved, y_test, by_shaved),
        seconds=steps.seconds,
        strongest_words=_list_strongest(shaved, vectorizer.get_feature_names_out()),
    )


def _summarize_curve(curve: FeatureCurve) -> CurveResult:
    return CurveResult(
        n_folds=len(curve.counts.won),
        fractions=curve.fractions.tolist(),
        mean_words=curve.n_features.mean(axis=0).tolist(),
        macro_best_f1=curve.macro("best_f1").tolist(),
        standard_errors=curve.standard_error("best_f1").tolist(),
        seconds=curve.seconds,
        fit_seconds=curve.fit_seconds,
    )


def _summarize_choice(model: ShavedSVC, curve: CurveResult) -> ChoiceResult:
    choice, best = model.choice_, model.curve_.best("best_f1")
    return ChoiceResult(
        index=choice.index,
        fraction=choice.fraction,
        mean_words=curve.mean_words[choice.index],
        value=choice.value,
        standard_error=curve.standard_errors[choice.index],
        best_index=best.index,
        best_fraction=best.fraction,
        best_value=choice.best_value,
        evaluated_on=choice.evaluated_on,
    )


def _judge(model: Any, y: Any, predicted: Any) -> ModelResult:
    from sklearn.metrics import accuracy_score, f1_score

    is_used = model.coef_ != 0
    return ModelResult(
        accuracy=float(accuracy_score(y, predicted)),
        macro_f1=float(f1_score(y, predicted, average="macro")),
        n_features=int(is_used.any(axis=0).sum()),
        n_weights=int(is_used.sum()),
    )


def _list_strongest(model: Any, words: Any) -> dict[str, list[str]]:
    best = (-model.coef_).argsort(axis=1)[:, :WORDS_PER_CLASS]
    return {
        str(name): words[columns].tolist()
        for name, columns in zip(model.classes_, best, strict=True)
    }
