"""Everything an upstream can do wrong, done by each of them in turn: every route goes on answering what it last knew.

The same faults, at the session: `tests/upstream/test_session.py` shows that the deadline and the cap of a body hold.
"""

import resource
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from service.clock import HOUR_MS
from tests.service.indoors import EVERYTHING, RISK, Answer, Indoors, Kept
from tests.upstream.faults import FAULTS, reset, too_many

pytestmark = pytest.mark.slow

LARGEST_GROWTH_KB = 64 * 1024
AAPL = "/api/cli/rwa/symbol/AAPL"


LOST = {
    "the first venue": ("hyperliquid", "feed"),
    "both venues": ("hyperliquid", "feed", "binance"),
    "the builder dex": ("xyz", "binance"),
    "CoinGecko": ("coingecko",),
    "Fear & Greed": ("alternative",),
    "one feed": ("coindesk",),
    "both feeds": ("coindesk", "cointelegraph"),
}
VENUES = ("the first venue", "both venues", "the builder dex")
FEW = {
    "both venues": ("reset", "drip"),
    "the builder dex": ("black hole", "429"),
    "CoinGecko": ("gzip bomb", "HTML at 200"),
    "Fear & Greed": ("429", "black hole"),
    "one feed": ("HTML at 200",),
    "both feeds": ("gzip bomb", "reset"),
}
"""The first venue meets every fault; the others some, of other kinds each: all of them meet all in the soak."""

STALE: dict[str, tuple[str, set[str]]] = {
    "the first venue": (RISK, set()),
    "both venues": (RISK, {"price", "funding_apr"}),
    "the builder dex": (AAPL, {"price", "change_24h", "funding", "open_interest_usd", "volume_24h_usd"}),
    "CoinGecko": (RISK, set()),
    "Fear & Greed": (RISK, set()),
    "one feed": (RISK, set()),
    "both feeds": (RISK, {"sentiment_stance"}),
}
"""What is told as stale, of which route."""


def every_pair() -> Iterator[Any]:
    for lost in LOST:
        for fault in FAULTS:
            chosen = fault in FEW.get(lost, FAULTS)
            yield pytest.param(fault, lost, marks=() if chosen else pytest.mark.soak)


@pytest.fixture
async def house(kept: Kept, tmp_path: Path) -> AsyncIterator[Indoors]:
    async with kept.reopened(tmp_path / "data", gives_up=True) as service:
        await service.pass_time(30, 10)
        yield service


async def fail(house: Indoors, lost: str, fault: Answer) -> list[str]:
    """Lose upstreams, and let time pass until each of them has failed; their names."""
    sessions = [name for name in LOST[lost] if name in house.sessions] or ["hyperliquid"]
    failures = {name: house.sessions[name].failures for name in sessions}
    if lost not in VENUES:
        # What is asked once in ten minutes or in an hour is due now.
        house.clock.set_wall(house.clock.at_ms + 2 * HOUR_MS)
        house.doors.shut(*LOST[lost], fault=fault)
        await house.pass_time(15, 5)
    await house.lose(*LOST[lost], fault=fault)
    await house.pass_until(lambda: all(house.sessions[name].failures > failures[name] for name in sessions), 15)
    await house.pass_time(30, 5)
    return sessions


@pytest.mark.promise("time.as-of-honest", "risk.stale-fields", "risk.stale-limit")
@pytest.mark.parametrize(("fault", "lost"), [*every_pair()])
async def test_whatever_fails_every_route_answers_what_it_last_knew_and_then_anew(
    house: Indoors, kept: Kept, lost: str, fault: str
) -> None:
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    await fail(house, lost, FAULTS[fault])
    target, expected = STALE[lost]
    for each in EVERYTHING:
        reply = await house.ask(each, key=kept.key)
        assert reply.status == 200, (each, reply)
        if each == target:
            assert set(reply.json["data"]["_stale_fields"]) == expected
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < largest + LARGEST_GROWTH_KB
    house.doors.open()
    await house.pass_until(lambda: not house.sessions["hyperliquid"]._breaker.wait_s(), 5)
    await house.pass_time(120, 5)
    again = (await house.ask(target, key=kept.key)).json["data"]
    assert (again["_stale_fields"], again["venue"]) == ([], "hyperliquid")


@pytest.mark.parametrize("lost", ["both venues", "CoinGecko"])
async def test_a_third_of_the_requests_lost_leaves_everything_fresh(house: Indoors, kept: Kept, lost: str) -> None:
    numbers = count()

    async def lossy(request: web.Request) -> web.StreamResponse | None:
        return await reset(request) if next(numbers) % 10 in {2, 5, 9} else None

    await house.lose(*LOST[lost], fault=lossy)
    for _ in range(8):
        await house.pass_time(60, 5)
        said = (await house.ask(key=kept.key)).json
        assert said["data"]["price"] is not None
        assert said["meta"]["data_age_seconds"] <= 60
    assert next(numbers) > 3


@pytest.mark.parametrize("lost", ["hyperliquid", "binance", "coingecko", "alternative", "coindesk"])
async def test_after_a_429_nobody_is_asked_before_the_time_it_named(house: Indoors, lost: str) -> None:
    house.clock.set_wall(house.clock.at_ms + HOUR_MS)
    fails: dict[str, Any] = {lost: too_many("300")}
    if lost == "binance":
        await house.lose("hyperliquid", "feed", fault=reset)
    await house.lose(lost, fault=fails[lost])
    session = house.sessions[lost]
    failures = session.failures
    await house.pass_until(lambda: session.failures > failures, 5)
    asked = session.calls
    house.doors.open()
    if lost == "binance":
        await house.lose("hyperliquid", "feed", fault=reset)
    await house.pass_time(290, 29)
    assert session.calls == asked
    await until_asked(house, lambda: session.calls > asked)


async def until_asked(house: Indoors, asked: Callable[[], bool]) -> None:
    house.clock.set_wall(house.clock.at_ms + HOUR_MS)
    await house.pass_until(asked, 5)
