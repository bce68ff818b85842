"""What the whole service promises about counting, asked over HTTP of real processes."""

import asyncio
import json
import resource
from collections import Counter
from pathlib import Path

import pytest

from tests.fakes.calls import call_at_once, check_exact
from tests.fakes.serving import Serving, serving, wait_until

pytestmark = pytest.mark.process

RISK = "/api/cli/coin/risk/BTC"
FAST = {"rate_per_minute": "1000000", "rate_burst": "1000000"}


@pytest.fixture(autouse=True)
def _many_connections() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8_192), hard))


def counted(service: Serving) -> int:
    usage = json.loads(service.verdict("admin", "usage", "--json").stdout)
    return sum(row["total"] for row in usage["users"])


@pytest.mark.gate
@pytest.mark.promise("meter.last-question")
@pytest.mark.parametrize("workers", [1, 2])
def test_of_a_thousand_calls_at_once_with_one_question_left_exactly_one_is_answered(
    tmp_path: Path, workers: int
) -> None:
    with serving(tmp_path, "--workers", str(workers), **FAST) as service:
        key = service.make_key()
        assert [service.ask(RISK, key)[0] for _ in range(9)] == [200] * 9
        statuses = asyncio.run(call_at_once(service.port, RISK, key, 1_000))
        check_exact(statuses, 1, lambda: service.ask(RISK, key)[0])
        assert counted(service) == 10


@pytest.mark.promise("meter.processes", "meter.once")
def test_two_workers_count_every_answer_of_an_unlimited_caller_once(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2", **FAST) as service:
        key = service.make_key("--tier", "pro")
        statuses = sum((asyncio.run(call_at_once(service.port, RISK, key, 400)) for _ in range(3)), Counter[int]())
        assert set(statuses) <= {200, 503}  # a process that does not get its turn at the store counts nothing
        assert counted(service) == statuses[200] > 0


@pytest.mark.machine
@pytest.mark.promise("errors.unavailable", "errors.retry-after", "meter.errors-free")
def test_a_full_disk_answers_nothing_counts_nothing_and_is_got_over(tmp_path: Path) -> None:
    with serving(tmp_path, **FAST) as service:
        key = service.make_key("--tier", "pro")
        assert service.ask(RISK, key)[0] == 200
        pid = service.process.pid
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        # Nowhere: a log that a checkpoint has emptied would find room within any size it once had.
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
        answers = [service.ask(RISK, key) for _ in range(200)]
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
        assert Counter(status for status, _, _ in answers) == {503: 200}
        refusal, fields, body = next(answer for answer in answers if answer[0] == 503)
        assert (refusal, body["error"]["code"]) == (503, "UNAVAILABLE")
        assert int(fields["retry-after"]) > 0
        wait_until(lambda: service.ask(RISK, key)[0] == 200)
        assert counted(service) == 2
