"""Closed daily bars as they are kept in memory."""

from hypothesis import given
from hypothesis import strategies as st

from service.clock import LATEST_MS
from service.market.models import Bar, PackedBars, VolumeRow
from service.market.store import MarketStore

PRICES = st.floats(allow_nan=False, allow_infinity=False)
ROWS = st.lists(st.tuples(st.integers(0, LATEST_MS), PRICES, PRICES, PRICES, PRICES, PRICES), max_size=8)


@given(ROWS, ROWS, st.integers(0, LATEST_MS))
def test_bars_come_back_as_they_were_given(first: list[VolumeRow], later: list[VolumeRow], end_ms: int) -> None:
    bars = PackedBars(first)
    bars.extend(PackedBars(later).with_volumes())
    rows = first + later
    assert list(bars.with_volumes()) == rows
    assert list(bars) == [row[:5] for row in rows]
    assert len(bars) == len(rows)
    assert list(bars.before(end_ms).with_volumes()) == [row for row in rows if row[0] < end_ms]
    if rows:
        assert bars.last_ms == rows[-1][0]
        assert isinstance(bars.last_ms, int)


async def test_closed_days_are_read_each_coin_from_its_own_time_on(store: MarketStore) -> None:
    await store.claim("one")
    days = [Bar(at_ms, 2.0, 4.0, 1.0, 3.0, 10.0, 7) for at_ms in (0, 86_400_000, 172_800_000)]
    for coin in ("BTC", "ETH"):
        await store.put_bars("one", coin, days, 86_400_000)
    read = await store.packed_after({"BTC": 1, "ETH": 0, "NO": 0})
    assert {coin: [row[0] for row in bars] for coin, bars in read.items()} == {
        "BTC": [86_400_000],
        "ETH": [0, 86_400_000],
    }
    assert {row[5] for row in read["ETH"].with_volumes()} == {10.0}
