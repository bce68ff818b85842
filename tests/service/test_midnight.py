"""00:00 UTC under a moved recording, which begins another history then: every route, second by second."""

from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from service.clock import DAY_MS, MINUTE_MS, SECOND_MS, iso, midnight_after, parse_iso
from tests.fakes.asgi import Reply
from tests.fakes.clock import START_MS, FakeClock
from tests.service.indoors import EVERYTHING, RISK, Indoors, Kept, indoors, is_complete

pytestmark = pytest.mark.slow

MIDNIGHT_MS = midnight_after(START_MS)
HEALTH = "/api/cli/market/health?context=1"
HOURS, DAYS = EVERYTHING[1:3]
LONGEST_GAP_S = 20
"""What closed bars alone tell is fetched anew, with the next round of each series."""


@pytest.fixture
async def house(kept: Kept, tmp_path: Path) -> AsyncIterator[Indoors]:
    async with indoors(tmp_path, FakeClock(MIDNIGHT_MS - 5 * MINUTE_MS), fixtures_dir=kept.fixtures_dir) as service:
        await service.be_complete()
        await service.pass_time((MIDNIGHT_MS - service.clock.at_ms) / SECOND_MS - 5, 10)
        yield service


async def ask_all(house: Indoors, key: str) -> dict[str, Reply]:
    return {target: await house.ask(target, key=key) for target in EVERYTHING}


def data(replies: dict[str, Reply], target: str) -> Any:
    assert replies[target].status == 200, replies[target]
    return replies[target].json["data"]


async def test_midnight_passes_without_a_failure_and_no_two_histories_are_mixed(house: Indoors) -> None:
    key = await house.make_key("pro")
    before = await ask_all(house, key)
    for _ in range(60):
        await house.pass_time(1, 1)
        now = await ask_all(house, key)
        assert all(reply.json["meta"]["data_age_seconds"] >= 0 for reply in now.values() if reply.status == 200)
        gaps = {target for target, reply in now.items() if reply.status != 200}
        if gaps:
            # Bars are the new history's or none: for some seconds there are none.
            assert gaps <= {HOURS, DAYS}
            assert {now[gap].code for gap in gaps} == {"UNAVAILABLE"}
            assert all(1 <= int(now[gap].headers["retry-after"]) <= LONGEST_GAP_S for gap in gaps)
            assert house.clock.at_ms < MIDNIGHT_MS + LONGEST_GAP_S * SECOND_MS
            assert house.clock.at_ms >= MIDNIGHT_MS
        else:
            one_history(before, now)
    assert is_complete(await house.readiness())
    after = await ask_all(house, key)
    assert data(before, HEALTH)["date"] == iso(MIDNIGHT_MS - 2 * DAY_MS)[:10]
    assert data(after, HEALTH) == {**data(before, HEALTH), "date": iso(MIDNIGHT_MS - DAY_MS)[:10]} | {
        name: data(after, HEALTH)[name] for name in ("interpretation", "divergences")
    }, "the recording's last day but one, told of another date"
    assert data(after, RISK)["_stale_fields"] == []


def closes(replies: dict[str, Reply]) -> dict[int, float]:
    return {parse_iso(point["t"]): point["priceUSD"] for point in data(replies, DAYS)["series"]}


def one_history(before: dict[str, Reply], now: dict[str, Reply]) -> None:
    """The closed days are those of before, or the same moved by a day: never some of either."""
    old, new = closes(before), closes(now)
    unmoved = all(old.get(at_ms, close) == close for at_ms, close in new.items())
    moved = all(old.get(at_ms - DAY_MS, close) == close for at_ms, close in new.items())
    assert unmoved != moved
    assert len(new) == len(old), "none twice, none left out"
    assert {b - a for a, b in pairwise(new)} == {DAY_MS}
    risk, was = data(now, RISK), data(before, RISK)
    assert risk["trend_daily"] in {was["trend_daily"], None}
    if risk["trend_daily"] is None:
        assert {"trend_daily", "trend_weekly"} <= set(risk["_stale_fields"])
