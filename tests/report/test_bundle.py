"""The JavaScript that draws: fit for a page, and made once."""

from __future__ import annotations

from spokeshave.report.bundle import bundle_javascript


def test_it_can_stand_in_a_script_element():
    bundle = bundle_javascript()
    assert "</script" not in bundle.lower()
    assert "<!--" not in bundle
    assert "\r" not in bundle  # a browser would read it as another character than was hashed


def test_it_is_made_once():
    assert bundle_javascript() is bundle_javascript()
