"""Services that follow each other, stand beside each other, and take over from each other: the same answers."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from service.clock import DAY_MS, HOUR_MS
from tests.fakes.clock import FakeClock
from tests.fakes.serving import PATIENCE_S
from tests.service.indoors import EVERYTHING, RISK, Answer, Doors, Indoors, Kept, indoors, is_complete
from tests.upstream.faults import drip, hang

pytestmark = pytest.mark.slow

_ASKED_EVERY_S = 0.01
_AGREE_S = 30


async def tell(house: Indoors, key: str) -> dict[str, Any]:
    """What every route says, without the age."""
    told = {}
    for target in EVERYTHING:
        reply = await house.ask(target, key=key)
        assert reply.status == 200, (target, reply)
        told[target] = (reply.json["data"], reply.json["meta"]["as_of"])
    return told


@pytest.mark.promise("time.as-of-honest")
async def test_a_service_that_starts_again_answers_everything_before_it_has_asked_anybody(
    kept: Kept, tmp_path: Path
) -> None:
    doors = Doors()
    doors.next = hang
    async with kept.reopened(tmp_path / "data", faults=doors) as house:
        assert house.service.health.ready
        told = await tell(house, kept.key)
        assert sum(session.calls for session in house.sessions.values()) <= len(house.sessions)
        risk, as_of = told[RISK]
        assert risk["price"] is not None
        assert risk["trend_daily"] is not None
        assert risk["sentiment_stance"] is not None
        assert as_of <= told[RISK][1]


async def test_a_start_after_an_hour_names_no_price_and_all_that_days_told(kept: Kept, tmp_path: Path) -> None:
    copytree(kept.data_dir, tmp_path / "data")
    doors = Doors()
    doors.next = hang
    clock = FakeClock(kept.at_ms + HOUR_MS)
    async with indoors(tmp_path / "data", clock, doors, fixtures_dir=kept.fixtures_dir, source="live") as house:
        assert (await house.ask(key=kept.key)).status == 503
        assert (await house.ask("/api/cli/rwa/symbol/AAPL", key=kept.key)).status == 503
        for target in EVERYTHING:
            if target != RISK and "rwa/symbol" not in target:
                assert (await house.ask(target, key=kept.key)).status == 200, target


async def agree(leader: Indoors, follower: Indoors, key: str) -> dict[str, Any]:
    """Wait until both say the same: what is stored is read within a second, unless more is being stored by then."""
    for _ in range(_AGREE_S):
        await leader.pass_time(1, 1)
        await follower.settle()
        told = await tell(leader, key)
        if await tell(follower, key) == told:
            return told
    assert await tell(follower, key) == await tell(leader, key)
    raise AssertionError


@pytest.fixture
async def pair(kept: Kept, tmp_path: Path) -> AsyncIterator[tuple[Indoors, Indoors, AsyncExitStack]]:
    """A leader, one that follows it, and what ends the leader."""
    async with AsyncExitStack() as outer:
        first = await outer.enter_async_context(AsyncExitStack())
        leader = await first.enter_async_context(kept.reopened(tmp_path / "data"))
        follower = await outer.enter_async_context(kept.beside(leader))
        yield leader, follower, first


async def test_a_service_beside_the_leader_asks_nobody_and_answers_the_same(
    kept: Kept, pair: tuple[Indoors, Indoors, AsyncExitStack]
) -> None:
    leader, follower, _ = pair
    for _ in range(2):
        await leader.pass_time(150, 7.5)
        await agree(leader, follower, kept.key)
    assert not follower.doors.calls
    assert (await follower.readiness())["market"]["venue"] == "hyperliquid"


async def test_when_the_leader_ends_the_other_goes_on_with_everything(
    kept: Kept, pair: tuple[Indoors, Indoors, AsyncExitStack]
) -> None:
    leader, follower, first = pair
    await leader.pass_time(30, 5)
    before = await agree(leader, follower, kept.key)
    await first.aclose()
    assert await tell(follower, kept.key) == before
    follower.clock.set_wall(
        follower.clock.at_ms + 2 * HOUR_MS
    )  # everything is due by now, also what is due once an hour
    await follower.pass_time(1_200, 7.5)
    for name in (
        "metaAndAssetCtxs",
        "feed",
        "xyz",
        "candleSnapshot",
        "fundingHistory",
        "perpConciseAnnotations",
        "coingecko",
        "alternative",
        "coindesk",
        "cointelegraph",
    ):
        assert follower.doors.calls[name] > 0, name
    after = await tell(follower, kept.key)
    assert after[RISK][0]["_stale_fields"] == []
    assert (await follower.ask(key=kept.key)).json["meta"]["data_age_seconds"] <= 15
    assert is_complete(await follower.readiness())


@pytest.mark.parametrize("back_ms", [HOUR_MS, 2 * DAY_MS])
async def test_a_clock_set_back_gives_no_negative_age_and_breaks_nothing(
    kept: Kept, tmp_path: Path, back_ms: int
) -> None:
    async with kept.reopened(tmp_path / "data") as house:
        await house.pass_time(30, 5)
        at_ms = house.clock.at_ms
        for wall_ms in (at_ms - back_ms, at_ms + 30_000):
            house.clock.set_wall(wall_ms)
            for _ in range(6):
                await house.pass_time(30, 7.5)
                for target in EVERYTHING:
                    reply = await house.ask(target, key=kept.key)
                    assert reply.status in {200, 503}, (target, reply)
                    if reply.status == 200:
                        assert reply.json["meta"]["data_age_seconds"] >= 0, target
        await tell(house, kept.key)


def held() -> tuple[int, int, int]:
    """Tasks, threads and descriptors of this process, without the loop's own pool, which keeps its threads."""
    threads = [thread for thread in threading.enumerate() if not thread.name.startswith("asyncio_")]
    return len(asyncio.all_tasks()), len(threads), len(list(Path("/proc/self/fd").iterdir()))


async def until(true: Callable[[], bool]) -> None:
    """Wait until something is so: sockets and threads end a moment after their service."""
    for _ in range(round(PATIENCE_S / _ASKED_EVERY_S)):
        if true():
            return
        await asyncio.sleep(_ASKED_EVERY_S)
    raise AssertionError(held())


async def test_services_that_were_closed_leave_no_task_thread_or_descriptor(kept: Kept, tmp_path: Path) -> None:
    async def live_once(name: str, fault: Answer | None) -> None:
        async with AsyncExitStack() as stack:
            house = await stack.enter_async_context(kept.reopened(tmp_path / name))
            await stack.enter_async_context(kept.beside(house))
            if fault is not None:
                house.doors.shut("hyperliquid", "coingecko", "coindesk", fault=fault)
            await house.pass_time(60, 7.5)
            await tell(house, kept.key)

    await live_once("first", None)  # what is made once a process, such as the pool of threads, is made now
    await until(lambda: len(asyncio.all_tasks()) == 1)
    before = held()
    for number, fault in enumerate([None, hang, drip, None]):
        await live_once(str(number), fault)

    await until(lambda: all(now <= then for now, then in zip(held(), before, strict=True)))
