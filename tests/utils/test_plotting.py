"""What is on the chart, read back from matplotlib."""

from __future__ import annotations

import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.preprocessing import normalize

from spokeshave import (
    DualLinearSVC,
    FeatureShaper,
    LocalProbabilityShaper,
    ShapedSVC,
    feature_curve,
    learning_curve,
    rank_features,
    sparsity_curve,
)
from spokeshave.utils.plotting import draw_curve, draw_learning, draw_shape, lay_features

matplotlib.use("Agg")

from matplotlib import pyplot

CUTS = (0.1, 0.3, 0.6, 1.0)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def trace(*, has_folds, **options):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = normalize(rng.random((90, 30)) < rng.uniform(0.05, 0.3, size=(3, 30))[y])
    data = {"cv": 3} if has_folds else {"X_test": X[1::2], "y_test": y[1::2]}
    return feature_curve(X, y, random_state=0, **{"cuts": CUTS} | data | options)


@pytest.fixture(scope="module")
def folds():
    """Return a curve by cross-validation."""
    return trace(has_folds=True)


@pytest.fixture(scope="module")
def on_test():
    """Return a curve on a test set."""
    return trace(has_folds=False)


def read_band(ax):
    """Return the lower and the upper edge of the band at each cut."""
    (band,) = ax.collections
    x, y = band.get_paths()[0].vertices.T
    at = [np.isclose(x, percent) for percent in ax.lines[0].get_xdata()]
    return [y[here].min() for here in at], [y[here].max() for here in at]


def read_legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("average", ["macro", "micro"])
@pytest.mark.parametrize("name", ["auc", "best_f1"])
def test_the_line_is_the_average_and_the_band_its_error(folds, name, average):
    ax = folds.plot(name, average)
    line = ax.lines[0]
    np.testing.assert_allclose(line.get_xdata(), [10, 30, 60, 100])
    np.testing.assert_array_equal(line.get_ydata(), folds.average(name, average))
    error = folds.standard_error(name, average)
    low, high = read_band(ax)
    np.testing.assert_allclose(low, line.get_ydata() - error)
    np.testing.assert_allclose(high, line.get_ydata() + error)
    assert error.max() > 0


def test_without_folds_the_band_is_of_the_classes(on_test):
    ax = on_test.plot("f1")
    error = on_test.f1.std(axis=0) / np.sqrt(3)
    low, high = read_band(ax)
    np.testing.assert_allclose(low, on_test.macro("f1") - error)
    np.testing.assert_allclose(high, on_test.macro("f1") + error)
    assert "± 1 standard error over classes" in read_legend(ax)
    assert error.max() > 0


def test_everything_is_said(folds):
    ax = folds.plot("auc", "micro")
    assert ax.get_xlabel() == "features kept, % of those with a nonzero score"
    assert ax.get_ylabel() == "micro auc (cross-validation)"
    best = folds.best("auc", "micro")
    assert read_legend(ax) == [
        "± 1 standard error over 3 folds",
        "mask, ranked by normal",
        f"{100 * best.fraction:.3g}% of features: {best.value:.4f}",
    ]


def read_mark(ax):
    """Return the cut that the vertical line is at, and the point on the curve."""
    _, vertical, point = ax.lines
    (x,), (y,) = point.get_data()
    assert list(vertical.get_xdata()) == [x, x]
    return x, y


def test_the_best_cut_is_marked_unless_another_is_given(folds):
    best = folds.best("auc")
    np.testing.assert_allclose(read_mark(folds.plot("auc")), (100 * best.fraction, best.value))
    choice = folds.smallest_within(1.0, "auc")
    assert choice.index != best.index
    ax = folds.plot("auc", choice=choice)
    np.testing.assert_allclose(read_mark(ax), (10, folds.macro("auc")[0]))
    assert read_legend(ax)[-1].startswith("10% of features: ")


def test_a_cut_for_each_class_cannot_be_marked(folds):
    with pytest.raises(ValueError, match=r"choice must be of one cut\. Got one for each class"):
        folds.plot(choice=folds.best(average=None))


def test_axes_that_are_given_are_drawn_on(folds, on_test):
    figure, axes = pyplot.subplots(1, 2)
    assert folds.plot(ax=axes[1]) is axes[1]
    assert not axes[0].lines
    assert pyplot.get_fignums() == [figure.number]
    on_test.plot(ax=axes[1])
    assert len(axes[1].collections) == 2


def test_without_axes_there_is_a_new_figure(folds):
    assert folds.plot().figure is not folds.plot().figure
    assert len(pyplot.get_fignums()) == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"name": "f2"}, "The measure must be one of"),
        ({"average": "mean"}, "average must be 'macro' or 'micro'"),
        ({"average": None}, "average must be 'macro' or 'micro'"),
    ],
)
def test_what_cannot_be_drawn_gets_a_sentence(folds, on_test, options, sentence):
    for curve in (folds, on_test):
        with pytest.raises(ValueError, match=sentence):
            curve.plot(**options)
    assert not pyplot.get_fignums()


def test_charts_need_matplotlib(folds, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"Charts need matplotlib: pip install 'spokeshave\[plot"):
        folds.plot()


def test_values_of_any_kind_can_be_drawn():
    ax = draw_curve(
        lay_features(np.array([0.25, 1.0])),
        np.array([3.0, 2.0]),
        np.array([0.5, 0.0]),
        marked=0,
        line="a line",
        band="a band",
        value_label="a value",
    )
    assert read_mark(ax) == (25, 3)
    assert read_band(ax) == ([2.5, 2.0], [3.5, 2.0])
    assert read_legend(ax) == ["a band", "a line", "25% of features: 3.0000"]
    assert ax.get_ylabel() == "a value"


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_nonzeros_can_be_along_the_axis(folds, average):
    ax = folds.plot("auc", average, against="sparsity")
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), folds.nonzeros.mean(axis=0))
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), folds.average("auc", average))
    assert (ax.get_xscale(), ax.get_xlabel()) == ("log", "nonzeros per document")
    best = folds.best("auc", average)
    at = folds.nonzeros.mean(axis=0)[best.index]
    assert read_legend(ax)[-1] == f"{at:.3g} nonzeros per document: {best.value:.4f}"


def test_what_cuts_are_numbers_of_is_along_the_axis():
    curve = trace(has_folds=True, cuts=(0.5, 2), against="sparsity")
    assert curve.plot().get_xlabel() == "nonzeros per document"
    assert curve.plot(against="features").get_xlabel().startswith("features kept")
    with pytest.raises(ValueError, match=r"'features' or 'sparsity'\. Got 'words'"):
        curve.plot(against="words")


@pytest.mark.parametrize("name", ["nonzeros", "matrix_bytes", "model_bytes"])
def test_a_line_for_each_ranking(name):
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 20)) < 0.2, np.arange(60) % 3
    criteria = ("chi2", "odds_ratio")
    curve = sparsity_curve(X, {by: rank_features(X, y, by) for by in criteria})
    ax = curve.plot(name)
    assert read_legend(ax) == list(criteria)
    for line, kept, values in zip(ax.lines, curve.n_features, getattr(curve, name), strict=True):
        np.testing.assert_allclose(line.get_xdata(), kept.mean(axis=0))
        np.testing.assert_allclose(line.get_ydata(), values.mean(axis=0))
    assert (ax.get_xscale(), ax.get_xlabel()) == ("log", "features kept per class")
    said = {"nonzeros": "nonzeros per document, macro", "model_bytes": "model bytes, macro"}
    assert ax.get_ylabel() == said.get(name, "matrix bytes, macro")
    assert curve.plot(ax=ax) is ax
    with pytest.raises(ValueError, match=r"name must be one of n_features, .* Got 'f1'"):
        curve.plot("f1")


def learn(label, ax=None):
    """Draw a small learning curve."""
    sizes, values, error = (
        np.array([10.0, 20.0, 40.0]),
        np.array([0.6, np.nan, 0.8]),
        np.full(3, 0.1),
    )
    return draw_learning(sizes, values, error, label=label, value_label="macro f1", ax=ax)


def test_a_learning_curve():
    ax = learn("shaped")
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [10, 20, 40])
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [0.6, np.nan, 0.8])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("training documents", "macro f1")
    assert read_legend(ax) == ["shaped"]


def test_learning_curves_to_compare_have_their_own_colours():
    ax = learn("shaped")
    assert learn("plain", ax) is ax
    assert read_legend(ax) == ["shaped", "plain"]
    assert len({line.get_color() for line in ax.lines}) == 2
    assert len(ax.collections) == 2


def test_a_learning_curve_without_a_name_has_no_legend():
    assert learn(None).get_legend() is None


def test_what_a_learning_curve_draws(rng):
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 4)) + y[:, None]
    curve = learning_curve(DualLinearSVC(), X, y, sizes=(0.5, 1.0), cv=3, Cs=None, random_state=0)
    ax = curve.plot("f1", label="raw")
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [20, 40])
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), curve.macro("f1"))
    low, high = read_band(ax)
    np.testing.assert_allclose(low, curve.macro("f1") - curve.standard_error("f1"))
    np.testing.assert_allclose(high, curve.macro("f1") + curve.standard_error("f1"))
    assert curve.plot("auc", ax=ax) is ax


def shape_amounts(n_classes=2, *, n_values=8, is_sparse=False, has_missing=False):
    """Return the shape of a feature that few or many values are seen of."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % n_classes
    X = np.concatenate([np.arange(n_values), rng.integers(0, n_values, 120 - n_values)])[:, None]
    X = X.astype(float)
    if has_missing:
        X[:9] = np.nan
    X = sparse.csr_matrix(X) if is_sparse else X
    return LocalProbabilityShaper(n_neighbors=4).fit(X, y).shape_of(0)


def find_lines(ax, start):
    return [line for line in ax.lines if line.get_label().startswith(start)]


def read_densities(ax):
    """Return the sums of the densities, by the names of the classes."""
    under = next(other for other in ax.figure.axes if other is not ax)
    bars = {bars.get_label(): sum(bar.get_height() for bar in bars) for bars in under.containers}
    steps = [patch for patch in under.patches if hasattr(patch, "get_data")]
    return bars | {step.get_label(): step.get_data().values.sum() for step in steps}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_values", [8, 60])
def test_a_shape_has_a_line_and_a_density_for_each_class(n_classes, n_values):
    shape = shape_amounts(n_classes, n_values=n_values)
    ax = draw_shape(shape)
    names = ["1"] if n_classes == 2 else ["0", "1", "2"]
    lines = find_lines(ax, "image, ")
    assert [line.get_label() for line in lines] == [f"image, {name}" for name in names]
    for line, images in zip(lines, shape.images, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), shape.values)
        np.testing.assert_array_equal(line.get_ydata(), images)
    densities = read_densities(ax)
    assert list(densities) == (["1", "the rest"] if n_classes == 2 else names)
    np.testing.assert_allclose(list(densities.values()), 1)
    assert len({line.get_color() for line in lines}) == len(lines)


def test_bars_are_the_share_of_a_class_at_each_value():
    shape = shape_amounts()
    ax = draw_shape(shape)
    under = next(other for other in ax.figure.axes if other is not ax)
    for bars, counts in zip(
        under.containers, (shape.positives[0], shape.sizes - shape.positives[0]), strict=True
    ):
        np.testing.assert_allclose([bar.get_height() for bar in bars], counts / counts.sum())
        centres = [bar.get_x() + bar.get_width() / 2 for bar in bars]
        np.testing.assert_allclose(centres, shape.values)


def test_names_are_on_the_axis():
    frame = pd.DataFrame({"job": ["smith", "cook", "clerk", "cook", None, "smith"]})
    ax = LocalProbabilityShaper().fit(frame, [1, 0, 0, 1, 1, 1]).plot("job")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["clerk", "cook", "smith"]
    (line,) = find_lines(ax, "image, ")
    assert line.get_linestyle() == "None"
    np.testing.assert_allclose(line.get_ydata(), [1 / 3, 2 / 4, 3 / 4])
    assert ax.get_xlabel() == "job"


def test_zero_is_marked_where_it_is_apart():
    ax = draw_shape(shape_amounts(3, is_sparse=True))
    marks = find_lines(ax, "image of zero")
    assert [mark.get_data() for mark in marks] == [([0], [0])] * 3
    assert not find_lines(draw_shape(shape_amounts(3)), "image of zero")


def test_missing_values_are_marked():
    shape = shape_amounts(3, has_missing=True)
    marks = find_lines(draw_shape(shape), "image of missing")
    assert [mark.get_ydata()[0] for mark in marks] == shape.missing.tolist()
    assert not find_lines(draw_shape(shape_amounts(3)), "image of missing")


def test_everything_on_a_shape_is_said():
    ax = draw_shape(shape_amounts(has_missing=True))
    expected = ["image, 1", "image of missing", "1", "the rest"]
    assert read_legend(ax) == expected
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "image")
    assert ax.figure.axes[-1].get_ylabel() == "share of the class"


@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_is_said_of_a_shape_stands_above_it(n_classes):
    ax = draw_shape(shape_amounts(n_classes, has_missing=True))
    ax.figure.draw_without_rendering()
    said, drawn, page = ax.get_legend().get_window_extent(), ax.get_window_extent(), ax.figure.bbox
    assert said.y0 >= drawn.y1 - 1
    assert said.y1 <= page.y1 + 1
    assert (said.x0 + said.x1) / 2 == pytest.approx((drawn.x0 + drawn.x1) / 2, abs=1)


def test_a_shape_is_drawn_on_axes_that_are_given():
    figure, axes = pyplot.subplots(1, 2)
    assert draw_shape(shape_amounts(), ax=axes[1]) is axes[1]
    assert not axes[0].lines
    assert pyplot.get_fignums() == [figure.number]
    assert draw_shape(shape_amounts()).figure is not figure


@pytest.mark.parametrize("n_values", [0, 1])
def test_few_values_can_be_drawn(n_values):
    X = sparse.csr_matrix((6, 1)) if n_values == 0 else np.ones((6, 1))
    ax = LocalProbabilityShaper().fit(X, [0, 1] * 3).plot(0)
    assert find_lines(ax, "image, ")[0].get_xdata().size == n_values


@pytest.mark.parametrize(
    "model",
    [
        FeatureShaper(),
        FeatureShaper(scale="center"),
        FeatureShaper(scale="times_bns", keep_raw=True),
        ShapedSVC(random_state=0),
    ],
)
def test_every_model_with_shapes_draws_them(model):
    X, y = np.arange(40.0)[:, None] % 7, np.arange(40) % 3
    ax = model.fit(X, y).plot("x0")
    for line, images in zip(find_lines(ax, "image, "), model.shape_of(0).images, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), images)


def test_shapes_need_matplotlib(monkeypatch):
    shape = shape_amounts()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="Charts need matplotlib"):
        shape.plot()
