"""Judges of what the paper says about its data sets: Table 1."""

from __future__ import annotations

from spokeshave.papers.forman2009 import published
from spokeshave.papers.forman2009.judges.gains import NotRunError
from spokeshave.papers.forman2009.judges.wording import grade
from spokeshave.papers.forman2009.tables import (
    FACTS,
    TASK,
)
from spokeshave.reproduction import Tables, Verdict

BYTES = 8  # of a number; a sparse one has an index of half of that beside it


def judge_sets(tables: Tables) -> Verdict:
    """Judge whether the data sets are those of Table 1."""
    differing = {
        row["set"]: [
            f"{fact} {row[fact]:g} for {row[f'published_{fact}']:g}"
            for fact in FACTS
            if abs(row[fact] - row[f"published_{fact}"]) > 0.051  # per cents have one digit
        ]
        for row in tables["sets"].to_dicts()
    }
    same = [name for name, facts in differing.items() if not facts]
    others = "; ".join(f"{name}: {', '.join(facts)}" for name, facts in differing.items() if facts)
    figures = f"{len(same)} of {len(differing)} sets agree in every number"
    word = grade(len(same) == len(differing), 2 * len(same) > len(differing))
    return Verdict(word, f"{figures}; {others}" if others else figures)


def judge_tasks(tables: Tables) -> Verdict:
    """Judge the number of tasks."""
    found = {name: tables[name].select(TASK).unique().height for name in published.TASKS}
    word = grade(found == published.TASKS)
    return Verdict(word, f"{found['text']} text tasks, {found['uci']} UCI tasks")


def judge_memory(tables: Tables) -> Verdict:
    """Judge what keeping zero at zero saves."""
    found = tables["sets"].filter(set="ohscal").to_dicts()
    if not found:
        raise NotRunError("ohscal")
    nonzeros, places = found[0]["nonzeros"], found[0]["cases"] * found[0]["columns"]
    kept, dense = nonzeros * 1.5 * BYTES / 1e6, places * BYTES / 1e6
    times = published.OHSCAL_DENSE_MEGABYTES / published.OHSCAL_MEGABYTES
    word = grade(dense > 0.5 * times * kept, dense > 10 * kept)
    figures = f"{nonzeros:,} nonzeros take {kept:.1f} MB, all {places:,} values {dense:,.0f} MB"
    return Verdict(word, figures)
