"""Questions that are refused, and why."""

import pytest

from service.ask.describe import describe
from service.ask.understanding import Refusal
from tests.ask.banks.case import BANKS, cases
from tests.ask.parser import reading as r

_REFUSED = {
    "what will btc be tomorrow?": "forecast",
    "will ETH reach 5000?": "forecast",
    "price of BTC in 2031": "forecast",
    "weather in berlin": "out-of-scope",
    "buy 2 btc for me": "out-of-scope",
    "execute: market buy 0.5 BTC-PERP": "out-of-scope",
    "buy 0.5 btc": "out-of-scope",
    "could you purchase some ETH": "out-of-scope",
    "go long on SOL": "out-of-scope",
    "ETH price, then liquidate": "unread",
    "submit a limit sell of 3 ETH": "out-of-scope",
    "price of the king": "out-of-scope",
    "rsi of btc": "not-available",
    "liquidations of ETH": "not-available",
    "smith wallets": "not-available",
    "price of FOOCOIN": "unknown-symbol",
    "price of SLO": "unknown-symbol",
    "was kostet bitcoin heute?": "language",
    "precio de bitcoin hoy": "language",
    "цена биткоина": "language",
    "?": "ambiguous",
    "what's the price?": "ambiguous",
    "is it up?": "ambiguous",
    "compare it with BTC": "ambiguous",
    "btc not": "unread",
    "btc 42": "unread",
    "sol funding 7": "unread",
    "second highest price": "unread",
    "open interest as % of market cap for ETH": "unread",
    "break even of 2 ETH bought at 3500": "not-available",
    "wallet transfers of USDC this week": "unread",
    "which two coins are most correlated": "unread",
    "which pair of coins moves together the most": "unread",
    "which coins are most correlated with each other": "unread",
    "which coin has the worst sentiment and why": "unread",
    "which coin pays the most to be long": "unread",
    "monthly return of BTC last year": "unread",
    "how did breadth change this week": "unread",
    "is the trend of most memes up": "unread",
    "top 3 gainers | are any of them memes?": "unread",
    "price of SOL at noon": "unread",
    "BTC price yesterday morning": "unread",
    "what did BTC do this morning": "unread",
    "change of SOL last night": "unread",
    "change of SOL this morning": "unread",
    "is BTC closer to its 30 day high or low": "unread",
    "how did the verdict of SOL change since last week": "unread",
    "coins at their 30 day low": "unread",
    "strongest meme against ETH": "unread",
    "top coins by volume, numbers 2 and 5k": "unread",
    "coins ranked 3 and 5% by volume": "unread",
    "open interest of BTC and ETH, summed": "unread",
    "does SOL have more volume than BTC or ETH?": "unread",
    "open interest over market cap for SOL as a percentage": "unread",
    "which divergences from BTC do you flag?": "unread",
    "any podcast talk about gold?": "unread",
    "which categories do you know, and how many": "unread",
    "funding of BTC is 10%, is that high?": "unread",
    "is BTC funding normal, is it high?": "unread",
    "price of foocoin and BTC 42": "unknown-symbol",
    "compare BTC with Flarnium": "unknown-symbol",
    "compare BTC, ETH and Flarnium": "unknown-symbol",
    "staking yield of SOL": "not-available",
}


@pytest.mark.parametrize(("question", "reason"), _REFUSED.items(), ids=_REFUSED)
def test_a_refusal_says_its_kind(question: str, reason: str) -> None:
    understood = r.read(question)
    assert understood.refusal is not None, understood.queries
    assert understood.refusal.reason == reason
    assert understood.queries == ()


def test_the_words_that_were_not_read_are_named_as_they_are_written() -> None:
    refusal = r.read("SOL Funding 7").refusal
    assert refusal is not None
    assert refusal.words == ("7",)


@pytest.mark.parametrize(
    ("question", "instead"),
    {
        "SOL Funding 7": "SOL, funding",
        "what is the price of SOL for 3 cups?": "SOL, price",
        "all coins, how many with 3 cups": "all coins, how many",
        "btc 42": "BTC, overview",
        "for 3 cups": None,
    }.items(),
)
def test_a_question_that_is_not_read_whole_suggests_what_was_read_of_it(question: str, instead: str | None) -> None:
    refusal = r.read(question).refusal
    assert refusal is not None
    assert (refusal.reason, refusal.instead) == ("unread", instead)


@pytest.mark.slow
def test_what_a_refusal_suggests_is_read_as_it_is_suggested() -> None:
    refused = [
        refusal
        for bank in BANKS
        for case in cases(bank)
        if (refusal := r.read(" | ".join(case.ask)).refusal) and refusal.instead
    ]
    assert len(refused) > 20
    for refusal in refused:
        assert refusal.instead is not None
        assert [describe(query) for query in r.read(refusal.instead).queries] == [refusal.instead]


def test_what_was_refused_is_no_context_for_the_next_message() -> None:
    assert r.read("price of btc | SOL funding 7 | over the last 7 days") == r.read(
        "price of btc | over the last 7 days"
    )


def test_an_unknown_name_comes_with_what_is_spelled_like_it() -> None:
    refusal = r.read("price of SLO").refusal
    assert refusal is not None
    assert refusal.words == ("SLO",)
    assert "SOL" in refusal.candidates


@pytest.mark.parametrize(
    ("question", "lot"),
    {
        "I hold 500 kPEPE": "kPEPE",
        "I bought 100 kPEPE at $0.01": "kPEPE",
        "short kPEPE from 0.012 what is my profit": "kPEPE",
        "how many kPEPE is $100": "kPEPE",
        "500 kPEPE-PERP in usd": "kPEPE PERP",
        "Is kPEPE above 0.012?": "kPEPE",
        "is the low of kPEPE over 7 days below 0.012?": "kPEPE",
        "kPEPE between 0.01 and 0.02?": "kPEPE",
        "When was 1000PEPE last below 0.01?": "1000PEPE",
        "days kPEPE closed above 0.01 in the last month": "kPEPE",
        "is BTC above 5? | and 1000PEPEUSDT?": "1000PEPEUSDT",
    }.items(),
)
def test_an_amount_or_a_price_of_a_thousand_coins_is_refused(question: str, lot: str) -> None:
    assert r.read(question).refusal == Refusal("per-coin", (lot,), ("PEPE",))


@pytest.mark.parametrize(
    "question",
    [
        "price of {}",
        "did {} change by more than 5%?",
        "$100 in {} a month ago, what is it worth now",
    ],
)
def test_other_questions_about_a_thousand_coins_are_those_about_the_coin(question: str) -> None:
    understood = r.read(question.format("kPEPE"))
    assert understood.refusal is None
    assert understood == r.read(question.format("PEPE"))


def test_an_unknown_name_beside_a_known_one_is_told() -> None:
    understood = r.read("price of foocoin and btc")
    assert understood.queries == (r.value("BTC", "price"),)
    assert understood.unknown == ("foocoin",)


def test_the_language_of_a_question_is_told() -> None:
    assert r.read("was kostet bitcoin heute?").language == "de"


def test_a_word_the_service_cannot_measure_is_no_obstacle_in_a_helping_verb() -> None:
    r.assert_reads("do you support the price of BTC?", [r.value("BTC", "price")])


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("RSI 4H of btc", "RSI"),
        ("what is the MACD of eth?", "MACD"),
        ("hash rate of bitcoin", "hash rate"),
        ("rank coins by total value locked", "total value locked"),
        ("liquidation heatmap of sol", "liquidation heatmap"),
        ("btc ETF inflows yesterday", "ETF inflows"),
        ("circulating supply of ADA", "circulating supply"),
        ("funding of btc in basis points", "basis points"),
        ("fully diluted valuation of WLD", "fully diluted"),
    ],
)
def test_a_refusal_names_the_words_of_what_is_not_held(question: str, words: str) -> None:
    assert r.read(question).refusal == Refusal("not-available", (words,))
