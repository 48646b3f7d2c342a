"""Quoted values stay short."""

from __future__ import annotations

from spokeshave.corpus.wording import quote, quote_all


def test_long_value_is_cut():
    assert quote("x" * 1000) == "'" + "x" * 60 + "...'"


def test_many_values_are_counted():
    assert quote_all([str(number) for number in range(12)]).endswith("'8', '9' and 2 more")
