"""Values of measures, recounted from bars, payments and rows of the table."""

from math import log, sqrt
from statistics import correlation, fmean, stdev
from typing import Any

import pytest

from service.ask.measure_table import MEASURES
from service.ask.planner.result import Result
from service.ask.query import At, Between, Count, Extreme, Measure, Now, Query, Rank
from service.clock import DAY_MS, HOUR_MS, iso
from service.market.sources.coingecko import PastCap
from service.table.daily import PastVerdict
from service.wire.ask import Source
from service.wire.market import MarketHealth, TrendCounts, TrendShares
from service.wire.queries import HealthQuery, RegimeQuery
from tests.ask.planner.asked import (
    ALL,
    FUNDING,
    JUNE,
    MARKET,
    PRICE,
    TREND,
    VERDICT,
    VOLUME,
    change,
    coins,
    day,
    days,
    hours,
    instant,
    of,
    where,
)
from tests.ask.planner.world import COINS, NEW, NOW_MS, TODAY_MS, World, tool


async def one(query: Query, world: World | None = None) -> Any:
    """The single value that a query is answered with."""
    result = await (world or World()).ask(query)
    assert result.refusal is None, result.kind
    return result.figures["value"].value


async def refused(query: Query, world: World | None = None) -> str:
    result: Result = await (world or World()).ask(query)
    assert result.refusal is not None
    return result.kind


def closes(symbol: str) -> dict[int, float]:
    return {bar.open_ms: bar.close for bar in World().history.days.bars(symbol)}


async def test_a_present_value_is_that_of_the_table() -> None:
    world = World(BTC={"price": 118_234.5, "open_interest_usd": 3e9})
    assert await one(of(coins("BTC"), PRICE), world) == 118_234.5
    assert await one(of(coins("BTC"), Measure("open_interest")), world) == 3e9


async def test_a_price_of_a_past_day_is_its_close() -> None:
    assert await one(of(coins("BTC"), PRICE, time=day(30))) == closes("BTC")[TODAY_MS - 30 * DAY_MS]


async def test_a_price_of_a_past_hour_is_the_last_close_by_then() -> None:
    world = World()
    hour = (await world.history.hourly("BTC", 0))[20]
    at = At(hour.open_ms + HOUR_MS + 60_000, whole_day=False, words="then")
    assert await one(of(coins("BTC"), PRICE, time=at), world) == hour.close


@pytest.mark.parametrize("hours", [24 * 40 + 5, 24 * 100 + 1, 24 * 200 + 23, 24 * 89 + 11, 24 * 95 + 7, 24 * 120 + 13])
async def test_a_price_at_an_hour_that_is_not_stored_is_refused(hours: int) -> None:
    result = await World().ask(of(coins("BTC"), PRICE, time=instant(hours)))
    assert result.refusal is not None


async def test_a_price_before_the_first_known_day_is_refused_with_that_day() -> None:
    result = await World().ask(of(coins(NEW), PRICE, time=day(60)))
    assert (result.kind, result.figures["first"].value) == ("before-history", TODAY_MS - 40 * DAY_MS)
    assert result.refusal is not None
    assert result.refusal.reason == "not-available"


async def test_a_day_to_come_is_refused() -> None:
    assert await refused(of(coins("BTC"), PRICE, time=day(-3))) == "future"
    assert await refused(of(coins("BTC"), change(), time=Between(NOW_MS + 1, None, "next week"))) == "future"


@pytest.mark.parametrize(
    ("over", "column"),
    [(hours(1), "change_1h"), (hours(24), "change_24h"), (days(1), "change_24h"), (days(7), "change_7d"),
     (hours(168), "change_7d"), (days(30), "change_30d"), (hours(720), "change_30d"), (None, "change_24h")],
)  # fmt: skip
async def test_usual_windows_of_a_change_are_those_of_the_table(over: Any, column: str) -> None:
    changes = dict.fromkeys(("change_1h", "change_24h", "change_7d", "change_30d"), 1.0)
    world = World(BTC={**changes, column: 3.25})
    assert await one(of(coins("BTC"), change(over)), world) == 3.25


async def test_another_number_of_days_is_from_the_last_close_before_so_many_days() -> None:
    world = World(BTC={"price": 500.0})
    base = closes("BTC")[TODAY_MS - 15 * DAY_MS]  # closes 14 days before today began
    assert await one(of(coins("BTC"), change(days(14))), world) == pytest.approx((500.0 / base - 1) * 100)


async def test_a_change_over_hours_is_from_the_close_of_that_hour() -> None:
    world = World(BTC={"price": 500.0})
    base = next(
        bar.close for bar in await world.history.hourly("BTC", 0) if bar.open_ms + HOUR_MS == NOW_MS - 3 * HOUR_MS
    )
    assert await one(of(coins("BTC"), change(hours(3))), world) == pytest.approx((500.0 / base - 1) * 100)


async def test_a_change_of_a_past_month_is_between_its_closes() -> None:
    known = closes("BTC")
    before, end = known[JUNE.start_ms - DAY_MS], known[(JUNE.end_ms or 0) - DAY_MS]
    expected = (end / before - 1) * 100
    assert await one(of(coins("BTC"), change(), time=JUNE)) == pytest.approx(expected)
    assert await one(of(coins("BTC"), change(JUNE))) == pytest.approx(expected)


async def test_a_change_of_a_past_day_and_as_of_a_past_day() -> None:
    known, at = closes("BTC"), TODAY_MS - 20 * DAY_MS
    assert await one(of(coins("BTC"), change(), time=day(20))) == pytest.approx(
        (known[at] / known[at - DAY_MS] - 1) * 100
    )
    assert await one(of(coins("BTC"), change(days(7)), time=day(20))) == pytest.approx(
        (known[at] / known[at - 7 * DAY_MS] - 1) * 100
    )


async def test_a_change_since_listing_is_from_the_first_open() -> None:
    world = World(C00={"price": 100.0})
    ever = Between(0, None, "since listing")
    first = world.history.days.bars(NEW)[0].open
    assert await one(of(coins(NEW), change(ever)), world) == pytest.approx((100.0 / first - 1) * 100)
    world.history.coins.pop(NEW)
    assert await refused(of(coins(NEW), change(ever)), world) == "unknown-value"


async def test_hours_of_many_coins_and_old_hours_are_refused() -> None:
    assert await refused(of(ALL, change(hours(3)), operation=Rank("most", 3))) == "hours-of-many"
    assert await refused(of(coins("BTC"), change(hours(100 * 24)))) == "hours-before"


@pytest.mark.parametrize("name", ["high", "low"])
async def test_bounds_of_a_window_count_the_bar_of_today(name: str) -> None:
    world = World()
    bars = [*world.history.days.bars("ETH", TODAY_MS - 9 * DAY_MS), await world.history.today("ETH")]
    expected = max(bar.high for bar in bars if bar) if name == "high" else min(bar.low for bar in bars if bar)
    assert await one(of(coins("ETH"), Measure(name, days(10))), world) == expected
    world.history.unknown_today.add("ETH")
    known = bars[:-1]
    expected = max(bar.high for bar in known if bar) if name == "high" else min(bar.low for bar in known if bar)
    assert await one(of(coins("ETH"), Measure(name, days(10))), world) == expected


async def test_bounds_of_a_day_are_of_its_hours() -> None:
    world = World()
    bars = await world.history.hourly("ETH", NOW_MS - 24 * HOUR_MS)
    assert await one(of(coins("ETH"), Measure("high")), world) == max(bar.high for bar in bars)


async def test_the_open_of_a_span_is_that_of_its_first_bar() -> None:
    world = World()
    first = world.history.days.bars("ETH", JUNE.start_ms)[0]
    assert await one(of(coins("ETH"), Measure("open", JUNE)), world) == first.open
    top = of(coins("ETH"), Measure("open"), time=JUNE, operation=Extreme("max"))
    bars = world.history.days.bars("ETH", JUNE.start_ms, JUNE.end_ms or 0)
    assert (await world.ask(top)).figures["value"].value == max(bar.open for bar in bars)


async def test_bounds_before_the_first_day_are_refused() -> None:
    before = Between(TODAY_MS - 900 * DAY_MS, TODAY_MS - 800 * DAY_MS, "2023")
    assert await refused(of(coins("ETH"), Measure("high", before))) == "unknown-value"
    assert await refused(of(coins("ETH"), Measure("drawdown", before))) == "unknown-value"
    assert await refused(of(coins("ETH"), VOLUME, time=before)) == "before-history"


async def test_a_drawdown_is_from_the_highest_price_of_the_window_to_its_end() -> None:
    bars = World().history.days.bars("SOL", JUNE.start_ms, JUNE.end_ms or 0)
    expected = (bars[-1].close / max(bar.high for bar in bars) - 1) * 100
    assert await one(of(coins("SOL"), Measure("drawdown", JUNE))) == pytest.approx(expected)


async def test_volatility_is_the_annualised_deviation_of_closed_daily_returns() -> None:
    known = closes("SOL")
    moves = [log(known[TODAY_MS - ago * DAY_MS] / known[TODAY_MS - (ago + 1) * DAY_MS]) for ago in range(1, 31)]
    assert await one(of(coins("SOL"), Measure("volatility"))) == pytest.approx(stdev(moves) * sqrt(365) * 100)
    moves = [log(known[at] / known[at - DAY_MS]) for at in range(JUNE.start_ms, JUNE.end_ms or 0, DAY_MS)]
    assert await one(of(coins("SOL"), Measure("volatility"), time=JUNE)) == pytest.approx(
        stdev(moves) * sqrt(365) * 100
    )


async def test_volatility_of_few_days_is_refused() -> None:
    assert await refused(of(coins("SOL"), Measure("volatility", days(5)))) == "too-short"
    first = World().history.days.bars(NEW)[0].open_ms
    young = At(first + 4 * DAY_MS, whole_day=True, words="then")
    assert await refused(of(coins(NEW), Measure("volatility"), time=young)) == "unknown-value"


async def test_correlation_of_any_two_coins_over_any_window() -> None:
    one_, other = closes("SOL"), closes("ETH")
    days_ = [TODAY_MS - ago * DAY_MS for ago in range(1, 61)]
    x = [log(one_[at] / one_[at - DAY_MS]) for at in days_]
    y = [log(other[at] / other[at - DAY_MS]) for at in days_]
    assert await one(of(coins("SOL"), Measure("correlation", days(60), other="ETH"))) == pytest.approx(
        correlation(x, y)
    )


async def test_the_usual_correlation_is_that_of_the_table() -> None:
    assert await one(of(coins("SOL"), Measure("correlation")), World(SOL={"btc_correlation": 0.61})) == 0.61
    unusual = of(coins("SOL"), Measure("correlation", days(90)))
    assert await one(unusual, World(SOL={"btc_correlation": 2.0})) != 2.0


async def test_correlation_with_few_common_days_is_not_known() -> None:
    long_ago = Between(TODAY_MS - 300 * DAY_MS, TODAY_MS - 200 * DAY_MS, "then")
    assert await refused(of(coins("SOL"), Measure("correlation", long_ago, other=NEW))) == "unknown-value"


async def test_strength_is_the_difference_of_two_returns() -> None:
    world = World(SOL={"change_7d": 5.0, "price": 10.0}, ETH={"change_7d": 8.5, "price": 20.0}, BTC={"change_7d": 1.0})
    assert await one(of(coins("SOL"), Measure("strength", other="ETH")), world) == -3.5
    assert await one(of(coins("SOL"), Measure("strength")), world) == 4.0
    world = World(SOL={"change_7d": None}, BTC={"change_7d": 1.0})
    assert await refused(of(coins("SOL"), Measure("strength")), world) == "unknown-value"


async def test_volume_of_a_span_is_all_that_was_traded_in_it() -> None:
    world = World(ETH={"volume_24h_usd": 77.0})
    bars = world.history.days.bars("ETH", JUNE.start_ms, JUNE.end_ms or 0)
    assert await one(of(coins("ETH"), VOLUME, time=JUNE), world) == pytest.approx(sum(bar.volume_usd for bar in bars))
    assert await one(of(coins("ETH"), VOLUME), world) == 77.0
    last = world.history.days.bars("ETH", TODAY_MS - 10 * DAY_MS)[0]
    assert await one(of(coins("ETH"), VOLUME, time=day(10)), world) == last.volume_usd
    assert await refused(of(coins("ETH"), VOLUME, time=day(900)), world) == "before-history"


async def test_funding_now_and_its_mean_over_a_window() -> None:
    world = World(ETH={"funding_apr": 10.95})
    assert await one(of(coins("ETH"), FUNDING), world) == 10.95
    start = NOW_MS - 7 * DAY_MS
    paid = (await world.history.funding("ETH", start, NOW_MS)).payments
    expected = sum(payment.apr for payment in paid) / len(paid)
    assert await one(of(coins("ETH"), Measure("funding", days(7), mean=True)), world) == pytest.approx(expected)
    assert await one(of(coins("ETH"), FUNDING, time=days(7)), world) == pytest.approx(expected)
    ancient = Between(TODAY_MS - 89 * DAY_MS - HOUR_MS, TODAY_MS - 89 * DAY_MS, "then")
    assert await one(of(coins("ETH"), FUNDING, time=ancient), world) is not None


async def test_carry_is_what_a_side_receives() -> None:
    world = World(ETH={"funding_apr": 10.95})
    assert await one(of(coins("ETH"), Measure("carry", side="short")), world) == 10.95
    assert await one(of(coins("ETH"), Measure("carry", side="long")), world) == -10.95
    position = Measure("carry", days(10), side="short", notional=36_500.0)
    assert await one(of(coins("ETH"), position), world) == pytest.approx(36_500 * 0.1095 * 10 / 365)
    position = Measure("carry", side="long", notional=36_500.0)
    assert await one(of(coins("ETH"), position), world) == pytest.approx(-36_500 * 0.1095 / 365)
    both = await world.ask(of(coins("ETH"), Measure("carry")))
    assert both.rows[0].values == (-10.95, 10.95)
    assert (
        await refused(of(coins("ETH"), Measure("carry", side="long")), World(ETH={"funding_apr": None}))
        == "unknown-value"
    )


async def test_past_states_are_those_known_at_the_end_of_the_day() -> None:
    world = World()
    then = TODAY_MS - 19 * DAY_MS
    daily, weekly = world.history.days.trend_daily("ETH", then), world.history.days.trend_weekly("ETH", then)
    assert daily is not None
    assert weekly is not None
    assert await one(of(coins("ETH"), TREND, time=day(20)), world) == daily.state
    assert await one(of(coins("ETH"), Measure("trend", frame="weekly"), time=day(20)), world) == weekly.state
    regime = world.history.days.regime("ETH", then)
    assert regime is not None
    assert await one(of(coins("ETH"), Measure("regime"), time=day(20)), world) == regime.state
    both = await world.ask(of(coins("ETH"), Measure("trend"), time=day(20)))
    assert both.rows[0].values == (daily.state, daily.since_ms, weekly.state, weekly.since_ms)


async def test_states_before_the_first_day_are_not_known() -> None:
    for measure in (TREND, Measure("regime"), VERDICT):
        assert await refused(of(coins("ETH"), measure, time=day(900))) == "before-history"
    assert await refused(of(MARKET, Measure("market_regime"), time=day(900))) == "unknown-value"


async def test_a_past_verdict_is_the_recorded_one_within_a_day_and_recomputed_at_its_end() -> None:
    world = World()
    world.history.recorded["ETH"] = PastVerdict(TODAY_MS - 5 * HOUR_MS, "strong-bear", -3.5, recorded=True)
    assert await one(of(coins("ETH"), VERDICT, time=instant(5)), world) == "strong-bear"
    assert await one(of(coins("ETH"), Measure("score"), time=instant(5)), world) == -3.5
    for ago in range(1, 30):
        then = world.history.days.verdict("ETH", TODAY_MS - (ago - 1) * DAY_MS)
        assert then is not None
        result = await world.ask(of(coins("ETH"), VERDICT, time=day(ago)))
        if then.score is None:
            assert result.kind == "unknown-value"
        else:
            assert result.figures["value"].value == then.verdict


async def test_of_many_coins_a_past_instant_is_judged_at_the_last_midnight() -> None:
    world = World()
    found = await world.ask(of(ALL, where=where(PRICE, "gt", 100.0), time=instant(29), operation=Count()))
    at = TODAY_MS - 2 * DAY_MS
    known = [bars[-1].close for symbol in COINS if (bars := world.history.days.bars(symbol, 0, at))]
    assert found.figures["count"].value == sum(close > 100.0 for close in known)


async def test_a_past_market_cap_is_the_last_one_stored_by_then() -> None:
    world = World()
    at = TODAY_MS - 9 * DAY_MS
    world.history.caps["BTC"] = [PastCap(at - HOUR_MS, 2.1e12, 1.0), PastCap(at + HOUR_MS, 9.9e12, 1.0)]
    assert await one(of(coins("BTC"), Measure("market_cap"), time=day(10)), world) == 2.1e12
    assert await refused(of(coins("ETH"), Measure("market_cap"), time=day(10)), world) == "unknown-value"


async def test_what_has_no_stored_past_is_refused_and_not_answered_with_the_present() -> None:
    for name in ("open_interest", "sentiment", "streak", "rank", "confidence"):
        assert await refused(of(coins("BTC"), Measure(name), time=day(10))) == "not-past"
    for name in ("fear_greed", "breadth"):
        assert await refused(of(MARKET, Measure(name), time=day(10))) == "not-past"


async def test_a_measure_of_the_market_is_no_measure_of_a_coin_and_the_other_way_round() -> None:
    assert await refused(of(coins("BTC"), Measure("fear_greed"))) == "wrong-subject"
    assert await refused(of(MARKET, Measure("open_interest"))) == "wrong-subject"


async def test_what_the_market_is_like() -> None:
    health = MarketHealth(
        "2025-07-24",
        24,
        TrendCounts(12, 6, 6),
        TrendShares(50.0, 25.0, 25.0),
        hasExtremes=False,
        extremes=[],
        velocity=None,
    )
    world = World([tool("market.health", HealthQuery, lambda _: health)])
    assert await one(of(MARKET, Measure("fear_greed")), world) == 55
    assert await one(of(MARKET, Measure("breadth")), world) == 50.0
    regime = world.history.days.market_regime(NOW_MS)
    assert regime is not None
    assert await one(of(MARKET, Measure("market_regime")), world) == regime.state
    assert await one(of(MARKET, Measure("regime")), world) == regime.state
    overview = await world.ask(of(MARKET))
    assert overview.rows[0].values == (regime.state, 50.0, 55)
    world.index = None
    assert await refused(of(MARKET, Measure("fear_greed")), world) == "unknown-value"


async def test_confidence_is_that_of_the_verdict_route() -> None:
    world = World()
    world.judgements = {
        "ETH": {"confidence": "high"},
        "SOL": {"confidence": "low", "as_of": iso(NOW_MS - HOUR_MS), "verdict": "insufficient-evidence"},
    }
    confidence = Measure("confidence")
    assert await one(of(coins("ETH"), confidence), world) == "high"
    found = await world.ask(of(ALL, where=where(confidence, "eq", "low"), operation=Count()))
    assert (found.figures["names"].value, found.unknown, found.counted) == ("SOL", (), True)
    assert found.sources == (Source("verdicts", None, iso(NOW_MS - HOUR_MS)),)
    abstained = await world.ask(of(coins("SOL"), confidence))
    assert ([source.path for source in abstained.sources], abstained.counted) == (["/api/cli/signal/SOL"], False)
    assert await refused(of(coins("ETH"), confidence, time=day(3)), world) == "not-past"


async def test_the_conviction_of_the_market_is_that_of_the_regime_route() -> None:
    world = World([tool("regime", RegimeQuery, lambda _: {"market": {"conviction": 0.4}})])
    assert await one(of(MARKET, Measure("conviction")), world) == 0.4
    assert await refused(of(MARKET, Measure("conviction"), time=day(3)), world) == "not-past"


async def test_a_verdict_without_evidence_is_not_known() -> None:
    world = World(ETH={"verdict": "insufficient-evidence"})
    assert await refused(of(coins("ETH"), VERDICT), world) == "unknown-value"


async def test_values_say_how_old_they_are_what_is_stale_and_where_they_come_from() -> None:
    world = World(BTC={"price": 1.0, "change_24h": None, "stale_fields": ["price", "change_24h"]})
    result = await world.ask(of(coins("BTC"), PRICE, change()))
    assert result.as_of_ms == NOW_MS - 60_000
    assert result.stale == ("price",)  # what is not known is named as such
    assert result.unknown == ("24-hour change",)
    assert [source.path for source in result.sources] == ["/api/cli/coins"]
    both = await world.ask(of(coins("BTC"), PRICE, Measure("volatility")))
    assert both.as_of_ms == TODAY_MS
    assert [source.tool for source in both.sources] == ["coins", "history"]


async def test_the_same_question_at_the_same_instant_gives_the_same_result() -> None:
    query = of(ALL, change(days(14)), operation=Rank("least", 5))
    assert await World().ask(query) == await World().ask(query)


async def test_every_measure_has_a_value_now_or_says_why_not() -> None:
    world = World()
    for name, row in MEASURES.items():
        subject = MARKET if row.market else coins("SOL")
        if name not in {"breadth", "confidence", "conviction"}:
            result = await world.ask(of(subject, Measure(name), time=Now()))
            assert result.refusal is None or result.kind == "unknown-value", name


async def test_nothing_later_than_the_instant_asked_for_enters_a_value() -> None:
    later = World()
    at = TODAY_MS - 20 * DAY_MS
    cut = World()
    for symbol, coin in cut.history.coins.items():
        keep = len([open_ for open_ in coin.days if open_ * DAY_MS < at])
        for name, width in (("days", 1), ("numbers", 5), ("daily", 1), ("weekly", 1), ("regimes", 1), ("verdicts", 1)):
            del getattr(coin, name)[keep * width :]
        del coin.scores[keep:]
        assert symbol in COINS
    for measure in (PRICE, change(days(7)), TREND, VERDICT, Measure("volatility"), Measure("drawdown", days(30))):
        for subject in (coins("ETH"), coins("SOL")):
            query = of(subject, measure, time=day(21))
            assert (await later.ask(query)).figures == (await cut.ask(query)).figures


async def test_means_of_prices_and_volumes_are_those_of_closed_bars() -> None:
    world = World()
    bars = world.history.days.bars("ETH", TODAY_MS - 60 * DAY_MS, TODAY_MS - 30 * DAY_MS)
    mean = Measure("price", JUNE, mean=True)
    assert await one(of(coins("ETH"), mean), world) == pytest.approx(fmean(bar.close for bar in bars))
    volume = Measure("volume", mean=True)
    assert await one(of(coins("ETH"), volume, time=JUNE), world) == pytest.approx(fmean(bar.volume_usd for bar in bars))
    closed = [bar.close for bar in world.history.days.bars("ETH", TODAY_MS - 7 * DAY_MS)]
    assert await one(of(coins("ETH"), Measure("price", days(7), mean=True)), world) == fmean(closed)
    hourly = [bar.close for bar in await world.history.hourly("ETH", NOW_MS - 5 * HOUR_MS)]
    assert await one(of(coins("ETH"), Measure("price", hours(5), mean=True)), world) == fmean(hourly)
    assert await refused(of(coins("ETH"), Measure("price", mean=True))) == "no-window"
    assert await refused(of(coins("ETH"), Measure("trend", mean=True))) == "no-aggregate"
    assert await refused(of(coins(NEW), Measure("price", JUNE, mean=True))) == "unknown-value"


async def test_a_coin_is_not_measured_against_itself() -> None:
    for measure in (Measure("correlation"), Measure("strength")):
        assert await refused(of(coins("BTC"), measure)) == "no-pair"
    assert await refused(of(coins("ETH"), Measure("correlation", days(90), "ETH"))) == "no-pair"


async def test_a_coin_younger_than_the_window_has_no_volatility_and_no_correlation() -> None:
    for measure in (Measure("volatility", days(90)), Measure("correlation", days(90), "ETH")):
        assert await refused(of(coins(NEW), measure)) == "unknown-value"
    assert isinstance(await one(of(coins(NEW), Measure("volatility", days(30)))), float)


async def test_the_future_has_no_prices() -> None:
    later = Between(NOW_MS + DAY_MS, None, "next week")
    assert await refused(of(coins("ETH"), Measure("change", later))) == "future"
