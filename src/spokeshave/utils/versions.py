"""Versions of the packages that a result depends on."""

from __future__ import annotations

import platform
from importlib.metadata import version

PACKAGES = ("spokeshave", "numpy", "scipy", "scikit-learn", "numba")


def list_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages by name."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
