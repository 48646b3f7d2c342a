"""Training over the disk comes to the optimum that training in memory comes to."""

from __future__ import annotations

import os
from itertools import count

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from made_batches import divide, list_codes, pose_svc, write_batches
from made_up import TIGHT, make_targets, make_text
from spokeshave import DualLinearSVC
from spokeshave.budget import working_set as rounds
from spokeshave.budget.memory import GATHERED
from spokeshave.budget.prior import add_prior
from spokeshave.budget.shards import list_shards
from spokeshave.budget.working_set import Setting, train_classes
from spokeshave.kernels.descent import advance, judge
from spokeshave.svm.solver import Stop

LOSSES = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
KINDS = pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])
AT_ONCE = 6  # documents that are written at a time
SOME, FEW, ALL = 6_000, 1_500, 10**9  # bytes for about thirty of ninety documents, for seven, all


class Dataset:
    """Documents in memory and on the disk, and an SVM for them."""

    def __init__(self, folder, X, y, *, has_values=True, **options):
        self.X, self.y, self.has_values = X.astype(np.float32), y, has_values
        self.model = DualLinearSVC(**options)
        self.objective = pose_svc(self.model, y)
        self.place, self.training = folder / "reduced", folder / "training"
        bounds = range(AT_ONCE, len(y), AT_ONCE)
        batches = divide(self.X, list_codes(y), bounds, has_values=has_values)
        write_batches(self.place, batches, has_values=has_values)

    def set_up(self, *, most=150, capacity=SOME, tol=1e-3, max_rounds=1000, **options):
        norm = None if self.has_values else "l2"
        defaults = {"seed": 0, "n_jobs": 1, "report": lambda share: None}
        return Setting(
            shards=list_shards(self.place, norm, most),
            capacity=capacity,
            folder=self.training,
            n_features=self.X.shape[1],
            stop=Stop(tol, max_rounds),
            **{**defaults, **options},
        )

    def train(self, **options):
        setting = self.set_up(**options)
        objective = add_prior(self.objective, setting.shards, setting.n_features)
        return train_classes(objective, setting)

    def find_optimum(self):
        """Return the objective of each class as the solver in memory finds it."""
        model = DualLinearSVC(**{**self.model.get_params(), **TIGHT})
        return model.fit(self.X.astype(float), self.y).objective_

    def keep_duals(self, folder):
        """Give the files of duals another name each, by which they stay."""
        self.training.mkdir()
        folder.mkdir()
        for k in range(len(self.objective.codes)):
            (self.training / f"{k}.dual").write_bytes(bytes(8 * len(self.y)))
            os.link(self.training / f"{k}.dual", folder / f"{k}.dual")
        return lambda: np.array(
            [np.fromfile(folder / f"{k}.dual") for k in range(len(self.objective.codes))]
        )


def measure(collection, dual):
    """Return weights, primal objectives and gaps that duals stand for, by their definitions."""
    dense, bias = collection.X.toarray().astype(float), collection.objective.bias
    y = collection.y
    is_inside = y.T > 0 if y.ndim == 2 else y == collection.objective.codes[:, None]
    signs = np.where(is_inside, 1, -1)
    box, ridge = (
        np.where(is_inside, costs[:, 1:], costs[:, :1]) for costs in collection.objective[:2]
    )
    coef, intercept = dual @ dense, bias * dual.sum(axis=1)
    alpha, slack = dual * signs, np.maximum(1 - signs * (coef @ dense.T + intercept[:, None]), 0)
    assert (alpha >= 0).all()
    assert (alpha <= box).all()
    constant = intercept**2 / bias if bias else 0.0
    half_norm = 0.5 * ((coef**2).sum(axis=1) + constant)
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.where(ridge > 0, slack**2 / (2 * ridge), box * slack)
    primal = half_norm + np.where(slack > 0, loss, 0).sum(axis=1)
    return coef, intercept, primal, primal - (alpha - ridge * alpha**2 / 2).sum(axis=1) + half_norm


def require_optimum(collection, weights, tol=1e-3):
    optimum = collection.find_optimum()
    assert (weights.gap <= tol * weights.objective).all()
    assert (weights.objective <= (1 + tol) * optimum).all()
    assert (weights.objective >= (1 - 1e-6) * optimum).all()


@LOSSES
@KINDS
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 1: 0.2}], ids=str)
def test_many_ranges_and_a_small_room_reach_the_optimum_in_memory(
    tmp_path, loss, kind, class_weight
):
    collection = Dataset(tmp_path, *make_targets(kind), loss=loss, class_weight=class_weight)
    weights = collection.train(most=250)
    assert weights.n_rounds > 1
    require_optimum(collection, weights)


@LOSSES
@pytest.mark.parametrize(("most", "capacity"), [(1, SOME), (250, 2 * FEW), (400, SOME), (400, ALL)])
def test_the_gap_is_what_coefficients_and_duals_say(tmp_path, loss, most, capacity):
    collection = Dataset(tmp_path, *make_text(3, n=60), loss=loss)
    read_duals = collection.keep_duals(tmp_path / "kept")
    weights = collection.train(most=most, capacity=capacity)
    coef, intercept, primal, gap = measure(collection, read_duals())
    np.testing.assert_allclose(weights.coef, coef, atol=1e-9)
    np.testing.assert_allclose(weights.intercept, intercept, atol=1e-9)
    np.testing.assert_allclose(weights.objective, primal)
    np.testing.assert_allclose(weights.gap, gap, atol=1e-9 * primal.max())
    require_optimum(collection, weights)


@LOSSES
@KINDS
@pytest.mark.parametrize("has_values", [True, False])
@pytest.mark.parametrize("most", [250, 10**6], ids=["ranges", "one range"])
def test_a_prior_has_the_optimum_in_memory(tmp_path, loss, kind, has_values, most):
    X, y = make_targets(kind)
    if not has_values:
        X = make_text(2 if kind == "binary" else 3, is_binary=True)[0]
    options = {"loss": loss, "prior": "bns", "prior_strength": 0.7}
    collection = Dataset(tmp_path, X, y, has_values=has_values, **options)
    require_optimum(collection, collection.train(most=most))


@LOSSES
@pytest.mark.parametrize("capacity", [SOME, ALL])
def test_documents_without_values_reach_the_optimum(tmp_path, loss, capacity):
    X, y = make_text(3, is_binary=True)
    collection = Dataset(tmp_path, X, y, has_values=False, loss=loss)
    require_optimum(collection, collection.train(capacity=capacity))


@LOSSES
@KINDS
@pytest.mark.parametrize("has_values", [True, False])
def test_one_range_reaches_the_same_optimum(tmp_path, loss, kind, has_values):
    X, y = make_targets(kind)
    if not has_values:
        X, _ = make_text(2 if kind == "binary" else 3, is_binary=True)
    collection = Dataset(tmp_path, X, y, has_values=has_values, loss=loss)
    weights = collection.train(most=10**9)
    assert weights.n_rounds == 0
    assert not collection.training.exists()
    require_optimum(collection, weights)


@LOSSES
@pytest.mark.parametrize(
    "options", [{"fit_intercept": False}, {"intercept_scaling": 5.0}, {"C": 0.1}, {"C": 10.0}]
)
def test_options_of_the_svm_are_heeded(tmp_path, loss, options):
    collection = Dataset(tmp_path, *make_text(2), loss=loss, **options)
    require_optimum(collection, collection.train())


@pytest.mark.parametrize("has_values", [True, False])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_a_class_gathers_fits_in_the_room(tmp_path, monkeypatch, has_values, n_jobs):
    """But for one document of each range, which there always is."""
    sizes = []

    def advance_and_tell(rows, *arguments):
        cell = 4 + (4 if has_values else 0)
        sizes.append(len(rows.indices) * cell + len(rows.scale) * GATHERED)
        return advance(rows, *arguments)

    monkeypatch.setattr(rounds, "advance", advance_and_tell)
    X, y = make_text(3, is_binary=not has_values)
    collection = Dataset(tmp_path, X, y, has_values=has_values)
    collection.train(capacity=SOME, n_jobs=n_jobs)
    assert SOME // 2 < max(sizes) < SOME + 500


@LOSSES
@pytest.mark.parametrize("capacity", [FEW, ALL])
def test_only_documents_that_do_not_rest_are_descended_on(tmp_path, monkeypatch, loss, capacity):
    sizes = []

    def advance_and_look(rows, task, bias, beta, w, b, margins, *arguments):
        violation = np.empty(beta.size)
        judge(rows.weight, task, beta, margins, violation)
        assert (violation >= 0).all()
        sizes.append(beta.size)
        return advance(rows, task, bias, beta, w, b, margins, *arguments)

    monkeypatch.setattr(rounds, "advance", advance_and_look)
    collection = Dataset(tmp_path, *make_text(2), loss=loss)
    collection.train(capacity=capacity, tol=0.01)
    assert min(sizes) > 0


@LOSSES
def test_room_for_next_to_nothing_takes_longer_but_gets_there(tmp_path, loss):
    collection = Dataset(tmp_path, *make_text(2, n=40), loss=loss)
    with_room = collection.train(capacity=ALL, tol=0.01)
    (collection.training / "0.npz").unlink()
    without = collection.train(capacity=0, tol=0.01)
    assert without.n_rounds > with_room.n_rounds
    require_optimum(collection, without, 0.01)


@LOSSES
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_documents_without_features_count_as_errors_do(tmp_path, loss, fit_intercept):
    X, y = make_text(2)
    X = sparse.csr_matrix(X.multiply(np.arange(len(y))[:, None] % 5 > 0))
    collection = Dataset(tmp_path, X, y, loss=loss, fit_intercept=fit_intercept)
    require_optimum(collection, collection.train())


@LOSSES
@pytest.mark.parametrize("most", [150, 10**9])
def test_classes_of_no_document_and_of_every_one_are_trained(tmp_path, loss, most):
    X, y = make_text(2)
    Y = np.column_stack([np.zeros_like(y), y, np.ones_like(y)])
    collection = Dataset(tmp_path, X, Y, loss=loss)
    weights = collection.train(most=most)
    require_optimum(collection, weights)
    scores = collection.X @ weights.coef.T + weights.intercept
    assert (scores[:, 0] < 0).all()
    assert (scores[:, 2] > 0).all()


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_come_to_the_same_optimum(tmp_path, n_jobs):
    collection = Dataset(tmp_path, *make_text(3))
    require_optimum(collection, collection.train(n_jobs=n_jobs))


def test_the_same_seed_gives_the_same_weights(tmp_path):
    collection = Dataset(tmp_path, *make_text(3))
    one = collection.train(seed=5)
    for path in collection.training.iterdir():
        path.unlink()
    np.testing.assert_array_equal(one.coef, collection.train(seed=5).coef)


@pytest.mark.parametrize("most", [150, 10**9])
def test_the_share_of_classes_that_is_done_is_reported(tmp_path, most):
    shares = []
    Dataset(tmp_path, *make_text(4)).train(most=most, report=shares.append)
    assert shares == [0.25, 0.5, 0.75, 1.0]


def kill_after(patch, n_rounds):
    """Let a run be killed as soon as it has descended so many times, and begins to once more."""
    descended = count()

    def advance_or_die(*arguments):
        if next(descended) == n_rounds:
            raise KeyboardInterrupt
        return advance(*arguments)

    patch.setattr(rounds, "advance", advance_or_die)


@LOSSES
@pytest.mark.parametrize(("n_rounds", "most"), [(1, 150), (2, 60), (7, 400)])
def test_a_run_that_was_killed_goes_on_from_there(tmp_path, loss, n_rounds, most):
    """Also where the ranges are others: there may be more memory now, or less."""
    collection = Dataset(tmp_path, *make_text(3, n=60), loss=loss)
    with pytest.MonkeyPatch.context() as patch:
        kill_after(patch, n_rounds)
        with pytest.raises(KeyboardInterrupt):
            collection.train()
    assert list(collection.training.glob("*.dual"))
    weights = collection.train(most=most)
    require_optimum(collection, weights)
    assert not list(collection.training.glob("*.dual"))


@pytest.mark.parametrize("prior", [None, "bns"])
def test_what_a_killed_run_has_descended_is_not_lost(tmp_path, prior):
    collection = Dataset(tmp_path, *make_text(2), prior=prior)
    whole = collection.train(capacity=FEW)
    (collection.training / "0.npz").unlink()
    with pytest.MonkeyPatch.context() as patch:
        kill_after(patch, whole.n_rounds - 2)
        with pytest.raises(KeyboardInterrupt):
            collection.train(capacity=FEW)
    gone, go_round = [], rounds._go_round
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "_go_round", lambda *given: gone.append(1) or go_round(*given))
        weights = collection.train(capacity=FEW)
    assert 0 < len(gone) < whole.n_rounds / 2
    assert weights.n_rounds == whole.n_rounds
    np.testing.assert_array_equal(weights.coef, whole.coef)
    require_optimum(collection, weights)


def test_a_dual_that_was_begun_and_not_filled_is_taken_for_zeros(tmp_path):
    collection = Dataset(tmp_path, *make_text(2))
    collection.training.mkdir()
    (collection.training / "0.dual").touch()
    require_optimum(collection, collection.train())


def test_finished_classes_are_read_back_and_not_trained_again(tmp_path, monkeypatch):
    collection = Dataset(tmp_path, *make_text(3))
    trained = collection.train()
    for kernel in ("judge", "advance", "polish"):
        monkeypatch.setattr(rounds, kernel, None)
    read = collection.train()
    for name in ("coef", "intercept", "objective", "gap"):
        np.testing.assert_array_equal(getattr(read, name), getattr(trained, name))
    assert read.n_rounds == trained.n_rounds


@LOSSES
def test_stopping_early_warns_and_tells_the_gap_there_is(tmp_path, loss):
    collection = Dataset(tmp_path, *make_text(3), loss=loss)
    read_duals = collection.keep_duals(tmp_path / "kept")
    with pytest.warns(ConvergenceWarning, match="Stopped after max_iter=2 passes .* tol=1e-09"):
        weights = collection.train(capacity=FEW, tol=1e-9, max_rounds=2)
    coef, _, primal, gap = measure(collection, read_duals())
    np.testing.assert_allclose(weights.coef, coef, atol=1e-9)
    np.testing.assert_allclose(weights.objective, primal)
    np.testing.assert_allclose(weights.gap, gap)
    assert (weights.gap > 1e-9 * weights.objective).all()
