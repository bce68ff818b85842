"""Several machines on one PostgreSQL: exact as one, and what one revokes all refuse."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import cycle
from random import Random

import pytest

from service.access.quota import STARTER
from tests.fakes.calls import call_at_once, check_exact
from tests.fakes.postgres import postgres_dsn
from tests.fakes.serving import Serving, wait_until
from tests.service.machines import RISK, counted, key_on, machines
from tests.service.schema_hooks import sign_in

pytestmark = pytest.mark.process

SHARES = (334, 333, 333)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Serving]]:
    with postgres_dsn() as address, machines(tmp_path_factory.mktemp("machines"), address) as running:
        yield running


def answers(service: Serving, key: str, status: int) -> bool:
    return service.ask(RISK, key)[0] == status


@pytest.mark.promise("meter.machines")
def test_of_a_thousand_calls_at_once_over_three_machines_as_many_are_answered_as_are_left(
    three: list[Serving], pytestconfig: pytest.Config
) -> None:
    left = Random(pytestconfig.getoption("seed")).randint(1, STARTER - len(three))  # noqa: S311 - no secret
    key = key_on(three[0])
    before = counted(three[2])
    for place in range(STARTER - left):
        wait_until(partial(answers, three[place % 3], key, 200))

    async def ask_all() -> Counter[int]:
        calls = [call_at_once(service.port, RISK, key, share) for service, share in zip(three, SHARES, strict=True)]
        return sum(await asyncio.gather(*calls), Counter[int]())

    statuses = asyncio.run(ask_all())
    asked = cycle(three)
    check_exact(statuses, left, lambda: next(asked).ask(RISK, key)[0])
    assert counted(three[2]) - before == STARTER


@pytest.mark.promise("revocation.machines")
def test_a_key_that_is_revoked_on_one_machine_is_refused_on_all(three: list[Serving]) -> None:
    key = key_on(three[0])
    for service in three:
        wait_until(partial(answers, service, key, 200))
    three[1].verdict("admin", "keys", "revoke", key[: len("verdict_sk_") + 8])
    for service in three:
        wait_until(partial(answers, service, key, 401))


@pytest.mark.promise("revocation.machines", "signin.logout")
def test_a_session_that_is_logged_out_on_one_machine_is_refused_on_all_and_another_goes_on(
    three: list[Serving],
) -> None:
    ended, other = (sign_in(f"http://127.0.0.1:{three[place].port}") for place in (0, 2))
    for service in three:
        for session in (ended, other):
            wait_until(partial(answers, service, session, 200))
    assert three[0].ask("/api/auth/logout", ended, "POST")[0] == 200
    assert answers(three[0], ended, 401)
    for service in three[1:]:
        wait_until(partial(answers, service, ended, 401))
    assert all(answers(service, other, 200) for service in three)
