"""Draw what shaping makes of a feature: run with the path of a picture to write.

The feature is the width of a petal, the class the iris in the middle: no weight can tell a flower
whose petals are neither narrow nor wide, but a weight on the shaped feature can.
"""

from __future__ import annotations

import sys

import matplotlib
from sklearn.datasets import load_iris

from spokeshave import LocalProbabilityShaper


def main() -> None:
    """Shape, draw, write the picture."""
    matplotlib.use("Agg")
    flowers = load_iris(as_frame=True)
    is_versicolor = (flowers.target == 1).map({True: "versicolor", False: "another"})
    shaper = LocalProbabilityShaper().fit(flowers.data, is_versicolor)
    ax = shaper.plot("petal width (cm)")
    ax.figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "feature_shape.png", dpi=150)


if __name__ == "__main__":
    main()
