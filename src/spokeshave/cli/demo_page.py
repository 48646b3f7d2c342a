"""The demo's result on a terminal: the curve, the choice, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spokeshave.cli.chart import Glyphs, choose_glyphs, draw_chart

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from spokeshave.cli.demo_result import DemoResult

CHOOSING = "training and choosing a cut"  # the step that the curve is part of


def show(result: DemoResult, console: Console) -> None:
    """Print everything, in plain ASCII if that is all the console can take."""
    console.print("\n[bold]Which package does a docstring come from?[/bold]\n")
    console.print(
        f"{result.n_train:,} documents to train on and {result.n_test:,} held out, "
        f"{result.n_classes} classes, {result.n_features:,} words, "
        f"{result.words_per_document:.0f} of them in a document"
    )
    console.print(
        f"{result.n_support:,} documents support a class; the objective is within "
        f"{result.relative_gap:.2%} of the optimum in every class\n"
    )
    _show_curve(result, console, choose_glyphs(console.encoding))
    for table in (_compare_models(result), _list_times(result), _list_words(result)):
        console.print("", table)


def _show_curve(result: DemoResult, console: Console, glyphs: Glyphs) -> None:
    curve, choice = result.curve, result.choice
    console.print(
        f"[bold]How many words does it take?[/bold] {curve.n_folds}-fold {choice.evaluated_on} "
        f"on the training documents, {glyphs.plus_minus} one standard error; words are those kept "
        "per class, on average\n"
    )
    lines = draw_chart(
        curve.fractions,
        curve.macro_best_f1,
        curve.standard_errors,
        curve.mean_words,
        chosen=choice.index,
        measure="macro best F1",
        unit="words",
        width=console.width,
        glyphs=glyphs,
    )
    for number, line in enumerate(lines):
        style = "bold" if number == 1 + choice.index else None
        console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)
    console.print(
        "\nThe smallest cut within one standard error of the best keeps "
        f"[bold]{choice.mean_words:,.0f} of {curve.mean_words[-1]:,.0f} words per class on average "
        f"({100 * choice.fraction:.3g}%): macro best F1 {choice.value:.3f} {glyphs.plus_minus} "
        f"{choice.standard_error:.3f} in {choice.evaluated_on}, best {choice.best_value:.3f} at "
        f"{100 * choice.best_fraction:.3g}%[/bold]"
    )


def _compare_models(result: DemoResult) -> Table:
    full, shaved = result.full, result.shaved
    table = _make_table("on the held-out documents", "accuracy", "macro-F1", "words", "weights")
    for name, model in (
        ("all words", full),
        (f"shaved to {100 * result.choice.fraction:.3g}%", shaved),
    ):
        table.add_row(
            name,
            f"{model.accuracy:.3f}",
            f"{model.macro_f1:.3f}",
            f"{model.n_features:,}",
            f"{model.n_weights:,}",
        )
    table.add_row(
        "difference",
        f"{shaved.accuracy - full.accuracy:+.3f}",
        f"{shaved.macro_f1 - full.macro_f1:+.3f}",
        f"{shaved.n_features / full.n_features - 1:+.0%}",
        f"{shaved.n_weights / full.n_weights - 1:+.0%}",
    )
    return table


def _list_times(result: DemoResult) -> Table:
    table = _make_table("step", "seconds")
    for step, seconds in result.seconds.items():
        table.add_row(step, f"{seconds:.2f}")
        if step == CHOOSING:
            for part, seconds_of_part in _split_choosing(result).items():
                table.add_row(f"  {part}", f"{seconds_of_part:.2f}")
    return table


def _split_choosing(result: DemoResult) -> dict[str, float]:
    """Return what the curve took, apart from the fits it stands on and the final model."""
    curve = result.curve
    return {
        f"fits of {curve.n_folds} folds": curve.fit_seconds,
        f"{len(curve.fractions)} cuts of {result.n_classes} classes in each": (
            curve.seconds - curve.fit_seconds
        ),
        "final model": result.seconds[CHOOSING] - curve.seconds,
    }


def _list_words(result: DemoResult) -> Table:
    table = _make_table("class", "strongest words kept", numbers=False)
    for name, strongest in result.strongest_words.items():
        table.add_row(name, " ".join(strongest))
    return table


def _make_table(*columns: str, numbers: bool = True) -> Table:
    from rich.table import Table

    table = Table(*columns, box=None)
    for column in table.columns[1:]:
        column.justify = "right" if numbers else "left"
    return table
