"""A market whose every route answers, and queries that need every template."""

from collections.abc import Mapping
from typing import Any

from service.ask.query import (
    Aggregate,
    Changed,
    Check,
    Compare,
    Convert,
    Count,
    Exists,
    Explain,
    Extreme,
    Holding,
    List,
    Measure,
    Portfolio,
    Position,
    Profit,
    Query,
    Rank,
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
from service.clock import HOUR_MS, iso
from service.wire.offers import OFFERS
from service.wire.queries import NoParameters
from service.wire.tools import GlossaryQuery, RecentQuery
from tests.ask.planner.asked import (
    ALL,
    FUNDING,
    JUNE,
    L1,
    MARKET,
    PRICE,
    SERVICE,
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
    instant,
    of,
    where,
)
from tests.ask.planner.world import NEW, NOW_MS, TODAY_MS, World, tool

_OTHERS = {"wallets.recent": RecentQuery, "billing.quota": NoParameters, "glossary": GlossaryQuery}
_PARAMETERS: Mapping[str, type] = {offer.id: offer.parameters for offer in OFFERS} | _OTHERS
_HORIZON = {"hit_rate": 0.6, "base_rate": 0.5, "mean_move_pct": 1.5, "days_seen": 200, "says": "It came true."}
_OUTCOMES = [{**_HORIZON, "days": 1}, {**_HORIZON, "days": 7}]
_RECORD = {"all_coins": _OUTCOMES, "this_coin": _OUTCOMES}
_RULE = {"id": "trend-daily", "value": "UP", "contribution": 0.5, "flips_at": None}
_ADDRESS = "0x98B159301CDF2b197A7f9F39d9924B3A83A0952C"
_MOVED = {
    "token": "LINK",
    "label": "Exchange",
    "direction": "out",
    "amount_usd": 5e6,
    "amount": "394.9171",
    "ts": iso(NOW_MS),
}
_QUOTE = {"source": "macro-hour", "publishedAt": iso(NOW_MS - HOUR_MS), "stance": "bearish", "speaker": "Jo",
          "quote": "A scare."}  # fmt: skip
_RUN = {"returnPct": 8.0, "total": 90, "firstDay": "2025-01-02", "lastDay": "2025-07-24", "strategies": []}
_TRADE = {
    "symbol": "SOL",
    "strategy": "trend-following",
    "direction": "long",
    "exitDate": "2025-07-01",
    "returnPct": 3.0,
}
_ROUTE = {"id": "question", "path": "/api/cli", "price_usdc": "0.05"}

ANSWERS: Mapping[str, Any] = {
    "billing.quota": {"limit": 5, "used": 2, "remaining": 3, "period": "day"},
    "billing.tier": {"tier": "free"},
    "category.info": {
        "coins": [{"symbol": "BTC", "price": 1.0, "change_24h": 1.0, "market_cap": 2.0, "trend_daily": "UP"}]
    },
    "coin.risk": {"sentiment_stance": "neutral", "sentiment_summary": "The crowd is calm.", "_stale_fields": []},
    "funding.alerts": {
        "events": [{"asset": "SOL", "triggerZone": "hot", "fundingAtTrigger": 50.0, "firedAt": iso(NOW_MS)}],
        "meta": {"total": 1, "next_cursor": "b"},
    },
    "glossary": {"title": "funding", "text": "What longs and shorts pay."},
    "manifest": {"routes": [_ROUTE], "free": {"starter": 10, "perDay": 1}},
    "market.crossing": {"crossings": [{"direction": "UP over DOWN", "at": iso(TODAY_MS), "up": 40, "down": 38}]},
    "market.health": {
        "date": "2025-07-24",
        "universe": 80,
        "breadth_pct": {"UP": 50.0, "HODL": 20.0, "DOWN": 30.0},
        "trends": {"UP": 40, "HODL": 16, "DOWN": 24},
        "hasExtremes": False,
        "leadership": [{"symbol": "BTC", "relative_pct": 20.5, "trend_daily": "UP"}],
        "laggards": [{"symbol": "SOL", "relative_pct": -20.5, "trend_daily": "DOWN"}],
        "velocity": -2.5,
        "regime": "risk-on",
    },
    "regime": {
        "positions": [
            {"symbol": "SOL", "direction": "long", "entryDate": "2025-07-01", "entryPrice": 9.0, "currentPrice": 8.0}
        ],
        "summary": {"total": 14, "wins": 6, "losses": 8, "winRate": 0.43, "meanReturnPct": 10.2},
        "trades": [{"returnPct": 40.5}, {"returnPct": -9.25}],
        "signals": [{"symbol": "ETH", "regime": "neutral", "firedAt": iso(TODAY_MS), "reasons": ["The trend ended."]}],
        "market": {"regime": "risk-on", "since": iso(TODAY_MS)},
    },
    "rwa.assets": {"count": 1, "assets": [{"symbol": "GOLD", "name": "Gold", "assetType": "metal"}]},
    "signal": {
        "verdict": "bull",
        "score": 1.5,
        "confidence": "high",
        "rules": [_RULE],
        "record": {"backtested": _RECORD, "live": _RECORD},
    },
    "signal.quality": {
        "signal_type": "trend-following",
        "reliability_tier": "PRELIMINARY",
        "validations": {"sampleSize": 40, "meanReturnPct": 1.5},
    },
    "transcripts": {
        "highlights": [_QUOTE],
        "sources": [
            {"id": "macro-hour", "name": "Macro Hour", "kind": "podcast", "episodes": 5, "lastEpisodeAt": iso(TODAY_MS)}
        ],
        "meta": {"total": 1},
    },
    "walkforward": {
        "outcomes": [_TRADE],
        "summary": {**_RUN, "buyAndHold": {"returnPct": 12.0, "sharpe": 0.4, "maxDrawdownPct": -60.0}},
        "meta": {"total": 1},
    },
    "wallets": {
        "movements": [_MOVED],
        "watchlist": [
            {
                "address": _ADDRESS,
                "label": "Exchange",
                "kind": "exchange",
                "tokens": [{"symbol": "LINK", "contract": _ADDRESS, "movements": 3, "last_moved_at": iso(NOW_MS)}],
            }
        ],
        "meta": {"total": 1},
    },
    "wallets.recent": {"chainId": 1, "total": 1, "movements": [_MOVED]},
}


def world(answers: Mapping[str, Any] = ANSWERS, **changed: Mapping[str, Any]) -> World:
    usual: dict[str, Mapping[str, Any]] = {
        "BTC": {"price": 118_234.5, "change_24h": 1.25, "change_7d": 3.0, "funding_apr": 10.95, "trend_daily": "UP",
                "verdict": "bull", "score": 2.0, "volume_24h_usd": 2.5e9, "categories": ["Layer 1 (L1)"]},
        "ETH": {"price": 3_811.27, "change_24h": -2.0, "change_7d": -1.0, "funding_apr": -6.22, "trend_daily": "DOWN",
                "categories": ["Layer 1 (L1)", "Proof of Stake (PoS)"]},
        "SOL": {"price": 196.97, "change_24h": -5.81, "change_7d": 3.0, "funding_apr": -22.25, "trend_daily": "HODL"},
        "PEPE": {"price": 0.0000123},
    }  # fmt: skip
    tools = [tool(id_, _PARAMETERS[id_], lambda _, answer=answer: answer) for id_, answer in answers.items()]  # type: ignore[misc]
    return World(tools, **{**usual, **changed})


def route(topic: str, subject: Subject = SERVICE, **args: str) -> Query:
    return of(subject, operation=Route(topic, args))


_WALLET = Subject(scope="wallets", wallets=(_ADDRESS,))
_ODD = where(PRICE, "gt", 1e9)
_CARRY = Measure("carry", days(7), side="short")

QUERIES: Mapping[str, Query] = {
    "value": of(coins("BTC"), PRICE),
    "value_carry": of(coins("BTC"), Measure("carry", days(7), side="long", notional=5_000.0)),
    "values": of(coins("BTC"), PRICE, FUNDING),
    "each": of(coins("BTC", "ETH"), change(days(7))),
    "table": of(coins("BTC", "ETH")),
    "list": of(ALL, where=UP, operation=List()),
    "nothing": of(ALL, where=_ODD, operation=List()),
    "rank": of(L1, change(days(7)), operation=Rank("most", 3)),
    "winner": of(coins("BTC", "ETH"), PRICE, operation=Compare("most")),
    "tied": of(coins("BTC", "SOL"), change(days(7)), operation=Compare("most")),
    "position": of(coins("BTC"), VOLUME, operation=Position()),
    "count": of(ALL, where=UP, operation=Count()),
    "share": of(ALL, where=UP, operation=Share()),
    "exists": of(ALL, where=UP, operation=Exists("any")),
    "check": of(coins("BTC"), where=UP, operation=Check()),
    "check_days": of(coins("BTC"), where=UP, time=JUNE, operation=Check()),
    "count_days": of(coins("BTC"), where=UP, time=JUNE, operation=Count()),
    "first": of(coins("ETH"), where=where(TREND, "eq", "HODL"), operation=When("first")),
    "checks": of(coins("BTC", "ETH"), where=UP, operation=Check()),
    "aggregate": of(ALL, PRICE, operation=Aggregate("median")),
    "extreme": of(coins("BTC"), PRICE, time=JUNE, operation=Extreme("max")),
    "since": of(coins("ETH"), TREND, operation=When("since")),
    "last": of(coins("ETH"), where=where(TREND, "eq", "HODL"), operation=When("last")),
    "not_now": of(coins("ETH"), where=where(TREND, "eq", "HODL"), operation=When("since")),
    "never": of(coins("ETH"), where=_ODD, operation=When("last")),
    "course": of(coins("BTC"), PRICE, time=JUNE),
    "spent": of(coins("BTC"), TREND, time=JUNE),
    "convert": of(coins("BTC", "ETH"), operation=Convert(Holding(2.0, "BTC"), ("ETH",))),
    "ratio": of(coins("BTC", "ETH"), operation=Ratio()),
    "worth_one": of(coins("BTC"), operation=ValueOf((Holding(2.0, "BTC"),))),
    "worth": of(coins("BTC", "ETH"), operation=ValueOf((Holding(2.0, "BTC"), Holding(3.0, "ETH")))),
    "carry": of(coins("ETH"), _CARRY, operation=ValueOf((Holding(2.0, "ETH"),))),
    "profit": of(coins("BTC"), operation=Profit(Holding(2.0, "BTC"), 90_000.0)),
    "profit_percent": of(coins("BTC"), operation=Profit(None, since=day(30))),
    "portfolio": of(
        coins("BTC", "ETH"),
        operation=Portfolio(
            (Profit(Holding(100.0, "USD"), since=day(30)), Profit(Holding(100.0, "USD"), since=day(30)))
        ),
    ),
    "why": of(coins("SOL"), operation=Why()),
    "why_verdict": of(coins("SOL"), VERDICT, operation=Why()),
    "why_market": of(MARKET, Measure("market_regime"), operation=Why()),
    "why_regime": of(coins("ETH"), Measure("regime"), operation=Why()),
    "screen": of(ALL, operation=Screen("long")),
    "nobody": of(Subject(scope="all", categories=("Empty",)), operation=Screen("long")),
    "record": of(SERVICE, operation=Record("verdicts")),
    "regime_record": of(coins("ETH"), operation=Record("regime")),
    "walkforward": of(SERVICE, operation=Record("walkforward")),
    "explain": of(SERVICE, operation=Explain("funding")),
    "list_none": of(SERVICE, time=JUNE, operation=Route("crossings")),
    "list_alerts": route("alerts"),
    "list_crossings": route("crossings"),
    "list_transcripts": route("transcripts", coins("BTC")),
    "list_shows": route("shows"),
    "list_wallets": route("wallets"),
    "list_movements": route("wallets", coins("LINK")),
    "list_largest_wallets": route("wallets", order="largest"),
    "list_largest_movements": route("wallets", coins("LINK"), order="largest"),
    "list_leaders": route("leaders"),
    "list_laggards": route("laggards"),
    "wallet": route("wallets", _WALLET),
    "list_watchlist": route("wallets", watchlist="yes"),
    "list_regime_signals": route("regime_signals"),
    "list_assets": route("assets", type="metals"),
    "list_category": route("categories", L1),
    "list_regime_trades": route("regime_trades"),
    "list_outcomes": route("walkforward", coins("SOL")),
    "list_manifest": route("manifest"),
    "categories": route("categories"),
    "categories_each": route("categories", coins("BTC", "ETH")),
    "categories_of": route("categories", coins("BTC")),
    "coins": route("coins"),
    "news": route("news", coins("BTC")),
    "quality": route("quality", coins("SOL")),
    "breadth": route("breadth"),
    "account": route("account"),
    "pricing": route("pricing"),
}
"""A query for the template of each kind of answer, `no_trades` and `unlimited` excepted: they need other data."""

REFUSED: Mapping[str, Query] = {
    "future": of(coins("BTC"), PRICE, time=day(-3)),
    "wrong-subject": of(coins("BTC"), Measure("breadth")),
    "no-measure": of(ALL, operation=Rank("most", 3)),
    "not-past": of(coins("BTC"), Measure("sentiment"), time=day(3)),
    "not-over": of(coins("BTC"), Measure("streak"), time=days(7)),
    "no-asset-history": of(MARKET, PRICE, operation=Extreme("max")),
    "hours-of-many": of(ALL, change(hours(3)), operation=Rank("most", 3)),
    "hours-before": of(coins("BTC"), change(hours(24 * 100))),
    "too-short": of(coins("BTC"), Measure("volatility", days(3))),
    "not-comparable": of(ALL, where=where(PRICE, "gt", "UP"), operation=Count()),
    "no-changes": of(ALL, where=Changed(PRICE, None, THIS_WEEK), operation=Count()),
    "no-condition": of(coins("BTC"), operation=Count()),
    "no-window": of(coins("BTC"), Measure("price", mean=True)),
    "other-verdict": of(coins("BTC"), operation=Record("verdicts", "bear")),
    "before-history": of(coins(NEW), PRICE, time=day(60)),
    "unknown-value": of(coins("BTC"), Measure("market_cap"), time=instant(3)),
    "no-aggregate": of(ALL, TREND, operation=Aggregate("mean")),
    "no-pair": of(coins("BTC"), operation=Ratio()),
    "one-coin": of(MARKET, operation=Why()),
    "too-few": of(ALL, VOLUME, operation=Rank("most", 6, skip=89)),
    "no-amount": of(coins("BTC"), operation=ValueOf((Holding(0.0, "BTC"),))),
    "no-entry": of(coins("BTC"), operation=Profit(None)),
    "no-past-list": of(SERVICE, time=THIS_WEEK, operation=Route("shows")),
    "too-many-rows": route("alerts", zone="hot"),
    "one-at-a-time": route("alerts", coins("BTC", "ETH")),
    "not-narrowed": route("crossings", coins("BTC")),
    "no-contract": route("wallets", coins("SOL")),
    "no-such-type": route("assets", type="energy"),
    "news-of-one": route("news"),
    "no-horizon": of(SERVICE, time=days(30), operation=Record("verdicts")),
    "no-record": of(SERVICE, operation=Record("verdicts", "splendid")),
    "few-only": of(ALL, TREND, operation=When("since")),
}
"""A query for each reason of the planner to refuse, `no-run` excepted: it needs other data."""
