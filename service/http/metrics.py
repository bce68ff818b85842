"""`GET /metrics`, on a port of its own: the service's counters in Prometheus text format, read when asked."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct
from starlette.types import Receive, Scope, Send

from service.clock import Clock
from service.http.response import response

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric

PATH: Final = "/metrics"


class MetricSample(Struct, frozen=True):
    """One metric at one instant.

    Attributes:
        name: With its unit last, without the prefix `verdict_` and without `_total`.
        help: One sentence.
        values: Label values → value; the empty tuple if there are no labels.
        labels: Names of the labels.
        kind: A counter only grows while the process lives.
    """

    name: str
    help: str
    values: Mapping[tuple[str, ...], float]
    labels: tuple[str, ...] = ()
    kind: Literal["counter", "gauge"] = "counter"


class HistogramSample(Struct, frozen=True):
    """A histogram at one instant.

    Attributes:
        name: With its unit last, without the prefix `verdict_`.
        help: One sentence.
        bounds: Upper bounds of the buckets; one more bucket has none.
        values: Label values → number in each bucket, and the sum of what was measured.
        labels: Names of the labels.
    """

    name: str
    help: str
    bounds: Sequence[float]
    values: Mapping[tuple[str, ...], tuple[Sequence[int], float]]
    labels: tuple[str, ...]


MetricSource = Callable[[], Iterable[MetricSample | HistogramSample]]

BOUNDS_S: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the buckets, seconds; one more bucket holds what took longer."""


class LatencyHistogram:
    """Durations of one route.

    Attributes:
        counts: Number of responses in each bucket, the last one without an upper bound.
        total_s: Sum of the durations in seconds.
    """

    __slots__ = ("counts", "total_s")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_S) + 1)
        self.total_s = 0.0


class Latencies:
    """The histograms of all routes.

    Args:
        clock: Measures the durations.

    Attributes:
        now: Seconds from an arbitrary start; when a request begins.
        routes: The histograms by route name.
    """

    def __init__(self, clock: Clock) -> None:
        self.now = clock.monotonic
        self.routes: dict[str, LatencyHistogram] = {}

    def observe(self, route: str, started_s: float) -> None:
        """Count a response of a request that began at `started_s`."""
        elapsed_s = self.now() - started_s
        histogram = self.routes.get(route)
        if histogram is None:
            histogram = self.routes[route] = LatencyHistogram()
        histogram.counts[bisect_left(BOUNDS_S, elapsed_s)] += 1
        histogram.total_s += elapsed_s


class Metrics:
    """The ASGI application of the metrics port, and a Prometheus collector. Loads its library when it is first asked.

    Args:
        source: Reads the service's metrics.
    """

    def __init__(self, source: MetricSource) -> None:
        self._source = source

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer; every other path is a 404."""
        status, body, kind = 404, b"The metrics are at /metrics.\n", "text/plain; charset=utf-8"
        if scope["path"] == PATH and scope["method"] in {"GET", "HEAD"}:
            from prometheus_client import CONTENT_TYPE_LATEST, generate_latest  # noqa: PLC0415 - see above

            status, body, kind = 200, generate_latest(self._registry), CONTENT_TYPE_LATEST
        await response(status, [(b"content-type", kind.encode())], body)(scope, receive, send)

    @cached_property
    def _registry(self) -> "CollectorRegistry":
        """The service's metrics and those of the process."""
        from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector  # noqa: PLC0415 - see above

        registry = CollectorRegistry()
        registry.register(self)
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)
        return registry

    def collect(self) -> "Iterator[Metric]":
        """Read the service's metrics."""
        from prometheus_client.core import (  # noqa: PLC0415 - see above
            CounterMetricFamily,
            GaugeMetricFamily,
            HistogramMetricFamily,
        )

        for sample in self._source():
            if isinstance(sample, HistogramSample):
                histogram = HistogramMetricFamily(f"verdict_{sample.name}", sample.help, labels=sample.labels)
                bounds = [*map(str, sample.bounds), "+Inf"]
                for labels, (counts, total) in sample.values.items():
                    histogram.add_metric(labels, [*zip(bounds, accumulate(counts), strict=True)], total)
                yield histogram
                continue
            family = CounterMetricFamily if sample.kind == "counter" else GaugeMetricFamily
            metric = family(f"verdict_{sample.name}", sample.help, labels=sample.labels)
            for labels, value in sample.values.items():
                metric.add_metric(labels, value)
            yield metric
