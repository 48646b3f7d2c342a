"""Options as they are typed, turned into settings."""

from __future__ import annotations

import pytest

from spokeshave import PAPER_FRACTIONS
from spokeshave.cli.options import AGAINST, ANALYZERS, CRITERIA, MEASURES, METHODS
from spokeshave.cli.settings import (
    NGRAMS,
    make_settings,
    parse_cost,
    parse_cuts,
    parse_sparsities,
    split_choices,
)
from spokeshave.curves.cuts import AGAINST as COUNTED
from spokeshave.curves.cuts import SPARSITIES
from spokeshave.curves.feature_curve import METHODS as TRACED
from spokeshave.jobs.settings import Settings
from spokeshave.metrics import LABEL_MEASURES
from spokeshave.metrics import MEASURES as MEASURED
from spokeshave.ranking.criteria import CRITERIA as RANKED
from spokeshave.selection.representation import make_default
from spokeshave.text.analyzers import ANALYZERS as ANALYZED


def test_options_left_out_are_the_settings_by_default():
    assert make_settings() == Settings()


@pytest.mark.parametrize(
    ("typed", "cuts"),
    [
        ("paper", PAPER_FRACTIONS),
        ("log", "log"),
        ("0.1,0.5,1", (0.1, 0.5, 1.0)),
        ("1", (1.0,)),
        ("1.0", (1.0,)),
        (" 0.5 , 1 ", (0.5, 1.0)),
        ("100,1000", (100, 1000)),
        ("1,2", (1, 2)),
        ("1e-3,1", (0.001, 1.0)),
    ],
)
def test_cuts(typed, cuts):
    found = parse_cuts(typed)
    assert found == cuts
    assert [type(cut) for cut in found] == [type(cut) for cut in cuts]


@pytest.mark.parametrize(
    "typed", ["0.1,x", "inf", "1,0", "5,0.5", "0.5;1", ",", "1,", "-0.5", "0x10", "²"]
)
def test_cuts_that_make_no_sense(typed):
    with pytest.raises(ValueError, match="--cuts must be 'paper', 'log', fractions"):
        parse_cuts(typed)


@pytest.mark.parametrize(
    ("typed", "cuts"),
    [("paper", SPARSITIES), ("2.5,20", (2.5, 20.0)), (" 7 ", (7.0,)), ("1e2,0.5", (100.0, 0.5))],
)
def test_cuts_against_sparsity(typed, cuts):
    assert parse_sparsities(typed) == cuts
    settings = make_settings(cuts=typed, against="sparsity")
    assert (settings.cuts, settings.against) == (cuts, "sparsity")


@pytest.mark.parametrize("typed", ["log", "0", "-1,2", "2;5", "", ",", "nan", "inf", "20,x"])
def test_sparsities_that_make_no_sense(typed):
    with pytest.raises(ValueError, match="--cuts must be positive numbers of nonzeros per documen"):
        make_settings(cuts=typed, against="sparsity")


def test_what_does_not_go_with_sparsity():
    with pytest.raises(ValueError, match="--against must be one of features, sparsity"):
        make_settings(against="df")
    with pytest.raises(ValueError, match="--against sparsity goes with every --method but rfe"):
        make_settings(against="sparsity", method="mask,rfe")


@pytest.mark.parametrize(("typed", "C"), [("auto", "auto"), ("0.5", 0.5), ("1e3", 1000.0)])
def test_the_cost(typed, C):
    assert parse_cost(typed) == C


def test_several_methods_are_each_taken_once():
    assert split_choices("--method", "warm, mask,warm", METHODS) == ("warm", "mask")


def test_every_choice_that_is_offered_is_one_that_there_is():
    assert set(MEASURES) == {*MEASURED, *LABEL_MEASURES}
    assert set(CRITERIA) == set(RANKED)
    assert set(METHODS) == set(TRACED)
    assert AGAINST == COUNTED


def test_analyzers_and_their_ngrams_are_those_of_a_search():
    assert ANALYZERS == ANALYZED
    for analyzer in ANALYZERS:
        default = make_default({"analyzer": analyzer}, is_text=True)
        assert NGRAMS.get(analyzer, (1, 1)) == default.ngram_range
