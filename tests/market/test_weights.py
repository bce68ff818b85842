"""What the market costs the venue: a cold start of 230 coins, an hour that is like any other, and midnight.

Everything is real but the transport and the passing of time: the adapter's weights, the session's bucket, the store.
The steps of the loops follow each other on a clock that moves while they wait.
"""

from typing import Any

import msgspec
import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from service.market.ingest.jobs import HISTORY_EVERY_S, HOURS_EVERY_S
from service.market.ingest.quotes import QUOTES_EVERY_S
from service.storage.database import Database
from service.upstream.budget import SHARE, WeightBudget
from service.upstream.session import Fetched
from tests.fakes.clock import START_MS, FakeClock
from tests.market.parts import Parts
from tests.market.venue import Venue, candle, context, hour, payment

PUBLISHED = 1_200
MIDNIGHT_MS = (START_MS // DAY_MS + 1) * DAY_MS
COINS = ("BTC", "ETH", *(f"C{number}" for number in range(228)))
DELISTED = tuple(f"GONE{number}" for number in range(40))
BUILDERS_EVERY_S = 30.0
BUILDERS_COINS = 120


class Moving(FakeClock):
    """Time passes by being waited for."""

    async def sleep(self, seconds: float) -> None:
        self._move(self.elapsed_s + seconds)


class Counting:
    """A session that keeps the venue's limits, and notes what is spent and when.

    Attributes:
        spent: Time and weight of every request.
    """

    name = "hyperliquid"

    def __init__(self, clock: Moving) -> None:
        self._clock = clock
        self._budget = WeightBudget(clock, PUBLISHED)
        self.spent: list[tuple[int, int]] = []

    async def post_json(self, _path: str, payload: Any, *, weight: int, decoder: msgspec.json.Decoder[Any]) -> object:
        await self._budget.take(weight)
        now_ms = self._clock.now_ms()
        self.spent.append((now_ms, weight))
        return Fetched(decoder.decode(msgspec.json.encode(_answer(payload, now_ms))), now_ms)


def _answer(ask: Any, now_ms: int) -> object:
    """A venue on which every coin has its last three bars and payments."""
    if ask["type"] == "metaAndAssetCtxs":
        rows = [{"name": coin, "isDelisted": coin in DELISTED} for coin in (*COINS, *DELISTED)]
        return [{"universe": rows}, [context("3.0")] * len(rows)]
    if ask["type"] == "fundingHistory":
        newest = now_ms // HOUR_MS
        rows = [payment(ask["coin"], number, late_ms=0) for number in range(newest - 2, newest + 1)]
        return [row for row in rows if row["time"] >= ask["startTime"]]
    wanted = ask["req"]
    newest = now_ms // (DAY_MS if wanted["interval"] == "1d" else HOUR_MS)
    if wanted["interval"] == "1d":
        bars = [candle(wanted["coin"], number, 3.0, 4.0, 2.0, 3.0) for number in range(newest - 2, newest + 1)]
    else:
        bars = [hour(wanted["coin"], number) for number in range(newest - 2, newest + 1)]
    return [bar for bar in bars if bar["T"] >= wanted["startTime"]]


class Day:
    """The loops of the market, one after the other, and the builder's market beside them."""

    def __init__(self, parts: Parts, session: Counting, clock: Moving) -> None:
        self.parts = parts
        self.session = session
        self.clock = clock
        self._due_s: dict[str, float] = {}

    async def until(self, at_ms: int) -> None:
        """Let time pass."""
        parts = self.parts
        loops = {
            "quotes": (self._ask_quotes, QUOTES_EVERY_S),
            "builders": (self._ask_builders, BUILDERS_EVERY_S),
            "history": (parts.history.round, HISTORY_EVERY_S),
            "hours": (parts.hours.round, HOURS_EVERY_S),
            "funding": (parts.funding.round, HOURS_EVERY_S),
        }
        while self.clock.now_ms() < at_ms:
            for name, (step, every_s) in loops.items():
                if self._due_s.get(name, 0.0) <= self.clock.monotonic():
                    self._due_s[name] = self.clock.monotonic() + every_s
                    await step()
            await self.clock.sleep(max(0.1, min(self._due_s.values()) - self.clock.monotonic()))

    def weight(self, since_ms: int, until_ms: int) -> int:
        """What was spent in a span of time."""
        return sum(weight for at_ms, weight in self.session.spent if since_ms <= at_ms < until_ms)

    async def _ask_quotes(self) -> None:
        """What a round asks; that it is stored costs the venue nothing."""
        await self.parts.source.quotes()

    async def _ask_builders(self) -> None:
        await self.parts.source.quotes("xyz")


@pytest.fixture
def clock() -> Moving:
    return Moving(MIDNIGHT_MS - 110 * MINUTE_MS)


@pytest.fixture
async def day(venue: Venue, database: Database, clock: Moving) -> Day:
    session = Counting(clock)
    parts = Parts(venue, session, database, clock)  # type: ignore[arg-type] # speaks to nobody
    await parts.store.claim(parts.origin)
    return Day(parts, session, clock)


@pytest.mark.slow
async def test_a_day_of_the_market_stays_within_the_venues_budget(day: Day) -> None:
    parts, clock = day.parts, day.clock
    began_ms = clock.now_ms()
    await parts.quotes.round()
    assert clock.now_ms() == began_ms, "prices wait for nothing"
    assert len(parts.desk.view()) == len(COINS)

    await day.until(began_ms + 1)
    assert clock.now_ms() - began_ms < 60 * MINUTE_MS, "all history is there within an hour"
    assert (parts.hours.known, parts.funding.known) == (len(COINS), len(COINS))
    assert {coin.listed for coin in await parts.store.progress("test")} == {True}

    await day.until(MIDNIGHT_MS)
    usual = day.weight(MIDNIGHT_MS - HOUR_MS, MIDNIGHT_MS)
    increments = 2 * len(COINS) * 21
    quotes = 20 * (HOUR_MS // SECOND_MS) * (1 / QUOTES_EVERY_S + 1 / BUILDERS_EVERY_S)
    assert usual == pytest.approx(increments + quotes, rel=0.02)
    assert usual < PUBLISHED * 60 / 4, "a quarter of what the venue allows in an hour"

    await day.until(MIDNIGHT_MS + 12 * MINUTE_MS)
    assert parts.history.asked_ms is not None
    newest = await parts.store.newest_closed()
    assert {newest[coin] for coin in COINS} == {MIDNIGHT_MS - DAY_MS}
    for _ in range(BUILDERS_COINS):
        await parts.source.bars("xyz:A", "1d", MIDNIGHT_MS - DAY_MS)
    await day.until(MIDNIGHT_MS + HOUR_MS)

    for at_ms, _ in day.session.spent:
        assert day.weight(at_ms, at_ms + MINUTE_MS) <= PUBLISHED * SHARE
