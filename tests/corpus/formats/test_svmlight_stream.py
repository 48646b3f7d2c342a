"""A supply of svmlight finds one label or several as `load_source` does, without loading."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from spokeshave.corpus import load_source
from spokeshave.corpus.formats.svmlight import find_label_counts
from spokeshave.corpus.stream import open_stream
from spokeshave.errors import CorpusError

LINES = [
    *("wheat 1:1", "corn 2:0.5 3:2 # a comment", "wheat,corn 3:1", "wheat", "1:1 2:1"),
    *("wheat 0:1", "wheat,corn 0:1", "0:1", " 1:1", " wheat 1:1", "wheat, 1:1", "qid:3 1:1"),
    *("wheat 9:1", "", "# nothing"),
]


def attempt(function, path, **options):
    """Return labels and numbers, or what is said to be wrong."""
    try:
        return function(path, **options)
    except CorpusError as error:
        return str(error)


def load(path, **options):
    source = load_source(path, **options)
    vectors = source.documents
    return source.is_multilabel, vectors.labels, vectors.X.toarray().tolist(), vectors.skipped


def read(path, **options):
    with open_stream(path, **options) as supply:
        batches = list(supply.read_batches())
        labels = [label for batch in batches for label in batch.labels]
        [X] = [batch.X for batch in batches]
        return supply.is_multilabel, labels, X.toarray().tolist(), supply.skipped


@given(
    st.lists(st.sampled_from(LINES), min_size=1, max_size=6),
    st.sampled_from(["raise", "skip"]),
    st.sampled_from([None, 5]),
)
@settings(max_examples=150, deadline=None)
def test_like_loaded(lines, bad_rows, n_features):
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.svm")
        path.write_text("\n".join(lines))
        options = {"bad_rows": bad_rows, "n_features": n_features}
        assert attempt(read, path, **options) == attempt(load, path, **options)


def write(path, *lines):
    path.write_text("\n".join(lines))
    return path


def test_labels_of_all_files_decide(tmp_path):
    first = write(tmp_path / "a.svm", "wheat 1:1", "corn 4:1")
    other = write(tmp_path / "b.svm", "wheat,corn 2:1", "3:1")
    with open_stream([first, other]) as supply:
        assert supply.is_multilabel
        assert supply.n_features is None
        batches = list(supply.read_batches(2))
        assert [batch.labels for batch in batches] == [
            [("wheat",), ("corn",)],
            [("wheat", "corn"), ()],
        ]
        assert [batch.X.shape for batch in batches] == [(2, 4), (2, 3)]
    write(other, "wheat 2:1", "3:1")
    with pytest.raises(CorpusError, match=r"b\.svm, line 2: the line starts with '3:1' where"):
        read([first, other])


def test_told_number_of_features(tmp_path):
    path = write(tmp_path / "a.svm", "wheat 1:1", "corn 4:1")
    with open_stream(path, n_features=7) as supply:
        assert supply.n_features == 7
        assert not supply.is_text
        assert [batch.X.shape for batch in supply.read_batches(1)] == [(1, 7), (1, 7)]
        assert all(isinstance(batch.X, csr_matrix) for batch in supply.read_batches())


@pytest.mark.parametrize(
    ("lines", "counts"),
    [
        (["a 1:1", "b 0:1"], {1}),
        (["a 1:1", "a,b 0:1"], {1}),
        (["a 1:1", "a,b 1:1", "1:1"], {1, 2}),
        (["1:1", "2:1"], {0}),
        (["1:0 0:1"], set()),
    ],
)
def test_label_counts(tmp_path, lines, counts):
    assert find_label_counts(write(tmp_path / "x.svm", *lines)) == counts
