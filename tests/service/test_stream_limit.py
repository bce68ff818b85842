"""Three streams a credential, over workers and over machines: asked of real processes."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.fakes.postgres import postgres_dsn
from tests.fakes.serving import serving
from tests.service.machines import FAST, key_on, machines

pytestmark = pytest.mark.process

PATIENCE_S = 60.0


@contextmanager
def opening(ports: Sequence[int], key: str, count: int) -> Iterator[list[int]]:
    """Open streams at once, each on a connection of its own; their statuses, in order of the connections."""
    request = f"GET /api/cli/watch/prices HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
    with ExitStack() as stack:
        connections = [
            stack.enter_context(socket.create_connection(("127.0.0.1", ports[place % len(ports)]), PATIENCE_S))
            for place in range(count)
        ]
        for connection in connections:
            connection.sendall(request)
        yield [int(connection.recv(12).split()[1]) for connection in connections]


def check_limit(statuses: list[int]) -> None:
    """Exactly three are open, unless a process did not get its turn at the store in time and refused for that."""
    assert set(statuses) <= {200, 429, 503}
    assert statuses.count(200) == 3 or (statuses.count(200) < 3 and 503 in statuses), statuses


@pytest.mark.promise("watch.limit-everywhere", "watch.limits")
def test_of_12_streams_opened_at_once_over_two_workers_exactly_3_succeed(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2", **FAST) as service:
        key = service.make_key("--tier", "pro")
        with opening([service.port], key, 12) as statuses:
            check_limit(statuses)


@pytest.mark.promise("watch.limit-everywhere", "watch.limits")
def test_of_12_streams_opened_at_once_over_two_machines_exactly_3_succeed(tmp_path: Path) -> None:
    with postgres_dsn() as address, machines(tmp_path, address, 2) as running:
        key = key_on(running[0], "--tier", "pro")
        with opening([service.port for service in running], key, 12) as statuses:
            check_limit(statuses)
