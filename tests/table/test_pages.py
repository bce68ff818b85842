"""Pages of the table: filters, order, cursors, chosen fields."""

from collections.abc import Callable
from typing import Any, Final, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.errors import ServiceError
from service.market.symbols import canonical
from service.wire.coins import SELECTABLE, CoinRow, Coins, CoinsQuery, SortField
from tests.table.world import COINS, World

SYMBOLS: Final = [canonical(coin) for coin in COINS]

_asked = st.fixed_dictionaries(
    {},
    optional={
        "sort": st.sampled_from(get_args(SortField)),
        "order": st.sampled_from(["asc", "desc"]),
        "category": st.sampled_from(["Layer 1 (L1)", "Meme"]),
        "trend": st.sampled_from(["UP", "HODL", "DOWN"]),
        "verdict": st.sampled_from(["bull", "neutral", "bear", "strong-bull", "insufficient-evidence"]),
        "min_volume": st.integers(0, 6_000_000),
        "symbols": st.lists(st.sampled_from([*SYMBOLS, "btc", "kPEPE"]), min_size=1, max_size=6).map(",".join),
    },
)


def expected(rows: list[CoinRow], asked: dict[str, Any]) -> list[str]:
    """Tickers in the order that is asked for, worked out one condition after the other."""
    kept = list(rows)
    checks: dict[str, Callable[[CoinRow, Any], bool]] = {
        "category": lambda row, name: name in (row.categories or []),
        "trend": lambda row, trend: row.trend_daily == trend,
        "verdict": lambda row, verdict: row.verdict == verdict,
        "min_volume": lambda row, least: row.volume_24h_usd is not None and row.volume_24h_usd >= least,
        "symbols": lambda row, symbols: row.symbol in symbols.upper().replace("KPEPE", "PEPE").split(","),
    }
    for name, check in checks.items():
        if name in asked:
            kept = [row for row in kept if check(row, asked[name])]
    sort = asked.get("sort", "rank")
    order = asked.get("order", "asc" if sort in {"rank", "symbol", "name"} else "desc")
    known = {row.symbol: getattr(row, sort) for row in kept if getattr(row, sort) is not None}
    values = sorted({value.lower() if isinstance(value, str) else value for value in known.values()})
    if order == "desc":
        values.reverse()
    places = {
        symbol: values.index(value.lower() if isinstance(value, str) else value) for symbol, value in known.items()
    }
    return sorted((row.symbol for row in kept), key=lambda symbol: (places.get(symbol, len(values)), symbol))


@pytest.mark.promise("coins.filters", "coins.order", "coins.pages")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked=_asked, limit=st.integers(1, 6))
async def test_pages_lead_once_through_what_is_asked_for_in_its_order(
    world: World, asked: dict[str, Any], limit: int
) -> None:
    wanted = expected(list(world.table.rows().values()), asked)
    shown, cursor = [], None
    while True:
        page = world.page(**asked, limit=limit, **({"cursor": cursor} if cursor else {}))
        assert page.meta.total == len(wanted)
        assert len(page.coins) <= limit
        shown += [row.symbol for row in page.coins]
        cursor = page.meta.next_cursor
        if cursor is None:
            break
    assert shown == wanted


async def test_a_hundred_coins_are_a_page_and_the_order_is_that_of_rank(world: World) -> None:
    assert CoinsQuery().limit == 100
    assert [row.symbol for row in world.page().coins] == ["BTC", "ETH", "SOL", "PEPE", "YOUNG"]
    assert world.page().coins == list(world.table.rows().values())


async def test_a_coin_with_exactly_the_least_volume_is_among_them(world: World) -> None:
    volume = world.row("ETH").volume_24h_usd
    assert volume == 2e6
    assert "ETH" in [row.symbol for row in world.page(min_volume=2_000_000).coins]
    assert "ETH" not in [row.symbol for row in world.page(min_volume=2_000_001).coins]


async def test_a_cursor_belongs_to_its_filters_and_not_to_the_size_of_a_page_or_the_fields(world: World) -> None:
    cursor = world.page(limit=2, sort="symbol").meta.next_cursor
    again = world.selected(limit=1, sort="symbol", cursor=cursor, fields="price")
    assert [row["symbol"] for row in again.coins] == ["PEPE"]
    for other in ({"sort": "rank"}, {"sort": "symbol", "order": "desc"}, {"sort": "symbol", "trend": "UP"}):
        with pytest.raises(ServiceError) as refused:
            world.page(cursor=cursor, **other)
        assert (refused.value.code, refused.value.details) == ("BAD_REQUEST", {"parameter": "cursor"})


@pytest.mark.promise("coins.fields")
@given(chosen=st.lists(st.sampled_from([*SELECTABLE, "symbol", "_stale_fields"]), min_size=1, max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_chosen_fields_stand_beside_the_ticker_and_what_of_them_is_stale(world: World, chosen: list[str]) -> None:
    page = world.selected(fields=",".join(chosen))
    for row, whole in zip(page.coins, world.page().coins, strict=True):
        assert row.keys() == {"symbol", "_stale_fields", *chosen}
        assert (next(iter(row)), list(row)[-1]) == ("symbol", "_stale_fields")
        assert all(row[name] == getattr(whole, name) for name in row if name != "_stale_fields")
        assert row["_stale_fields"] == [name for name in whole.stale_fields if name in chosen]


@pytest.mark.promise("coins.unknown")
async def test_an_unknown_ticker_or_category_is_refused_with_candidates(world: World) -> None:
    with pytest.raises(ServiceError) as refused:
        world.page(symbols="BTC,ETHH")
    assert (refused.value.code, refused.value.details) == ("UNKNOWN_SYMBOL", {"candidates": ["ETH"]})
    with pytest.raises(ServiceError) as refused:
        world.page(category="meme")
    assert (refused.value.code, refused.value.details) == ("UNKNOWN_CATEGORY", {"candidates": ["Meme"]})


async def test_a_page_is_as_old_as_the_oldest_price_or_funding_in_it(world: World) -> None:
    now_ms = world.clock.now_ms()
    assert world.table.coins(CoinsQuery()).as_of_ms == now_ms
    world.clock.at_ms += 60_000
    await world.quote_one("BTC", now_ms + 30_000)
    assert world.table.coins(CoinsQuery()).as_of_ms == now_ms
    assert world.table.coins(CoinsQuery(symbols="BTC")).as_of_ms == now_ms + 30_000
    empty = world.table.coins(CoinsQuery(symbols="BTC", min_volume=10**12))
    assert (empty.as_of_ms, empty.data) == (now_ms, Coins([], world.page(min_volume=10**12).meta))


async def test_without_any_price_or_funding_a_page_is_refused(world: World) -> None:
    world.clock.at_ms += 11 * 60_000
    with pytest.raises(ServiceError) as refused:
        world.page()
    assert refused.value.code == "UNAVAILABLE"
