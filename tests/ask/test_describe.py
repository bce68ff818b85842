"""The line "Read as" says every part of a query."""

import pytest

from service.ask.describe import clause_words, describe, having_words, label_of
from service.ask.query import (
    Aggregate,
    All,
    Any_,
    At,
    Between,
    Changed,
    Check,
    Compare,
    Condition,
    Convert,
    Count,
    Exists,
    Explain,
    Extreme,
    Holding,
    List,
    Measure,
    Not,
    Now,
    Portfolio,
    Position,
    Profit,
    Query,
    Rank,
    Ranked,
    Ratio,
    Record,
    Route,
    Screen,
    Share,
    Subject,
    ValueOf,
    When,
    Why,
)
from tests.ask.planner.asked import (
    ALL,
    FUNDING,
    L1,
    MARKET,
    PRICE,
    SERVICE,
    THIS_WEEK,
    TREND,
    UP,
    VOLUME,
    change,
    coins,
    day,
    days,
    hours,
    of,
    where,
)

BTC = coins("BTC")
PEPE = coins("PEPE")
_EVERY = All((UP, Not(where(FUNDING, "lt", 0.0))))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (of(L1, change(days(30)), operation=Rank("most", 5)), "coins in Layer 1 (L1), ranked by 30-day change, top 5"),
        (of(ALL, VOLUME, operation=Rank("least", 3)), "all coins, ranked by 24-hour volume, lowest 3"),
        (of(ALL, VOLUME, operation=Rank("most", 1, 1)),
         "all coins, ranked by 24-hour volume, the highest first, place 2"),
        (
            of(ALL, operation=List(), where=where(VOLUME, "gt", 2e10)),
            "all coins, where 24-hour volume above 20,000,000,000 USD, list",
        ),
        (of(BTC, PRICE), "BTC, price"),
        (of(BTC), "BTC, overview"),
        (of(coins(), PRICE), "no coin, price"),
        (of(coins("BTC", "ETH", "SOL"), PRICE, FUNDING), "BTC, ETH and SOL, price and funding"),
        (of(BTC, Measure("trend")), "BTC, daily and weekly trend"),
        (of(BTC, Measure("trend", frame="weekly")), "BTC, weekly trend"),
        (of(PEPE, PRICE), "PEPE, price"),
        (of(BTC, PRICE, time=day(30)), "BTC, price, 30 days ago"),
        (of(BTC, PRICE, time=At(0, whole_day=True, words="2025-06-01")), "BTC, price, on 2025-06-01"),
        (of(BTC, change(), time=THIS_WEEK), "BTC, change, this week"),
        (of(BTC, change(), time=Between(0, 1, "June")), "BTC, change, in June"),
        (of(BTC, change(), time=Between(0, 1, "2025-01-01 to 2025-02-01")),
         "BTC, change, from 2025-01-01 to 2025-02-01"),
        (of(BTC, change(THIS_WEEK)), "BTC, change this week"),
        (of(BTC, change(), time=hours(3)), "BTC, change, over 3 hours"),
        (of(BTC, change(hours(3))), "BTC, 3-hour change"),
        (of(BTC, Measure("correlation", days(60), other="ETH")), "BTC, 60-day correlation with ETH"),
        (of(BTC, Measure("correlation")), "BTC, correlation with BTC"),
        (of(BTC, Measure("strength", other="ETH")), "BTC, 7-day return against ETH"),
        (of(BTC, Measure("funding", days(7))), "BTC, 7-day mean funding"),
        (of(BTC, Measure("carry", side="short", notional=10_000.0)),
         "BTC, funding received by a short of 10,000 USD over a day"),
        (of(BTC, Measure("carry", days(7), notional=5.0)), "BTC, funding received by a long of 5 USD over 7 days"),
        (of(MARKET, Measure("fear_greed")), "the market, Fear & Greed index"),
        (of(Subject(scope="assets", assets=("xyz:GOLD",)), PRICE), "xyz:GOLD, price"),
        (of(Subject(scope="assets", asset_type="metal"), PRICE), "real-world assets of type metal, price"),
        (of(Subject(scope="assets"), PRICE), "real-world assets, price"),
        (of(Subject(scope="category"), PRICE), "categories, price"),
        (of(Subject(scope="category", categories=("A", "B")), PRICE), "coins in A or B, price"),
        (of(Subject(scope="category", categories=("A", "B"), together=True), PRICE), "coins in A and B, price"),
        (of(Subject(scope="all", excluded=("BTC",), excluded_categories=("Meme",)), operation=Count()),
         "all coins without BTC and Meme, how many"),
        (of(ALL, where=_EVERY, operation=List()),
         "all coins, where daily trend is UP and not (funding below 0 % a year), list"),
        (of(ALL, PRICE, where=Any_((UP, where(PRICE, "ge", 2.5))), operation=List(4)),
         "all coins, where daily trend is UP or price at least 2.5 USD, list, first 4, with price"),
        (of(ALL, where=where(Measure("verdict"), "ge", "bull"), operation=Share()),
         "all coins, where verdict is at least bull, which share"),
        (of(ALL, where=where(Measure("verdict"), "ne", "bull", at=day(3)), operation=Exists("any")),
         "all coins, where verdict is not bull 3 days ago, whether any"),
        (of(ALL, where=where(change(days(7)), "gt", to=change(days(30))), operation=List()),
         "all coins, where 7-day change above its 30-day change, list"),
        (of(ALL, where=where(PRICE, "lt", coin="BTC"), operation=List()),
         "all coins, where price below that of BTC, list"),
        (of(ALL, where=where(Measure("volatility"), "gt"), operation=List()),
         "all coins, where 30-day volatility above 0 % a year, list"),
        (of(ALL, where=Changed(TREND, "UP", THIS_WEEK), operation=Count()),
         "all coins, where daily trend changed to UP this week, how many"),
        (of(ALL, where=Changed(TREND, None, days(7)), operation=Count()),
         "all coins, where daily trend changed over 7 days, how many"),
        (of(ALL, where=Ranked(VOLUME, "most", 20), operation=Count()),
         "all coins, where among the 20 coins with the highest 24-hour volume, how many"),
        (of(ALL, where=Ranked(VOLUME, "least", 20), operation=Count()),
         "all coins, where among the 20 coins with the lowest 24-hour volume, how many"),
        (of(L1, FUNDING, where=Ranked(VOLUME, "most", 3, own=True), operation=List()),
         "coins in Layer 1 (L1), where among the 3 of them with the highest 24-hour volume, list, with funding"),
        (of(ALL, FUNDING, where=Ranked(VOLUME, "most", 1), operation=List()),
         "all coins, where the one with the highest 24-hour volume, list, with funding"),
        (of(BTC, where=UP, operation=Check()), "BTC, where daily trend is UP, yes or no"),
        (of(BTC, VOLUME, operation=Position()), "BTC, place by highest 24-hour volume"),
        (of(BTC, VOLUME, operation=Position("least")), "BTC, place by lowest 24-hour volume"),
        (of(BTC, PRICE, time=Between(0, 1, "June"), operation=Extreme("min")),
         "BTC, lowest price with its date, in June"),
        (of(ALL, PRICE, operation=Aggregate("median")), "all coins, median of price"),
        (of(coins("BTC", "ETH"), PRICE, operation=Compare("most")),
         "BTC and ETH, compared by price, the highest first"),
        (of(coins("BTC", "ETH"), PRICE, operation=Compare()), "BTC and ETH, compared by price"),
        (of(BTC, operation=Why()), "BTC, why"),
        (of(BTC, Measure("score"), operation=Why()), "BTC, why score"),
        (of(BTC, TREND, operation=When("since")), "BTC, since when daily trend"),
        (of(BTC, where=UP, operation=When("last")), "BTC, where daily trend is UP, when last"),
        (of(SERVICE, operation=Explain("funding")), "definition of funding"),
        (of(PEPE, operation=Convert(Holding(2.5, "PEPE"), ())), "2.5 PEPE in USD"),
        (of(coins("BTC", "ETH"), operation=Ratio()), "BTC and ETH, ratio of price"),
        (of(coins("BTC", "ETH"), VOLUME, operation=Ratio()), "BTC and ETH, ratio of 24-hour volume"),
        (of(BTC, operation=ValueOf((Holding(1_500_000.0, "BTC"),))), "value of 1,500,000 BTC"),
        (of(BTC, Measure("carry"), operation=ValueOf((Holding(2.0, "BTC"),))), "funding received by a long of 2 BTC"),
        (of(BTC, operation=Profit(Holding(2.0, "BTC"), 95_000.0, side="short")),
         "BTC, profit of a short of 2 BTC at 95,000 USD"),
        (of(BTC, operation=Profit(None, since=day(3))), "BTC, profit of a long opened 3 days ago"),
        (of(coins("BTC", "ETH"), operation=Portfolio((Profit(None, 5.0), Profit(None, 4.0, side="short")))),
         "BTC: profit of a long at 5 USD; ETH: profit of a short at 4 USD"),
        (of(BTC, operation=Profit(None, since=Now())), "BTC, profit of a long opened now"),
        (of(ALL, operation=Screen("long")), "all coins, those whose verdict favours a long"),
        (of(SERVICE, operation=Record("verdicts")), "how past verdicts did"),
        (of(SERVICE, operation=Route("regime_trades", {"limit": "3"})), "regime trades, limit 3"),
        (of(BTC, operation=Route("alerts")), "BTC, alerts"),
        (of(SERVICE, operation=Route("coins", {"count": "yes"})), "coins, how many"),
        (of(BTC, change(days(7)), time=days(7)), "BTC, 7-day change"),
        (of(Subject(scope="wallets", wallets=("0xabc",)), operation=Route("wallets")), "0xabc, wallets"),
        (of(Subject(scope="shows", shows=("macro",)), operation=Route("transcripts")), "macro, transcripts"),
        (of(Subject(scope="shows"), PRICE), "shows, price"),
    ],
)  # fmt: skip
def test_a_query_is_read_back(query: Query, said: str) -> None:
    assert describe(query) == said


def test_the_mean_of_a_measure_is_named() -> None:
    assert label_of(Measure("funding", mean=True)) == "mean funding"


def test_the_windows_of_conditions_are_named_too() -> None:
    wide = where(change(), "gt", to=Measure("drawdown"))
    then = where(change(), "gt", 5.0, at=day(3))
    state = Changed(Measure("trend", frame="daily"), "UP", days(7))
    query = of(ALL, where=All((Not(wide), Any_((then, Ranked(change(), "most", 5), state)))), operation=List())
    assert describe(query) == (
        "all coins, where not (24-hour change above its 365-day drawdown) and (change above 5 % 3 days ago, among the "
        "5 coins with the highest 24-hour change or daily trend changed to UP over 7 days), list"
    )


def test_both_trends_are_meant_where_none_is_named() -> None:
    assert describe(of(BTC, PRICE, Measure("trend"))) == "BTC, price and daily and weekly trend"
    assert describe(of(ALL, Measure("trend"), operation=Rank("most", 3))) == "all coins, ranked by daily trend, top 3"


def test_the_verdict_of_a_record_is_named() -> None:
    assert describe(of(BTC, operation=Record("verdicts", "bull"))) == "BTC, how past bull verdicts did"


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (UP, "a daily trend of UP"),
        (Not(UP), "a daily trend other than UP"),
        (where(Measure("verdict"), "ne", "bear"), "a verdict other than bear"),
        (where(Measure("verdict"), "gt", "neutral"), "a verdict above neutral"),
        (where(FUNDING, "lt", 0.0), "funding below 0 % a year"),
        (Not(where(FUNDING, "lt", 0.0)), "not (funding below 0 % a year)"),
        (where(Measure("change", hours(8)), "gt", 5.0), "an 8-hour change above 5 %"),
        (where(PRICE, "gt", coin="BTC"), "a price above that of BTC"),
        (where(PRICE, "gt", total=L1), "a price above the total of coins in Layer 1 (L1)"),
        (Changed(TREND, "UP", THIS_WEEK), "a daily trend that changed to UP this week"),
        (Changed(TREND, None, days(7)), "a daily trend that changed over 7 days"),
        (Ranked(VOLUME, "most", 20), "a place among the 20 coins with the highest 24-hour volume"),
        (Ranked(VOLUME, "most", 1), "the highest 24-hour volume"),
        (All((UP, Any_((where(PRICE, "gt", 5.0), UP)))),
         "a daily trend of UP and (a price above 5 USD or a daily trend of UP)"),
    ],
)  # fmt: skip
def test_what_things_have_by_a_condition(condition: Condition, words: str) -> None:
    assert having_words(condition) == words


def test_a_condition_is_a_clause() -> None:
    assert clause_words("BTC", UP, "has been") == "BTC's daily trend has been UP"
    assert clause_words("BTC", where(PRICE, "gt", 5.0), "was") == "BTC's price was above 5 USD"
    both = All((UP, where(PRICE, "gt", 5.0)))
    assert clause_words("BTC", both, "was") == "BTC, daily trend is UP and price above 5 USD, was true"
