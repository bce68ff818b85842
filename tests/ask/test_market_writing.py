"""What is written of the market as a whole, of categories, assets, strategies, words and the caller's account."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pytest

from service.ask.writing import (
    account,
    alerts,
    breadth,
    category,
    category_sentiment,
    crossings,
    definition,
    help,  # noqa: A004 - named after its intent
    pricing,
    ranking,
    regime,
    rwa,
    rwa_list,
    smalltalk,
    walkforward,
)
from service.wire.ask import Archetype, Step
from service.wire.rwa import RwaFunding
from service.wire.sentiment import CoinSentiment
from tests.ask import market_findings as found
from tests.ask.telling import PERSONAS, tell

MEMBERS = [found.member(symbol) for symbol in ("DOGE", "WIF", "PENGU", "TRUMP", "MEME", "PUMP")]
MOODS = [CoinSentiment("DOGE", "neutral", None), CoinSentiment("WIF", "exhaustion", None)]
SCORED = [CoinSentiment("DOGE", "neutral", 0.1), CoinSentiment("WIF", "euphoria", 0.3)]
TRADES = [
    found.trade(f"2026-08-{day:02}", result) for day, result in zip(range(10, 17), [-2.0] * 6 + [4.0], strict=True)
]
CROSSED = [found.crossed("UP over DOWN", found.LATER), found.crossed("DOWN over UP", found.INSTANT)]
ALERTS = [found.alert("TRUMP", 47.4135), found.alert("SOL", -22.2285, "2026-11-21T09:30:00.000Z")]
HELD = [found.held("TIA", 2.34185), found.held("HBAR", None)]

CASES: Mapping[str, tuple[ModuleType, list[Step]]] = {
    **{
        f"ranking by {by} {order}": (ranking, [found.scan(by, order)])
        for by in ("change_24h", "funding_apr", "volume_usd", "open_interest_usd", "btc_correlation", "price")
        for order in ("most", "least")
    },
    "ranking in a state": (ranking, [found.scan("change_24h", trend="DOWN", category="Meme", excluded=["BTC", "ETH"])]),
    "ranking of nothing": (ranking, [found.scan("change_24h", coins=[], count=0)]),
    "regime": (regime, [found.active(found.position("ALGO"), found.position("SOL", "short", None))]),
    "regime of many": (regime, [found.active(*(found.position(f"C{letter}") for letter in "ABCDEFGHIJKLMNOPQ"))]),
    "regime of a coin": (regime, [found.active(found.position("ALGO"), symbol="ALGO")]),
    "regime signals": (regime, [found.signals(*(found.turned(f"C{letter}") for letter in "ABCDEF"))]),
    "regime confidence": (regime, [found.confidence("ALGO", "SOL")]),
    "regime confidence of a coin": (regime, [found.confidence("SOL", symbol="SOL")]),
    "regime history": (regime, [found.history(*TRADES, current=found.position("BTC"))]),
    "breadth": (breadth, [found.health()]),
    "extreme breadth": (breadth, [found.plain_health()]),
    "crossings": (crossings, [found.crossings(*CROSSED)]),
    "no crossings": (crossings, [found.crossings()]),
    "alerts": (alerts, [found.alerts(*ALERTS, total=129)]),
    "category": (category, [found.category(*MEMBERS)]),
    "category sentiment": (category_sentiment, [found.mood(*MOODS)]),
    "asset": (rwa, [found.asset("GOLD")]),
    "assets": (rwa, [found.asset("GOLD"), found.asset("SILVER", 2)]),
    "a list of assets": (rwa_list, [found.assets("equity", "etf", "metal", "commodity", "index", "fx")]),
    "outcomes": (walkforward, [found.outcomes(found.outcome("TIA"), said=found.summary())]),
    "positions": (walkforward, [found.positions(*HELD)]),
    "decisions": (walkforward, [found.decisions(found.decided("TIA", None), found.decided("ETC", 2.0))]),
    "definition": (definition, [found.definition("carry", "open interest")]),
    "account": (account, [found.tier(), found.quota()]),
    "pricing": (pricing, [found.manifest("question", "coin.risk", "walkforward", "category.info")]),
    "help": (help, []),
    "small talk": (smalltalk, []),
}


@pytest.mark.promise("question.bound-numbers")
@pytest.mark.parametrize("persona", PERSONAS)
@pytest.mark.parametrize("case", CASES)
def test_every_figure_of_every_answer_is_one_of_a_result(case: str, persona: Archetype) -> None:
    writer, steps = CASES[case]
    told = tell(writer, *steps, persona=persona, coins=["BTC"])
    assert told.unbound == (), told.text
    assert told.paragraphs


@pytest.mark.promise("question.personas")
@pytest.mark.parametrize("case", sorted(CASES.keys() - {"definition", "small talk"}))
def test_the_main_figure_is_the_same_for_every_persona(case: str) -> None:
    writer, steps = CASES[case]
    assert len({tell(writer, *steps, persona=persona).main for persona in PERSONAS}) == 1


@pytest.mark.promise("question.personas")
def test_an_analyst_is_told_more_than_a_trader_and_only_a_newcomer_is_told_what_words_mean() -> None:
    writer, steps = CASES["alerts"]
    lengths = {persona: len(tell(writer, *steps, persona=persona).text) for persona in PERSONAS}
    assert lengths["trader"] < lengths["base"] < lengths["analyst"]
    assert lengths["base"] < lengths["explainer"]


@pytest.mark.parametrize("writer", sorted({writer for writer, _ in CASES.values()} - {help, smalltalk}, key=str))
def test_what_was_not_found_is_not_written_about(writer: ModuleType) -> None:
    assert tell(writer, persona="explainer").paragraphs == ()


@pytest.mark.parametrize(
    ("by", "order", "main", "rest"),
    [
        ("change_24h", "most", "FARTCOIN is up 7.32 % in 24 h", ", the best of 77 coins."),
        ("funding_apr", "most", "FARTCOIN's funding is +47.41 % a year", ", the highest of 77 coins. Longs pay shorts"),
        ("volume_usd", "least", "FARTCOIN's volume of the last day is $31.25M", ", the lowest of 77 coins."),
        ("open_interest_usd", "most", "FARTCOIN's open interest is $98.01M", ", the highest of 77 coins."),
        ("btc_correlation", "least", "FARTCOIN's correlation to BTC is 0.4", ", the lowest of 77 coins."),
        ("price", "most", "FARTCOIN's price is $1.1748", ", the highest of 77 coins."),
    ],
)
def test_the_first_coin_of_a_ranking_comes_first(by: str, order: str, main: str, rest: str) -> None:
    told = tell(ranking, found.scan(by, order))
    assert told.main == main
    assert rest in told.paragraphs[0]
    assert "Left out: 3 coins for which this figure is not known." in told.paragraphs


@pytest.mark.parametrize(("row", "says"), [(1, "Shorts pay longs there."), (2, "Neither side pays the other.")])
def test_who_pays_funding_is_said(row: int, says: str) -> None:
    assert says in tell(ranking, found.scan("funding_apr", coins=[found.ROWS[row]])).text


def test_a_ranking_shows_who_else_and_what_is_not_known_of_them() -> None:
    text = tell(ranking, found.scan("change_24h"), persona="analyst").text
    assert "| SOL | -1.91 % | $196.97 | 0 % | $9.11B | $2.2B | HODL | not known | not known |" in text
    assert "| SOL | -1.91 % |" in tell(ranking, found.scan("change_24h"), persona="trader").text
    assert "|" not in tell(ranking, found.scan("change_24h", coins=found.ROWS[:1], unknown=0)).text


def test_how_many_coins_are_in_a_state_comes_before_the_first_of_them() -> None:
    told = tell(ranking, found.scan("change_24h", trend="DOWN", category="Meme", excluded=["BTC", "ETH"], count=9))
    assert told.main == "9 of 80 coins in Meme are DOWN"
    assert "on the daily trend, leaving out BTC and ETH." in told.paragraphs[0]
    assert "the best of them." in told.paragraphs[0]
    one = tell(ranking, found.scan("change_24h", trend="DOWN", count=1))
    assert one.main == "1 of 80 coins is DOWN"


def test_a_ranking_without_coins_says_so() -> None:
    nothing = found.scan("change_24h", coins=[], count=0, unknown=0)
    assert tell(ranking, nothing).text == "**No coin** has that figure now: 80 were looked at."
    down = found.scan("change_24h", coins=[], count=0, unknown=0, trend="DOWN", timeframe="weekly")
    assert tell(ranking, down).text == "**No coin is DOWN on the weekly trend**, of 80 coins."


def test_the_market_s_regime_comes_first_then_what_the_rules_hold() -> None:
    told = tell(regime, *CASES["regime of many"][1])
    assert told.main == "The market is risk-on"
    assert "since 2026-08-19 (94 days), with a conviction of 51.78 %." in told.text
    assert "**17 positions** among the 80 coins looked at" in told.text
    assert "Also long, less clearly: CF, CG," in told.text


def test_a_market_in_which_nothing_is_held_is_told_without_a_table() -> None:
    told = tell(regime, found.active())
    assert "**0 positions**" in told.text
    assert "|" not in told.text


def test_a_coin_s_position_comes_before_the_market() -> None:
    told = tell(regime, found.active(found.position("SOL", "short", None), symbol="SOL"), coins=["SOL"])
    assert told.main == "SOL is risk-on"
    assert "The rules are short in SOL, entered at $0.11048 at the open of 2026-08-15 and held for 97 days" in told.text
    assert "its price now is not known." in told.text
    pending = tell(regime, found.active(found.position("SOL", entry=None), symbol="SOL"), coins=["SOL"])
    assert "entered at the open of 2026-08-15, at a price that is known when that day's bar has closed" in pending.text


def test_a_coin_that_the_rules_do_not_hold_is_said_to_be_held_neither_way() -> None:
    told = tell(regime, found.active(symbol="SOL"), coins=["SOL"])
    assert told.main == "no position in `SOL`"
    assert told.unbound == ()


def test_the_newest_turn_of_a_regime_is_told_with_its_reasons() -> None:
    told = tell(regime, *CASES["regime signals"][1])
    assert told.main == "CA turned neutral"
    assert "Why: CA's daily trend against USD is DOWN. It has been so for 2 days." in told.text
    assert "There are 6 in all; these are the newest." in told.text
    assert "Why:" not in tell(regime, *CASES["regime signals"][1], persona="trader").text


def test_turns_that_are_not_there_are_said_to_be_none() -> None:
    assert tell(regime, found.signals()).main == "No regime signal"
    assert tell(regime, found.signals(symbol="SOL"), coins=["SOL"]).main == "No regime signal of `SOL`"
    assert "|" not in tell(regime, found.signals(found.turned("SOL", "long"))).text


def test_how_sure_the_rules_are_is_told_of_a_coin_or_of_all() -> None:
    one = found.confidence("SOL", symbol="SOL")
    assert tell(regime, one).text == "**SOL is neutral**, confidence 61.81 %.\n\nOf 79 coins 43 are risk-on."
    assert tell(regime, one, persona="trader").text == "**SOL is neutral**, confidence 61.81 %."
    assert "| ALGO | neutral | 61.81 % |" in tell(regime, found.confidence("ALGO")).text
    assert tell(regime, found.confidence()).text == "**How sure the rules are:** Of 79 coins 43 are risk-on."


def test_a_regime_s_past_is_its_average_trade_and_the_newest_ones() -> None:
    told = tell(regime, found.history(*TRADES))
    assert told.main == "BTC returned -0.55 % a trade on average"
    assert "after costs and funding. Of these, 1 won (14.29 %) and 6 did not." in told.text
    assert "The rules hold no position in BTC now." in told.text
    assert told.text.index("2026-08-16") < told.text.index("2026-08-15")
    assert "2026-08-11" not in told.text
    assert "2026-08-10" in tell(regime, found.history(*TRADES), persona="analyst").text


def test_a_coin_whose_regime_never_traded_is_said_to_have_none() -> None:
    assert tell(regime, found.history()).main == "BTC has had no closed trade"


def test_breadth_is_told_in_counts_and_shares() -> None:
    told = tell(breadth, found.health())
    assert told.main == "33 of 80 coins are UP (41.25 %)"
    assert "26 DOWN (32.5 %) and 21 HODL (26.25 %), by daily trend at the close of 2026-11-20." in told.text
    assert "has changed by -5.34 points a day" in told.text
    assert "regime is **risk-on**, for 94 days." in told.text
    assert "What does not agree: ETH is DOWN. SOL is DOWN." in told.text
    assert "ACE +130.89 points, DYDX +130.89 points and ME +130.89 points." in told.text
    assert "NOT +130.89 points" in tell(breadth, found.health(), persona="analyst").text


def test_an_extreme_is_said_and_what_is_not_known_is_left_out() -> None:
    assert "That is an extreme: 75 % are DOWN." in tell(breadth, found.plain_health()).text
    told = tell(breadth, found.health(velocity=None, regime_age_days=None, divergences=[], leadership=[], laggards=[]))
    assert "points a day" not in told.text
    assert "regime is **risk-on**." in told.text
    assert len(told.paragraphs) == 2


def test_the_newest_crossing_comes_first() -> None:
    told = tell(crossings, found.crossings(*CROSSED))
    assert told.main == "UP over DOWN at the close of 2026-11-21"
    assert "41 UP and 31 DOWN of 80 coins, after 30 UP and 36 DOWN the day before" in told.text
    assert "| DOWN over UP | 2026-08-19 | 41 | 31 |" in told.text
    assert "|" not in tell(crossings, found.crossings(*CROSSED), persona="trader").text
    assert "|" not in tell(crossings, found.crossings(CROSSED[0])).text


def test_no_crossing_is_an_answer() -> None:
    assert tell(crossings, found.crossings()).main == "No crossing."


def test_the_newest_alert_comes_first() -> None:
    told = tell(alerts, found.alerts(*ALERTS, total=129))
    assert told.main == "TRUMP funding turned hot: +47.41 % a year"
    assert "at 2026-11-21 08:00 UTC; it has not cleared." in told.text
    assert "| SOL | very-cold | -22.23 % | 2026-11-21 08:00 UTC | 2026-11-21 09:30 UTC |" in told.text
    assert "There are 129 alerts in all" in told.text


def test_an_alert_that_has_cleared_says_when() -> None:
    told = tell(alerts, found.alerts(ALERTS[1], symbol="SOL"))
    assert "it cleared at 2026-11-21 09:30 UTC." in told.text
    assert "|" not in told.text


def test_as_many_alerts_as_were_asked_for_are_shown() -> None:
    many = found.alerts(*(found.alert(f"C{letter}", 20.0) for letter in "ABCDEFGH"))
    assert "| CE |" in tell(alerts, many).text
    assert "| CF |" not in tell(alerts, many).text
    assert "| CG |" in tell(alerts, many, limit=7).text


def test_no_alerts_are_an_answer() -> None:
    assert tell(alerts, found.alerts()).text == "**No funding alerts** are on record: funding entered no unusual zone."
    told = tell(alerts, found.alerts(symbol="BTC", since=found.LATER), coins=["BTC"])
    assert told.text == "**No funding alerts** for `BTC` since 2026-11-21 08:00 UTC: funding entered no unusual zone."


def test_a_category_is_its_change_its_trends_and_its_coins() -> None:
    told = tell(category, found.category(*MEMBERS))
    assert told.main == "Layer 1 (L1) is up 1.87 % in 24 h"
    assert "Market cap $3.4T; 24 h volume $1.38B." in told.text
    assert "**6 coins**, by daily trend: 4 UP, 5 HODL and 2 DOWN." in told.text
    assert "Ahead: DOGE +1.81 %. Behind: WIF +1.81 %." in told.text
    assert "Also in it: PUMP." in told.text
    assert (
        "| PUMP | $0.2383 | +1.81 % | HODL | 4 days | Pump | $35.8B |"
        in tell(category, found.category(*MEMBERS), persona="analyst").text
    )


def test_a_category_of_which_little_is_known_says_so() -> None:
    told = tell(category, found.category(change_24h=None, leaders=["DOGE"], laggards=[]))
    assert told.text.startswith("**Layer 1 (L1)**: its change in a day is not known.")
    assert "Ahead: DOGE." in told.text
    assert "Behind" not in told.text
    assert "|" not in told.text


def test_a_category_s_mood_is_its_stance_its_score_and_what_it_rests_on() -> None:
    told = tell(category_sentiment, found.mood(*MOODS))
    assert told.main == "Meme: neutral"
    assert "score -0.15 on a scale from minus one to one (+0.19 in 24 h)." in told.text
    assert "8 items by coindesk and decrypt, the newest of 2026-11-21 08:00 UTC." in told.text
    assert "| WIF | exhaustion | no items |" in told.text
    assert "DOGE" not in told.text
    assert "| DOGE | neutral | no items |" in tell(category_sentiment, found.mood(*MOODS), persona="analyst").text
    assert "| WIF | euphoria | +0.3 |" in tell(category_sentiment, found.mood(*SCORED)).text


def test_a_mood_without_news_says_that_nothing_was_written() -> None:
    told = tell(category_sentiment, found.mood(score=None, slope_24h=None, mentions=0, sources=[], newest_at=None))
    assert "without a score: nothing was written about it lately." in told.text
    assert "None of its coins stands out." in told.text
    assert "how it changed is not known" in tell(category_sentiment, found.mood(slope_24h=None)).text


def test_an_asset_is_its_price_its_trends_and_what_its_perpetual_pays() -> None:
    told = tell(rwa, found.asset("GOLD"))
    assert told.main == "Gold (GOLD) trades at $3,294.1"
    assert "on hyperliquid, up 1.12 % in 24 h." in told.text
    assert "GOLD's trend is **UP** daily and **DOWN** weekly." in told.text
    assert "**longs pay shorts 5.48 %** a year; the asset itself pays none." in told.text
    assert "settled every hour;" in tell(rwa, found.asset("GOLD"), persona="analyst").text
    slow = found.asset("GOLD", funding=RwaFunding(1e-4, 8.0, 10.95))
    assert "settled every 8 hours;" in tell(rwa, slow, persona="analyst").text


@pytest.mark.parametrize(
    ("apr", "says"),
    [(-5.475, "shorts pay longs 5.48 %"), (0.0, "neither side pays"), (None, "is not known now.")],
)
def test_funding_of_an_asset_s_perpetual_says_who_pays(apr: float | None, says: str) -> None:
    for persona in ("base", "trader"):
        told = tell(rwa, found.asset("GOLD", funding=RwaFunding(None, 1.0, apr)), persona=persona)
        assert says in told.text
        assert told.unbound == ()


def test_an_asset_without_a_price_says_so_and_one_without_a_change_says_no_change() -> None:
    assert tell(rwa, found.asset("GOLD", price=None)).main == "The price of Gold (GOLD) is not known now"
    assert tell(rwa, found.asset("GOLD", change_24h=None)).paragraphs[0].endswith("$3,294.1** on hyperliquid.")


def test_a_rate_of_currencies_is_no_sum_of_dollars() -> None:
    told = tell(rwa, found.asset("JPY", assetType="fx", price=147.22))
    assert told.main == "Jpy (JPY) trades at 147.22"
    assert told.unbound == ()


def test_several_assets_stand_beside_each_other() -> None:
    told = tell(rwa, found.asset("GOLD"), found.asset("SILVER", 2))
    assert "| SILVER | Silver | $3,294.1 | +1.12 % | UP | DOWN | +5.48 % | $48.68M |" in told.text


def test_assets_are_listed_by_type() -> None:
    told = tell(rwa_list, found.assets("metal", "fx", "metal", count=24))
    assert told.main == "24 real-world assets"
    assert "- **Metals**: The metal (AMETAL) and The metal (AMETAL)" in told.text
    assert "These are the 3 most traded." in told.text
    one = tell(rwa_list, found.assets("metal", type="metal")).text
    assert one == "**1 metal** trades here as perpetuals, the most traded first: The metal (AMETAL)."


def test_a_type_without_assets_is_said_to_have_none() -> None:
    assert tell(rwa_list, found.assets()).text == "**None** is listed now."
    assert tell(rwa_list, found.assets(type="fx")).text == "**None** is listed among the currencies now."


def test_the_strategies_result_stands_beside_doing_nothing() -> None:
    told = tell(walkforward, found.outcomes(found.outcome("TIA"), said=found.summary()))
    assert told.main == "Out of sample, the strategies together returned 25.72 %"
    assert "holding the same coins returned **165.25 %**." in told.text
    assert "Sharpe ratio **1** (holding: 1.41), deepest drawdown 25.43 % (holding: 56.98 %)." in told.text
    assert "43.76 % of 1,579 trades won. The mean trade returned +1.19 %." in told.text
    assert "of 162 trials would show by luck, is **8.59 %**." in told.text
    assert "funding-reversion is not published: It saw the future." in told.text
    assert "TIA" not in told.text


def test_who_minds_the_risk_is_told_how_much_of_the_funding_is_known() -> None:
    for persona, is_told in (("base", False), ("risk-manager", True), ("analyst", True)):
        told = tell(walkforward, found.outcomes(said=found.summary()), persona=persona)  # type: ignore[arg-type]
        assert ("Funding was recorded for 20.77 % of the days" in told.text) is is_told


def test_a_coin_s_outcomes_come_before_those_of_all() -> None:
    of_tia: dict[str, Any] = {"symbol": "TIA"}
    told = tell(walkforward, found.outcomes(found.outcome("TIA"), said=found.summary(None), **of_tia), coins=["TIA"])
    assert told.main == "27 positions in `TIA`"
    assert "| TIA | trend-following | long | 2026-10-21 | 2026-11-20 | +9.93 % | -1.35 % | stop |" in told.text
    assert "deflated" not in told.text
    full = tell(walkforward, found.outcomes(said=found.summary(), **of_tia), coins=["TIA"], persona="analyst")
    assert full.main == "No position in `TIA` has ended"
    assert "| all |" in full.text
    assert tell(walkforward, found.outcomes(**of_tia)).paragraphs == (
        "**No position in `TIA` has ended** in the walk-forward run.",
    )


def test_open_positions_are_counted_and_shown() -> None:
    told = tell(walkforward, found.positions(*HELD))
    assert told.text.startswith("**27 open positions** in the walk-forward run of 2026-11-21; the newest:")
    assert "| TIA | short | trend-following | 2026-11-20 | $2.0592 | $2.0442 | +0.73 % |" in told.text
    full = tell(walkforward, found.positions(*HELD), persona="analyst").text
    assert "+0.73 % | $2.34185 |" in full
    assert "+0.73 % | none |" in full


@pytest.mark.promise("question.honest")
def test_no_records_are_not_taken_for_no_opportunities() -> None:
    told = tell(walkforward, found.positions())
    assert told.text == "**No open positions** in the newest run: so the engine holds none; the market may offer some."
    assert tell(walkforward, found.decisions()).text == "**No walk-forward signals** in the newest run."
    nothing = found.decisions(meta=found.NOT_RUN)
    assert tell(walkforward, nothing).text == "**No walk-forward records yet.** The engine has written nothing yet."
    assert tell(walkforward, found.decisions(meta=found.SILENT)).text == "**No walk-forward records yet.**"


def test_the_newest_decision_comes_first() -> None:
    told = tell(walkforward, found.decisions(found.decided("TIA", None), found.decided("ETC", 2.0)))
    assert told.main == "Newest walk-forward signal: TIA short"
    assert "| TIA | short | funding-reversion | 2026-11-20 | to come |" in told.text
    assert "There are 27 signals in all" in told.text
    all_of_them = found.decisions(*(found.decided(f"C{number}", 2.0) for number in range(27)))
    assert "in all" not in tell(walkforward, all_of_them, persona="analyst").text


def test_a_word_is_defined_in_the_glossary_s_own_words() -> None:
    told = tell(definition, found.definition("carry", "open interest"))
    assert told.paragraphs == ("Funding is what longs and shorts pay.", "See also: carry and open interest.")
    assert len(tell(definition, found.definition()).paragraphs) == 1
    assert len(tell(definition, found.definition("carry"), persona="trader").paragraphs) == 1


@pytest.mark.parametrize(
    ("quota", "first"),
    [
        ({}, "**9 of 10 questions left** of the starter."),
        ({"period": "day", "limit": 1, "remaining": 0}, "**0 of 1 question left** today."),
        ({"tier": "pro", "limit": None, "used": 7}, "**No limit** on the pro tier: 7 questions asked today."),
    ],
)
def test_what_is_left_comes_before_the_tier(quota: dict[str, Any], first: str) -> None:
    told = tell(account, found.tier(), found.quota(**quota))
    assert told.paragraphs == (first, "You are on the **free** tier: every account begins with it.")


def test_when_a_question_becomes_free_again_is_said() -> None:
    spent = found.quota(remaining=0, resets_at="2026-11-22T00:00:00.000Z")
    assert "The next free question comes at 2026-11-22 00:00 UTC." in tell(account, spent).paragraphs
    assert len(tell(account, spent, persona="trader").paragraphs) == 1


def test_a_tier_says_whence_it_is_and_when_it_ends() -> None:
    told = tell(account, found.tier("grant", found.LATER))
    assert told.text == "You are on the **free** tier: it was granted to the account, until 2026-11-21 08:00 UTC."
    assert "a wallet of the account's brings it" in tell(account, found.tier("wallet")).text


def test_the_price_of_a_question_comes_first_then_every_route_by_its_price() -> None:
    told = tell(pricing, found.manifest("question", "coin.risk", "walkforward", "category.info"))
    assert told.main == "A question in plain words costs $0.05"
    assert "**10 free questions**, then has 1 a day." in told.text
    assert "- **$0.05**: `question`, `walkforward`\n- **$0.005**: `coin.risk`, `category.info`" in told.text
    assert "free 1 and pro without a limit." in told.text
    assert "Tiers" not in tell(pricing, found.manifest("question"), persona="trader").text
    assert "in plain words" not in tell(pricing, found.manifest("coin.risk")).text


def test_help_shows_words_that_work_and_claims_no_forecasts() -> None:
    text = tell(help).text
    assert "“funding on DOGE”" in text
    assert "no forecasts and no advice" in text
    assert "no advice" not in tell(help, persona="trader").text


def test_a_greeting_is_answered_with_what_can_be_asked() -> None:
    assert "“help”" in tell(smalltalk).text
    assert tell(smalltalk, persona="trader").text.startswith("Ask me about")
