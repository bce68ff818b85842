"""Extremes with their days, since when, when last, and how a measure went: recounted from bars and states."""

from itertools import pairwise
from typing import Any

import pytest

from service.ask.planner.result import Result
from service.ask.query import (
    All,
    Any_,
    At,
    Between,
    Changed,
    Check,
    Count,
    Extreme,
    List,
    Measure,
    Not,
    Query,
    Rank,
    When,
)
from service.clock import DAY_MS
from service.market.sources.coingecko import PastCap
from tests.ask.planner.asked import (
    ALL,
    FUNDING,
    JUNE,
    MARKET,
    PRICE,
    THIS_WEEK,
    TREND,
    UP,
    VERDICT,
    VOLUME,
    change,
    coins,
    day,
    days,
    hours,
    of,
    where,
)
from tests.ask.planner.world import COINS, NEW, NOW_MS, TODAY_MS, World

WORLD = World()
END = JUNE.end_ms or 0


async def ask(query: Query, world: World = WORLD) -> Result:
    result = await world.ask(query)
    assert result.refusal is None, result.kind
    return result


def bars(symbol: str, since_ms: int = JUNE.start_ms, until_ms: int = END) -> Any:
    return WORLD.history.days.bars(symbol, since_ms, until_ms)


def headline(result: Result) -> tuple[Any, Any]:
    return result.figures["value"].value, result.figures["day"].value


async def test_the_highest_and_lowest_price_of_a_span_with_their_days() -> None:
    top = max(bars("BTC"), key=lambda bar: bar.high)
    low = min(bars("BTC"), key=lambda bar: bar.low)
    query = of(coins("BTC"), PRICE, time=JUNE, operation=Extreme("max"))
    assert headline(await ask(query)) == (top.high, top.open_ms)
    query = of(coins("BTC"), PRICE, time=JUNE, operation=Extreme("min"))
    assert headline(await ask(query)) == (low.low, low.open_ms)
    query = of(coins("BTC"), Measure("low"), time=JUNE, operation=Extreme("max"))
    assert (await ask(query)).figures["value"].value == max(bar.low for bar in bars("BTC"))


async def test_a_coin_traded_by_the_thousand_is_said_to_be() -> None:
    low = min(bar.low for bar in bars("PEPE"))
    query = of(coins("PEPE"), PRICE, time=JUNE, operation=Extreme("min"))
    result = await ask(query)
    assert result.figures["value"].value == low
    assert result.figures["traded"].value == "PEPE is traded as kPEPE"
    assert result.notes == ("traded",)


async def test_without_a_time_all_known_days_count_and_the_first_is_said() -> None:
    known = [*bars("BTC", 0, TODAY_MS), await WORLD.history.today("BTC")]
    result = await ask(of(coins("BTC"), PRICE, operation=Extreme("max")))
    assert result.figures["value"].value == max(bar.high for bar in known if bar)
    assert result.figures["first"].value == known[0].open_ms
    assert result.notes == ("known_since",)


async def test_the_window_of_a_high_is_the_span_looked_at() -> None:
    result = await ask(of(coins("BTC"), Measure("high", days(10)), operation=Extreme("max")))
    known = [*bars("BTC", TODAY_MS - 9 * DAY_MS, TODAY_MS), await WORLD.history.today("BTC")]
    assert result.figures["value"].value == max(bar.high for bar in known if bar)


async def test_the_bounds_of_one_day() -> None:
    result = await ask(of(coins("BTC"), PRICE, time=day(3), operation=Extreme("max")))
    assert result.figures["value"].value == bars("BTC", TODAY_MS - 3 * DAY_MS, TODAY_MS - 2 * DAY_MS)[0].high
    past_hour = At(NOW_MS - 3_600_000, whole_day=False, words="an hour ago")
    assert (await WORLD.ask(of(coins("BTC"), PRICE, time=past_hour, operation=Extreme("max")))).kind == "not-over"
    assert (await WORLD.ask(of(coins("BTC"), PRICE, time=day(-3), operation=Extreme("max")))).kind == "not-over"


async def test_the_worst_day_and_the_best_week_of_all_coins() -> None:
    def moves(symbol: str, length: int) -> list[tuple[float, int]]:
        closes = {bar.open_ms: bar.close for bar in bars(symbol, 0, END)}
        return [
            ((closes[at] / closes[at - length * DAY_MS] - 1) * 100, at)
            for at in range(JUNE.start_ms, END, DAY_MS)
            if at in closes and at - length * DAY_MS in closes
        ]

    worst = min((move, symbol) for symbol in COINS for move, _ in moves(symbol, 1))
    result = await ask(of(ALL, change(), time=JUNE, operation=Extreme("min")))
    assert result.figures["value"].value == pytest.approx(worst[0])
    assert result.figures["subject"].value == worst[1]
    assert result.figures["label"].value == "1-day change"
    best, at = max(moves("ETH", 7))
    result = await ask(of(coins("ETH"), change(days(7)), time=JUNE, operation=Extreme("max")))
    assert headline(result) == (pytest.approx(best), at)
    result = await ask(of(coins("ETH"), change(hours(24)), time=JUNE, operation=Extreme("max")))
    assert result.figures["value"].value == pytest.approx(max(moves("ETH", 1))[0])


async def test_extremes_of_volume_drawdown_funding_and_market_cap() -> None:
    result = await ask(of(coins("ETH"), VOLUME, time=JUNE, operation=Extreme("max")))
    assert result.figures["value"].value == max(bar.volume_usd for bar in bars("ETH"))
    result = await ask(of(coins("ETH"), Measure("drawdown"), time=JUNE, operation=Extreme("min")))
    deepest, peak = 0.0, 0.0
    for bar in bars("ETH"):
        peak = max(peak, bar.high)
        deepest = min(deepest, bar.close / peak - 1)
    assert result.figures["value"].value == pytest.approx(deepest * 100)
    paid = (await WORLD.history.funding("ETH", TODAY_MS - 9 * DAY_MS, NOW_MS)).payments
    result = await ask(of(coins("ETH"), FUNDING, time=days(10), operation=Extreme("max")))
    assert result.figures["value"].value == max(payment.apr for payment in paid)
    world = World()
    world.history.caps["ETH"] = [PastCap(END - DAY_MS, 4e11, 0.0), PastCap(END - 2 * DAY_MS, 5e11, 0.0)]
    result = await ask(of(coins("ETH"), Measure("market_cap"), time=JUNE, operation=Extreme("max")), world)
    assert headline(result) == (5e11, END - 2 * DAY_MS)
    assert (await world.ask(of(coins("BTC"), Measure("market_cap"), time=JUNE, operation=Extreme("max")))).refusal
    none = of(coins("BTC"), FUNDING, time=Measure("funding", days(1)).over or days(1), operation=Extreme("max"))
    assert (await world.ask(none)).refusal is None


async def test_what_is_known_of_a_measure_begins_with_its_first_value() -> None:
    paid = (await WORLD.history.funding("ETH", 0, NOW_MS)).payments
    result = await ask(of(coins("ETH"), FUNDING, operation=Extreme("max")))
    assert result.figures["value"].value == max(payment.apr for payment in paid)
    assert (result.figures["first"].value, result.notes) == (paid[0].paid_ms, ("known_since",))
    assert (await ask(of(coins("ETH"), PRICE, time=JUNE, operation=Extreme("max")))).notes == ()


async def test_extremes_of_states_and_scores() -> None:
    scores = [one.score for one in WORLD.history.days.states("ETH", JUNE.start_ms, END) if one.score is not None]
    result = await ask(of(coins("ETH"), Measure("score"), time=JUNE, operation=Extreme("min")))
    assert result.figures["value"].value == min(scores)
    result = await ask(of(coins("ETH"), VERDICT, time=JUNE, operation=Extreme("max")))
    grades = [one.verdict for one in WORLD.history.days.states("ETH", JUNE.start_ms, END) if one.score is not None]
    order = ["strong-bull", "bull", "neutral", "bear", "strong-bear"]
    assert result.figures["value"].value == min(grades, key=order.index)
    for frame in ("daily", "weekly"):
        result = await ask(of(coins("ETH"), Measure("trend", frame=frame), time=JUNE, operation=Extreme("last")))
        states = WORLD.history.days.states("ETH", JUNE.start_ms, END)
        known = [state for one in states if (state := getattr(one, f"trend_{frame}")) is not None]
        assert result.figures["value"].value == known[-1]


async def test_first_and_last_values_in_order_of_their_days() -> None:
    first = await ask(of(coins("BTC", NEW), PRICE, operation=Extreme("first")))
    assert [row.subject for row in first.rows] == ["BTC", NEW]
    assert first.rows[1].values[1] == TODAY_MS - 40 * DAY_MS
    last = await ask(of(coins("BTC", NEW), PRICE, operation=Extreme("last")))
    assert last.rows[0].values[1] == TODAY_MS


async def test_extremes_that_cannot_be_told_are_refused() -> None:
    async def kind(query: Query) -> str:
        result = await WORLD.ask(query)
        assert result.refusal is not None
        return result.kind

    before = JUNE.__class__(TODAY_MS - 900 * DAY_MS, TODAY_MS - 800 * DAY_MS, "2023")
    assert await kind(of(coins("BTC"), PRICE, time=before, operation=Extreme("max"))) == "before-history"
    assert await kind(of(coins("BTC", "ETH"), PRICE, time=before, operation=Extreme("max"))) == "unknown-value"
    assert await kind(of(coins("BTC"), operation=Extreme("max"))) == "no-measure"
    assert await kind(of(MARKET, PRICE, operation=Extreme("max"))) == "no-asset-history"
    assert await kind(of(coins("BTC"), Measure("open_interest"), time=JUNE, operation=Extreme("max"))) == "not-past"


def runs(symbol: str) -> list[tuple[str, int, int]]:
    """Runs of the daily trend: state, the day it is known from, the last day it is known on."""
    found: list[tuple[str, int, int]] = []
    for one in WORLD.history.days.states(symbol):
        known = one.day_ms + DAY_MS
        if one.trend_daily is None:
            continue
        if found and found[-1][0] == one.trend_daily:
            found[-1] = (found[-1][0], found[-1][1], known)
        else:
            found.append((one.trend_daily, known, known))
    return found


async def test_since_when_a_coin_is_in_its_trend() -> None:
    for symbol in ("ETH", "SOL"):
        _, began, last = runs(symbol)[-1]
        result = await ask(of(coins(symbol), TREND, operation=When("since")))
        assert result.kind == "since"
        assert (result.figures["began"].value, result.figures["last"].value) == (began, last)
        assert result.figures["days"].value == (last - began) // DAY_MS + 1
        state = WORLD.history.days.trend_daily(symbol, NOW_MS)
        assert state is not None
        assert state.since_ms == began


async def test_when_a_state_last_began_and_until_when_it_held() -> None:
    current = runs("ETH")[-1][0]
    other = next(state for state in ("UP", "HODL", "DOWN") if state != current)
    _, began, last = [run for run in runs("ETH") if run[0] == other][-1]
    result = await ask(of(coins("ETH"), where=where(TREND, "eq", other), operation=When("last")))
    assert (result.kind, result.figures["began"].value, result.figures["last"].value) == ("last", began, last)
    result = await ask(of(coins("ETH"), where=where(TREND, "eq", other), operation=When("since")))
    assert result.kind == "not_now"


async def test_when_a_price_was_last_beyond_a_bound_by_closes() -> None:
    known = [*bars("SOL", 0, TODAY_MS), await WORLD.history.today("SOL")]
    bound = sorted(bar.close for bar in known if bar)[len(known) // 2]
    above = [bar.open_ms for bar in known if bar and bar.close > bound]
    result = await ask(of(coins("SOL"), where=where(PRICE, "gt", bound), operation=When("last")))
    assert result.figures["last"].value == above[-1]
    begin = above[-1]
    while begin - DAY_MS in above:
        begin -= DAY_MS
    assert result.figures["began"].value == begin
    tiny = of(coins("PEPE"), where=where(PRICE, "lt", 1e9), operation=When("since"))
    assert (await ask(tiny)).kind == "since"
    assert (await ask(of(coins("SOL"), where=where(PRICE, "gt", 1e9), operation=When("last")))).kind == "never"


@pytest.mark.parametrize("symbol", ["BTC", "ETH", "SOL"])
@pytest.mark.parametrize("place", [0.0, 0.02, 0.1, 0.3, 0.5, 0.9])
async def test_the_days_on_which_a_price_was_beyond_a_bound_have_closed(symbol: str, place: float) -> None:
    closes = {bar.open_ms: bar.close for bar in bars(symbol, 0, TODAY_MS)}
    today = await WORLD.history.today(symbol)
    assert today is not None
    every = [*closes.values(), today.close]
    bound = sorted(every)[int(place * len(every))]
    result = await ask(of(coins(symbol), where=where(PRICE, "gt", bound), operation=When("last")))
    ended = [*reversed(every)]
    while ended[0] <= bound:
        ended.pop(0)
    is_now = len(ended) == len(every)
    length = next((days for days, close in enumerate(ended) if close <= bound), len(ended))
    assert result.figures["days"].value == length - is_now
    assert result.kind == ("since" if is_now else "last")


async def test_conditions_are_joined_by_the_day() -> None:
    both = All((where(TREND, "eq", "UP"), Not(where(PRICE, "lt", 0.0))))
    expected = [run for run in runs("ETH") if run[0] == "UP"][-1]
    result = await ask(of(coins("ETH"), where=both, operation=When("last")))
    assert result.figures["began"].value == expected[1]
    either = Any_((where(TREND, "eq", "UP"), where(TREND, "ne", "UP")))
    result = await ask(of(coins("ETH"), where=either, operation=When("since"), time=days(30)))
    assert result.figures["began"].value == TODAY_MS - 29 * DAY_MS
    against = where(Measure("score"), "ge", to=Measure("score"))
    assert (await ask(of(coins("ETH"), where=against, operation=When("last")))).kind in {"since", "last"}
    weekly = Any_((where(Measure("regime"), "eq", "risk-on"), Not(where(Measure("trend", frame="weekly"), "eq", "UP"))))
    assert (await ask(of(coins("ETH"), where=weekly, operation=When("last")))).refusal is None


async def test_since_when_several_coins() -> None:
    result = await ask(of(coins("ETH", "SOL"), TREND, operation=When("since")))
    assert [row.values[1] for row in result.rows] == [runs("ETH")[-1][1], runs("SOL")[-1][1]]
    nowhere = of(coins("ETH", "SOL"), where=where(PRICE, "gt", 1e9), operation=When("last"))
    assert (await ask(nowhere)).kind == "never"


async def test_since_when_of_what_has_no_days_is_refused() -> None:
    async def kind(query: Query, world: World = WORLD) -> str:
        return (await world.ask(query)).kind

    assert await kind(of(ALL, TREND, operation=When("since"))) == "few-only"
    assert await kind(of(MARKET, TREND, operation=When("since"))) == "no-changes"
    assert await kind(of(MARKET, where=where(TREND, "eq", "UP"), operation=When("since"))) == "wrong-subject"
    assert await kind(of(coins("ETH"), PRICE, operation=When("since"))) == "no-changes"
    assert await kind(of(coins("ETH"), operation=When("since"))) == "no-measure"
    changed = Changed(TREND, None, THIS_WEEK)
    assert await kind(of(coins("ETH"), where=changed, operation=When("last"))) == "no-changes"
    than = where(PRICE, "gt", coin="BTC")
    assert await kind(of(coins("ETH"), where=than, operation=When("last"))) == "no-changes"
    world = World()
    world.history.coins.pop("ETH")
    assert await kind(of(coins("ETH"), TREND, operation=When("since")), world) == "unknown-value"
    world.history.unknown_today.add("ETH")
    assert await kind(of(coins("ETH"), where=where(PRICE, "gt", 1.0), operation=When("last")), world) == "unknown-value"


async def test_how_a_price_went_over_a_span() -> None:
    found = {name: figure.value for name, figure in (await ask(of(coins("BTC"), PRICE, time=JUNE))).figures.items()}
    known = bars("BTC")
    assert (found["start"], found["end"]) == (known[0].open, known[-1].close)
    assert found["change"] == pytest.approx((known[-1].close / known[0].open - 1) * 100)
    assert (found["high"], found["low"]) == (max(bar.high for bar in known), min(bar.low for bar in known))
    before = JUNE.__class__(TODAY_MS - 900 * DAY_MS, TODAY_MS - 800 * DAY_MS, "2023")
    for measure in (PRICE, TREND):
        assert (await WORLD.ask(of(coins("BTC"), measure, time=before))).kind == "before-history"
    world = World()
    world.history.coins.pop("BTC")
    assert (await world.ask(of(coins("BTC"), TREND, time=before))).kind == "unknown-value"


async def test_how_many_days_a_state_lasted_within_a_span() -> None:
    states = [one.trend_daily for one in WORLD.history.days.states("BTC", JUNE.start_ms, END) if one.trend_daily]
    result = await ask(of(coins("BTC"), TREND, time=JUNE))
    assert {row.subject: row.values[0] for row in result.rows} == {one: states.count(one) for one in set(states)}
    assert (result.figures["of"].value, result.figures["end"].value) == (len(states), states[-1])


async def test_hours_are_looked_at_by_the_hour() -> None:
    result = await ask(of(coins("BTC"), PRICE, time=hours(6)))
    known = await WORLD.history.hourly("BTC", NOW_MS - 6 * 3_600_000)
    assert result.figures["high"].value == max(bar.high for bar in known)


async def test_since_when_the_market_is_in_its_regime() -> None:
    state = WORLD.history.days.market_regime(NOW_MS)
    assert state is not None
    for measure in (Measure("regime"), Measure("market_regime")):
        result = await ask(of(MARKET, measure, operation=When("since")))
        assert (result.kind, result.figures["began"].value) == ("since", state.since_ms)
        assert result.figures["days"].value == (TODAY_MS - state.since_ms) // DAY_MS + 1
        result = await ask(of(MARKET, where=where(measure, "eq", state.state), operation=When("last")))
        assert result.figures["began"].value == state.since_ms
    went = await ask(of(MARKET, Measure("regime"), time=JUNE))
    states = [WORLD.history.days.market_regime(day + DAY_MS) for day in range(JUNE.start_ms, END, DAY_MS)]
    known = [one.state for one in states if one is not None]
    assert {row.subject: row.values[0] for row in went.rows} == {one: known.count(one) for one in known}
    nothing = JUNE.__class__(TODAY_MS - 900 * DAY_MS, TODAY_MS - 800 * DAY_MS, "2023")
    assert (await WORLD.ask(of(MARKET, Measure("regime"), time=nothing))).kind == "unknown-value"


async def test_other_measures_are_told_as_of_the_day_a_condition_began() -> None:
    found = await ask(of(coins("ETH"), TREND, PRICE, operation=When("since")))
    began = found.rows[0].values[1]
    assert isinstance(began, int)
    assert found.columns[4].label == "price"
    assert found.rows[0].values[4] == WORLD.history.days.bars("ETH", began, began + DAY_MS)[0].close
    never = await ask(of(coins("ETH"), PRICE, where=where(PRICE, "gt", 1e9), operation=When("last")))
    assert never.rows[0].values == ("never", None, None, None, None)


async def test_the_worst_day_is_a_closed_day() -> None:
    found = await ask(of(coins("ETH"), change(), time=days(30), operation=Extreme("min")))
    closed = bars("ETH", TODAY_MS - 30 * DAY_MS, TODAY_MS)
    worst = min(pairwise(closed), key=lambda pair: pair[1].close / pair[0].close)[1]
    assert found.rows[0].values[1] == worst.open_ms


async def test_a_price_was_above_a_bound_where_it_was_on_any_day() -> None:
    high = max(bars("ETH"), key=lambda bar: bar.high).high
    passed = await ask(of(coins("ETH"), where=where(PRICE, "gt", high * 0.9999), time=JUNE, operation=Check()))
    figures = {name: figure.value for name, figure in passed.figures.items()}
    assert (passed.kind, figures["answer"], figures["days"], figures["of"]) == ("check_days", "Yes", 1, 30)
    never = await ask(of(coins("ETH"), where=where(PRICE, "gt", high * 1.0001), time=JUNE, operation=Check()))
    assert never.figures["answer"].value == "No"
    low = min(bars("ETH"), key=lambda bar: bar.low).low
    always = await ask(of(coins("ETH"), where=where(PRICE, "gt", low), time=JUNE, operation=Check()))
    assert (always.figures["answer"].value, always.figures["days"].value) == ("Yes", 30)


async def test_a_state_of_some_days_is_neither_there_nor_absent() -> None:
    states = [WORLD.history.days.trend_daily("ETH", bar.open_ms) for bar in bars("ETH")]
    up = sum(state is not None and state.state == "UP" for state in states)
    assert 0 < up < 30
    found = await ask(of(coins("ETH"), where=UP, time=JUNE, operation=Check()))
    assert (found.figures["answer"].value, found.figures["days"].value) == ("On some days", up)
    for subject, kind in ((coins("ETH", "SOL"), "one-coin"), (coins(NEW), "unknown-value")):
        early = Between(JUNE.start_ms, JUNE.start_ms + 5 * DAY_MS, "then")
        refused = await WORLD.ask(of(subject, where=UP, time=early, operation=Check()))
        assert refused.kind == kind


async def test_a_span_that_no_measure_is_taken_over_is_refused_and_not_dropped() -> None:
    for operation in (List(), Count(), Rank("most", 3)):
        assert (await WORLD.ask(of(ALL, PRICE, where=UP, time=days(7), operation=operation))).kind == "not-over"
    assert (await WORLD.ask(of(ALL, where=UP, time=JUNE, operation=Count()))).kind == "not-over"
    gained = All((where(change(), "gt", 0.0), UP))
    assert (await WORLD.ask(of(ALL, where=gained, time=days(7), operation=Count()))).kind == "count"


async def test_days_of_one_coin_are_counted_by_their_closes() -> None:
    days_of_june = bars("SOL", JUNE.start_ms - DAY_MS)
    up = sum(later.close > before.close for before, later in pairwise(days_of_june))
    daily = where(change(days(1)), "gt", 0.0)
    result = await ask(of(coins("SOL"), where=daily, time=JUNE, operation=Count()))
    assert (result.kind, result.figures["days"].value, result.figures["of"].value) == ("count_days", up, 30)
    level = bars("SOL")[7].close
    above = where(PRICE, "ge", level)
    result = await ask(of(coins("SOL"), where=above, time=JUNE, operation=Count()))
    assert result.figures["days"].value == sum(bar.close >= level for bar in bars("SOL"))
    result = await ask(of(coins("SOL"), where=above, operation=Count()))
    every = WORLD.history.days.bars("SOL")
    assert result.figures["of"].value == len(every)
    assert result.figures["days"].value == sum(bar.close >= level for bar in every)


async def test_states_of_one_coin_are_counted_by_the_day() -> None:
    result = await ask(of(coins("SOL"), where=UP, time=days(10), operation=Count()))
    states = WORLD.history.days.states("SOL", TODAY_MS - 10 * DAY_MS, TODAY_MS)
    assert result.figures["days"].value == sum(state.trend_daily == "UP" for state in states)


async def test_days_are_counted_of_one_coin_with_a_condition() -> None:
    assert (await WORLD.ask(of(coins("SOL", "BTC"), where=UP, time=JUNE, operation=Count()))).kind == "one-coin"
    early = Between(TODAY_MS - 900 * DAY_MS, TODAY_MS - 800 * DAY_MS, "long ago")
    assert (await WORLD.ask(of(coins("SOL"), where=UP, time=early, operation=Count()))).kind == "unknown-value"
    assert (await WORLD.ask(of(coins("SOL"), where=UP, time=early, operation=When("first")))).kind == "unknown-value"
    assert (await WORLD.ask(of(coins("SOL", "BTC"), where=UP, operation=When("first")))).kind == "one-coin"


async def test_the_first_day_on_which_a_condition_held() -> None:
    every = WORLD.history.days.bars("BTC")
    level = every[200].close
    first = next(bar.open_ms for bar in every if bar.close >= level)
    result = await ask(of(coins("BTC"), where=where(PRICE, "ge", level), operation=When("first")))
    assert (result.kind, result.figures["began"].value) == ("first", first)
    assert result.figures["since"].value == every[0].open_ms
    assert (await ask(of(coins("BTC"), where=where(PRICE, "gt", 1e9), operation=When("first")))).kind == "never"


async def test_the_highest_close_is_no_high() -> None:
    close = Measure("close")
    top = max(bars("BTC"), key=lambda bar: bar.close)
    result = await ask(of(coins("BTC"), close, time=JUNE, operation=Extreme("max")))
    assert headline(result) == (top.close, top.open_ms)
    above = where(close, "gt", top.close)
    result = await ask(of(coins("BTC"), where=above, time=JUNE, operation=Check()))
    assert (result.figures["answer"].value, result.figures["days"].value) == ("No", 0)
    last = await ask(of(coins("BTC"), Measure("close", JUNE)))
    assert last.rows[0].values[0] == bars("BTC")[-1].close


async def test_the_mean_price_of_a_span_is_no_course() -> None:
    result = await ask(of(coins("BTC"), Measure("price", mean=True), time=JUNE))
    closes = [bar.close for bar in bars("BTC")]
    assert result.rows[0].values[0] == pytest.approx(sum(closes) / len(closes))


async def test_distances_are_from_the_bound_of_the_span_to_the_price_asked_for() -> None:
    price = (await ask(of(coins("PEPE"), PRICE))).rows[0].values[0]
    low, high = min(bar.low for bar in bars("PEPE")), max(bar.high for bar in bars("PEPE"))
    subject = coins("PEPE")
    rise = await ask(of(subject, Measure("from_low", JUNE)))
    assert rise.rows[0].values == pytest.approx(((price / low - 1) * 100, low))
    fall = await ask(of(subject, Measure("from_high", JUNE)))
    assert fall.rows[0].values == pytest.approx(((price / high - 1) * 100, high))
    then = await ask(of(coins("PEPE"), Measure("from_low", JUNE), time=day(31)))
    assert then.rows[0].values == pytest.approx(((bars("PEPE")[-1].close / low - 1) * 100,))
    early = Between(TODAY_MS - 900 * DAY_MS, TODAY_MS - 800 * DAY_MS, "long ago")
    assert (await WORLD.ask(of(coins("PEPE"), Measure("from_low", early)))).kind == "unknown-value"
