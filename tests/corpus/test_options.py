"""Options that a format does not have are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from spokeshave.corpus.options import (
    FORMATS,
    MAX_PROBLEMS,
    SKIPPING,
    BadRows,
    SourceOptions,
    describe_skipped,
    quote,
    quote_all,
)
from spokeshave.errors import CorpusError

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


def test_raise_names_the_line():
    with pytest.raises(CorpusError) as error:
        BadRows("x.csv", "raise").report("the label is missing", 3)
    assert str(error.value) == "x.csv, line 3: the label is missing"


def test_raise_names_the_row():
    with pytest.raises(CorpusError) as error:
        BadRows("x.parquet", "raise", unit="row").report("the label is missing", 3)
    assert str(error.value) == "x.parquet: row 3: the label is missing"


def test_skip_counts():
    bad_rows = BadRows("x.csv", "skip")
    bad_rows.report("the label is missing", 3)
    bad_rows.report("the label is missing", 5)
    assert bad_rows.skipped == 2
    assert bad_rows.problems == {"the label is missing": 2}
    with pytest.raises(CorpusError, match=r"no documents in it; all its 2 rows are malformed$"):
        bad_rows.require_documents(0)


def test_problems_are_counted_by_kind_but_not_without_end():
    bad_rows = BadRows("x.csv", "skip")
    for number in range(1_000):
        bad_rows.report(f"the line has {number} bytes", number)
        bad_rows.report("the text is missing", number)
    assert bad_rows.skipped == 2_000
    assert len(bad_rows.problems) == MAX_PROBLEMS
    said = describe_skipped(bad_rows.skipped, bad_rows.problems, "x.csv")
    assert said.startswith("2,000 malformed rows were left out of x.csv: the text is missing (1,0")
    assert said.endswith("; other problems (991)")
    assert describe_skipped(3, {}, "x.csv") == "3 malformed rows were left out of x.csv"


def test_only_what_can_be_skipped_is_proposed_to_be():
    for can_skip, parameters in ((True, (SKIPPING,)), (False, ())):
        with pytest.raises(CorpusError) as error:
            BadRows("x.csv", "raise", can_skip=can_skip).report("the label is missing", 3)
        assert error.value.parameters == parameters


def test_unknown_policy():
    with pytest.raises(ValueError, match=r"^bad_rows must be 'raise' or 'skip'. Got 'ignore' ins"):
        BadRows("x.csv", "ignore")


def test_long_value_is_cut():
    assert quote("x" * 1000) == "'" + "x" * 60 + "...'"


def test_many_values_are_counted():
    assert quote_all([str(number) for number in range(12)]).endswith("'8', '9' and 2 more")
