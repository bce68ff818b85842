"""A process that records events and sends their messages until it is killed: `DATABASE URL FIRST LAST`.

It writes the number of each event to standard output (eight bytes) once the event is stored. Its clock runs a hundred
times as fast as the machine's, so that pauses of minutes take seconds.
"""

import asyncio
import random
import struct
import sys
from pathlib import Path

from service.clock import SystemClock
from service.notify.delivery import DeliveryWorker
from service.notify.messages import AlertDetails, AlertMessage
from service.notify.store import RuleStore, RuleUpdate
from service.storage.database import open_database
from service.upstream.push import open_push_client
from service.wire.envelope import encode

KEY = b"k" * 32
BATCH = 50


class FastClock(SystemClock):
    """The machine's clock, a hundred times as fast."""

    def now_ms(self) -> int:
        return super().now_ms() * 100


def event(number: int) -> tuple[str, bytes]:
    """The id and the message of an event."""
    event_id = f"evt_{number:032d}"
    details = AlertDetails(event_id, number, "regime", None, f"Event {number}.", float(number), "", "fixtures")
    return event_id, encode(AlertMessage("alert.regime", "", details))


async def record(store: RuleStore, clock: FastClock, first: int, last: int) -> None:
    """Record events, each with a change of its rule's state."""
    for at in range(first, last, BATCH):
        numbers = range(at, min(at + BATCH, last))
        rules = await store.rules()
        updates = []
        for number in numbers:
            place = number % len(rules)
            rule = rules[place]
            state = f"after {number}"
            updates.append(RuleUpdate(rule, "", state, event(number)))
            rules[place] = rule._replace(state=state)
        await store.record(updates, clock.now_ms())
        sys.stdout.buffer.write(b"".join(struct.pack("<Q", number) for number in numbers))
        sys.stdout.buffer.flush()


async def deliver(worker: DeliveryWorker) -> None:
    """Send what is due, again and again."""
    while True:
        await worker.round()
        await asyncio.sleep(0.02)


async def main(database: str, url: str, first: int, last: int) -> None:
    """Record the events from `first` to `last`, and send."""
    clock = FastClock()
    async with open_database(Path(database), clock) as opened, open_push_client(clock, private=True) as push:
        store = RuleStore(opened, hourly=10**9)
        if not await store.rules():
            await opened.write(
                lambda connection: connection.executemany("INSERT INTO users (created_ms) VALUES (?)", [(0,)] * 16)
            )
            for user_id in range(1, 17):
                await store.add(user_id, "regime", url, 0)
        worker = DeliveryWorker(clock, store, push, KEY, None, random.SystemRandom().random)
        async with asyncio.TaskGroup() as group:
            group.create_task(record(store, clock, first, last))
            group.create_task(deliver(worker))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
