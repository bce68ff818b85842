"""What one data route answers: alerts, talk, transfers, listings, the account; and definitions and courtesies."""

import pytest

from service.ask import query as q
from tests.ask.parser import reading as r


def _route(
    topic: str,
    subject: q.Subject = q.Subject(),  # noqa: B008 - immutable
    time: q.Time = q.Now(),  # noqa: B008 - immutable
    **args: str,
) -> q.Query:
    return q.Query(subject=subject, time=time, operation=q.Route(topic, args))


_WALLETS = q.Subject(scope="wallets", wallets=(r.WALLET,))
_SHOW = q.Subject(scope="shows", shows=("chain-reaction",))

_ROUTES: r.Rows = {
    "funding alerts": _route("alerts"),
    "5 funding alerts": _route("alerts", limit="5"),
    "funding alerts of BTC this week": _route("alerts", r.coins("BTC"), r.THIS_WEEK),
    "how many funding alerts were there today?": _route("alerts", time=r.TODAY, count="yes"),
    "uncleared very hot funding alerts": _route("alerts", state="open", zone="very-hot"),
    "who is in a very cold funding zone?": _route("alerts", zone="very-cold", state="open"),
    "who was in a very cold funding zone yesterday?": _route(
        "alerts", time=r.day("2026-11-22", "yesterday"), zone="very-cold"
    ),
    "hot or very hot alerts": _route("alerts", zone="hot,very-hot"),
    "which funds are on your watchlist?": _route("wallets", watchlist="yes", kind="fund"),
    "bearish statements on cardano": _route("transcripts", r.coins("ADA"), stance="bearish"),
    "market leadership": _route("leaders"),
    "quotes on inflation": _route("transcripts", macro="inflation"),
    "how many regime longs are open?": _route("regime_trades", side="long", state="open", count="yes"),
    "regime shorts": _route("regime_trades", side="short"),
    "biggest MKR transfer of the watched wallets": _route("wallets", r.coins("MKR"), order="largest"),
    "is breadth at an extreme?": _route("breadth", r.MARKET, told="extreme"),
    "how fast does breadth improve?": _route("breadth", r.MARKET),
    "biggest transfers of watched wallets": _route("wallets", order="largest"),
    "breadth crossings": _route("crossings"),
    "news about sol": _route("news", r.coins("SOL")),
    "walk forward results": _route("walkforward"),
    "drawdown of the backtest": _route("walkforward"),
    "regime trades": _route("regime_trades"),
    "list categories": _route("categories"),
    "which coins do you have?": _route("coins"),
    "which stocks do you have?": _route("assets", type="equity"),
    "stocks and metals": (_route("assets", type="equity"), _route("assets", type="metal")),
    "which shows do you have?": _route("shows"),
    "podcasts about ETH": _route("transcripts", r.coins("ETH")),
    "what did chain reaction say about bitcoin?": _route(
        "transcripts", q.Subject(coins=("BTC",), shows=("chain-reaction",))
    ),
    "chain reaction": _route("transcripts", _SHOW),
    f"transfers of {r.WALLET} today": _route("wallets", _WALLETS, r.TODAY),
    "my watchlist": _route("wallets", watchlist="yes"),
    "what did my watchlist move today?": _route("wallets", time=r.TODAY),
    "how is my quota?": _route("account", r.SERVICE),
    "what does a question cost?": _route("pricing", r.SERVICE),
    "whales moving BTC": _route("wallets", r.coins("BTC")),
    "wallet activity of halyard exchange": _route("wallets", _WALLETS),
    "halyard exchange": _route("wallets", _WALLETS),
}

_SCREENED: r.Rows = {
    "top 3 stocks by volume": q.Query(
        subject=q.Subject(scope="assets", asset_type="equity"),
        measures=(q.Measure("volume"),),
        operation=q.Rank("most", 3),
    ),
    "price of gold, a commodity": q.Query(
        subject=q.Subject(scope="assets", assets=("xyz:GOLD",)), measures=(q.Measure("price"),)
    ),
    "coins of the meme category in an uptrend": r.listed(r.UPTREND, r.MEMES),
    "metals up today": q.Query(
        subject=q.Subject(scope="assets", asset_type="metal"),
        where=r.holds(r.change(r.DAY), "gt", 0.0),
        operation=q.List(),
    ),
}


@pytest.mark.parametrize(("question", "queries"), r.table({**_ROUTES, **_SCREENED}))
def test_what_a_route_lists_is_asked_with_its_parameters(question: str, queries: tuple[q.Query, ...]) -> None:
    understood = r.read(question)
    assert understood.refusal is None, understood.refusal
    assert understood.queries == queries, understood.queries


_TERMS = {
    "what is funding?": ["funding"],
    "what's open interest?": ["open-interest"],
    "what is a drawdown?": ["drawdown"],
    "define drawdown": ["drawdown"],
    "explain the verdict": ["verdict"],
    "what does hodl mean?": ["hodl"],
    "what does supertrend stand for?": ["supertrend"],
    "how is breadth calculated?": ["breadth"],
    "how do you calculate btc correlation?": ["btc-correlation"],
    "what is the difference between score and confidence?": ["score", "confidence"],
    "explain funding and open interest": ["funding"],
    "what are perpetuals?": ["perpetual"],
}


@pytest.mark.parametrize(("question", "terms"), _TERMS.items(), ids=_TERMS)
def test_a_definition_is_of_the_term_asked_for(question: str, terms: list[str]) -> None:
    r.assert_reads(question, [r.done(q.Explain(term), r.SERVICE) for term in terms])


@pytest.mark.parametrize("question", ["what is the price", "why funding?", "explain the universe", "what is flibber?"])
def test_a_word_without_an_entry_has_no_definition(question: str) -> None:
    assert not any(isinstance(one.operation, q.Explain) for one in r.read(question).queries)


@pytest.mark.parametrize(
    ("text", "courtesy"),
    [
        ("hello", "greeting"),
        ("hey there!", "greeting"),
        ("thanks", "thanks"),
        ("thank you so much", "thanks"),
        ("bye", "goodbye"),
        ("what can you do?", "help"),
        ("please help", "help"),
    ],
)
def test_a_courtesy_needs_no_data(text: str, courtesy: str) -> None:
    understood = r.read(text)
    assert understood.courtesy == courtesy
    assert understood.queries == ()


def test_a_term_beside_a_coin_asks_why_its_value_is_what_it_is() -> None:
    asked = q.Query(subject=r.coins("BTC"), measures=(q.Measure("funding"),), operation=q.Why())
    r.assert_reads("explain funding of btc", [asked])
