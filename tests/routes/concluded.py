"""A small market that has been concluded, for the routes that tell of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from service.access.caller import Caller
from service.routes.call import Call
from service.storage.database import open_database
from service.wire.envelope import Answer, success
from tests.fakes.clock import FakeClock
from tests.market.concluding import Leader, wave

TODAY = 20_300
CALLER = Caller(1, "api_key", 1)
COINS = ("BTC", "ETH", "SOL", "kPEPE")


@asynccontextmanager
async def open_leader(folder: Path, clock: FakeClock) -> AsyncIterator[Leader]:
    async with open_database(folder / "verdict.db", clock) as database:
        leader = Leader(database, clock)
        leader.at(TODAY, 60)
        await leader.store.claim("test")
        await leader.list_coins(*COINS)
        for place, coin in enumerate(COINS):
            await leader.give(coin, wave(range(TODAY - 249, TODAY + 1), 13.0 + place, place, 0.001))
        await leader.round(asked=True)
        yield leader


def ask(parameters: Any) -> Call[Any, None]:
    return Call(parameters, None, CALLER)


def body(answer: Answer, clock: FakeClock) -> dict[str, Any]:
    """What a client reads."""
    read: dict[str, Any] = msgspec.json.decode(success(answer, clock.now_ms()))
    return read
