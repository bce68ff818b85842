"""The market in the database."""

import msgspec
import pytest

from service.clock import DAY_MS, HOUR_MS
from service.market.models import Bar, CoinChart, Quote, Quotes, SeriesProgress
from service.market.store import MarketStore
from service.market.symbols import canonical
from service.storage.database import Database
from service.storage.documents import FetchFailure
from tests.market.parts import show_only

BTC = Quote("BTC", "BTC", 9.0, 118000.1, 1_000, 0.0000125, 1_000)
PEPE = Quote("kPEPE", "PEPE", 5.0, 0.0000123456789, 1_000, None, None)
DAY = 20_000


def bar(day: int, close: float = 3.0) -> Bar:
    return Bar(day * DAY_MS, 2.0, 4.0, 1.0, close, 10.0, 7)


def progress(coin: str, last_ms: int | None = None, *, listed: bool = True) -> SeriesProgress:
    return SeriesProgress(coin, canonical(coin), listed, last_ms)


@pytest.fixture
async def claimed(store: MarketStore) -> MarketStore:
    await store.claim("one")
    return store


async def test_a_new_store_knows_its_origin_and_nothing_else(claimed: MarketStore) -> None:
    snapshot = await claimed.snapshot()
    assert (snapshot.state.origin, snapshot.state.quotes_ms, snapshot.coins) == ("one", None, [])


async def test_quotes_come_back_to_the_last_bit(claimed: MarketStore) -> None:
    before = await claimed.revision()
    await claimed.put_quotes("one", Quotes(1_000, [BTC, PEPE]))
    snapshot = await claimed.snapshot()
    assert {quote.symbol: (quote, chart) for quote, chart in snapshot.coins} == {
        "BTC": (BTC, CoinChart()),
        "PEPE": (PEPE, CoinChart()),
    }
    assert snapshot.state.quotes_ms == 1_000
    assert snapshot.state.revision == await claimed.revision() > before


async def test_a_field_that_a_later_answer_lacks_keeps_its_value_and_its_time(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", Quotes(1_000, [BTC]))
    await claimed.put_quotes("one", Quotes(2_000, [Quote("BTC", "BTC", 8.0, None, None, 0.5, 2_000)]))
    ((quote, _),) = (await claimed.snapshot()).coins
    assert quote == Quote("BTC", "BTC", 8.0, 118000.1, 1_000, 0.5, 2_000)


async def listed(store: MarketStore) -> list[str]:
    return [quote.symbol for quote, _ in (await store.snapshot()).coins]


@pytest.mark.promise("quarantine.delisting")
async def test_a_coin_that_the_venue_calls_delisted_for_an_hour_goes(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", Quotes(1_000, [BTC, PEPE]))
    await claimed.put_quotes("one", Quotes(2_000, [BTC], ["kPEPE"]))
    await claimed.put_quotes("one", Quotes(2_000 + HOUR_MS - 1, [BTC], ["kPEPE"]))
    await claimed.put_quotes("one", Quotes(2_000 + HOUR_MS + 1, [BTC], None))
    assert await listed(claimed) == ["BTC", "PEPE"]
    await claimed.put_quotes("one", Quotes(2_000 + HOUR_MS, [BTC], ["kPEPE"]))
    assert await listed(claimed) == ["BTC"]
    assert [coin.listed for coin in await claimed.coins()] == [True, False]


@pytest.mark.promise("quarantine.delisting")
async def test_an_answer_that_does_not_call_a_coin_delisted_begins_the_hour_again(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", Quotes(1_000, [BTC, PEPE], ["kPEPE"]))
    await claimed.put_quotes("one", Quotes(2_000, [BTC, PEPE], ["kPEPE"]))
    await claimed.put_quotes("one", Quotes(3_000, [BTC, PEPE]))
    await claimed.put_quotes("one", Quotes(2_000 + HOUR_MS, [BTC], ["kPEPE"]))
    assert await listed(claimed) == ["BTC", "PEPE"]


@pytest.mark.promise("quarantine.delisting")
async def test_a_coin_that_is_missing_stays_listed_for_ever(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", Quotes(1_000, [BTC, PEPE]))
    await claimed.put_quotes("one", Quotes(2_000, [BTC]))
    await claimed.put_quotes("one", Quotes(2_000 + DAY_MS, [BTC]))
    assert await listed(claimed) == ["BTC", "PEPE"]


async def test_a_ticker_may_pass_from_one_coin_to_another(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", Quotes(1_000, [PEPE]))
    await show_only(claimed, "one", HOUR_MS, [])
    await claimed.put_quotes("one", Quotes(2_000, [Quote("PEPE", "PEPE", 5.0, 1.0, 2_000, None, None)]))
    ((quote, _),) = (await claimed.snapshot()).coins
    assert quote.venue_symbol == "PEPE"


async def test_a_failure_is_kept_until_quotes_come(claimed: MarketStore) -> None:
    failure = FetchFailure(5_000, 429, "slow down")
    await claimed.put_failure(failure)
    assert (await claimed.snapshot()).state.failure == failure
    await claimed.put_quotes("one", Quotes(6_000, [BTC]))
    assert (await claimed.snapshot()).state.failure is None


async def test_a_closed_bar_never_changes_and_an_open_one_does(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", Quotes(1_000, [BTC]))
    await claimed.put_bars("one", "BTC", [bar(DAY), bar(DAY + 1)], DAY * DAY_MS)
    await claimed.put_bars("one", "BTC", [bar(DAY, 1.5), bar(DAY + 1, 1.5)], (DAY + 1) * DAY_MS)
    assert await claimed.closed_bars(["BTC"]) == {
        "BTC": [(DAY * DAY_MS, 2.0, 4.0, 1.0, 3.0), ((DAY + 1) * DAY_MS, 2.0, 4.0, 1.0, 1.5)]
    }


async def test_a_coin_says_which_venue_told_its_price_and_how_often_funding_is_paid(claimed: MarketStore) -> None:
    async def told(**fields: object) -> tuple[str, float]:
        quote = msgspec.structs.replace(BTC, price=None, price_ms=None, funding=None, funding_ms=None)
        await claimed.put_quotes("one", Quotes(2_000, [msgspec.structs.replace(quote, **fields)]), venue="x")
        ((current, _),) = (await claimed.snapshot()).coins
        return current.venue, current.interval_hours

    second = {"venue": "binance", "interval_hours": 8.0}
    await claimed.put_quotes("one", Quotes(1_000, [msgspec.structs.replace(BTC, price=None, price_ms=None)]))
    assert await told(**second) == ("hyperliquid", 1.0)
    assert await told(**second, funding=0.5, funding_ms=1) == ("binance", 8.0)
    assert await told(price=5.0, price_ms=1) == ("hyperliquid", 8.0)
    assert await told(**second, funding=0.5, funding_ms=1) == ("hyperliquid", 8.0)


async def test_what_belongs_to_a_price_comes_and_goes_with_it(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", Quotes(1_000, [msgspec.structs.replace(BTC, open_interest=7.0, prev_price=9.0)]))
    await claimed.put_quotes("one", Quotes(2_000, [msgspec.structs.replace(BTC, price=None, price_ms=None)]))
    ((current, _),) = (await claimed.snapshot()).coins
    assert (current.prev_price, current.open_interest) == (9.0, None)
    await claimed.put_quotes("one", Quotes(3_000, [BTC]))
    ((current, _),) = (await claimed.snapshot()).coins
    assert current.prev_price is None


async def test_who_brought_the_newest_quotes_is_known(claimed: MarketStore) -> None:
    failure = FetchFailure(5_000, 500, "down")
    await claimed.put_quotes("one", Quotes(1_000, [BTC]))
    assert (await claimed.snapshot()).state.venue == "hyperliquid"
    await claimed.put_quotes("one", Quotes(2_000, [BTC]), venue="binance", failure=failure)
    state = (await claimed.snapshot()).state
    assert (state.venue, state.failure, state.quotes_ms) == ("binance", failure, 2_000)
    await claimed.put_failure(failure, venue="hyperliquid")
    state = (await claimed.snapshot()).state
    assert (state.venue, state.failure, state.quotes_ms) == ("hyperliquid", failure, 2_000)
    await claimed.put_failure(failure)
    assert (await claimed.snapshot()).state.venue is None


async def test_an_open_bar_is_no_history(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", Quotes(1_000, [BTC]))
    await claimed.put_bars("one", "BTC", [bar(DAY)], 0)
    assert await claimed.closed_bars(["BTC", "ETH"]) == {"BTC": [], "ETH": []}
    assert await claimed.progress("one") == [progress("BTC")]


async def test_progress_tells_the_most_traded_first(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", Quotes(1_000, [PEPE, BTC]))
    await claimed.put_bars("one", "kPEPE", [bar(DAY), bar(DAY + 1)], DAY * DAY_MS)
    assert await claimed.progress("one") == [progress("BTC"), progress("kPEPE", DAY * DAY_MS)]
    assert await claimed.progress("another") == []


async def test_charts_are_replaced_and_come_with_their_coin(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", Quotes(1_000, [BTC]))
    await claimed.put_charts("one", {"BTC": CoinChart(8, "UP", 1, "DOWN", 2, -0.5)})
    await claimed.put_charts("one", {"BTC": CoinChart(9, "HODL", 3, None, None, None)})
    assert (await claimed.snapshot()).coins == [(BTC, CoinChart(9, "HODL", 3))]


async def test_history_is_noted_as_tried_once(claimed: MarketStore) -> None:
    await claimed.mark_history_tried("another", 1)
    assert (await claimed.snapshot()).state.history_ms is None
    await claimed.mark_history_tried("one", 2)
    await claimed.mark_history_tried("one", 3)
    assert (await claimed.snapshot()).state.history_ms == 2


async def filled(store: MarketStore, origin: str) -> None:
    await store.put_quotes(origin, Quotes(1_000, [BTC, PEPE]))
    await store.put_bars(origin, "BTC", [bar(DAY)], DAY * DAY_MS)
    await store.put_charts(origin, {"BTC": CoinChart(8, "UP", 1)})
    await store.mark_history_tried(origin, 4)


async def test_claiming_the_same_origin_keeps_everything(claimed: MarketStore) -> None:
    await filled(claimed, "one")
    before = await claimed.snapshot()
    await claimed.claim("one")
    assert await claimed.snapshot() == before


async def test_claiming_another_origin_clears_everything(claimed: MarketStore, database: Database) -> None:
    await filled(claimed, "one")
    await claimed.put_failure(FetchFailure(1, None, "x"))
    before = await claimed.revision()
    await claimed.claim("two")
    snapshot = await claimed.snapshot()
    assert (snapshot.coins, snapshot.state.origin) == ([], "two")
    assert (snapshot.state.quotes_ms, snapshot.state.history_ms, snapshot.state.failure) == (None, None, None)
    assert snapshot.state.revision > before
    for table in ("candles", "market_charts", "market_quotes"):
        assert await database.read(f"SELECT count(*) FROM {table}") == [(0,)]  # noqa: S608 - constants


async def test_recorded_history_of_another_origin_is_not_stored(claimed: MarketStore, database: Database) -> None:
    await filled(claimed, "one")
    await claimed.put_closed_bars("two", "1d", {"BTC": [(9 * DAY_MS, 2.0, 4.0, 1.0, 3.0, 10.0, 7)]})
    await claimed.put_all_payments("two", {"BTC": [(1, 0.1, 8.0)]})
    assert [row[0] for row in (await claimed.closed_bars(["BTC"]))["BTC"]] == [DAY * DAY_MS]
    await claimed.put_delisted("two", ["GONE"])
    assert await claimed.without_payments(["BTC"]) == ["BTC"]
    assert await database.read("SELECT count(*) FROM market_coins WHERE venue_symbol = 'GONE'") == [(0,)]


async def test_quotes_of_another_origin_replace_all_in_one_step(claimed: MarketStore) -> None:
    await filled(claimed, "one")
    await claimed.put_quotes("two", Quotes(2_000, [BTC]))
    snapshot = await claimed.snapshot()
    assert (snapshot.state.origin, snapshot.coins) == ("two", [(BTC, CoinChart())])
    assert await claimed.closed_bars(["BTC"]) == {"BTC": []}


async def test_bars_and_charts_of_another_origin_are_dropped(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", Quotes(1_000, [BTC]))
    await claimed.put_bars("two", "BTC", [bar(DAY)], DAY * DAY_MS)
    await claimed.put_charts("two", {"BTC": CoinChart(8, "UP", 1)})
    assert await claimed.closed_bars(["BTC"]) == {"BTC": []}
    assert (await claimed.snapshot()).coins == [(BTC, CoinChart())]
