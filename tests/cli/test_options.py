"""Options that make no sense: one sentence, exit code 2, nothing written, and soon."""

from __future__ import annotations

import os

import pytest

OF_A_JOB = {
    "--method": (["mask,x"], "--method must be one of mask, sv_set, "),
    "--by": (["x"], "--by must be one of normal, information_gain, "),
    "--measure": (["x"], "--measure must be one of macro_f1, micro_f1, "),
    "--weighting": (["x"], "--weighting must be one of binary, counts, tfidf, sublinear. Got 'x' "),
    "--cuts": (
        ["x", "0", "-1", "1.5", "5,0.5"],
        "--cuts must be 'paper', 'log', ",
    ),
    "--C": (["0", "-1", "x", "nan", "inf"], "--C must be a positive number or auto. Got "),
    "--loss": (["x"], "--loss must be one of hinge, squared_hinge. Got 'x' "),
    "--prior": (["x"], "--prior must be one of auto, none, bns. Got 'x' "),
    "--prior-strength": (["-1", "nan", "inf"], "--prior-strength must not be negative. Got "),
    "--hold-out": (["1", "-0.1", "nan"], "--hold-out must be a share from 0 to below 1. "),
    "--tolerance": (["-1", "nan"], "--tolerance must be from 0 to below 1. Got "),
    "--n-jobs": (["0"], "--n-jobs must be a number of threads, or -1 for all cores. Got 0"),
    "--min-df": (["0"], "Invalid value for '--min-df': "),
    "--seed": (["-1"], "Invalid value for '--seed': "),
}
CASES = [
    *(
        (["fit", "SOURCE", f"{option}={value}"], sentence)
        for option, (values, sentence) in OF_A_JOB.items()
        for value in values
    ),
    (["fit", "SOURCE", "--hold-out", "x"], "Invalid value for '--hold-out': 'x' is not a valid "),
    (["fit", "SOURCE", "--n-jobs", "x"], "Invalid value for '--n-jobs': 'x' is not a valid int"),
    (["fit", "SOURCE", "--seed", "1.5"], "Invalid value for '--seed': '1.5' is not a valid int"),
    (["fit", "SOURCE", "--sede", "1"], "No such option: --sede (Possible options: "),
    (["fit", "SOURCE", "--test"], "Option '--test' requires an argument."),
    (["fit", "SOURCE", "more.csv"], "Got unexpected extra argument"),
    (["fit", "SOURCE", "--text", "body"], "trees.csv: there is no column 'body'; the columns are "),
    (["fit", "SOURCE", "--label", "queue"], "trees.csv: there is no column 'queue'; "),
    (["fit", "SOURCE", "--text", "7"], "trees.csv: there is no column 7; the columns are "),
    (["fit", "SOURCE", "--encoding", "x"], "trees.csv: the encoding 'x' is unknown; "),
    (["fit", "SOURCE", "--format", "x"], "format must be one of "),
    (["fit", "SOURCE", "--under", "x"], "under must be left out for csv"),
    (
        ["fit", "SOURCE", "--text", "leaf", "--label", "kind", "--label-separator", ""],
        "label_separator must be a character or more",
    ),
    (["fit", "-", "--test", "-"], "Only one of the documents and --test can come from "),
    (["fit", ""], "source must name a file or folder, or be '-'."),
    (["fit", "SOURCE", "--cluster-key", "x"], "--cluster-key needs --cluster. Give --cluster "),
    (["fit"], "Missing argument 'source'."),
    (["curve"], "Missing argument 'source'."),
    (["curve", "SOURCE", "--method", "x"], "--method must be one of "),
    (["curve", "SOURCE", "--tolerance", "1"], "No such option: --tolerance"),
    (["curve", "-", "--test", "-"], "Only one of the documents and --test can come from "),
    (["rank"], "Missing argument 'source'."),
    (["rank", "SOURCE", "--by", "x"], "--by must be one of "),
    (["rank", "SOURCE", "--top", "0"], "Invalid value for '--top': 0 is not in the range"),
    (["shape"], "Missing argument 'source'."),
    (["shape", "SOURCE", "--C", "0"], "--C must be a positive number. Got 0.0 instead."),
    (
        ["shape", "SOURCE", "--C", "auto"],
        "Invalid value for '--C' / '-C': 'auto' is not a ",
    ),
    (["demo", "--seed", "-1"], "Invalid value for '--seed'"),
    (["demo", "--n-jobs", "0"], "--n-jobs must be a number of threads"),
    (["demo", "--out", "nowhere/x"], "nowhere: there is no such folder to write to; "),
    (["predict"], "Missing argument 'model'."),
    (["predict", "MODEL", "MORE", "--format", "x"], "--format must be one of text, csv, "),
    (["predict", "MODEL", "MORE", "--to", "x"], "--to must be one of csv, tsv, jsonl, parquet. "),
    (["predict", "MODEL", "MORE", "--scores", "x"], "--scores must be one of none, best, all. "),
    (["predict", "MODEL", "MORE", "--text", "x"], "more.csv: there is no column 'x'; "),
    (["predict", "MODEL", "MORE", "--encoding", "x"], "more.csv: the encoding 'x' is unknown; "),
    (["predict", "MODEL", "MORE", "--format", "arff"], "more.csv: the model reads texts, and "),
    (["inspect"], "Missing argument 'model'."),
    (["inspect", "MODEL", "--class", "elm"], "--class must be one of 'ash', 'oak', 'yew'. Got "),
    (["inspect", "MODEL", "--explain", "oak", "--class", "elm"], "--class must be one of 'ash', "),
    (["inspect", "MODEL", "--top", "0"], "Invalid value for '--top': "),
    (["inspect", "VECTORS", "--explain", "oak"], "--explain needs a model of texts. "),
    (["report"], "Missing argument 'record'."),
    (["report", "RECORD", "--to", "pdf"], "No such option: --to"),
    (["ft"], "No such command 'ft'. Did you mean 'fit'?"),
    (["--sede"], "No such option: --sede"),
]


IN_A_PROCESS = ("fit SOURCE --C=nan", "demo --out nowhere/x", "predict MODEL MORE --to x", "ft")


@pytest.fixture(scope="module")
def named(trees, fitted, fitted_vectors):
    """Return the files that cases name."""
    files = {"SOURCE": trees.path, "MORE": trees.more, "MODEL": fitted.model}
    return files | {"RECORD": fitted.record, "VECTORS": fitted_vectors.model}


@pytest.mark.parametrize(
    ("arguments", "sentence"), CASES, ids=[" ".join(arguments) for arguments, _ in CASES]
)
def test_a_bad_option_is_refused_in_one_sentence(call, run, named, tmp_path, arguments, sentence):
    given = [named.get(argument, argument) for argument in arguments]
    done = (run if " ".join(arguments) in IN_A_PROCESS else call)(*given, folder=tmp_path)
    assert done.code == 2, done.err
    assert "Traceback" not in done.err
    (line,) = [line for line in done.err.splitlines() if not line.startswith("note: ")]
    assert line.startswith("spokeshave: ")
    assert sentence in line
    assert done.out == ""
    assert os.listdir(tmp_path) == []
