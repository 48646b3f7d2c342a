"""Draw quality and sparsity against the number of features on 20 Newsgroups.

Writes feature_curve.png and sparsity_curve.png to a folder:

    SPOKESHAVE_DATA=/path/to/data python examples/newsgroups_curves.py docs
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from spokeshave import (
    DocumentVectorizer,
    feature_curve,
    rank_features,
    rank_subsets,
    sparsity_curve,
)
from spokeshave.corpus import read_folders

CRITERIA = ("information_gain", "bns", "odds_ratio", "random")

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
archive = Path(os.environ["SPOKESHAVE_DATA"]) / "20news-bydate.tar.gz"
news = read_folders(archive, under="20news-bydate-train", encoding="latin-1")
X = DocumentVectorizer(n_jobs=-1).fit_transform(news.texts)

quality = feature_curve(X, news.labels, cv=5, n_jobs=-1, random_state=0)
choice = quality.smallest_within()
print(choice)
print(f"{quality.seconds:.2f} s, {quality.fit_seconds:.2f} of them for the five fits")
axes = quality.plot(choice=choice)
axes.set_title("20 Newsgroups: the smallest cut within one standard error of the best")
axes.figure.savefig(folder / "feature_curve.png", dpi=120)

rankings = rank_subsets(X, news.labels, (1, 1 / 4, 1 / 16), random_state=0, n_jobs=-1)
rankings |= {by: rank_features(X, news.labels, by, random_state=0) for by in CRITERIA}
sparsity = sparsity_curve(X, rankings)
for name, counts in zip(rankings, sparsity.count_features(20), strict=True):
    print(f"{name}: {counts.mean():,.0f} features leave 20 nonzeros per document")
axes = sparsity.plot()
axes.set_title("20 Newsgroups: nonzeros per document at equal numbers of features")
axes.figure.savefig(folder / "sparsity_curve.png", dpi=120)
