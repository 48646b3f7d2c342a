"""Reports as their readers have them: opened in a browser, moved, sorted, searched."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from random import Random
from statistics import median

import pytest

from records import FRACTIONS, HOSTILE, make_bare_record, make_curve, make_record
from spokeshave.report import render_report

PHONE = (375, 740)
RIGHT, HOME, END, ENTER = "\ue014", "\ue011", "\ue010", "\ue007"
ROWS = "#class-rows tr:not([hidden])"
RULE = "#curve-chart .mark-rule.role-mark line"
PLACES = "#curve-chart .mark-symbol.role-mark path[opacity='0']"
UNKNOWN = re.compile(r"\bnull\b|\bNaN\b|\bundefined\b|\bInfinity\b|\[object")


def make_unknown(record):
    """Return the record with everything that may be unknown unknown, but curves that are not."""
    blank = {
        name: replace(
            measured,
            macro=[None] * len(measured.macro),
            micro=[float("nan")] * len(measured.micro),
            macro_error=None,
            micro_error=None,
            classes=[[None] * len(row) for row in measured.classes],
        )
        for name, measured in record.curves[0].measures.items()
    }
    return replace(
        record,
        curves=[replace(record.curves[0], measures=blank, n_folds=1)],
        cuts=None,
        choice=None,
        words=[],
        model=replace(record.model, n_bytes=None, judgement=None),
        full_model=None,
        shapes=[],
        stability=None,
    )


def make_uneven():
    """Return a record whose second curve has other cuts than the first, and fewer classes."""
    record = make_record()
    names = record.curves[0].names[:2]
    other = make_curve("exact", names, FRACTIONS[::3], Random(1), n_folds=1)
    return replace(record, curves=[record.curves[0], other])


RECORDS = {
    "full": make_record,
    "binary": lambda: make_record(names=["ash", "oak"]),
    "bare": make_bare_record,
    "classes without curves": lambda: make_bare_record(classes=make_record().classes),
    "unknown": lambda: make_unknown(make_record()),
    "uneven": make_uneven,
    "one cut": lambda: make_record(fractions=[1.0], n_methods=1),
    "small cuts": lambda: make_record(fractions=[0.0001, 0.001, 0.01, 0.1, 1.0]),
    "words without curves": lambda: replace(make_record(), curves=[], cuts=None, choice=None),
    "no shapes": lambda: replace(make_record(), shapes=[], stability=None, words=[]),
    "hostile": lambda: make_record(names=[HOSTILE, "oak", "constructor", "__proto__"]),
}

HIDDEN = {  # what the run does not know is left out
    "bare": {"quality", "curve", "classes", "words", "shapes", "stability", "trials"},
    "classes without curves": {"quality", "curve", "words", "shapes", "stability", "trials"},
    "unknown": {"words", "shapes", "stability"},
    "no shapes": {"words", "shapes", "stability"},
    "words without curves": {"quality", "curve"},
}


@lru_cache
def render(name):
    return render_report(RECORDS[name]())


@pytest.mark.parametrize("name", RECORDS)
def test_it_opens_with_no_error_no_request_and_nothing_unknown_shown(open_page, name):
    page = open_page(render(name))
    for cut in (0, len(FRACTIONS) - 1) if page.is_shown("#bar") else ():
        page.move(cut)
        assert not UNKNOWN.search(page.run("return document.body.innerText"))
    assert not UNKNOWN.search(page.run("return document.body.innerText"))
    assert page.list_errors() == []
    assert page.run("return performance.getEntriesByType('resource').map((e) => e.name)") == []
    assert list_hidden(page) == HIDDEN.get(name, set())
    assert page.is_shown("#bar") == ("curve" not in list_hidden(page))
    addresses = page.list_requests()
    assert [a for a in addresses if not a.startswith(("file:", "data:", "about:"))] == []
    assert len([a for a in addresses if a.startswith("file:")]) == 1


def list_hidden(page):
    script = "return [...document.querySelectorAll('main > section[hidden]')].map((e) => e.id)"
    return set(page.run(script))


def test_trials_are_listed_the_largest_round_and_the_best_first(open_page):
    page = open_page(render("full"))
    trials = RECORDS["full"]().trials
    page.run("document.querySelector('#trials details').open = true")
    best = max(trials[2:], key=lambda trial: trial.score)
    rows = page.list_texts("#trials-rows tr")
    assert len(rows) == len(trials)
    assert rows[0].startswith(best.terms)
    assert f"{best.score:.3f}".removeprefix("0") in rows[0]
    assert page.list_texts("#trials-rows tr.chosen th") == ["words, 1 to 2"]
    assert page.read("#trials-lead").startswith("4 trials by cross-validation on more and more ")


def test_what_is_not_known_of_a_curve_is_a_dash(open_page):
    page = open_page(render("unknown"))
    assert page.read(".tile .value") == "–"
    assert page.read("#sentence").endswith("macro best F1 –")
    assert page.list_texts(f"{ROWS}:first-child td")[3:5] == ["–", "–"]


def read_everything(page):
    """Return what follows the slider."""
    return {
        "sentence": page.read("#sentence"),
        "kept": page.read("#at"),
        "valuetext": page.find("#cut").get_attribute("aria-valuetext"),
        "tiles": page.read("#tiles"),
        "table": page.read("#class-rows"),
        "words": page.list_texts("#words .bars li.gone .name"),
        "edges": page.read("#edges"),
        "rule": page.find(RULE).get_attribute("transform"),
        "stability": page.find("#stability-chart .mark-rule.role-mark line").get_attribute(
            "transform"
        ),
        "address": page.run("return location.hash"),
    }


def assert_all_differ(before, after):
    assert {name for name in before if before[name] == after[name]} == set()


def test_arrow_keys_move_everything_together(open_page):
    page = open_page(render("full"))
    page.press("#cut", HOME)
    at_first = read_everything(page)
    page.press("#cut", RIGHT)
    at_second = read_everything(page)
    assert_all_differ(at_first, at_second)
    page.press("#cut", END)
    assert_all_differ(at_second, read_everything(page))
    assert page.list_errors() == []


def test_a_moved_slider_shows_the_numbers_of_its_cut(open_page):
    record = make_record()
    page = open_page(render("full"))
    cut = 3
    page.move(cut)
    measured = record.curves[0].measures["best_f1"]
    value, error = (f"{v:.3f}"[1:] for v in (measured.macro[cut], measured.macro_error[cut]))
    best = f"{max(measured.macro):.3f}"[1:]
    best_kept = record.cuts.n_features[measured.macro.index(max(measured.macro))]
    assert page.read("#sentence").startswith(
        f"{record.cuts.n_features[cut]:,} of 51,880 words (27.6%, 20.0% of the weights): "
        f"macro best F1 {value} ± {error}, best {best} at {best_kept:,}; model "
    )
    words = record.words[0]
    page.choose("#words-class", words.name)
    kept = record.curves[0].n_features[0][cut]
    gone = [word.name for word in words.positive + words.negative if word.rank >= kept]
    assert page.list_texts("#words .bars li.gone .name") == gone
    assert page.list_texts("#stay li") == words.edges[cut].stay
    assert page.list_texts("#go li") == words.edges[cut].go


def read_shown(text):
    """Return a number as it is shown; "=" is no difference."""
    text = text.replace("−", "-").replace("=", "0").replace(",", "")
    units = {"KB": 1e3, "MB": 1e6}
    number, _, unit = text.partition("\u00a0")
    return float(number.removesuffix("%")) * units.get(unit, 1)


def test_differences_are_those_of_the_figures_that_are_shown(open_page):
    page = open_page(render_report(make_record(n_classes=30)))
    last = len(FRACTIONS) - 1
    page.move(last)
    names = page.list_texts(f"{ROWS} td:nth-child(1)")
    of_all = dict(zip(names, read_column(page, 6), strict=True))
    page.move(3)
    names = page.list_texts(f"{ROWS} td:nth-child(1)")
    differences = [read_shown(text) for text in page.list_texts(f"{ROWS} td:nth-child(7)")]
    for name, value, difference in zip(names, read_column(page, 6), differences, strict=True):
        assert difference == pytest.approx(value - of_all[name], abs=1e-9)
    for tile in page.list_texts(".tile")[:2]:
        value, *others = re.findall(r"(?<!± )\.\d{3}", tile)
        assert len(others) == 4  # the best and all words, each with its difference
        for reference, difference in zip(others[::2], others[1::2], strict=True):
            assert float(difference) == pytest.approx(abs(float(value) - float(reference)))


def test_models_differ_by_what_is_shown(open_page):
    record = make_record()
    judgement = replace(record.model.judgement, accuracy=0.8716, macro_f1=0.7004, micro_f1=0.8)
    other = replace(judgement, accuracy=0.8684, macro_f1=0.6996, micro_f1=0.8004)
    costs = {"n_features": 1_000, "n_weights": 10_000, "per_document": 3.04, "n_bytes": 1_499}
    page = open_page(
        render_report(
            replace(
                record,
                model=replace(record.model, judgement=judgement, **costs),
                full_model=replace(
                    record.full_model,
                    judgement=other,
                    **costs | {"per_document": 3.06, "n_bytes": 1_500},
                ),
            )
        )
    )
    rows = [page.list_texts(f"#models-rows tr:nth-child({n}) > *") for n in range(1, 8)]
    assert [row[3] for row in rows] == ["+.004", "=", "=", "=", "=", "−3%", "−50%"]


def test_the_chosen_cut_is_where_it_opens_and_goes_back_to(open_page):
    page = open_page(render("full"))
    chosen = str(make_record().choice.index)
    assert page.find("#cut").get_attribute("value") == chosen
    assert page.read("#sentence").startswith(page.read("#headline").replace(" KB", "\u00a0KB"))
    assert "the chosen cut" in page.read("#sentence")
    assert not page.find("#back").is_enabled()
    page.move(0)
    assert "the chosen cut" not in page.read("#sentence")
    page.click("#back")
    assert page.find("#cut").get_attribute("value") == chosen
    assert "the chosen cut" in page.read("#sentence")


def test_a_class_is_chosen_in_the_table_for_chart_and_words(open_page):
    page = open_page(render("full"))
    curve, words = page.list_lines(), page.read("#positive")
    name = page.read(f"{ROWS}:nth-child(3) td")
    page.click(f"{ROWS}:nth-child(3) td:last-child")
    assert page.list_lines() != curve
    assert page.read("#positive") != words
    assert page.read("#positive-title") == f"For {name}"
    assert page.read("tr.selected td") == name
    for select in ("#class", "#stability-class", "#words-class"):
        assert page.list_texts(f"{select} option:checked") == [name]
    page.press("tr.selected button", ENTER)
    assert page.list_texts("tr.selected") == []
    assert page.list_lines() == curve


def test_each_choice_redraws_the_curve(open_page):
    page = open_page(render("full"))
    seen = [page.list_lines()]
    for select, choice in (
        ("#measure", "AUC"),
        ("#average", "micro"),
        ("#method", "sv set"),
        ("#class", "class 2"),
    ):
        page.choose(select, choice)
        assert page.list_lines() not in seen
        seen.append(page.list_lines())
    assert page.list_errors() == []


def read_column(page, column):
    texts = page.list_texts(f"{ROWS} td:nth-child({column})")
    return [float(text.replace("−", "-").replace(",", "")) for text in texts]


@pytest.mark.parametrize("how", ["click", "keyboard"])
def test_every_column_sorts_both_ways(open_page, how):
    page = open_page(render("full"))
    sort = page.click if how == "click" else lambda button: page.press(button, ENTER)
    for column in (3, 6):
        head = f"#class-head th:nth-child({column})"
        sort(f"{head} button")
        way = page.find(head).get_attribute("aria-sort")
        values = read_column(page, column)
        assert values == sorted(values, reverse=way == "descending")
        sort(f"{head} button")
        assert {way, page.find(head).get_attribute("aria-sort")} == {"ascending", "descending"}
        assert read_column(page, column) == values[::-1]
    assert len(page.list_texts("th[aria-sort='ascending'], th[aria-sort='descending']")) == 1


def test_names_sort_as_they_are_read(open_page):
    page = open_page(render_report(make_record(n_classes=12)))
    page.click("#class-head th button")
    assert page.list_texts(f"{ROWS} td:first-child") == [f"class {k}" for k in range(12)]


def test_the_order_follows_the_cut(open_page):
    page = open_page(render_report(make_record(n_classes=30)))
    page.click("#class-head th:nth-child(6) button")
    for cut in (0, 6):
        page.move(cut)
        values = read_column(page, 6)
        assert values == sorted(values, reverse=True)


def test_search_keeps_the_classes_that_have_the_letters(open_page):
    page = open_page(render_report(make_record(n_classes=30)))
    page.press("#search", "CLASS 1")
    names = page.list_texts(f"{ROWS} td:first-child")
    assert sorted(names) == sorted(f"class {k}" for k in [1, *range(10, 20)])
    assert page.read("#found") == "11 of 30 classes"
    page.press("#search", "x")
    assert page.list_texts(ROWS) == []


def test_a_click_on_a_point_moves_the_slider(open_page):
    from selenium.webdriver import ActionChains

    page = open_page(render("full"))
    place = page.driver.find_elements("css selector", PLACES)[0]
    page.run("arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })", place)
    page.wait()
    ActionChains(page.driver).move_to_element(place).click().perform()
    page.wait()
    assert page.find("#cut").get_attribute("value") == "0"
    assert page.is_shown("#tip")
    assert "1%" in page.read("#tip")


def test_an_address_opens_the_same_view(open_page):
    page = open_page(render("full"))
    page.choose("#measure", "AUC")
    page.choose("#method", "sv set")
    page.choose("#class", "class 2")
    page.move(5)
    before = read_everything(page)
    page = open_page(render("full"), address=before["address"])
    assert read_everything(page) == before


@pytest.mark.parametrize(
    "address", ["#cut=99&class=nobody&measure=x&method=y&average=z", "#curve", "#%"]
)
def test_an_address_that_asks_for_nothing_known_still_opens(open_page, address):
    page = open_page(render("full"), address=address)
    assert page.is_shown("#tiles")
    assert page.list_errors() == []


def test_hostile_names_stay_text(open_page):
    names = [HOSTILE, "<b>oak</b>", "&lt;fir&gt;"]
    record = make_record(names=names)
    hostile_word = replace(record.words[0].positive[0], name=HOSTILE)
    record = replace(
        record,
        title=HOSTILE,
        headline=HOSTILE,
        data=replace(record.data, source=HOSTILE, unit=HOSTILE),
        settings={HOSTILE: HOSTILE},
        words=[replace(each, positive=[hostile_word]) for each in record.words],
        curves=[replace(record.curves[0], method=HOSTILE), record.curves[1]],
        shapes=[
            replace(
                shape, feature=HOSTILE, values=[HOSTILE] * 3 if shape.is_nominal else shape.values
            )
            for shape in record.shapes
        ],
    )
    page = open_page(render_report(record))
    for name in names:
        page.choose("#class", name)
    page.choose("#class", HOSTILE)
    hover(page, "#curve-chart .mark-symbol.role-mark path[opacity='0']")
    assert HOSTILE in page.read("#tip")
    hover(page, "#shape-charts .mark-rect.role-mark path")
    assert HOSTILE in page.read("#tip")
    assert page.read("h1") == page.read("#headline") == page.driver.title == HOSTILE
    assert page.read("tr.selected td") == HOSTILE
    assert page.read("#positive .name") == HOSTILE
    assert page.list_texts("#class option")[1:] == names
    assert page.run("return document.querySelectorAll('img, b:not(#tip b), iframe').length") == 0
    assert page.run("return document.scripts.length") == 3
    assert page.list_errors() == []


def hover(page, selector):
    script = """
        const mark = document.querySelector(arguments[0]);
        mark.scrollIntoView({ block: "center", behavior: "instant" });
        const { x, y, width, height } = mark.getBoundingClientRect();
        const at = { clientX: x + width / 2, clientY: y + height / 2, bubbles: true };
        mark.dispatchEvent(new MouseEvent("mousemove", at));
        mark.dispatchEvent(new PointerEvent("pointermove", at));
    """
    page.run(script, selector)
    page.wait()


def test_no_other_script_runs_and_nothing_can_be_fetched(open_page):
    page = open_page(render("full"))
    page.run(
        "const script = document.createElement('script'); script.textContent = 'window.hit = 1';"
        "document.body.append(script)"
    )
    assert page.run("return window.hit") is None
    fetched = page.driver.execute_async_script(
        "const done = arguments[0]; fetch('data:,oak').then(() => done(true), () => done(false))"
    )
    assert fetched is False


def test_a_hundred_classes_do_not_freeze_the_page(open_page):
    page = open_page(render_report(make_record(n_classes=100, n_methods=3)))
    page.click("#class-head th:nth-child(6) button")  # so that rows change places as well
    script = """
        const done = arguments[0], slider = document.getElementById("cut"), took = [];
        const next = (resume) => requestAnimationFrame(() => setTimeout(resume));
        const frame = () => new Promise(next);
        (async () => {
          for (let cut = 0; cut <= slider.max; cut++) {
            await frame();
            const start = performance.now();
            slider.value = cut;
            slider.dispatchEvent(new Event("input"));
            await frame();
            took.push(performance.now() - start);
          }
          done(took);
        })();
    """
    took = page.driver.execute_async_script(script)
    assert len(took) == len(FRACTIONS)
    assert median(took) < 2000  # milliseconds: a quarter of a second on a free core is usual
    assert page.list_errors() == []


@pytest.mark.parametrize("name", ["full", "bare"])
def test_a_phone_needs_no_scrolling_sideways(open_page, name):
    page = open_page(render(name), size=PHONE)
    width, room = page.run("return [document.documentElement.scrollWidth, innerWidth]")
    assert width <= room == PHONE[0]


def test_long_names_do_not_widen_a_phone(open_page):
    names = [f"{letter * 90}" for letter in "abc"]
    record = make_record(names=names)
    record = replace(
        record,
        title="t" * 200,
        headline="h" * 300,
        making=replace(record.making, command="c" * 400, versions={"v" * 90: "9" * 90}),
        settings={"s" * 90: "x" * 90},
    )
    page = open_page(render_report(record), size=PHONE)
    page.choose("#class", names[1])
    assert page.run("return document.documentElement.scrollWidth") <= PHONE[0]


def test_the_bar_stays_in_reach(open_page):
    page = open_page(render("full"), size=PHONE)
    page.run("scrollTo({ top: 2500, behavior: 'instant' })")
    page.wait()
    assert page.run("return document.getElementById('cut').getBoundingClientRect().top") < 60


def test_dark_recolours_page_and_charts(open_page):
    page = open_page(render("full"))
    script = """
        const of = (selector, name) => getComputedStyle(document.querySelector(selector))[name];
        return [of("body", "backgroundColor"), of("body", "color"),
                of("#curve-chart .mark-line path", "stroke"),
                of("#curve-chart .role-axis-label text", "fill")];
    """
    light = page.run(script)
    page.prefer("dark")
    dark = page.run(script)
    assert all(a != b for a, b in zip(light, dark, strict=True))
    assert light[0] == "rgb(255, 255, 255)"


def test_keys_reach_every_control_and_focus_is_seen(open_page):
    page = open_page(render("full"))
    for selector in ("#cut", "#measure", "#class", "#class-head button", "#search", "summary"):
        page.find(selector).send_keys("")
        page.run("document.querySelector(arguments[0]).focus({ focusVisible: true })", selector)
        style = "return getComputedStyle(document.activeElement).outlineStyle"
        assert page.run(style) != "none"


def test_models_are_side_by_side(open_page):
    page = open_page(render("full"))
    rows = page.list_texts("#models-rows tr")
    assert rows[1] == "Macro-F1.879.881−.002"
    heads = ["Retrained on the features kept", "Trained on all features", "Difference"]
    assert page.list_texts("#models-head th")[1:] == heads
    page.click("summary")
    assert page.list_texts("#judged-rows tr:first-child td") == [".879", ".881", "−.002"]


def test_ranked_labels_have_rows_of_their_own(open_page):
    record = make_record()
    tops = {"1": 0.9, "3": 0.5}
    models = {
        name: replace(each, judgement=replace(each.judgement, precision_at_k=tops))
        for name in ("model", "full_model")
        for each in [getattr(record, name)]
    }
    page = open_page(render_report(replace(record, **models)))
    rows = page.list_texts("#models-rows tr")
    assert rows[3:5] == ["Precision at 1.900.900=", "Precision at 3.500.500="]


def test_shapes_follow_their_choices(open_page):
    page = open_page(render("full"))
    record = make_record()
    features = [s.feature for s in record.shapes if s.class_name == "class 0"]
    assert len(page.list_texts("#shape-charts figure")) == len(features)
    page.choose("#shape-feature", "colour")
    assert page.list_texts("#shape-charts figcaption") == ["colour weight .700"]
    assert "brown" in page.read("#shape-charts svg")
    page.choose("#shape-class", "class 1")
    assert len(page.list_texts("#shape-charts figure")) == len(features)
    assert page.list_errors() == []


def test_two_classes_have_one_curve_and_words_for_both(open_page):
    page = open_page(render("binary"))
    assert not page.is_shown("#average-label")
    assert not page.is_shown("#class-label")
    assert page.read("#positive-title") == "For oak"
    assert page.read("#negative-title") == "For ash"
    assert "): best F1 ." in page.read("#sentence")


def test_a_cut_chosen_on_the_test_set_is_said_to_be(open_page):
    record = make_record()
    record = replace(
        record,
        choice=replace(record.choice, evaluated_on="test set"),
        curves=[replace(record.curves[0], evaluated_on="test set", n_folds=1)],
    )
    page = open_page(render_report(record))
    assert page.read("#curve-note").startswith("Measured on the test set.")
    assert "optimistic" in page.read("#curve-note.warning")
