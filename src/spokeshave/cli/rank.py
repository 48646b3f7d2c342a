"""``spokeshave rank``: the most informative features of each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spokeshave.cli import options
from spokeshave.cli.options import ReadOptions
from spokeshave.cli.printer import Printer
from spokeshave.cli.reading import read_documents
from spokeshave.cli.settings import make_settings
from spokeshave.utils.formatting import write_terms

if TYPE_CHECKING:
    from spokeshave.jobs.dataset import Dataset
    from spokeshave.ranking.criteria import Ranking


@options.spread
def rank(
    reading: options.ReadOptions,
    model: options.ModelOptions,
    by: options.By = "normal",
    top: options.Top = 10,
    of_class: options.OfClass = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """List the most informative features of each class.

    With --json, prints a line for each class and feature, with its score.

    Example: spokeshave rank tickets.csv --by information_gain --top 20
    """
    printer = Printer(as_json, quiet)
    collection, ranking = _rank(reading, make_settings(model, by=by), printer)
    names = collection.row_names
    if of_class is not None and of_class not in names:
        listed = ", ".join(map(repr, names[:10]))
        why = " (two classes share one ranking)" if of_class in collection.names else ""
        raise ValueError(f"--class must be one of {listed}{why}. Got {of_class!r} instead.")
    rows = [k for k, name in enumerate(names) if of_class in (None, name)]
    if as_json:
        for line in _list_lines(ranking, collection, rows, top):
            printer.emit(line)
    else:
        _show(ranking, collection, rows, top, printer)


def _rank(reading: ReadOptions, settings: Any, printer: Printer) -> tuple[Dataset, Ranking]:
    from spokeshave.cli.progress import Steps, plan_job

    with printer.noting_warnings(), Steps(is_quiet=printer.is_quiet) as steps:
        loaded = steps.run("reading", read_documents, reading, printer)
        # Slow; bad input is reported without it.
        from spokeshave.jobs.fit import make_dataset, rank_dataset

        plan_job(steps, {"making rows": 1.0, "ranking": 2.0})
        collection = steps.run("making rows", make_dataset, loaded.train, None, settings)
        return collection, rank_dataset(collection, settings, steps)


def _list_lines(
    ranking: Ranking, collection: Dataset, rows: list[int], top: int
) -> list[dict[str, Any]]:
    return [
        {
            "class": collection.row_names[k],
            "by": ranking.by,
            "rank": rank,
            "feature": str(collection.feature_names[j]),
            "score": float(ranking.scores[k, j]),
        }
        for k in rows
        for rank, j in enumerate(ranking.list_ranked(k)[:top], 1)
    ]


def _show(
    ranking: Ranking, collection: Dataset, rows: list[int], top: int, printer: Printer
) -> None:
    if len(rows) == 1:
        printer.tabulate(
            [collection.unit.removesuffix("s"), ranking.by],
            [
                [str(collection.feature_names[j]), f"{ranking.scores[rows[0], j]:.4g}"]
                for j in ranking.list_ranked(rows[0])[:top]
            ],
        )
        return
    printer.tabulate(
        ["class", f"strongest {collection.unit} by {ranking.by}"],
        [
            [
                collection.row_names[k],
                write_terms(str(collection.feature_names[j]) for j in ranking.list_ranked(k)[:top]),
            ]
            for k in rows
        ],
        n_left=2,
    )
