"""Verdicts: claims judged from tables, and the table of them."""

from __future__ import annotations

import polars as pl
import pytest

from made_papers import CLAIMS
from papers.markdown import write_verdicts
from papers.verdicts import IN_PART, NOT_TRIED, REPRODUCED, Claim, Verdict, judge_claims


def make_tables(*names):
    return {f"{name}-powers": pl.DataFrame({"power": [9, 25]}) for name in names}


def test_every_claim_is_judged_by_its_tables():
    judged = judge_claims(CLAIMS, make_tables("table1", "figure1"))
    assert [claim for claim, _ in judged] == list(CLAIMS)
    assert [verdict.word for _, verdict in judged] == [IN_PART, REPRODUCED, NOT_TRIED]
    assert judged[0].verdict.figures == "2 powers: [9, 25]"
    assert judged[2].verdict.figures == "its machine is gone"


def test_a_claim_whose_table_is_not_there_is_not_judged():
    judged = judge_claims(CLAIMS, make_tables("table1"))
    assert judged[1].verdict == Verdict("not run", "needs the table figure1-powers")


def test_a_judge_that_is_wrong_is_not_hidden():
    claim = Claim("1", "x", lambda tables: tables["table1-powers"]["price"])
    with pytest.raises(pl.exceptions.ColumnNotFoundError):
        judge_claims([claim], make_tables("table1"))


def test_a_line_for_each_claim_and_the_number_of_each_word():
    text = write_verdicts(judge_claims(CLAIMS, make_tables("table1", "figure1")))
    assert text.splitlines() == [
        "| where | the paper says | verdict | what came out |",
        "| --- | --- | --- | --- |",
        "| Table 1 | squares are 9, 1 and 4 | in part | 2 powers: [9, 25] |",
        r"| Figure 1 | cubes grow | reproduced | the largest is 25 of \| x \| cubed |",
        "| 2 | it took a year | could not be tried | its machine is gone |",
        "",
        "3 claims: 1 in part, 1 reproduced, 1 could not be tried.",
    ]
