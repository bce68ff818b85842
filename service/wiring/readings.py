"""Which of the rooms' counters are shown as metrics, and under what name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from service.http.app import App
from service.http.connections import ConnectionLimits
from service.http.counted import Reading
from service.market.desk import MarketDesk
from service.market.quarantine import Report
from service.market.shelf import Drawer
from service.storage.database import Database
from service.streams.hub import Hub
from service.upstream.session import UpstreamSession
from service.upstream.visitor import Visitor

_VISITED = "feeds"
"""Hosts of feeds and transcripts, whoever they are."""


def read_all(
    app: App,
    connections: ConnectionLimits,
    database: Database,
    market: MarketDesk,
    sessions: Mapping[str, UpstreamSession],
    visitor: Visitor,
    streams: Hub,
    leads: Callable[[], bool],
) -> Iterator[Reading]:
    """Read every counter of this process.

    Yields:
        Requests by route and status (402 and 429 are the quota's and the rate's refusals), connections, upstream calls,
        failures and weight, transactions and what they held, the size of the write-ahead log, who follows which stream,
        the market's state and age.
    """
    yield Reading(
        "requests",
        "Answers given, by route and status; status 0 where the peer left first.",
        {(route or "none", str(status)): count for (route, status), count in app.answers.items()},
        ("route", "status"),
    )
    yield Reading("connections", "Connections open at this moment.", {(): connections.open}, kind="gauge")
    refused: dict[tuple[str, ...], float] = {(reason,): count for reason, count in connections.refused.items()}
    yield Reading("connections_refused", "Connections not accepted, by reason.", refused, ("reason",))
    yield Reading("connections_replaced", "Idle connections closed for new ones.", {(): connections.replaced})
    yield from _read_upstreams(sessions, visitor)
    yield Reading("storage_transactions", "Transactions committed.", {(): database.transactions})
    yield Reading("storage_closures", "What they held; the ratio is the size of a group.", {(): database.closures})
    yield Reading("storage_wal_bytes", "Size of the write-ahead log.", {(): wal_bytes(database.path)}, kind="gauge")
    yield Reading("leader", "1 where this process fetches from upstreams.", {(): float(leads())}, kind="gauge")
    reading: dict[tuple[str, ...], float] = {(name,): count for name, count in streams.readers().items()}
    yield Reading("stream_readers", "Who follow a stream at this moment.", reading, ("stream",), kind="gauge")
    yield from _read_market(market.readiness())


def read_quarantines(quarantines: Sequence[Drawer[Report]]) -> Reading:
    """How often values were held back, as every process reads it from the store."""
    counts: dict[tuple[str, ...], float] = {}
    for drawer in quarantines:
        for key, count in (drawer.now.value or Report()).counts.items():
            labels = tuple(key.split(" "))
            counts[labels] = counts.get(labels, 0) + count
    help_ = "Values that failed the plausibility check, by source, field and reason."
    return Reading("quarantined", help_, counts, ("source", "field", "reason"))


def wal_bytes(database: Path) -> int:
    """The size of a database's write-ahead log, 0 where there is none."""
    try:
        return database.with_name(database.name + "-wal").stat().st_size
    except FileNotFoundError:
        return 0


def _read_upstreams(sessions: Mapping[str, UpstreamSession], visitor: Visitor) -> Iterator[Reading]:
    calls: dict[tuple[str, ...], float] = {(_VISITED,): visitor.calls}
    failures: dict[tuple[str, ...], float] = {(_VISITED,): visitor.failures}
    weights: dict[tuple[str, ...], float] = {}
    for name, session in sessions.items():
        calls[name,], failures[name,], weights[name,] = session.calls, session.failures, session.weight
    of = ("upstream",)
    yield Reading("upstream_calls", "Requests sent to upstreams.", calls, of)
    yield Reading("upstream_failures", "Those that gave no usable answer.", failures, of)
    yield Reading("upstream_weight", "Weight spent of the upstreams' budgets.", weights, of)


def _read_market(state: Mapping[str, object]) -> Iterator[Reading]:
    yield Reading("ready", "1 once the market can answer.", {(): float(bool(state["ready"]))}, kind="gauge")
    age_s = state["prices_age_seconds"]
    if isinstance(age_s, int):
        yield Reading("prices_age_seconds", "Age of the prices answered from.", {(): age_s}, kind="gauge")
