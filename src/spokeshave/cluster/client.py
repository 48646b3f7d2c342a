"""The client of a Dask cluster: connecting, the memory of workers, and tasks for them.

Nothing is scattered: every task depends on other tasks and on small arguments alone, so that the
results of a lost worker are computed again by another.
"""

from __future__ import annotations

import logging
import re
import signal
import ssl
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from ipaddress import ip_address
from multiprocessing import resource_tracker
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias, TypeVar
from uuid import uuid4

from dask import config
from dask.utils import funcname
from distributed import Client, Future, KilledWorker, LocalCluster, Worker, as_completed, warn
from distributed.security import Security

from spokeshave.budget.memory import give_back, measure_installed, measure_resident, plan_held
from spokeshave.errors import ParameterError
from spokeshave.utils.formatting import write_size

FAN_IN = 8  # results merged at a time
SHORT = 0.1  # seconds; shorter tasks free little memory
MERGING = 1  # priority of tasks whose results are smaller than their inputs; others have 0
# Planned for what a worker holds before a run: 330 MB or so for Python, Dask, libraries, kernels.
WORKER = 384_000_000
HEADROOM = 0.75  # of a worker's limit: at 0.8 Dask gives it no more tasks, at 0.95 it kills it
LOCAL = "local:"
ENCRYPTED = ("tls://", "wss://")
TIMEOUT = "10s"  # to find a scheduler
# After this time Dask gives up a worker that is not there, as if it came back and has just died
# again. There is no need to: it is always restarted.
LASTING = {"distributed.deploy.lost-worker-timeout": "365 days"}
# Pages that scheduler and workers would show to everybody on this machine.
PAGES: dict[str, Any] = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}

Result = TypeVar("Result")
Report: TypeAlias = Callable[[float], None]


def _ignore(sentence: str) -> None:
    """Say nothing."""


@contextmanager
def connect(
    address: str,
    security: Security | None = None,
    say: Callable[[str], None] = _ignore,
) -> Iterator[Client]:
    """Connect to the scheduler at an address, or start workers here for ``local:2``.

    A task that kills one worker after another raises a ValueError.

    Parameters
    ----------
    address : str
        The address of a scheduler, or ``local:`` and a number of workers. Those talk by TLS, with a
        certificate made for them, and nobody else is let in.
    security : distributed.Security, optional
        The certificates for a ``tls://`` address, see `make_security`; by default those of Dask's
        configuration.
    say : callable
        Called with a note if anyone who can reach the scheduler can run code.

    Examples
    --------
    >>> with connect("local:0") as client:  # doctest: +IGNORE_EXCEPTION_DETAIL
    ...     pass
    Traceback (most recent call last):
    spokeshave.errors.ParameterError: address must be local: and a number of workers ...
    """
    try:
        if address.startswith(LOCAL):
            _refuse_security(address, security)
            connected: Any = _start(address)
        else:
            connected = _find(address, security, say)
        with connected as client:
            yield client
    except KilledWorker as error:
        raise ValueError(
            f"The cluster lost {error.allowed_failures + 1} workers one after the other at the "
            "same task, most likely for want of memory. Start workers with more of it, or fewer."
        ) from None


@contextmanager
def _start(address: str) -> Iterator[Client]:
    """Start workers here, which log nothing: errors of tasks are raised in the client.

    The scheduler uses any free port, as there may be other clusters on this machine. Other users of
    it can reach that port, so who connects must have the certificate of this cluster.
    """
    n_workers, security = _count_local(address), _make_certificate()
    with ExitStack() as stack:
        with _deferring_interrupts():
            stack.enter_context(config.set(LASTING | PAGES))
            cluster = LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
                security=security,
                silence_logs=logging.CRITICAL,
            )
            client = stack.enter_context(Client(stack.enter_context(cluster)))
        yield client


@contextmanager
def _deferring_interrupts() -> Iterator[None]:
    """Defer interrupts; processes started meanwhile, and their children, never get them.

    A terminal interrupts workers as well, and each would print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    resource_tracker.ensure_running()  # starting it later would unblock interrupts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _make_certificate() -> Security:
    """Return a new certificate and its key, which stay in memory.

    OpenSSL reads them from a temporary folder of this user alone, removed at once.
    """
    try:
        return Security.temporary()
    except ImportError as error:
        raise ImportError(
            "Workers on this machine need cryptography: pip install 'spokeshave[cluster]'"
        ) from error


def make_security(ca: str | Path, cert: str | Path, key: str | Path) -> Security:
    """Return the certificates to connect to a ``tls://`` address with, from PEM files.

    Parameters
    ----------
    ca : str or Path
        The certificate authority, by which the scheduler is recognised.
    cert, key : str or Path
        The certificate of the client, signed by that authority, and its private key.

    Returns
    -------
    security : distributed.Security

    Examples
    --------
    >>> make_security("none.pem", "none.pem", "none.pem")
    Traceback (most recent call last):
    spokeshave.errors.ParameterError: ca must name a PEM file. Got 'none.pem' instead.
    """
    files = {"ca": str(ca), "cert": str(cert), "key": str(key)}
    for name, path in files.items():
        if not Path(path).is_file():
            raise ParameterError(name, f"must name a PEM file. Got {path!r} instead.")
    security = Security(
        require_encryption=True,
        tls_ca_file=files["ca"],
        tls_client_cert=files["cert"],
        tls_client_key=files["key"],
    )
    try:
        security.get_connection_args("client")
    except ssl.SSLError as error:
        raise ValueError(
            f"{', '.join(files.values())}: these are not the PEM files of a certificate "
            f"authority, a certificate and its key ({error.reason or error})"
        ) from None
    return security


def _find(address: str, security: Security | None, say: Callable[[str], None]) -> Client:
    """Return a client of the scheduler at an address."""
    if not re.search(r".:\d+$", address):
        raise _refuse(address)
    is_encrypted = address.startswith(ENCRYPTED)
    if not is_encrypted:
        _refuse_security(address, security)
    elif (security or Security()).tls_ca_file is None:
        raise ParameterError("security", f"must be given for an encrypted address, {address}.")
    try:
        client = Client(address, timeout=TIMEOUT, security=security)
    except (OSError, ValueError, TimeoutError) as error:
        or_else = ", or it refuses the certificate" if is_encrypted else ""
        raise ValueError(
            f"{address}: there is no scheduler there{or_else} ({type(error).__name__}); give the "
            "address that dask scheduler prints, tcp://host:8786 say"
        ) from None
    if not is_encrypted and not _is_loopback(address):
        say(
            f"{address}: anyone who can reach this scheduler can run code on its workers; give it "
            "certificates and a tls:// address"
        )
    return client


def _refuse_security(address: str, security: Security | None) -> None:
    """Raise if certificates are given for an address that does not use them."""
    if security is not None:
        raise ParameterError(
            "security", f"must be left out if the address is not tls://. Got {address!r}."
        )


def _is_loopback(address: str) -> bool:
    """Return whether only this machine can reach an address.

    Examples
    --------
    >>> [_is_loopback(each) for each in ("tcp://127.0.0.1:1", "[::1]:1", "localhost:1", "tcp://a:1")]
    [True, True, True, False]
    """
    host = address.rpartition("://")[2].rpartition(":")[0].strip("[]")
    try:
        return ip_address(host).is_loopback
    except ValueError:  # it is a name
        return host == "localhost"


def _count_local(address: str) -> int:
    number = address.removeprefix(LOCAL)
    if not (number.isascii() and number.isdecimal()) or int(number) < 1:
        raise _refuse(address)
    return int(number)


def _refuse(address: str) -> ParameterError:
    return ParameterError(
        "address",
        "must be local: and a number of workers, such as local:2, or the address of a scheduler, "
        f"such as tcp://host:8786. Got {address!r} instead.",
    )


def list_workers(client: Client) -> dict[str, dict[str, Any]]:
    """Return the scheduler's information on each worker; there must be one.

    The scheduler is asked directly, as the client may know totals only.
    """
    scheduler: Any = client.scheduler
    found: dict[str, dict[str, Any]] = client.sync(scheduler.identity)["workers"]
    if not found:
        raise ValueError("The cluster has no workers. Start some, or wait for them, and try again.")
    return found


def measure_memory(client: Client) -> int:
    """Return the bytes that a task may take: those of the smallest worker, per thread."""
    return min(
        int(HEADROOM * (worker["memory_limit"] or measure_installed()) / worker["nthreads"])
        for worker in list_workers(client).values()
    )


def find_held(client: Client) -> int:
    """Return the bytes to plan for what a worker holds before it begins, results of tasks aside."""
    return plan_held(max(client.run(measure_aside, on_error="ignore").values()), WORKER)


def measure_aside(dask_worker: Worker) -> int:
    """Return the bytes that a worker holds besides the results in its memory.

    Not taken from its metrics: reading them would break its next heartbeat.
    """
    give_back()
    spilled, _ = getattr(dask_worker.data, "spilled_total", (0, 0))
    return measure_resident() - int(dask_worker.state.nbytes - spilled)


def describe_workers(client: Client) -> str:
    """Describe the number of workers and their memory."""
    workers = list_workers(client)
    least = min(worker["memory_limit"] or measure_installed() for worker in workers.values())
    plural = "s" if len(workers) > 1 else ""
    return f"{len(workers)} worker{plural} of {write_size(least)} or more"


def submit(client: Client, function: Callable[..., Any], *arguments: Any, **how: Any) -> Future:
    """Start a task; futures among its arguments, and in lists of them, become their results.

    The arguments are held until it is done: the scheduler may forget a future that nobody holds
    before it knows of the tasks that need it.
    """
    key = f"{funcname(function)}-{uuid4().hex}"  # Dask learns the duration of tasks by name
    future = client.submit(_run, function, *arguments, key=key, **how)
    future.add_done_callback(partial(_let_go, arguments))
    return future


def send(client: Client, function: Callable[[bytes], Any], content: bytes) -> Future:
    """Start a task with a model file: Dask would warn of a large one, though it is sent once."""
    with config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return submit(client, function, content)


def stay_with(client: Client, futures: Sequence[Future]) -> list[dict[str, Any]]:
    """Return, for each result, the options to submit a task that should run where it is."""
    has: dict[Any, Any] = client.who_has(futures)
    owners = [list(has.get(future.key, ())) for future in futures]
    return [{"workers": each, "allow_other_workers": True} if each else {} for each in owners]


def _let_go(made_of: tuple[Any, ...], future: Future) -> None:
    """Release the arguments of a task, which the partial of this function holds."""


def _run(function: Callable[..., Result], *arguments: Any) -> Result:
    """Run a task, and pass its warnings on to the client.

    Freed memory is returned to the system, as it would count as the worker's. Short tasks skip
    that: they free little, and returning it takes about as long as they do.
    """
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.showwarning = _pass_on
        try:
            return function(*arguments)
        finally:
            if perf_counter() - start > SHORT:
                give_back()


def _pass_on(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    warn(message, category)


def merge(
    client: Client, function: Callable[[list[Any]], Any], futures: Sequence[Future]
) -> Future:
    """Merge results by a function of a list of them, a few at a time.

    Merging has priority over tasks that make more results, as it saves memory.
    """
    found = list(futures)
    while len(found) > 1:
        found = [
            submit(client, function, found[first : first + FAN_IN], priority=MERGING)
            for first in range(0, len(found), FAN_IN)
        ]
    return found[0]


def wait(futures: Sequence[Future], report: Report | None = None) -> None:
    """Wait for tasks; raise the error of the first that fails."""
    if not futures:
        return
    loop = futures[0].client.loop  # by default that of the latest client
    for n_done, future in enumerate(as_completed(list(futures), loop=loop), 1):
        if future.status != "finished":
            future.result()
        if report is not None:
            report(n_done / len(futures))


def collect(futures: Sequence[Future], report: Report | None = None) -> list[Any]:
    """Return the results of tasks in order; raise the error of the first that fails."""
    wait(futures, report)
    return [future.result() for future in futures]
