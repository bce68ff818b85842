"""The streams of the whole service: what they tell, what they say when something goes wrong, and how they go on."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service.wire import regime, streams
from service.wire.streams import STREAMS
from tests.service.indoors import Kept
from tests.service.watching import Line, cursor_of, following, ticks
from tests.upstream.faults import reset

pytestmark = pytest.mark.slow

TOLD: dict[str, Any] = {
    "funding": streams.FundingState,
    "regime": list[regime.RegimePosition],
    "sentiment": streams.SentimentState,
    "prices": streams.PricesState,
}
LINE = msgspec.json.Decoder(streams.Line)


@pytest.mark.promise("watch.streams", "watch.lines", "watch.ndjson", "watch.heartbeat")
async def test_each_of_the_six_streams_begins_with_an_open_line_and_tells_what_its_name_says(
    kept: Kept, tmp_path: Path
) -> None:
    async with kept.reopened(tmp_path / "data") as house, AsyncExitStack() as stack:
        for name in STREAMS:
            key = await house.make_key("pro")
            stream = await stack.enter_async_context(following(house, key, name, interval=10))
            if name in TOLD:
                await stream.until("event", 2)
            else:
                await stream.until("heartbeat")
            opened, *rest = stream.lines
            assert (opened["type"], opened["stream"], opened["interval"]) == ("open", name, 10)
            assert opened["source"] == stream.fields["x-data-source"] == "live"
            for line in rest:
                LINE.decode(msgspec.json.encode(line))
                if line["type"] == "event":
                    assert line["stream"] == name
                    msgspec.convert(line["data"], TOLD[name])
                    assert set(line["meta"]) == {"ts", "as_of", "data_age_seconds", "tick", "cursor"}
                else:
                    assert lives([line]) == [True]


async def test_a_price_of_the_stream_is_that_of_the_routes(kept: Kept, tmp_path: Path) -> None:
    async with kept.reopened(tmp_path / "data") as house, following(house, kept.key, "prices", interval=10) as stream:
        await stream.until("event", 4)
        await house.pass_time(5, 1)
        newest = stream.of("event")[-1]["data"]["prices"]["BTC"]
        asked = (await house.ask(key=kept.key)).json["data"]["price"]
        assert newest["price"] == pytest.approx(asked, rel=0.01)


@pytest.mark.promise("watch.heartbeat")
async def test_when_the_venue_and_its_fall_back_die_readers_are_told_and_told_again_when_it_lives(
    kept: Kept, tmp_path: Path
) -> None:
    async with (
        kept.reopened(tmp_path / "data") as house,
        following(house, kept.key, "prices", interval=10) as prices,
        following(house, kept.key, "alerts") as alerts_,
    ):
        await prices.until("event", 2)
        assert False not in lives(alerts_.read())
        await house.lose("hyperliquid", "feed", "binance", fault=reset)
        await house.pass_until(lambda: False in lives(prices.read()) and False in lives(alerts_.read()))
        before = len(prices.of("event"))
        later = (await prices.until("event", before + 3))[-2:]
        ages = [line["meta"]["data_age_seconds"] for line in later]
        assert ages[1] - ages[0] >= 9, "the age grows while nothing is new"
        house.doors.open()
        heard = len(alerts_.lines)
        await house.pass_until(lambda: True in lives(alerts_.read()[heard:]))


def lives(lines: Sequence[Line]) -> list[bool]:
    """What heartbeats said of the upstream."""
    return [line["meta"]["live"] for line in lines if line["type"] == "heartbeat"]


@pytest.mark.promise("watch.close", "watch.gap")
async def test_over_a_restart_a_cursor_loses_and_repeats_nothing(kept: Kept, tmp_path: Path) -> None:
    async with kept.reopened(tmp_path / "data") as house:
        async with following(house, kept.key, "prices", interval=10) as stream:
            await stream.until("event", 3)
            house.service.streams.stop()
            await house.pass_until(lambda: bool(stream.read()) and stream.over)
            assert stream.lines[-1]["type"] == "close"
            assert stream.lines[-1]["reason"] == "shutdown"
            told, cursor = ticks(stream.lines), cursor_of(stream.lines[-1])
        at_ms = house.clock.at_ms
    again = kept._replace(data_dir=tmp_path / "data", at_ms=at_ms)
    async with (
        again.reopened(tmp_path / "again") as house,
        following(house, kept.key, "prices", interval=10, cursor=cursor) as stream,
    ):
        await stream.until("event", 3)
        assert not stream.of("gap")
        told += ticks(stream.lines)
    _, *after = told  # the first event of a new reader is the newest state, whatever its number
    assert after == list(range(after[0], after[0] + 2 * len(after), 2)), "every second state, as ten seconds ask for"


async def test_a_cursor_of_one_process_is_good_on_another_and_both_tell_the_same(kept: Kept, tmp_path: Path) -> None:
    async with (
        kept.reopened(tmp_path / "data") as leader,
        kept.beside(leader) as other,
        following(leader, kept.key, "funding", interval=10) as first,
    ):
        await first.until("event", 2)
        cursor = cursor_of(first.of("event")[0])
        async with following(other, kept.key, "funding", interval=10, cursor=cursor) as second:
            await second.until("event", 3)
            await leader.pass_until(lambda: len(first.of("event")) >= 4)
            assert first.of("event")[1:4] == second.of("event")[:3]


@pytest.mark.promise("watch.close")
async def test_a_service_that_stops_closes_streams_and_whoever_comes_too_late_is_told_at_once(
    kept: Kept, tmp_path: Path
) -> None:
    async with kept.reopened(tmp_path / "data") as house, AsyncExitStack() as stack:
        opened = []
        for name in STREAMS:
            key = await house.make_key("pro")
            opened.append(await stack.enter_async_context(following(house, key, name)))
        house.service.streams.stop()
        late = await stack.enter_async_context(following(house, kept.key, "prices"))
        for stream in (*opened, late):
            await house.pass_until(lambda stream=stream: bool(stream.read()) and stream.over)  # type: ignore[misc]
            assert (stream.lines[0]["type"], stream.lines[-1]["reason"]) == ("open", "shutdown")


@pytest.mark.promise("revocation.streams")
async def test_a_key_that_the_operator_revokes_ends_its_streams_within_five_seconds(kept: Kept, tmp_path: Path) -> None:
    async with kept.reopened(tmp_path / "data") as house:
        key = await house.make_key("pro")
        async with following(house, key, "prices") as stream, following(house, kept.key, "prices") as other:
            await house.revoke_key(key)
            begun_s = house.clock.monotonic()
            await house.pass_until(lambda: bool(stream.read()) and stream.over)
            assert house.clock.monotonic() - begun_s <= 5
            assert [line["type"] for line in stream.lines[-2:]] == ["error", "close"]
            assert stream.lines[-2]["error"]["code"] == "AUTH_INVALID"
            assert stream.lines[-1]["reason"] == "revoked"
            assert not other.over


@pytest.mark.promise("watch.not-payable", "watch.free")
async def test_the_manifest_offers_the_streams_for_a_question_and_for_no_money(kept: Kept, tmp_path: Path) -> None:
    async with kept.reopened(tmp_path / "data") as house:
        rows = (await house.ask("/api/cli/manifest")).json["data"]["routes"]
        (row,) = [row for row in rows if row["id"] == "watch"]
        assert (row["streaming"], row["payable"], row["price_atomic"]) == (True, False, "0")
        assert {each["name"] for each in row["parameters"]} == {"stream", "interval", "max", "diff", "cursor"}
        assert "/api/cli/watch/" not in (await house.ask("/.well-known/x402")).body.decode()
        documented = (await house.ask("/openapi.json")).json["paths"]["/api/cli/watch/{stream}"]["get"]
        assert list(documented["responses"]["200"]["content"]) == ["application/x-ndjson"]
        assert "402" not in documented["responses"]
        assert "x-payment-info" not in documented
