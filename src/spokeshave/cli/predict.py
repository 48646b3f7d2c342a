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


@options.spread
def predict(
    model: options.ModelFile,
    reading: options.NewOptions,
    labels: options.LabelOptions,
    cluster: options.ClusterOptions,
    out: options.NewOut = None,
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
    check_choices(reading, labels)
    if cluster.address is not None:
        with printer.noting_warnings():  # a missing extra is reported before anything else
            import spokeshave.cluster  # noqa: F401

        out = check_folder(reading.source, out)
    from spokeshave.model.file import load_model
    from spokeshave.model.label_files import Labelling, choose_columns

    found = load_model(model)
    if labels.probability and found.calibration_ is None:
        raise ValueError(f"{model}: the model has no probabilities; leave out --probability")
    how: dict[str, Any] = {
        **reading.list_parameters(),
        "to": "jsonl" if as_json else labels.to,
        "prefix": labels.prefix,
    }
    columns: dict[str, Any] = {
        "scores": labels.scores,
        "probability": labels.probability,
        "label_separator": labels.label_separator,
    }
    if cluster.address is not None and out is not None:
        predict_parts(cluster, found, reading.source, out, {**how, **columns}, printer)
    else:
        asked = Labelling(**how, columns=choose_columns(found, **columns))
        predict_file(found, reading.source, out, asked, printer)


def check_choices(reading: options.NewOptions, labels: options.LabelOptions) -> None:
    """Raise if an option is none of its choices."""
    if reading.format is not None:
        check_choice("--format", reading.format, options.PREDICTED)
    if labels.to is not None:
        check_choice("--to", labels.to, options.WRITTEN)
    check_choice("--scores", labels.scores, options.SCORES)


def predict_file(
    model: Model, source: str, out: str | None, asked: Labelling, printer: Printer
) -> None:
    """Label the documents of a file, with notes on guesses, skipped rows and the output."""
    from spokeshave.model.label_files import label_file

    with printer.noting_warnings():
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
    cluster: options.ClusterOptions,
    model: Model,
    source: str,
    out: str,
    how: dict[str, Any],
    printer: Printer,
) -> None:
    """Label files on a cluster; each becomes a file in the folder `out`."""
    from spokeshave.cluster import connect, predict_on_cluster

    with printer.noting_warnings(), Steps(is_quiet=printer.is_quiet) as steps:
        steps.plan({"connecting": 1.0, "labelling": 10.0})
        steps.begin("connecting")
        with connect(**cluster.list_parameters(), say=printer.note) as client:
            steps.begin("labelling")
            predict_on_cluster(
                client, model, source, out, report=steps.reach, say=printer.note, **how
            )
        steps.end()
