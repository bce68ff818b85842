"""Limits of open connections: for each client address, and for all below the process's limit of open files.

When all are in use, a new connection replaces the ones that have waited longest without a request (as nginx does): idle
clients notice nothing but a closed connection, and requests and streams go on. Where none is idle, a few more are
accepted for probes (`/healthz`, `/readyz`, `/metrics`) only; what is beyond that is refused. So descriptors are left
for the store, upstreams and streams, whatever clients do.
"""

import heapq
import ipaddress
import logging
import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Protocol

from service.clock import Clock
from service.errors import ServiceError
from service.networks import address_in, is_within, network_of

RESERVED_FILES: Final = 160
"""Descriptors that clients' connections leave to everything else; at most half of the limit."""

PROBES: Final = 16
"""Connections beyond the limit that may ask for probes only; taken from the reserve."""

REPLACED: Final = 32
"""Idle connections that are closed at once when all are in use: a scan takes microseconds per connection."""

MOST: Final = 16_384
"""Connections of a process whatever its limit of open files: each takes some 10 KB."""

_SCAN_PAUSE_S: Final = 0.1
"""After a scan that found no idle connection, the next one waits."""

_LOG_PAUSE_S: Final = 10.0
"""At most one line in so many seconds for each reason."""

_REFUSALS: Final = {
    "address": "This address has too many open connections.",
    "total": "All connections of this service are in use.",
    "files": "This process has no file descriptor left.",
}
"""Why a connection is not accepted, by the label of the metric."""

_log: Final = logging.getLogger("verdict.http")


class OpenConnection(Protocol):
    """An open connection."""

    @property
    def idle_until(self) -> float:
        """When it is closed without a request, in the loop's time; infinite while a request is running."""

    def discard(self) -> None:
        """Close it at once."""


class Slot:
    """One accepted connection's place; released once, when the connection is gone or replaced.

    Attributes:
        probes_only: Whether it may ask for probes only.
        connection: What is replaced where it is idle.
    """

    __slots__ = ("_limits", "_network", "connection", "probes_only")

    def __init__(self, limits: "ConnectionLimits", network: str, *, probes_only: bool) -> None:
        self._limits = limits
        self._network = network
        self.probes_only = probes_only
        self.connection: OpenConnection | None = None

    def release(self) -> None:
        """Free the place. Doing so again changes nothing."""
        self._limits.release(self, self._network)
        self.connection = None


class ConnectionLimits:
    """Counts open connections and decides which new ones are accepted.

    Args:
        most: Connections in all.
        per_address: Connections of one client: an IPv4 address or an IPv6 /64.
        trusted_proxies: Networks whose connections count in all only, as loopback's do: they stand for many clients.
        clock: Paces scans and the log.

    Attributes:
        refused: Connections not accepted since the start, by reason.
        replaced: Idle connections closed for new ones since the start.
    """

    def __init__(self, most: int, per_address: int, trusted_proxies: Sequence[str], clock: Clock) -> None:
        self._most = most
        self._per_address = per_address
        self._trusted = [ipaddress.ip_network(proxy) for proxy in trusted_proxies]
        self._clock = clock
        self._network_of = lru_cache(maxsize=4096)(self._counted_network)
        self._slots: set[Slot] = set()
        self._of: Counter[str] = Counter()
        self._no_scan_until = -math.inf
        self._logged: dict[str, tuple[float, int]] = {}
        self.refused: Counter[str] = Counter(dict.fromkeys(_REFUSALS, 0))
        self.replaced = 0

    @property
    def open(self) -> int:
        """Connections open at this moment."""
        return len(self._slots)

    def admit(self, host: str) -> Slot:
        """Take a place for a new connection.

        Args:
            host: The peer's address.

        Raises:
            ServiceError: UNAVAILABLE if it is not accepted.
        """
        network = self._network_of(host)
        if network and self._of[network] >= self._per_address:
            raise self.refuse("address", network)
        if len(self._slots) >= self._most:
            self.replace_idle()
        if len(self._slots) >= self._most + PROBES:
            raise self.refuse("total", network or host)
        slot = Slot(self, network, probes_only=len(self._slots) >= self._most)
        self._slots.add(slot)
        if network:
            self._of[network] += 1
        return slot

    def release(self, slot: Slot, network: str) -> None:
        """Free a place; called by the slot."""
        if slot not in self._slots:
            return
        self._slots.remove(slot)
        if network:
            self._of[network] -= 1
            if not self._of[network]:
                del self._of[network]

    def replace_idle(self) -> None:
        """Close those that have waited longest without a request, up to `REPLACED`."""
        if self._clock.monotonic() < self._no_scan_until:
            return
        idle = [(slot.connection.idle_until, id(slot), slot) for slot in self._slots if slot.connection is not None]
        longest = [slot for until, _, slot in heapq.nsmallest(REPLACED, idle) if until < math.inf]
        if not longest:
            self._no_scan_until = self._clock.monotonic() + _SCAN_PAUSE_S
        for slot in longest:
            connection = slot.connection
            slot.release()
            self.replaced += 1
            if connection is not None:  # pragma: no branch - those without were left out
                connection.discard()

    def refuse(self, reason: str, host: str) -> ServiceError:
        """Count and log a connection that is not accepted.

        Args:
            reason: A key of `_REFUSALS`.
            host: The peer, for the log.

        Returns:
            The refusal, for the peer.
        """
        self.refused[reason] += 1
        now, message = self._clock.monotonic(), _REFUSALS[reason]
        logged_at, count = self._logged.get(reason, (-math.inf, 0))
        if now - logged_at >= _LOG_PAUSE_S:
            extra = {"reason": reason, "address": host, "refused": self.refused[reason] - count, "open": self.open}
            _log.warning(f"connection refused: {message}", extra=extra)
            self._logged[reason] = now, self.refused[reason]
        return unavailable(message)

    def _counted_network(self, host: str) -> str:
        """The network that a connection counts for, empty where it counts in all only."""
        address = address_in(host)
        is_exempt = address is None or address.is_loopback or is_within(address, self._trusted)
        return "" if is_exempt else network_of(host)


def unavailable(message: str) -> ServiceError:
    """The refusal of a connection, or of a request on one that is for probes only."""
    return ServiceError("UNAVAILABLE", f"{message} Retry in 1 s.", headers={"Retry-After": "1"})


def most_connections(open_files: int) -> int:
    """How many connections a process may accept under a limit of open files."""
    return min(MOST, max(open_files - RESERVED_FILES, open_files // 2))
