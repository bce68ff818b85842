"""Scans: who comes first, who is left out and said to be, and how old the answer is."""

import pytest
from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS
from service.errors import ServiceError
from service.market.desk import MarketDesk
from service.market.observed import Chart, Failure, Quote, Snapshot, State
from service.market.plausibility_rules import Reason
from service.market.quarantine import Quarantined, Report
from service.market.scan import ScanDesk
from service.units import Symbol
from service.wire.tools import Scan, ScanQuery
from tests.fakes.clock import START_MS, FakeClock

MIDNIGHT_MS = START_MS - START_MS % DAY_MS
UP = Chart(MIDNIGHT_MS, "UP", MIDNIGHT_MS - DAY_MS, "DOWN", MIDNIGHT_MS - DAY_MS, 0.5)
DOWN = replace(UP, trend_daily="DOWN", trend_weekly="HODL", btc_correlation=-0.25)


def coin(
    symbol: str,
    price: float | None,
    before: float | None,
    funding: float | None,
    volume: float = 1e6,
    age_s: int = 0,
) -> Quote:
    at_ms = START_MS - age_s * 1_000
    return Quote(
        symbol,
        symbol.upper(),
        volume,
        price,
        None if price is None else at_ms,
        funding,
        None if funding is None else at_ms,
        2.0,
        before,
    )


BTC = coin("BTC", 110.0, 100.0, 1e-5, 9e9)
ETH = coin("ETH", 50.0, 100.0, -1e-5, 5e9)
SOL = coin("SOL", 120.0, 100.0, 3e-5, 7e9)
XMR = coin("XMR", 10.0, None, None, 1e3)
STATE = State("test", 1, START_MS, None, None, "hyperliquid")
NOTHING_HELD = Report()
COINS = [(BTC, UP), (ETH, DOWN), (SOL, UP), (XMR, Chart())]


def desk(
    clock: FakeClock, coins: list[tuple[Quote, Chart]] = COINS, state: State = STATE, held: Report = NOTHING_HELD
) -> ScanDesk:
    market = MarketDesk(clock)
    market.show(Snapshot(state, coins))
    return ScanDesk(clock, market, lambda: held)


def scan(made: ScanDesk, query: ScanQuery, members: list[str] | None = None) -> Scan:
    found = made.scan(query, None if members is None else map(Symbol, members)).data
    assert isinstance(found, Scan)
    return found


def symbols(found: Scan) -> list[str]:
    return [row.symbol for row in found.coins]


@pytest.mark.parametrize(
    ("by", "order", "expected"),
    [
        ("change_24h", "most", ["SOL", "BTC", "ETH"]),
        ("change_24h", "least", ["ETH", "BTC", "SOL"]),
        ("funding_apr", "most", ["SOL", "BTC", "ETH"]),
        ("funding_apr", "least", ["ETH", "BTC", "SOL"]),
        ("volume_usd", "most", ["BTC", "SOL", "ETH", "XMR"]),
        ("open_interest_usd", "most", ["SOL", "BTC", "ETH", "XMR"]),
        ("price", "least", ["XMR", "ETH", "BTC", "SOL"]),
        ("btc_correlation", "least", ["ETH", "BTC", "SOL"]),
    ],
)
def test_coins_come_in_the_order_of_the_figure_and_those_without_it_are_counted_apart(
    clock: FakeClock, by: str, order: str, expected: list[str]
) -> None:
    found = scan(desk(clock), ScanQuery(by=by, order=order, limit=4))  # type: ignore[arg-type]
    assert symbols(found) == expected
    assert (found.universe, found.count, found.unknown) == (4, len(expected), 4 - len(expected))


def test_a_row_shows_a_coin_as_it_stands(clock: FakeClock) -> None:
    row = scan(desk(clock), ScanQuery(limit=1)).coins[0]
    assert (row.symbol, row.price, row.change_24h, row.volume_usd, row.open_interest_usd) == (
        "SOL",
        120.0,
        20.0,
        7e9,
        240.0,
    )
    assert row.funding_apr == pytest.approx(26.28)
    assert (row.trend_daily, row.trend_weekly, row.btc_correlation) == ("UP", "DOWN", 0.5)


def test_only_coins_in_a_state_count(clock: FakeClock) -> None:
    daily = scan(desk(clock), ScanQuery(trend="UP", limit=1))
    assert (symbols(daily), daily.count, daily.universe) == (["SOL"], 2, 4)
    weekly = scan(desk(clock), ScanQuery(trend="HODL", timeframe="weekly"))
    assert (symbols(weekly), weekly.trend, weekly.timeframe) == (["ETH"], "HODL", "weekly")


def test_a_category_its_coins_and_what_is_excluded_in_any_spelling(clock: FakeClock) -> None:
    query = ScanQuery(category="Layer 1 (L1)", exclude=("btc", "NOTHING"))
    found = scan(desk(clock), query, ["BTC", "SOL", "GONE"])
    assert (symbols(found), found.universe, found.category, found.excluded) == (
        ["SOL"],
        1,
        "Layer 1 (L1)",
        ["btc", "NOTHING"],
    )


def test_coins_may_be_named(clock: FakeClock) -> None:
    assert symbols(scan(desk(clock), ScanQuery(symbols=("eth", "BTC", "ETH")))) == ["BTC", "ETH"]
    with pytest.raises(ServiceError) as refused:
        scan(desk(clock), ScanQuery(symbols=("BTX",)))
    assert refused.value.code == "UNKNOWN_SYMBOL"


def test_equals_come_by_ticker(clock: FakeClock) -> None:
    twins = [(replace(BTC, venue_symbol=name, symbol=name), UP) for name in ("B", "A")]
    assert symbols(scan(desk(clock, twins), ScanQuery())) == ["A", "B"]
    assert symbols(scan(desk(clock, twins), ScanQuery(order="least"))) == ["A", "B"]


@pytest.mark.parametrize(
    ("query", "as_of_ms"),
    [
        (ScanQuery(limit=1), START_MS),
        (ScanQuery(limit=3), START_MS - 30_000),
        (ScanQuery(by="funding_apr", limit=3), START_MS - 30_000),
        (ScanQuery(by="btc_correlation"), MIDNIGHT_MS),
        (ScanQuery(trend="UP", limit=1), MIDNIGHT_MS),
    ],
)
def test_an_answer_is_as_old_as_the_oldest_thing_that_put_its_rows_there(
    clock: FakeClock, query: ScanQuery, as_of_ms: int
) -> None:
    old = coin("ETH", 50.0, 100.0, -1e-5, age_s=30)
    made = desk(clock, [(BTC, UP), (old, DOWN), (SOL, UP)])
    assert made.scan(query).as_of_ms == as_of_ms


def test_where_no_row_is_shown_the_answer_is_as_old_as_what_was_looked_at(clock: FakeClock) -> None:
    assert desk(clock).scan(ScanQuery(trend="HODL")).as_of_ms == MIDNIGHT_MS
    assert desk(clock).scan(ScanQuery(category="Empty"), []).as_of_ms == START_MS


def test_fields_of_which_a_value_shown_is_old_are_named(clock: FakeClock) -> None:
    old = coin("ETH", 50.0, 100.0, -1e-5, age_s=46)
    made = desk(clock, [(BTC, UP), (old, replace(UP, through_ms=START_MS - 25 * HOUR_MS))])
    assert scan(made, ScanQuery(limit=1))._stale_fields == []
    assert scan(made, ScanQuery(limit=2))._stale_fields == [
        "price",
        "change_24h",
        "funding_apr",
        "volume_usd",
        "open_interest_usd",
        "trend_daily",
        "trend_weekly",
        "btc_correlation",
    ]


@pytest.mark.promise("quarantine.stale-fields")
@pytest.mark.parametrize(
    ("field", "named"), [("volume", "volume_usd"), ("interest", "open_interest_usd"), ("previous", "change_24h")]
)
def test_a_size_that_is_held_back_is_named_where_its_coin_is_shown(clock: FakeClock, field: str, named: str) -> None:
    held = Report([Quarantined("hyperliquid", "BTC", field, Reason.VOLUME_MOVED, START_MS)])
    made = desk(clock, held=held)
    assert scan(made, ScanQuery(by="volume_usd", limit=1))._stale_fields == [named]
    assert scan(made, ScanQuery(by="volume_usd", limit=1, exclude=("BTC",)))._stale_fields == []


def test_what_the_newest_refresh_did_not_bring_is_named_at_once(clock: FakeClock) -> None:
    missed = replace(STATE, venue=None, failure=Failure(START_MS, 500, "broken"))
    assert "price" in scan(desk(clock, COINS, missed), ScanQuery())._stale_fields


async def test_a_volume_without_a_recent_price_is_not_ranked(clock: FakeClock) -> None:
    old = coin("ETH", 50.0, 100.0, -1e-5, 9e12, age_s=601)
    found = scan(desk(clock, [(BTC, UP), (old, DOWN)]), ScanQuery(by="volume_usd"))
    assert (symbols(found), found.unknown) == (["BTC"], 1)


@pytest.mark.parametrize(
    ("failure", "code"), [(None, "UNAVAILABLE"), (Failure(START_MS, 500, "broken"), "UPSTREAM_5XX")]
)
def test_where_nothing_is_known_it_says_why(clock: FakeClock, failure: Failure | None, code: str) -> None:
    ancient = coin("BTC", 1.0, 1.0, 1e-5, age_s=601)
    for coins in ([(ancient, Chart())], []):
        state = State("test", 1, None, None, failure, None)
        with pytest.raises(ServiceError) as refused:
            desk(clock, coins, state).scan(ScanQuery())
        assert refused.value.code == code
