"""The replay server over real HTTP: the venue's own forms, limits and refusals, in present time."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from service.clock import DAY_MS, HOUR_MS, FrozenClock
from service.upstream.failures import UpstreamError
from service.upstream.fixture_set import FixtureError
from service.upstream.replay.history import Mode
from service.upstream.replay.recording import frozen_at
from service.upstream.replay.server import UPSTREAMS, WEIGHT_PER_MINUTE, Replay, replay_server
from service.upstream.responses import http_date
from service.upstream.session import UpstreamSession, open_session
from tests.fakes.clock import FakeClock
from tests.upstream import faults
from tests.upstream.conftest import FIXTURES

SAMPLES = Path(__file__).resolve().parents[2] / "../shared/data/wire"
FROZEN_AT_MS = frozen_at(FIXTURES)
ANY = msgspec.json.Decoder(Any)


@asynccontextmanager
async def replaying(
    clock: FakeClock | FrozenClock, mode: Mode = "shifted"
) -> AsyncIterator[tuple[Replay, UpstreamSession]]:
    async with (
        replay_server(FIXTURES, clock, mode) as replay,
        open_session("hyperliquid", replay.url, clock, weight_per_minute=WEIGHT_PER_MINUTE) as session,
    ):
        yield replay, session


async def ask(session: UpstreamSession, **question: object) -> Any:
    async with asyncio.timeout(20):
        return (await session.post_json("/info", question, weight=20, decoder=ANY)).value


@pytest.mark.promise("fixtures.shifted")
async def test_shifted_time_ends_today_and_the_shift_grows_at_midnight(clock: FakeClock) -> None:
    clock.set_wall(FROZEN_AT_MS + 10 * DAY_MS)
    async with replaying(clock) as (replay, session):
        origin, days = replay.origin, await candles(session, "1d")
        assert days[-1]["T"] == clock.now_ms()
        await clock.advance(0.001)
        assert replay.origin != origin
        moved = await candles(session, "1d")
    assert replay.origin.endswith(":shifted:+11d")
    assert moved[-1]["T"] - days[-1]["T"] == DAY_MS
    assert [bar["c"] for bar in moved[:-1]] == [bar["c"] for bar in days[:-1]]
    assert (moved[-1]["o"], moved[-1]["c"]) == (days[-1]["o"], days[-1]["o"])


async def candles(session: UpstreamSession, interval: str, coin: str = "BTC", start_ms: int = 0) -> list[Any]:
    found = await ask(session, type="candleSnapshot", req={"coin": coin, "interval": interval, "startTime": start_ms})
    assert isinstance(found, list)
    return found


@pytest.mark.promise("fixtures.frozen")
async def test_frozen_time_is_kept_and_never_passes_the_recordings_end() -> None:
    clock = FakeClock(FROZEN_AT_MS)
    async with replaying(clock, "frozen") as (replay, session):
        origin, before = replay.origin, await candles(session, "1h")
        await clock.advance(3 * DAY_MS / 1_000)
        assert (replay.origin, await candles(session, "1h")) == (origin, before)
    assert before[-1]["T"] == FROZEN_AT_MS
    assert re.fullmatch(r"fixtures:[0-9a-f]{12}:frozen:\+0d", origin)


async def test_the_same_instant_gives_the_same_bytes() -> None:
    answers = []
    for _ in range(2):
        async with replaying(FrozenClock(FROZEN_AT_MS), "frozen") as (_, session):
            answers.append(
                [await ask(session, type=kind) for kind in ("metaAndAssetCtxs", "allMids", "predictedFundings")]
            )
    assert answers[0] == answers[1]


async def test_the_date_header_is_the_clock_handed_in(clock: FakeClock) -> None:
    async with replaying(clock) as (_, session):
        fetched = await session.post_json("/info", {"type": "perpDexs"}, weight=20, decoder=ANY)
    assert fetched.date_ms == clock.now_ms()


async def test_times_asked_for_and_answered_are_present_time(clock: FakeClock) -> None:
    clock.set_wall(FROZEN_AT_MS + 100 * DAY_MS - 5 * HOUR_MS)
    async with replaying(clock) as (_, session):
        (bar,) = await candles(session, "1h", start_ms=clock.now_ms())
        start = clock.now_ms() - 2 * HOUR_MS
        payments = await ask(session, type="fundingHistory", coin="BTC", startTime=start)
        none = await ask(session, type="fundingHistory", coin="BTC", startTime=start, endTime=start)
        ((_, ((_, next_payment),)), *_) = await ask(session, type="predictedFundings")
    assert bar["t"] <= clock.now_ms() <= bar["T"]
    assert [start <= row["time"] <= clock.now_ms() for row in payments] == [True, True]
    assert none == []
    assert next_payment["nextFundingTime"] == clock.now_ms() + 1


@pytest.mark.promise("fixtures.wire")
@pytest.mark.parametrize(("dex", "listed", "traded"), [("", 85, 80), ("xyz", 26, 26)])
async def test_meta_is_index_aligned_with_its_contexts(clock: FakeClock, dex: str, listed: int, traded: int) -> None:
    async with replaying(clock) as (_, session):
        meta, contexts = await ask(session, type="metaAndAssetCtxs", dex=dex)
        assert await ask(session, type="meta", dex=dex) == meta
        mids = await ask(session, type="allMids", dex=dex)
    assert len(meta["universe"]) == len(contexts) == listed
    quoted = [(row["name"], context["midPx"]) for row, context in zip(meta["universe"], contexts, strict=True)]
    assert {name: mid for name, mid in quoted if mid} == mids
    assert len(mids) == traded
    assert all(name.startswith("xyz:") == bool(dex) for name, _ in quoted)


async def test_without_a_dex_the_venues_own_is_meant(clock: FakeClock) -> None:
    async with replaying(clock) as (_, session):
        for kind in ("meta", "metaAndAssetCtxs", "allMids"):
            assert await ask(session, type=kind) == await ask(session, type=kind, dex="")
            assert await ask(session, type=kind) == await ask(session, type=kind, dex=None)


async def test_the_builders_dex_is_named_and_its_markets_are_annotated(clock: FakeClock) -> None:
    async with replaying(clock) as (_, session):
        own, builders = await ask(session, type="perpDexs")
        notes = await ask(session, type="perpConciseAnnotations")
    assert (own, builders["name"], builders["fullName"]) == (None, "xyz", "XYZ")
    assert dict(notes)["xyz:CL"] == {
        "category": "commodities",
        "displayName": "WTI Crude Oil",
        "keywords": ["oil", "wti"],
    }


async def test_a_builders_market_is_found_by_its_whole_name_only(clock: FakeClock) -> None:
    clock.set_wall(FROZEN_AT_MS)
    async with replaying(clock) as (_, session):
        bars = await candles(session, "1d", "xyz:TSLA")
        assert await ask(session, type="fundingHistory", coin="xyz:TSLA", startTime=FROZEN_AT_MS - HOUR_MS) != []
        for coin in ("TSLA", "xyz:tsla", "XYZ:TSLA", "xyz:BTC"):
            span = {"coin": coin, "interval": "1d", "startTime": 0}
            assert await ask(session, type="candleSnapshot", req=span) is None
    assert (len(bars), bars[-1]["s"], bars[-1]["T"]) == (400, "xyz:TSLA", FROZEN_AT_MS)


async def test_the_old_bars_of_a_delisted_coin_are_still_answered(clock: FakeClock) -> None:
    clock.set_wall(FROZEN_AT_MS)
    async with replaying(clock) as (_, session):
        matic = await candles(session, "1d", "MATIC")
        assert await candles(session, "1h", "MATIC") == []
        assert await ask(session, type="fundingHistory", coin="MATIC", startTime=0) == []
    assert (len(matic), matic[-1]["T"]) == (900 - 318, FROZEN_AT_MS - 318 * DAY_MS)


@pytest.mark.parametrize("mode", ["frozen", "shifted"])
async def test_nothing_after_now_is_served_of_either_dex(clock: FakeClock, mode: Mode) -> None:
    now = FROZEN_AT_MS - 7 * HOUR_MS if mode == "frozen" else clock.now_ms()
    clock.set_wall(now)
    async with replaying(clock, mode) as (_, session):
        for coin in ("BTC", "xyz:GOLD"):
            for interval in ("1h", "1d"):
                bars = await candles(session, interval, coin, now - 3 * DAY_MS)
                assert max(bar["t"] for bar in bars) <= now < bars[-1]["T"] + 1
            paid = await ask(session, type="fundingHistory", coin=coin, startTime=now - DAY_MS)
            assert 0 < len(paid) <= 24
            assert max(row["time"] for row in paid) <= now


@pytest.mark.parametrize("kind", ["candleSnapshot", "fundingHistory"])
async def test_an_unknown_coin_is_null(clock: FakeClock, kind: str) -> None:
    span = {"coin": "TSLA", "interval": "1d", "startTime": 0}
    async with replaying(clock) as (_, session):
        assert await ask(session, type=kind, req=span, coin="TSLA", startTime=0) is None


@pytest.mark.parametrize("kind", ["meta", "metaAndAssetCtxs", "allMids"])
async def test_an_unknown_dex_is_null_at_500(clock: FakeClock, kind: str) -> None:
    async with replaying(clock) as (_, session):
        with pytest.raises(UpstreamError) as caught:
            await ask(session, type=kind, dex="nope")
    assert (caught.value.upstream_status, caught.value.body) == (500, "null")


@pytest.mark.parametrize(
    "question",
    [
        {"type": "nonsense"},
        {},
        {"type": "candleSnapshot"},
        {"type": "candleSnapshot", "req": {"coin": "BTC", "interval": "7d", "startTime": 0}},
        {"type": "candleSnapshot", "req": {"coin": "BTC", "interval": "1d", "startTime": "0"}},
        {"type": "fundingHistory", "coin": "BTC"},
    ],
)
async def test_nonsense_is_422_in_plain_text(clock: FakeClock, question: dict[str, object]) -> None:
    async with replaying(clock) as (_, session):
        with pytest.raises(UpstreamError) as caught:
            await ask(session, **question)
    assert caught.value.upstream_status == 422
    assert caught.value.body.startswith("Failed to deserialize")


async def test_a_fault_can_be_put_in_the_venues_place(clock: FakeClock) -> None:
    async with replaying(clock) as (replay, session):
        replay.interceptor = put = faults.Faults()
        put.next = faults.html
        with pytest.raises(UpstreamError):
            await ask(session, type="allMids")
        put.next = None
        assert "BTC" in await ask(session, type="allMids")
    assert put.requests == [b'{"type":"allMids"}'] * 3


async def test_a_missing_fixture_set_is_refused_with_a_remedy(clock: FakeClock, tmp_path: Path) -> None:
    with pytest.raises(FixtureError, match="make fixtures"):
        async with replay_server(tmp_path, clock, "shifted"):
            pytest.fail("it started")


def fields(value: Any) -> Any:
    """The shape of a JSON value: the field names of its objects, and of every element of its arrays at once."""
    if isinstance(value, dict):
        return {name: fields(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [fields(value[0])] if value else []
    return None


needs_samples = pytest.mark.skipif(not SAMPLES.is_dir(), reason="../shared/data is not here: no recorded samples")


def cassette(name: str) -> Any:
    """The answer of a recorded exchange: the longest JSON string in it."""
    text = (SAMPLES / "hyperliquid-sdk" / name).read_text()
    return json.loads(re.findall(r"string: '(.*?)'\n", text, re.DOTALL)[-1])


@needs_samples
@pytest.mark.recorded
@pytest.mark.promise("fixtures.wire")
async def test_candles_mids_and_payments_have_the_fields_of_recorded_ones(clock: FakeClock) -> None:
    async with replaying(clock) as (_, session):
        bars = await candles(session, "1h", "kPEPE")
        payments = await ask(session, type="fundingHistory", coin="BTC", startTime=0)
        mids = await ask(session, type="allMids")
    assert fields(bars) == fields(cassette("test_get_candles_snapshot.yaml"))
    assert fields(payments) == fields(cassette("test_get_funding_history1684811870000.yaml"))
    recorded = cassette("test_get_all_mids.yaml")
    assert {type(mid) for mid in mids.values()} == {type(mid) for mid in recorded.values()}
    assert {type(value) for bar in bars for value in bar.values()} == {int, str}


@pytest.mark.promise("fixtures.wire")
@needs_samples
@pytest.mark.recorded
async def test_contexts_have_the_fields_of_recorded_ones_nulls_included(clock: FakeClock) -> None:
    sample = json.loads((SAMPLES / "hyperliquid-nautilus" / "ws_all_dexs_asset_ctxs.json").read_text())
    recorded = dict(sample["data"]["ctxs"])[""]
    async with replaying(clock) as (_, session):
        meta, contexts = await ask(session, type="metaAndAssetCtxs")
    assert {frozenset(context) for context in contexts} == {frozenset(context) for context in recorded}
    nulls = {name for context in recorded for name, value in context.items() if value is None}
    assert {name for context in contexts for name, value in context.items() if value is None} == nulls
    universe = cassette("test_get_info.yaml")["universe"]
    assert set(universe[0]) <= set(meta["universe"][0])


async def test_every_upstream_has_an_address_and_another_has_none(clock: FakeClock) -> None:
    async with replaying(clock) as (replay, _):
        assert replay.base("hyperliquid") == replay.url
        assert [replay.base(name) for name in UPSTREAMS[1:]] == [f"{replay.url}/{name}" for name in UPSTREAMS[1:]]
        with pytest.raises(ValueError, match="'kraken' is not replayed; these are: hyperliquid, binance"):
            replay.base("kraken")


async def test_what_no_upstream_serves_is_not_found_at_the_replays_own_time(clock: FakeClock) -> None:
    async with replaying(clock) as (replay, _), aiohttp.ClientSession() as http:
        async with http.get(replay.base("binance") + "/fapi/v0/nothing") as response:
            assert (response.status, response.headers["Date"]) == (404, http_date(clock.now_ms()))
        replay.interceptor = put = faults.Faults()
        put.next = faults.answer(418)
        async with http.get(replay.base("coindesk") + "/nothing") as response:
            assert response.status == 418
