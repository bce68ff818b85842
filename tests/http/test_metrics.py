import pytest
from prometheus_client.parser import text_string_to_metric_families

from service.http.metrics import BOUNDS_S, HistogramSample, Latencies, Metrics, MetricSample
from tests.fakes.clock import FakeClock
from tests.http.test_health import ask

REQUESTS = MetricSample("requests", "Answers sent.", {("coin.risk", "200"): 3, ("-", "404"): 1}, ("route", "status"))
AGE = MetricSample("refresh_age_seconds", "Age of the data.", {(): 12.5}, kind="gauge")


async def test_the_rooms_counters_are_shown_in_prometheus_format() -> None:
    status, headers, body = await ask(Metrics(lambda: [REQUESTS, AGE]), "/metrics")
    samples = {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(body.decode())
        for sample in family.samples
    }
    assert status == 200
    assert headers[b"content-type"].startswith(b"text/plain")
    assert samples["verdict_requests_total", ("coin.risk", "200")] == 3
    assert samples["verdict_requests_total", ("-", "404")] == 1
    assert samples["verdict_refresh_age_seconds", ()] == 12.5
    assert ("process_resident_memory_bytes", ()) in samples


async def test_counters_are_read_when_asked() -> None:
    values: dict[tuple[str, ...], float] = {(): 1}
    metrics = Metrics(lambda: [MetricSample("calls", "Calls.", values)])
    assert b"verdict_calls_total 1.0" in (await ask(metrics, "/metrics"))[2]
    values[()] = 2
    assert b"verdict_calls_total 2.0" in (await ask(metrics, "/metrics"))[2]


async def test_head_has_the_headers_of_get() -> None:
    metrics = Metrics(lambda: [AGE])
    status, headers, body = await ask(metrics, "/metrics", "HEAD")
    assert (status, body) == (200, b"")
    assert int(headers[b"content-length"]) > 0


@pytest.mark.parametrize(("path", "method"), [("/", "GET"), ("/metrics/", "GET"), ("/metrics", "POST")])
async def test_anything_else_is_not_found(path: str, method: str) -> None:
    status, _, body = await ask(Metrics(list), path, method)
    assert (status, body) == (404, b"The metrics are at /metrics.\n")


@pytest.mark.promise("metrics.latencies")
async def test_a_histogram_is_shown_with_cumulative_buckets() -> None:
    sample = HistogramSample("took_seconds", "Time.", (0.5, 1.0), {("risk",): ((2, 1, 1), 4.5)}, ("route",))
    body = (await ask(Metrics(lambda: [sample]), "/metrics"))[2].decode()
    assert [line for line in body.splitlines() if line.startswith("verdict_took")] == [
        'verdict_took_seconds_bucket{le="0.5",route="risk"} 2.0',
        'verdict_took_seconds_bucket{le="1.0",route="risk"} 3.0',
        'verdict_took_seconds_bucket{le="+Inf",route="risk"} 4.0',
        'verdict_took_seconds_count{route="risk"} 4.0',
        'verdict_took_seconds_sum{route="risk"} 4.5',
    ]


@pytest.mark.promise("metrics.latencies")
async def test_a_latency_is_counted_in_the_bucket_of_its_route() -> None:
    clock = FakeClock()
    latencies = Latencies(clock)
    for seconds in (0.0, BOUNDS_S[0], 0.0006, 60.0):
        started_s = latencies.now()
        await clock.advance(seconds)
        latencies.observe("risk", started_s)
    latencies.observe("other", latencies.now())
    counts = latencies.routes["risk"].counts
    assert (counts[0], counts[1], counts[-1], sum(counts)) == (2, 1, 1, 4)
    assert latencies.routes["risk"].total_s == pytest.approx(60.0011)
    assert sum(latencies.routes["other"].counts) == 1
