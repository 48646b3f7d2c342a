"""The study of Malik and Tarique, and of the method of Brank et al. that they analyse."""

from __future__ import annotations

from papers.malik import learners, memory, pruning, quality, sparsity
from papers.malik.claims import CLAIMS
from papers.malik.drawing import (
    draw_learners,
    draw_memory,
    draw_pruning,
    draw_quality,
    draw_sparsity,
)
from papers.study import Paper, Part

PAPER = Paper(
    name="malik",
    title=(
        "Malik and Tarique, Analysis of sparsity in a support vector machine based feature "
        "selection method"
    ),
    parts=(
        Part(
            "sparsity",
            "Nonzeros per document against number of features",
            sparsity.list_tasks,
            sparsity.tabulate_sparsity,
            draw_sparsity,
        ),
        Part(
            "quality",
            "Quality against sparsity, retrained on what is kept",
            quality.list_tasks,
            quality.tabulate_quality,
            draw_quality,
        ),
        Part(
            "memory",
            "Quality at constant memory as documents are traded for sparsity",
            memory.list_tasks,
            memory.tabulate_memory,
            draw_memory,
        ),
        Part(
            "pruning",
            "Without rare words and frequent ones",
            pruning.list_tasks,
            pruning.tabulate_pruning,
            draw_pruning,
        ),
        Part(
            "learners",
            "The linear SVM next to other classifiers",
            learners.list_tasks,
            learners.tabulate_learners,
            draw_learners,
        ),
    ),
    claims=CLAIMS,
    needs=("rcv1", "reuters21578.tar.gz"),
)
