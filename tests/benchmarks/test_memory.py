"""The monitor of benchmarks, on this process."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="module")
def memory():
    path = Path(__file__).parents[2] / "benchmarks" / "memory.py"
    spec = importlib.util.spec_from_file_location("benchmark_memory", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("text", "expected"), [("512MB", 512_000_000), ("4.2GB", 4_200_000_000)])
def test_sizes_are_parsed(memory, text, expected):
    assert memory.parse_bytes(text) == expected


def test_peaks_of_processes_and_folders_are_recorded(memory, tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "file").write_bytes(b"x" * 1000)
    pid = os.getpid()
    before = memory.read_status("VmRSS")
    with (
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child,
        memory.Monitor([pid], [str(tmp_path)], with_children=True) as monitor,
    ):
        assert child.pid in memory.list_tree(pid)
        held = np.ones(60_000_000, np.uint8)  # more than an allocator reuses
        while not monitor.disk_peak:
            monitor.sample()
        child.communicate(b"\n")
    assert held.all()
    assert monitor.disk_peak == 1000
    assert monitor.peaks[pid] >= before + 10_000_000
    assert monitor.tree_peak >= monitor.peaks[pid]
    assert memory.read_status("VmRSS", child.pid) == 0
