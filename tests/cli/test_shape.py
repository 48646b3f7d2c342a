"""``spokeshave shape``: tables and texts, shaped, compared and written."""

from __future__ import annotations

import json
import os
from random import Random

import pytest

from spokeshave import load_model
from spokeshave.jobs.record import read_record


@pytest.fixture(scope="module")
def plants(tmp_path_factory):
    """Return a table with missing values, in which the age tells nothing."""
    rng = Random(0)
    lines = ["@relation plants", "@attribute height numeric", "@attribute soil {clay,peat,sand}"]
    lines += ["@attribute age numeric", "@attribute kind {ash,oak,yew}", "@data"]
    for number in range(90):
        kind = number % 3
        height = "?" if number % 17 == 0 else f"{rng.gauss(10 * kind, 3):.2f}"
        soil = rng.choice(["clay", "peat", "sand", "clay"][kind : kind + 2])
        lines.append(f"{height},{soil},{rng.uniform(0, 9):.1f},{('ash', 'oak', 'yew')[kind]}")
    path = tmp_path_factory.mktemp("plants") / "plants.arff"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture(scope="module")
def runs(call, plants, trees, write_folders, tmp_path_factory):
    """Return the results for a table and for folders of texts."""
    folders = {name: tmp_path_factory.mktemp("work") for name in ("table", "texts")}
    source, more = (tmp_path_factory.mktemp("sources") / name for name in ("trees", "more"))
    write_folders(source, trees.texts, trees.kinds)
    write_folders(more, trees.more_texts, trees.more_kinds)
    done = {
        "table": call("shape", plants, folder=folders["table"], has_report=False),
        "texts": call(
            *("shape", source, "--json", "--test", more, "--out", "."),
            folder=folders["texts"],
            has_report=False,
        ),
    }
    return {name: (done[name], folders[name]) for name in folders}


def test_a_table_is_shaped_and_written(runs, call, plants):
    done, folder = runs["table"]
    assert done.code == 0, done.err
    assert done.err.startswith("note: plants.arff: the label is attribute 'kind', the last\n")
    names = [f"plants-shaped.{end}" for end in ("model", "run.json")]
    assert sorted(os.listdir(folder)) == names
    record = read_record(folder / "plants-shaped.run.json")
    assert done.out.splitlines()[0] == record.headline
    assert record.headline.startswith("5 features shaped: macro-F1 .")
    assert record.full_model is None  # where values are missing there is nothing else
    assert record.model.judgement.macro_f1 > 0.5
    assert record.shapes[0].feature == "height"
    assert any(line.split()[:2] == ["oak", "height"] for line in done.out.splitlines())
    assert "height" in load_model(folder / "plants-shaped.model").feature_names_
    tried = call("predict", "plants-shaped.model", plants, "--quiet", folder=folder)
    rows = [line.split(",") for line in tried.out.splitlines()]
    assert rows[0] == ["row", "predicted_label"]
    assert [row[0] for row in rows[1:]] == [str(number) for number in range(1, 91)]
    right = [row[1] == ("ash", "oak", "yew")[number % 3] for number, row in enumerate(rows[1:])]
    assert sum(right) > 50


def test_texts_are_shaped_and_judged_on_others(runs, trees):
    done, folder = runs["texts"]
    assert done.code == 0, done.err
    assert sorted(os.listdir(folder)) == ["trees-shaped.model", "trees-shaped.run.json"]
    found = json.loads(done.out)
    assert (found["data"]["source"], found["data"]["test_source"]) == ("trees", "more")
    for model in ("model", "full_model"):
        assert found[model]["judgement"]["n_documents"] == 60
        assert found[model]["judgement"]["macro_f1"] > 0.8
    model = load_model(folder / "trees-shaped.model")
    accuracy = (model.predict(trees.more_texts) == trees.more_kinds).mean()
    assert accuracy == pytest.approx(found["model"]["judgement"]["accuracy"])
