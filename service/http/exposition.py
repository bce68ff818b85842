"""Prometheus' text format. Loads its library, so it is imported where metrics are asked for only."""

from collections.abc import Iterator

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, GCCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from service.http.counted import Source


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


class Exposition:
    """Shows the rooms' counters and what the process itself uses.

    Args:
        source: Reads the rooms' counters.
    """

    content_type = CONTENT_TYPE_LATEST

    def __init__(self, source: Source) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_Rooms(source))
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)

    def write(self) -> bytes:
        """All of them, as they are now."""
        return generate_latest(self._registry)
