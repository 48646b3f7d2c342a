"""Workers that die in the middle of something, for the tests of clusters."""

from __future__ import annotations

import os
import signal
from importlib import import_module

from made_clusters import PATIENCE
from spokeshave.utils.timing import Stopwatch


def kill_worker(client):
    """Kill the worker that has been there longest, and has most to lose."""
    client.wait_for_workers(2, PATIENCE)  # there must be another to go on
    pids = client.run(os.getpid, on_error="ignore")
    os.kill(min(pids.values()), signal.SIGKILL)


class Killer(Stopwatch):
    """Kills a worker in the middle of each step: when the first of its tasks is done."""

    def __init__(self, client):
        super().__init__()
        self._client = client
        self.killed = []

    def reach(self, share):
        if self._current not in self.killed:
            self.killed.append(self._current)
            kill_worker(self._client)


class Deadly:
    """Does what a function of a module does, but one of the calls kills the worker it is made on.

    Parameters
    ----------
    module, name : str
        The function.
    folder : Path
        Where calls are counted, as many processes make them.
    at : int
        The number of the call that kills, from 1 on.
    """

    def __init__(self, module, name, folder, at):
        self.module, self.name, self.at = module, name, at
        self.count = folder / f"{name}.count"

    def __call__(self, *arguments):
        with self.count.open("ab", buffering=0) as file:
            file.write(b".")
            number = file.tell()
        if number == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        return getattr(import_module(self.module), self.name)(*arguments)

    @property
    def has_killed(self):
        """Whether the call was made that kills, and others after it."""
        return self.count.exists() and self.count.stat().st_size > self.at
