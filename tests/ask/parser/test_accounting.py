"""What a message says is held by what it was read as, or the message is refused."""

import pytest

from service.ask import query as q
from service.ask.parser.condition_tree import tests_in as all_tests
from tests.ask.parser import reading as r

DROPPED = {
    "Which L1 has the lowest funding, and what was its funding 24 hours ago?": "24 hours ago",
    "how is the market breadth but only those not in a downtrend": "not",
    "coins with at least $10m of 74h volume": "74h",
    "SOL price now after fees": "fees",
    "BTC price per fortnight": "fortnight",
    "weighted average funding": "weighted",
    "top 5 bleeders over 24 hours": "bleeders",
    "which coins are worth more than 2 billion dollars": "2 billion dollars",
    "coins whose sentiment is capitulation, and separately those in distribution": "distribution",
    "the highest volume and lowest funding among L1s": "lowest",
    "of AAVE, curve and DYDX which dropped the most this week?": "curve",
    "coins whose shorts pay above 20%": "20%",
    "early investors of solana": "early",
    "doge and its moonshot": "moonshot",
    "ETH? price of BTC": "eth",
    "price of BTC? strongest over 7 days?": "strongest",
    "what has more volume - BTC or ETH": "more volume",
    "2 ETH in dollars | and BTC?": "btc",
    "price of btc and eth, and the mark": "the mark",
}
"""Questions, and a word that no answer would have taken into account."""

NARROWED = (
    "is ETH overbought?",
    "is BTC undervalued right now",
    "top gainers in euros",
    "ETH price in yen",
    "how much is 2 BTC worth in euros",
    "coins at a new 30-day high",
    "volume change of ETH this week",
    "open interest change of BTC over 24h",
    "which coin's funding dropped most",
    "increase in open interest of SOL",
    "high btc correlation (under 0.35)",
    "bottom 5 gainers",
    "did DOGE beat SHIB over 7 days with funding below -3%",
    "how did past bull calls turn out with funding below -3%",
    "where would I earn the most by being long",
    "where do shorts pay the least",
    "coins below their volume of 30 days ago",
    "delete my account",
    "please close my account",
    "cancel my subscription",
)
"""Questions for figures that are not kept, or that contradict themselves."""


@pytest.mark.parametrize(("question", "word"), DROPPED.items())
def test_a_piece_that_no_query_holds_refuses_the_question(question: str, word: str) -> None:
    refusal = r.read(question).refusal
    assert refusal is not None
    assert word in " ".join(refusal.words)


@pytest.mark.parametrize("question", NARROWED)
def test_a_figure_that_is_not_kept_is_refused(question: str) -> None:
    assert r.read(question).refusal is not None


def test_a_word_that_a_follow_up_does_not_read_refuses_it() -> None:
    assert r.read("how did BTC do over 30 days | was ETH better after fees?").refusal is not None
    assert r.read("how did BTC do over 30 days | was ETH better?").refusal is None


def test_the_frame_of_a_trend_is_kept_in_a_later_clause() -> None:
    queries = r.read("BTC price, and whats the weekly trend").queries
    assert [one.frame for query in queries for one in query.measures if one.name == "trend"] == ["weekly"]


def test_the_worst_performers_are_the_lowest() -> None:
    r.assert_reads("worst 3 performers over 7 days", [r.rank(r.change(r.WEEK), 3, "least")])


def test_a_venue_beside_a_coin_is_no_second_coin() -> None:
    r.assert_reads("ETH funding on Hyperliquid", [r.value("ETH", "funding")])
    r.assert_reads("price of Hyperliquid", [r.value("HYPE", "price")])


@pytest.mark.parametrize(
    "question",
    [
        "price of AVAX 7 days ago and today",
        "which coins had the best October 2026? top 5 by return from the September 30 close to the October 31 close",
        "the best PoW coin this week",
        "BTC volume in the last 24 hours",
        "coins above their price of October 5",
        "compare the two: BTC, ETH",
        "ETH funding a week ago (7 days)",
        "highest price SOL went to in October",
    ],
)
def test_what_is_said_in_other_words_is_held(question: str) -> None:
    assert r.read(question).refusal is None


def test_a_percentage_of_money_is_held_by_its_positions() -> None:
    assert r.read("I put $1000 30 days ago into BTC 40% and ETH 60%, what is it worth now").refusal is None


@pytest.mark.parametrize(
    "question",
    [
        "return of ETH in BTC",
        "coins above \u20ac100",
        "coins between #10 and #20 by market cap",
        "is ETH among the best performers this week",
        "how has fear and greed changed",
        "funding of BTC vs last month's average",
        "how long did SOL's last downtrend last",
    ],
)
def test_a_figure_in_another_unit_or_of_another_past_is_refused(question: str) -> None:
    assert r.read(question).refusal is not None


def test_the_window_behind_a_list_of_conditions_is_that_of_each() -> None:
    where = r.read("coins with a change above 5% and negative funding over 7 days").queries[0].where
    assert [test.measure.over for test in all_tests(where)] == [r.WEEK, r.WEEK]
    r.assert_reads("funding in BTC and ETH", [r.value("BTC ETH", "funding")])


@pytest.mark.parametrize(
    "question",
    [
        "price of SOL on Uniswap",
        "4h trend of SOL",
        "trend of total market cap",
        "coins that entered an uptrend yesterday",
        "coins up three days in a row",
        "coins with rising volume",
        "is the market cap of ETH growing",
        "when did the regime rules go short ALGO and at what price",
        "the momentum of ETH",
    ],
)
def test_a_course_that_is_not_known_is_refused(question: str) -> None:
    assert r.read(question).refusal is not None


def test_a_heading_is_no_request_of_its_own() -> None:
    r.assert_reads("ARB or OP... give price and volume of each", [r.value("ARB OP", "price", "volume")])


def test_a_top_gainer_behind_a_coin_is_one_of_all_coins() -> None:
    ranked = r.rank(r.change(r.WEEK), 1)
    r.assert_reads("price of btc and also who is the top gainer over 7 days", [r.value("BTC", "price"), ranked])


@pytest.mark.parametrize("question", ["volume of the gaming category", "24h volume in the gaming sector"])
def test_a_value_of_a_category_is_its_own(question: str) -> None:
    gaming = q.Subject(scope="category", categories=("Gaming (GameFi)",), each=True)
    r.assert_reads(question, [q.Query(subject=gaming, measures=(q.Measure("volume"),))])


def test_a_word_that_says_a_measure_again_is_no_second_request() -> None:
    r.assert_reads("funding of BTC at this present rate", [r.value("BTC", "funding")], ignored=["rate"])
