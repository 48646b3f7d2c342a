"""The svmlight reader, against scikit-learn's and against every malformed line."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from spokeshave.corpus import read_svmlight
from spokeshave.corpus.formats import svmlight
from spokeshave.corpus.options import MalformedRow
from spokeshave.errors import CorpusError

numbers = st.sampled_from([0.0, 0.0, 0.0, 1.0]) | st.floats(-1e9, 1e9)
matrices = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 8)), elements=numbers
)

PROBLEMS = {
    "x 0:1 2:1": "the index 0 is too small; indices count from 1",
    "x 3:1 2:1": "the index 2 comes after 3; indices must increase",
    "x 2:1 2:1": "the index 2 comes after 2; indices must increase",
    "x 1:1 9:1": "the index 9 is above the largest allowed, 5",
    "x 1:1 99999999999:1": "the index 99999999999 is above the largest allowed, 5",
    "x 1.0:1": "the index '1.0' is not a positive whole number",
    "x -1:1": "the index '-1' is not a positive whole number",
    "x +1:1": "the index '+1' is not a positive whole number",
    "x 1_0:1": "the index '1_0' is not a positive whole number",
    "x a:1": "the index 'a' is not a positive whole number",
    "x :1": "the index '' is not a positive whole number",
    "x 1:": "the value '' is not a finite number",
    "x 1:a": "the value 'a' is not a finite number",
    "x 1:1_0": "the value '1_0' is not a finite number",
    "x 1:nan 2:1": "the value 'nan' is not a finite number",
    "x 1:1 2:-inf": "the value '-inf' is not a finite number",
    "x 1:1e999": "the value '1e999' is not a finite number",
    "x 1:2:3": "the value '2:3' is not a finite number",
    "x 1:2:3 4": "the value '2:3' is not a finite number",
    "x 1: 2": "the value '' is not a finite number",
    "x 1: 2:3": "the value '' is not a finite number",
    "x 1:2 :3": "the index '' is not a positive whole number",
    "x 1:\t2 3:4": "the value '' is not a finite number",
    "x 1 2:3": "'1' is not a pair of index:value",
    "1:1 2:1": "the line starts with '1:1' where its label should be",
    "x,y 1:1": "there are 2 labels; pass multilabel=True",
    "x, 1:1": "a label is missing in 'x,'",
}


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def fail(path, **options):
    with pytest.raises(CorpusError) as error:
        read_svmlight(path, **options)
    return error.value


@given(matrices)
@settings(max_examples=50, deadline=None)
def test_reads_what_scikit_learn_writes(X):
    y = np.arange(len(X))
    with TemporaryDirectory() as folder:
        path = str(Path(folder, "x.svm"))
        dump_svmlight_file(X, y, path, zero_based=False, comment="a comment", query_id=y)
        vectors = read_svmlight(path, n_features=X.shape[1])
        expected, _ = load_svmlight_file(path, n_features=X.shape[1], zero_based=False)
    assert (expected != vectors.X).nnz == 0
    assert vectors.labels == [str(label) for label in y]
    assert vectors.feature_names is None


@given(matrices, st.data())
@settings(max_examples=50, deadline=None)
def test_reads_several_labels_as_scikit_learn_does(X, data):
    # A row without any number or label is a blank line, which both readers ignore.
    X[:, 0] = 1
    Y = data.draw(arrays.arrays(bool, (len(X), 3)))
    with TemporaryDirectory() as folder:
        path = str(Path(folder, "x.svm"))
        dump_svmlight_file(X, Y.astype(int), path, zero_based=False, multilabel=True)
        vectors = read_svmlight(path, multilabel=True)
        expected, labels = load_svmlight_file(path, zero_based=False, multilabel=True)
    assert (expected != vectors.X).nnz == 0
    assert vectors.labels == [tuple(str(int(label)) for label in row) for row in labels]


@given(st.text(":: 11\t._e-+0n", max_size=12).map(str.encode))
@settings(max_examples=500, deadline=None)
def test_the_quick_way_reads_as_pair_by_pair_does(text):
    def read(parse):
        try:
            return parse(text)
        except MalformedRow as problem:
            return str(problem)

    assert read(svmlight._parse_pairs) == read(svmlight._parse_each_pair)


@pytest.mark.parametrize(
    ("name", "compress"), [("x", bytes), ("x.gz", gzip.compress), ("x.bz2", bz2.compress)]
)
def test_labels_are_strings_as_they_are_spelt(tmp_path, name, compress):
    path = write(tmp_path / name, compress("\ufeff+1 1:1\n-1.0 2:.5\r\nspäm 3:1e-3".encode()))
    vectors = read_svmlight(str(path))
    assert vectors.labels == ["+1", "-1.0", "späm"]
    np.testing.assert_array_equal(vectors.X.toarray(), np.diag([1, 0.5, 0.001]))
    assert isinstance(vectors.X, csr_matrix)


def test_irregular_but_well_formed_lines(tmp_path):
    lines = "# a comment\n\nx\t1:1   3:1 \n  y qid:7 2:1#1:5\nz\n x 1:1e308 2:1e308 3:0\n"
    vectors = read_svmlight(write(tmp_path / "x.svm", lines))
    assert vectors.labels == ["x", "y", "z", "x"]
    expected = [[1, 0, 1], [0, 1, 0], [0, 0, 0], [1e308, 1e308, 0]]
    np.testing.assert_array_equal(vectors.X.toarray(), expected)
    assert vectors.X.nnz == 5


def test_lines_without_labels(tmp_path):
    path = write(tmp_path / "x.svm", "a,b 1:1\n1:1\n 2:1\n\t2:1\nc\n")
    vectors = read_svmlight(path, multilabel=True)
    assert vectors.labels == [("a", "b"), (), (), (), ("c",)]
    np.testing.assert_array_equal(vectors.X.toarray(), [[1, 0], [1, 0], [0, 1], [0, 1], [0, 0]])


def test_number_of_features(tmp_path):
    path = write(tmp_path / "x.svm", "x 3:1\n")
    assert read_svmlight(path).X.shape == (1, 3)
    assert read_svmlight(path, n_features=7).X.shape == (1, 7)


@pytest.mark.parametrize(("row", "problem"), PROBLEMS.items())
def test_malformed_line(tmp_path, row, problem):
    path = write(tmp_path / "x.svm", f"x 1:1\n# a comment\n{row}\ny 5:1\n")
    error = fail(path, n_features=5)
    assert (error.line, error.problem) == (3, problem)
    vectors = read_svmlight(path, n_features=5, bad_rows="skip")
    assert (vectors.labels, vectors.skipped) == (["x", "y"], 1)
    assert vectors.X.shape == (2, 5)


def test_index_too_large_for_any_matrix(tmp_path):
    path = write(tmp_path / "x.svm", "x 2147483648:1\n")
    assert fail(path).problem == "the index 2147483648 is above the largest allowed, 2147483647"
    path = write(tmp_path / "x.svm", f"x {'9' * 5000}:1\n")
    assert fail(path).problem.endswith("is not a positive whole number")


def test_label_that_is_not_utf8(tmp_path):
    path = write(tmp_path / "x.svm", b"caf\xe9 1:1\n")
    assert fail(path).problem == "the label 'caf\\xe9' is not UTF-8"


@pytest.mark.parametrize("content", ["", "\n \n# only a comment\n"])
def test_no_documents(tmp_path, content):
    assert fail(write(tmp_path / "x.svm", content)).problem == "there are no documents in it"


def test_truncated_gz(tmp_path):
    path = write(tmp_path / "x.svm.gz", gzip.compress(b"x 1:1\n" * 1000)[:-10])
    assert fail(path).problem == "the compressed file is cut short; fetch or write it again"


def test_options(tmp_path):
    path = write(tmp_path / "x.svm", "x 1:1\n")
    with pytest.raises(
        ValueError, match=r"^n_features must be a positive integer. Got 0 instead.$"
    ):
        read_svmlight(path, n_features=0)
    with pytest.raises(ValueError, match=r"^bad_rows must be"):
        read_svmlight(path, bad_rows="ignore")


def test_rcv1(data_folder):
    parts = {
        part: read_svmlight(
            data_folder / "rcv1" / f"rcv1_topics_{part}.svm.gz", n_features=47_236, multilabel=True
        )
        for part in ("train", "test")
    }
    assert parts["train"].X.shape == (18_000, 47_236)
    assert parts["test"].X.shape == (9_613, 47_236)
    topics = {part: {topic for label in parts[part].labels for topic in label} for part in parts}
    assert len(topics["train"]) == 101
    assert len(topics["train"] & topics["test"]) == 100
    assert "M143" not in topics["train"]
    for vectors in parts.values():
        lengths = np.sqrt(vectors.X.multiply(vectors.X).sum(axis=1))
        np.testing.assert_allclose(lengths, 1, atol=1e-4)
        for label in vectors.labels:
            assert ("MCAT" in label) == bool({"M11", "M12", "M13", "M14"} & set(label))
