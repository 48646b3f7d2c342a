"""Options that mean the same in every command."""

from __future__ import annotations

from typing import Annotated

import typer

METHODS = ("mask", "sv_set", "exact", "warm", "rfe")
CRITERIA = (
    *("normal", "information_gain", "chi2", "odds_ratio", "bns", "hellinger", "random"),
    *("naive_bayes", "perceptron", "winnow", "widrow_hoff", "exponentiated_gradient"),
    *("least_squares", "bayes_point"),
)
AGAINST = ("features", "sparsity")
MEASURES = ("best_f1", "f1", "auc", "accuracy", "precision_at_20")
DOCUMENTS, JOB, BUDGET, OUTPUT = "Documents", "Job", "Budget", "Output"  # panels of the help
CLUSTER = "Cluster"
FORMATS = ("csv", "tsv", "jsonl", "parquet", "svmlight", "arff", "folders", "reuters")

Source = Annotated[
    str,
    typer.Argument(
        help="Labelled documents: csv, tsv, jsonl, parquet, svmlight, arff, a folder of folders, "
        "or Reuters' SGML; plain or compressed; - for standard input.",
        show_default=False,
    ),
]
Text = Annotated[
    str | None,
    typer.Option(
        help="Column of the texts; a position from 0 where there is no header.",
        rich_help_panel=DOCUMENTS,
    ),
]
Label = Annotated[
    str | None, typer.Option(help="Column of the labels, likewise.", rich_help_panel=DOCUMENTS)
]
LabelSeparator = Annotated[
    str | None,
    typer.Option(
        help="What stands between the labels of a document that may have several.",
        rich_help_panel=DOCUMENTS,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        help="Format, where the name does not tell: " + ", ".join(FORMATS) + ".",
        autocompletion=lambda: list(FORMATS),
        rich_help_panel=DOCUMENTS,
    ),
]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding, where it is not UTF-8.", rich_help_panel=DOCUMENTS)
]
Under = Annotated[
    str | None,
    typer.Option(
        help="Folder inside an archive that holds the folders of classes.",
        rich_help_panel=DOCUMENTS,
    ),
]
SkipBadRows = Annotated[
    bool,
    typer.Option(
        "--skip-bad-rows",
        help="Leave malformed rows out and count them.",
        rich_help_panel=DOCUMENTS,
    ),
]
Test = Annotated[
    str | None,
    typer.Option(
        help="Documents to judge by, in the same form as the others.", rich_help_panel=DOCUMENTS
    ),
]
HoldOut = Annotated[
    float,
    typer.Option(
        help="Share of the documents to hold out and judge by, as 0.2.", rich_help_panel=DOCUMENTS
    ),
]
Method = Annotated[
    str,
    typer.Option(
        help="How features are cut: mask, sv_set, exact, warm, rfe; several with commas, the "
        "first decides.",
        autocompletion=lambda: list(METHODS),
        rich_help_panel=JOB,
    ),
]
By = Annotated[
    str,
    typer.Option(
        help="What features are ranked by: " + ", ".join(CRITERIA) + ".",
        autocompletion=lambda: list(CRITERIA),
        rich_help_panel=JOB,
    ),
]
Cuts = Annotated[
    str,
    typer.Option(
        help="Cuts: 'paper', 'log', fractions as 0.1,0.5,1 or counts as 100,1000.",
        rich_help_panel=JOB,
    ),
]
CurveCuts = Annotated[
    str,
    typer.Option(
        help="Cuts: 'paper', 'log', fractions as 0.1,0.5,1 or counts as 100,1000; against "
        "sparsity nonzeros per document, 2.5,5,10,20,40,80 by default.",
        rich_help_panel=JOB,
    ),
]
Against = Annotated[
    str,
    typer.Option(
        help="What cuts are numbers of: features, or sparsity (nonzeros per document).",
        autocompletion=lambda: list(AGAINST),
        rich_help_panel=JOB,
    ),
]
Cost = Annotated[
    str,
    typer.Option(
        "--C", "-C", help="Cost of a training error, or auto to choose it.", rich_help_panel=JOB
    ),
]
Measure = Annotated[
    str,
    typer.Option(
        help="What to look at: " + ", ".join(MEASURES) + ".",
        autocompletion=lambda: list(MEASURES),
        rich_help_panel=JOB,
    ),
]
Weighting = Annotated[
    str,
    typer.Option(
        help="Value of a word: binary, counts or tfidf.",
        autocompletion=lambda: ["binary", "counts", "tfidf"],
        rich_help_panel=JOB,
    ),
]
MinDf = Annotated[
    int,
    typer.Option(
        min=1, metavar="INT", help="Fewest documents that a word must be in.", rich_help_panel=JOB
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, metavar="INT", help="Seed of everything random.", rich_help_panel=JOB)
]
Jobs = Annotated[int, typer.Option(help="Threads; -1 for all cores.", rich_help_panel=JOB)]
Memory = Annotated[
    str | None,
    typer.Option(
        help="Memory the whole run may take, as 2GB: features are ranked on what fits, and the "
        "model is trained on everything. With --cluster, what a task may take.",
        rich_help_panel=BUDGET,
    ),
]
Nonzeros = Annotated[
    float | None,
    typer.Option(
        help="With --memory or --cluster: features that documents keep, on average; as many as fit "
        "by default.",
        rich_help_panel=BUDGET,
    ),
]
Work = Annotated[
    str | None,
    typer.Option(
        help="With --memory: a new folder for temporary files, from which a run that was killed "
        "goes on. [default: OUT.work]",
        rich_help_panel=BUDGET,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run on a Dask cluster: the address of its scheduler, as tcp://host:8786, or local:2 "
        "for two workers here. They open the files, whose name may have a * for many in it, or be "
        "an address as 's3://bucket/part-*.parquet'.",
        rich_help_panel=CLUSTER,
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON, for machines.", rich_help_panel=OUTPUT)
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no notes.", rich_help_panel=OUTPUT)
]
