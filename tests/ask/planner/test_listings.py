"""What single data routes answer: which parameters they are called with, and which rows are shown."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from service.ask.data_services import Tool
from service.ask.planner.result import Result
from service.ask.query import Query, Route, Subject
from service.ask.routes import LISTS, ROUTES
from service.clock import DAY_MS, HOUR_MS, iso
from service.wire.envelope import Answer
from service.wire.offers import OFFERS
from service.wire.queries import NoParameters
from service.wire.tools import RecentQuery
from tests.ask.planner.asked import JUNE, L1, SERVICE, THIS_WEEK, coins, day, days, instant, of
from tests.ask.planner.world import COINS, NOW_MS, TODAY_MS, World, tool

_PARAMETERS = {offer.id: offer.parameters for offer in OFFERS} | {
    "wallets.recent": RecentQuery,
    "billing.quota": NoParameters,
}


class Service:
    """Tools that note what they are called with; arguments are validated as the routes validate them."""

    def __init__(self, **answers: Any) -> None:
        self.called: list[Mapping[str, Any]] = []
        self.tools = [self._tool(id_.replace("__", "."), answer) for id_, answer in answers.items()]

    def _tool(self, id_: str, answer: Any) -> Tool:
        def run(query: Any) -> Any:
            self.called.append({name: value for name, value in msgspec.to_builtins(query).items() if value is not None})
            return answer

        return tool(id_, _PARAMETERS[id_], run)

    async def ask(self, query: Query) -> Result:
        return await World(self.tools).ask(query)


def asked(topic: str, subject: Subject = SERVICE, args: dict[str, str] | None = None, **rest: Any) -> Query:
    return of(subject, operation=Route(topic, args or {}), **rest)


def alert(symbol: str, ago_ms: int) -> Mapping[str, Any]:
    return {"asset": symbol, "triggerZone": "hot", "fundingAtTrigger": 50.0, "firedAt": iso(NOW_MS - ago_ms)}


ALERTS = {"events": [alert("SOL", HOUR_MS), alert("ETH", 3 * DAY_MS)], "meta": {"total": 57}}


def test_every_list_names_a_tool_and_every_topic_is_known() -> None:
    assert {topic.tool for topic in LISTS.values()} <= _PARAMETERS.keys()
    assert len(set(ROUTES)) == len(ROUTES)


async def test_alerts_of_all_coins_of_one_and_since_a_day() -> None:
    service = Service(funding__alerts=ALERTS)
    result = await service.ask(asked("alerts"))
    assert [row.subject for row in result.rows] == ["SOL", "ETH"]
    assert result.rows[0].values == ("hot", 50.0, NOW_MS - HOUR_MS)
    assert (result.figures["count"].value, result.total, result.shown) == (57, 57, 10)
    await service.ask(asked("alerts", coins("SOL"), {"limit": "3"}))
    result = await service.ask(asked("alerts", time=THIS_WEEK))
    assert service.called == [
        {"limit": 50},
        {"limit": 50, "symbol": "SOL"},
        {"limit": 50, "since": iso(THIS_WEEK.start_ms)},
    ]


async def test_options_leave_rows_of_every_page() -> None:
    events = [
        {**alert("SOL", HOUR_MS), "clearedAt": None},
        {**alert("ETH", HOUR_MS), "triggerZone": "very-hot", "clearedAt": None},
        {**alert("BTC", HOUR_MS), "clearedAt": iso(NOW_MS)},
    ]
    pages = iter([{"events": events[:1], "meta": {"total": 3, "next_cursor": "b"}}, {"events": events[1:], "meta": {}}])
    world = World([tool("funding.alerts", _PARAMETERS["funding.alerts"], lambda _: next(pages))])
    result = await world.ask(asked("alerts", args={"zone": "hot,very-hot", "state": "open"}))
    assert [row.subject for row in result.rows] == ["SOL", "ETH"]
    assert result.figures["count"].value == 2
    pages = iter([{"events": events, "meta": {"total": 3}}])
    result = await world.ask(asked("alerts", args={"zone": "very-hot"}))
    assert [row.subject for row in result.rows] == ["ETH"]


async def test_more_rows_than_an_answer_reads_are_refused() -> None:
    pages = iter([{"events": [alert("SOL", HOUR_MS)] * 50, "meta": {"total": 9_999, "next_cursor": "b"}}] * 99)
    world = World([tool("funding.alerts", _PARAMETERS["funding.alerts"], lambda _: next(pages))])
    assert (await world.ask(asked("alerts", args={"zone": "hot"}))).kind == "too-many-rows"
    assert len([*pages]) == 79


async def test_a_topic_of_talk_is_a_parameter_and_only_one() -> None:
    service = Service(transcripts={"highlights": [], "sources": [], "meta": {"total": 0}})
    assert (await service.ask(asked("transcripts", args={"macro": "inflation"}))).kind == "list_none"
    assert service.called[0]["macro"] == "inflation"
    assert (await service.ask(asked("transcripts", args={"macro": "inflation,jobs"}))).kind == "one-at-a-time"


async def test_the_largest_transfer_of_a_token_comes_first() -> None:
    moved = {"token": "UNI", "label": "A", "direction": "in", "amount": "1", "ts": iso(NOW_MS - HOUR_MS)}
    movements = [{**moved, "amount_usd": value} for value in (5.0, None, 9.0)]
    service = Service(wallets__recent={"chainId": 1}, wallets={"movements": movements, "meta": {"total": 3}})
    result = await service.ask(asked("wallets", coins("UNI"), {"order": "largest"}))
    assert [row.values[3] for row in result.rows] == [9.0, 5.0, None]
    assert result.kind == "list_largest_movements"


async def test_coins_ahead_of_the_median_and_behind_it() -> None:
    health = {"leadership": [{"symbol": "SOL", "relative_pct": 20.0, "trend_daily": "UP"}], "laggards": []}
    service = Service(market__health=health)
    assert (await service.ask(asked("leaders"))).rows[0].values == (20.0, "UP")
    assert (await service.ask(asked("laggards"))).kind == "list_none"


async def test_rows_outside_the_time_asked_for_are_not_shown() -> None:
    service = Service(funding__alerts=ALERTS)
    result = await service.ask(asked("alerts", time=days(2)))
    assert [row.subject for row in result.rows] == ["SOL"]
    result = await service.ask(asked("alerts", time=day(3)))
    assert [row.subject for row in result.rows] == ["ETH"]
    assert result.figures["count"].value == 1
    nothing = await service.ask(asked("alerts", time=JUNE))
    assert (nothing.kind, nothing.rows) == ("list_none", ())


async def test_crossings_have_days_and_take_no_coin() -> None:
    crossing = {"direction": "UP over DOWN", "at": iso(TODAY_MS - 5 * DAY_MS), "up": 40, "down": 38}
    service = Service(market__crossing={"crossings": [crossing], "message": None})
    result = await service.ask(asked("crossings"))
    assert result.rows[0].values == (TODAY_MS - 5 * DAY_MS, 40.0, 38.0)
    assert (await service.ask(asked("crossings", time=THIS_WEEK))).kind == "list_none"
    assert (await service.ask(asked("crossings", coins("SOL")))).kind == "not-narrowed"


async def test_what_shows_say_of_a_coin_a_category_or_at_all() -> None:
    quote = {"source": "macro-hour", "publishedAt": iso(NOW_MS - HOUR_MS), "stance": "bearish", "quote": "A scare."}
    quotes = [{**quote, "speaker": "Jo"} for _ in range(5)]
    shows = [{"id": "macro-hour", "name": "Macro Hour"}]
    service = Service(transcripts={"highlights": quotes, "sources": shows, "meta": {"total": 84}})
    result = await service.ask(asked("transcripts", coins("BTC")))
    assert (len(result.rows), result.shown, result.figures["count"].value) == (3, 0, 84)
    assert result.figures["about"].value == " about BTC"
    assert (result.rows[0].subject, result.rows[0].values[3]) == ("Macro Hour", "A scare.")
    assert (await service.ask(asked("transcripts", L1))).figures["about"].value == " in Layer 1 (L1)"
    await service.ask(asked("transcripts", Subject(scope="shows", shows=("macro-hour",)), {"limit": "2"}))
    asked_for = [call for call in service.called if call["action"] == "highlights"]
    assert [{**call, "action": None} for call in asked_for] == [
        {"action": None, "coin": "BTC", "limit": 50},
        {"action": None, "sector": "Layer 1 (L1)", "limit": 50},
        {"action": None, "source": "macro-hour", "limit": 50},
    ]
    assert (await service.ask(asked("transcripts", coins("BTC", "ETH")))).kind == "one-at-a-time"


async def test_the_shows_that_are_followed() -> None:
    show = {"name": "Chain Reaction", "kind": "podcast", "episodes": 5, "lastEpisodeAt": None}
    service = Service(transcripts={"sources": [show]})
    result = await service.ask(asked("shows", args={"count": "yes"}))
    assert (result.rows[0].values, result.shown) == (("podcast", 5.0, None), 0)
    assert service.called == [{"action": "sources", "limit": 50}]
    assert (await service.ask(asked("shows", time=THIS_WEEK))).kind == "no-past-list"


MOVED = {"token": None, "label": None, "direction": "out", "amount_usd": 5e6, "amount": "394.9171", "ts": iso(NOW_MS)}
RECENT = {"chainId": 1, "total": 900, "movements": [MOVED]}


async def test_the_largest_transfers_of_some_days() -> None:
    service = Service(wallets__recent=RECENT)
    result = await service.ask(asked("wallets"))
    assert (result.rows[0].subject, result.rows[0].values[:3]) == ("unnamed", (None, "out", 5e6))
    await service.ask(asked("wallets", time=THIS_WEEK))
    await service.ask(asked("wallets", time=instant(3)))
    assert [call["days"] for call in service.called] == [1, 5, 1]
    assert (await service.ask(asked("wallets", time=JUNE))).kind == "no-past-list"


async def test_transfers_of_one_token_and_watched_wallets_that_are_named() -> None:
    service = Service(wallets__recent=RECENT, wallets={"movements": [MOVED], "watchlist": [], "meta": {"total": 1}})
    result = await service.ask(asked("wallets", coins("LINK")))
    assert result.rows[0].values[2] == 394.9171
    call = service.called[-1]
    assert (call["action"], call["contract"]) == ("movements", "0x514910771af9ca656af840dff83e8264ecf986ca")
    address = "0x98B159301CDF2b197A7f9F39d9924B3A83A0952C"
    await service.ask(asked("wallets", Subject(coins=("LINK",), wallets=(address,))))
    assert service.called[-1]["address"] == address
    assert (await service.ask(asked("wallets", Subject(scope="wallets", wallets=(address,))))).kind == "unknown-value"
    assert (await service.ask(asked("wallets", coins("SOL")))).kind == "no-contract"
    nobody = await service.ask(asked("wallets", args={"watchlist": "yes"}))
    assert (nobody.kind, nobody.figures["noun"].value) == ("list_none", "watched wallets")


async def test_a_watched_wallet_with_the_tokens_that_moved() -> None:
    address = "0x98B159301CDF2b197A7f9F39d9924B3A83A0952C"
    tokens = [
        {"symbol": "LINK", "contract": address, "movements": 3, "last_moved_at": iso(NOW_MS)},
        {"symbol": None, "contract": address, "movements": 1, "last_moved_at": iso(NOW_MS - HOUR_MS)},
    ]
    wallet = {"address": address, "label": None, "kind": None, "tokens": tokens}
    service = Service(wallets={"watchlist": [wallet], "meta": {"total": 1}})
    subject = Subject(scope="wallets", wallets=(address,))
    result = await service.ask(asked("wallets", subject))
    assert [(row.subject, row.values) for row in result.rows] == [
        ("LINK", (3, NOW_MS)),
        ("0x98B1…952C", (1, NOW_MS - HOUR_MS)),
    ]
    assert (result.figures["subject"].value, result.figures["count"].value) == ("0x98B1…952C", 2)
    assert service.called == [{"action": "watchlist", "address": address, "limit": 50}]
    assert (await service.ask(asked("wallets", subject, {"count": "yes"}))).shown == 0
    assert (await service.ask(asked("wallets", subject, time=THIS_WEEK))).kind == "no-past-list"
    listed = await service.ask(asked("wallets", args={"watchlist": "yes"}))
    assert listed.rows[0].subject == "0x98B1…952C"


async def test_what_no_route_counts_is_not_counted() -> None:
    nobody = Answer({"chainId": None, "total": 0, "movements": []}, NOW_MS, counted=False)
    world = World([Tool("wallets.recent", RecentQuery, lambda _, __: nobody)])
    assert not (await world.ask(asked("wallets"))).counted
    assert (await Service(wallets__recent=RECENT).ask(asked("wallets"))).counted


async def test_the_newest_changes_of_regimes() -> None:
    turned = {"symbol": "ETH", "regime": "neutral", "firedAt": iso(TODAY_MS - 2 * DAY_MS)}
    service = Service(regime={"signals": [turned]})
    result = await service.ask(asked("regime_signals", coins("ETH")))
    assert (result.kind, result.rows[0].values) == ("list_regime_signals", ("neutral", TODAY_MS - 2 * DAY_MS))
    assert service.called == [{"action": "signals", "symbol": "ETH"}]


@pytest.mark.parametrize(
    ("said", "sent"),
    [("stocks", "equity"), ("metal", "metal"), ("commodities", "commodity"), ("rwa", None), ("", None)],
)
async def test_types_of_real_world_assets_by_what_people_call_them(said: str, sent: str | None) -> None:
    gold = {"symbol": "GOLD", "name": "Gold", "assetType": "metal"}
    service = Service(rwa__assets={"count": 1, "assets": [gold]})
    result = await service.ask(asked("assets", args={"type": said}))
    assert result.rows[0].values == ("Gold", "metal")
    assert service.called[0].get("type") == sent


async def test_an_unknown_type_is_refused() -> None:
    assert (await Service().ask(asked("assets", args={"type": "energy"}))).kind == "no-such-type"


async def test_categories_coins_and_the_coins_of_a_category() -> None:
    names = await World().ask(asked("categories"))
    assert (names.figures["names"].value, names.figures["others"].value) == ("Layer 1 (L1), Meme", "")
    some = await World().ask(asked("categories", args={"limit": "1"}))
    assert (some.figures["names"].value, some.figures["others"].value) == ("Layer 1 (L1)", " and others")
    listed = await World().ask(asked("coins"))
    assert listed.figures["count"].value == len(COINS)
    ranks = [row.values[0] for row in listed.rows]
    assert ranks == sorted(ranks, key=lambda rank: float(rank or 0))
    coin = {"symbol": "BTC", "price": 1.0, "change_24h": None, "market_cap": 2.0, "trend_daily": "UP"}
    service = Service(category__info={"coins": [coin]})
    result = await service.ask(asked("categories", L1))
    assert (result.kind, service.called) == ("list_category", [{"name": "Layer 1 (L1)"}])


async def test_regime_positions_and_walk_forward_trades() -> None:
    position = {
        "symbol": "SOL",
        "direction": "long",
        "entryDate": "2025-07-01",
        "entryPrice": 9.0,
        "currentPrice": None,
    }
    trades = {"total": 0, "wins": 0, "losses": 0, "winRate": None, "meanReturnPct": None}
    service = Service(regime={"positions": [position], "summary": trades})
    result = await service.ask(asked("regime_trades"))
    assert result.rows[0].values[1] == TODAY_MS - 24 * DAY_MS
    assert (await service.ask(asked("regime_trades", coins("ETH")))).kind == "no_trades"
    outcome = {
        "symbol": "SOL",
        "strategy": "trend-following",
        "direction": "long",
        "exitDate": "2025-07-01",
        "returnPct": 3.0,
    }
    service = Service(walkforward={"outcomes": [outcome], "summary": None, "meta": {"total": 1}})
    assert (await service.ask(asked("walkforward", coins("SOL")))).kind == "list_outcomes"
    assert service.called == [{"action": "outcomes", "symbol": "SOL", "limit": 50}]
    assert (await service.ask(asked("walkforward"))).kind == "no-run"


async def test_what_the_news_say_of_one_coin_or_category_now() -> None:
    service = Service(
        coin__risk={"sentiment_stance": "neutral", "sentiment_summary": "Calm."},
        category__sentiment={"stance": "euphoria", "summary": "Loud."},
    )
    coin = await service.ask(asked("news", coins("BTC")))
    assert (coin.figures["subject"].value, coin.figures["said"].value) == ("BTC", "Calm.")
    sector = await service.ask(asked("news", L1))
    assert (sector.figures["stance"].value, sector.figures["said"].value) == ("euphoria", "Loud.")
    assert (await service.ask(asked("news"))).kind == "news-of-one"
    assert (await service.ask(asked("news", coins("BTC"), time=day(3)))).kind == "news-of-one"
    silent = Service(coin__risk={"sentiment_stance": None, "sentiment_summary": None})
    assert (await silent.ask(asked("news", coins("BTC")))).kind == "unknown-value"


@pytest.mark.parametrize("mean", [1.5, None])
async def test_how_far_a_signal_can_be_trusted(mean: float | None) -> None:
    tested = {"sampleSize": 40, "meanReturnPct": mean}
    found = {"signal_type": "trend-following", "reliability_tier": "PRELIMINARY", "validations": tested}
    service = Service(signal__quality=found)
    result = await service.ask(asked("quality", coins("SOL")))
    assert (result.figures["tier"].value, result.figures["value"].value) == ("preliminary", mean or "")
    assert service.called == [{"asset": "SOL", "signal_type": "trend-following"}]
    assert (await service.ask(asked("quality"))).kind == "one-coin"


async def test_breadth_account_prices_and_routes() -> None:
    shares = {"UP": 50.0, "HODL": 20.0, "DOWN": 30.0}
    health = {
        "date": "2025-07-24",
        "universe": 80,
        "breadth_pct": shares,
        "trends": {"UP": 40, "HODL": 16, "DOWN": 24},
        "hasExtremes": False,
        "velocity": None,
        "regime": None,
    }
    result = await Service(market__health=health).ask(asked("breadth"))
    figures = {name: figure.value for name, figure in result.figures.items()}
    assert (figures["up"], figures["up_share"], figures["regime"], figures["extreme"]) == (40, 50.0, "not known", "")
    turning = await Service(market__health={**health, "velocity": -2.5, "hasExtremes": True}).ask(asked("breadth"))
    assert (turning.figures["velocity"].value, turning.figures["extreme"].value) == (-2.5, "yes")
    told = await Service(market__health=health).ask(asked("breadth", args={"told": "extreme"}))
    assert (told.figures["answer"].value, figures["answer"]) == ("No", "")
    service = Service()
    assert (await service.ask(asked("breadth", time=day(3)))).kind == "no-past-list"
    quota = {"limit": 5, "used": 2, "remaining": 3, "period": "day"}
    service = Service(billing__tier={"tier": "free"}, billing__quota=quota)
    assert (await service.ask(asked("account"))).figures["left"].value == 3
    service = Service(billing__tier={"tier": "free"}, billing__quota={**quota, "period": "lifetime"})
    assert (await service.ask(asked("account"))).figures["period"].value == "in all"
    service = Service(billing__tier={"tier": "pro"}, billing__quota={**quota, "limit": None})
    assert (await service.ask(asked("account"))).kind == "unlimited"
    routes = [
        {"id": "question", "path": "/api/cli", "price_usdc": "0.05"},
        {"id": "x", "path": "/x", "price_usdc": "0.005"},
    ]
    service = Service(manifest={"routes": routes, "free": {"starter": 10, "perDay": 1}})
    prices = await service.ask(asked("pricing"))
    assert [(row.subject, row.values[0]) for row in prices.rows] == [("$0.005", 1), ("$0.05", 1)]
    assert prices.figures["question"].value == 0.05
    assert [row.subject for row in (await service.ask(asked("manifest"))).rows] == ["/api/cli", "/x"]


async def test_the_categories_of_a_coin() -> None:
    world = World(SOL={"categories": ["Layer 1 (L1)", "Meme"]}, ETH={"categories": None})
    found = await world.ask(asked("categories", coins("SOL")))
    assert (found.figures["count"].value, found.figures["names"].value) == (2, "Layer 1 (L1), Meme")
    assert (await world.ask(asked("categories", coins("ETH")))).kind == "unknown-value"
    assert (await world.ask(asked("categories", coins("SOL", "ETH")))).kind == "unknown-value"
    world = World(SOL={"categories": ["Layer 1 (L1)", "Meme"]}, ETH={"categories": ["Layer 1 (L1)"]})
    both = await world.ask(asked("categories", coins("SOL", "ETH")))
    assert [(row.subject, row.values) for row in both.rows] == [
        ("SOL", ("Layer 1 (L1), Meme",)),
        ("ETH", ("Layer 1 (L1)",)),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject",
    [coins("SOL"), L1, Subject(scope="all", excluded=("BTC",)), Subject(scope="service", assets=("xyz:GOLD",)),
     Subject(scope="shows", shows=("macro",)), Subject(scope="wallets", wallets=("0xabc",))],
)  # fmt: skip
async def test_names_that_a_topic_does_not_take_are_refused_and_not_dropped(subject: Subject) -> None:
    for topic in ("breadth", "crossings", "coins", "account", "pricing", "manifest", "assets"):
        assert (await World().ask(asked(topic, subject))).kind == "not-narrowed"


@pytest.mark.parametrize("topic", ["coins", "categories", "quality", "account", "pricing", "breadth", "walkforward"])
async def test_times_that_a_topic_does_not_take_are_refused_and_not_dropped(topic: str) -> None:
    assert (await World().ask(asked(topic, time=THIS_WEEK))).kind == "no-past-list"
