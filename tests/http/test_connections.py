"""Limits of open connections: which new ones are accepted, which idle ones make room, what is logged."""

import logging
import math

import pytest

from service.errors import ServiceError
from service.http.connections import MOST, PROBES, REPLACED, RESERVED_FILES, ConnectionLimits, Slot, most_connections
from tests.fakes.clock import FakeClock

CLIENT = "203.0.113.9"


class Open:
    """An open connection; idle until an instant, or busy."""

    def __init__(self, idle_until: float = math.inf) -> None:
        self.idle_until = idle_until
        self.discarded = False

    def discard(self) -> None:
        self.discarded = True


def limits_of(most: int = 3, per_address: int = 2, proxies: tuple[str, ...] = ()) -> tuple[ConnectionLimits, FakeClock]:
    clock = FakeClock()
    return ConnectionLimits(most, per_address, proxies, clock), clock


def hold(limits: ConnectionLimits, host: str, connection: Open) -> Slot:
    slot = limits.admit(host)
    slot.connection = connection
    return slot


@pytest.mark.promise("connections.address")
def test_an_address_holds_so_many_and_another_one_when_one_is_gone() -> None:
    limits, _ = limits_of(most=9)
    first = hold(limits, CLIENT, Open())
    hold(limits, f"::ffff:{CLIENT}", Open())
    with pytest.raises(ServiceError, match=r"This address has too many open connections\. Retry in 1 s\.") as refused:
        limits.admit(CLIENT)
    assert (refused.value.status, refused.value.headers["Retry-After"]) == (503, "1")
    limits.admit("203.0.113.10")
    first.release()
    first.release()
    assert limits.open == 2
    limits.admit(CLIENT)
    assert limits.refused["address"] == 1
    for slot in list(limits._slots):
        slot.release()
    assert not limits._of  # an address is forgotten with its last connection


@pytest.mark.promise("connections.address")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "10.1.2.3", "::ffff:10.1.2.3", ""])
def test_loopback_and_trusted_proxies_count_in_all_only(host: str) -> None:
    limits, _ = limits_of(most=9, proxies=("10.0.0.0/8",))
    for _ in range(9):
        hold(limits, host, Open())
    assert limits.open == 9
    assert limits.refused["address"] == 0


@pytest.mark.promise("connections.idle")
def test_when_all_are_in_use_the_longest_idle_make_room_and_busy_ones_stay() -> None:
    limits, _ = limits_of(most=REPLACED + 3, per_address=1_000)
    busy, youngest, idle = Open(), Open(1_000.0), [Open(float(due)) for due in range(1, REPLACED + 2)]
    for connection in (youngest, busy, *reversed(idle)):
        hold(limits, CLIENT, connection)
    assert not limits.admit(CLIENT).probes_only
    assert [connection.discarded for connection in idle] == [True] * REPLACED + [False]
    assert not busy.discarded
    assert not youngest.discarded
    assert (limits.open, limits.replaced) == (4, REPLACED)


@pytest.mark.promise("connections.probes")
def test_when_none_is_idle_some_are_accepted_for_probes_and_the_next_is_refused() -> None:
    limits, clock = limits_of()
    for _ in range(3):
        hold(limits, "127.0.0.1", Open())
    probes = [limits.admit("127.0.0.1") for _ in range(PROBES)]
    assert all(probe.probes_only for probe in probes)
    with pytest.raises(ServiceError, match="All connections of this service are in use"):
        limits.admit("127.0.0.1")
    probes[0].connection = Open(1.0)
    with pytest.raises(ServiceError):  # nothing was idle a moment ago: it is not looked for again at once
        limits.admit("127.0.0.1")
    clock.elapsed_s += 0.1
    assert limits.admit("127.0.0.1").probes_only
    assert limits.refused["total"] == 2


@pytest.mark.promise("connections.refused")
def test_refusals_are_counted_by_reason_and_logged_once_in_ten_seconds(caplog: pytest.LogCaptureFixture) -> None:
    limits, clock = limits_of(per_address=1)
    hold(limits, CLIENT, Open())
    for _ in range(5):
        with pytest.raises(ServiceError):
            limits.admit(CLIENT)
    limits.refuse("files", "")
    clock.elapsed_s += 10
    with pytest.raises(ServiceError):
        limits.admit(CLIENT)
    assert limits.refused == {"address": 6, "total": 0, "files": 1}
    told = [vars(record) for record in caplog.records]
    assert [(line["reason"], line["refused"], line["address"], line["open"]) for line in told] == [
        ("address", 1, CLIENT, 1),
        ("files", 1, "", 1),
        ("address", 5, CLIENT, 1),
    ]
    assert caplog.records[0].getMessage() == "connection refused: This address has too many open connections."
    assert caplog.records[0].levelno == logging.WARNING


@pytest.mark.parametrize(
    ("open_files", "expected"), [(64, 32), (1_024, 1_024 - RESERVED_FILES), (20_000, MOST), (2**63, MOST)]
)
def test_connections_leave_descriptors_to_everything_else(open_files: int, expected: int) -> None:
    assert most_connections(open_files) == expected
