"""The demo's page, from a result made up."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO, TextIOWrapper

import pytest
from rich.console import Console

from spokeshave.cli.demo_page import CHOOSING, show
from spokeshave.cli.demo_result import ChoiceResult, CurveResult, DemoResult, ModelResult

RESULT = DemoResult(
    n_train=750,
    n_test=250,
    n_classes=2,
    n_features=2000,
    words_per_document=12.3,
    n_support=600,
    relative_gap=0.0009,
    curve=CurveResult(
        n_folds=5,
        fractions=[0.1, 0.5, 1.0],
        mean_words=[100.2, 501.0, 1002.0],
        macro_best_f1=[0.8, 0.86, 0.865],
        standard_errors=[0.01, 0.005, 0.006],
        seconds=1.25,
        fit_seconds=1.0,
    ),
    choice=ChoiceResult(
        index=1,
        fraction=0.5,
        mean_words=501.0,
        value=0.86,
        standard_error=0.005,
        best_index=2,
        best_fraction=1.0,
        best_value=0.865,
        evaluated_on="cross-validation",
    ),
    full=ModelResult(accuracy=0.9, macro_f1=0.88, n_features=1900, n_weights=2400),
    shaved=ModelResult(accuracy=0.902, macro_f1=0.875, n_features=1140, n_weights=1200),
    seconds={"training on all words": 0.25, CHOOSING: 1.75},
    strongest_words={"email": ["header", "rfc"], "logging": ["logger", "handler"]},
)


def print_page(result, encoding="utf-8", width=80):
    written = BytesIO()
    file = TextIOWrapper(written, encoding=encoding)
    show(result, Console(file=file, width=width))
    file.flush()
    return written.getvalue().decode(encoding)


def list_cells(page):
    return [line.split() for line in page.splitlines()]


def test_the_choice_is_one_sentence():
    assert (
        "The smallest cut within one standard error of the best keeps 501 of 1,002 words per class "
        "on average (50%): macro best F1 0.860 ± 0.005 in cross-validation, best 0.865 at 100%"
    ) in " ".join(print_page(RESULT).split())


def test_models_are_compared():
    cells = list_cells(print_page(RESULT))
    assert ["all", "words", "0.900", "0.880", "1,900", "2,400"] in cells
    assert ["shaved", "to", "50%", "0.902", "0.875", "1,140", "1,200"] in cells
    assert ["difference", "+0.002", "-0.005", "-40%", "-50%"] in cells


def test_times_say_what_the_curve_cost():
    cells = list_cells(print_page(RESULT))
    first = cells.index([*CHOOSING.split(), "1.75"])
    assert cells[first + 1 : first + 4] == [
        ["fits", "of", "5", "folds", "1.00"],
        ["3", "cuts", "of", "2", "classes", "in", "each", "0.25"],
        ["final", "model", "0.50"],
    ]


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_a_page_can_be_written_in_any_encoding(encoding):
    page = print_page(RESULT, encoding)
    assert page.isascii() == (encoding != "utf-8")
    assert ("0.8600 +- 0.0050" in page) == (encoding != "utf-8")


@pytest.mark.parametrize("width", [70, 80, 132])
def test_no_line_is_longer_than_the_terminal(width):
    assert max(map(len, print_page(RESULT, width=width).splitlines())) <= width


def test_the_best_cut_may_be_the_one_chosen():
    choice = replace(RESULT.choice, index=2, fraction=1.0, mean_words=1002.0, value=0.865)
    page = print_page(replace(RESULT, choice=choice))
    assert "← chosen, best" in page
    assert "shaved to 100%" in page
