"""The past of coins: recounted from their bars, and never with anything that came later."""

import asyncio
from array import array
from collections.abc import Sequence
from itertools import pairwise

import pytest

from service.clock import DAY_MS, HOUR_MS
from service.errors import ServiceError
from service.market.samples import Sample
from service.market.series import ClosedDays, read_days
from service.market.sources.coingecko import PastCap
from service.market.symbols import canonical
from service.storage.database import Database
from service.table import history as history_module
from service.table.daily import ClosesTable, CoinDays, DailyHistory, PastBar, PastState, PastVerdict
from service.table.recompute import recompute_days
from tests.fakes.clock import FakeClock
from tests.table.world import COINS, DAYS, LAST, World, days_of, hours_of, midnight, payments

END = midnight(LAST)


@pytest.fixture
async def daily(world: World) -> DailyHistory:
    return await world.history.daily()


@pytest.mark.promise("history.closes")
async def test_bars_and_closes_are_the_stored_ones(world: World, daily: DailyHistory) -> None:
    assert daily.symbols == ["BTC", "ETH", "PEPE", "SOL", "YOUNG"]
    assert daily.listed == set(daily.symbols)
    assert (daily.first_ms, daily.last_ms) == ((LAST - DAYS + 1) * DAY_MS, LAST * DAY_MS)
    for coin in COINS:
        rows, symbol = days_of(coin), canonical(coin)
        assert daily.bars(symbol) == [PastBar(row[0], row[1], row[2], row[3], row[4], row[4]) for row in rows]
        assert daily.first_day_ms(symbol) == rows[0][0]
    window = daily.closes((LAST - 11) * DAY_MS, END)
    assert window.days == [day * DAY_MS for day in range(LAST - 11, LAST + 1)]
    for coin in COINS:
        known = {row[0]: row[4] for row in days_of(coin)}
        assert window.closes[canonical(coin)] == [known.get(day_ms) for day_ms in window.days]
    assert window.closes["YOUNG"][:2] == [None, None]


async def test_a_window_is_cut_to_the_days_that_are_known(daily: DailyHistory) -> None:
    assert daily.closes(0, 2**50, ["BTC"]).days == [day * DAY_MS for day in range(LAST - DAYS + 1, LAST + 1)]
    assert daily.closes(END, END + DAY_MS, ["BTC"]) == ClosesTable([], {"BTC": []})
    assert daily.closes(END - DAY_MS, END, ["NONE"]) == ClosesTable([LAST * DAY_MS], {"NONE": [None]})
    two = daily.bars("BTC", END - 2 * DAY_MS, END)
    assert [bar.open_ms for bar in two] == [END - 2 * DAY_MS, END - DAY_MS]
    assert daily.bars("BTC", END - 2 * DAY_MS + 1, END - DAY_MS + 1) == two[1:]


async def test_of_an_unknown_coin_nothing_is_known(world: World, daily: DailyHistory) -> None:
    assert (daily.bars("NONE"), daily.states("NONE"), daily.first_day_ms("NONE")) == ([], [], None)
    assert (daily.trend_daily("NONE", END), daily.regime("NONE", END), daily.verdict("NONE", END)) == (None,) * 3
    assert await world.history.hourly("NONE", 0) == []
    assert await world.history.first_hour_ms("NONE") is None
    assert await world.history.funding("NONE", 0, END) == (None, [])
    assert await world.history.today("NONE") is None
    assert await world.history.market_caps("NONE", 0, END) == []
    assert await world.history.verdict("NONE", END) is None


@pytest.mark.promise("history.now")
async def test_at_the_last_close_history_says_what_the_routes_say(world: World, daily: DailyHistory) -> None:
    now_ms = world.clock.now_ms()
    confidence = {row.symbol: row.regime for row in world.told.confidence}
    for symbol, coin in world.coins.view().items():
        trend, weekly = daily.trend_daily(symbol, now_ms), daily.trend_weekly(symbol, now_ms)
        assert (None if trend is None else trend) == _state(coin.trend_daily, coin.trend_daily_since_ms)
        assert weekly == _state(coin.trend_weekly, coin.trend_weekly_since_ms)
        regime = daily.regime(symbol, now_ms)
        assert (None if regime is None else regime.state) == confidence.get(symbol)
    run, market = world.told.runs[-1], daily.market_regime(now_ms)
    assert market == (run.regime, run.since_ms)


def _state(state: str | None, since_ms: int | None) -> tuple[str, int] | None:
    return None if state is None or since_ms is None else (state, since_ms)


async def test_every_run_of_the_market_regime_is_found_at_its_first_and_last_instant(
    world: World, daily: DailyHistory
) -> None:
    runs = world.told.runs
    assert len(runs) > 1
    for run, following in pairwise(runs):
        assert daily.market_regime(run.since_ms) == (run.regime, run.since_ms)
        assert daily.market_regime(following.since_ms - 1) == (run.regime, run.since_ms)
    assert daily.market_regime(runs[0].since_ms - 1) is None
    assert daily.market_regime(0) is None


@pytest.mark.promise("history.as-known")
async def test_a_past_state_does_not_depend_on_later_bars(
    world: World, daily: DailyHistory, database: Database
) -> None:
    whole = await database.inspect(lambda connection: read_days(connection, END))
    for day in (LAST - 3, LAST - 40, LAST - 77):
        cut = await asyncio.to_thread(recompute_days, _until(whole, day), world.told.breadth)
        at_ms = midnight(day)
        for symbol in daily.symbols:
            assert daily.states(symbol, 0, at_ms) == cut.states(symbol)
            for instant in (at_ms, at_ms + DAY_MS - 1):
                assert daily.trend_daily(symbol, at_ms) == cut.trend_daily(symbol, instant)
                assert daily.trend_weekly(symbol, at_ms) == cut.trend_weekly(symbol, instant)
                assert daily.regime(symbol, at_ms) == cut.regime(symbol, instant)
                assert daily.verdict(symbol, at_ms) == cut.verdict(symbol, instant)
        assert daily.market_regime(at_ms) == cut.market_regime(at_ms)


def _until(days: ClosedDays, day: int) -> ClosedDays:
    bars = {coin: rows.before((day + 1) * DAY_MS) for coin, rows in days.bars.items()}
    funding = {coin: [paid for paid in rows if paid[0] <= day] for coin, rows in days.funding.items()}
    return ClosedDays(days.origin, days.coins, {coin: rows for coin, rows in bars.items() if rows}, funding)


async def test_a_run_begins_with_the_first_day_of_its_state(daily: DailyHistory) -> None:
    states = daily.states("SOL")
    for place, now in enumerate(states):
        found = daily.trend_daily("SOL", now.day_ms + DAY_MS)
        if now.trend_daily is None:
            continue
        first = place
        while first and states[first - 1].trend_daily == now.trend_daily:
            first -= 1
        assert found == PastState(now.trend_daily, states[first].day_ms + DAY_MS)
    assert {state.trend_daily for state in states} == {"UP", "HODL", "DOWN", None}
    assert {state.regime for state in states} >= {"risk-on", "risk-off", None}


async def test_what_is_older_than_two_days_is_not_said(daily: DailyHistory) -> None:
    for tell in (daily.trend_daily, daily.trend_weekly, daily.regime, daily.verdict):
        assert tell("BTC", END + 2 * DAY_MS) is not None
        assert tell("BTC", END + 2 * DAY_MS + 1) is None
    assert daily.market_regime(END + 2 * DAY_MS) is not None
    assert daily.market_regime(END + 2 * DAY_MS + 1) is None


async def test_a_recomputed_verdict_has_the_score_of_its_rules(daily: DailyHistory) -> None:
    points = {"UP": 1.0, "HODL": 0.0, "DOWN": -1.0, None: 0.0}
    signs = {"risk-on": 1.0, "neutral": 0.0, "risk-off": -1.0, None: 0.0}
    seen = set()
    for state in daily.states("ETH"):
        at_ms = state.day_ms + DAY_MS
        found = daily.verdict("ETH", at_ms)
        assert found == PastVerdict(at_ms, state.verdict, state.score, recorded=False)
        seen.add(state.verdict)
        if state.score is None:
            assert state.verdict == "insufficient-evidence"
            continue
        market = daily.market_regime(at_ms)
        trend = 0.5 * points[state.trend_daily] + points[state.trend_weekly]
        regime = 0.5 * (signs[None if market is None else market.state] + signs[state.regime])
        assert state.score - trend - regime in {-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0}
        label = next(name for name, least in _GRADES if state.score >= least)
        assert state.verdict == label
    assert len(seen) > 2


_GRADES: Sequence[tuple[str, float]] = (
    ("strong-bull", 2.5),
    ("bull", 1.0),
    ("neutral", -0.75),
    ("bear", -2.25),
    ("strong-bear", -4.0),
)


@pytest.mark.promise("history.recorded")
async def test_a_past_verdict_is_judged_from_stored_inputs_where_there_are_any(
    world: World, daily: DailyHistory
) -> None:
    now_ms = world.clock.now_ms()
    assert await world.history.verdict("SOL", now_ms) == daily.verdict("SOL", now_ms)
    await world.inputs.record(world.origin, now_ms, await world.observer.collect_all())
    row = world.row("SOL")
    for later_ms in (0, 30 * 60_000):
        assert await world.history.verdict("SOL", now_ms + later_ms) == (now_ms, row.verdict, row.score, True)
    assert await world.history.verdict("SOL", now_ms + 30 * 60_000 + 1) == daily.verdict("SOL", now_ms)
    assert await world.history.verdict("SOL", now_ms - 1) == daily.verdict("SOL", now_ms)


async def test_days_are_loaded_once_for_each_published_day(world: World, daily: DailyHistory) -> None:
    assert await world.history.daily() is daily
    both = await asyncio.gather(world.history.daily(), world.history.daily())
    assert [one is daily for one in both] == [True, True]
    world.at(LAST + 1, 20)
    for coin in COINS:
        await world.give(coin, [((LAST + 1) * DAY_MS, 100.0, 102.0, 99.0, 101.0)])
    await world.round(asked=True)
    again = await world.history.daily()
    assert again.last_ms == (LAST + 1) * DAY_MS
    assert again.states("BTC")[:-1] == daily.states("BTC")


async def test_before_a_day_is_published_history_is_not_available(database: Database, clock: FakeClock) -> None:
    made = World(database, clock)
    await made.store.claim(made.origin)
    with pytest.raises(ServiceError) as refused:
        await made.history.daily()
    assert refused.value.code == "UNAVAILABLE"
    await made.history.warm()


async def test_a_published_day_is_read_before_anybody_asks(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert world.history.loaded is None
    await world.history.warm()

    def fail(*_: object) -> None:
        raise AssertionError("read twice")

    monkeypatch.setattr(history_module, "read_days", fail)
    assert (await world.history.daily()).last_ms == LAST * DAY_MS
    assert world.history.loaded is await world.history.daily()


async def test_days_of_another_history_are_not_given(world: World) -> None:
    world.origin = "another"
    with pytest.raises(ServiceError) as refused:
        await world.history.daily()
    assert refused.value.code == "UNAVAILABLE"


async def test_hours_are_the_stored_ones_and_today_is_made_of_them_and_the_price(world: World) -> None:
    now_ms = world.clock.now_ms()
    stored = hours_of("SOL", now_ms)
    hours = await world.history.hourly("SOL", 0)
    assert hours == [PastBar(bar.open_ms, bar.open, bar.high, bar.low, bar.close, 2.0 * bar.close) for bar in stored]
    assert await world.history.hourly("SOL", stored[-1].open_ms) == hours[-1:]
    assert await world.history.first_hour_ms("SOL") == stored[0].open_ms
    own = [hour for hour in hours if hour.open_ms >= END]
    assert len(own) == 12
    price = world.row("SOL").price
    assert price is not None
    assert await world.history.today("SOL") == PastBar(
        END,
        own[0].open,
        max(price, *(hour.high for hour in own)),
        min(price, *(hour.low for hour in own)),
        price,
        sum(hour.volume_usd for hour in own),
        closed=False,
    )
    world.clock.at_ms += 11 * 60_000
    assert await world.history.today("SOL") is None
    world.clock.at_ms += DAY_MS
    await world.quote(world.clock.now_ms())
    assert await world.history.today("SOL") is None


async def test_funding_is_the_mean_of_its_payments_weighed_by_hours(world: World) -> None:
    now_ms = world.clock.now_ms()
    rows = payments(now_ms)
    found = await world.history.funding("BTC", rows[-4][0], rows[-1][0])
    assert [paid.paid_ms for paid in found.payments] == [row[0] for row in rows[-3:]]
    assert [paid.apr for paid in found.payments] == [round(row[1] * 876_000, 4) for row in rows[-3:]]
    assert found.mean_apr == round(sum(row[1] for row in rows[-3:]) / 3 * 876_000, 4)
    last = now_ms // HOUR_MS * HOUR_MS
    await world.store.put_payments(world.origin, "BTC", [(last + 8 * HOUR_MS, 5e-6, 9.0)])
    weighed = await world.history.funding("BTC", rows[-2][0], last + 8 * HOUR_MS)
    assert weighed.mean_apr == round((rows[-1][1] + 9 * 5e-6) / 10 * 876_000, 4)
    assert (await world.history.funding("BTC", 0, rows[0][0] - 1)).mean_apr is None


@pytest.mark.parametrize("hours", [1, 24, 168, 240])
async def test_a_window_before_the_first_payment_is_not_taken_for_the_payments_that_are_known(
    world: World, hours: int
) -> None:
    rows = payments(world.clock.now_ms())
    until_ms = rows[-1][0]
    found = await world.history.funding("BTC", until_ms - hours * HOUR_MS, until_ms)
    assert found.mean_apr == round(sum(row[1] for row in rows[-hours:]) / hours * 876_000, 4)
    for more in (18, 24, 720):
        early = await world.history.funding("BTC", until_ms - (240 + more) * HOUR_MS, until_ms)
        assert early.mean_apr is None
        assert len(early.payments) == len(rows)


async def test_funding_of_bars_is_that_of_the_windows_that_they_are(world: World) -> None:
    now_ms = world.clock.now_ms()
    rows = payments(now_ms)
    for unit_ms in (HOUR_MS, DAY_MS):
        found = await world.history.funding_of_bars("BTC", unit_ms, 0, now_ms)
        assert len(found) >= 9
        for open_ms, apr in found.items():
            until_ms = min(open_ms + unit_ms, now_ms)
            assert apr == (await world.history.funding("BTC", open_ms, until_ms)).mean_apr
            paid = [row[1] for row in rows if open_ms < row[0] <= until_ms]
            assert apr == pytest.approx(sum(paid) / len(paid) * 876_000, abs=0.5001e-4)
    assert await world.history.funding_of_bars("NONE", HOUR_MS, 0, now_ms) == {}


async def test_open_interest_is_that_of_the_samples(world: World) -> None:
    await world.market.samples.put(world.origin, END, [Sample("BTC", 3e9, 1.0)])
    assert await world.history.open_interest("BTC", [END, END + HOUR_MS]) == {END: 3e9}
    assert await world.history.open_interest("NOPE", [END]) == {}


async def test_market_caps_are_those_of_the_window(world: World) -> None:
    caps = [PastCap(END - hours * HOUR_MS, 1e9 * hours, 1e6) for hours in (3, 2, 1)]
    await world.caps.put(world.origin, "btc", caps, END)
    assert await world.history.market_caps("BTC", END - 3 * HOUR_MS, END - HOUR_MS) == caps[:2]
    assert await world.history.market_caps("YOUNG", 0, END) == []


async def test_a_delisted_coin_keeps_its_past_and_a_listed_one_goes_before_it(world: World) -> None:
    await world.give("Sol", [((LAST - 1) * DAY_MS, 1.0, 1.0, 1.0, 1.0)])
    await world.store.put_delisted(world.origin, ["Sol"])
    await world.list_coins("BTC", "ETH", "SOL")
    days = await world.database.inspect(lambda connection: read_days(connection, END))
    daily = await asyncio.to_thread(recompute_days, days, world.told.breadth)
    assert daily.listed == {"BTC", "ETH", "SOL"}
    assert len(daily.bars("SOL")) == DAYS
    assert len(daily.bars("PEPE")) == DAYS
    assert sorted(daily.closes(END - DAY_MS, END).closes) == ["BTC", "ETH", "SOL"]
    assert len(await world.history.hourly("SOL", 0)) == 48
    assert len(await world.history.hourly("PEPE", 0)) == 48


def test_a_day_that_is_not_known_does_not_end_a_run() -> None:
    codes, zeros = array("b", [0, 1, 2, 1, 2]), array("b", [0] * 5)
    days = CoinDays(array("i", range(5)), array("d", [1.0] * 25), codes, codes, zeros, zeros, zeros)
    history = DailyHistory({"A": days}, frozenset({"A"}), 0, [], ["neutral"])
    assert history.trend_daily("A", 5 * DAY_MS) == ("UP", 2 * DAY_MS)
    assert history.trend_daily("A", 3 * DAY_MS) == ("UP", 2 * DAY_MS)
    assert history.trend_daily("A", DAY_MS) == ("HODL", DAY_MS)


def test_without_coins_there_is_no_day() -> None:
    empty = DailyHistory({}, frozenset(), 0, [], [])
    assert (empty.first_ms, empty.last_ms, empty.symbols) == (None, None, [])
    assert empty.closes(0, END) == ClosesTable([], {})
