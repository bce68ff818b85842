"""Figures of bars that never move, have gaps, or are no numbers; and spans of questions as instants."""

from datetime import UTC, datetime

import pytest

from service.ask.planner.bars import change_of, changes, correlation, days_of, interval_of, log_returns, volatility
from service.ask.query import At, Between, Window
from service.clock import DAY_MS, HOUR_MS
from service.formats import usd_amount
from service.table.daily import DailyHistory, PastBar
from tests.ask.planner.asked import PRICE, coins, of
from tests.ask.planner.world import MemoryHistory, World

_DAY_MS = 20_000 * DAY_MS
_NOW_MS = _DAY_MS + 12 * HOUR_MS + HOUR_MS // 2


def test_prices_that_never_move_have_no_correlation_and_no_volatility() -> None:
    flat = [PastBar(day * DAY_MS, 5.0, 5.0, 5.0, 5.0, 1.0) for day in range(30)]
    assert correlation(flat, flat) is None
    assert volatility(flat) == 0.0


def test_a_missing_day_gives_no_return() -> None:
    bars = [PastBar(day * DAY_MS, 5.0, 5.0, 5.0, 5.0 + day, 1.0) for day in (0, 1, 3, 4)]
    assert [*log_returns(bars)] == [DAY_MS, 4 * DAY_MS]
    assert [day for day, _ in changes(bars, 1)] == [DAY_MS, 4 * DAY_MS]


def test_a_change_that_is_no_number_is_not_known() -> None:
    assert change_of(1e308, 1e-308) is None
    assert change_of(5.0, 0.0) is None


def test_hours_begin_at_the_close_of_a_bar() -> None:
    found = interval_of(Window(48, "h", "48 hours"), _NOW_MS)
    assert found == (_DAY_MS - 2 * DAY_MS + 13 * HOUR_MS, _NOW_MS, True)


def test_days_are_so_many_closed_ones_and_the_present_day() -> None:
    week, month = Window(7, "d", "7 days"), Between(_DAY_MS - 30 * DAY_MS, _DAY_MS, "a month")
    assert interval_of(week, _NOW_MS).start_ms == _DAY_MS - 6 * DAY_MS
    assert days_of(week, _NOW_MS).start_ms == _DAY_MS - 7 * DAY_MS
    assert days_of(week, _DAY_MS).start_ms == interval_of(week, _DAY_MS).start_ms == _DAY_MS - 7 * DAY_MS
    assert days_of(month, _NOW_MS) == interval_of(month, _NOW_MS)
    hours = Window(5, "h", "5 hours")
    assert days_of(hours, _NOW_MS) == interval_of(hours, _NOW_MS)


@pytest.mark.parametrize(
    ("time", "said"),
    [
        ("2025-07-24 02:59", "at 02:00 UTC on 2025-07-24 (the last full hour before 02:59 UTC)"),
        ("2025-07-24 02:01", "at 02:00 UTC on 2025-07-24 (the last full hour before 02:01 UTC)"),
        ("2025-07-24 00:30", "at 00:00 UTC on 2025-07-24 (the last full hour before 00:30 UTC)"),
        ("2025-07-25 11:45", "at 11:00 UTC on 2025-07-25 (the last full hour before 11:45 UTC)"),
        ("2025-07-23 23:59:30", "at 23:00 UTC on 2025-07-23 (the last full hour before 23:59:30 UTC)"),
        ("2025-07-24 14:00", "at 14:00 UTC on 2025-07-24"),
        ("2025-07-24 00:00", "at 00:00 UTC on 2025-07-24"),
    ],
)
async def test_an_answer_names_the_hour_that_a_past_price_is_of(time: str, said: str) -> None:
    world, at_ms = World(), _ms(time)
    asked = At(at_ms, whole_day=False, words=f"at {time[11:16]} UTC on {time[:10]}")
    full_ms = at_ms // HOUR_MS * HOUR_MS
    if full_ms % DAY_MS or at_ms % DAY_MS:
        closes = {bar.open_ms + HOUR_MS: bar.close for bar in await world.history.hourly("BTC", 0)}
    else:
        closes = {bar.open_ms + DAY_MS: bar.close for bar in world.history.days.bars("BTC")}
    sentence = (await world.say(of(coins("BTC"), PRICE, time=asked))).partition("\n")[0]
    assert sentence == f"BTC's price {said} was {usd_amount(closes[full_ms])}."


async def test_an_answer_names_the_last_hour_that_is_stored_where_the_later_one_is_missing() -> None:
    world, missing_ms = World(), _ms("2025-07-24 13:00")
    hourly = world.history.hourly

    async def with_gap(symbol: str, since_ms: int) -> list[PastBar]:
        return [bar for bar in await hourly(symbol, since_ms) if bar.open_ms != missing_ms]

    world.history.hourly = with_gap  # type: ignore[method-assign]
    asked = At(_ms("2025-07-24 14:00"), whole_day=False, words="at 14:00 UTC on 2025-07-24 (16:00 CEST)")
    said = await world.say(of(coins("BTC"), PRICE, time=asked))
    assert "at 13:00 UTC on 2025-07-24 (the last known close before 14:00 UTC, 16:00 CEST) was" in said


async def test_an_answer_names_the_midnight_of_the_last_day_that_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    bars, missing_ms = DailyHistory.bars, _ms("2025-07-23")

    def with_gap(days: DailyHistory, *span: int | str) -> list[PastBar]:
        return [bar for bar in bars(days, *span) if bar.open_ms != missing_ms]  # type: ignore[arg-type]

    async def without_hours(*_: object) -> list[PastBar]:
        return []

    monkeypatch.setattr(DailyHistory, "bars", with_gap)
    monkeypatch.setattr(MemoryHistory, "hourly", without_hours)
    asked = At(_ms("2025-07-24"), whole_day=False, words="at 00:00 UTC on 2025-07-24")
    said = await World().say(of(coins("BTC"), PRICE, time=asked))
    assert "at 00:00 UTC on 2025-07-23 (the last known close before 00:00 UTC on 2025-07-24) was" in said


def _ms(time: str) -> int:
    return int(datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp()) * 1_000
