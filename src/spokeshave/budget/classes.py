"""The classes of a collection, numbered as they come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.budget.store import count_up
from spokeshave.budget.survey import as_tuple


class Classes:
    """Codes of classes.

    Examples
    --------
    >>> classes = Classes()
    >>> ends, codes = classes.encode([("oak", "ash"), (), ("ash",)])
    >>> ends.tolist(), codes.tolist(), classes.names
    ([0, 2, 2, 3], [0, 1, 1], ['oak', 'ash'])
    """

    def __init__(self, names: Iterable[Any] = ()) -> None:
        self._codes = {name: code for code, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def names(self) -> list[Any]:
        """The classes in the order of their codes."""
        return list(self._codes)

    def encode(self, labels: list[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return where the codes of each document begin and end, and the codes."""
        sets = [as_tuple(label) for label in labels]
        codes = [self._codes.setdefault(name, len(self._codes)) for names in sets for name in names]
        return count_up(np.array([len(names) for names in sets], int)), np.array(codes, np.int32)

    def rank(self, is_multilabel: bool) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Return the classes in order, and the code of each that is trained against the rest.

        Of two classes that exclude each other only the second is.
        """
        names = np.array(self.names)
        order = np.argsort(names, kind="stable")
        is_binary = not is_multilabel and len(names) == 2
        return names[order], order[1:] if is_binary else order
