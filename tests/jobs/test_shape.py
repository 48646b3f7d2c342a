"""The job of shaping: its shapes are those of the estimator, and its model does what was judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, Normalizer, StandardScaler

from spokeshave import DocumentVectorizer, DualLinearSVC, ShapedSVC
from spokeshave.corpus import Texts, Vectors
from spokeshave.jobs.settings import Origin, Settings
from spokeshave.jobs.shape import MOST_SHAPES, list_shaping_steps, run_shaping
from spokeshave.utils.timing import Stopwatch

KINDS = ("ash", "oak", "yew")
NAMES = ("height", "girth", "age", "rain")
SETTINGS = Settings(n_jobs=1)


def make_table(n=90, *, has_missing=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    X[:, 0] += 3 * (np.arange(n) % 3)
    X[:, 1] -= 2 * (np.arange(n) % 3 == 1)
    if has_missing:
        X[::7, 0] = np.nan
    return Vectors(X, [KINDS[k % 3] for k in range(n)], NAMES)


def make_texts(n=90, seed=0):
    rng = np.random.default_rng(seed)
    own = {"ash": ["winged", "grey"], "oak": ["acorn", "lobed"], "yew": ["berry", "dark"]}
    kinds = [KINDS[k % 3] for k in range(n)]
    common = ["the", "of", "wind", "tree", "root"]
    texts = [" ".join([*rng.choice(common, 4), *rng.choice(own[kind], 2)]) for kind in kinds]
    return Texts(texts, kinds)


def make_estimator(norm=None, **options):
    return ShapedSVC(DualLinearSVC(random_state=0, **options), norm=norm, random_state=0)


@pytest.fixture(scope="module")
def finished():
    """Return a run on a table, and its steps."""
    watch = Stopwatch()
    origin = Origin("plants.arff", "arff", command="spokeshave shape plants.arff")
    return run_shaping(make_table(), settings=SETTINGS, origin=origin, stopwatch=watch), watch


def test_shapes_are_those_of_the_estimator(finished):
    record, table = finished[0].record, make_table()
    shaped = make_estimator(probability=True).fit(table.X, table.labels)
    assert len(record.shapes) == 12
    for number, shape in enumerate(record.shapes):
        k, j = KINDS.index(shape.class_name), NAMES.index(shape.feature)
        found = shaped.shape_of(j)
        assert k == number // 4
        assert not shape.is_nominal
        assert shape.values == found.values.tolist()
        np.testing.assert_allclose(shape.images, found.images[k])
        assert shape.sizes == found.sizes.tolist()
        assert shape.positives == found.positives[k].tolist()
        assert (shape.zero, shape.n_zero) == (pytest.approx(found.zero[k]), found.n_zero)
        assert shape.weight == pytest.approx(shaped.coef_[k, j])
    of_ash = [abs(shape.weight) for shape in record.shapes[:4]]
    assert of_ash == sorted(of_ash, reverse=True)


def test_the_model_predicts_as_the_estimator(finished):
    table, other = make_table(), make_table(30, seed=1)
    shaped = make_estimator(probability=True).fit(table.X, table.labels)
    model = finished[0].model
    np.testing.assert_allclose(
        model.decision_function(other.X), shaped.decision_function(other.X), atol=1e-4
    )
    np.testing.assert_allclose(
        model.predict_proba(other.X), shaped.predict_proba(other.X), atol=1e-4
    )
    assert model.feature_names_ == NAMES


def test_without_documents_to_test_on_both_are_judged_by_folds(finished):
    record, table = finished[0].record, make_table()
    plain = make_pipeline(StandardScaler(), DualLinearSVC(random_state=0))
    for model, estimator in ((record.model, make_estimator()), (record.full_model, plain)):
        found = cross_val_predict(estimator, table.X, table.labels, cv=StratifiedKFold(5))
        assert model.judgement.judged_on == "5-fold cross-validation"
        assert model.judgement.accuracy == pytest.approx(np.mean(found == table.labels))
        assert model.judgement.n_documents == 90


def test_the_record_tells_of_shapes_and_nothing_else(finished):
    found, watch = finished
    record = found.record
    assert (record.curves, record.words, record.cuts, record.choice) == ([], [], None, None)
    assert record.settings["method"] == "local probability, BNS, no norm"
    assert record.model.n_bytes == len(found.content)
    assert record.full_model.n_bytes is None
    assert record.headline == (
        f"4 features shaped: macro-F1 {record.model.judgement.macro_f1:.3f}, "
        f"{record.full_model.judgement.macro_f1:.3f} as they are, by 5-fold cross-validation; "
        f"model {len(found.content) / 1000:.0f} KB"
    ).replace(" 0.", " .")
    assert set(watch.seconds) <= set(list_shaping_steps())
    assert record.making.seconds == watch.seconds


def test_documents_to_test_on_judge_the_model_that_is_shipped():
    train, test = make_texts(), make_texts(30, 1)
    origin = Origin("trees.csv", test_source="more.csv")
    found = run_shaping(train, test, settings=SETTINGS, origin=origin)
    right = found.model.predict(test.texts) == test.labels
    judgement = found.record.model.judgement
    assert (judgement.judged_on, judgement.n_documents) == ("more.csv", 30)
    assert judgement.accuracy == pytest.approx(right.mean())
    counts = DocumentVectorizer(weighting="counts", norm=None, min_df=2)
    plain = make_pipeline(clone(counts), Binarizer(), Normalizer(), DualLinearSVC(random_state=0))
    expected = plain.fit(train.texts, train.labels).predict(test.texts) == test.labels
    assert found.record.full_model.judgement.accuracy == pytest.approx(expected.mean())
    assert {shape.feature for shape in found.record.shapes} <= set(found.model.feature_names_)
    assert found.record.settings["method"] == "local probability, BNS, L2"  # on text
    plain_weights = np.count_nonzero(plain[-1].coef_)
    assert found.record.full_model.n_weights == plain_weights


def test_missing_values_are_shaped_and_there_is_nothing_to_compare_with():
    record = run_shaping(make_table(has_missing=True), settings=SETTINGS).record
    assert record.full_model is None
    assert record.model.judgement.macro_f1 > 0.5
    assert "as they are" not in record.headline


def test_sparse_vectors_are_shaped():
    table = make_table()
    X = sparse.csr_matrix(np.abs(table.X) * (np.abs(table.X) > 0.5))
    found = run_shaping(Vectors(X, table.labels, None), settings=SETTINGS)
    shaped = make_estimator("l2", probability=True).fit(X, table.labels)
    np.testing.assert_allclose(
        found.model.decision_function(X), shaped.decision_function(X), atol=1e-4
    )
    assert found.record.full_model.judgement is not None
    assert any(shape.n_zero for shape in found.record.shapes)


def test_several_labels_are_shaped():
    texts = make_texts()
    tags = [(kind, "tree") if number % 2 else (kind,) for number, kind in enumerate(texts.labels)]
    found = run_shaping(Texts(texts.texts, tags), settings=SETTINGS)
    assert found.model.multilabel_
    assert found.model.classes_.tolist() == ["ash", "oak", "tree", "yew"]
    assert found.record.data.kind == "multilabel"
    assert {shape.class_name for shape in found.record.shapes} == {"ash", "oak", "tree", "yew"}


def test_one_label_that_documents_have_or_have_not():
    texts = make_texts()
    labels = [("ash",) if kind == "ash" else () for kind in texts.labels]
    record = run_shaping(Texts(texts.texts, labels), settings=SETTINGS).record
    assert list(record.model.judgement.classes) == ["ash"]
    assert record.model.judgement.macro_f1 > 0.8


def test_there_are_not_too_many_shapes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(280, 3)).round(1)
    many = Vectors(X, [f"class {k % 70:02}" for k in range(280)], None)
    record = run_shaping(many, settings=replace(SETTINGS, hold_out=0.25)).record
    assert len(record.classes) == 70
    assert len(record.shapes) == MOST_SHAPES
    assert len({shape.class_name for shape in record.shapes}) == MOST_SHAPES


def test_C_must_be_a_number():
    with pytest.raises(ValueError, match="C must be a number where features are shaped"):
        run_shaping(make_table(), settings=replace(SETTINGS, C="auto"))
