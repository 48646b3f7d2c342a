"""The study of Forman, Scholz and Rajaram."""

from __future__ import annotations

from functools import partial

from papers.forman2009 import drawing, tables, tasks
from papers.forman2009.blocks import BLOCKS
from papers.forman2009.claims import CLAIMS
from papers.study import Paper, Part

PAPER = Paper(
    name="forman2009",
    title="Forman, Scholz and Rajaram: Feature shaping for linear SVM classifiers, KDD 2009",
    parts=(
        Part("table1", "the data sets", tasks.list_sets, tables.tabulate_sets),
        Part(
            "text",
            "Figures 1, 2, 8 and 9: learning curves of the 104 text tasks",
            partial(tasks.list_tasks, "text"),
            tables.tabulate,
            drawing.draw_text,
        ),
        Part(
            "uci",
            "Figures 3 to 7 and 10: learning curves, each task, and the lesion study of 64 tasks",
            partial(tasks.list_tasks, "uci"),
            tables.tabulate,
            drawing.draw_uci,
        ),
    ),
    claims=CLAIMS,
    needs=("forman", "uci"),
    blocks=BLOCKS,
)
