"""Malformed rows are raised or counted."""

from __future__ import annotations

import pytest

from spokeshave.corpus.bad_rows import BadRows, quote, quote_all
from spokeshave.errors import CorpusError


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
    with pytest.raises(CorpusError, match=r"no documents in it; all its 2 rows are malformed$"):
        bad_rows.require_documents(0)


def test_unknown_policy():
    with pytest.raises(ValueError, match=r"^bad_rows must be 'raise' or 'skip'. Got 'ignore' ins"):
        BadRows("x.csv", "ignore")


def test_long_value_is_cut():
    assert quote("x" * 1000) == "'" + "x" * 60 + "...'"


def test_many_values_are_counted():
    assert quote_all([str(number) for number in range(12)]).endswith("'8', '9' and 2 more")
