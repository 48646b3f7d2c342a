"""The page as a text: made from the record alone, whole, safe and small."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict, replace
from html.parser import HTMLParser
from math import inf, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from records import HOSTILE, make_bare_record, make_record
from spokeshave.jobs.record import pack_record, read_record
from spokeshave.report import page as module
from spokeshave.report import render_report
from spokeshave.report.page import (
    SCRIPTS,
    STYLES,
    bundle_javascript,
    embed_json,
    hash_script,
    name_curves,
)

MEGABYTE = 1_000_000
CURVE = make_record(n_classes=3, n_methods=1).curves[0]

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda parts: st.lists(parts) | st.dictionaries(st.text(), parts),
)


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text of scripts by id."""

    def __init__(self, page):
        super().__init__()
        self.found, self.scripts = [], {}
        self._is_script = None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        self._is_script = dict(attributes).get("id", "") if tag == "script" else None

    def handle_data(self, text):
        if self._is_script is not None:
            self.scripts[self._is_script] = self.scripts.get(self._is_script, "") + text

    def handle_endtag(self, tag):
        self._is_script = None


def make_hostile():
    record = make_record(names=[HOSTILE, "oak", "fir"])
    return replace(record, title=HOSTILE, headline=HOSTILE, settings={HOSTILE: HOSTILE})


def read_content(page):
    return json.loads(Elements(page).scripts["content"])


def test_the_same_record_gives_the_same_page():
    assert render_report(make_record()) == render_report(make_record())


def test_the_page_holds_the_record():
    record = make_record()
    held = read_content(render_report(record))["record"]
    assert held["words"][0]["positive"][0]["name"] == record.words[0].positive[0].name
    assert held.keys() == asdict(record).keys()
    assert held["curves"][0]["measures"]["auc"]["macro"] == pytest.approx(
        record.curves[0].measures["auc"].macro, rel=1e-5
    )


def test_a_record_that_was_kept_gives_the_same_page(tmp_path):
    file = tmp_path / "run.json"
    file.write_bytes(pack_record(make_record()))
    assert render_report(read_record(file)) == render_report(make_record())


def test_hostile_names_add_no_element():
    plain, hostile = (
        Elements(render_report(r)) for r in (make_record(n_classes=3), make_hostile())
    )
    assert [tag for tag, _ in hostile.found] == [tag for tag, _ in plain.found]
    assert json.loads(hostile.scripts["content"])["record"]["title"] == HOSTILE


def test_hostile_text_is_written_with_no_markup():
    page = render_report(make_hostile())
    assert HOSTILE not in page
    assert page.count("</script") == page.count("<script") == 3


def test_dollars_and_broken_characters_stay_as_they_are():
    page = render_report(make_bare_record(title="$title $5 ${policy}", headline="\ud800 odd"))
    assert "<h1>$title $5 ${policy}</h1>" in page
    assert "? odd" in page.encode().decode()


def test_nothing_is_loaded():
    page = render_report(make_record())
    loading = {"src", "href", "action", "srcset", "poster", "data"}
    links = [
        v for _, attributes in Elements(page).found for k, v in attributes.items() if k in loading
    ]
    assert links == ["data:,"]
    own = page.replace(bundle_javascript(), "")
    assert re.findall(r"https?://|url\(|@import", own) == []


def test_the_policy_lets_no_other_script_run():
    found = Elements(render_report(make_record())).found
    policy = next(a["content"] for tag, a in found if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.partition("style-src")[0]
    assert policy.count("sha256-") == 2


def test_the_program_never_writes_markup():
    page = render_report(make_bare_record()).replace(bundle_javascript(), "")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b", page)


def test_a_hundred_classes_fit_in_six_megabytes():
    page = render_report(make_record(n_classes=100, n_methods=3, n_words=20, n_edges=10))
    assert len(page.encode()) < 6 * MEGABYTE


def test_every_script_and_style_is_in_the_page():
    from importlib.resources import files

    for folder, names in (("scripts", SCRIPTS), ("styles", STYLES)):
        listed = {
            file.name.partition(".")[0]
            for file in files("spokeshave.report").joinpath(folder).iterdir()
        }
        assert listed == set(names)


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_a_missing_package_is_named_in_one_sentence(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "spokeshave.report.charts", raising=False)
    monkeypatch.setattr(module, "bundle_javascript", bundle_javascript.__wrapped__)
    with pytest.raises(ImportError, match=r"pip install 'spokeshave\[report\]'") as caught:
        render_report(make_bare_record())
    assert "\n" not in str(caught.value)


def test_the_library_can_stand_in_a_script_element():
    bundle = bundle_javascript()
    assert "</script" not in bundle.lower()
    assert "<!--" not in bundle
    assert "\r" not in bundle  # a browser would read it as another character than was hashed


def test_the_library_is_bundled_once(monkeypatch, tmp_path):
    assert bundle_javascript() is bundle_javascript()
    monkeypatch.setattr(module, "CACHE", tmp_path / "cache")
    made = []
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda code: made.append(code) or "größe")
    again = [bundle_javascript.__wrapped__() for _ in range(2)]
    assert again == ["größe"] * 2
    assert len(made) == 1


def test_the_library_is_bundled_where_nothing_can_be_kept(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setattr(module, "CACHE", tmp_path / "file" / "cache")
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda code: code)
    assert bundle_javascript.__wrapped__() == "window.vegaEmbed = vegaEmbed;"


@settings(deadline=None, max_examples=50)
@given(values)
def test_what_is_written_reads_back(value):
    assert json.loads(embed_json(value)) == value


@settings(deadline=None, max_examples=50)
@given(values)
def test_nothing_written_is_markup(value):
    assert not set(embed_json(value)) & set("<>&\u2028\u2029")


@pytest.mark.parametrize("unknown", [nan, inf, -inf])
def test_what_is_not_finite_is_not_known(unknown):
    assert embed_json({"values": [1.0, unknown]}) == '{"values":[1.0,null]}'


def test_numbers_have_no_more_digits_than_are_shown():
    assert embed_json([0.123456789, 123456789]) == "[0.1234568,123456789]"


def test_other_scripts_have_other_hashes():
    assert hash_script("a") != hash_script("b")
    assert hash_script("ä").startswith("'sha256-")


@pytest.mark.parametrize(
    ("ways", "names"),
    [
        ([], []),
        ([("mask", "normal")], ["mask"]),
        ([("mask", "normal"), ("sv_set", "normal")], ["mask", "sv set"]),
        (
            [("mask", "normal"), ("mask", "information_gain")],
            ["mask by normal", "mask by information gain"],
        ),
        ([("mask", "normal")] * 3, ["mask", "mask (2)", "mask (3)"]),
    ],
)
def test_a_name_says_what_tells_a_curve_from_others(ways, names):
    assert name_curves([replace(CURVE, method=method, by=by) for method, by in ways]) == names
