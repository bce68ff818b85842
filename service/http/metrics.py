"""Metrics in Prometheus' text format, on a port of their own: plain counters of the rooms, read when asked.

Rooms count in plain integers and know nothing of Prometheus; wiring says which of them are shown, and under what name.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, GCCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import Receive, Scope, Send

PATH: Final = "/metrics"


class Reading(Struct, frozen=True):
    """One metric at one instant.

    Attributes:
        name: With its unit last, without the prefix `verdict_` and without `_total`.
        help: One sentence.
        values: Label values → value; the empty tuple where there are no labels.
        labels: Names of the labels.
        kind: A counter only grows while the process lives.
    """

    name: str
    help: str
    values: Mapping[tuple[str, ...], float]
    labels: tuple[str, ...] = ()
    kind: Literal["counter", "gauge"] = "counter"


Source = Callable[[], Iterable[Reading]]


class _Rooms(Collector):
    def __init__(self, source: Source) -> None:
        self._source = source

    def collect(self) -> Iterator[Metric]:
        for reading in self._source():
            family = CounterMetricFamily if reading.kind == "counter" else GaugeMetricFamily
            metric = family(f"verdict_{reading.name}", reading.help, labels=reading.labels)
            for labels, value in reading.values.items():
                metric.add_metric(labels, value)
            yield metric


class Metrics:
    """Answers `GET /metrics` with the rooms' counters and what the process itself uses.

    Args:
        source: Reads the rooms' counters.
    """

    def __init__(self, source: Source) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_Rooms(source))
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer; every other path is a 404."""
        found = scope["path"] == PATH and scope["method"] in {"GET", "HEAD"}
        body = generate_latest(self._registry) if found else b"The metrics are at /metrics.\n"
        kind = CONTENT_TYPE_LATEST if found else "text/plain; charset=utf-8"
        headers = [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200 if found else 404, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
