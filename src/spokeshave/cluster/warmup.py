"""Warm-up of workers: kernels are compiled once on each host, and loaded by all of its workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distributed import Client

from spokeshave.budget.warmup import exercise
from spokeshave.cluster.client import collect, list_workers, submit
from spokeshave.warmup import is_compiled, warm_up

COMPILING = "kernels are compiled first, once on each host"


def warm_up_workers(
    client: Client, *, is_text: bool, has_values: bool, say: Callable[[str], None]
) -> None:
    """Compile and load the kernels of a run on all workers."""
    by_host: dict[str, list[str]] = {}
    for address, worker in list_workers(client).items():
        by_host.setdefault(worker["host"], []).append(address)
    first = [addresses[0] for addresses in by_host.values()]
    others = [address for addresses in by_host.values() for address in addresses[1:]]

    def ask(function: Callable[[bool, bool], Any], addresses: list[str]) -> list[Any]:
        how = {"allow_other_workers": True}  # a worker may die before it answers
        return collect(
            [submit(client, function, is_text, has_values, workers=[a], **how) for a in addresses]
        )

    if not all(ask(are_compiled, first)):
        say(COMPILING)
    ask(load_kernels, first)
    ask(load_kernels, others)


def are_compiled(is_text: bool, has_values: bool) -> bool:
    """Return whether the kernels of a run are compiled on the host of this worker."""
    return is_compiled(exercise, is_text=is_text, has_values=has_values)


def load_kernels(is_text: bool, has_values: bool) -> None:
    """Load the kernels of a run in this worker, and compile them first if necessary."""
    warm_up(exercise, is_text=is_text, has_values=has_values)
