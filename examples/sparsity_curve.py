"""Nonzeros per document against number of features on 20 Newsgroups, as a picture.

SPOKESHAVE_DATA=/path/to/data python examples/sparsity_curve.py docs/sparsity_curve.png
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from spokeshave import DocumentVectorizer, rank_features, rank_subsets, sparsity_curve
from spokeshave.corpus import read_folders

CRITERIA = ("information_gain", "bns", "odds_ratio", "random")

archive = Path(os.environ["SPOKESHAVE_DATA"]) / "20news-bydate.tar.gz"
news = read_folders(archive, under="20news-bydate-train", encoding="latin-1")
X = DocumentVectorizer(n_jobs=-1).fit_transform(news.texts)
rankings = rank_subsets(X, news.labels, (1, 1 / 4, 1 / 16), random_state=0, n_jobs=-1)
rankings |= {by: rank_features(X, news.labels, by, random_state=0) for by in CRITERIA}
curve = sparsity_curve(X, rankings)
for name, counts in zip(rankings, curve.count_features(20), strict=True):
    print(f"{name}: {counts.mean():,.0f} features leave 20 nonzeros per document")
axes = curve.plot()
axes.set_title("20 Newsgroups: what equal numbers of features leave of a document")
axes.figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "sparsity_curve.png", dpi=120)
