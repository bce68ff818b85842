"""What happens to a running process: told to stop under load, locked out of its file, out of descriptors."""

import asyncio
import json
import resource
import signal
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from http.client import HTTPException
from pathlib import Path

import pytest

from service.storage.engine import connect
from tests.fakes.calls import call_until_it_dies
from tests.fakes.serving import PATIENCE_S, Serving, ended, live_at, run_verdict, serving, wait_until
from tests.service.attack import RISK, UNBOUNDED

pytestmark = pytest.mark.process

TIER = "/api/cli/billing/tier"
FEW = 64


def counted(data_dir: Path) -> int:
    usage = json.loads(run_verdict("admin", "usage", "--json", data_dir=str(data_dir)).stdout)
    return sum(row["total"] for row in usage["users"])


def stop_under_load(data_dir: Path, workers: int, after: int) -> int:
    """Load it, tell it to stop after so many answers; return how many answers came whole."""
    with serving(data_dir, "--workers", str(workers), **UNBOUNDED) as service:
        service.wait_for("ready", times=workers)
        key = service.make_key("--tier", "pro")
        stop = partial(service.process.send_signal, signal.SIGTERM)
        answered = asyncio.run(call_until_it_dies(service.port, RISK, key, 16, after, stop))
        assert service.process.wait(PATIENCE_S) == 0
        assert [record for record in service.records if record["level"] in {"warning", "error"}] == []
    assert answered >= after
    return answered


@pytest.mark.promise("meter.once", "meter.durable")
@pytest.mark.parametrize("workers", [1, 2])
def test_told_to_stop_under_load_it_ends_and_has_counted_what_it_answered(tmp_path: Path, workers: int) -> None:
    answered = stop_under_load(tmp_path, workers, after=500)
    assert counted(tmp_path) == answered
    assert json.loads(run_verdict("admin", "doctor", "--json", data_dir=str(tmp_path)).stdout)["ok"]


@pytest.mark.parametrize("source", ["fixtures", "live"])
def test_told_to_stop_while_its_loops_fetch_it_ends(tmp_path: Path, source: str) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as mute:  # takes connections and never says anything
        silent = live_at("http://{}:{}".format(*mute.getsockname()))
        service = Serving(data_dir=str(tmp_path), **(silent if source == "live" else {}))
        with ended(service):
            service.wait_for("listening" if source == "live" else "ready")
            service.process.send_signal(signal.SIGTERM)
            assert service.process.wait(PATIENCE_S) == 0
            service.wait_for("stopped")
            assert [record for record in service.records if record["level"] == "error"] == []


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_told_to_stop_fifty_times_it_never_loses_a_count(
    tmp_path: Path, patience: int, record_property: Callable[[str, object], None]
) -> None:
    answered = 0
    for number in range(0, 50, 100 // patience):
        answered += stop_under_load(tmp_path, workers=1, after=1 + 20 * number)
        assert counted(tmp_path) == answered
    record_property("calls answered and counted", answered)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the file's write lock as a stranger does: by SQLite alone, knowing of no turns."""
    connection = connect(path)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


@pytest.mark.promise("errors.unavailable", "errors.retry-after", "meter.errors-free")
def test_while_a_stranger_holds_the_write_lock_it_is_503_uncounted_and_then_over(tmp_path: Path) -> None:
    with serving(tmp_path, **UNBOUNDED) as service:
        key = service.make_key("--tier", "pro")
        assert service.ask(RISK, key)[0] == 200
        with locked(tmp_path / "verdict.db"), ThreadPoolExecutor(20) as pool:
            refused = list(pool.map(lambda _: service.ask(RISK, key), range(20)))
            # What needs no write is answered all the while.
            assert service.ask("/healthz")[0] == 200
            assert service.ask(TIER, key)[0] == 200
            assert service.ask(RISK, key, "HEAD")[0] == 200
            assert service.ask("/api/cli/coin/risk/BTCC", key)[0] == 404
        for status, fields, body in refused:
            assert (status, body["error"]["code"]) == (503, "UNAVAILABLE")
            assert int(fields["retry-after"]) > 0
        wait_until(lambda: service.ask(RISK, key)[0] == 200)
        assert counted(tmp_path) == 2
        assert json.loads(service.verdict("admin", "doctor", "--json").stdout)["ok"]


@pytest.mark.machine
@pytest.mark.promise("connections.files")
def test_out_of_descriptors_it_lives_and_answers_again_when_there_are_some(tmp_path: Path) -> None:
    with serving(tmp_path, **UNBOUNDED) as service:
        key = service.make_key("--tier", "pro")
        _, hard = resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, (FEW, hard))
        with ExitStack() as held:
            for _ in range(3 * FEW):
                with suppress(OSError):
                    held.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=5))
            service.wait_for("connection refused: This process has no file descriptor left.")
            assert service.ask("/healthz")[0] == 200  # idle connections have been closed for it
        wait_until(lambda: len(descriptors(service)) < FEW - 12)  # some forty are its own, upstreams in it included
        answers = Counter(service.ask(RISK, key)[0] for _ in range(50))
        assert answers == {200: 50}
        assert counted(tmp_path) == 50
        assert len(service.lines) < 100, "it does not fill the disk with complaints either"


def descriptors(service: Serving) -> list[Path]:
    return list(Path(f"/proc/{service.process.pid}/fd").iterdir())


def status_of(service: Serving, key: str) -> int:
    """The status of a call, 0 where its connection was not taken."""
    try:
        return service.ask(RISK, key)[0]
    except (OSError, HTTPException):
        return 0


@pytest.mark.machine
def test_it_starts_with_few_descriptors_and_serves_while_many_come(tmp_path: Path) -> None:
    made = run_verdict("admin", "keys", "create", "--name", "a", "--tier", "pro", "--json", data_dir=str(tmp_path))
    key = json.loads(made.stdout)["key"]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, hard))
    try:
        service = Serving(data_dir=str(tmp_path), **UNBOUNDED)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    with ended(service):
        service.wait_for("ready")
        with ThreadPoolExecutor(6) as pool:  # it holds some 52 itself, and ended connections for a moment yet
            statuses = Counter(pool.map(lambda _: status_of(service, key), range(200)))
        assert set(statuses) <= {200, 503, 0}, statuses
        wait_until(lambda: status_of(service, key) == 200)
        assert service.stop() == 0
    assert counted(tmp_path) == statuses[200] + 1


def test_a_caller_that_leaves_before_its_answer_harms_nobody(tmp_path: Path) -> None:
    with serving(tmp_path, **UNBOUNDED) as service:
        key = service.make_key("--tier", "pro")
        said = f"GET {RISK} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
        for _ in range(300):
            with socket.create_connection(("127.0.0.1", service.port)) as leaving:
                leaving.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                leaving.sendall(said)
        assert service.ask(RISK, key)[0] == 200
        assert 1 <= counted(tmp_path) <= 301
        assert json.loads(service.verdict("admin", "doctor", "--json").stdout)["ok"]
        assert [record for record in service.records if record["level"] in {"warning", "error"}] == []
