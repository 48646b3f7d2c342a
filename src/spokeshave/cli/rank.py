"""``spokeshave rank``: the most informative features of each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spokeshave.cli import options
from spokeshave.cli.printer import Printer
from spokeshave.cli.reading import ReadOptions, read_documents
from spokeshave.cli.settings import make_settings

if TYPE_CHECKING:
    from spokeshave.jobs.dataset import Dataset
    from spokeshave.ranking.criteria import Ranking


def rank(
    source: options.Source,
    text: options.Text = None,
    label: options.Label = None,
    label_separator: options.LabelSeparator = None,
    by: options.By = "normal",
    top: options.Top = 10,
    of_class: options.OfClass = None,
    analyzer: options.Analyzer = None,
    ngrams: options.Ngrams = None,
    weighting: options.Weighting = None,
    min_df: options.MinDf = None,
    prior: options.Prior = None,
    prior_strength: options.PriorStrength = None,
    loss: options.Loss = None,
    C: options.Cost = None,
    class_weight: options.ClassWeight = None,
    stop_words: options.StopWords = None,
    max_df: options.MaxDf = None,
    max_features: options.MaxFeatures = None,
    no_markup: options.NoMarkup = False,
    format: options.Format = None,
    encoding: options.Encoding = None,
    under: options.Under = None,
    skip_bad_rows: options.SkipBadRows = False,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = -1,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """List the most informative features of each class.

    With --json, prints a line for each class and feature, with its score.

    Example: spokeshave rank tickets.csv --by information_gain --top 20
    """
    printer = Printer(as_json, quiet)
    settings = make_settings(
        by=by,
        analyzer=analyzer,
        ngram_range=ngrams,
        weighting=weighting,
        min_df=min_df,
        prior=prior,
        prior_strength=prior_strength,
        loss=loss,
        C=C,
        class_weight=class_weight,
        stop_words=stop_words,
        max_df=max_df,
        max_features=max_features,
        strip_markup=not no_markup,
        seed=seed,
        n_jobs=n_jobs,
    )
    reading = ReadOptions(
        source, text, label, label_separator, format, encoding, under, skip_bad_rows
    )
    collection, ranking = _rank(reading, settings, printer)
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
                " ".join(str(collection.feature_names[j]) for j in ranking.list_ranked(k)[:top]),
            ]
            for k in rows
        ],
        n_left=2,
    )
