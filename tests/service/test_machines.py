"""Several machines on one PostgreSQL: exact as one, and what one revokes all refuse."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from functools import partial

import pytest

from tests.fakes.calls import call_at_once
from tests.fakes.postgres import postgres_dsn
from tests.fakes.serving import Serving, wait_until
from tests.service.machines import RISK, counted, key_on, machines

pytestmark = pytest.mark.unmeasured


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Serving]]:
    with postgres_dsn() as address, machines(tmp_path_factory.mktemp("machines"), address) as running:
        yield running


def answers(service: Serving, key: str, status: int) -> bool:
    return service.ask(RISK, key)[0] == status


@pytest.mark.promise("meter.machines")
def test_of_nine_hundred_calls_at_once_over_three_machines_with_seven_questions_left_seven_are_answered(
    three: list[Serving],
) -> None:
    key = key_on(three[0])
    for service in three:
        wait_until(partial(answers, service, key, 200))

    async def ask_all() -> Counter[int]:
        calls = [call_at_once(service.port, RISK, key, 300) for service in three]
        return sum(await asyncio.gather(*calls), Counter[int]())

    statuses = asyncio.run(ask_all())
    # A machine that cannot have its turn at the store in time, as where all share two processors, says so and counts
    # nothing: what it left is asked for afterwards.
    assert set(statuses) <= {200, 402, 503}
    later: list[int] = []

    def is_spent(service: Serving) -> bool:
        later.append(service.ask(RISK, key)[0])
        return later[-1] == 402

    for service in three:
        wait_until(partial(is_spent, service))
    assert statuses[200] + later.count(200) == 7
    assert counted(three[2]) == 10


@pytest.mark.promise("revocation.machines")
def test_a_key_that_is_revoked_on_one_machine_is_soon_refused_on_all(three: list[Serving]) -> None:
    key = key_on(three[0])
    for service in three:
        wait_until(partial(answers, service, key, 200))
    three[1].verdict("keys", "revoke", key[: len("verdict_sk_") + 8])
    for service in three:
        wait_until(partial(answers, service, key, 401))
