"""Sparse matrices that are malformed, or only unusual, for every estimator and function."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

import spokeshave
from fuzz.batches import Finding, run_batches
from spokeshave.model.export import export_model
from spokeshave.model.model import Model

N_DOCUMENTS, N_FEATURES, N_CLASSES = 40, 12, 3
REFUSALS = ("must be a well-formed sparse matrix. Got ", "must be a matrix. Got ")
FORMATS = ("csr", "csr", "csr", "csc", "csc", "bsr", "coo", "lil", "dok", "dia")
COMPRESSED = ("csr", "csc", "bsr")
MEMORY = "2GB"  # of a budget: far more than the process has
SELDOM = 8  # valid matrices, of which one goes through what takes long


@dataclass(frozen=True)
class Case:
    """A matrix, whether it is of documents or of targets, and whether it is well-formed."""

    number: int
    seed: int
    matrix: Any
    change: str
    are_targets: bool
    is_valid: bool
    is_slow: bool


def run(n_runs: int, seed: int) -> list[Finding]:
    """Try ``n_runs`` matrices; return the findings."""
    return run_batches("matrices", n_runs, seed)


def make_input(number: int, seed: int) -> Case:
    """Return a matrix to try."""
    rng = random.Random(f"{seed} {number}")
    are_targets, is_valid = rng.random() < 0.3, rng.random() < 0.15
    format = rng.choice(COMPRESSED if is_valid else FORMATS)
    known = make_targets() if are_targets else make_documents()
    matrix = (sparse.csr_array if rng.random() < 0.3 else sparse.csr_matrix)(known)
    if format == "bsr":
        matrix = matrix.tobsr((rng.choice([1, 2, 4]), 3))
    matrix = matrix.asformat(format, copy=True)
    if is_valid:
        changes = OF_VALUES if not are_targets else OF_ARRAYS
    elif format in COMPRESSED:
        changes = OF_COMPRESSED
    else:
        changes = {"coo": OF_CELLS, "lil": OF_LISTS, "dok": OF_KEYS, "dia": OF_DIAGONALS}[format]
    if is_valid and format == "bsr":
        matrix = matrix.tocsr()
    change = rng.choice(changes)
    matrix = change(matrix, rng)
    is_slow = is_valid and rng.randrange(SELDOM) == 0
    return Case(
        number, seed, matrix, f"{format}, {change.__name__}", are_targets, is_valid, is_slow
    )


def try_input(case: Case, say: Callable[[str], None]) -> list[str]:
    """Give a matrix to everything that takes one; return what went wrong."""
    found = []
    for name, use in (list_uses_of_targets() if case.are_targets else list_uses()).items():
        if case.is_valid and not case.is_slow and name in SLOW:
            continue
        say(f"{case.change}: {name}")
        given = make_input(case.number, case.seed).matrix  # a malformed one cannot be copied
        problem = None
        try:
            use(given)
        except (ValueError, TypeError) as error:
            if case.is_valid or not any(refusal in str(error) for refusal in REFUSALS):
                problem = f"{type(error).__name__}: {error}"
        except BaseException as error:
            problem = f"{type(error).__name__}: {error}"
        else:
            problem = None if case.is_valid else "it is not refused"
        if problem is not None:
            found.append(f"{case.change}: {name}: {problem}")
    return found


def save_input(case: Case, path: Path) -> None:
    """Write the attributes of a matrix."""
    path.write_text(f"{case.change}\n{vars(case.matrix)}\n")


def warm_up() -> None:
    """Compile the kernels: use everything once."""
    for uses, matrix in ((list_uses(), make_documents()), (list_uses_of_targets(), make_targets())):
        for use in uses.values():
            use(matrix.copy())


@cache
def make_documents() -> sparse.csr_matrix:
    """Return counts of words; documents of a class have some words in common."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.4, (N_DOCUMENTS, N_FEATURES)).astype(float)
    counts[np.arange(N_DOCUMENTS), make_labels()] += 2
    return sparse.csr_matrix(counts)


@cache
def make_targets() -> sparse.csr_matrix:
    """Return an indicator matrix."""
    indicator = np.random.default_rng(1).random((N_DOCUMENTS, N_CLASSES)) < 0.2
    indicator[np.arange(N_DOCUMENTS), make_labels()] = True
    return sparse.csr_matrix(indicator.astype(float))


@cache
def make_labels() -> Any:
    """Return a label of each document."""
    return np.arange(N_DOCUMENTS) % N_CLASSES


# What is wrong with a matrix.


def _set_index(X: Any, rng: random.Random) -> Any:
    X.indices[rng.randrange(X.indices.size)] = rng.choice([-1, -7, 99, 2**31 - 1, -(2**31)])
    return X


def _set_wide_index(X: Any, rng: random.Random) -> Any:
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    X.indices[rng.randrange(X.indices.size)] = rng.choice([2**31, 2**40, 2**62, -(2**40), -(2**63)])
    return X


def _let_indptr_fall(X: Any, rng: random.Random) -> Any:
    place = rng.randrange(1, X.indptr.size - 1)
    X.indptr[place] = rng.choice([X.indptr[place + 1] + 1, -1, 2**31 - 1, -(2**31)])
    return X


def _move_indptr(X: Any, rng: random.Random) -> Any:
    X.indptr += rng.choice([1, -1, 2**20])
    return X


def _stretch_indptr(X: Any, rng: random.Random) -> Any:
    X.indptr[-1] += rng.choice([1, 1000, 2**28])
    return X


def _cut_arrays(X: Any, rng: random.Random) -> Any:
    name = rng.choice(["indptr", "indices", "data"])
    array = getattr(X, name)
    setattr(X, name, rng.choice([array[:-1], array[:1], array[:0], np.append(array, array[:1])]))
    return X


def _retype_arrays(X: Any, rng: random.Random) -> Any:
    name = rng.choice(["indptr", "indices"])
    array = getattr(X, name)
    kinds = [array.astype(float), array[None], array.astype(object), array.astype("<U3")]
    setattr(X, name, rng.choice([*kinds, array.astype(np.uint32)]))
    return X


def _narrow(X: Any, rng: random.Random) -> Any:
    n_rows, n_columns = X.shape
    shapes = [(n_rows, n_columns - 1), (n_rows, 1), (n_rows - 1, n_columns), (n_rows * 1000, 9)]
    X._shape = rng.choice(shapes)
    return X


def _set_cell(X: Any, rng: random.Random) -> Any:
    array = rng.choice([X.row, X.col])
    array[rng.randrange(array.size)] = rng.choice([-1, 99, 2**31 - 1, -(2**31)])
    return X


def _cut_cells(X: Any, rng: random.Random) -> Any:
    name = rng.choice(["row", "col", "data"])
    setattr(X, name, rng.choice([getattr(X, name)[:-1], getattr(X, name)[:0]]))
    return X


def _set_column(X: Any, rng: random.Random) -> Any:
    columns = rng.choice([row for row in X.rows if row])
    columns[-1] = rng.choice([-1, 99, 2**40, 2**70, "a", None])
    return X


def _lengthen_list(X: Any, rng: random.Random) -> Any:
    lists = rng.choice([X.rows, X.data])
    lists[rng.randrange(len(lists))].extend([1] * rng.choice([1, 10_000]))
    return X


def _set_key(X: Any, rng: random.Random) -> Any:
    X._dict[rng.choice([(0, -1), (-1, 0), (99, 0), (0, 99), (2**40, 0), (0, 2**70)])] = 1.0
    return X


def _set_offset(X: Any, rng: random.Random) -> Any:
    X.offsets = X.offsets.astype(np.int64)
    X.offsets[rng.randrange(X.offsets.size)] = rng.choice([2**40, -(2**63), 2**63 - 1])
    return X


def _cut_offsets(X: Any, rng: random.Random) -> Any:
    X.offsets = rng.choice([X.offsets[:-1], X.offsets[:1], X.offsets.astype(float)])
    return X


# What is only unusual.


def _shuffle_rows(X: Any, rng: random.Random) -> Any:
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        order = list(range(start, stop))
        rng.shuffle(order)
        X.indices[start:stop], X.data[start:stop] = X.indices[order], X.data[order]
    X.has_canonical_format = X.has_sorted_indices = False
    return X


def _repeat_cells(X: Any, rng: random.Random) -> Any:
    indptr, values = 2 * X.indptr, np.repeat(X.data / 2, 2)
    return type(X)((values, np.repeat(X.indices, 2), indptr), shape=X.shape)


def _store_zeros(X: Any, rng: random.Random) -> Any:
    full = type(X)(np.ones(X.shape))
    full.data = np.asarray(X.toarray().ravel("F" if X.format == "csc" else "C"))
    return full


def _keep_reserve(X: Any, rng: random.Random) -> Any:
    X.data = np.append(X.data, [np.nan, 7.0])
    X.indices = np.append(X.indices, [2**31 - 1, -5]).astype(X.indices.dtype)
    return X


def _widen_indices(X: Any, rng: random.Random) -> Any:
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def _mix_indices(X: Any, rng: random.Random) -> Any:
    name = rng.choice(["indices", "indptr"])
    kind = rng.choice([np.int16, np.int64, ">i4", ">i8"])
    setattr(X, name, getattr(X, name).astype(kind))
    return X


def _retype_values(X: Any, rng: random.Random) -> Any:
    X.data = X.data.astype(rng.choice([np.float32, np.int8, np.int64, np.uint16, np.bool_]))
    return X


def _lock(X: Any, rng: random.Random) -> Any:
    for array in (X.indptr, X.indices, X.data):
        array.flags.writeable = False
    return X


def _space_out(X: Any, rng: random.Random) -> Any:
    X.indptr, X.indices = np.repeat(X.indptr, 2)[::2], np.repeat(X.indices, 2)[::2]
    X.data = np.repeat(X.data, 2, axis=0)[::2]
    return X


OF_COMPRESSED = [
    *(_set_index, _set_wide_index, _let_indptr_fall, _move_indptr, _stretch_indptr),
    *(_cut_arrays, _retype_arrays, _narrow),
]
OF_CELLS, OF_LISTS, OF_KEYS = [_set_cell, _cut_cells], [_set_column, _lengthen_list], [_set_key]
OF_DIAGONALS = [_set_offset, _cut_offsets]
OF_ARRAYS = [_shuffle_rows, _store_zeros, _keep_reserve, _widen_indices, _mix_indices, _space_out]
OF_VALUES = [*OF_ARRAYS, _repeat_cells, _retype_values, _lock]


# What takes a matrix.


@cache
def list_estimators() -> dict[str, Any]:
    """Return the unfitted estimators."""
    svc = spokeshave.DualLinearSVC(random_state=0)
    return {
        "DualLinearSVC": svc,
        "calibrated": spokeshave.DualLinearSVC(probability=True, prior="bns", random_state=0),
        "ShavedSVC": spokeshave.ShavedSVC(svc, cv=2, random_state=0),
        "NormalSelector": spokeshave.NormalSelector(svc, n_features=5, random_state=0),
        "BudgetedSVC": spokeshave.BudgetedSVC(MEMORY, estimator=svc, random_state=0),
        "ShapedSVC": spokeshave.ShapedSVC(svc, random_state=0),
        "ShapedSVC of binary": spokeshave.ShapedSVC(svc, shape="binary", random_state=0),
        "FeatureShaper": spokeshave.FeatureShaper(),
        "FeatureShaper of raw": spokeshave.FeatureShaper(shape=None, keep_raw=True),
        "FeatureShaper of binary": spokeshave.FeatureShaper(shape="binary"),
        "FeatureShaper of nothing": spokeshave.FeatureShaper(shape=None, scale=None),
        "LocalProbabilityShaper": spokeshave.LocalProbabilityShaper(),
        "cross-fitted": spokeshave.LocalProbabilityShaper(cross_fit=True, cv=2, random_state=0),
        "BNSScaler": spokeshave.BNSScaler(),
        "TermWeighter": spokeshave.TermWeighter(),
    }


@cache
def fit_estimators() -> dict[str, Any]:
    """Return the fitted estimators."""
    return {
        name: clone(estimator).fit(make_documents(), make_labels())
        for name, estimator in list_estimators().items()
    }


@cache
def list_uses() -> dict[str, Callable[[Any], Any]]:
    """Return what takes documents, by name."""
    svc, y = list_estimators()["DualLinearSVC"], make_labels()
    known, fitted = make_documents(), fit_estimators()
    uses: dict[str, Callable[[Any], Any]] = {}
    for name, estimator in list_estimators().items():
        uses[f"{name}.fit"] = lambda X, each=estimator: clone(each).fit(X, y)
        if hasattr(estimator, "fit_transform"):
            uses[f"{name}.fit_transform"] = partial(_fit_transform, estimator)
        for method in ("decision_function", "predict", "predict_proba", "transform"):
            if hasattr(fitted[name], method):
                uses[f"{name}.{method}"] = getattr(fitted[name], method)
        if hasattr(estimator, "predict"):
            uses[f"{name}.score"] = lambda X, each=fitted[name]: each.score(X, y)
    rankings = spokeshave.rank_features(known, y, "chi2")
    for by in ("normal", "bns", "chi2", "naive_bayes", "perceptron", "random"):
        uses[f"rank_features by {by}"] = lambda X, by=by: spokeshave.rank_features(
            X, y, by, random_state=0
        )
    model = export_model(fitted["DualLinearSVC"])
    options: dict[str, Any] = {"cuts": [2, 5], "random_state": 0}
    return uses | {
        "rank_subsets": lambda X: spokeshave.rank_subsets(X, y, (1, 0.5), "chi2", random_state=0),
        "prune_features": lambda X: spokeshave.prune_features(X, min_df=2),
        "tune_C": lambda X: spokeshave.tune_C(svc, X, y, Cs=[0.1, 1], cv=2),
        "stability": lambda X: spokeshave.stability(X, y, **options),
        "sparsity_curve": lambda X: spokeshave.sparsity_curve(X, rankings, cuts=[2, 5]),
        "feature_curve": lambda X: spokeshave.feature_curve(X, y, cv=2, **options),
        "feature_curve of test documents": lambda X: spokeshave.feature_curve(
            known, y, X_test=X, y_test=y, **options
        ),
        "budget_curve": lambda X: spokeshave.budget_curve(
            X, y, MEMORY, X_test=known, y_test=y, random_state=0
        ),
        "budget_curve of test documents": lambda X: spokeshave.budget_curve(
            known, y, MEMORY, X_test=X, y_test=y, random_state=0
        ),
        "learning_curve": lambda X: spokeshave.learning_curve(
            svc, X, y, sizes=(0.5,), cv=2, Cs=[1.0], tune_cv=2, random_state=0
        ),
        "choose_representation": lambda X: spokeshave.choose_representation(
            X, y, effort="quick", random_state=0
        ),
        "Model.predict": model.predict,
        "Model.explain": lambda X: _explain(model, X),
    }


def _fit_transform(estimator: Any, X: Any) -> None:
    clone(estimator).fit_transform(X, make_labels())


def _explain(model: Model, X: Any) -> None:
    """Explain many documents as if they were one, which they are not."""
    try:
        model.explain(X)
    except ValueError as error:
        if "must be rows of" not in str(error):
            raise


@cache
def list_uses_of_targets() -> dict[str, Callable[[Any], Any]]:
    """Return what takes targets, by name."""
    svc, X = list_estimators()["DualLinearSVC"], make_documents()
    scores = np.ones((N_DOCUMENTS, N_CLASSES))
    fitted = clone(svc).fit(X, make_targets())
    uses: dict[str, Callable[[Any], Any]] = {}
    for name, estimator in list_estimators().items():
        if name != "TermWeighter":  # which ignores y
            uses[f"{name}.fit"] = lambda y, each=estimator: clone(each).fit(X, y)
    options: dict[str, Any] = {"cuts": [2, 5], "random_state": 0}
    return uses | {
        "score": lambda y: fitted.score(X, y),
        "precision_at_k": lambda y: spokeshave.precision_at_k(y, scores, 2),
        "rank_features": lambda y: spokeshave.rank_features(X, y, "chi2"),
        "rank_features by normal": lambda y: spokeshave.rank_features(X, y, random_state=0),
        "rank_subsets": lambda y: spokeshave.rank_subsets(X, y, (1, 0.5), "chi2", random_state=0),
        "tune_C": lambda y: spokeshave.tune_C(svc, X, y, Cs=[0.1, 1], cv=2),
        "stability": lambda y: spokeshave.stability(X, y, **options),
        "feature_curve": lambda y: spokeshave.feature_curve(X, y, cv=2, **options),
        "feature_curve of test targets": lambda y: spokeshave.feature_curve(
            X, make_targets(), X_test=X, y_test=y, **options
        ),
        "budget_curve": lambda y: spokeshave.budget_curve(
            X, y, MEMORY, X_test=X, y_test=make_targets(), random_state=0
        ),
        "learning_curve": lambda y: spokeshave.learning_curve(
            svc, X, y, sizes=(0.5,), cv=2, Cs=[1.0], tune_cv=2, random_state=0
        ),
        "choose_representation": lambda y: spokeshave.choose_representation(
            X, y, effort="quick", random_state=0
        ),
    }


SLOW = (
    *("choose_representation", "learning_curve", "BudgetedSVC.fit"),
    *("budget_curve", "budget_curve of test documents", "budget_curve of test targets"),
)
