"""Who may not have a stream any longer: noticed within a second, told why, and told nobody else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from service.access.caller import Caller
from service.access.stream_expiry import StreamExpiry
from service.clock import MINUTE_MS
from service.wire.envelope import ErrorBody
from service.wire.streams import Ending
from tests.fakes.clock import FakeClock

FOR_EVER = Caller(1, "api_key", 1)


class Following:
    def __init__(self) -> None:
        self.endings: list[tuple[Ending, str, str]] = []

    def end(self, reason: Ending, error: ErrorBody | None = None) -> None:
        assert error is not None
        self.endings.append((reason, error.code, error.message))


class House:
    """A running expiry check, and the callers whose credentials are no longer valid."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.refused: set[Caller] = set()
        self.stream_expiry = StreamExpiry(self.clock, lambda caller: caller not in self.refused)


@asynccontextmanager
async def running() -> AsyncIterator[House]:
    house = House()
    watching = asyncio.create_task(house.stream_expiry.watch())
    await house.clock.settle()
    yield house
    watching.cancel()


@pytest.mark.promise("revocation.streams")
async def test_a_revoked_credential_ends_its_streams_at_the_next_look_and_no_others() -> None:
    other = Caller(2, "session", 2)
    first, second, theirs = Following(), Following(), Following()
    async with running() as house:
        track = house.stream_expiry.track
        with track(first, FOR_EVER), track(second, FOR_EVER), track(theirs, other):
            await house.clock.advance(60)
            house.refused.add(FOR_EVER)
            await house.clock.advance(1)
        said = ("revoked", "AUTH_INVALID", "The credential that this stream was opened with was revoked.")
        assert (first.endings, second.endings, theirs.endings) == ([said], [said], [])


async def test_one_that_has_expired_is_told_that() -> None:
    stream = Following()
    async with running() as house:
        caller = Caller(1, "api_key", 1, expires_ms=house.clock.now_ms() + MINUTE_MS)
        with house.stream_expiry.track(stream, caller):
            await house.clock.advance(59)
            assert stream.endings == []
            house.refused.add(caller)
            await house.clock.advance(1)
    assert stream.endings == [
        ("revoked", "AUTH_INVALID", "The credential that this stream was opened with has expired.")
    ]


async def test_the_end_of_a_tier_ends_the_streams_that_were_opened_with_it() -> None:
    stream = Following()
    async with running() as house:
        caller = Caller(1, "api_key", 1, "pro", "grant", entitlement_ends_ms=house.clock.now_ms() + MINUTE_MS)
        with house.stream_expiry.track(stream, caller):
            await house.clock.advance(59)
            assert stream.endings == []
            await house.clock.advance(1)
    ((reason, code, message),) = stream.endings
    assert (reason, code, "tier" in message) == ("quota", "RATE_LIMITED", True)


async def test_a_stream_that_was_left_is_looked_after_no_more() -> None:
    stream = Following()
    async with running() as house:
        with pytest.raises(ZeroDivisionError), house.stream_expiry.track(stream, FOR_EVER):
            raise ZeroDivisionError
        house.refused.add(FOR_EVER)
        await house.clock.advance(5)
    assert stream.endings == []
