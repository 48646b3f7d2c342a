"""Checkpoints: finished units come back, and files of other runs are errors."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from spokeshave.utils.checkpoint import Checkpoint, describe, digest

RUN = {"seed": 0, "estimator": ["SVC", {"C": 1.0}], "Cs": (0.1, 1.0)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


@pytest.fixture
def begun(path):
    """Return the path of a checkpoint with two units."""
    with Checkpoint(path, RUN) as checkpoint:
        checkpoint.add((0, 0), {"auc": 0.1 + 0.2})
        checkpoint.add((0, 1), {"auc": np.nan})
    return path


def read(path):
    with Checkpoint(path, RUN) as checkpoint:
        return checkpoint.done


@settings(deadline=None, max_examples=20)
@given(st.lists(st.floats(allow_infinity=False)))
def test_numbers_come_back_exactly(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("floats") / "run.jsonl"
    with Checkpoint(path, RUN) as checkpoint:
        for k, value in enumerate(values):
            checkpoint.add((k, 0, 1), {"value": value})
    assert list(read(path)) == [(k, 0, 1) for k in range(len(values))]
    np.testing.assert_array_equal([unit["value"] for unit in read(path).values()], values)


def test_a_unit_is_on_the_disk_at_once(path):
    with Checkpoint(path, RUN) as checkpoint:
        checkpoint.add((0, 0), {"auc": 0.5})
        assert json.loads(path.read_bytes().splitlines()[-1]) == {"unit": [0, 0], "auc": 0.5}


def test_every_line_is_json(begun):
    header, *units = [json.loads(line) for line in begun.read_text().splitlines()]
    assert (header["format"], header["version"]) == ("spokeshave checkpoint", 1)
    assert units[1] == {"unit": [0, 1], "auc": None}


def test_a_file_that_ends_anywhere_is_taken_up_again(begun):
    whole = begun.read_bytes()
    ends = [k + 1 for k, letter in enumerate(whole) if letter == ord("\n")]
    for size in sorted({*range(0, len(whole), 7), *ends, *(end - 1 for end in ends)}):
        begun.write_bytes(whole[:size])
        n_whole = max(sum(end <= size for end in ends) - 1, 0)
        with Checkpoint(begun, RUN) as checkpoint:
            assert len(checkpoint.done) == n_whole
            for unit, auc in [((0, 0), 0.1 + 0.2), ((0, 1), np.nan)][n_whole:]:
                checkpoint.add(unit, {"auc": auc})
        assert begun.read_bytes() == whole


def test_a_last_line_of_zeros_is_cut_off(begun):
    whole = begun.read_bytes()
    begun.write_bytes(whole + b"\0\0\0\n")
    assert len(read(begun)) == 2
    assert begun.read_bytes() == whole


def refuse(path, sentence, run=RUN):
    before = path.read_bytes()
    with pytest.raises(ValueError, match=sentence) as caught:
        Checkpoint(path, run)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


def test_a_damaged_line_in_the_middle_is_refused(begun):
    header, first, second = begun.read_bytes().splitlines(keepends=True)
    begun.write_bytes(header + first[:5] + b"\n" + second)
    refuse(begun, r"line 2 is damaged: delete that line\.$")
    begun.write_bytes(header + second)
    assert list(read(begun)) == [(0, 1)]


@pytest.mark.parametrize(
    "run",
    [{**RUN, "seed": 1}, {k: v for k, v in RUN.items() if k != "seed"}, {**RUN, "seed": None}],
)
def test_another_run_is_refused(begun, run):
    refuse(begun, "of a run with other seed: repeat its arguments, name another file, or", run)


def test_all_that_differs_is_named(begun):
    refuse(begun, "with other seed, Cs: ", {**RUN, "seed": 1, "Cs": (1.0,)})


@pytest.mark.parametrize(
    "content",
    [b"my notes\n", b"my notes", b"\x89PNG\r\n\x1a\n", b"[1, 2]\n", b'{"unit": [0, 0]}\n', b"\n"],
)
def test_what_is_no_checkpoint_is_never_overwritten(path, content):
    path.write_bytes(content)
    refuse(path, r"checkpoint must be a new file or the checkpoint of a run\. Got .* name another")


def test_another_version_is_refused(begun):
    begun.write_bytes(begun.read_bytes().replace(b'"version": 1', b'"version": 2'))
    refuse(begun, r"checkpoint must be of version 1\. Got .* of version 2 instead")


def test_digests_tell_arrays_apart(rng):
    X = rng.random((4, 6)).round()
    others = [X.T, X.reshape(6, 4), X.astype(np.float32), 1 - X, sparse.csr_matrix(X), X[:3]]
    assert len({digest(other) for other in [X, *others]}) == 7
    assert digest(np.asfortranarray(X)) == digest(X)
    assert digest(sparse.csc_matrix(X)) == digest(sparse.csr_matrix(X))


@pytest.mark.parametrize(
    "other",
    [
        make_pipeline(FunctionTransformer(np.log1p), LogisticRegression(C=2)),
        make_pipeline(FunctionTransformer(np.sqrt), LogisticRegression()),
        make_pipeline(FunctionTransformer(np.log1p), LogisticRegression(class_weight={0: 2})),
        make_pipeline(LogisticRegression()),
        LogisticRegression(random_state=np.random.RandomState(0)),
        LogisticRegression(random_state=np.random.RandomState(1)),
        np.arange(2000),
        np.inf,
    ],
)
def test_descriptions_tell_estimators_apart(other):
    model = make_pipeline(FunctionTransformer(np.log1p), LogisticRegression())
    json.dumps(describe(other), allow_nan=False)
    assert describe(other) != describe(model)
    assert describe(other) == describe(other)


def test_a_description_is_the_same_in_another_process():
    parts = (
        "[FunctionTransformer(np.log1p), np.random.RandomState(0), slice(object(), 1), np.mean,"
        " LogisticRegression(class_weight={0: 2.5})]"
    )
    program = (
        "import numpy as np\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "from sklearn.preprocessing import FunctionTransformer\n"
        "from spokeshave.utils.checkpoint import describe\n"
        f"print(describe({parts}))"
    )
    run = [sys.executable, "-c", program]
    there = subprocess.run(run, capture_output=True, check=True, text=True).stdout
    assert there.strip() == str(describe(eval(parts)))
