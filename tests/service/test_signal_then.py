"""`?as_of=`: what was known then, judged again: the verdict that was issued then, whatever has happened since."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from service.clock import HOUR_MS, MINUTE_MS, SECOND_MS, iso, parse_iso
from tests.fakes.asgi import Reply
from tests.service.indoors import LIVE_START_MS, SIGNAL, Indoors, Kept
from tests.service.verdicts import entries, recomputes

pytestmark = pytest.mark.slow

BEFORE = iso(LIVE_START_MS - HOUR_MS)
"""An hour before anything was known."""


class Issued(NamedTuple):
    """A verdict as it was answered: when, and its data without the track record, which is the present's."""

    at: str
    verdict: Any


@pytest.fixture
async def house(kept: Kept, tmp_path: Path) -> AsyncIterator[Indoors]:
    async with kept.reopened(tmp_path / "data") as service:
        await service.pass_time(30, 10)
        yield service


def without_record(reply: Reply) -> Any:
    assert reply.status == 200, reply
    said = reply.json["data"]
    del said["claims"], said["record"]
    return said


async def issue(house: Indoors, key: str, times: int = 3) -> list[Issued]:
    """Ask again and again, a little later each time."""
    issued = []
    for _ in range(times):
        reply = await house.ask(SIGNAL, key=key)
        issued.append(Issued(reply.json["meta"]["ts"], without_record(reply)))
        await house.pass_time(60, 10)
    assert len({verdict["verdict_id"] for _, verdict in issued}) == times, "prices have moved"
    return issued


async def then(house: Indoors, key: str, at: str, coin: str = "BTC") -> Reply:
    return await house.ask(f"/api/cli/signal/{coin}?as_of={at}", key=key)


async def tells_the_same(house: Indoors, key: str, issued: list[Issued]) -> None:
    for at, verdict in issued:
        assert without_record(await then(house, key, at)) == verdict


@pytest.mark.promise("signal.as-of-replay", "signal.verdict-id")
async def test_an_instant_tells_the_verdict_of_then_after_prices_moved_a_restart_and_elsewhere(
    kept: Kept, tmp_path: Path
) -> None:
    async with AsyncExitStack() as outer:
        first = await outer.enter_async_context(AsyncExitStack())
        house = await first.enter_async_context(kept.reopened(tmp_path / "data"))
        await house.pass_time(30, 10)
        issued = await issue(house, kept.key)
        written = len(entries(house.data_dir))
        await tells_the_same(house, kept.key, issued)
        other = await outer.enter_async_context(kept.beside(house))
        await tells_the_same(other, kept.key, issued)
        await first.aclose()
        again = await outer.enter_async_context(kept.beside(house))
        await tells_the_same(again, kept.key, issued)
        again.clock.set_wall(again.clock.at_ms + 30 * HOUR_MS)
        await again.pass_time(60, 15)
        await tells_the_same(again, kept.key, issued)
        asked = [entry for entry in entries(house.data_dir) if entry.kind == "asked"]
        assert [entry.verdict_id for entry in asked] == [verdict["verdict_id"] for _, verdict in issued]
        assert written == len(entries(house.data_dir)) - 7 * (len(days_of(house)) - 1), "to look back writes nothing"
        assert recomputes((await then(again, kept.key, issued[0].at)).body, tmp_path / "answer.json")


def days_of(house: Indoors) -> set[int | None]:
    return {entry.day for entry in entries(house.data_dir) if entry.kind == "daily"}


@pytest.mark.promise("signal.as-of-replay")
async def test_between_two_verdicts_the_earlier_one_stands_and_what_nobody_asked_for_is_known_too(
    house: Indoors, kept: Kept
) -> None:
    first, second = await issue(house, kept.key, 2)
    between = iso(parse_iso(second.at) - 1)
    assert without_record(await then(house, kept.key, between)) == first.verdict
    await house.pass_time(20 * 60, 60)
    for coin in ("SOL", "PEPE"):
        assert coin not in {entry.symbol for entry in entries(house.data_dir) if entry.kind == "asked"}
        for ago in (1, 5, 17):
            at_ms = house.clock.at_ms - ago * MINUTE_MS
            said = (await then(house, kept.key, iso(at_ms), coin)).json["data"]
            observed = said["raw"]["risk"]["observed_at"]
            assert at_ms - 15 * MINUTE_MS - 60_000 < parse_iso(observed) <= at_ms, "never what came later"


@pytest.mark.promise("signal.as-of-replay", "errors.bad-request-parameter")
async def test_an_instant_of_which_nothing_was_written_down_is_not_guessed_at(house: Indoors, kept: Kept) -> None:
    (issued,) = await issue(house, kept.key, 1)
    ahead = await then(house, kept.key, iso(house.clock.at_ms + 1))
    assert (ahead.status, ahead.code) == (400, "BAD_REQUEST")
    assert ahead.json["error"]["details"] == {"parameter": "as_of"}
    early = await then(house, kept.key, BEFORE)
    since = early.json["error"]["details"]["recorded_since"]
    assert (early.status, early.code) == (404, "NOT_FOUND")
    assert iso(LIVE_START_MS) <= since <= issued.at
    assert f"The first one is from {since}" in early.json["error"]["message"]
    assert (await then(house, kept.key, since)).status == 200
    assert (await then(house, kept.key, iso(parse_iso(since) - 1))).status == 404
    ended_ms = house.clock.at_ms
    house.clock.set_wall(ended_ms + 5 * HOUR_MS)
    await house.pass_time(90, 15)
    gap = await then(house, kept.key, iso(ended_ms + 2 * HOUR_MS))
    assert (gap.status, gap.code) == (404, "NOT_FOUND")
    assert "more than half an hour earlier" in gap.json["error"]["message"]
    assert (await then(house, kept.key, iso(house.clock.at_ms))).status == 200


@pytest.mark.promise("meter.errors-free")
async def test_looking_back_costs_a_question_and_a_look_at_nothing_does_not(house: Indoors) -> None:
    free = await house.make_key()
    assert (await then(house, free, iso(house.clock.at_ms))).headers["ratelimit"] == '"questions";r=9'
    for at in (BEFORE, iso(house.clock.at_ms + 60_000), "2025-07-25", "now"):
        refused = await then(house, free, at)
        assert refused.status in {400, 404}
        assert "ratelimit" not in refused.headers
    assert (await then(house, free, iso(house.clock.at_ms))).headers["ratelimit"] == '"questions";r=8'


@pytest.mark.promise("signal.as-of-replay")
async def test_every_instant_at_which_somebody_was_answered_tells_what_he_was_answered(
    house: Indoors, kept: Kept
) -> None:
    await house.pass_time(15 * MINUTE_MS / SECOND_MS - house.clock.at_ms / SECOND_MS % 900 - 25, 15)
    told = {}
    for _ in range(35):  # past a quarter of an hour, when what is known of every coin is written down
        reply = await house.ask(SIGNAL, key=kept.key)
        told[reply.json["meta"]["ts"]] = reply.json["data"]["verdict_id"]
        await house.pass_time(2, 1)
    assert len(set(told.values())) > 3
    again = {at: (await then(house, kept.key, at)).json["data"]["verdict_id"] for at in told}
    assert again == told
