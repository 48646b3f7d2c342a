"""``spokeshave inspect``: the content of a model file, and the reasons for its predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from spokeshave.cli import options
from spokeshave.cli.printer import Printer
from spokeshave.utils.formatting import write_size, write_terms

if TYPE_CHECKING:
    from spokeshave.model.model import Model


def inspect(
    model: options.ModelFile,
    explain: options.Explain = None,
    of_class: options.OfClass = None,
    top: options.Top = 10,
    as_json: options.AsJson = False,
) -> None:
    """Show the content of a model file, or explain its prediction for a text.

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
        _show(summary, _name_features(found), printer)


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
    unit = _name_features(model)
    rows = [[write_terms([word.name]), f"{word.weight:+.3f}"] for word in found.words]
    rest = found.score - found.intercept - sum(word.weight for word in found.words)
    if found.n_words > len(found.words):
        rows.append([f"{found.n_words - len(found.words):,} more {unit}", f"{rest:+.3f}"])
    rows.append(["intercept", f"{found.intercept:+.3f}"])
    printer.tabulate([unit.removesuffix("s"), "adds"], rows)


def _find_class(model: Model, name: str | None) -> Any:
    """Return the class with this name; classes may be numbers."""
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
        raise ValueError(
            f"--class must be {rows[0]!r}: the weights against it are those for the other class."
        )
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
    return {
        side: [
            {"word": model.feature_names_[features[i]], "weight": float(weights[i])}
            for i in (-sign * weights).argsort(kind="stable")[:top]
            if weights[i] * sign > 0
        ]
        for side, sign in (("for", 1), ("against", -1))
    }


def _name_features(model: Model) -> str:
    """Return the name of the features of a model: words or terms of texts, else features."""
    from spokeshave.model.inputs import TextInput

    if not isinstance(model.input, TextInput):
        return "features"
    return "words" if model.input.analysis.is_plain else "terms"


def _show(summary: dict[str, Any], unit: str, printer: Printer) -> None:
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
            [
                name,
                *(write_terms(word["word"] for word in found[side]) for side in ("for", "against")),
            ]
            for name, found in summary["strongest"].items()
        ],
        n_left=3,
    )
