"""What is asked for of a source, and what is made of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spokeshave.corpus import Split, Texts, Vectors
from spokeshave.corpus.loaders import LOADERS
from spokeshave.corpus.orders import Delivery, Order

OPTIONS = {
    "text": "body",
    "label": "queue",
    "label_separator": "|",
    "encoding": "latin-1",
    "under": "train",
    "n_features": 7,
}
TABLE = {"text", "label", "label_separator", "encoding"}
USED = {
    "csv": TABLE,
    "tsv": TABLE,
    "jsonl": TABLE,
    "parquet": TABLE - {"encoding"},
    "svmlight": {"n_features"},
    "arff": {"label", "encoding", "n_features"},
    "folders": {"encoding", "under"},
    "reuters": set(),
}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("format", LOADERS)
def test_options_that_a_format_has_no_use_for(format, option):
    order = Order(Path("x"), format, **{option: OPTIONS[option]})
    if option in USED[format]:
        order.check()
        return
    with pytest.raises(ValueError, match=f"^{option} must be left out for {format}. Got "):
        order.check()


@pytest.mark.parametrize(("label", "is_multilabel"), [("a", False), (("a",), True), ((), True)])
def test_several_labels(label, is_multilabel):
    texts = Texts(["one"], [label])
    for documents in (texts, Split(texts, texts), Vectors(np.ones((1, 1)), [label], None)):
        assert Delivery(documents, [], [], "utf-8").is_multilabel == is_multilabel


def test_no_labels():
    assert not Delivery(Texts(["one"], None), [], [], "utf-8").is_multilabel
