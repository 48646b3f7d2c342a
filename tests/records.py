"""Records of runs that never were, for tests of what reads them."""

from __future__ import annotations

from dataclasses import replace
from math import exp, sqrt
from random import Random

from spokeshave.jobs.record import (
    ChoiceRecord,
    ClassRecord,
    CurveRecord,
    CutsRecord,
    Data,
    EdgeRecord,
    EvaluationRecord,
    Making,
    MeasureRecord,
    ModelRecord,
    RunRecord,
    ShapeRecord,
    StabilityRecord,
    TrialRecord,
    WordRecord,
    WordsRecord,
)

FRACTIONS = [0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.0]
METHODS = ("mask", "sv_set", "exact", "warm", "rfe")
MEASURES = {"auc": 0.97, "best_f1": 0.87, "f1": 0.85, "accuracy": 0.98, "precision_at_20": 0.93}
SYLLABLES = ("ash", "bar", "el", "fir", "ha", "lin", "ma", "ne", "oak", "ro", "sor", "tan", "yew")
N_RANKED = 4_000
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def make_record(
    n_classes=4, n_methods=2, *, fractions=FRACTIONS, n_words=20, n_edges=10, seed=0, names=None
):
    """Return the record of a run that has everything."""
    rng = Random(seed)
    names = names or [f"class {number}" for number in range(n_classes)]
    scored = names[1:] if len(names) == 2 else names
    curves = [make_curve(method, scored, fractions, rng) for method in METHODS[:n_methods]]
    cuts = make_cuts(fractions, len(scored))
    choice = make_choice(curves[0])
    return RunRecord(
        title="Which tree is it?",
        headline=write_headline(cuts, choice),
        making=make_making(),
        data=make_data(),
        settings={"loss": "hinge", "C": "1", "ranked by": "normal", "folds": "5"},
        classes=[ClassRecord(name, 20 + rng.randrange(3_000)) for name in names],
        trials=make_trials(rng),
        curves=curves,
        cuts=cuts,
        choice=choice,
        words=[make_words(name, curves[0], rng, n_words, n_edges) for name in scored],
        model=make_model("retrained on the features kept", 0.879, cuts, choice.index, names),
        full_model=make_model("trained on all features", 0.881, cuts, len(fractions) - 1, names),
        shapes=make_shapes(names, rng),
        stability=make_stability(scored, fractions, rng),
    )


def write_headline(cuts, choice):
    kept, weights = cuts.n_features, cuts.n_weights
    best = f"best {choice.best_value:.3f} at {kept[choice.best_index]:,}"
    return (
        f"{kept[choice.index]:,} of 51,880 words ({kept[choice.index] / 51_880:.1%}, "
        f"{weights[choice.index] / weights[-1]:.1%} of the weights): macro best F1 "
        f"{choice.value:.3f} ± {choice.error:.3f}, {best}; "
        f"model {cuts.n_bytes[choice.index] / 1000:.0f} KB"
    ).replace(" 0.", " .")


def make_bare_record(**changes):
    """Return the record of a run that knows nothing but its data and its model."""
    record = RunRecord(
        title="Bare",
        headline="Nothing is known.",
        making=Making("", "", {}, {}, None),
        data=replace(make_data(), test_source=None, n_test=None),
        settings={},
        classes=[],
        curves=[],
        cuts=None,
        choice=None,
        words=[],
        model=ModelRecord("mask", 4, 4, 1.5, None, None),
        full_model=None,
        shapes=[],
        stability=None,
    )
    return replace(record, **changes)


def make_making():
    return Making(
        command="spokeshave fit trees.csv --text leaf --label kind --methods mask,sv_set",
        finished="2007-06-01T12:30:00Z",
        seconds={"reading": 1.25, "training": 3.5, "choosing a cut": 9.75, "judging": 0.2},
        versions={"spokeshave": "0.1.0", "numpy": "2.0.0"},
        seed=0,
    )


def make_data():
    return Data(
        source="trees.csv",
        read="comma-separated, 2 columns: leaf, kind",
        fingerprint="9f2c41d07ab3",
        kind="labels",
        unit="words",
        n_documents=9_603,
        n_features=51_880,
        per_document=58.4,
        n_skipped=12,
        test_source="more-trees.csv",
        n_test=3_299,
    )


def make_curve(method, names, fractions, rng, n_folds=5):
    """Return a curve that rises steeply and is flat at the end, each method a little lower."""
    handicap = 0.01 * METHODS.index(method)
    ranked = [N_RANKED + 37 * number for number, _ in enumerate(names)]
    return CurveRecord(
        method=method,
        by="normal",
        evaluated_on="cross-validation",
        n_folds=n_folds,
        names=list(names),
        fractions=list(fractions),
        n_features=[[max(1, round(f * n)) for f in fractions] for n in ranked],
        measures={
            name: make_measure(top - handicap, len(names), fractions, rng, n_folds > 1)
            for name, top in MEASURES.items()
        },
        seconds=9.5,
        fit_seconds=4.5,
    )


def make_measure(top, n_classes, fractions, rng, has_folds=True):
    rises = [1 - 0.25 * exp(-30 * f) - 0.012 * (f - 0.4) ** 2 for f in fractions]
    tops = [min(0.999, top + 0.1 * (rng.random() - 0.6)) for _ in range(n_classes)]
    classes = [
        [min(1.0, height * rise + 0.004 * rng.random()) for rise in rises] for height in tops
    ]
    macro = [sum(column) / n_classes for column in zip(*classes, strict=True)]
    errors = [0.003 + 0.004 * (1 - sqrt(f)) for f in fractions]
    return MeasureRecord(
        macro=macro,
        micro=[value + 0.02 * (1 - value) for value in macro],
        macro_error=errors if has_folds else None,
        micro_error=errors if has_folds else None,
        classes=classes,
    )


def make_cuts(fractions, n_classes):
    kept = [round(51_880 * f**0.8) for f in fractions]
    return CutsRecord(
        n_features=kept,
        n_weights=[round(n_classes * 8_000 * f) for f in fractions],
        n_bytes=[4_000 + 12 * n_classes * round(8_000 * f) for f in fractions],
        per_document=[58.4 * f**0.3 for f in fractions],
    )


def make_choice(curve):
    """Return the smallest cut within one standard error of the best."""
    measured = curve.measures["best_f1"]
    best = max(range(len(measured.macro)), key=measured.macro.__getitem__)
    floor = measured.macro[best] - measured.macro_error[best]
    index = next(i for i, value in enumerate(measured.macro) if value >= floor)
    return ChoiceRecord(
        measure="best_f1",
        average="macro",
        rule="the smallest within one standard error of the best",
        index=index,
        value=measured.macro[index],
        error=measured.macro_error[index],
        best_index=best,
        best_value=measured.macro[best],
        evaluated_on="cross-validation",
    )


def make_trials(rng):
    """Return trials of two rounds; the last of them was chosen."""
    return [
        TrialRecord(
            terms=terms,
            weighting="sublinear",
            prior_strength=0.5,
            loss="squared_hinge",
            C=0.3,
            n_documents=n_documents,
            n_features=rng.randrange(1_000, 60_000),
            score=rng.random(),
            error=0.01 * rng.random(),
            seconds=9 * rng.random(),
            is_chosen=(n_documents, terms) == (9_000, "words, 1 to 2"),
        )
        for n_documents in (1_000, 9_000)
        for terms in ("words", "words, 1 to 2")
    ]


def make_words(name, curve, rng, n_words, n_edges):
    ranks = sorted(rng.sample(range(300), 2 * n_words))
    words = [WordRecord(make_word(rng), 2 * exp(-rank / 120), rank) for rank in ranks]
    return WordsRecord(
        name=name,
        positive=words[::2],
        negative=[replace(word, weight=-word.weight) for word in words[1::2]],
        edges=[
            EdgeRecord(
                [make_word(rng) for _ in range(n_edges)],
                [make_word(rng) for _ in range(n_edges if fraction < 1 else 0)],
            )
            for fraction in curve.fractions
        ],
    )


def make_word(rng):
    return "".join(rng.choices(SYLLABLES, k=rng.randint(2, 4)))


def make_model(made_by, macro_f1, cuts, cut, names):
    return ModelRecord(
        made_by=made_by,
        n_features=cuts.n_features[cut],
        n_weights=cuts.n_weights[cut],
        per_document=cuts.per_document[cut],
        n_bytes=cuts.n_bytes[cut],
        judgement=EvaluationRecord(
            judged_on="the test set",
            n_documents=3_299,
            accuracy=macro_f1 + 0.05,
            macro_f1=macro_f1,
            micro_f1=macro_f1 + 0.03,
            classes={name: macro_f1 - 0.001 * k for k, name in enumerate(names[:50])},
        ),
    )


def make_shapes(names, rng):
    return [shape for name in names[:3] for shape in make_shapes_of(name, rng)]


def make_shapes_of(name, rng):
    values = [1.0, 2.0, 3.0, 5.0, 8.0]
    sizes = [900, 400, 120, 40, 9]
    amount = ShapeRecord(
        class_name=name,
        feature=make_word(rng),
        is_nominal=False,
        values=list(values),
        images=[0.2 + 0.07 * value * rng.random() for value in values],
        sizes=sizes,
        positives=[size // 3 for size in sizes],
        zero=0.06,
        n_zero=8_000,
        weight=1.5,
    )
    colors = ["amber", "brown", "green"]
    nominal = ShapeRecord(
        name, "colour", True, list(colors), [0.1, 0.5, 0.3], [50, 70, 90], [5, 35, 27], 0.0, 0, 0.7
    )
    return [amount, nominal]


def make_stability(names, fractions, rng):
    floors = {"cosine": 0.9, "pearson": 0.85, "overlap": 0.6, "containment": 0.8}
    classes = {
        measure: [
            [floor + (1 - floor) * fraction - 0.02 * rng.random() for fraction in fractions]
            for _ in names
        ]
        for measure, floor in floors.items()
    }
    macro = {
        measure: [sum(column) / len(names) for column in zip(*rows, strict=True)]
        for measure, rows in classes.items()
    }
    return StabilityRecord(list(names), list(fractions), macro, classes)
