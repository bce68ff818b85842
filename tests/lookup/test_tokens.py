"""Contracts and totals: when they are requested, what is kept, and what becomes of failures."""

import json
from collections.abc import AsyncIterator
from math import fsum

import pytest
from aiohttp import web

from fixtures.coingecko import TOKENS
from service.clock import DAY_MS, HOUR_MS, iso
from service.errors import ServiceError
from service.lookup.chains import CHAINS, find_chain, normalized
from service.lookup.tokens import RETRY_S, TokenDocuments, TokenRefresh, contracts_of
from service.market.sources.coingecko import OVERVIEW, PLATFORMS, CoinGecko, GeckoOverview
from service.storage.database import Database
from service.storage.documents import FetchFailure
from service.upstream.failures import UpstreamError
from service.wire.market import GlobalMarket
from tests.fakes.clock import FakeClock
from tests.lookup.world import LookupWorld, read
from tests.market.gecko import Gecko, open_gecko
from tests.market.recordings import needs_recordings
from tests.market.test_coingecko import sample

LIST, GLOBAL = "/coins/list", "/global"


class Kept:
    """The refresh over the replay, moved by hand."""

    def __init__(self, gecko: Gecko) -> None:
        self.gecko = gecko
        self.clock = gecko.clock
        self.source: CoinGecko = gecko.source
        self.documents = TokenDocuments.on(gecko.document_store)
        self.refresh = TokenRefresh(gecko.clock, self.documents, gecko.source, lambda: gecko.origin)

    def asked(self) -> tuple[int, int]:
        """How often contracts and totals were requested."""
        return len(self.gecko.asked(LIST)), len(self.gecko.asked(GLOBAL))


@pytest.fixture
async def kept(clock: FakeClock, database: Database) -> AsyncIterator[Kept]:
    async with open_gecko(clock, database) as gecko:
        yield Kept(gecko)


@pytest.mark.promise("contract.daily")
async def test_contracts_are_requested_once_a_day_and_totals_as_often_as_figures(kept: Kept) -> None:
    await kept.refresh.round()
    assert kept.asked() == (1, 1)
    assert kept.documents.tokens.current.observed_ms == kept.clock.now_ms()
    await kept.clock.advance(60)
    await kept.refresh.round()
    assert kept.asked() == (1, 1)
    await kept.clock.advance(kept.source.refresh_s())
    await kept.refresh.round()
    assert kept.asked() == (1, 2)
    await kept.clock.advance(DAY_MS / 1_000)
    await kept.refresh.round()
    assert kept.asked() == (2, 3)


@pytest.mark.promise("contract.table")
async def test_every_recorded_contract_is_kept_by_chain(kept: Kept) -> None:
    await kept.refresh.round()
    tokens = kept.documents.tokens.current.value
    assert tokens is not None
    found = contracts_of(tokens)
    names = {ids[0]: chain for chain, ids in CHAINS.items()}
    for (coin_id, _, _), contracts in TOKENS.items():
        for platform, address in contracts.items():
            assert (names[platform], coin_id) in [(chain, token.id) for chain, token in found[normalized(address)]]


async def test_a_failure_is_kept_with_the_old_values_and_contracts_wait_an_hour(kept: Kept) -> None:
    for part in (LIST, GLOBAL):
        kept.gecko.broken[part] = web.Response(status=404, body=b"broken")
    with pytest.raises(UpstreamError):
        await kept.refresh.round()
    for document in kept.documents:
        failure = document.current.failure
        assert failure is not None
        assert (document.current.value, failure.status) == (None, 404)
    kept.gecko.broken.clear()
    await kept.clock.advance(kept.source.refresh_s())
    await kept.refresh.round()
    assert kept.documents.tokens.current.value is None
    assert kept.documents.overview.current.value is not None
    await kept.clock.advance(RETRY_S)
    await kept.refresh.round()
    assert kept.documents.tokens.current.value is not None


async def test_another_dataset_is_requested_at_once_and_its_answer_is_kept_for_it_alone(kept: Kept) -> None:
    await kept.refresh.round()
    kept.gecko.origin = "another"
    await kept.refresh.round()
    assert (kept.asked(), kept.documents.tokens.current.origin) == ((2, 2), "another")
    turns = iter(("third", "fourth", "fourth", "fourth"))
    turning = TokenRefresh(kept.clock, kept.documents, kept.source, lambda: next(turns))
    await turning.round()
    assert {document.current.origin for document in kept.documents} == {"another"}


async def test_answers_without_coins_or_total_are_not_kept(kept: Kept) -> None:
    body = {"data": {"total_market_cap": {}, "total_volume": {}, "market_cap_percentage": {}, "updated_at": 1}}
    kept.gecko.broken[GLOBAL] = web.json_response(body)
    kept.gecko.broken[LIST] = web.json_response(
        [{"id": "btc", "symbol": "btc", "name": "Bitcoin", "platforms": {"": ""}}]
    )
    await kept.refresh.round()
    assert [document.current.value for document in kept.documents] == [None, None]


@pytest.mark.recorded
@needs_recordings
def test_recorded_totals_decode() -> None:
    row = OVERVIEW.decode(sample("GetGlobalData.txt")).data
    assert row.total_market_cap["usd"] == 2515268352188.766
    assert row.updated_at > 1_700_000_000
    assert max(row.market_cap_percentage, key=lambda ticker: row.market_cap_percentage[ticker]) == "btc"


@pytest.mark.recorded
@needs_recordings
def test_recorded_contracts_decode() -> None:
    token, coin = PLATFORMS.decode(sample("GetAssets.txt"))
    assert token.platforms["ethereum"] == "0xb9ef770b6a5e12e45983c5d80545258aa38f3b78"
    assert (coin.id, coin.platforms) == ("01coin", {})


@pytest.mark.promise("contract.chains")
def test_chains_are_known_by_name_ticker_and_number() -> None:
    for text in ("BSC", "Binance Smart Chain", "binance-smart-chain", "bnb", "56"):
        assert find_chain(text) == "bsc"
    assert find_chain("dogechain") is None
    assert find_chain("") is None
    assert normalized("0xABCDEFabcdef0123456789ABCDEFabcdef012345") == "0xabcdefabcdef0123456789abcdefabcdef012345"
    assert normalized("0xABC") == "0xABC"


async def overview(world: LookupWorld) -> GlobalMarket:
    return read(world.overview.overview(), GlobalMarket)


@pytest.mark.promise("global.payload")
async def test_totals_are_coingeckos(kept: Kept, world: LookupWorld) -> None:
    await kept.refresh.round()
    found = kept.documents.overview.current.value
    assert found is not None
    page = [row for number in (1, 2) for row in await kept.source.page(number)]
    caps = {row.id: row.market_cap for row in page if row.market_cap is not None}
    total = fsum(caps.values())
    assert found.market_cap == pytest.approx(total)
    assert found.volume_usd == pytest.approx(fsum(row.volume_usd or 0.0 for row in page))
    assert found.shares["btc"] == pytest.approx(caps["bitcoin"] / total * 100)
    seen_ms = world.clock.now_ms()
    await world.tokens.overview.put(
        world.origin, GeckoOverview(4e12, -1.23456, 1.6e11, {"eth": 11.0, "btc": 58.41234, "x": 1.0}, seen_ms), seen_ms
    )
    told = await overview(world)
    assert json.loads(json.dumps(told.marketCapPercentage)) == {"btc": 58.4123, "eth": 11.0, "x": 1.0}
    assert list(told.marketCapPercentage) == ["btc", "eth", "x"]
    assert (told.btc_dominance_pct, told.scope) == (58.4123, "all coins that CoinGecko tracks")
    assert (told.totalMarketCap.market_cap_usd, told.totalMarketCap.change_24h_pct) == (4e12, -1.2346)
    assert (told.totalMarketVolume.volume_24h_usd, told.stale_fields) == (1.6e11, [])
    assert told.as_of == told.totalMarketCap.at == iso(seen_ms)


@pytest.mark.promise("global.fallback")
async def test_without_totals_those_of_the_tracked_coins_are_shown_and_said_so(world: LookupWorld) -> None:
    coins = [coin for coin in world.market.gecko_coins().values() if coin.market_cap is not None]
    total = fsum(coin.market_cap or 0.0 for coin in coins)
    told = await overview(world)
    assert told.scope == f"{len(coins)} tracked coins"
    assert told.totalMarketCap.market_cap_usd == pytest.approx(total)
    assert told.totalMarketCap.change_24h_pct is None
    assert told.marketCapPercentage["btc"] == pytest.approx((coins[0].market_cap or 0.0) / total * 100, abs=1e-4)


@pytest.mark.promise("global.stale")
async def test_old_totals_are_named_and_after_two_days_there_are_none(world: LookupWorld) -> None:
    at_ms = world.clock.now_ms()
    await world.tokens.overview.put(world.origin, GeckoOverview(4e12, None, None, {}, at_ms), at_ms)
    world.clock.set_wall(at_ms + HOUR_MS + 1)
    told = await overview(world)
    assert told.stale_fields == ["totalMarketCap", "totalMarketVolume", "marketCapPercentage"]
    assert (told.btc_dominance_pct, told.totalMarketVolume.volume_24h_usd) == (None, None)
    await world.tokens.overview.fail(FetchFailure(at_ms, 500, "broken"))
    world.clock.set_wall(at_ms + 49 * HOUR_MS)
    with pytest.raises(ServiceError) as caught:
        await overview(world)
    assert caught.value.code == "UPSTREAM_5XX"


async def test_before_anything_is_known_it_says_so(empty: LookupWorld) -> None:
    with pytest.raises(ServiceError, match="Market totals are not available yet"):
        await overview(empty)
