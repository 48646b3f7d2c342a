"""The names the package gives, and how little it loads for them."""

from __future__ import annotations

import subprocess
import sys

import spokeshave.corpus


def test_every_public_name_exists():
    for name in spokeshave.corpus.__all__:
        assert getattr(spokeshave.corpus, name) is not None


def test_import_is_light():
    code = "import sys, spokeshave.corpus; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not {"numba", "sklearn", "polars", "pandas"} & set(loaded.stdout.split())


def test_telling_and_looking_load_no_arrays():
    code = (
        "import sys\n"
        "import spokeshave.text.preprocess\n"
        "from spokeshave.corpus import sniff, stdin\n"
        "from spokeshave.corpus.formats import columns\n"
        "print(sorted({'numpy', 'scipy', 'polars', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
