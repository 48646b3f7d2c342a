"""Tables with names, of pandas and of polars."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context

from spokeshave.shaping.frames import (
    UNSEEN,
    FrameEncoder,
    find_feature,
    find_nominal,
    is_frame,
    list_named,
)

JOBS = ["skilled", None, "manual", "skilled"]
NAMES = np.array(["age", "job", "owner"], object)


def make_pandas(job=JOBS, dtype="str"):
    owner = pd.array([True, False, None, True], "boolean")
    return pd.DataFrame(
        {"age": [67.0, 41.0, np.nan, 30.0], "job": pd.Series(job, dtype=dtype), "owner": owner}
    )


def make_polars(job=JOBS, dtype=pl.String):
    return pl.DataFrame(
        {
            "age": [67.0, 41.0, None, 30.0],
            "job": pl.Series(job, dtype=dtype),
            "owner": [True, False, None, True],
        }
    )


FRAMES = {
    "str": make_pandas(),
    "object": make_pandas(dtype=object),
    "string": make_pandas(dtype="string"),
    "category": make_pandas(dtype="category"),
    "not a number": make_pandas(["skilled", np.nan, "manual", "skilled"], object),
    "not available": make_pandas(["skilled", pd.NA, "manual", "skilled"], object),
    "polars": make_polars(),
    "polars categorical": make_polars(dtype=pl.Categorical),
    "polars enum": make_polars(dtype=pl.Enum(["skilled", "manual", "idle"])),
}
EVERY_FRAME = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())


@EVERY_FRAME
def test_columns_of_names_are_found(frame):
    assert is_frame(frame)
    assert list_named(frame) == [1, 2]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_of_numbers_hold_no_names(make):
    numbers = {"a": [1, 2], "b": [0.5, 1.5], "c": np.array([1, 2], np.uint8)}
    assert list_named(make(numbers)) == []


def test_arrays_are_no_frames():
    for X in (np.ones((2, 2)), [[1.0]], pd.Series([1.0])):
        assert not is_frame(X)


@EVERY_FRAME
def test_names_become_numbers(frame):
    encoder = FrameEncoder([1, 2]).fit(frame)
    expected = [[67, 2, 2], [41, np.nan, 1], [np.nan, 1, np.nan], [30, 2, 2]]
    np.testing.assert_array_equal(encoder.transform(frame), expected)
    assert encoder.decode(1, np.array([2.0, 1.0])).tolist() == ["skilled", "manual"]
    assert encoder.decode(2, np.array([1.0, 2.0])).tolist() == [False, True]


@EVERY_FRAME
def test_no_name_has_the_number_zero(frame):
    table = FrameEncoder([1, 2]).fit(frame).transform(frame)
    assert (table[:, 1:] != 0).all()
    assert np.nanmin(table[:, 1:]) == 1


@pytest.mark.parametrize("fitted", ["str", "category", "polars", "polars enum"])
@pytest.mark.parametrize("other", ["object", "polars categorical"])
def test_the_kind_of_frame_does_not_matter(fitted, other):
    encoder = FrameEncoder([1, 2]).fit(FRAMES[fitted])
    expected = encoder.transform(FRAMES[fitted])
    np.testing.assert_array_equal(encoder.transform(FRAMES[other]), expected)


@pytest.mark.parametrize("make", [make_pandas, make_polars])
def test_new_names_are_unseen(make):
    encoder = FrameEncoder([1, 2]).fit(make())
    table = encoder.transform(make(["skilled", "king", None, "manual"]))
    np.testing.assert_array_equal(table[:, 1], [2, UNSEEN, np.nan, 1])
    assert UNSEEN == -1


def test_whole_numbers_may_be_missing():
    for frame in (
        pd.DataFrame({"job": ["a", "b"], "n": pd.array([3, None], "Int64")}),
        pl.DataFrame({"job": ["a", "b"], "n": [3, None]}),
    ):
        table = FrameEncoder([0]).fit(frame).transform(frame)
        np.testing.assert_array_equal(table, [[1, 3], [2, np.nan]])


def test_a_frame_may_hold_names_only():
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["u", None]})
    table = FrameEncoder([0, 1]).fit(frame).transform(frame)
    np.testing.assert_array_equal(table, [[1, 1], [2, np.nan]])


def test_a_column_may_be_missing_altogether():
    frame = pd.DataFrame({"a": pd.Series([None, None], dtype=object)})
    encoder = FrameEncoder([0]).fit(frame)
    assert np.isnan(encoder.transform(frame)).all()
    other = pd.DataFrame({"a": ["x", None]})
    np.testing.assert_array_equal(encoder.transform(other), [[UNSEEN], [np.nan]])


def test_categories_may_be_numbers():
    frame = pd.DataFrame({"size": pd.Categorical([40, 38, None, 40])})
    encoder = FrameEncoder([0]).fit(frame)
    np.testing.assert_array_equal(encoder.transform(frame).ravel(), [2, 1, np.nan, 2])
    assert encoder.decode(0, np.array([2.0])).tolist() == [40]


COLUMN_NAMES = {
    "numbers": [0, 1, 2],
    "other numbers": [2, 0, 1],
    "repeated": ["a", "a", "a"],
    "of every kind": ["a", 0, ("b", 1)],
}


@pytest.mark.parametrize("names", COLUMN_NAMES.values(), ids=COLUMN_NAMES.keys())
def test_columns_may_be_named_in_any_way(names):
    frame, other = make_pandas(), make_pandas(["skilled", "king", None, "manual"])
    expected = FrameEncoder([1, 2]).fit(frame).transform(other)
    frame.columns = other.columns = names
    assert list_named(frame) == [1, 2]
    encoder = FrameEncoder(list_named(frame)).fit(frame)
    np.testing.assert_array_equal(encoder.transform(other), expected)
    assert encoder.decode(1, np.array([1.0])).tolist() == ["manual"]


@pytest.mark.parametrize("make", [make_pandas, make_polars])
def test_output_set_for_everyone_does_not_matter(make):
    expected = FrameEncoder([1, 2]).fit(make()).transform(make())
    for kind in ("pandas", "polars"):
        with config_context(transform_output=kind):
            table = FrameEncoder([1, 2]).fit(make()).transform(make())
        assert isinstance(table, np.ndarray)
        np.testing.assert_array_equal(table, expected)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_amounts_beyond_all_bounds_get_a_sentence(make):
    frame = make({"job": ["a", "b"], "wage": [1.0, np.inf]})
    encoder = FrameEncoder([0]).fit(frame)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        encoder.transform(frame)


def test_a_frame_is_not_changed():
    frame, before = make_pandas(), make_pandas()
    FrameEncoder([1, 2]).fit(frame).transform(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_an_encoder_can_be_pickled():
    encoder = pickle.loads(pickle.dumps(FrameEncoder([1, 2]).fit(FRAMES["str"])))
    assert encoder.transform(FRAMES["str"])[0].tolist() == [67, 2, 2]


@pytest.mark.parametrize(("feature", "number"), [("job", 1), (1, 1), (np.int32(2), 2)])
def test_features_are_found_by_number_or_name(feature, number):
    assert find_feature(feature, NAMES) == number


@pytest.mark.parametrize("feature", ["wage", 3, -1, None, 1.0])
def test_unknown_features_get_a_sentence(feature):
    sentence = f"feature must be a feature name or a number from 0 to 2. Got {feature!r} instead."
    with pytest.raises(ValueError, match=sentence):
        find_feature(feature, NAMES)


@pytest.mark.parametrize(
    ("nominal", "expected"),
    [
        ("auto", [False, True, False]),
        ([], [False, True, False]),
        ([0], [True, True, False]),
        (2, [False, True, True]),
        ("owner", [False, True, True]),
        (["owner", "age"], [True, True, True]),
        ([False, False, True], [False, True, True]),
        (np.array([True, False, False]), [True, True, False]),
    ],
)
def test_features_asked_for_are_nominal_and_those_of_names(nominal, expected):
    assert find_nominal(nominal, 3, NAMES, [1]).tolist() == expected


def test_features_without_names_have_scikit_learns():
    assert find_nominal(["x2"], 3, None, []).tolist() == [False, False, True]


def test_a_mask_must_have_an_entry_per_feature():
    with pytest.raises(
        ValueError, match=r"nominal must have 3 entries if it is a mask, .* Got 2 entr"
    ):
        find_nominal([True, False], 3, NAMES, [])
    with pytest.raises(ValueError, match=r"feature must be a feature name"):
        find_nominal(["wage"], 3, NAMES, [])
