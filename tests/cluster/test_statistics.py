"""Rankings and sparsity from counts of blocks are those of one machine."""

from __future__ import annotations

import dask
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import Binarizer, MultiLabelBinarizer, StandardScaler, normalize
from sklearn.utils.validation import check_is_fitted

from made_parts import SIZES, make_collection, sort_by_class, spread_blocks, write_parts
from made_up import make_targets
from spokeshave import (
    BNSScaler,
    DocumentVectorizer,
    FeatureShaper,
    LocalProbabilityShaper,
    rank_features,
    sparsity_curve,
)
from spokeshave.cluster import statistics
from spokeshave.cluster.blocks import Spread, spread_documents
from spokeshave.cluster.statistics import (
    merge_tallies,
    rank_on_cluster,
    shape_on_cluster,
    sort_tally,
    sparsity_on_cluster,
    tally_values,
)
from spokeshave.curves.sparsity import MEASURES
from spokeshave.shaping.levels import count_levels, expand_counts, find_levels, store_all
from spokeshave.utils.validation import tidy

BY_PRESENCE = ["information_gain", "odds_ratio", "bns", "hellinger"]
BY_VALUES = ["chi2", "naive_bayes"]  # naive Bayes only if they are counts
COUNTS = DocumentVectorizer(weighting="counts", norm=None)


@pytest.fixture(scope="module")
def spread(client, parts):
    """Return the collection in four blocks, one of them of a single document."""
    return spread_documents(client, parts, vectorizer=COUNTS)


@pytest.fixture(scope="module")
def documents(collection):
    """Return the collection as it is on one machine."""
    X = DocumentVectorizer(weighting="counts", norm=None).fit_transform(collection.texts)
    return X, np.array(collection.labels)


def check_same(found, expected):
    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.classes, expected.classes)
    assert found.classes.dtype == expected.classes.dtype
    assert found.by == expected.by


@pytest.mark.parametrize("by", [*BY_PRESENCE, *BY_VALUES])
def test_rankings_of_counts_are_those_of_one_machine(client, spread, documents, by):
    assert len(spread.blocks) == 4
    check_same(rank_on_cluster(client, spread, by), rank_features(*documents, by))


def test_workers_that_die_change_nothing(four, make_deadly, parts, documents):
    tasks = [make_deadly(statistics, name) for name in ("sum_block", "count_block")]
    spread = spread_documents(four, parts, vectorizer=COUNTS)
    ranking = rank_on_cluster(four, spread, "bns")
    check_same(ranking, rank_features(*documents, "bns"))
    found = sparsity_on_cluster(four, spread, ranking)
    np.testing.assert_array_equal(found.frequency, sparsity_curve(documents[0], ranking).frequency)
    assert all(task.has_killed for task in tasks)


@pytest.mark.parametrize("by", ["bns", "chi2"])
def test_rankings_of_a_class_in_one_part_only(client, tmp_path, by):
    collection = sort_by_class(make_collection(120, 3))
    X = COUNTS.fit_transform(collection.texts)
    pattern = write_parts(collection, tmp_path, sizes=(40, 0, 79))
    spread = spread_documents(client, pattern, vectorizer=COUNTS)
    check_same(rank_on_cluster(client, spread, by), rank_features(X, collection.labels, by))


@pytest.mark.parametrize("by", ["bns", "chi2"])
def test_rankings_of_two_classes_are_of_the_second(client, tmp_path, by):
    collection = make_collection(60, 2)
    pattern = write_parts(collection, tmp_path, sizes=(10, 20))
    X = COUNTS.fit_transform(collection.texts)
    spread = spread_documents(client, pattern, vectorizer=COUNTS)
    check_same(rank_on_cluster(client, spread, by), rank_features(X, collection.labels, by))


@pytest.mark.parametrize("by", ["odds_ratio", "naive_bayes"])
def test_rankings_of_several_labels_are_by_column(client, by):
    X, y = make_targets("multilabel")
    X.data[:] = np.ceil(4 * X.data)
    y[:, 1] = 0  # no document has it
    spread = spread_blocks(client, X, y, 10)
    check_same(rank_on_cluster(client, spread, by), rank_features(X, y, by))


@pytest.mark.parametrize("by", [*BY_PRESENCE, *BY_VALUES])
def test_rankings_of_real_values_differ_by_rounding_at_most(client, by):
    X, y = make_targets("labels")
    X.data[:9] = 0  # stored, and yet not there
    found = rank_on_cluster(client, spread_blocks(client, X, y, 3), by)
    expected = rank_features(X, y, by)
    if by != "chi2":
        np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-12, atol=1e-15)


def test_naive_bayes_is_of_presence_everywhere_if_one_part_has_no_counts(client, documents):
    X, y = documents[0].copy(), documents[1]
    X.data[-1] = 0.5
    ranking = rank_on_cluster(client, spread_blocks(client, X, y, 3), "naive_bayes")
    check_same(ranking, rank_features(X, y, "naive_bayes"))
    X.data[:] = 0.5
    np.testing.assert_array_equal(ranking.scores, rank_features(X, y, "naive_bayes").scores)


@pytest.mark.parametrize("by", ["normal", "winnow", "random", "no such"])
def test_criteria_that_take_more_than_counts_are_refused(client, spread, by):
    with pytest.raises(ValueError, match=f"'naive_bayes' on a cluster. Got {by!r} instead"):
        rank_on_cluster(client, spread, by)


def test_negative_values_are_refused_where_they_are_met(client):
    X, y = make_targets("labels")
    X.data[-1] = -0.25
    with pytest.raises(ValueError, match=r"must not have negative values for by='chi2'. Got -0.25"):
        rank_on_cluster(client, spread_blocks(client, X, y, 2), "chi2")


def test_one_class_is_refused(client):
    spread = Spread([], None, ["oak"], False, 3, 4)
    with pytest.raises(ValueError, match=r"at least two classes\. Got 'oak' only"):
        rank_on_cluster(client, spread, "bns")


@pytest.mark.parametrize("cuts", ["log", (0.1, 0.5, 1.0)])
def test_sparsity_is_that_of_one_machine(client, spread, documents, cuts):
    X, y = documents
    both = {by: rank_features(X, y, by) for by in ("bns", "odds_ratio")}
    found = sparsity_on_cluster(client, spread, both, cuts=cuts)
    expected = sparsity_curve(X, both, cuts=cuts)
    assert found.rankings == expected.rankings
    assert found.n_documents == expected.n_documents
    for name in ("classes", "cuts", "frequency", *MEASURES):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_sparsity_of_a_ranking_of_other_features_is_refused(client, spread):
    X, y = make_targets("labels")
    with pytest.raises(ValueError, match=f"have the {spread.n_features} features of X"):
        sparsity_on_cluster(client, spread, rank_features(X, y, "bns"))


KINDS = ("four classes", "two classes", "several labels", "sorted by class")
SHAPERS = {
    "shaping": LocalProbabilityShaper(),
    "log odds": LocalProbabilityShaper(
        n_neighbors=5, output="log_odds", zero="bin", nominal=["x1", "x7"]
    ),
    "zero as a value": LocalProbabilityShaper(n_neighbors=0.5, zero="value", n_jobs=2),
    "all stages": FeatureShaper(),
    "no scaling": FeatureShaper(scale=None, norm="l1"),
    "other stages": FeatureShaper(shape="log_odds", scale="times_bns", norm="max"),
    "own stages": FeatureShaper(
        shape=LocalProbabilityShaper(n_neighbors=8, zero="value", nominal=[2]),
        scale=BNSScaler(smallest_rate="1/n"),
        norm=None,
    ),
}
CELLS = st.sampled_from([0.0, 0.0, 1.0, 2.0, -1.0, np.nan]) | st.floats(-9, 9)
TABLES = arrays(np.float64, st.tuples(st.integers(1, 25), st.integers(1, 4)), elements=CELLS)


def collect_kind(kind):
    """Return a collection, and the sizes of all parts of it but the last."""
    if kind != "sorted by class":
        n_classes = 2 if kind == "two classes" else 4
        return make_collection(n_classes=n_classes, several=kind == "several labels"), SIZES
    return sort_by_class(make_collection(120, n_classes=3)), (40, 30, 35)


@pytest.fixture(scope="module", params=KINDS)
def both(request, client, tmp_path_factory):
    """The same counts of words on the workers, and here with their targets."""
    collection, sizes = collect_kind(request.param)
    pattern = write_parts(collection, tmp_path_factory.mktemp("shapes"), sizes)
    separator = {"label_separator": ";"} if request.param == "several labels" else {}
    spread = spread_documents(client, pattern, vectorizer=COUNTS, **separator)
    assert len(spread.blocks) == 4
    y = np.array(collection.labels) if not separator else None
    y = MultiLabelBinarizer().fit_transform(collection.labels) if y is None else y
    return spread, clone(COUNTS).fit_transform(collection.texts), y


def assert_same(one, other):
    """Compare what estimators have stored, arrays to the last digit."""
    assert type(one) is type(other)
    if isinstance(one, BaseEstimator):
        one, other = vars(one), vars(other)
    if sparse.issparse(one):
        one, other = ((X.shape, X.data, X.indices, X.indptr) for X in (one, other))
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        one, other = tuple(one.values()), tuple(other[key] for key in one)
    if isinstance(one, tuple):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            assert_same(mine, theirs)
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other, strict=True)
    else:
        assert one == other


@pytest.mark.parametrize("name", SHAPERS)
def test_what_is_learned_is_what_one_machine_learns(client, both, name):
    spread, X, y = both
    near = clone(SHAPERS[name]).fit(X, y)  # first, so that kernels are compiled by one process
    far = shape_on_cluster(client, spread, SHAPERS[name])
    assert_same(far, near)
    assert_same(far.transform(X), near.transform(X))
    assert_same(far.get_feature_names_out(), near.get_feature_names_out())
    for feature in (0, "x7"):
        assert_same(vars(far.shape_of(feature)), vars(near.shape_of(feature)))


def test_local_probability_is_what_is_learned_by_default(client, both):
    spread, X, y = both
    assert_same(shape_on_cluster(client, spread), LocalProbabilityShaper().fit(X, y))


def test_a_shaper_is_not_changed(client, both):
    given_ = FeatureShaper(norm="l1")
    far = shape_on_cluster(client, both[0], given_)
    check_is_fitted(far)
    assert far.norm == "l1"
    assert vars(given_) == vars(FeatureShaper(norm="l1"))


def test_a_worker_that_dies_changes_nothing(four, make_deadly, collection, parts):
    spread = spread_documents(four, parts, vectorizer=COUNTS)
    task = make_deadly(statistics, "tally_block")
    far = shape_on_cluster(four, spread)
    X = clone(COUNTS).fit_transform(collection.texts)
    assert_same(far, LocalProbabilityShaper().fit(X, np.array(collection.labels)))
    assert task.has_killed


def test_values_need_not_be_counts(client):
    X = normalize(sparse.random(60, 8, 0.4, "csr", rng=np.random.default_rng(0)))
    X.data[::3] *= -1
    y = np.array(["ash", "oak", "elm"])[np.arange(60) % 3]
    rows = (slice(0, 50), slice(50, 60))
    blocks = [dask.delayed((X[each], y[each].tolist())) for each in rows]
    far = shape_on_cluster(client, spread_documents(client, blocks), SHAPERS["own stages"])
    assert_same(far, clone(SHAPERS["own stages"]).fit(normalize(X), y))


def merge_in_pairs(tallies):
    """Return what tallies add up to, merged as a tree."""
    while len(tallies) > 1:
        tallies = [merge_tallies(tallies[first : first + 2]) for first in range(0, len(tallies), 2)]
    return tallies[0]


@settings(deadline=None, max_examples=50)
@given(st.data(), TABLES, st.sampled_from([0, 1, 3.5, 30]), st.sampled_from(["auto", "value"]))
def test_any_parts_add_up_to_the_whole(data, table, n_neighbors, zero):
    n_documents, n_features = table.shape
    X = sparse.csr_matrix(table) if data.draw(st.booleans()) else store_all(table)
    y = data.draw(arrays(np.int8, (n_documents, 3), elements=st.integers(0, 1)))
    part_of = data.draw(arrays(np.int8, n_documents, elements=st.integers(0, 4)))
    tallies = [
        tally_values(X[part_of == part], sparse.csc_matrix(y[part_of == part])) for part in range(5)
    ]
    add_up = data.draw(st.sampled_from([merge_tallies, merge_in_pairs]))
    found = sort_tally(add_up(tallies), n_features)
    # First: kernels that estimate from wrong counts may read beyond their tables.
    cell_levels = find_levels(tidy(X), zero_is_apart=zero == "auto")
    levels, counts = expand_counts(found, zero_is_apart=zero == "auto")
    assert_same(levels, cell_levels.levels)
    assert_same(counts, count_levels(cell_levels, sparse.csc_matrix(y)))
    shaper = FeatureShaper(shape=LocalProbabilityShaper(n_neighbors=n_neighbors, zero=zero))
    assert_same(clone(shaper)._fit_counts(found, np.arange(3)), shaper.fit(X, y))


@pytest.mark.parametrize(
    ("shaper", "sentence"),
    [
        (BNSScaler(), "shaper must be .* Got BNSScaler instead"),
        (LocalProbabilityShaper(cross_fit=True), "cross_fit must be False .* Got True instead"),
        (LocalProbabilityShaper(n_neighbors="auto"), "n_neighbors must be a number .* Got 'auto'"),
        (LocalProbabilityShaper(output="odds"), "output must be one of .* Got 'odds' instead"),
        (FeatureShaper(shape=LocalProbabilityShaper(cross_fit=True)), "cross_fit must be False"),
        (FeatureShaper(shape="binary"), "shape must be .* from counts. Got 'binary' instead"),
        (FeatureShaper(shape=None), "shape must be .* from counts. Got None instead"),
        (FeatureShaper(shape=Binarizer()), r"shape must be .* Got Binarizer\(\) instead"),
        (FeatureShaper(scale="center"), "scale must be .* from counts. Got 'center' instead"),
        (FeatureShaper(scale=StandardScaler()), r"scale must be .* Got StandardScaler\(\)"),
        (FeatureShaper(norm="l3"), "norm must be .* Got 'l3' instead"),
        (FeatureShaper(keep_raw=True), "keep_raw must be False .* Got True instead"),
    ],
)
def test_what_counts_cannot_tell_is_refused_before_any_work(shaper, sentence):
    with pytest.raises(ValueError, match=sentence):
        shape_on_cluster(None, None, shaper)


def test_one_class_gets_a_sentence():
    spread = Spread([], None, ["ash"], is_multilabel=False, n_documents=3, n_features=2)
    with pytest.raises(ValueError, match=r"at least two classes\. Got 'ash' only"):
        shape_on_cluster(None, spread)
