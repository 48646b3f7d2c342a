"""The study of Kolcz and Chowdhury (2007): its parts, and their tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from papers.datasets import COLLECTIONS, FORMAN, OTHERS
from papers.kolcz2007.balance import compare_sides
from papers.kolcz2007.blocks import BLOCKS
from papers.kolcz2007.claims import CLAIMS
from papers.kolcz2007.drawing import (
    draw_curves,
    draw_normals,
    draw_peers,
    draw_problems,
    draw_speed,
    draw_support,
)
from papers.kolcz2007.masking import mask_features
from papers.kolcz2007.problems import study_pairs
from papers.kolcz2007.tables import (
    name_task,
    tabulate_curves,
    tabulate_free,
    tabulate_lengths,
    tabulate_masking,
    tabulate_peers,
    tabulate_problems,
    tabulate_quality,
    tabulate_sides,
    tabulate_speed,
    tabulate_stability,
    tabulate_support,
    tabulate_weightings,
)
from papers.kolcz2007.tasks import (
    METHODS,
    compare_duals,
    compare_lengths,
    compare_limits,
    compare_normals,
    trace_folds,
    trace_split,
)
from papers.kolcz2007.timing import time_growth, time_methods, try_peers
from papers.study import Paper, Part, Setting, Task

WEIGHTINGS = {"RCV1": "ltc", "20 Newsgroups": "tfidf", "Reuters-21578": "tfidf"}
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-6)
LENGTH_FRACTIONS = [0.05, 0.2, 0.5]
DUAL_FRACTIONS = [0.05, 0.1, 0.2, 0.5, 0.9]
N_TURNS = {
    0: 10,
    10: 5,
    30: 5,
}  # by the number of irrelevant descriptions added
N_CANDIDATES, N_PROBLEMS = 120, 10  # of each turn
PEER_LABELS = {
    "20 Newsgroups": ("comp.graphics", "rec.autos", "sci.med", "talk.politics.misc"),
    "RCV1": ("C15", "GPOL"),
}
QUICK_COLLECTION, QUICK_CLASSES, QUICK_SETS = "Reuters-21578", 2, ("tr23",)
QUICK_DIRECTORY, QUICK_COSTS = ("Health", "Science"), (0.1, 0.3)
COSTS = {"RCV1": 30.0, "20 Newsgroups": 12.0, "Reuters-21578": 9.0, "ohscal": 25.0}
METHOD_COSTS = {"mask": 0.2, "sv_set": 0.2}


def list_quality_tasks(setting: Setting) -> Iterator[Task]:
    """Yield one task per method and collection or set."""
    yield from list_curve_tasks(setting)
    for name in QUICK_SETS if setting.is_quick else FORMAN:
        for method in METHODS:
            cost = COSTS.get(name, 4.0) * METHOD_COSTS.get(method, 1.0)
            arguments = {"name": name, "method": method}
            yield Task(f"forman-{name}-{method}", trace_folds, arguments, cost)


def list_curve_tasks(setting: Setting) -> Iterator[Task]:
    """Yield one task per method and collection with a test set."""
    for collection, options in _list_collections(setting):
        for method in METHODS:
            yield _trace(collection, method, **options)


def list_weighting_tasks(setting: Setting) -> Iterator[Task]:
    """Yield a task for each collection, method and weighting."""
    for collection, options in _list_collections(setting):
        for method in ("exact", "mask"):
            yield _trace(collection, method, **options)
            yield _trace(collection, method, weighting=WEIGHTINGS[collection], **options)


def list_length_tasks(setting: Setting) -> Iterator[Task]:
    """Yield one task per collection, except for RCV1, which takes longer and adds nothing."""
    for collection, options in _list_collections(setting):
        if collection != "RCV1":
            arguments = {"collection": collection, "fractions": LENGTH_FRACTIONS, **options}
            name = name_task(collection, "lengths")
            yield Task(name, compare_lengths, arguments, 2 * COSTS[collection])


def list_problem_tasks(setting: Setting) -> Iterator[Task]:
    """Yield turns of choosing and studying two-class problems."""
    turns = {0: 1, 30: 1} if setting.is_quick else N_TURNS
    n_candidates, n_problems = (5, 2) if setting.is_quick else (N_CANDIDATES, N_PROBLEMS)
    sets: dict[str, Any] = {"sets": list(QUICK_DIRECTORY)} if setting.is_quick else {}
    for noise, n_turns in turns.items():
        for turn in range(n_turns):
            arguments = {
                "turn": turn,
                "n_turns": n_turns,
                "n_candidates": n_candidates,
                "n_problems": n_problems,
                "low": 0.6,
                "noise": noise,
                **sets,
            }
            yield Task(f"pairs-{noise}-{turn}", study_pairs, arguments, 20.0)


def list_stability_tasks(setting: Setting) -> Iterator[Task]:
    """Yield a task for each collection and way to retrain."""
    for collection, options in _list_collections(setting):
        for method in ("exact", "warm"):
            arguments = {"collection": collection, "method": method, **options}
            name = name_task(collection, "stability", method)
            yield Task(name, compare_normals, arguments, COSTS[collection])


def list_support_tasks(setting: Setting) -> Iterator[Task]:
    """Yield tasks on support vectors, on the limit of all features, and on alpha."""
    yield from list_stability_tasks(setting)
    for collection, options in _list_collections(setting):
        for renormalize in (True, False):
            common = {"collection": collection, "renormalize": renormalize, **options}
            how = "renormalized" if renormalize else "kept"
            for tol in TOLERANCES[:: 3 if setting.is_quick else 1]:
                name = f"limit-{name_task(collection, how)}-tol_{tol}"
                yield Task(name, compare_limits, {"tol": tol, **common}, COSTS[collection] / 3)
            if collection != "RCV1":
                name = f"duals-{name_task(collection, how)}"
                arguments = {"fractions": DUAL_FRACTIONS, **common}
                yield Task(name, compare_duals, arguments, COSTS[collection])


def list_speed_tasks(setting: Setting) -> Iterator[Task]:
    """Yield tasks that measure time and therefore run alone."""
    rounds: dict[str, Any] = {"rounds": 1} if setting.is_quick else {}
    for collection, options in _list_collections(setting):
        if setting.is_quick or collection != "Reuters-21578":
            arguments = {"collection": collection, **rounds, **options}
            for kind, run in (("speed", time_methods), ("growth", time_growth)):
                name = f"{kind}-{name_task(collection)}"
                yield Task(name, run, arguments, 4 * COSTS[collection], is_alone=True)


def list_side_tasks(setting: Setting) -> Iterator[Task]:
    """Yield one task per collection with binary rows, and of no paper's with weighted rows too."""
    collections = dict(_list_collections(setting))
    if not setting.is_quick:
        collections |= {name: {} for name in OTHERS}
    for collection, options in collections.items():
        for weighting in ("binary", "tfidf") if collection in OTHERS else ("binary",):
            arguments = {"collection": collection, "weighting": weighting, **options}
            name = f"sides-{name_task(collection, weighting)}".replace(",", "")
            yield Task(name, compare_sides, arguments, COSTS.get(collection, 6.0))


def list_masking_tasks(setting: Setting) -> Iterator[Task]:
    """Yield one task per collection."""
    for collection, options in _list_collections(setting):
        arguments = {"collection": collection, **options}
        yield Task(name_task(collection, "masking"), mask_features, arguments, COSTS[collection])


def list_free_tasks(setting: Setting) -> Iterator[Task]:
    """Yield the tasks of Table 1 and Figures 1, 2 and 4 for models with a free intercept."""
    for list_tasks in (list_quality_tasks, list_problem_tasks, list_support_tasks):
        for task in list_tasks(setting):
            arguments = task.arguments | {"fit_intercept": "free"}
            yield task._replace(name=f"free-{task.name}", arguments=arguments)


def list_peer_tasks(setting: Setting) -> Iterator[Task]:
    """Yield one task per class for the selectors of scikit-learn."""
    labels = {QUICK_COLLECTION: ("earn",)} if setting.is_quick else PEER_LABELS
    costs: dict[str, Any] = {"costs": list(QUICK_COSTS)} if setting.is_quick else {}
    for collection, names in labels.items():
        for label in names:
            arguments = {"collection": collection, "label": label, **costs}
            name = f"peers-{name_task(collection)}-{label}"
            yield Task(name, try_peers, arguments, COSTS[collection], is_alone=True)


def _list_collections(setting: Setting) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield collections with their options; a quick run uses one collection and few classes."""
    for collection in COLLECTIONS:
        if not setting.is_quick:
            yield collection, {}
        elif collection == QUICK_COLLECTION:
            yield collection, {"n_classes": QUICK_CLASSES}


def _trace(collection: str, method: str, **options: Any) -> Task:
    arguments = {"collection": collection, "method": method, **options}
    name = name_task(
        collection, method, *([options["weighting"]] if "weighting" in options else [])
    )
    return Task(name, trace_split, arguments, COSTS[collection] * METHOD_COSTS.get(method, 1.0))


PAPER = Paper(
    name="kolcz2007",
    title=(
        "Kołcz & Chowdhury, Avoidance of Model Re-Induction in SVM-based Feature Selection for "
        "Text Categorization, IJCAI 2007"
    ),
    parts=(
        Part(
            "table1",
            "Best AUC and best F1 of each class, and tests against retraining",
            list_quality_tasks,
            tabulate_quality,
        ),
        Part(
            "figure1",
            "Average best F1 and AUC at every cut",
            list_curve_tasks,
            tabulate_curves,
            draw_curves,
        ),
        Part(
            "weighting",
            "Section 4.1: binary rows against TF-IDF, both of length one",
            list_weighting_tasks,
            tabulate_weightings,
        ),
        Part(
            "lengths",
            "Section 3.2: support vectors or documents scaled to length one again, or both",
            list_length_tasks,
            tabulate_lengths,
        ),
        Part(
            "figure2",
            "Best AUC over two-class problems, a stand-in for TechTC-100",
            list_problem_tasks,
            tabulate_problems,
            draw_problems,
        ),
        Part(
            "figure3",
            "Cosine and correlation of masked and retrained normals",
            list_stability_tasks,
            tabulate_stability,
            draw_normals,
        ),
        Part(
            "figure4",
            "Overlap and containment of support vectors, and why they stay below one",
            list_support_tasks,
            tabulate_support,
            draw_support,
        ),
        Part(
            "speed",
            "What the methods cost, next to retraining and to naive Bayes",
            list_speed_tasks,
            tabulate_speed,
            draw_speed,
        ),
        Part(
            "peers",
            "Beyond the paper: RFE and L1 selection of scikit-learn",
            list_peer_tasks,
            tabulate_peers,
            draw_peers,
        ),
        Part(
            "masking",
            "Section 3.1: how far one masked feature leads from the optimum",
            list_masking_tasks,
            tabulate_masking,
        ),
        Part(
            "sides",
            "Beyond the paper: the sv set with one factor for each side",
            list_side_tasks,
            tabulate_sides,
        ),
    ),
    extras=(
        Part(
            "free",
            "Table 1 and Figures 1, 2 and 4 with a free intercept, as in equation 3",
            list_free_tasks,
            tabulate_free,
        ),
    ),
    claims=CLAIMS,
    blocks=BLOCKS,
    needs=(
        *("rcv1", "20news-bydate.tar.gz", "reuters21578.tar.gz", "forman", "dmoz"),
        *("ohsumed", "sms_spam.tsv", "thucnews"),
    ),
)
