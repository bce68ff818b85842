"""Prometheus metrics: which counters are exported, and under which names."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from service.http.app import App
from service.http.connections import ConnectionLimits
from service.http.metrics import BOUNDS_S, HistogramSample, MetricSample
from service.market.plausibility.quarantine import QuarantineReport
from service.market.service import MarketService
from service.storage.database import Database
from service.storage.documents import Document
from service.streams.broker import StreamBroker
from service.upstream.feed_fetcher import FeedFetcher
from service.upstream.session import UpstreamSession

_VISITED = "feeds"
"""All hosts of feeds and transcripts."""


def read_metrics(
    app: App,
    connections: ConnectionLimits,
    database: Database,
    market: MarketService,
    sessions: Mapping[str, UpstreamSession],
    fetcher: FeedFetcher,
    streams: StreamBroker,
    leads: Callable[[], bool],
) -> Iterator[MetricSample | HistogramSample]:
    """Read every counter of this process.

    Yields:
        Requests by route and status (402 and 429 are the quota's and the rate's refusals), connections, upstream calls,
        failures and weight, transactions and closures, the size of the write-ahead log, subscribers of each stream,
        the market's state and age.
    """
    yield MetricSample(
        "requests",
        "Answers given, by route and status; status 0 where the peer left first.",
        {(route or "none", str(status)): count for (route, status), count in app.answers.items()},
        ("route", "status"),
    )
    yield HistogramSample(
        "request_seconds",
        "Seconds from the parsed request to its response, by route; a stream is measured to its end.",
        BOUNDS_S,
        {(route or "none",): (each.counts, each.total_s) for route, each in app.latencies.routes.items()},
        ("route",),
    )
    yield MetricSample("connections", "Connections open at this moment.", {(): connections.open}, kind="gauge")
    refused: dict[tuple[str, ...], float] = {(reason,): count for reason, count in connections.refused.items()}
    yield MetricSample("connections_refused", "Connections not accepted, by reason.", refused, ("reason",))
    yield MetricSample("connections_replaced", "Idle connections closed for new ones.", {(): connections.replaced})
    yield from _read_upstreams(sessions, fetcher)
    yield MetricSample("storage_transactions", "Transactions committed.", {(): database.transactions})
    yield MetricSample("storage_closures", "Closures run in transactions.", {(): database.closures})
    yield MetricSample(
        "storage_wal_bytes", "Size of the write-ahead log.", {(): wal_bytes(database.path)}, kind="gauge"
    )
    yield MetricSample("leader", "1 where this process fetches from upstreams.", {(): float(leads())}, kind="gauge")
    reading: dict[tuple[str, ...], float] = {(name,): count for name, count in streams.readers().items()}
    yield MetricSample("stream_readers", "Open subscriptions, by stream.", reading, ("stream",), kind="gauge")
    yield from _read_market(market.readiness())


def read_quarantine_metrics(quarantines: Sequence[Document[QuarantineReport]]) -> MetricSample:
    """Number of quarantined values, read from the store."""
    counts: dict[tuple[str, ...], float] = {}
    for document in quarantines:
        for key, count in (document.current.value or QuarantineReport()).counts.items():
            labels = tuple(key.split(" "))
            counts[labels] = counts.get(labels, 0) + count
    help_ = "Values that failed the plausibility check, by source, field and reason."
    return MetricSample("quarantined", help_, counts, ("source", "field", "reason"))


def wal_bytes(database: Path) -> int:
    """Size of a database's write-ahead log in bytes; 0 if there is none."""
    try:
        return database.with_name(database.name + "-wal").stat().st_size
    except FileNotFoundError:
        return 0


def _read_upstreams(sessions: Mapping[str, UpstreamSession], fetcher: FeedFetcher) -> Iterator[MetricSample]:
    calls: dict[tuple[str, ...], float] = {(_VISITED,): fetcher.calls}
    failures: dict[tuple[str, ...], float] = {(_VISITED,): fetcher.failures}
    weights: dict[tuple[str, ...], float] = {}
    for name, session in sessions.items():
        calls[name,], failures[name,], weights[name,] = session.calls, session.failures, session.weight
    of = ("upstream",)
    yield MetricSample("upstream_calls", "Requests sent to upstreams.", calls, of)
    yield MetricSample("upstream_failures", "Upstream requests without a usable answer.", failures, of)
    yield MetricSample("upstream_weight", "Weight spent of the upstreams' budgets.", weights, of)


def _read_market(state: Mapping[str, object]) -> Iterator[MetricSample]:
    yield MetricSample("ready", "1 once the market can answer.", {(): float(bool(state["ready"]))}, kind="gauge")
    age_s = state["prices_age_seconds"]
    if isinstance(age_s, int):
        yield MetricSample("prices_age_seconds", "Age of the prices answered from.", {(): age_s}, kind="gauge")
