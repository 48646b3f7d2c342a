"""``spokeshave predict``: add labels to documents, in batches, in constant memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from spokeshave.cli import options
from spokeshave.cli.printer import Printer
from spokeshave.cli.progress import Steps, track
from spokeshave.cli.settings import check_choice

if TYPE_CHECKING:
    from spokeshave.model.label_files import Labelling
    from spokeshave.model.model import Model


def predict(
    model: options.ModelFile,
    source: options.NewSource = "-",
    text: options.Text = None,
    out: options.NewOut = None,
    to: options.To = None,
    scores: options.Scores = "none",
    probability: options.Probability = False,
    prefix: options.Prefix = "predicted_",
    label_separator: options.LabelSeparator = None,
    format: options.NewFormat = None,
    encoding: options.Encoding = None,
    skip_bad_rows: options.SkipBadRows = False,
    cluster: options.Cluster = None,
    as_json: options.ToJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Add the predicted label of each document to a table of documents.

    Memory does not grow with the input. The columns of the input are kept; the label is added after
    them, and scores if asked for. With --cluster, workers label many files, and write a file for
    each into a folder.

    Example: spokeshave predict tickets.model new.csv --out labelled.csv --scores best
    """
    printer = Printer(as_json, quiet)
    if format is not None:
        check_choice("--format", format, options.PREDICTED)
    if to is not None:
        check_choice("--to", to, options.WRITTEN)
    check_choice("--scores", scores, options.SCORES)
    if cluster is not None:
        import spokeshave.cluster  # noqa: F401  # a missing extra is reported before anything else

        out = check_folder(source, out)
    from spokeshave.model.file import load_model
    from spokeshave.model.label_files import Labelling, choose_columns

    found = load_model(model)
    if probability and found.calibration_ is None:
        raise ValueError(f"{model}: the model has no probabilities; leave out --probability")
    how: dict[str, Any] = {
        "text": text,
        "format": format,
        "encoding": encoding,
        "bad_rows": "skip" if skip_bad_rows else "raise",
        "to": "jsonl" if as_json else to,
        "prefix": prefix,
    }
    if cluster is not None and out is not None:
        how |= {"scores": scores, "probability": probability, "label_separator": label_separator}
        predict_parts(cluster, found, source, out, how, printer)
        return
    columns = choose_columns(found, scores, label_separator, as_probability=probability)
    predict_file(found, source, out, Labelling(**how, columns=columns), printer)


def predict_file(
    model: Model, source: str, out: str | None, asked: Labelling, printer: Printer
) -> None:
    """Label the documents of a file, with notes on guesses, skipped rows and the output."""
    from spokeshave.model.label_files import label_file

    done = label_file(
        model,
        source,
        out,
        asked,
        say=lambda reason: printer.note(f"{source}: {reason}"),
        track=partial(track, source=source, is_quiet=printer.is_quiet),
    )
    if done.n_skipped:
        name = "standard input" if source == "-" else source
        printer.note(f"{done.n_skipped:,} malformed rows were left out of {name}")
    if out is not None and out != "-":
        printer.note(f"{done.n_rows:,} rows written to {out}")


def check_folder(source: str, out: str | None) -> str:
    """Return the folder for the labelled files of a cluster; raise if source or folder is none."""
    if source == "-":
        raise ValueError(
            "--cluster labels files that every worker can open. Got standard input instead."
        )
    if out is None or out == "-":
        raise ValueError("--out must name a folder with --cluster: each part becomes a file in it.")
    return out


def predict_parts(
    address: str, model: Model, source: str, out: str, how: dict[str, Any], printer: Printer
) -> None:
    """Label files on a cluster; each becomes a file in the folder `out`."""
    from spokeshave.cluster import connect, predict_on_cluster

    with printer.noting_warnings(), Steps(is_quiet=printer.is_quiet) as steps:
        steps.plan({"connecting": 1.0, "labelling": 10.0})
        steps.begin("connecting")
        with connect(address) as client:
            steps.begin("labelling")
            predict_on_cluster(
                client, model, source, out, report=steps.reach, say=printer.note, **how
            )
        steps.end()
