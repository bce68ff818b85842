"""More connections than open files: probes, streams and new callers are served all the same."""

import contextlib
import http.client
import json
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.wiring.resource_limits import raise_open_files_limit
from tests.fakes.ports import held_port
from tests.fakes.serving import PATIENCE_S, Serving, ended, wait_until

IDLE = 1_100
LIMIT = 1_024


class Limited(Serving):
    """A service that is started by a shell with a limit of open files."""

    LIMITS = f"ulimit -Sn {LIMIT}"

    def command(self) -> list[str]:
        return ["sh", "-c", f'{self.LIMITS}; exec "$@"', "sh", *super().command()]


class HardLimited(Limited):
    """The same, where it cannot be raised."""

    LIMITS = f"ulimit -Sn {LIMIT}; ulimit -Hn {LIMIT}"


@pytest.fixture
def many_files() -> Iterator[None]:
    """Let this process open as many sockets as it needs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * IDLE:
        pytest.skip(f"this machine allows {hard} open files, and the test needs {2 * IDLE}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.machine
@pytest.mark.wall
@pytest.mark.usefixtures("many_files")
@pytest.mark.promise("connections.idle", "connections.files")
@pytest.mark.parametrize("kind", [Limited, HardLimited])
def test_1100_idle_connections_at_a_limit_of_1024_files_stop_neither_probes_nor_a_stream(
    kind: type[Serving], tmp_path: Path
) -> None:
    with contextlib.ExitStack() as stack:
        port = stack.enter_context(held_port())
        running = stack.enter_context(ended(kind(data_dir=str(tmp_path), metrics_port=str(port))))
        running.wait_for("ready")
        key = running.make_key()
        reader = http.client.HTTPConnection("127.0.0.1", running.port, timeout=PATIENCE_S)
        stack.callback(reader.close)
        reader.request("GET", "/api/cli/watch/prices", headers={"Authorization": f"Bearer {key}"})
        stream = reader.getresponse()
        assert json.loads(stream.readline())["type"] == "open"
        with contextlib.ExitStack() as idle:
            for _ in range(IDLE):
                idle.enter_context(socket.create_connection(("127.0.0.1", running.port), timeout=PATIENCE_S))
            assert running.ask("/healthz")[0] == 200
            assert running.ask("/readyz")[0] == 200
            assert running.ask("/api/cli/coin/risk/BTC", key)[0] == 200
            assert (scrape(port, "connections_replaced_total") > 0) == (kind is HardLimited)
            while json.loads(stream.readline())["type"] != "heartbeat":
                pass
        wait_until(lambda: scrape(port, "connections") <= 3)  # the stream, this one, and what is being closed
        assert running.ask("/api/cli/coin/risk/BTC", key)[0] == 200
        assert json.loads(stream.readline())
    assert not [record for record in running.records if record["level"] == "error"]


def scrape(port: int, name: str) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    with contextlib.closing(connection):
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"verdict_{name} "))


@pytest.mark.promise("connections.files")
@pytest.mark.parametrize(
    ("found", "refused", "raised"),
    [((64, 256), False, 256), ((64, 256), True, 64), ((256, 256), False, 256)],
)
def test_the_soft_limit_is_raised_to_the_hard_one_where_that_is_allowed(
    monkeypatch: pytest.MonkeyPatch, found: tuple[int, int], refused: bool, raised: int
) -> None:
    limits = [found]

    def change(_which: int, wanted: tuple[int, int]) -> None:
        if refused:
            raise ValueError("not allowed to raise the limit")
        limits.append(wanted)

    monkeypatch.setattr(resource, "getrlimit", lambda _which: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", change)
    assert raise_open_files_limit() == raised


def test_no_limit_at_all_is_a_very_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (resource.RLIM_INFINITY,) * 2)
    assert raise_open_files_limit() > 10**9
