import asyncio
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from pathlib import Path
from typing import cast

import pytest

from service.storage.database import Database, open_database
from service.wiring.leader import LeaderElection, elect_leader
from tests.fakes.clock import FakeClock


class Held:
    """A claim that is given and taken by hand."""

    def __init__(self) -> None:
        self.mine = True
        self.asked = 0

    def held(self) -> bool:
        return self.mine

    async def contend(self) -> bool:
        self.asked += 1
        return self.mine


async def test_the_first_process_on_a_store_leads_and_the_second_follows(database: Database) -> None:
    async with elect_leader(database) as first, elect_leader(database) as second:
        assert (first.held(), second.held()) == (True, False)


async def test_a_claim_that_was_tried_when_it_was_opened_is_not_tried_twice() -> None:
    class Store:
        def claim(self, _: str) -> AbstractAsyncContextManager[Held]:
            return nullcontext(claim)

    claim = Held()
    async with elect_leader(cast("Database", Store())) as leadership:
        assert leadership.held()
    assert claim.asked == 0


async def test_a_follower_takes_over_within_a_second_of_the_leaders_end(tmp_path: Path, clock: FakeClock) -> None:
    async with (
        open_database(tmp_path / "verdict.db", clock) as one,
        open_database(tmp_path / "verdict.db", clock) as two,
        AsyncExitStack() as leading,
    ):
        await leading.enter_async_context(elect_leader(one))
        async with elect_leader(two) as second:
            watching = asyncio.create_task(second.watch(clock))
            await clock.settle()
            await clock.advance(3)
            assert not second.held()
            await leading.aclose()
            await clock.advance(1)
            assert second.held()
            watching.cancel()


@pytest.mark.parametrize(
    ("leads", "said"),
    [
        (True, "This process is the leader and fetches from upstreams."),
        (False, "Another process is the leader and fetches from upstreams."),
    ],
)
async def test_a_process_says_once_at_its_start_which_process_leads(
    clock: FakeClock, caplog: pytest.LogCaptureFixture, *, leads: bool, said: str
) -> None:
    caplog.set_level("INFO", "verdict.wiring")
    claim = Held()
    claim.mine = leads
    watching = asyncio.create_task(LeaderElection(claim).watch(clock))
    await clock.settle()
    await clock.advance(3)
    watching.cancel()
    assert caplog.messages == [said]


async def test_who_loses_the_lead_says_so_and_goes_on_trying(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "verdict.wiring")
    claim = Held()
    leadership = LeaderElection(claim)
    watching = asyncio.create_task(leadership.watch(clock))
    await clock.settle()
    claim.mine = False
    assert not leadership.held()
    await clock.advance(2)
    claim.mine = True
    await clock.advance(1)
    assert leadership.held()
    assert claim.asked == 3
    assert caplog.messages == [
        "This process is the leader and fetches from upstreams.",
        "Lost the leadership.",
        "This process is the leader and fetches from upstreams.",
    ]
    watching.cancel()
