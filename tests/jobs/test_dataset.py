"""Collections made ready: targets, held-out documents, rows, and what is refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import normalize

from made_up import KINDS, TREES
from spokeshave import DocumentVectorizer
from spokeshave.corpus import Texts, Vectors
from spokeshave.jobs.dataset import (
    describe_unknown,
    list_names,
    make_targets,
    prepare_dataset,
)

TAGS = [("oak", "ash"), ("ash",), (), ("yew",), ("oak",), ("oak", "yew"), ("ash",), ()]


def prepare_texts(texts=TREES, labels=KINDS, test=None, **options):
    return prepare_dataset(Texts(list(texts), list(labels)), test, DocumentVectorizer(), **options)


def make_vectors(rng, *, n=30, is_sparse=True):
    X = rng.random((n, 5)) * (rng.random((n, 5)) < 0.6)
    labels = [("ash", "oak", "yew")[number % 3] for number in range(n)]
    return Vectors(sparse.csr_matrix(X) if is_sparse else X, labels, None)


def prepare_vectors(vectors, test=None, **options):
    return prepare_dataset(vectors, test, DocumentVectorizer(), **options)


def test_labels():
    found = prepare_texts()
    assert found.names == ["ash", "oak"]
    assert found.row_names == ["oak"]
    assert found.counts == [4, 4]
    assert found.train.y.tolist() == KINDS
    assert (found.test, found.scaler, found.unit) == (None, None, "words")
    assert not found.is_multilabel
    assert found.train.given == TREES
    X = DocumentVectorizer().fit_transform(TREES)
    np.testing.assert_array_equal(found.train.X.toarray(), X.toarray())
    assert len(found.feature_names) == X.shape[1]


def test_texts_with_hardly_a_term_are_told_of():
    texts = ["oak", "ash", "an oak", "an ash", "oak", "ash", "yew", "elm"] * 3
    with pytest.warns(UserWarning, match=r"^18 of 24 texts have at most one known term"):
        prepare_texts(texts, KINDS * 3)


def test_several_labels():
    found = prepare_texts(labels=TAGS)
    assert found.is_multilabel
    assert found.names == found.row_names == ["ash", "oak", "yew"]
    assert found.counts == [3, 3, 2]
    expected = [[name in tags for name in found.names] for tags in TAGS]
    np.testing.assert_array_equal(found.train.y.toarray(), expected)


def test_a_label_that_comes_twice_counts_once_as_a_target():
    y = make_targets([("oak", "oak"), ("ash",)], ["ash", "oak"])
    assert y.toarray().tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (["ash"] * 8, "two classes or more; all are of class 'ash'"),
        ([()] * 8, "two classes or more; none has a label"),
        ([], "must have labels"),
        (None, "must have labels"),
    ],
)
def test_labels_that_teach_nothing_are_refused(labels, sentence):
    texts = TREES if labels is None else TREES[: len(labels)]
    with pytest.raises(ValueError, match=sentence):
        prepare_dataset(Texts(texts, labels), None, DocumentVectorizer())


def test_one_label_of_several_may_be_all_there_are():
    assert list_names([("ash",), ()]) == ["ash"]


def test_what_is_held_out_is_stratified(rng):
    texts, labels = TREES * 10, KINDS * 10
    found = prepare_texts(texts, labels, hold_out=0.25, seed=0)
    assert Counter(found.test.y.tolist()) == {"ash": 10, "oak": 10}
    assert (len(found.train), len(found.test)) == (60, 20)
    assert sorted(found.train.given + found.test.given) == sorted(texts)
    assert found.counts == [30, 30]
    again = prepare_texts(texts, labels, hold_out=0.25, seed=0)
    other = prepare_texts(texts, labels, hold_out=0.25, seed=1)
    assert again.test.given == found.test.given != other.test.given


def test_the_words_of_what_is_held_out_are_not_learned():
    found = prepare_texts([*TREES[:4], *TREES[4:]], hold_out=0.25, seed=0)
    words = set(found.feature_names)
    expected = DocumentVectorizer().fit(found.train.given).get_feature_names_out()
    assert words == set(expected)
    X = found.vectorizer.transform(found.test.given)
    np.testing.assert_array_equal(found.test.X.toarray(), X.toarray())


@pytest.mark.parametrize(
    ("labels", "hold_out", "n_held"),
    [
        (["yew", *KINDS[1:]], 0.25, (1, 2)),  # one document of a class
        (KINDS, 0.1, (1, 1)),  # fewer to hold out than classes
        (KINDS, 0.99, (6, 6)),  # fewer to train on than classes
        (list("aabbccdd"), 0.4, (1, 3)),
        (TAGS, 0.25, (1, 2)),
        (TAGS, 0.8, (3, 6)),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_every_class_has_a_document_to_train_on(labels, hold_out, n_held, seed):
    found = prepare_texts(labels=labels, hold_out=hold_out, seed=seed)
    assert len(found.train) + len(found.test) == 8
    assert n_held[0] <= len(found.test) <= n_held[1]
    assert found.names == list_names(labels)
    assert min(found.counts) > 0
    y = found.train.y
    counts = y.sum(axis=0).A1 if found.is_multilabel else [np.sum(y == k) for k in found.names]
    assert found.counts == list(counts)


def test_the_only_documents_of_their_classes_are_not_held_out():
    with pytest.raises(ValueError, match="Nothing can be held out: every document is the only"):
        prepare_texts(TREES[3:5], KINDS[3:5], hold_out=0.5)


@pytest.mark.parametrize("hold_out", [1.0, 1.5, -0.5])
def test_a_share_must_be_between_zero_and_one(hold_out):
    with pytest.raises(ValueError, match="hold_out must be a share between 0 and 1"):
        prepare_texts(hold_out=hold_out)


def test_documents_to_test_on_are_used_and_nothing_is_held_out():
    found = prepare_texts(test=Texts(TREES[2:5], KINDS[2:5]), hold_out=0.5)
    assert (len(found.train), len(found.test)) == (8, 3)
    assert found.test.y.tolist() == KINDS[2:5]


def test_labels_to_test_on_that_are_not_known_are_counted():
    found = prepare_texts(test=Texts(["elm"] * 4, ["elm", "yew", "oak", "elm"]))
    assert found.test.y.tolist() == ["elm", "yew", "oak", "elm"]
    assert found.test.n_unknown.tolist() == [1, 1, 0, 1]
    assert found.unknown == {"elm": 2, "yew": 1}
    assert describe_unknown(found.unknown).endswith(" count as errors: 'elm' (2), 'yew' (1)")
    many = Counter({f"label {k:02}": 1 for k in range(12)})
    assert describe_unknown(many).endswith("'label 09' (1) and 2 more")
    assert prepare_texts(test=Texts(["oak"], ["oak"])).unknown == {}


def test_tags_to_test_on_that_are_not_known_cannot_be_found():
    test = Texts(["oak", "elm", "ash"], [("oak", "elm", "elm"), ("elm", "fir"), ("ash",)])
    found = prepare_texts(labels=TAGS, test=test)
    assert found.test.y.toarray().tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]
    assert found.test.n_unknown.tolist() == [1, 2, 0]
    assert found.unknown == {"elm": 2, "fir": 1}


def test_documents_to_test_on_must_be_like_those_to_train_on(rng):
    with pytest.raises(ValueError, match="one label each, or several each, like the training"):
        prepare_texts(test=Texts(["oak"], [("oak",)]))
    with pytest.raises(ValueError, match="texts or vectors, like the training documents"):
        prepare_texts(test=make_vectors(rng))
    vectors = make_vectors(rng)
    with pytest.raises(ValueError, match="must have the 5 features of the training documents"):
        prepare_vectors(vectors, replace(vectors, X=vectors.X[:, :4]))
    with pytest.raises(ValueError, match="must have labels"):
        prepare_texts(test=Texts(["oak"], None))


def test_sparse_vectors_are_brought_to_length_one(rng):
    vectors, test = make_vectors(rng), make_vectors(rng, n=6)
    found = prepare_vectors(vectors, test)
    np.testing.assert_allclose(found.train.X.toarray(), normalize(vectors.X).toarray())
    np.testing.assert_allclose(found.test.X.toarray(), normalize(test.X).toarray())
    assert found.train.given is vectors.X
    assert found.unit == "features"
    assert found.feature_names.tolist() == ["0", "1", "2", "3", "4"]
    assert (found.vectorizer, found.scaler) == (None, None)


def test_columns_of_a_dense_table_are_brought_to_one_scale(rng):
    vectors = replace(make_vectors(rng, is_sparse=False), feature_names=tuple("abcde"))
    test = make_vectors(rng, n=6, is_sparse=False)
    found = prepare_vectors(vectors, test)
    np.testing.assert_allclose(found.train.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found.train.X.std(axis=0), 1)
    scaled = (test.X - vectors.X.mean(axis=0)) / vectors.X.std(axis=0)
    np.testing.assert_allclose(found.test.X, scaled)
    assert found.feature_names.tolist() == list("abcde")


def test_missing_values_are_refused_unless_they_are_to_be_shaped(rng):
    vectors = make_vectors(rng, is_sparse=False)
    vectors.X[3, 2] = np.nan
    with pytest.raises(
        ValueError, match="has missing values, which a linear SVM does not accept; shape"
    ):
        prepare_vectors(vectors)
    found = prepare_vectors(vectors, keep_values=True)
    assert found.train.X is vectors.X
    assert found.scaler is None


def test_values_are_kept_where_they_are_to_be_shaped(rng):
    vectors, test = make_vectors(rng), make_vectors(rng, n=6)
    found = prepare_vectors(vectors, test, keep_values=True)
    assert found.train.X is vectors.X
    assert found.test.X is test.X


def test_a_fingerprint_tells_documents_and_labels_apart(rng):
    first = prepare_texts().fingerprint
    assert first == prepare_texts().fingerprint == prepare_texts(hold_out=0.25, seed=1).fingerprint
    others = [
        prepare_texts([*TREES[:-1], TREES[-1] + " "]),
        prepare_texts(labels=[*KINDS[:4], "ash", *KINDS[5:]]),
        prepare_texts(TREES[::-1], KINDS[::-1]),
        prepare_texts(labels=TAGS),
        prepare_texts(labels=[*TAGS[:-1], ("oak",)]),
    ]
    vectors = make_vectors(rng)
    changed = vectors.X.copy()
    changed.data[0] += 1
    others += [
        prepare_vectors(vectors),
        prepare_vectors(replace(vectors, X=changed)),
        prepare_vectors(replace(vectors, labels=["yew", *vectors.labels[1:]])),
    ]
    assert len({first, *(other.fingerprint for other in others)}) == 9
