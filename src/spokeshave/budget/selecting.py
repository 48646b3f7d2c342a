"""The choice of features: pruned, ranked on the subset, and cut."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spokeshave.budget.costs import Costs
from spokeshave.budget.memory import give_back
from spokeshave.budget.plan import Cut, Plan, count_bearable, count_fitting
from spokeshave.budget.ranker import MOST_JUDGES, Ranker, Remaining, prune
from spokeshave.budget.request import Request
from spokeshave.budget.room import Room
from spokeshave.budget.rounds import Objective
from spokeshave.budget.sample import Sample
from spokeshave.budget.store import number_features
from spokeshave.budget.surveying import Surveyed
from spokeshave.curves.cuts import accumulate, count_within
from spokeshave.text.document_frequency import find_limits


@dataclass(frozen=True, eq=False)
class Selection:
    """The features that are kept, the most frequent first."""

    features: Any
    idf: NDArray[np.float32] | None
    cut: Cut


def select_features(
    surveyed: Surveyed,
    request: Request,
    plan: Plan,
    objective: Objective,
    room: Room,
    costs: Costs,
) -> Selection:
    """Prune, rank and cut the features of the subset, whose documents are not the same after."""
    sample = surveyed.sample
    sample.close()
    give_back()
    n_sampled = len(sample)
    pruned = _prune(sample, request)
    idf = None
    if sample.lexicon is not None and request.weighting == "tfidf":
        idf = (np.log((1 + n_sampled) / (1.0 + pruned.frequency)) + 1).astype(np.float32)
    choice = _Choice.everything(pruned.frequency.size)
    if not plan.fits_whole or request.nonzeros_per_document is not None:
        sample.thin_judges(MOST_JUDGES)
        _prepare(sample, pruned, idf)
        ranker = _make_ranker(request, objective, len(surveyed.classes))
        order, value = ranker.rank(sample, pruned.frequency.size)
        ranked = _Ranked(order, value, accumulate(pruned.frequency, order, n_sampled))
        choice = _choose(ranker, sample, ranked, plan.n_documents, request, room, costs)
    cut = _describe(choice, pruned, n_sampled, plan.n_documents, costs)
    numbers = pruned.features[choice.kept]
    features: Any = numbers if sample.lexicon is None else sample.lexicon.spell(numbers)
    return Selection(features, None if idf is None else idf[choice.kept], cut)


@dataclass(frozen=True, eq=False)
class _Choice:
    """The features kept, by the numbers that pruning gave them."""

    kept: NDArray[Any]
    n_ranked: int
    needed: int
    in_memory: bool

    @classmethod
    def everything(cls, n_features: int) -> _Choice:
        return cls(np.arange(n_features), n_features, 0, True)


class _Ranked(NamedTuple):
    """Features from the best on, what they are worth in all, and nonzeros per document of them."""

    order: NDArray[np.uint32]
    value: float
    per_document: NDArray[np.float64]


def _choose(
    ranker: Ranker,
    sample: Sample,
    ranked: _Ranked,
    n_documents: int,
    request: Request,
    room: Room,
    costs: Costs,
) -> _Choice:
    """Keep as many of the features as are wanted, as fit, or as are needed."""
    order, value, per_document = ranked
    n_fitting, needed = count_fitting(per_document[1:], n_documents, room, costs), 0
    if request.nonzeros_per_document is not None:
        n_kept = int(count_within(per_document, request.nonzeros_per_document))
    elif n_fitting < order.size:
        most = count_bearable(order.size, room, costs)
        needed = min(ranker.find_needed(sample, order, per_document, value, n_fitting), most)
        n_kept = max(needed, n_fitting)
    else:
        n_kept = order.size
    return _Choice(np.sort(order[:n_kept]), order.size, needed, n_kept <= n_fitting)


def _make_ranker(request: Request, objective: Objective, n_classes: int) -> Ranker:
    return Ranker(
        by=request.by,
        objective=objective,
        stop=request.stop,
        norm=request.norm,
        tolerance=request.tolerance,
        n_classes=n_classes,
        seed=request.seed,
        n_jobs=request.n_jobs,
    )


def _prune(sample: Sample, request: Request) -> Remaining:
    frequency = sample.count()
    lowest, highest = 1.0, float("inf")
    is_stopped = np.zeros(frequency.size, bool)
    if sample.lexicon is not None:
        lowest, highest = find_limits(request.min_df, request.max_df, len(sample))
        if request.stop_words:
            words = sample.lexicon.spell(np.arange(frequency.size))
            is_stopped = np.array([word in request.stop_words for word in words])
    pruned = prune(frequency, lowest, highest, is_stopped)
    if not pruned.features.size and sample.lexicon is None:
        raise ValueError("No feature is left: no document has a value that is not zero.")
    if not pruned.features.size:
        raise ValueError(
            f"No word is left: all {frequency.size} are stop words or outside min_df="
            f"{request.min_df} and max_df={request.max_df}. Lower min_df or raise max_df."
        )
    return pruned


def _prepare(sample: Sample, pruned: Remaining, idf: NDArray[np.float32] | None) -> None:
    """Leave pruned features out of the documents, and weigh the others."""
    sample.renumber(number_features(pruned.features, sample.n_features))
    if idf is not None:
        sample.multiply(idf)


def _describe(
    choice: _Choice, pruned: Remaining, n_sampled: int, n_documents: int, costs: Costs
) -> Cut:
    expected = float(pruned.frequency[choice.kept].sum()) / max(n_sampled, 1)
    return Cut(
        n_features=int(choice.kept.size),
        n_ranked=int(choice.n_ranked),
        n_rare=pruned.n_rare,
        n_frequent=pruned.n_frequent,
        per_document=expected,
        needed=int(choice.needed),
        n_bytes=round(n_documents * (12 + expected * costs.cell)),
        in_memory=bool(choice.in_memory),
    )


def save_selection(folder: Path, selection: Selection) -> None:
    """Write which features are kept."""
    if isinstance(selection.features, list):
        words = "".join(f"{word}\n" for word in selection.features)
        (folder / "words.txt").write_bytes(words.encode("utf-8"))
    else:
        np.save(folder / "features.npy", selection.features)
    if selection.idf is not None:
        np.save(folder / "idf.npy", selection.idf)
    (folder / "cut.json").write_text(json.dumps(asdict(selection.cut)))


def load_selection(folder: Path) -> Selection:
    """Read which features an earlier run has kept."""
    words, idf = folder / "words.txt", folder / "idf.npy"
    features: Any
    if words.exists():
        features = words.read_bytes().decode("utf-8").split("\n")[:-1]
    else:
        features = np.load(folder / "features.npy")
    cut = Cut(**json.loads((folder / "cut.json").read_bytes()))
    return Selection(features, np.load(idf) if idf.exists() else None, cut)
