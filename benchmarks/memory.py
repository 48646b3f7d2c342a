"""Memory of processes, read from /proc while they run."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Event, Thread

INTERVAL = 0.02  # seconds between two samples of memory
DISK_EVERY = 50  # samples of memory per sample of folders
UNITS = {"kB": 10**3, "MB": 10**6, "GB": 10**9}


def parse_bytes(text: str) -> int:
    """Return the number of bytes in a text such as 512MB."""
    return round(float(text[:-2]) * UNITS[text[-2:]])


def read_status(key: str, pid: int | str = "self") -> int:
    """Return VmRSS or the peak VmHWM of a process in bytes; 0 if it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(key):
                return 1024 * int(line.split()[1])
    return 0


def reset_peak() -> None:
    """Set the peak of this process (VmHWM) to its current memory."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # memory already freed must not hide later allocations
    Path("/proc/self/clear_refs").write_text("5")


def list_tree(pid: int) -> list[int]:
    """Return a process and all of its descendants."""
    children: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            children += map(int, (task / "children").read_text().split())
    return [pid, *(found for child in children for found in list_tree(child))]


def measure_folder(folder: str) -> int:
    """Return the bytes of all files below a folder, some of which may be disappearing."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.stat(os.path.join(path, name)).st_size
    return total


class Monitor:
    """Samples memory and disk from outside, in a thread, while its context is entered.

    Parameters
    ----------
    pids : iterable of int
        Processes whose peak memory is recorded in ``peaks``.
    folders : iterable of str
        Folders whose largest total size is recorded in ``disk_peak``.
    with_children : bool
        Whether to record in ``tree_peak`` the peak memory of the processes and their descendants.
    """

    def __init__(
        self, pids: Iterable[int], folders: Iterable[str] = (), *, with_children: bool = False
    ) -> None:
        self.peaks = dict.fromkeys(pids, 0)
        self.tree_peak = self.disk_peak = 0
        self._folders, self._with_children = list(folders), with_children
        self._done, self._thread = Event(), Thread(target=self._run)

    def __enter__(self) -> Monitor:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._done.set()
        self._thread.join()

    def sample(self) -> None:
        """Read the memory of the processes now."""
        for pid in self.peaks:
            self.peaks[pid] = max(self.peaks[pid], read_status("VmHWM", pid))
        if self._with_children:
            pids = {found for pid in self.peaks for found in list_tree(pid)}
            held = sum(read_status("VmRSS", pid) for pid in pids)
            self.tree_peak = max(self.tree_peak, *self.peaks.values(), held)

    def _run(self) -> None:
        for number in count():
            if self._done.wait(INTERVAL):
                return
            self.sample()
            if self._folders and number % DISK_EVERY == 0:
                self.disk_peak = max(self.disk_peak, sum(map(measure_folder, self._folders)))
