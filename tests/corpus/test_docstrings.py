from __future__ import annotations

import re
from collections import Counter

import pytest

from spokeshave import CorpusError
from spokeshave.corpus import load_embedded
from spokeshave.corpus.docstrings import PACKAGES


@pytest.fixture(scope="module")
def corpus():
    return load_embedded()


def test_there_are_thousands_of_documents_in_many_classes(corpus):
    sizes = Counter(corpus.labels)
    assert len(corpus) == len(corpus.labels) > 3000
    assert len(sizes) >= 10
    assert min(sizes.values()) >= 20
    assert set(sizes) <= set(PACKAGES)


def test_no_document_stands_twice_or_is_empty(corpus):
    # Two may come to be alike once their names are gone, but hardly ever.
    assert len(set(corpus.texts)) > 0.99 * len(corpus)
    assert all(text.strip() for text in corpus.texts)


def test_no_word_names_a_label(corpus):
    names = {word for package in PACKAGES for word in re.findall(r"[^\W_]+", package)}
    for text in corpus.texts:
        assert not names & set(re.findall(r"[^\W_]+", text.lower()))


def test_it_is_the_same_every_time():
    assert load_embedded(["json", "logging"]) == load_embedded(["json", "logging"])


def test_a_package_that_is_missing_has_no_documents():
    with_missing = load_embedded(["json", "a_package_that_is_missing"])
    assert set(with_missing.labels) == {"json"}
    with pytest.raises(CorpusError, match="none of these packages has docstrings here"):
        load_embedded(["a_package_that_is_missing"])
