"""What a careful reader would hold against an answer: another amount, another time, another part than was asked for."""

from itertools import pairwise

import pytest

from service.ask.directions import payer
from service.ask.evidence import Evidence
from service.ask.generate import compose
from service.ask.grounding import check
from service.ask.writing import alerts, breadth, pricing, ranking, regime, rwa, walkforward
from service.ask.writing.assignment import Assignment
from service.ask.writing.styles import style_of
from service.wire.ask import Amount, Archetype, Classification, Entities, Intent, Period, Plan, Step
from service.wire.market import HistoricalPoint
from service.wire.tools import ScanRow
from service.wire.verdict import Claim
from tests.ask import market_findings
from tests.ask.asking import planned
from tests.ask.findings import asset, carry, found, history, risk, signal
from tests.ask.telling import PERSONAS, tell


def answer(
    intent: Intent, *steps: Step, persona: Archetype = "base", why: bool = False, entities: Entities | None = None
) -> str:
    asked = Classification(intent=intent, entities=entities or Entities(), why=why)
    evidence = Evidence(steps, asked.entities)
    text = "\n\n".join(compose(Assignment(asked, Plan(()), evidence, style_of(persona))))
    assert check(text, evidence) == (), text
    return text


def in_coins(symbol: str, notional_usd: float | None) -> Step:
    told = {"symbol": symbol, "side": "long", "days": 3.0, "price": 118234.5, "funding_apr": 10.95, "quantity": 2.0}
    told |= {"notional_usd": notional_usd, "long_usd": -212.82, "short_usd": 212.82, "_stale_fields": []}
    return found("compute.carry", {"symbol": symbol, "quantity": 2, "side": "long"}, told, id="s2")


def test_a_position_of_coins_is_not_taken_for_one_of_as_many_dollars() -> None:
    assert planned("cost of holding 2 BTC long for 10 days") == [
        ("coin.risk", {"symbol": "BTC"}),
        ("compute.carry", {"symbol": "BTC", "quantity": 2, "side": "long", "days": 10}),
    ]
    of_two = Entities(coins=("BTC",), amount=Amount(2.0, "BTC"))
    text = answer("carry", risk("BTC"), in_coins("BTC", 236469.0), entities=of_two)
    assert "**A long of 2 BTC worth $236,469 held 3 days would pay $212.82**." in text
    assert "usual one" not in text
    unpriced = answer("carry", risk("BTC"), in_coins("BTC", None), entities=of_two)
    assert "**The price of BTC is not known**" in unpriced


def test_an_amount_of_another_coin_is_said_not_to_be_taken() -> None:
    entities = Entities(coins=("BTC",), amount=Amount(3.0, "ETH"))
    assert "a usual one was taken" in answer("carry", risk("BTC"), carry("BTC", "long"), entities=entities)


def test_a_fraction_of_a_day_does_not_hide_who_pays() -> None:
    assert payer("A short of $1,500,000 in SOL held 1.5 days would pay $6,230.25") == -1
    assert payer("Shorts are out. They pay.") == 0


def test_a_month_that_something_is_asked_since_begins_with_its_first_day() -> None:
    assert planned("BTC change since june")[0][1] == {"symbol": "BTC", "count": 54, "unit": "d"}


def test_how_far_back_an_answer_reaches_is_said_where_that_is_less_than_was_asked() -> None:
    asked = Entities(period=Period(2_000, "d"))
    assert "as far back as one answer reaches" in answer("history", history("ETH", count=1_000), entities=asked)
    less = Entities(period=Period(7, "d"))
    assert "as far back" not in answer("history", history("ETH"), entities=less)
    other = Entities(period=Period(2_000, "h"))
    assert "as far back" not in answer("history", history("ETH"), entities=other)


def test_the_price_then_has_its_time_and_a_younger_one_is_not_taken_for_it() -> None:
    assert "is the close of the bar that ended at 2025-07-18 00:00 UTC." in answer("history", history("ETH"))
    step = history("SOL")
    bars = [HistoricalPoint("2025-07-20T00:00:00.000Z", 181.5, 1.0, None)]
    facts = {"priceUSD": None}
    told = {"symbol": "SOL", "count": 7, "unit": "d", "at": facts, "now": facts, "change_pct": None, "series": bars}
    text = answer("history", found("coin.historical", step.args, told))
    assert "The oldest price of SOL that is known is $181.5, at 2025-07-20 00:00 UTC." in text


def test_assets_named_beside_coins_are_told_too() -> None:
    text = answer("price", risk("BTC"), asset("GOLD", id="s2"))
    assert "**BTC is at $118,234.5**" in text
    assert "**Gold (GOLD) trades at $3,340.65**" in text


@pytest.mark.parametrize(
    ("entities", "first"),
    [
        (Entities(metric="funding_apr"), "On the perpetual on GOLD, **longs pay shorts 4.38 %** a year"),
        (Entities(term="trend"), "GOLD's trend is **UP** daily"),
        (Entities(metric="volume_usd"), "GOLD: 24 h volume $98.77M"),
        (Entities(), "**Gold (GOLD) trades at"),
    ],
)
def test_of_an_asset_what_is_asked_about_comes_first(entities: Entities, first: str) -> None:
    assert answer("rwa", asset("GOLD"), entities=entities).startswith(first)


def test_what_an_asset_did_in_a_week_is_said_not_to_be_known() -> None:
    assert "is not known here" in answer("rwa", asset("GOLD"), entities=Entities(period=Period(7, "d")))
    assert "is not known here" not in answer("rwa", asset("GOLD"), entities=Entities(period=Period(24, "h")))


def test_the_regime_of_a_coin_that_is_held_neither_way_is_told() -> None:
    assert planned("regime of SOL") == [
        ("regime", {"action": "active", "symbol": "SOL"}),
        ("regime", {"action": "confidence", "symbol": "SOL"}),
    ]
    idle = market_findings.active(symbol="SOL")
    told = tell(regime, idle, market_findings.confidence("SOL", symbol="SOL"), coins=["SOL"])
    assert told.main == "SOL is neutral"
    assert told.unbound == ()
    held = market_findings.active(market_findings.position("SOL"), symbol="SOL")
    assert tell(regime, held, market_findings.confidence("SOL", symbol="SOL")).text.count("SOL is") == 1


def test_no_positions_of_a_coin_are_not_said_of_all() -> None:
    nothing = market_findings.positions(symbol="SOL")
    assert tell(walkforward, nothing, coins=["SOL"]).main == "No open positions in `SOL`"


def test_alerts_of_the_side_that_is_asked_about_are_told_and_no_others() -> None:
    assert planned("any hot funding")[0][1]["limit"] == 200
    rows = (market_findings.alert("SOL", -22.0), market_findings.alert("TRUMP", 47.4135))
    hot = tell(alerts, market_findings.alerts(*rows, total=9), part="hot")
    assert hot.main == "TRUMP funding turned hot: +47.41 % a year"
    assert "SOL" not in hot.text
    assert "These are the newest that are hot." in hot.text
    none = tell(alerts, market_findings.alerts(rows[0], total=9), part="hot")
    assert none.paragraphs[0] == "**No hot funding alerts** are on record among the newest 1 alerts."
    assert none.paragraphs[1].startswith("The newest alert of the other side: **SOL funding turned very-cold")
    assert none.unbound == ()
    all_cold = tell(alerts, market_findings.alerts(rows[0]), part="cold")
    assert "newest that are" not in all_cold.text
    assert tell(alerts, market_findings.alerts(), part="hot").text == "**No hot funding alerts** are on record."


def test_one_strategy_is_told_where_one_is_asked_about() -> None:
    step = market_findings.outcomes(said=market_findings.summary())
    one = tell(walkforward, step, part="all")
    assert one.main == "Out of sample, all returned 25.72 %"
    assert "| --- |" not in one.text
    assert one.unbound == ()
    for part, persona in (("funding-reversion", "base"), ("all", "analyst"), ("hot", "base")):
        assert "Out of sample, the strategies together" in tell(walkforward, step, persona=persona, part=part).text  # type: ignore[arg-type]
    assert planned("sharpe of the trend following strategy")[0][0] == "walkforward"


def test_one_route_s_price_is_told_where_one_is_asked_about() -> None:
    step = market_findings.manifest("question", "coin.risk", "walkforward")
    one = tell(pricing, step, part="walkforward")
    assert one.main.startswith("A call of `walkforward` costs $")
    assert "Tiers" not in one.text
    assert planned("what does walkforward cost") == planned("price of the signal call") == [("manifest", {})]


def test_a_figure_that_the_next_coin_has_too_is_said_to_be_shared() -> None:
    rows = [ScanRow(symbol, 1.0, 1.0, 10.95, 1.0, 1.0, "UP", "DOWN", 0.5) for symbol in ("ARB", "DOT")]
    told = tell(ranking, market_findings.scan("funding_apr", coins=rows, timeframe="weekly"))
    assert ", shared with others. Longs pay shorts there." in told.text
    assert "| Weekly trend |" in told.text
    assert "Daily" not in told.text


def test_the_whole_interpretation_is_there_for_who_wants_everything() -> None:
    long = " ".join(f"Sentence {letter} says something of the market." for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    told = tell(breadth, market_findings.health(interpretation=long), persona="analyst")
    assert told.paragraphs[-1] == long
    assert told.unbound == ()
    assert long not in tell(breadth, market_findings.health(interpretation=long)).text


@pytest.mark.parametrize("persona", PERSONAS)
def test_two_lists_never_stand_beside_each_other(persona: Archetype) -> None:
    paragraphs = answer("verdict", signal("ETH"), persona=persona, why=True).split("\n\n")
    lists = [paragraph.startswith("- ") for paragraph in paragraphs]
    assert any(lists)
    assert (True, True) not in set(pairwise(lists))


@pytest.mark.parametrize("entities", [Entities(term="flips-at"), Entities(action="flip")])
def test_who_asks_what_would_flip_a_verdict_reads_that_and_not_its_reasons(entities: Entities) -> None:
    text = answer("verdict", signal("BTC"), entities=entities)
    assert "`risk.trend_daily` turned to HODL" in text
    assert "Together" not in text
    assert "What counts" not in text
    assert "What counts" in answer("verdict", signal("BTC"), entities=Entities(term="flips-at"), why=True)


@pytest.mark.parametrize("persona", ["base", "trader", "risk-manager", "explainer"])
def test_several_verdicts_are_told_briefly_with_the_rules_on_either_side(persona: Archetype) -> None:
    text = answer("verdict", signal("BTC"), signal("ETH", id="s2"), persona=persona)
    assert ("| BTC | strong-bull | +3.25 | trend-daily | funding-level |" in text) is (persona != "trader")
    assert ("BTC: Confidence is high" in text) is (persona == "risk-manager")
    assert "would change if" not in text


def test_overviews_of_analysts_and_risk_managers_hold_what_a_verdict_rests_on() -> None:
    steps = (risk("BTC"), signal("BTC", id="s2"))
    assert "| funding-level | +25.55 % |" in answer("overview", *steps, persona="analyst")
    assert "would change if:" in answer("overview", *steps, persona="risk-manager")
    assert "Confidence is high" not in answer("overview", *steps)


def test_trends_that_are_compared_come_before_prices() -> None:
    text = answer("comparison", risk("ETH"), asset("GOLD", id="s2"), entities=Entities(term="trend"))
    assert text.startswith("**ETH: daily DOWN and weekly HODL** and **GOLD: daily UP and weekly not known**.")


def test_a_track_record_tells_a_probability_that_was_earned() -> None:
    earned = Claim(3, "rises", 0.5612, 0.4967, 0.01, 0.001, 0.02, 144, "2025-07-25", "isotonic", None)
    told = answer("track-record", signal("BTC", claims=[earned]))
    assert "- rises after 3 days: 56.12 %, base rate 49.67 %" in told


def test_a_track_record_says_what_was_measured_where_no_probability_is_claimed() -> None:
    assert "What the verdict claims:\n\n- No skill shown." in answer("track-record", signal("BTC"))


def test_all_assets_keep_their_table_and_lead_with_what_is_asked() -> None:
    told = tell(rwa, market_findings.asset("GOLD"), market_findings.asset("SILVER", 2), metric="funding_apr")
    assert told.main == "longs pay shorts 5.48 %"
    assert "| SILVER |" in told.text


def test_trades_that_are_counted_are_no_price() -> None:
    fourteen = market_findings.history(*[market_findings.trade("2026-08-10", 1.0)] * 14)
    told = tell(regime, fourteen)
    assert "over 14 closed trades" in told.text
    assert told.unbound == ()


def test_a_price_that_is_not_known_now_is_not_said_to_be_unknown_then() -> None:
    facts, gone = {"priceUSD": 119052.0}, {"priceUSD": None}
    told = {"symbol": "BTC", "count": 7, "unit": "d", "at": facts, "now": gone, "change_pct": None, "series": []}
    text = answer("history", found("coin.historical", {"symbol": "BTC", "count": 7, "unit": "d"}, told))
    assert text.startswith("**BTC's price 7 days ago was $119,052**. Its price now is not known")


@pytest.mark.parametrize(
    "text",
    [
        "Longs pay shorts 10.95 % a day on BTC.",
        "Longs pay shorts 10.95 % an hour on BTC.",
        "Longs pay 10.95 % per week on BTC.",
        "The hourly funding of BTC is 10.95 %.",
        "| Coin | Funding a day |\n| --- | --- |\n| BTC | +10.95 % |",
    ],
)
def test_a_rate_of_a_year_is_not_told_as_that_of_another_time(text: str) -> None:
    evidence = Evidence([risk("BTC")])
    assert [each.text for each in check(text, evidence)] in (["10.95 %"], ["+10.95 %"])
    assert check("Longs pay shorts 10.95 % a year on BTC.", evidence) == ()
