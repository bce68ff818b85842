"""Capturing a venue: what is recorded from the replay is what the replay was made from."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import msgspec
import pytest
from aiohttp import web

from service.clock import DAY_MS
from service.upstream.failures import UpstreamError
from service.upstream.fixture_set import METADATA, FixtureError, read_set, unpack
from service.upstream.recorder import record
from service.upstream.replay.history import Mode
from service.upstream.replay.recording import contexts_file, frozen_at, load_recording
from service.upstream.replay.server import WEIGHT_PER_MINUTE, Replay, replay_server
from service.upstream.session import UpstreamSession, open_session
from tests.fakes.clock import FakeClock
from tests.upstream.conftest import FIXTURES

END_MS = frozen_at(FIXTURES) + 1


@asynccontextmanager
async def venue(at_ms: int, mode: Mode = "frozen") -> AsyncIterator[tuple[Replay, UpstreamSession]]:
    clock = FakeClock(at_ms)
    async with (
        asyncio.timeout(60),
        replay_server(FIXTURES, clock, mode) as replay,
        open_session("hyperliquid", replay.url, clock, weight_per_minute=WEIGHT_PER_MINUTE) as session,
    ):
        yield replay, session


@pytest.mark.slow
@pytest.mark.promise("operator.record")
async def test_a_recording_of_the_whole_venue_is_the_set_it_was_served_from(tmp_path: Path) -> None:
    async with venue(END_MS) as (_, session):
        metadata = await record(session, tmp_path)
    _, recorded = read_set(tmp_path)
    _, whole = read_set(FIXTURES)
    served = {name: content for name, content in whole.items() if name.startswith(f"{session.name}/")}
    assert metadata.files.keys() == recorded.keys() == served.keys()
    for name, content in served.items():
        plain = unpack if name.endswith(".gz") else bytes
        assert plain(recorded[name]) == plain(content), name
    assert (metadata.last_day, metadata.frozen_at, metadata.seed) == ("2025-07-25", END_MS - 1, None)
    assert list(load_recording(tmp_path).days["BTC"]) == list(load_recording(FIXTURES).days["BTC"])


async def test_the_day_under_way_is_left_out(tmp_path: Path) -> None:
    async with venue(END_MS - DAY_MS // 2, "shifted") as (_, session):
        metadata = await record(session, tmp_path, ["ETH"])
    recording = load_recording(tmp_path)
    assert (metadata.last_day, recording.frozen_at_ms) == ("2025-07-24", END_MS - DAY_MS - 1)
    assert recording.days["ETH"][-1].close_ms == recording.hours["ETH"][-1].close_ms == recording.frozen_at_ms
    assert recording.funding["ETH"][-1].time_ms < END_MS - DAY_MS


async def test_only_the_coins_asked_for_are_captured(tmp_path: Path) -> None:
    async with venue(END_MS) as (_, session):
        await record(session, tmp_path, ["kPEPE", "BTC", "xyz:GOLD"])
    recording = load_recording(tmp_path)
    assert {dex: [asset.name for asset in meta.universe] for dex, meta in recording.universes.items()} == {
        "": ["BTC", "kPEPE"],
        "xyz": ["xyz:GOLD"],
    }
    assert recording.hours.keys() == recording.days.keys() == recording.funding.keys() == {"BTC", "kPEPE", "xyz:GOLD"}
    assert b"GOLD" in recording.annotations
    assert b"AAPL" not in recording.annotations


async def test_the_old_bars_of_a_delisted_coin_are_captured(tmp_path: Path) -> None:
    async with venue(END_MS) as (_, session):
        await record(session, tmp_path, ["MATIC"])
    recording = load_recording(tmp_path)
    assert recording.universes[""].universe[0].is_delisted
    assert list(recording.days["MATIC"]) == list(load_recording(FIXTURES).days["MATIC"])
    assert (dict(recording.hours), dict(recording.funding)) == ({}, {})


async def test_a_coin_that_is_not_listed_is_refused_by_name(tmp_path: Path) -> None:
    async with venue(END_MS) as (_, session):
        with pytest.raises(FixtureError, match="does not list KPEPE"):
            await record(session, tmp_path, ["BTC", "KPEPE"])
    assert not (tmp_path / METADATA).exists()


async def test_a_venue_that_fails_half_way_leaves_nothing_written(tmp_path: Path) -> None:
    async with venue(END_MS) as (replay, session):

        async def refuse_funding(request: web.Request) -> web.StreamResponse | None:
            return web.Response(status=500) if b"fundingHistory" in await request.read() else None

        replay.interceptor = refuse_funding
        with pytest.raises(UpstreamError):
            await record(session, tmp_path, ["BTC"])
    assert not (tmp_path / METADATA).exists()


async def test_payments_that_do_not_go_forward_end_the_paging(tmp_path: Path) -> None:
    async with venue(END_MS) as (replay, session):

        async def repeat_the_first(request: web.Request) -> web.StreamResponse | None:
            row = b'[{"coin":"BTC","fundingRate":"0.0","premium":null,"time":1}]'
            return web.Response(body=row) if b"fundingHistory" in await request.read() else None

        replay.interceptor = repeat_the_first
        await record(session, tmp_path, ["BTC"])
    assert contexts_file("") in read_set(tmp_path)[1]
    assert len(load_recording(tmp_path).funding["BTC"]) == 1


async def test_what_was_recorded_is_replayed_and_what_was_not_is_missing(tmp_path: Path) -> None:
    async with venue(END_MS) as (_, session):
        await record(session, tmp_path, ["BTC", "xyz:GOLD"])
    clock = FakeClock(END_MS)
    async with (
        replay_server(tmp_path, clock, "frozen") as replay,
        open_session("hyperliquid", replay.url, clock, weight_per_minute=WEIGHT_PER_MINUTE) as session,
        aiohttp.ClientSession() as http,
    ):
        question: dict[str, object] = {"type": "allMids", "dex": "xyz"}
        mids = await session.post_json("/info", question, weight=2, decoder=msgspec.json.Decoder(dict[str, str]))
        assert mids.value.keys() == {"xyz:GOLD"}
        for path in ("binance/fapi/v1/premiumIndex", "coingecko/api/v3/coins/categories", "alternative/fng/"):
            async with http.get(f"{replay.url}/{path}") as response:
                assert response.status < 500, path
