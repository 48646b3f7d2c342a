"""The places that documents are read from: each a source, with the order for what is in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cached_property
from pathlib import Path

from spokeshave.corpus.files import explain_damage
from spokeshave.corpus.openings import find_name, is_piped
from spokeshave.corpus.orders import Order
from spokeshave.corpus.stamps import Stamp, stamp_content, stamp_files
from spokeshave.corpus.standard_input import NAME, call_by_name


class Place:
    """A source, and where and how it is read.

    Parameters
    ----------
    source : str or Path
        The source, as it was given.
    order : Order
        The order for what is in it, from a temporary file where it is piped.

    Attributes
    ----------
    order : Order
        The order.
    name : str
        What the source is called.

    Examples
    --------
    >>> place = Place(__file__, Order(Path(__file__), "csv"))
    >>> place.name, [place.size] == [size for name, size, changed in place.stamp()]
    ('places.py', True)
    """

    def __init__(self, source: str | Path, order: Order) -> None:
        self.order, self.name = order, find_name(source)
        self._full_name = NAME if self.name == NAME else str(source)
        self._is_piped = is_piped(source)

    @cached_property
    def size(self) -> int:
        """Return the size of all files, in bytes."""
        return sum(size for _, size, _ in stamp_files(self.order.path, self.name))

    def stamp(self) -> list[Stamp]:
        """Return the stamps of all files as they are now."""
        stamp = stamp_content if self._is_piped else stamp_files
        return stamp(self.order.path, self.name)

    @contextmanager
    def explain(self) -> Iterator[None]:
        """Raise what goes wrong with the source by its own name."""
        path = self.order.path
        call = call_by_name(path.parent, self._full_name) if self._is_piped else nullcontext()
        with call, explain_damage(path):
            yield
