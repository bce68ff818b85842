import pytest
from prometheus_client.parser import text_string_to_metric_families

from service.http.counted import Reading
from service.http.metrics import Metrics
from tests.http.test_health import ask

REQUESTS = Reading("requests", "Answers sent.", {("coin.risk", "200"): 3, ("-", "404"): 1}, ("route", "status"))
AGE = Reading("refresh_age_seconds", "Age of the data.", {(): 12.5}, kind="gauge")


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
    metrics = Metrics(lambda: [Reading("calls", "Calls.", values)])
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
