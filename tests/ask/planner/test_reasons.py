"""Why, screens, records and definitions: from what the routes answer."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import pytest
from msgspec.structs import replace

from service.ask.data_services import Tool
from service.ask.planner.result import Result
from service.ask.query import All, Between, Explain, Measure, Record, Screen, Why, Window
from service.clock import DAY_MS, HOUR_MS, iso
from service.wire.queries import HealthQuery, OfSymbol, RegimeQuery, SignalQuery, WalkforwardQuery
from service.wire.tools import Definition, GlossaryQuery
from service.wire.transcripts import TranscriptsQuery
from tests.ask.planner.asked import (
    ALL,
    L1,
    MARKET,
    PRICE,
    SERVICE,
    TREND,
    VERDICT,
    change,
    coins,
    day,
    hours,
    of,
    where,
)
from tests.ask.planner.world import CATEGORIES, COINS, NOW_MS, TODAY_MS, World, tool

SAID = "Accumulation: the price fell while the news were good."


def quoted(show: str, ago_ms: int, stance: str = "bullish") -> Mapping[str, Any]:
    return {"source": show, "publishedAt": iso(NOW_MS - ago_ms), "stance": stance}


def talk(*quotes: Mapping[str, Any], said: str | None = SAID) -> list[Tool]:
    def heard(query: TranscriptsQuery) -> Any:
        return {"highlights": [one for one in quotes if query.since is None or one["publishedAt"] >= query.since]}

    risk: dict[str, Any] = {"sentiment_summary": said, "_stale_fields": []}
    return [tool("coin.risk", OfSymbol, lambda _: risk), tool("transcripts", TranscriptsQuery, heard)]


def cells(result: Result) -> dict[str, Any]:
    return {row.subject: row.values[0] for row in result.rows}


async def test_why_tells_what_moved_beside_a_coin() -> None:
    world = World(
        talk(quoted("chain-reaction", HOUR_MS), quoted("macro-hour", 3 * DAY_MS)),
        SOL={"change_24h": -6.0, "funding_apr": -40.0, "verdict": "bear", "trend_daily": "DOWN", "volume_24h_usd": 1e9,
             "categories": ["Layer 1 (L1)"]},
    )  # fmt: skip
    result = await world.ask(of(coins("SOL"), operation=Why()))
    found = cells(result)
    moves = {one: row.change_24h for one, row in world.table.items() if row.change_24h is not None}
    assert found["return"] == -6.0
    assert found["the median of all coins"] == median(moves.values())
    assert found["the median of Layer 1 (L1)"] == median(
        moves[one] for one in CATEGORIES["Layer 1 (L1)"] if one in moves
    )
    usual = median(bar.volume_usd for bar in world.history.days.bars("SOL")[-30:])
    assert found["volume against the usual"] == pytest.approx(1e9 / usual * 100)
    assert (found["funding"], found["daily trend"], found["verdict"]) == (-40.0, "DOWN", "bear")
    assert result.figures["said"].value == SAID
    assert result.figures["quotes"].value == f"chain-reaction (bullish, {iso(NOW_MS)[:10]})"
    assert (result.figures["moved"].value, result.figures["value"].value) == ("fell", 6.0)
    assert result.notes == ("said", "quotes", "coincidence")


async def test_why_of_a_past_time_knows_nothing_later() -> None:
    world = World(talk(quoted("late-show", HOUR_MS), quoted("early-show", 20 * DAY_MS)))
    result = await world.ask(of(coins("SOL"), operation=Why(), time=day(20)))
    bars = world.history.days.bars("SOL", TODAY_MS - 21 * DAY_MS, TODAY_MS - 19 * DAY_MS)
    assert cells(result)["return"] == pytest.approx((bars[1].close / bars[0].close - 1) * 100)
    known = world.history.days.bars("SOL", TODAY_MS - 49 * DAY_MS, TODAY_MS - 19 * DAY_MS)
    usual = median(bar.volume_usd for bar in known)
    assert cells(result)["volume against the usual"] == pytest.approx(known[-1].volume_usd / usual * 100)
    assert "said" not in result.figures
    assert str(result.figures["quotes"].value).startswith("early-show")
    assert result.figures["moved"].value in {"rose", "fell"}


async def test_why_of_a_change_over_a_window_is_told_of_this_window() -> None:
    world = World(talk())
    month = change(Window(30, "d", "30 days"))
    result = await world.ask(of(coins("SOL"), month, operation=Why()))
    told = await world.ask(of(coins("SOL"), month))
    assert cells(result)["return"] == told.rows[0].values[0]


async def test_why_over_hours_compares_with_bitcoin() -> None:
    world = World(talk(said=None), SOL={"change_24h": 0.0})
    result = await world.ask(of(coins("SOL"), operation=Why(), time=hours(3)))
    assert set(cells(result)) >= {"return", "BTC"}
    assert result.notes == ("coincidence",)
    still = await world.ask(of(coins("SOL"), operation=Why()))
    assert still.figures["moved"].value == "did not move"
    world = World(talk(), SOL={"categories": ["Nowhere"], "change_24h": 2.0})
    CATEGORIES["Nowhere"] = []
    try:
        empty = await world.ask(of(coins("SOL"), operation=Why()))
    finally:
        del CATEGORIES["Nowhere"]
    assert "the median of Nowhere" not in cells(empty)


async def test_why_is_asked_of_one_coin_that_moved() -> None:
    assert (await World().ask(of(coins("SOL", "ETH"), operation=Why()))).kind == "one-coin"
    assert (await World().ask(of(MARKET, operation=Why()))).kind == "one-coin"
    world = World(SOL={"change_24h": None})
    assert (await world.ask(of(coins("SOL"), operation=Why()))).kind == "unknown-value"
    world = World(talk(), SOL={"volume_24h_usd": None})
    assert "volume against the usual" not in cells(await world.ask(of(coins("SOL"), operation=Why())))
    world.history.coins.pop("SOL")
    assert "volume against the usual" not in cells(await world.ask(of(coins("SOL"), operation=Why())))
    recent = Between(TODAY_MS, None, "today")
    assert (await World(talk()).ask(of(coins("SOL"), operation=Why(), time=recent))).refusal is None


def horizon(days_: int, says: str) -> Mapping[str, Any]:
    return {"days": days_, "hit_rate": 0.6, "base_rate": 0.5, "mean_move_pct": 1.5, "days_seen": 200, "says": says}


RULES = [
    {"id": "trend-daily", "value": "UP", "contribution": 0.5, "flips_at": "HODL"},
    {"id": "funding-level", "value": 12.5, "contribution": -0.25, "flips_at": 21.9},
]


def signals(*, backtested: bool = True, verdicts: Mapping[str, str] | None = None) -> Tool:
    def signal(query: SignalQuery) -> Any:
        week = horizon(7, f"A week of {query.symbol}.")
        rows = {"all_coins": [horizon(1, "A day."), week], "this_coin": [{**week, "says": "This one alone."}]}
        record = {"backtested": rows if backtested else None, "live": rows}
        verdict = (verdicts or {}).get(query.symbol, "bull")
        told = {"verdict": verdict, "score": 1.5, "confidence": "low", "rules": RULES, "record": record}
        return {**told, "evidence": ["It is bull.", "Confidence is low: half of it points one way."]}

    return tool("signal", SignalQuery, signal)


@pytest.mark.parametrize(("side", "wanted"), [("long", {"strong-bull", "bull"}), ("short", {"strong-bear", "bear"})])
async def test_a_screen_ranks_verdicts_of_a_side_by_their_score(side: Any, wanted: set[str]) -> None:
    world = World([signals()])
    result = await world.ask(of(ALL, operation=Screen(side)))
    expected = {one: row.score for one, row in world.table.items() if row.verdict in wanted and row.score is not None}
    sign = -1 if side == "long" else 1
    order = sorted(expected, key=lambda one: (sign * expected[one], one))
    assert [row.subject for row in result.rows] == order
    assert result.figures["record"].value == f"A week of {order[0]}."
    assert result.notes == ("record", "no_advice")
    assert set(result.unknown) == {one for one, row in world.table.items() if row.verdict is None}


async def test_a_screen_can_be_narrowed_and_find_nobody() -> None:
    world = World([signals()], **{one: {"verdict": "bull", "score": 1.0} for one in COINS})
    result = await world.ask(of(L1, operation=Screen("long"), where=where(PRICE, "gt", 0.0)))
    assert [row.subject for row in result.rows] == sorted(CATEGORIES["Layer 1 (L1)"])
    nobody = await world.ask(of(ALL, operation=Screen("short")))
    assert (nobody.kind, nobody.notes, nobody.rows) == ("nobody", ("no_advice",), ())


@pytest.mark.parametrize("backtested", [True, False])
async def test_the_record_of_verdicts(backtested: bool) -> None:
    world = World([signals(backtested=backtested)])
    result = await world.ask(of(SERVICE, operation=Record("verdicts")))
    assert [row.subject for row in result.rows] == ["1 day", "7 days"]
    assert result.rows[1].values == (0.6, 0.5, 1.5, 200)
    assert result.figures["says"].value == "A week of BTC."
    assert result.figures["kind"].value == ("backtested" if backtested else "live")
    a_day = await world.ask(of(SERVICE, operation=Record("verdicts"), time=hours(24)))
    assert a_day.figures["says"].value == "A day."
    assert (await world.ask(of(SERVICE, operation=Record("verdicts"), time=day(3)))).kind == "no-past-list"
    assert (await world.ask(of(SERVICE, operation=Record("regime"), time=hours(24)))).kind == "no-past-list"


async def test_the_record_of_one_verdict_and_of_one_coin() -> None:
    bears = sorted(one for one, row in World().table.items() if row.verdict == "strong-bear")
    world = World([signals(verdicts={bears[0]: "strong-bear"})])
    strong = await world.ask(of(ALL, operation=Record("verdicts", "strong-bear")))
    assert (strong.figures["says"].value, strong.figures["of"].value) == (f"A week of {bears[0]}.", "")
    named = await world.ask(of(coins("ETH"), operation=Record("verdicts", "bull")))
    assert (named.figures["says"].value, named.figures["of"].value) == ("This one alone.", " of ETH")
    other = await world.ask(of(coins("ETH"), operation=Record("verdicts", "bear")))
    assert (other.kind, other.figures["verdict"].value) == ("other-verdict", "bull")
    assert (await world.ask(of(coins("ETH", "SOL"), operation=Record("verdicts")))).kind == "one-coin"


async def test_why_a_verdict_is_what_it_is() -> None:
    world = World([signals()])
    result = await world.ask(of(coins("ETH"), operation=Why(), where=where(VERDICT, "eq", "strong-bear")))
    figures = {name: figure.value for name, figure in result.figures.items()}
    assert figures == {"subject": "ETH", "verdict": "bull", "score": 1.5, "confidence": "low"}
    assert [(row.subject, row.values) for row in result.rows] == [
        ("trend daily", ("UP", 0.5, "HODL")),
        ("funding level", (12.5, -0.25, 21.9)),
    ]
    assert (await world.ask(of(coins("ETH"), VERDICT, operation=Why(), time=day(3)))).kind == "not-past"
    none: dict[str, Any] = {"verdict": "insufficient-evidence", "score": None, "rules": []}
    silent = World([tool("signal", SignalQuery, lambda _: none)])
    assert (await silent.ask(of(coins("ETH"), VERDICT, operation=Why()))).kind == "unknown-value"


async def test_why_a_verdict_differs_from_a_trend_is_told_by_its_rules() -> None:
    both = All((where(VERDICT, "eq", "neutral"), where(TREND, "eq", "UP")))
    result = await World([signals()]).ask(of(coins("ETH"), operation=Why(), where=both))
    assert [row.subject for row in result.rows] == ["trend daily", "funding level"]
    why_score = of(coins("ETH"), Measure("score"), Measure("low"), operation=Why(), where=where(TREND, "eq", "UP"))
    assert (await World([signals()]).ask(why_score)).kind == "why_verdict"


async def test_why_a_confidence_is_low_is_told_by_what_it_follows_from() -> None:
    said = await World([signals()]).say(
        of(coins("ETH"), operation=Why(), where=where(Measure("confidence"), "eq", "low"))
    )
    assert "Confidence is low: half of it points one way." in said


def regimes(signals: Sequence[Mapping[str, Any]]) -> list[Tool]:
    told = {"signals": signals, "market": {"regime": "risk-on", "since": iso(TODAY_MS - 9 * DAY_MS)}}
    health = {"universe": 80, "trends": {"UP": 40, "HODL": 16, "DOWN": 24}}
    return [tool("regime", RegimeQuery, lambda _: told), tool("market.health", HealthQuery, lambda _: health)]


async def test_why_a_regime_is_what_it_is() -> None:
    turn = {"regime": "neutral", "firedAt": iso(TODAY_MS - DAY_MS), "reasons": ["It fell.", "So it turned neutral."]}
    world = World(regimes([turn]))
    why_eth = of(coins("ETH"), operation=Why(), where=where(Measure("regime"), "eq", "neutral"))
    assert (await world.say(why_eth)).startswith(
        "ETH's regime turned neutral on 2025-07-24. It fell. So it turned neutral."
    )
    why_market = of(MARKET, operation=Why(), where=where(Measure("market_regime"), "eq", "risk-on"))
    assert (await world.say(why_market)).startswith("The market's regime has been risk-on since 2025-07-16. 40 of 80")
    for query in (why_eth, why_market):
        assert (await world.ask(replace(query, time=day(3)))).kind == "not-past"
    silent = World([*talk(), *regimes([])], ETH={"change_24h": 1.0})
    assert (await silent.ask(why_eth)).kind == "why"


async def test_why_says_first_whether_the_state_asked_about_holds() -> None:
    world = World(talk(), SOL={"trend_daily": "DOWN", "change_24h": -3.0, "funding_apr": -9.0})
    result = await world.ask(of(coins("SOL"), operation=Why(), where=where(TREND, "eq", "UP")))
    assert result.figures["premise"].value == "SOL's daily trend is DOWN, not UP. "
    assert [row.subject for row in result.rows].count("daily trend") == 1
    paid = await world.ask(of(coins("SOL"), operation=Why(), where=where(Measure("funding"), "lt", 0.0)))
    assert paid.figures["payer"].value in {"longs", "shorts"}
    query = of(coins("SOL"), operation=Why(), where=where(Measure("funding"), "lt", 0.0))
    assert (await world.say(query)).startswith("SOL's funding is -9.00 % a year: shorts pay longs. SOL fell")
    fell = await world.ask(of(coins("SOL"), operation=Why(), where=where(change(), "lt", 0.0)))
    assert fell.figures["premise"].value == ""


async def test_the_record_of_regime_trades() -> None:
    summary = {"total": 14, "wins": 6, "losses": 8, "winRate": 0.43, "meanReturnPct": 10.2}
    trades = {
        "ETH": {"summary": summary, "trades": [{"returnPct": 40.5}, {"returnPct": -9.25}]},
        "SOL": {"trades": [], "summary": {**summary, "total": 0, "winRate": None, "meanReturnPct": None}},
    }
    world = World([tool("regime", RegimeQuery, lambda query: trades[str(query.symbol)])])
    result = await world.ask(of(coins("ETH"), operation=Record("regime")))
    assert (result.figures["count"].value, result.figures["wins"].value, result.figures["rate"].value) == (14, 6, 0.43)
    assert [result.figures[name].value for name in ("losses", "best", "worst")] == [8, 40.5, -9.25]
    assert (await world.ask(of(coins("SOL"), operation=Record("regime")))).kind == "no_trades"


def summary(strategies: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    hold = {"returnPct": 12.0, "sharpe": 0.4, "maxDrawdownPct": -60.0}
    run = {"returnPct": 8.0, "total": 90, "firstDay": "2025-01-02", "lastDay": "2025-07-24"}
    return {"summary": {**run, "strategies": strategies, "buyAndHold": hold}}


async def test_the_record_of_the_walk_forward() -> None:
    one = {"returnPct": 5.0, "total": 40, "winRate": 0.5, "maxDrawdownPct": -9.0, "sharpe": 1.1}
    strategies = [{**one, "strategy": "trend-following", "published": True}, {"strategy": "x", "published": False}]
    world = World([tool("walkforward", WalkforwardQuery, lambda _: summary(strategies))])
    result = await world.ask(of(SERVICE, operation=Record("walkforward")))
    assert [row.subject for row in result.rows] == ["trend following", "buy and hold"]
    assert (result.figures["value"].value, result.figures["base"].value) == (8.0, 12.0)
    none = World([tool("walkforward", WalkforwardQuery, lambda _: {"summary": None})])
    assert (await none.ask(of(SERVICE, operation=Record("walkforward")))).kind == "no-run"


async def test_a_definition_is_that_of_the_glossary() -> None:
    world = World(
        [tool("glossary", GlossaryQuery, lambda query: Definition(query.term, "funding", "What is paid.", []), None)]
    )
    result = await world.ask(of(SERVICE, operation=Explain("funding")))
    assert (result.figures["text"].value, result.as_of_ms) == ("What is paid.", None)
