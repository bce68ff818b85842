"""Past prices, and changes over spans: held to plain arithmetic over the recordings, and to their definition."""

from bisect import bisect_right
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS
from service.market.models import Bar, Quote, Quotes
from service.market.past_prices import (
    NO_PAST_PRICES,
    PastPrice,
    PastPriceReader,
    PastPrices,
    PriceRecorder,
    SpanChange,
    change_since,
    instant_before,
)
from service.market.service import MarketService
from service.market.store import MarketStore
from service.storage.database import Database
from service.units import INTERVAL_MS, Interval
from tests.fakes.clock import START_MS, FakeClock
from tests.market.recordings import DATA, candles, coins, needs_recordings

FAR_MS = 2**50


def intervals_of(coin: str) -> list[Interval]:
    """The intervals that were recorded of a coin."""
    return [
        interval
        for interval in INTERVAL_MS
        if (DATA / "hyperliquid" / f"candles-{interval}" / f"{coin}.json.gz").exists()
    ]


class Shop(NamedTuple):
    """A store, what reads past prices, and what records them."""

    store: MarketStore
    coins: MarketService
    reader: PastPriceReader
    recorder: PriceRecorder
    clock: FakeClock

    async def show(self, **prices: float | None) -> None:
        """Let the venue show coins now."""
        now_ms = self.clock.now_ms()
        quotes = [
            Quote(coin, coin, 1e6, price, None if price is None else now_ms, 0.00001, now_ms)
            for coin, price in prices.items()
        ]
        await self.store.put_quotes("one", Quotes(now_ms, quotes))
        self.coins.show(await self.store.snapshot())

    async def close(self, coin: str, interval: str, ends: dict[int, float]) -> None:
        """Store closed bars by the instants at which they end."""
        length_ms = INTERVAL_MS["1h" if interval == "1h" else "1d"]
        bars = [Bar(end_ms - length_ms, price, price, price, price, 1.0, 1) for end_ms, price in ends.items()]
        await self.store.put_bars("one", coin, bars, FAR_MS, interval="1h" if interval == "1h" else "1d")

    async def at(self, at_ms: int, coin: str = "BTC", *, is_distant: bool = False) -> PastPrice | None:
        return (await self.reader.at([coin], at_ms, is_distant=is_distant)).get(coin)


@pytest.fixture
async def shop(database: Database, clock: FakeClock) -> Shop:
    coins = MarketService(clock)
    recorder = PriceRecorder(clock, database, lambda: "one")
    recorder.sources.append(lambda origin: coins.quotes(origin).values())
    made = Shop(
        MarketStore(database),
        coins,
        PastPriceReader(clock, database, recorder.coins, coins.set_past_prices),
        recorder,
        clock,
    )
    await made.store.claim("one")
    return made


async def test_a_snapshot_is_the_last_accepted_price_and_the_newest_known_price_wins(shop: Shop) -> None:
    await shop.show(BTC=100.0)
    shown_ms = shop.clock.now_ms()
    await shop.recorder.round()
    assert await shop.at(shown_ms + MINUTE_MS) == PastPrice(100.0, shown_ms)
    assert await shop.at(shown_ms + MINUTE_MS - 1) is None, "a snapshot holds from the next whole minute"
    await shop.close("BTC", "1h", {shown_ms - HOUR_MS: 90.0, shown_ms + HOUR_MS: 110.0})
    assert await shop.at(shown_ms + MINUTE_MS - 1) is None, "the close is more than an hour older"
    assert await shop.at(shown_ms) == PastPrice(90.0, shown_ms - HOUR_MS)
    assert await shop.at(shown_ms + HOUR_MS) == PastPrice(110.0, shown_ms + HOUR_MS)


async def test_a_price_that_is_shown_no_more_stays_the_last_one_for_an_hour(shop: Shop) -> None:
    await shop.show(BTC=100.0)
    shown_ms = shop.clock.now_ms()
    await shop.clock.advance(59 * 60)
    await shop.recorder.round()
    assert await shop.at(shown_ms + HOUR_MS) == PastPrice(100.0, shown_ms)
    await shop.clock.advance(60)
    await shop.recorder.round()
    assert await shop.at(shown_ms + HOUR_MS + MINUTE_MS) is None


async def test_a_minute_has_one_snapshot_and_two_days_of_them_are_stored(shop: Shop, database: Database) -> None:
    for _ in range(3):
        await shop.show(BTC=100.0, ETH=5.0)
        await shop.recorder.round()
        await shop.clock.advance(5)
    assert (await database.read("SELECT count(*) FROM price_snapshots"))[0][0] == 2
    for _ in range(3):
        await shop.clock.advance(24 * 3_600)
        await shop.show(BTC=100.0)
        await shop.recorder.round()
    minutes = [minute for (minute,) in await database.read("SELECT DISTINCT minute_ms FROM price_snapshots")]
    assert len(minutes) == 3, "those of 0, 24 and 48 hours ago"
    shop.clock.set_wall(shop.clock.now_ms() - 3 * HOUR_MS)
    await shop.show(BTC=100.0)
    await shop.recorder.round()
    (newest,) = (await database.read("SELECT max(minute_ms) FROM price_snapshots"))[0]
    assert newest - shop.clock.now_ms() <= MINUTE_MS, "a clock that was set back leaves none in the future"


async def test_prices_of_another_dataset_are_deleted_with_it(shop: Shop) -> None:
    await shop.show(BTC=100.0)
    shown_ms = shop.clock.now_ms()
    await shop.recorder.round()
    await shop.store.claim("two")
    assert await shop.at(shown_ms + MINUTE_MS) is None
    await shop.recorder.round()
    assert await shop.at(shown_ms + MINUTE_MS) is None


async def test_a_gap_is_unknown_for_short_spans_and_bridged_for_a_day_for_long_ones(shop: Shop) -> None:
    now_ms = shop.clock.now_ms() // DAY_MS * DAY_MS
    shop.clock.set_wall(now_ms)
    await shop.close("BTC", "1d", {now_ms - 7 * DAY_MS: 70.0, now_ms - 31 * DAY_MS - 1: 30.0})
    await shop.close("BTC", "1h", {now_ms - 3 * HOUR_MS: 97.0, now_ms - DAY_MS - HOUR_MS - 1: 3.0})
    await shop.show(BTC=100.0, NEW=2.0)
    await shop.reader.refresh()
    coin = shop.coins.view()["BTC"]
    assert (coin.change_1h, coin.change_24h) == (None, None), "the newest close is two hours older than an hour ago"
    assert coin.change_7d == round((100 / 70 - 1) * 100, 4)
    assert coin.changes_from == {"7d": now_ms - 7 * DAY_MS}
    assert shop.coins.view()["NEW"].changes_from == {}


async def test_a_price_that_is_too_old_is_as_if_there_were_none(shop: Shop) -> None:
    midnight_ms = shop.clock.now_ms() // DAY_MS * DAY_MS
    await shop.close("BTC", "1d", {midnight_ms: 70.0})
    for later_ms, is_distant in ((HOUR_MS + 1, False), (DAY_MS + 1, True)):
        assert await shop.at(midnight_ms + later_ms, is_distant=is_distant) is None
        assert await shop.at(midnight_ms + later_ms - 1, is_distant=is_distant) == PastPrice(70.0, midnight_ms)
    assert await shop.reader.read(["BTC"], [midnight_ms + 2 * HOUR_MS], []) == {}


async def test_changes_are_those_of_the_minute_and_of_a_coin_that_was_listed_yesterday(shop: Shop) -> None:
    """Midnight, a second venue's bar in between, and no bars before the listing."""
    now_ms = START_MS // DAY_MS * DAY_MS + 90_000
    shop.clock.set_wall(now_ms)
    ends = {hour: 50.0 + place for place, hour in enumerate(range(now_ms - 90_000 - 25 * HOUR_MS, now_ms, HOUR_MS))}
    await shop.close("NEW", "1h", ends)
    other = Bar(now_ms - 90_000 - 2 * HOUR_MS, 80.0, 80.0, 80.0, 80.0, 1.0, 1)
    await shop.store.put_bars("one", "NEW", [other], FAR_MS, interval="1h", venue="binance")
    await shop.show(NEW=60.0)
    await shop.reader.refresh()
    coin = shop.coins.view()["NEW"]
    assert coin.change_1h == round((60 / ends[now_ms - 90_000 - HOUR_MS] - 1) * 100, 4), "a final bar never changes"
    assert coin.change_24h == round((60 / ends[now_ms - 90_000 - 24 * HOUR_MS] - 1) * 100, 4)
    assert (coin.change_7d, coin.change_30d) == (None, None)
    assert coin.changes_from == {"1h": now_ms - 90_000 - HOUR_MS, "24h": now_ms - 90_000 - DAY_MS}


async def test_a_bar_that_is_not_final_is_no_past_price(shop: Shop) -> None:
    end_ms = shop.clock.now_ms() // HOUR_MS * HOUR_MS
    bar = Bar(end_ms - HOUR_MS, 1.0, 1.0, 1.0, 1.0, 1.0, 1)
    await shop.store.put_bars("one", "BTC", [bar], end_ms - HOUR_MS - 1, interval="1h")
    assert await shop.at(end_ms) is None


async def test_a_reading_that_has_not_changed_is_the_same_object(shop: Shop) -> None:
    await shop.show(BTC=1.0)
    await shop.close("BTC", "1h", {shop.clock.now_ms() // HOUR_MS * HOUR_MS - HOUR_MS: 1.0})
    await shop.reader.refresh()
    now = shop.reader.now
    await shop.reader.refresh()
    assert shop.reader.now is now
    view = shop.coins.view()
    await shop.clock.advance(60)
    assert shop.coins.view() is not view, "another minute has other changes"


@given(st.floats(1e-9, 1e9), st.floats(1e-9, 1e9), st.floats(1e-9, 1e9))
def test_changes_over_spans_that_follow_each_other_multiply(first: float, second: float, third: float) -> None:
    one, two, both = (
        change_since(now, PastPrice(before, 7)).pct
        for now, before in ((second, first), (third, second), (third, first))
    )
    assert one is not None
    assert two is not None
    assert both is not None
    factor = (1 + one / 100) * (1 + two / 100)
    rounding = 6e-7 * (1 + abs(1 + one / 100) + abs(1 + two / 100))
    assert 1 + both / 100 == pytest.approx(factor, rel=1e-9, abs=rounding)


@given(st.floats(1e-300, 1e300), st.integers(0, 2**45), st.integers(0, 2**40))
def test_a_price_that_does_not_move_has_changed_by_zero(price: float, now_ms: int, span_ms: int) -> None:
    at_ms = instant_before(now_ms, span_ms)
    past = PastPrices({"X": {at_ms: PastPrice(price, at_ms)}}).before("X", now_ms, span_ms)
    assert change_since(price, past) == SpanChange(0.0, at_ms)
    assert now_ms - MINUTE_MS < at_ms + span_ms <= now_ms


def test_without_a_price_now_or_then_there_is_no_change() -> None:
    assert NO_PAST_PRICES.before("BTC", START_MS, HOUR_MS) is None
    assert change_since(None, PastPrice(1.0, 5)) == change_since(1.0, None) == SpanChange()


def closes_of(coin: str) -> list[tuple[int, float]]:
    """The end and the close of every recorded bar of a coin, in order; at a tie the hour's comes last."""
    found = [
        (int(bar["t"]) + INTERVAL_MS[interval], -INTERVAL_MS[interval], float(bar["c"]))
        for interval in intervals_of(coin)
        for bar in candles(coin, interval)
    ]
    return [(end_ms, close) for end_ms, _, close in sorted(found)]


def expected_at(closes: Sequence[tuple[int, float]], at_ms: int, oldest_ms: int) -> PastPrice | None:
    """From a list of closes: the last one that had ended."""
    place = bisect_right(closes, (at_ms, 9e99)) - 1
    if place < 0 or closes[place][0] < oldest_ms:
        return None
    return PastPrice(closes[place][1], closes[place][0])


@pytest.mark.recorded
@needs_recordings
async def test_past_prices_of_every_recorded_coin_are_the_last_closes_that_had_ended(shop: Shop) -> None:
    """Also after all later bars are deleted: nothing later than the instant enters."""
    random = Random(36)  # noqa: S311 - the same instants in every run
    recorded = {coin: closes_of(coin) for coin in coins()}
    for coin in recorded:
        for interval in intervals_of(coin):
            rows = [(int(bar["t"]), *(float(bar[name]) for name in "ohlcv"), 0) for bar in candles(coin, interval)]
            await shop.store.put_closed_bars("one", interval, {coin: rows})  # type: ignore[dict-item]
    last_ms = recorded["BTC"][-1][0]
    recent = [last_ms - random.randrange(90 * DAY_MS) for _ in range(40)]
    older = [last_ms - random.randrange(600 * DAY_MS) for _ in range(20)]
    instants = [*recent, *older, last_ms, last_ms // DAY_MS * DAY_MS]
    for is_distant, age_ms in ((False, HOUR_MS), (True, DAY_MS)):
        near, distant = ([], instants) if is_distant else (instants, [])
        found = await shop.reader.read(list(recorded), near, distant)
        for coin, closes in recorded.items():
            for at_ms in instants:
                assert found.get(coin, {}).get(at_ms) == expected_at(closes, at_ms, at_ms - age_ms), (coin, at_ms)
    cut_ms = min(recent)
    before = await shop.reader.read(list(recorded), [cut_ms], [cut_ms - 7 * DAY_MS])
    await shop.store._database.write(
        lambda connection: connection.execute(
            "DELETE FROM candles WHERE open_ms + CASE interval WHEN '1h' THEN 3600000 ELSE 86400000 END > ?", (cut_ms,)
        )
    )
    assert await shop.reader.read(list(recorded), [cut_ms], [cut_ms - 7 * DAY_MS]) == before
