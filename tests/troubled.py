"""Runs in a budget that come to grief at a given point."""

from __future__ import annotations

import os
import signal
from collections import Counter
from contextlib import contextmanager

from spokeshave import BudgetedSVC, DualLinearSVC
from spokeshave.budget.estimator import fit_stream
from spokeshave.budget.memory import AvailableMemory
from spokeshave.corpus.stream import open_stream
from spokeshave.utils.timing import Stopwatch

AMPLE = 1 << 33
OPTIONS = {"estimator": DualLinearSVC(tol=1e-5, max_iter=10_000, random_state=0)}


class Observer(Stopwatch):
    """Counts how often each stage tells how far it is, and does what is asked at some point."""

    def __init__(self, point=None, action=None):
        super().__init__()
        self.reached, self.said = Counter(), []
        self._stage, self._point, self._action = "", point and tuple(point), action

    def say(self, sentence):
        self.said.append(sentence)

    def begin(self, stage):
        self._stage = stage
        self._act(stage, 0)

    def reach(self, share):
        assert share >= 0
        self.reached[self._stage] += 1
        self._act(self._stage, self.reached[self._stage])

    def _act(self, *point):
        if self._action is not None and point == self._point:
            self._action()


def fit(source, observer=None, **options):
    """Fit a model to a file or folder."""
    observer = observer or Observer()
    with open_stream(source) as stream:
        svc = BudgetedSVC(AMPLE, **OPTIONS | options)
        return fit_stream(svc, stream, observer, observer.say)


def leave_room(free):
    """Return what finds memory with so many bytes free, however many the process holds."""
    return lambda memory, n_given: AvailableMemory(AMPLE, AMPLE - free)


@contextmanager
def seams(setattr, *, in_rounds):
    """Let a run train over the disk, though there is memory enough, where that is asked for."""
    if in_rounds:
        setattr("spokeshave.budget.run.find_room", lambda memory, n_features: 0)
        setattr("spokeshave.budget.run.MINIMUM", 150_000)
    yield


def kill():
    """End this process as the system does when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)
