"""A run in a given memory: survey, rank, reduce, train, each stage kept until all is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.budget.classes import Classes
from spokeshave.budget.costs import Costs
from spokeshave.budget.memory import give_back, measure_resident
from spokeshave.budget.plan import Cut, Plan, make_plan, measure_disk
from spokeshave.budget.reducing import Reduced, complain_of_change, load_reduced, reduce_feed
from spokeshave.budget.request import Feed, Reporter, Request
from spokeshave.budget.room import LEAST, Room, find_room, find_spare
from spokeshave.budget.rounds import Objective, Setting, Weights, train_classes
from spokeshave.budget.selecting import (
    Selection,
    load_selection,
    save_selection,
    select_features,
)
from spokeshave.budget.shards import list_shards
from spokeshave.budget.survey import Survey
from spokeshave.budget.surveying import (
    Surveyed,
    load_survey,
    make_sample,
    save_survey,
    survey_feed,
)
from spokeshave.budget.workplace import Workplace
from spokeshave.errors import CorpusError

SHARDS = 8  # ranges that documents on the disk are read in take one part in so many of the memory


@dataclass(frozen=True, eq=False)
class Result:
    """A trained model.

    Attributes
    ----------
    classes : ndarray
        The classes, in order.
    features : list of str or ndarray of int
        What is kept: words, or the numbers of features.
    idf : ndarray or None
        Inverse document frequencies of the words, for "tfidf".
    weights : Weights
        A row per class.
    checksum : int
        Tells the documents from any others.
    survey, plan, cut, reduced
        What was found on the way.
    """

    classes: NDArray[Any]
    features: Any
    idf: NDArray[np.float32] | None
    weights: Weights
    checksum: int
    survey: Survey
    plan: Plan
    cut: Cut
    reduced: Reduced


def run(
    feed: Feed,
    request: Request,
    workplace: Workplace,
    reporter: Reporter,
    room: Room | None = None,
) -> Result:
    """Survey the documents, rank their features on a subset, reduce all of them, and train.

    What an earlier run has finished in the same workplace is not done again. The room is what
    the budget leaves, unless it is told.
    """
    room = room or find_room(request.memory)
    reporter.begin("surveying")
    stamps = feed.stamps
    surveyed = _survey(feed, request, workplace, room, reporter)
    survey, classes, checksum = surveyed.survey, surveyed.classes, surveyed.checksum
    names, codes = classes.rank(feed.is_multilabel)
    objective = request.svm(names, codes, survey)
    costs = Costs(len(codes), request.n_threads, request.has_values(feed))
    plan = make_plan(survey, surveyed.sample, room, costs)
    reporter.say(str(plan))
    reporter.begin("ranking")
    selection = _select(surveyed, request, workplace, plan, objective, room, costs)
    reporter.say(str(selection.cut))
    del surveyed
    give_back()
    reporter.begin("reducing")
    if _has_changed(feed, stamps):
        workplace.clear()
        raise complain_of_change(feed)
    if not workplace.has("reduced"):
        workplace.require(measure_disk(selection.cut, survey.n_documents, costs))
    _reduce(feed, request, workplace, selection, classes, survey, checksum, reporter)
    reporter.begin("training")
    weights = _train(request, workplace, len(selection.features), objective, costs, reporter)
    return Result(
        classes=names,
        features=selection.features,
        idf=selection.idf,
        weights=weights,
        checksum=checksum,
        survey=survey,
        plan=plan,
        cut=selection.cut,
        reduced=load_reduced(workplace.find("reduced")),
    )


def _has_changed(feed: Feed, stamps: list[Any]) -> bool:
    try:
        return feed.stamps != stamps
    except (OSError, CorpusError):  # it is gone
        return True


def _survey(
    feed: Feed, request: Request, workplace: Workplace, room: Room, reporter: Reporter
) -> Surveyed:
    if workplace.has("survey"):
        return load_survey(workplace.find("survey"), make_sample(feed, request, room))
    surveyed = survey_feed(feed, request, room, reporter)
    with workplace.enter("survey") as folder:
        save_survey(folder, surveyed)
    return surveyed


def _select(
    surveyed: Surveyed,
    request: Request,
    workplace: Workplace,
    plan: Plan,
    objective: Objective,
    room: Room,
    costs: Costs,
) -> Selection:
    if workplace.has("ranking"):
        return load_selection(workplace.find("ranking"))
    selection = select_features(surveyed, request, plan, objective, room, costs)
    with workplace.enter("ranking") as folder:
        save_selection(folder, selection)
    return selection


def _reduce(
    feed: Feed,
    request: Request,
    workplace: Workplace,
    selection: Selection,
    classes: Classes,
    survey: Survey,
    checksum: int,
    reporter: Reporter,
) -> None:
    if workplace.has("reduced"):
        return
    try:
        with workplace.enter("reduced") as folder:
            n_documents = survey.n_documents
            found = reduce_feed(feed, request, selection, classes, n_documents, folder, reporter)
            if found != checksum:
                raise complain_of_change(feed)
    except CorpusError:
        workplace.clear()  # what was found before is not of what is there now
        raise


def _train(
    request: Request,
    workplace: Workplace,
    n_features: int,
    objective: Objective,
    costs: Costs,
    reporter: Reporter,
) -> Weights:
    """Train on all documents: in memory where that is possible, and otherwise over the disk."""
    give_back()
    spare = find_spare(request.memory) // 3
    taken = measure_resident() + spare + n_features * costs.feature
    free = max(request.memory - taken, LEAST // 2)
    folder = workplace.find("reduced")
    reduced = load_reduced(folder)
    n_bytes = reduced.n_nonzeros * costs.cell + reduced.n_documents * costs.row
    most_cells, room = reduced.n_nonzeros + reduced.n_documents, 0
    if n_bytes > free:
        share = free // SHARDS
        room = free - share
        most_cells = max(1, most_cells * share // (n_bytes * costs.n_busy))
    setting = Setting(
        shards=list_shards(folder, request.norm, most_cells),
        room=room,
        folder=workplace.find("training"),
        n_features=n_features,
        stop=request.stop,
        seed=request.seed,
        n_jobs=request.n_jobs,
        report=reporter.reach,
    )
    with workplace.naming():
        return train_classes(objective, setting)
