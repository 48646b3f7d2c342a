"""The second pass: every document with the features that are kept."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from made_batches import Stream, make_request, make_texts, number_classes, to_dense
from spokeshave import DocumentVectorizer
from spokeshave.budget.plan import Cut
from spokeshave.budget.row_batches import VectorEncoder
from spokeshave.budget.run import _load_reduced, _make_change_error, reduce_stream
from spokeshave.budget.select import Selection
from spokeshave.budget.shards import list_shards

CUT = Cut(3, 9, 0, 0, 1.0, 0, 100, True)


def reduce_to(folder, stream, features, labels, *, idf=None, report=lambda share: None, **options):
    """Reduce a stream to some features; return the checksum, and rows as a dense table."""
    request = make_request(is_text=stream.is_text, is_multilabel=stream.is_multilabel, **options)
    classes = number_classes(labels)
    folder.mkdir(exist_ok=True)
    selection = Selection(features, idf, CUT)
    arguments = stream, request, selection, classes, len(labels), folder, report
    checksum = reduce_stream(*arguments)
    (shard,) = list_shards(folder, request.norm, 10**9)
    with shard.open() as block:
        rows = block.rows
        dense = to_dense(rows.indptr, rows.indices, rows.data, len(features))
        codes = {name: block.find_class(code) for code, name in enumerate(classes.names)}
        return checksum, dense * rows.scale[:, None], codes


@pytest.mark.parametrize("norm", ["l2", "l1", None])
@pytest.mark.parametrize("weighting", ["binary", "counts", "tfidf"])
@pytest.mark.parametrize("sublinear_tf", [False, True])
def test_texts_are_reduced_to_what_the_vectorizer_makes_of_them(
    tmp_path, norm, weighting, sublinear_tf
):
    texts, labels = make_texts(80)
    values = {"weighting": weighting, "sublinear_tf": sublinear_tf}
    vectorizer = DocumentVectorizer(**values, norm=norm, min_df=6, strip_markup=False)
    expected = vectorizer.fit_transform(texts).toarray()
    idf = vectorizer.idf_.astype(np.float32) if weighting == "tfidf" else None
    stream = Stream(texts, labels, batch_size=17)
    _, found, codes = reduce_to(
        *(tmp_path, stream, list(vectorizer.vocabulary_), labels),
        idf=idf,
        norm=norm,
        **values,
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    for name, signs in codes.items():
        np.testing.assert_array_equal(signs > 0, np.array(labels) == name)


def test_vectors_are_reduced_to_the_columns_in_the_order_given(tmp_path, rng):
    X = sparse.csr_matrix(rng.integers(0, 3, size=(40, 7)).astype(float))
    labels = [("oak", "ash")[: i % 3] for i in range(40)]
    features, stream = np.array([5, 0, 3]), Stream(X, labels, batch_size=6, is_multilabel=True)
    _, found, codes = reduce_to(tmp_path, stream, features, labels, norm=None)
    np.testing.assert_array_equal(found, X.toarray()[:, features])
    for name, signs in codes.items():
        np.testing.assert_array_equal(signs > 0, [name in label for label in labels])


def test_batches_and_threads_change_nothing_but_the_checksum_of_batches(tmp_path):
    texts, labels = make_texts(60)
    features = ["w1", "w2", "ähre3", "r7"]
    results = [
        reduce_to(
            tmp_path / f"{size} {n_jobs}",
            Stream(texts, labels, batch_size=size),
            features,
            labels,
            n_jobs=n_jobs,
        )
        for size, n_jobs in ((7, 1), (7, 3), (60, 2))
    ]
    for _, found, _ in results[1:]:
        np.testing.assert_array_equal(found, results[0][1])
    assert results[0][0] == results[1][0]


def test_the_checksum_does_not_depend_on_the_features(tmp_path):
    texts, labels = make_texts(30)
    sums = set()
    for name, features in (("one", ["w1"]), ("other", ["w2", "ähre3"])):
        sums.add(reduce_to(tmp_path / name, Stream(texts, labels), features, labels)[0])
    assert len(sums) == 1
    changed = Stream([*texts[:-1], "w1"], labels)
    assert reduce_to(tmp_path / "changed", changed, ["w1"], labels)[0] not in sums


def test_what_it_came_to_is_kept(tmp_path):
    texts, labels = ["w1 w2 w2", "w3", "w2"], ["a", "b", "a"]
    shares = []
    reduce_to(
        tmp_path, Stream(texts, labels, batch_size=1), ["w1", "w2"], labels, report=shares.append
    )
    reduced = _load_reduced(tmp_path)
    assert (reduced.n_documents, reduced.n_nonzeros) == (3, 3)
    assert reduced.per_document == 1
    others = [path for path in tmp_path.iterdir() if path.suffix != ".json"]
    assert reduced.n_bytes == sum(path.stat().st_size for path in others)
    assert shares == pytest.approx([1 / 3, 2 / 3, 1])


def test_a_table_gives_features_their_new_numbers():
    table = VectorEncoder().index(np.array([4, 1]))
    assert table[[4, 1]].tolist() == [0, 1]
    assert table.size == 5
    assert VectorEncoder().index(np.array([], int)).size == 0


def test_a_change_is_complained_of_by_the_name_of_the_documents():
    sentence = str(_make_change_error(Stream(["oak"], ["a"])))
    assert sentence.startswith("documents: it has changed since it was first read")
