"""Records of runs: read as they were written, and refused in one sentence where damaged."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from math import inf, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from records import make_bare_record, make_record
from spokeshave.jobs.record import (
    ADDED,
    FORMAT,
    VERSION,
    Making,
    MeasureRecord,
    ShapeRecord,
    pack_record,
    read_record,
)

rounded = st.floats(-1e6, 1e6).map(lambda value: float(f"{value:.7g}"))
known = st.lists(rounded | st.none(), max_size=5)
measures = st.builds(
    MeasureRecord,
    macro=known,
    micro=known,
    macro_error=st.none() | known,
    micro_error=st.none() | known,
    classes=st.lists(known, max_size=3),
)
makings = st.builds(
    Making,
    command=st.text(),
    finished=st.text(),
    seconds=st.dictionaries(st.text(), rounded),
    versions=st.dictionaries(st.text(), st.text()),
    seed=st.none() | st.integers(),
)
shapes = st.builds(
    ShapeRecord,
    class_name=st.text(),
    feature=st.text(),
    is_nominal=st.booleans(),
    values=st.lists(rounded) | st.lists(st.text()),
    images=st.lists(rounded),
    sizes=st.lists(st.integers()),
    positives=st.lists(st.integers()),
    zero=rounded,
    n_zero=st.integers(),
    weight=rounded,
)


CURVE = replace(make_record(n_classes=3, n_methods=1).curves[0], fractions=[0.5, 1.0])


def pass_through(record, folder):
    """Return the record as it is after it was kept."""
    (folder / "run.json").write_bytes(pack_record(record))
    return read_record(folder / "run.json")


def round_numbers(value):
    """Return the value with numbers as they are kept."""
    if isinstance(value, dict):
        return {key: round_numbers(part) for key, part in value.items()}
    if isinstance(value, list):
        return [round_numbers(part) for part in value]
    return float(f"{value:.7g}") if isinstance(value, float) else value


def write_content(path, **changes):
    """Write a record with some of it changed; a change to None leaves the key out."""
    path.write_bytes(pack_record(make_record()))
    content = {**json.loads(path.read_bytes()), **changes}
    path.write_text(json.dumps({k: v for k, v in content.items() if v is not None}))


@pytest.mark.parametrize("make", [make_record, make_bare_record])
def test_what_was_written_is_read(tmp_path, make):
    kept = pass_through(make(), tmp_path)
    assert asdict(kept) == round_numbers(asdict(make()))
    assert pass_through(kept, tmp_path) == kept


@settings(deadline=None, max_examples=50)
@given(measured=measures, making=makings, shape=shapes)
def test_whatever_was_written_is_read(tmp_path_factory, measured, making, shape):
    curve = replace(CURVE, measures={"auc": measured})
    record = make_bare_record(making=making, shapes=[shape], curves=[curve])
    assert pass_through(record, tmp_path_factory.mktemp("kept")) == record


@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_what_is_not_finite_becomes_unknown(tmp_path, value):
    record = make_record(n_methods=1)
    curve = record.curves[0]
    measured = replace(curve.measures["auc"], macro=[value, 0.5], classes=[[value, 1.0]])
    record = replace(record, curves=[replace(curve, measures={"auc": measured})])
    read = pass_through(record, tmp_path).curves[0].measures["auc"]
    assert read.macro == [None, 0.5]
    assert read.classes == [[None, 1.0]]


def test_integers_are_read_as_numbers(tmp_path):
    data = asdict(make_record().data)
    write_content(tmp_path / "run.json", data={**data, "per_document": 58})
    per_document = read_record(tmp_path / "run.json").data.per_document
    assert per_document == 58
    assert isinstance(per_document, float)


@pytest.mark.parametrize("changes", [{"format": None}, {"format": "other"}, {"format": 1}])
def test_other_json_is_refused(tmp_path, changes):
    path = tmp_path / "run.json"
    write_content(path, **changes)
    assert_refused(path, "not a run record")


@pytest.mark.parametrize("text", ["[]", "3", "null", '"spokeshave run"', "{}"])
def test_json_that_is_no_record_is_refused(tmp_path, text):
    path = tmp_path / "run.json"
    path.write_text(text)
    assert_refused(path, "not a run record")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"words", b"\xff\xfe\x00", b"PK\x03\x04", b"[" * 99_999]
)
def test_what_is_not_json_is_refused(tmp_path, content):
    path = tmp_path / "run.json"
    path.write_bytes(content)
    assert_refused(path, "not a run record")


def test_a_newer_version_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "run.json"
    write_content(path, version=VERSION + 1)
    assert_refused(path, "upgrade Spokeshave")


@pytest.mark.parametrize("version", [0, -1, "1", 1.5, [1], None])
def test_a_version_that_is_none_is_refused(tmp_path, version):
    path = tmp_path / "run.json"
    write_content(path, version=version)
    assert_refused(path, "version")


def test_a_folder_and_a_missing_file_are_refused(tmp_path):
    assert_refused(tmp_path, "this is a folder")
    assert_refused(tmp_path / "nowhere.json", "there is no such file")


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"title": None}, "record must hold"),
        ({"surplus": 1}, "record must hold"),
        ({"title": 3}, "record.title"),
        ({"curves": {}}, "record.curves"),
        ({"curves": [{}]}, r"record.curves\[0\]"),
        ({"classes": [{"name": "oak", "n_documents": 1.5}]}, r"record.classes\[0\].n_documents"),
        ({"classes": [{"name": "oak", "n_documents": True}]}, r"record.classes\[0\].n_documents"),
        ({"settings": {"C": 1}}, "record.settings.C"),
        ({"model": []}, "record.model"),
        ({"cuts": {"n_features": [1]}}, "record.cuts"),
    ],
)
def test_damage_is_refused_and_placed(tmp_path, changes, where):
    path = tmp_path / "run.json"
    write_content(path, **changes)
    assert_refused(path, where)


@pytest.mark.parametrize("key", list(asdict(make_bare_record())))
def test_every_key_is_needed_but_those_added_since(tmp_path, key):
    path = tmp_path / "run.json"
    write_content(path, **{key: None})
    if key in ADDED:
        assert getattr(read_record(path), key) == []
    else:
        assert_refused(path, "damaged")


def assert_refused(path, why):
    """Assert that a file is refused in one sentence that names it."""
    with pytest.raises(ValueError, match=why) as caught:
        read_record(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert not re.search(r"Traceback|Error", message)


def test_a_record_says_what_it_is(tmp_path):
    (tmp_path / "run.json").write_bytes(pack_record(make_bare_record()))
    content = json.loads((tmp_path / "run.json").read_bytes())
    assert (content["format"], content["version"]) == (FORMAT, VERSION)


def test_broken_characters_do_not_stop_the_writing(tmp_path):
    assert pass_through(make_bare_record(title="\ud800"), tmp_path).title == "?"
