"""Machines on one PostgreSQL when something goes wrong: a leader dies, a server stops, a payment comes to all."""

import asyncio
import json
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from service.clock import SystemClock
from tests.fakes.calls import call_until_it_dies
from tests.fakes.postgres import own_server, postgres_dsn
from tests.fakes.serving import Serving, wait_until
from tests.payments.signing import answer, wallet
from tests.service.machines import RISK, counted, key_on, leaders, machine, machines

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600), pytest.mark.process]

CLIENTS_A_MACHINE = 4


@pytest.fixture
def address() -> Iterator[str]:
    with postgres_dsn() as found:
        yield found


@pytest.mark.promise("meter.machines")
def test_of_three_machines_one_fetches_and_another_does_when_it_is_killed(tmp_path: Path, address: str) -> None:
    with machines(tmp_path, address) as three:
        key = key_on(three[0], "--tier", "pro")
        (leader,) = leaders(three)
        followers = [service for service in three if service is not leader]
        assert [service.ask(RISK, key)[0] for service in three] == [200] * 3
        leader.process.send_signal(signal.SIGKILL)
        wait_until(lambda: len(leaders(followers)) == 1)
        assert [service.ask(RISK, key)[0] for service in followers] == [200, 200]


@pytest.mark.promise("meter.machines")
def test_a_machine_that_is_killed_under_load_has_counted_what_it_answered_once_it_is_started_again(
    tmp_path: Path, address: str
) -> None:
    with machines(tmp_path, address, 2) as (one, two):
        key = key_on(one, "--tier", "pro")
        answered = asyncio.run(call_until_it_dies(one.port, RISK, key, 16, 500, one.process.kill))
        with machine(tmp_path, address, 0) as again:
            again.wait_for("ready")
            assert counted(two) - answered in {0, 1}, "one may be counted whose answer was about to leave"
        assert answered >= 500


@pytest.mark.promise("meter.machines")
def test_one_payment_that_comes_to_three_machines_at_once_is_taken_once(tmp_path: Path, address: str) -> None:
    with machines(tmp_path, address) as three:
        key = key_on(three[0])
        assert [three[0].ask(RISK, key)[0] for _ in range(10)] == [200] * 10
        status, fields, _ = three[0].ask(RISK, key)
        assert status == 402
        payment = answer(wallet(1), fields["payment-required"], now_ms=SystemClock().now_ms())
        with ThreadPoolExecutor(21) as pool:
            replies = list(pool.map(lambda place: three[place % 3].ask(RISK, key, **payment), range(21)))
        assert {status for status, _, _ in replies} == {200}
        assert len({fields["payment-response"] for _, fields, _ in replies}) == 1
        assert len({str(body) for _, _, body in replies}) == 1
        paid = json.loads(three[1].verdict("admin", "payments", "list", "--json").stdout)["payments"]
        assert len(paid) == 1
        assert counted(three[2]) == 10, "what was paid for is no question"


@pytest.mark.promise("meter.machines")
def test_a_server_that_stops_under_load_and_comes_back_loses_and_doubles_no_call(tmp_path: Path) -> None:
    with own_server() as server, machines(tmp_path, server.address(server.make_database())) as three:
        key = key_on(three[0], "--tier", "pro")
        over = threading.Event()
        statuses: Counter[int] = Counter()

        def call(service: Serving) -> Counter[int]:
            found: Counter[int] = Counter()
            while not over.is_set():
                found[service.ask(RISK, key)[0]] += 1
                statuses.update(found.keys())
            return found

        with ThreadPoolExecutor() as pool:
            callers = [pool.submit(call, service) for service in three for _ in range(CLIENTS_A_MACHINE)]
            wait_until(lambda: statuses[200] > 0)
            for politely in (True, False):
                before = statuses[503]
                server.stop(politely=politely)
                wait_until(lambda before=before: statuses[503] > before)  # type: ignore[misc]
                server.start()
                for service in three:
                    wait_until(lambda service=service: service.ask(RISK, key)[0] == 200)  # type: ignore[misc]
            over.set()
            answered = sum((caller.result() for caller in callers), Counter[int]())
        extra = counted(three[0]) - answered[200]
        assert set(answered) == {200, 503}
        # Of what was asked beside, and what was kept while its server was lost in the middle of saying so.
        assert 6 <= extra <= 6 + 2 * 3 * CLIENTS_A_MACHINE
