"""Kernels compiled for workers: compiling takes more memory than a small worker can spare.

They are compiled in a separate process, once on each host, and loaded by all workers there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distributed import Client

from spokeshave.budget.kernels import is_compiled, prepare
from spokeshave.cluster.client import collect, list_workers, submit

COMPILING = "kernels are compiled first, once on each host"


def prepare_workers(
    client: Client, *, is_text: bool, has_values: bool, say: Callable[[str], None]
) -> None:
    """Compile and load the kernels of a run on all workers."""
    by_host: dict[str, list[str]] = {}
    for address, worker in list_workers(client).items():
        by_host.setdefault(worker["host"], []).append(address)
    first = [addresses[0] for addresses in by_host.values()]
    others = [address for addresses in by_host.values() for address in addresses[1:]]

    def ask(function: Callable[[bool, bool], Any], addresses: list[str]) -> list[Any]:
        how = {"allow_other_workers": True}  # do not wait for a worker that dies meanwhile
        return collect(
            [submit(client, function, is_text, has_values, workers=[a], **how) for a in addresses]
        )

    if not all(ask(are_compiled, first)):
        say(COMPILING)
    ask(load_kernels, first)
    ask(load_kernels, others)


def are_compiled(is_text: bool, has_values: bool) -> bool:
    """Return whether the kernels of a run are compiled on the host of this worker."""
    return is_compiled(is_text=is_text, has_values=has_values)


def load_kernels(is_text: bool, has_values: bool) -> None:
    """Load the kernels of a run; compile them in another process if necessary."""
    prepare(is_text=is_text, has_values=has_values)
