"""`coins` as a caller sees it: every coin of the recording, held to the routes of the single coin."""

from typing import Any

import pytest

from fixtures.coins import COINS
from service.market.symbols import canonical
from tests.service.asking import Whole, category_names, escaped

pytestmark = pytest.mark.process

SHARED = ("price", "funding_apr", "trend_daily", "trend_weekly", "sentiment_stance", "btc_correlation")


def rows(market: Whole) -> dict[str, Any]:
    page = market.pro.data("coins?limit=1000")
    assert page["meta"] == {"total": 80, "next_cursor": None}
    return {row["symbol"]: row for row in page["coins"]}


@pytest.mark.promise("coins.agree", "coins.changes", "coins.payload")
def test_every_value_is_that_of_the_routes_of_the_coin(market: Whole) -> None:
    regimes = {row["symbol"]: row["regime"] for row in market.pro.data("regime?action=confidence")["coins"]}
    found = rows(market)
    assert found.keys() == {canonical(coin.name) for coin in COINS}
    for symbol, row in found.items():
        risk, signal = market.pro.data(f"coin/risk/{symbol}"), market.pro.data(f"signal/{symbol}")
        hour, week, month = (
            market.pro.data(f"coin/historical/{symbol}?count={count}&unit={unit}")
            for count, unit in ((1, "h"), (7, "d"), (30, "d"))
        )
        assert {name: row[name] for name in SHARED} == {name: risk[name] for name in SHARED}
        assert {*row["_stale_fields"]} & {*SHARED} == {*risk["_stale_fields"]}
        assert (row["verdict"], row["score"]) == (signal["verdict"], signal["score"])
        changes = (hour["change_pct"], week["change_pct"], month["change_pct"])
        assert (row["change_1h"], row["change_7d"], row["change_30d"]) == changes
        now = hour["now"]
        assert (row["market_cap"], row["volume_24h_usd"]) == (now["marketCap"], now["futuresVolume24h"])
        assert row["open_interest_usd"] == now["openInterest"]
        assert row["regime"] == regimes.get(symbol)
        unknown = {name for name, value in row.items() if value is None} - {"name", "rank", "streak_days", "categories"}
        assert unknown <= {*row["_stale_fields"]}


@pytest.mark.promise("coins.agree", "coins.filters")
def test_categories_have_the_same_coins_with_the_same_values(market: Whole) -> None:
    found = rows(market)
    of_coins: dict[str, list[str]] = {symbol: [] for symbol in found}
    for name in category_names():
        shown = market.pro.data(f"category/info/{escaped(name)}")["coins"]
        for coin in shown:
            row = found[coin["symbol"]]
            assert row["name"] == coin["name"]
            assert row["change_24h"] == coin["change_24h"]
            assert row["streak_days"] == coin["streak_days"]
            assert row["market_cap"] == coin["market_cap"]
            of_coins[coin["symbol"]].append(name)
        page = market.pro.data(f"coins?category={escaped(name)}")
        assert [row["symbol"] for row in page["coins"]] == sorted(
            (coin["symbol"] for coin in shown), key=lambda symbol: (found[symbol]["rank"] or 1_000, symbol)
        )
    assert {symbol: set(row["categories"] or ()) for symbol, row in found.items()} == {
        symbol: set(names) for symbol, names in of_coins.items()
    }


@pytest.mark.promise("coins.pages", "coins.order")
def test_the_largest_coin_comes_first_and_ranks_have_no_gap(market: Whole) -> None:
    found = list(rows(market).values())
    caps = [row["market_cap"] for row in found if row["market_cap"] is not None]
    assert caps == sorted(caps, reverse=True)
    assert [row["rank"] for row in found] == [*range(1, len(caps) + 1), *([None] * (len(found) - len(caps)))]
    first = market.pro.data("coins?sort=change_30d&limit=30")
    second = market.pro.data(f"coins?sort=change_30d&limit=1000&cursor={first['meta']['next_cursor']}")
    changes = [row["change_30d"] for row in (*first["coins"], *second["coins"])]
    known = [change for change in changes if change is not None]
    assert (len(changes), known) == (80, sorted(known, reverse=True))
    assert changes[: len(known)] == known


@pytest.mark.promise("coins.price", "coins.unknown", "manifest.lists-priced")
def test_it_costs_half_a_cent_and_refuses_what_it_does_not_know(market: Whole) -> None:
    manifest = market.pro.ask("manifest").body["data"]["routes"]
    (row,) = [route for route in manifest if route["id"] == "coins"]
    assert (row["path"], row["price_usdc"], row["refresh_seconds"]) == ("/api/cli/coins", "0.005", 15)
    unknown = market.pro.ask("coins?symbols=ETHH,BTC")
    assert (unknown.status, unknown.code) == (404, "UNKNOWN_SYMBOL")
    assert "ETH" in unknown.body["error"]["details"]["candidates"]
    unknown = market.pro.ask("coins?category=meme")
    assert (unknown.status, unknown.code) == (404, "UNKNOWN_CATEGORY")
    assert unknown.body["error"]["details"]["candidates"] == ["Meme"]
