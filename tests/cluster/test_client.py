"""Tasks for workers, and what workers say of themselves."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from contextlib import nullcontext
from operator import truediv
from time import sleep
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from dask.utils import parse_timedelta
from distributed import Client, get_worker
from distributed.deploy import spec
from distributed.security import Security

from made_clusters import PATIENCE
from spokeshave.cluster import client as client_module
from spokeshave.cluster.client import (
    FAN_IN,
    HEADROOM,
    WORKER,
    collect,
    connect,
    describe_workers,
    find_held,
    list_workers,
    make_security,
    measure_memory,
    merge,
    send,
    stay_with,
    submit,
)


def test_results_come_in_the_order_of_the_tasks(client):
    reached = []
    tasks = [submit(client, pow, base, 2) for base in range(5)]
    assert collect(tasks, reached.append) == [0, 1, 4, 9, 16]
    assert reached == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert collect([]) == []


@pytest.mark.parametrize("n", [1, FAN_IN, FAN_IN**2 + 1])
def test_results_are_merged_in_their_order(client, n):
    letters = [submit(client, chr, 97 + i) for i in range(n)]
    assert merge(client, "".join, letters).result() == "".join(chr(97 + i) for i in range(n))


def test_a_large_model_is_sent_without_a_warning(client):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert send(client, len, bytes(20_000_000)).result() == 20_000_000


def test_a_task_stays_with_what_it_is_made_of(client):
    first, second = list_workers(client)
    made = [submit(client, pow, 2, 3, workers=[each]) for each in (second, first)]
    collect(made)
    there = stay_with(client, made)
    assert [each["workers"] for each in there] == [[second], [first]]
    tasks = [
        submit(client, lambda _: get_worker().address, each, **how)
        for each, how in zip(made, there, strict=True)
    ]
    assert collect(tasks) == [second, first]
    pending = submit(client, len, "oak", workers=["tcp://127.0.0.1:1"])  # where nobody is
    assert stay_with(client, [pending]) == [{}]


def test_what_a_task_raises_is_raised(client):
    with pytest.raises(ZeroDivisionError):
        collect([submit(client, truediv, 1, divisor) for divisor in (1, 0)])


def test_tasks_are_made_of_tasks_that_nobody_holds(client):
    total = submit(client, int)
    for _ in range(30):
        total = submit(client, sum, [total, submit(client, abs, -2)])
    assert total.result() == 60


@pytest.fixture(scope="module")
def local():
    """Return the client of a worker that was started for it."""
    with connect("local:1") as client:
        yield client


def test_a_worker_that_has_died_is_not_given_up(local, monkeypatch, tmp_path):
    a_day = 86_400  # goes by in a second
    monkeypatch.setattr(spec, "parse_timedelta", lambda time: parse_timedelta(time) / a_day)
    has_died = tmp_path / "has-died"

    def die_once():
        if not has_died.exists():
            has_died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return "alive"

    assert submit(local, die_once).result(PATIENCE) == "alive"


@pytest.mark.parametrize("protocol", ["tcp", "tls"])
def test_who_has_no_certificate_cannot_connect_to_local_workers(local, protocol):
    port = local.scheduler.address.rpartition(":")[2]
    other = Security.temporary() if protocol == "tls" else None
    with pytest.raises(OSError, match=r"[Cc]onnect|certificate"):
        Client(f"{protocol}://127.0.0.1:{port}", timeout="300ms", security=other)
    for worker in list_workers(local).values():
        assert worker["nanny"].startswith("tls://127.0.0.1:")
        for role in (local.scheduler_info(), worker):
            with pytest.raises(HTTPError, match="404"):
                urlopen(f"http://127.0.0.1:{role['services']['dashboard']}/metrics")


def write_certificates(folder, security):
    """Write the certificates of workers to files; return those of a client."""
    contents = security.tls_ca_file, security.tls_client_cert, security.tls_client_key
    paths = [folder / name for name in ("ca.pem", "cert.pem", "key.pem")]
    for path, content in zip(paths, contents, strict=True):
        path.write_text(content)
    return paths


def test_who_has_the_certificate_can_connect(local, monkeypatch, tmp_path):
    address, said = local.scheduler.address, []
    security = make_security(*write_certificates(tmp_path, local.cluster.security))
    with connect(address, security, said.append) as client:
        assert list_workers(client).keys() == list_workers(local).keys()
    assert said == []
    monkeypatch.setattr(client_module, "TIMEOUT", "300ms")
    stranger = make_security(*write_certificates(tmp_path, Security.temporary()))
    with (
        pytest.raises(ValueError, match="no scheduler there, or it refuses the certificate"),
        connect(address, stranger),
    ):
        pass


def test_certificates_that_do_not_belong_together_are_refused(tmp_path):
    ca, cert, key = write_certificates(tmp_path, Security.temporary())
    key.write_text(Security.temporary().tls_client_key)
    with pytest.raises(ValueError, match=r"key.pem: these are not the PEM files of .*MISMATCH"):
        make_security(ca, cert, key)
    ca.write_text("oak")
    with pytest.raises(ValueError, match=r"ca.pem, .* these are not the PEM files"):
        make_security(ca, cert, key)
    with pytest.raises(ValueError, match=r"cert must name a PEM file. Got '' instead"):
        make_security(ca, "", key)


@pytest.mark.parametrize("address", ["local:1", "tcp://host:8786"])
def test_certificates_for_an_address_without_encryption_are_refused(address):
    security = Security(require_encryption=True)
    with (
        pytest.raises(ValueError, match="security must be left out if the address is not tls://"),
        connect(address, security),
    ):
        pass


@pytest.mark.parametrize(("host", "n_notes"), [("127.0.0.1", 0), ("host", 1), ("10.0.0.1", 1)])
def test_a_scheduler_that_lets_everybody_in_is_noted(monkeypatch, host, n_notes):
    said = []
    monkeypatch.setattr(client_module, "Client", lambda address, **how: nullcontext())
    with connect(f"tcp://{host}:8786", say=said.append):
        assert len(said) == n_notes
    assert all("anyone who can reach this scheduler can run code" in note for note in said)


def test_an_encrypted_address_needs_certificates():
    sentence = "security must be given for an encrypted address, tls://host:8786"
    with pytest.raises(ValueError, match=sentence), connect("tls://host:8786"):
        pass


def test_without_cryptography_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    sentence = "Workers on this machine need cryptography: pip install 'spokeshave.cluster.'"
    with pytest.raises(ImportError, match=sentence), connect("local:1"):
        pass


def test_workers_outlive_being_measured(client, monkeypatch):
    assert len(list_workers(client)) == 2
    assert measure_memory(client) == int(HEADROOM * 2_000_000_000)
    submit(client, len, "oak").result()
    assert WORKER <= find_held(client) < 1_000_000_000
    monkeypatch.setattr(client_module, "WORKER", 900_000_000)
    assert find_held(client) == 900_000_000  # whatever they hold
    sleep(1.2)  # two heartbeats
    assert describe_workers(client) == "2 workers of 2.0 GB or more"
