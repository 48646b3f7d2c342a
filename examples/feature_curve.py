"""Quality against number of features on 20 Newsgroups, by cross-validation, as a picture.

SPOKESHAVE_DATA=/path/to/data python examples/feature_curve.py docs/feature_curve.png
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from spokeshave import DocumentVectorizer, feature_curve
from spokeshave.corpus import read_folders

archive = Path(os.environ["SPOKESHAVE_DATA"]) / "20news-bydate.tar.gz"
news = read_folders(archive, under="20news-bydate-train", encoding="latin-1")
X = DocumentVectorizer(n_jobs=-1).fit_transform(news.texts)
curve = feature_curve(X, news.labels, cv=5, n_jobs=-1, random_state=0)
choice = curve.smallest_within()
print(choice)
print(f"{curve.seconds:.2f} s, {curve.fit_seconds:.2f} of them for the five fits")
axes = curve.plot(choice=choice)
axes.set_title("20 Newsgroups: the smallest cut within one standard error of the best")
axes.figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "feature_curve.png", dpi=120)
