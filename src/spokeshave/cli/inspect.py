"""``spokeshave inspect``: what is in a model file, and why it says what it says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spokeshave.cli import options
from spokeshave.cli.printer import Printer

if TYPE_CHECKING:
    from spokeshave import Model


def inspect(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    explain: Annotated[
        str | None, typer.Option(help="A text: which words decide what it is, and how much.")
    ] = None,
    of_class: Annotated[
        str | None, typer.Option("--class", help="This class only.", show_default=False)
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many words of each class.")] = 10,
    as_json: options.AsJson = False,
) -> None:
    """Show what a model knows, or explain what it makes of a text.

    Example: spokeshave inspect tickets.model --explain "The screen stays black"
    """
    from spokeshave.model.file import load_model

    found, printer = load_model(model), Printer(as_json)
    if explain is not None:
        _explain(found, explain, of_class, top, printer)
        return
    summary = _summarize(found, Path(model), of_class, top)
    if as_json:
        printer.emit(summary)
    else:
        _show(summary, printer)


def _explain(model: Model, text: str, of_class: str | None, top: int, printer: Printer) -> None:
    from spokeshave.model.inputs import TextInput

    if not isinstance(model.input, TextInput):
        raise ValueError("--explain needs a model of texts. Got one of vectors instead.")
    found = model.explain(text, _find_class(model, of_class), n_words=top)
    if printer.as_json:
        words = [{"word": word.name, "weight": word.weight} for word in found.words]
        printer.emit({"label": found.label, "score": found.score, "intercept": found.intercept,
                      "n_words": found.n_words, "words": words})  # fmt: skip
        return
    printer.say(f"{found.label}: {found.score:+.3f}", style="bold")
    rows = [[word.name, f"{word.weight:+.3f}"] for word in found.words]
    rest = found.score - found.intercept - sum(word.weight for word in found.words)
    if found.n_words > len(found.words):
        rows.append([f"{found.n_words - len(found.words):,} more words", f"{rest:+.3f}"])
    rows.append(["whatever the text", f"{found.intercept:+.3f}"])
    printer.tabulate(["word", "adds"], rows)


def _find_class(model: Model, name: str | None) -> Any:
    """Return the class that is written like this; classes may be numbers."""
    if name is None:
        return None
    found = {str(label): label for label in model.classes_.tolist()}
    if name not in found:
        listed = ", ".join(map(repr, list(found)[:10]))
        raise ValueError(f"--class must be one of {listed}. Got {name!r} instead.")
    return found[name]


def _summarize(model: Model, path: Path, of_class: str | None, top: int) -> dict[str, Any]:
    from spokeshave.model.inputs import TextInput

    given = model.input
    names = [str(label) for label in model.classes_.tolist()]
    rows = names[1:] if model.is_binary_ else names
    wanted = None if of_class is None else str(_find_class(model, of_class))
    if wanted is not None and wanted not in rows:
        raise ValueError(f"--class must be {rows[0]!r}: its words against are those for the other.")
    reads = (
        {"kind": "text", "weighting": given.weighting, "strip_markup": given.strip_markup}
        if isinstance(given, TextInput)
        else {"kind": "vectors", "n_features": given.n_features}
    )
    return {
        "file": str(path),
        "n_bytes": path.stat().st_size,
        "reads": reads,
        "classes": names,
        "multilabel": model.multilabel_,
        "n_features": len(given.names),
        "n_weights": model.scorer.n_weights,
        "has_probabilities": model.calibration_ is not None,
        "provenance": model.provenance,
        "strongest": {
            name: _list_strongest(model, k, top)
            for k, name in enumerate(rows)
            if wanted in (None, name)
        },
    }


def _list_strongest(model: Model, k: int, top: int) -> dict[str, list[dict[str, Any]]]:
    features, weights = model.scorer.list_weights(k)
    order = weights.argsort(kind="stable")
    return {
        side: [
            {"word": model.feature_names_[features[i]], "weight": float(weights[i])}
            for i in places
            if weights[i] * sign > 0
        ]
        for side, places, sign in (("for", order[::-1][:top], 1), ("against", order[:top], -1))
    }


def _show(summary: dict[str, Any], printer: Printer) -> None:
    from spokeshave.utils.formatting import write_size

    unit = "words" if summary["reads"]["kind"] == "text" else "features"
    several = ", several for a document" if summary["multilabel"] else ""
    printer.say(
        f"{summary['file']}: {write_size(summary['n_bytes'])}, "
        f"{len(summary['classes']):,} classes{several}, {summary['n_features']:,} {unit}, "
        f"{summary['n_weights']:,} weights"
    )
    settings = [str(value) for value in summary["reads"].values() if not isinstance(value, bool)]
    probabilities = "with" if summary["has_probabilities"] else "without"
    printer.say(f"reads {', '.join(settings)}; {probabilities} probabilities")
    for name, value in summary["provenance"].items():
        if value is None:
            continue
        shown = (
            ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        )
        printer.say(f"{name}: {shown}")
    printer.say()
    printer.tabulate(
        ["class", f"strongest {unit} for it", "against it"],
        [
            [name, *(" ".join(word["word"] for word in found[side]) for side in ("for", "against"))]
            for name, found in summary["strongest"].items()
        ],
        n_left=3,
    )
