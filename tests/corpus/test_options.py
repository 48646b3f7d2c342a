"""Options that a format does not have are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from spokeshave.corpus.options import FORMATS, SourceOptions

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
@pytest.mark.parametrize("format", FORMATS)
def test_options_that_a_format_has_no_use_for(format, option):
    options = SourceOptions(Path("x"), format, **{option: OPTIONS[option]})
    if option in USED[format]:
        options.check()
        return
    with pytest.raises(ValueError, match=f"^{option} must be left out for {format}. Got "):
        options.check()
