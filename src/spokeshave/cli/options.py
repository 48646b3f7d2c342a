"""The options of the commands: each is declared once, with its help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_origin, get_type_hints

import typer

METHODS = ("mask", "sv_set", "exact", "warm", "rfe")
CRITERIA = (
    *("normal", "information_gain", "chi2", "odds_ratio", "bns", "hellinger", "random"),
    *("naive_bayes", "perceptron", "winnow", "widrow_hoff", "exponentiated_gradient"),
    *("least_squares", "bayes_point"),
)
AGAINST = ("features", "sparsity")
MEASURES = ("macro_f1", "micro_f1", "accuracy", "best_f1", "f1", "auc", "precision_at_20")
ANALYZERS = ("word", "char", "char_wb", "word+char_wb")
WEIGHTINGS = ("binary", "counts", "tfidf", "sublinear")
CLASS_WEIGHTS = ("none", "balanced")
STOP_WORDS = ("none", "english")
EFFORTS = ("quick", "normal", "thorough")
LOSSES = ("hinge", "squared_hinge")
PRIORS = ("auto", "none", "bns")
FORMATS = ("csv", "tsv", "jsonl", "parquet", "svmlight", "arff", "folders", "reuters")
PREDICTED = ("text", "csv", "tsv", "jsonl", "parquet", "svmlight", "arff")
WRITTEN = ("csv", "tsv", "jsonl", "parquet")
SCORES = ("none", "best", "all")
# Panels of the help.
DOCUMENTS, JOB, BUDGET, OUTPUT = "Documents", "Job", "Budget", "Output"
REPRESENTATION = "Representation"  # fit chooses each that is not given by cross-validation
CLUSTER = "Cluster"

Source = Annotated[
    str,
    typer.Argument(
        help="Labelled documents: csv, tsv, jsonl, parquet, svmlight, arff, a folder with one "
        "folder per class, or Reuters SGML; plain or compressed; - for standard input.",
        show_default=False,
    ),
]
ModelFile = Annotated[str, typer.Argument(help="A model file.", show_default=False)]
NewSource = Annotated[
    str,
    typer.Argument(
        help="Documents: csv, tsv, jsonl, parquet, or text with one document per line; plain or "
        "compressed; - for standard input. A model of vectors reads svmlight and arff.",
    ),
]
Record = Annotated[
    str, typer.Argument(help="The record of a run, as written by fit.", show_default=False)
]
Text = Annotated[
    str | None,
    typer.Option(
        help="Column of the texts: its name, or its position from 0 if there is no header.",
        rich_help_panel=DOCUMENTS,
    ),
]
Label = Annotated[
    str | None, typer.Option(help="Column of the labels, likewise.", rich_help_panel=DOCUMENTS)
]
LabelSeparator = Annotated[
    str | None,
    typer.Option(
        help="Separator of the labels, if a document may have several.", rich_help_panel=DOCUMENTS
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        help="Format, if the name does not tell: " + ", ".join(FORMATS) + ".",
        autocompletion=lambda: list(FORMATS),
        rich_help_panel=DOCUMENTS,
    ),
]
NewFormat = Annotated[
    str | None,
    typer.Option(
        help="Format of the input, if the name does not tell: " + ", ".join(PREDICTED) + ". "
        "[default on standard input: text]",
        autocompletion=lambda: list(PREDICTED),
        rich_help_panel=DOCUMENTS,
    ),
]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding, if it is not UTF-8.", rich_help_panel=DOCUMENTS)
]
Under = Annotated[
    str | None,
    typer.Option(
        help="Folder inside an archive that contains the folders of the classes.",
        rich_help_panel=DOCUMENTS,
    ),
]
SkipBadRows = Annotated[
    bool,
    typer.Option(
        "--skip-bad-rows", help="Skip malformed rows and count them.", rich_help_panel=DOCUMENTS
    ),
]
Test = Annotated[
    str | None,
    typer.Option(
        help="Test documents, in the same format as the others.", rich_help_panel=DOCUMENTS
    ),
]
HoldOut = Annotated[
    float,
    typer.Option(
        help="Share of the documents to hold out as test documents, such as 0.2.",
        rich_help_panel=DOCUMENTS,
    ),
]
Method = Annotated[
    str,
    typer.Option(
        help="How to get a model at each cut: mask, sv_set, exact, warm, rfe; several separated by "
        "commas, of which the first decides.",
        autocompletion=lambda: list(METHODS),
        rich_help_panel=JOB,
    ),
]
By = Annotated[
    str,
    typer.Option(
        help="Criterion that ranks the features: " + ", ".join(CRITERIA) + ".",
        autocompletion=lambda: list(CRITERIA),
        rich_help_panel=JOB,
    ),
]
Cuts = Annotated[
    str,
    typer.Option(
        help="Cuts: 'paper', 'log', fractions such as 0.1,0.5,1 or counts such as 100,1000.",
        rich_help_panel=JOB,
    ),
]
CurveCuts = Annotated[
    str,
    typer.Option(
        help="Cuts: 'paper', 'log', fractions such as 0.1,0.5,1 or counts such as 100,1000. With "
        "--against sparsity: nonzeros per document, 2.5,5,10,20,40,80 by default.",
        rich_help_panel=JOB,
    ),
]
Against = Annotated[
    str,
    typer.Option(
        help="Unit of the cuts: features, or sparsity (nonzeros per document).",
        autocompletion=lambda: list(AGAINST),
        rich_help_panel=JOB,
    ),
]
Cost = Annotated[
    str | None,
    typer.Option(
        *("--C", "-C"),
        help="Cost of a training error, or 'auto' to choose it by cross-validation.",
        rich_help_panel=REPRESENTATION,
    ),
]
Loss = Annotated[
    str | None,
    typer.Option(
        help="Loss of a training error: hinge or squared_hinge.",
        autocompletion=lambda: list(LOSSES),
        rich_help_panel=REPRESENTATION,
    ),
]
Prior = Annotated[
    str | None,
    typer.Option(
        help="Prior of the weights: none; bns, which prefers features that separate the class; or "
        "auto, which is bns for texts.",
        autocompletion=lambda: list(PRIORS),
        rich_help_panel=REPRESENTATION,
    ),
]
PriorStrength = Annotated[
    float | None,
    typer.Option(help="Strength of the prior; 0 is none.", rich_help_panel=REPRESENTATION),
]
Effort = Annotated[
    str | None,
    typer.Option(
        help="How much to search for the best representation: quick (not at all), normal or "
        "thorough; on a sample that fits with --memory or --cluster. [default: normal; quick with "
        "--memory or --cluster]",
        autocompletion=lambda: list(EFFORTS),
        rich_help_panel=REPRESENTATION,
    ),
]
Analyzer = Annotated[
    str | None,
    typer.Option(
        help="Terms of a text: word, char, char_wb (characters within words), or word+char_wb.",
        autocompletion=lambda: list(ANALYZERS),
        rich_help_panel=REPRESENTATION,
    ),
]
Ngrams = Annotated[
    str | None,
    typer.Option(
        "--ngrams",
        metavar="N-M",
        help="Words or characters of a term, such as 1-2 for words and pairs of them.",
        rich_help_panel=REPRESENTATION,
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        help="Cost of the classes: none, or balanced, by which errors on rare classes cost more.",
        autocompletion=lambda: list(CLASS_WEIGHTS),
        rich_help_panel=REPRESENTATION,
    ),
]
StopWords = Annotated[
    str | None,
    typer.Option(
        help="Words to ignore: none or english.",
        autocompletion=lambda: list(STOP_WORDS),
        rich_help_panel=DOCUMENTS,
    ),
]
MaxDf = Annotated[
    str | None,
    typer.Option(
        help="Ignore terms that are in more documents than this: a count, or a share such as 0.5.",
        rich_help_panel=DOCUMENTS,
    ),
]
MaxFeatures = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="INT",
        help="Keep only so many terms, the most frequent ones.",
        rich_help_panel=DOCUMENTS,
    ),
]
NoMarkup = Annotated[
    bool,
    typer.Option(
        "--no-markup",
        help="The texts have no markup: leave tags and entities as they are.",
        rich_help_panel=DOCUMENTS,
    ),
]
SharedWords = Annotated[
    bool,
    typer.Option(
        "--shared-words",
        help="All classes keep the same features, instead of each its own.",
        rich_help_panel=JOB,
    ),
]
Folds = Annotated[
    int,
    typer.Option(
        "--folds",
        min=2,
        metavar="INT",
        help="Number of folds of the cross-validation.",
        rich_help_panel=JOB,
    ),
]
FixedCost = Annotated[
    float, typer.Option("--C", "-C", help="Cost of a training error.", rich_help_panel=JOB)
]
Measure = Annotated[
    str | None,
    typer.Option(
        help="Quality measure: " + ", ".join(MEASURES) + ". The first three are of the predicted "
        "label. [default: macro_f1; best_f1 if documents have several labels]",
        autocompletion=lambda: list(MEASURES),
        rich_help_panel=JOB,
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        help="Accepted loss of quality against the best cut. [default: one standard error; 0.001 "
        "with --memory]",
        rich_help_panel=JOB,
    ),
]
Weighting = Annotated[
    str | None,
    typer.Option(
        help="Value of a term in a document: binary, counts, tfidf, or sublinear, which is tfidf "
        "with the logarithm of counts.",
        autocompletion=lambda: list(WEIGHTINGS),
        rich_help_panel=REPRESENTATION,
    ),
]
MinDf = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="INT",
        help="Ignore terms that are in fewer documents than this.",
        rich_help_panel=REPRESENTATION,
    ),
]
Stability = Annotated[
    bool,
    typer.Option(
        "--stability",
        help="Also compare masked and retrained models at each cut.",
        rich_help_panel=JOB,
    ),
]
Seed = Annotated[int, typer.Option(min=0, metavar="INT", help="Random seed.", rich_help_panel=JOB)]
Jobs = Annotated[int, typer.Option(help="Threads; -1 for all cores.", rich_help_panel=JOB)]
Top = Annotated[int, typer.Option(min=1, help="How many features to list for each class.")]
OfClass = Annotated[str | None, typer.Option("--class", help="Only this class.")]
Explain = Annotated[
    str | None, typer.Option(help="A text: list the words that decide its label, with weights.")
]
Memory = Annotated[
    str | None,
    typer.Option(
        help="Memory limit of the whole run, such as 2GB: features are ranked on a sample that "
        "fits, and the model is trained on all documents. With --cluster, the limit of a task.",
        rich_help_panel=BUDGET,
    ),
]
Nonzeros = Annotated[
    float | None,
    typer.Option(
        help="With --memory or --cluster: how many features a document keeps, on average. "
        "[default: as many as fit]",
        rich_help_panel=BUDGET,
    ),
]
Work = Annotated[
    str | None,
    typer.Option(
        help="With --memory: a new folder for temporary files, from which the same command resumes "
        "after it was killed. [default: OUT.work]",
        rich_help_panel=BUDGET,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Run on a Dask cluster: the address of its scheduler, such as tls://host:8786, or "
        "local:2 for two workers on this machine. Workers open the files; their name may be a "
        "pattern with * or a URL, such as 's3://bucket/part-*.parquet'.",
        rich_help_panel=CLUSTER,
    ),
]
ClusterCa = Annotated[
    str | None,
    typer.Option(
        "--cluster-ca",
        metavar="FILE",
        help="PEM file of the certificate authority of a scheduler at a tls:// address.",
        rich_help_panel=CLUSTER,
    ),
]
ClusterCert = Annotated[
    str | None,
    typer.Option(
        "--cluster-cert",
        metavar="FILE",
        help="PEM file of the certificate to connect with.",
        rich_help_panel=CLUSTER,
    ),
]
ClusterKey = Annotated[
    str | None,
    typer.Option(
        "--cluster-key",
        metavar="FILE",
        help="PEM file of its private key.",
        rich_help_panel=CLUSTER,
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        *("--out", "-o"),
        help="Prefix of the files to write: OUT.model, OUT.run.json, OUT.html. [default: the name "
        "of the source, in the current folder]",
        rich_help_panel=OUTPUT,
    ),
]
ShapedOut = Annotated[
    str | None,
    typer.Option(
        *("--out", "-o"),
        help="Prefix of the files to write: OUT.model, OUT.run.json, OUT.html. [default: the name "
        "of the source with -shaped, in the current folder]",
        rich_help_panel=OUTPUT,
    ),
]
NewOut = Annotated[
    str | None,
    typer.Option(
        *("--out", "-o"),
        help="File to write; with --cluster, a folder. [default: standard output]",
        rich_help_panel=OUTPUT,
    ),
]
Page = Annotated[
    str | None,
    typer.Option(*("--out", "-o"), help="The page. [default: the name of the record, .html]"),
]
To = Annotated[
    str | None,
    typer.Option(
        help="Format of the output: csv, tsv, jsonl or parquet. [default: that of the input]",
        autocompletion=lambda: list(WRITTEN),
        rich_help_panel=OUTPUT,
    ),
]
Scores = Annotated[
    str,
    typer.Option(
        help="Scores to add: none, best or all.",
        autocompletion=lambda: list(SCORES),
        rich_help_panel=OUTPUT,
    ),
]
Probability = Annotated[
    bool,
    typer.Option(
        *("--probability", "-p"),
        help="Add probabilities instead of scores.",
        rich_help_panel=OUTPUT,
    ),
]
Prefix = Annotated[
    str, typer.Option(help="Prefix of the names of the new columns.", rich_help_panel=OUTPUT)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel=OUTPUT)]
ToJson = Annotated[
    bool, typer.Option("--json", help="The same as --to jsonl.", rich_help_panel=OUTPUT)
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print no progress and no notes.", rich_help_panel=OUTPUT),
]


@dataclass(frozen=True)
class ReadOptions:
    """Which documents to read, and how."""

    source: Source
    text: Text = None
    label: Label = None
    label_separator: LabelSeparator = None
    format: Format = None
    encoding: Encoding = None
    under: Under = None
    skip_bad_rows: SkipBadRows = False
    test: str | None = None
    hold_out: float = 0.0

    def __post_init__(self) -> None:
        if self.test is not None and self.hold_out:
            raise ValueError("Only one of --test and --hold-out can be given.")
        if self.source == "-" == self.test:
            raise ValueError("Only one of the documents and --test can come from standard input.")

    def list_parameters(self) -> dict[str, Any]:
        """Return the parameters of `load_source`, which every reader shares."""
        from spokeshave.corpus.options import check_column

        return {
            "text": None if self.text is None else check_column(self.text),
            "label": None if self.label is None else check_column(self.label),
            "label_separator": self.label_separator,
            "format": self.format,
            "encoding": self.encoding,
            "under": self.under,
            "bad_rows": "skip" if self.skip_bad_rows else "raise",
        }


@dataclass(frozen=True)
class SplitOptions(ReadOptions):
    """Which documents to train on and which to test on."""

    test: Test = None
    hold_out: HoldOut = 0.0


@dataclass(frozen=True)
class CurveOptions:
    """How curves are traced."""

    method: Method = "mask"
    by: By = "normal"
    measure: Measure = None
    n_folds: Folds = 5
    shared_words: SharedWords = False


@dataclass(frozen=True)
class ModelOptions:
    """The representation of documents, and the SVM."""

    analyzer: Analyzer = None
    ngram_range: Ngrams = None
    weighting: Weighting = None
    min_df: MinDf = None
    prior: Prior = None
    prior_strength: PriorStrength = None
    loss: Loss = None
    C: Cost = None
    class_weight: ClassWeight = None
    stop_words: StopWords = None
    max_df: MaxDf = None
    max_features: MaxFeatures = None
    no_markup: NoMarkup = False
    seed: Seed = 0
    n_jobs: Jobs = -1


@dataclass(frozen=True)
class NewOptions:
    """Which documents to label, and how to read them."""

    source: NewSource = "-"
    text: Text = None
    format: NewFormat = None
    encoding: Encoding = None
    skip_bad_rows: SkipBadRows = False

    def list_parameters(self) -> dict[str, Any]:
        """Return the parameters of a `Labelling` that say how to read."""
        return {
            "text": self.text,
            "format": self.format,
            "encoding": self.encoding,
            "bad_rows": "skip" if self.skip_bad_rows else "raise",
        }


@dataclass(frozen=True)
class ClusterOptions:
    """The cluster to run on, and the certificates to connect to it with."""

    address: Cluster = None
    ca: ClusterCa = None
    cert: ClusterCert = None
    key: ClusterKey = None

    def __post_init__(self) -> None:
        files = {name: getattr(self, name) for name in ("ca", "cert", "key")}
        given = [f"--cluster-{name}" for name, path in files.items() if path is not None]
        missing = [f"--cluster-{name}" for name, path in files.items() if path is None]
        if given and self.address is None:
            raise ValueError(f"{given[0]} needs --cluster. Give --cluster as well.")
        if given and missing:
            raise ValueError(f"{given[0]} needs {' and '.join(missing)}. Give all three.")

    def list_parameters(self) -> dict[str, Any]:
        """Return the parameters of `connect`."""
        from spokeshave.cluster import make_security

        files: list[Any] = [self.ca, self.cert, self.key]
        return {
            "address": self.address,
            "security": None if None in files else make_security(*files),
        }


@dataclass(frozen=True)
class LabelOptions:
    """Which columns to add to labelled documents, and the format to write them in."""

    label_separator: LabelSeparator = None
    to: To = None
    scores: Scores = "none"
    probability: Probability = False
    prefix: Prefix = "predicted_"


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has an option for each field of its dataclass parameters.

    Typer reads options from signatures. Fields without the description of an option are left out.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        if parameter.name in groups:
            parameters += _list_parameters(groups[parameter.name])
        else:
            hint = hints[parameter.name]
            parameters.append(parameter.replace(annotation=hint, kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def run(**values: Any) -> None:
        for name, group in groups.items():
            names = [each.name for each in _list_parameters(group)]
            values[name] = group(**{each: values.pop(each) for each in names})
        command(**values)

    described: Any = run
    described.__signature__ = Signature(parameters)
    described.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _list_parameters(group: Any) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
        if get_origin(hints[field.name]) is Annotated
    ]
