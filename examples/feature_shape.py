"""Draw the shape of a feature.

The feature is the petal width of irises, the class is versicolor, whose petals are neither narrow
nor wide. No weight on the width separates it from the rest, but a weight on the shaped width does.

    python examples/feature_shape.py docs/feature_shape.png
"""

from __future__ import annotations

import sys

import matplotlib
from sklearn.datasets import load_iris

from spokeshave import LocalProbabilityShaper


def main() -> None:
    """Shape the feature and write the picture."""
    matplotlib.use("Agg")
    flowers = load_iris(as_frame=True)
    is_versicolor = (flowers.target == 1).map({True: "versicolor", False: "another"})
    shaper = LocalProbabilityShaper().fit(flowers.data, is_versicolor)
    ax = shaper.plot("petal width (cm)")
    ax.figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "feature_shape.png", dpi=150)


if __name__ == "__main__":
    main()
