"""A supply of ARFF: sparse vectors or texts, and no dense tables."""

from __future__ import annotations

import numpy as np
import pytest

from spokeshave.corpus import load_source
from spokeshave.corpus.stream import open_stream
from spokeshave.errors import CorpusError

VECTORS = "@attribute a numeric\n@attribute b {no, yes}\n@attribute class {x, y}\n@data\n"
TEXTS = "@attribute story string\n@attribute n numeric\n@attribute class {x, y}\n@data\n"


def write(path, content, encoding="utf-8"):
    path.write_bytes(content.encode(encoding))
    return path


def fail(*paths, **options):
    with pytest.raises(CorpusError) as caught, open_stream(paths, **options):
        pass
    return str(caught.value).removeprefix(f"{paths[-1]}: ")


def test_vectors(tmp_path):
    path = write(tmp_path / "x.arff", VECTORS + "{0 1,2 y}\n1,yes,x\n{1 yes}\n")
    loaded = load_source(path)
    with open_stream(path, n_features=3) as supply:
        assert not supply.is_text
        assert supply.n_features == 3
        assert supply.feature_names == loaded.documents.feature_names
        assert (supply.read, supply.guesses) == (loaded.read, loaded.guesses)
        batches = list(supply.read_batches(2))
    assert [batch.X.shape for batch in batches] == [(2, 3), (1, 3)]
    assert all(batch.feature_names == supply.feature_names for batch in batches)
    X = np.vstack([batch.X.toarray() for batch in batches])
    np.testing.assert_array_equal(X, loaded.documents.X.toarray())


def test_a_sparse_row_is_enough_wherever_it_stands(tmp_path):
    dense = write(tmp_path / "a.arff", VECTORS + "1,yes,x\n0,no,y\n")
    sparse = write(tmp_path / "b.arff", VECTORS + "1,yes,x\n{0 1}\n")
    for paths in ([sparse], [dense, sparse]):
        with open_stream(paths) as supply:
            assert all(batch.X.format == "csr" for batch in supply.read_batches(1))


def test_dense_rows_are_refused(tmp_path):
    path = write(tmp_path / "x.arff", VECTORS + "1,yes,x\n0,no,y\n")
    problem = "its rows are dense, and only texts and sparse vectors are read bit by bit"
    assert fail(path) == problem
    write(path, VECTORS + "1,yes,x\n{0 a}\n")
    assert fail(path, bad_rows="skip") == problem


def test_texts(tmp_path):
    path = write(tmp_path / "x.arff", TEXTS + "'Oil,\\nfell',1,x\n{0 Corn,2 y}\n")
    loaded = load_source(path)
    with open_stream(path) as supply:
        assert supply.is_text
        assert supply.n_features is supply.feature_names is None
        assert (supply.text, supply.label) == ("story", "class")
        assert (supply.read, supply.guesses) == (loaded.read, loaded.guesses)
        [batch] = supply.read_batches()
    assert batch == loaded.documents
    assert fail(path, n_features=3) == "it has no features where 3 should be"


@pytest.mark.parametrize("place", [0, 1])
def test_encoding_is_one_for_all_files(tmp_path, place):
    stories = [TEXTS + f"{'Oil ' * 100_000},1,x\n", TEXTS + f"{'Oil ' * 100_000} café,1,x\n"]
    paths = [
        write(tmp_path / "a.arff", stories[place], "latin-1"),
        write(tmp_path / "b.arff", stories[1 - place], "latin-1"),
    ]
    with open_stream(paths) as supply:
        assert supply.encoding == "latin-1"
        assert supply.guesses[-1] == "the encoding is latin-1, as it is not utf-8"
        for _ in range(2):
            texts = [text for batch in supply.read_batches() for text in batch.texts]
            assert texts[1 - place].endswith(" café")
    assert "the text is not utf-8; pass the right one" in fail(paths[1 - place], encoding="utf-8")


def test_files_must_declare_the_same(tmp_path):
    first = write(tmp_path / "a.arff", VECTORS + "{0 1}\n")
    problem = "its attributes are not those of a.arff"
    for header in (VECTORS.replace("no, yes", "yes, no"), VECTORS.replace(" a ", " c "), TEXTS):
        assert fail(first, write(tmp_path / "b.arff", header + "{0 1}\n")) == problem
    # What classes there are is for each file to declare.
    other = write(tmp_path / "b.arff", VECTORS.replace("x, y", "y, z") + "{0 1}\n")
    with open_stream([first, other]) as supply:
        assert [batch.labels for batch in supply.read_batches()] == [["x", "y"]]
