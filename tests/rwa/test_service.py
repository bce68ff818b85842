"""The front: who is found and how, what is listed, what is kept encoded, and what is said when nothing can be said."""

from functools import partial

import pytest

from service.clock import HOUR_MS
from service.errors import ServiceError
from service.market.models import CoinChart, Quote, Quotes
from service.rwa.documents import AssetCharts, AssetListing, ListedAsset
from service.storage.documents import FetchFailure
from service.upstream.failures import UpstreamError
from service.wire.rwa import AssetType, RwaAssets, RwaListing
from tests.fakes.clock import START_MS, FakeClock
from tests.rwa.parts import Parts, read
from tests.upstream.faults import reset

ASSETS = (
    ListedAsset("xyz:GOLD", "GOLD", "Gold", "metal"),
    ListedAsset("xyz:AAPL", "AAPL", "Apple", "equity"),
    ListedAsset("xyz:SMSN", "SMSN", "Samsung Electronics", "equity"),
    ListedAsset("xyz:CL", "CL", "WTI Crude Oil", "commodity"),
)


def quote(symbol: str, at_ms: int | None = START_MS) -> Quote:
    price = None if at_ms is None else 100.0
    return Quote(f"xyz:{symbol}", symbol, 5.0, price, at_ms, None if at_ms is None else 0.00001, at_ms)


async def fill(parts: Parts, at_ms: int | None = START_MS, observed_ms: int = START_MS) -> None:
    await parts.documents.listing.put("test", AssetListing(ASSETS), START_MS - HOUR_MS)
    await parts.documents.quotes.put("test", Quotes(observed_ms, [quote(a.symbol, at_ms) for a in ASSETS]), observed_ms)
    await parts.documents.charts.put(
        "test", AssetCharts({"xyz:AAPL": CoinChart(START_MS, "UP", 0, "DOWN", 0)}), START_MS
    )


@pytest.mark.promise("rwa.symbol-forms")
@pytest.mark.parametrize("spelling", ["AAPL", "aapl", "xyz:AAPL", "XYZ:aapl", "Xyz:aApL"])
async def test_an_asset_is_found_by_ticker_with_or_without_its_dex_in_any_case(parts: Parts, spelling: str) -> None:
    await fill(parts)
    asset = parts.told(spelling)
    assert (asset.id, asset.symbol, asset.name, asset.trend_daily) == ("xyz:AAPL", "AAPL", "Apple", "UP")
    assert parts.desk.symbol(spelling).as_of_ms == START_MS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("AAPLE", ["AAPL"]),
        ("apple", ["AAPL"]),
        ("samsung", ["SMSN"]),
        ("km:AAPL", ["AAPL"]),
        ("BTC", []),
        ("QQQQ", []),
        ("", ["AAPL", "CL", "GOLD", "SMSN"]),
        ("xyz:", ["AAPL", "CL", "GOLD", "SMSN"]),
        ("a:b:AAPL", ["AAPL"]),
        ("\uff21\uff21\uff30\uff2c", []),
        ("x" * 5_000, []),
    ],
)
async def test_an_unknown_asset_is_refused_with_the_closest_and_a_name_is_only_suggested(
    parts: Parts, text: str, candidates: list[str]
) -> None:
    await fill(parts)
    with pytest.raises(ServiceError) as refused:
        parts.desk.symbol(text)
    assert (refused.value.code, refused.value.details) == ("UNKNOWN_SYMBOL", {"candidates": candidates})


async def test_the_closest_are_named_in_the_message_too(parts: Parts) -> None:
    await fill(parts)
    with pytest.raises(ServiceError, match=r"No real-world asset 'AAPLE' is listed\. The closest is AAPL\."):
        parts.desk.symbol("AAPLE")
    with pytest.raises(ServiceError, match=r"No real-world asset 'QQQQ' is listed\.$"):
        parts.desk.symbol("QQQQ")


@pytest.mark.promise("rwa.assets-payload")
async def test_assets_are_listed_most_traded_first_as_of_the_listing(parts: Parts) -> None:
    await fill(parts)
    answer = parts.desk.assets(None, 200)
    assert answer.as_of_ms == START_MS - HOUR_MS
    assert read(answer, RwaAssets) == RwaAssets(
        4, [RwaListing(asset.id, asset.symbol, asset.name, asset.type, "hyperliquid") for asset in ASSETS]
    )


@pytest.mark.promise("rwa.assets-parameters")
@pytest.mark.parametrize(
    ("kind", "top", "count", "symbols"),
    [
        (None, 2, 4, ["GOLD", "AAPL"]),
        ("equity", 200, 2, ["AAPL", "SMSN"]),
        ("equity", 1, 2, ["AAPL"]),
        ("fx", 200, 0, []),
    ],
)
async def test_a_list_may_be_narrowed_to_a_type_and_cut(
    parts: Parts, kind: AssetType | None, top: int, count: int, symbols: list[str]
) -> None:
    await fill(parts)
    listed = read(parts.desk.assets(kind, top), RwaAssets)
    assert (listed.count, [asset.symbol for asset in listed.assets]) == (count, symbols)


async def test_answers_are_encoded_once_until_they_change(parts: Parts, clock: FakeClock) -> None:
    await fill(parts)
    one, many = parts.desk.symbol("AAPL"), parts.desk.assets(None, 200)
    await clock.advance(59)
    assert parts.desk.symbol("xyz:aapl") is one
    await clock.advance(31)
    assert parts.desk.assets(None, 200) is many
    await clock.advance(0.001)
    assert parts.desk.symbol("AAPL") is not one
    assert "price" in parts.told("AAPL")._stale_fields
    await fill(parts)
    assert parts.desk.assets(None, 200) is not many


async def test_a_failed_round_names_what_it_did_not_bring(parts: Parts) -> None:
    await fill(parts)
    assert parts.told("AAPL")._stale_fields == ["open_interest_usd"]
    await parts.documents.quotes.fail(FetchFailure(START_MS, 503, "down"))
    assert {"price", "funding", "volume_24h_usd"} <= set(parts.told("AAPL")._stale_fields)


async def test_before_the_first_data_the_caller_is_asked_to_wait(parts: Parts) -> None:
    for ask in (partial(parts.desk.symbol, "AAPL"), partial(parts.desk.assets, None, 1)):
        with pytest.raises(ServiceError) as refused:
            ask()
        assert (refused.value.code, refused.value.headers["Retry-After"]) == ("UNAVAILABLE", "5")


async def test_a_venue_that_fails_from_the_start_is_named(parts: Parts) -> None:
    await parts.documents.listing.fail(FetchFailure(START_MS, 403, "not from here"))
    for ask in (partial(parts.desk.symbol, "AAPL"), partial(parts.desk.assets, None, 1)):
        with pytest.raises(ServiceError) as refused:
            ask()
        assert refused.value.code == "UPSTREAM_4XX"
        assert refused.value.details == {
            "upstream": "hyperliquid",
            "upstreamStatus": 403,
            "upstreamBody": "not from here",
        }


async def test_an_asset_without_any_quote_is_the_venues_silence_or_ours(parts: Parts, clock: FakeClock) -> None:
    await parts.documents.listing.put("test", AssetListing(ASSETS), START_MS)
    with pytest.raises(ServiceError) as early:
        parts.desk.symbol("AAPL")
    assert early.value.code == "UNAVAILABLE"
    await fill(parts, at_ms=None)
    with pytest.raises(ServiceError) as silent:
        parts.desk.symbol("AAPL")
    assert (silent.value.code, (silent.value.details or {})["upstreamStatus"]) == ("UPSTREAM_5XX", 200)
    await clock.advance(601)
    with pytest.raises(ServiceError) as late:
        parts.desk.symbol("AAPL")
    assert late.value.code == "UNAVAILABLE"


async def test_another_process_tells_the_same(parts: Parts, clock: FakeClock) -> None:
    await fill(parts)
    follower = Parts(parts.dex, parts.binance, parts.sessions, parts.database, clock)
    await follower.document_store.refresh()
    assert follower.desk.symbol("AAPL") == parts.desk.symbol("AAPL")
    assert follower.desk.assets(None, 9) == parts.desk.assets(None, 9)


async def test_readiness_tells_assets_age_and_history(parts: Parts, clock: FakeClock) -> None:
    assert parts.desk.readiness() == {
        "ready": False,
        "assets": 0,
        "prices_age_seconds": None,
        "history": {"known": 0, "total": 0},
        "failing": False,
        "quarantined": {"values": 0, "reasons": {}, "coins": []},
    }
    await fill(parts)
    await clock.advance(7)
    assert parts.desk.readiness() == {
        "ready": True,
        "assets": 4,
        "prices_age_seconds": 7,
        "history": {"known": 1, "total": 4},
        "failing": False,
        "quarantined": {"values": 0, "reasons": {}, "coins": []},
    }


@pytest.mark.promise("start.ready")
async def test_it_is_ready_once_first_prices_are_confirmed_and_answers_until_then_that_they_are_not(
    parts: Parts,
) -> None:
    parts.dex.list_asset("AAPL", "stocks")
    await parts.quotes.round()
    assert parts.desk.readiness()["ready"] is False
    await parts.listing.round()
    assert parts.desk.readiness()["ready"] is False
    with pytest.raises(ServiceError, match="price of AAPL is not confirmed yet") as refused:
        parts.desk.symbol("AAPL")
    assert (refused.value.code, refused.value.headers) == ("UNAVAILABLE", {"Retry-After": "15"})
    await parts.bars.round()
    await parts.quotes.recheck()
    assert parts.desk.readiness()["ready"] is True
    assert parts.told("AAPL").price == 100.0


async def test_it_is_ready_to_say_so_where_nothing_could_be_had(parts: Parts) -> None:
    parts.dex.faults.next = reset
    for step in (parts.quotes, parts.listing):
        with pytest.raises(UpstreamError):
            await step.round()
    assert parts.desk.readiness()["ready"] is True
