"""A process that meters, for tests that need several of them or have to kill one.

`burst DATABASE TIMES`: open, ask once, say so, wait for a line, ask that often at once, print how many were granted.
`serve DATABASE WAY`: ask without end (`charge`; `reserve` and commit; `visit`, each time with another device; `keep`,
each time with another Idempotency-Key) with 16 tasks, and write the id of each call to standard output, eight bytes
each, as an answer would be: only once it is counted. A store that is busy for too long is asked again.
`visit DATABASE TIMES`: as `burst`, without a token and with one device.
`repeat DATABASE TIMES`: as `burst`, with one Idempotency-Key: how many had to make the answer, and how many got it.
"""

import asyncio
import os
import struct
import sys
from contextlib import suppress
from pathlib import Path

from service.access.anonymous import AnonymousCaller
from service.access.caller import Caller
from service.access.idempotency import IdempotencyClaim, IdempotentRequest
from service.access.meter import Meter, open_meter
from service.clock import SystemClock
from service.errors import ServiceError
from service.storage.database import open_database
from service.storage.response_store import StoredResponse

TASKS = 16


async def started() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.readline)


async def burst(meter: Meter, times: str) -> None:
    caller = Caller(1, "api_key", 1)
    await meter.charge(caller, "coin.risk")  # from now on it remembers the caller's counters
    await started()
    decisions = await asyncio.gather(*(meter.charge(caller, "coin.risk") for _ in range(int(times))))
    sys.stdout.write(f"{sum(decision.event_id is not None for decision in decisions)}\n")


async def visit(meter: Meter, times: str) -> None:
    await started()
    visitor = AnonymousCaller(b"d" * 32, b"n" * 32)
    asked = (meter.anonymous.reserve(visitor, "question") for _ in range(int(times)))
    events = [event for event in await asyncio.gather(*asked, return_exceptions=True) if isinstance(event, int)]
    for event in events:
        await meter.commit(event)
    sys.stdout.write(f"{len(events)}\n")


async def repeat(meter: Meter, times: str) -> None:
    await started()
    caller = Caller(1, "api_key", 1)
    made = 0

    async def ask() -> StoredResponse:
        nonlocal made
        taken = await meter.idempotency.claim(IdempotentRequest("user 1", b"k" * 32, b"r" * 32))
        if isinstance(taken, StoredResponse):
            return taken
        made += 1
        decision = await meter.reserve(caller, "question")
        answer = StoredResponse(200, (), b"%d" % os.getpid())
        await meter.idempotency.store(taken, answer, decision.event_id)
        return answer

    answers = await asyncio.gather(*(ask() for _ in range(int(times))))
    sys.stdout.write(f"{made} {len(answers)} {','.join({answer.body.decode() for answer in answers})}\n")


async def serve(meter: Meter, way: str) -> None:
    await asyncio.gather(*(answer(meter, way, task) for task in range(TASKS)))


async def answer(meter: Meter, way: str, task: int) -> None:
    caller = Caller(1 + task % 3, "api_key", 1, "pro")
    while True:
        with suppress(ServiceError):
            event_id = await WAYS[way](meter, caller)
            assert event_id is not None
            os.write(1, struct.pack("<Q", event_id))


async def charged(meter: Meter, caller: Caller) -> int | None:
    decision = await meter.charge(caller, "coin.risk")
    return delivered(meter, decision.event_id)


async def reserved(meter: Meter, caller: Caller) -> int | None:
    decision = await meter.reserve(caller, "ask")
    return delivered(meter, await committed(meter, decision.event_id))


async def visited(meter: Meter, _: Caller) -> int | None:
    visitor = AnonymousCaller(os.urandom(32), os.urandom(32))
    return delivered(meter, await committed(meter, await meter.anonymous.reserve(visitor, "ask")))


async def kept(meter: Meter, caller: Caller) -> int | None:
    taken = await meter.idempotency.claim(
        IdempotentRequest(f"user {caller.user_id} {os.urandom(8).hex()}", os.urandom(32), b"r" * 32)
    )
    assert isinstance(taken, IdempotencyClaim)
    decision = await meter.reserve(caller, "ask")
    await meter.idempotency.store(taken, StoredResponse(200, (), b"%d" % (decision.event_id or 0)), decision.event_id)
    return decision.event_id


async def committed(meter: Meter, event_id: int | None) -> int | None:
    assert event_id is not None
    await meter.commit(event_id)
    return event_id


def delivered(meter: Meter, event_id: int | None) -> int | None:
    assert event_id is not None
    meter.delivered(event_id)
    return event_id


WAYS = {"charge": charged, "reserve": reserved, "visit": visited, "keep": kept}


async def main(mode: str, database: str, argument: str) -> None:
    clock = SystemClock()
    async with open_database(Path(database), clock) as opened, open_meter(opened, clock) as meter:
        await {"burst": burst, "serve": serve, "visit": visit, "repeat": repeat}[mode](meter, argument)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
