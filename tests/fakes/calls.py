"""Many calls at once over keep-alive connections, and which of them were answered whole."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from tests.fakes.serving import wait_until

PATIENCE_S = 60.0


def request(path: str, key: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n\r\n".encode()


async def read_answer(reader: asyncio.StreamReader) -> int:
    """Read one answer to its last byte; return its status."""
    head = await reader.readuntil(b"\r\n\r\n")
    fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
    await reader.readexactly(int(fields[b"content-length"]))
    return int(head.split(b" ", 2)[1])


async def call_at_once(port: int, path: str, key: str, calls: int) -> Counter[int]:
    """Open that many connections, then send one call on each; count the statuses."""
    async with asyncio.timeout(PATIENCE_S):
        connections = [await asyncio.open_connection("127.0.0.1", port) for _ in range(calls)]
        for _, writer in connections:
            writer.write(request(path, key))
        statuses = await asyncio.gather(*(read_answer(reader) for reader, _ in connections))
        for _, writer in connections:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for _, writer in connections))
    return Counter(statuses)


def check_exact(statuses: Counter[int], left: int, ask: Callable[[], int]) -> None:
    """Check that of many calls exactly as many are answered as were left.

    A process that does not get its turn at the store in time refuses with 503 and counts nothing, so what these calls
    have left is asked for here.

    Args:
        statuses: Of the calls.
        left: How many questions were left before them.
        ask: Asks once more; its status.
    """
    assert set(statuses) <= {200, 402, 503}, statuses
    assert statuses[200] <= left, statuses
    later = Counter({200: statuses[200]})

    def is_used_up() -> bool:
        status = ask()
        later[status] += 1
        return status == 402 and later[200] >= left

    wait_until(is_used_up)
    assert later[200] == left


async def call_until_it_dies(
    port: int, path: str, key: str, connections: int, after: int = 0, end: Callable[[], object] = bool
) -> int:
    """Call without a pause on each connection until the server is gone; return how many answers came whole.

    Args:
        port: Port of the server on this machine.
        path: Path and query of each call.
        key: API key of the caller.
        connections: Number of calls at a time.
        after: Number of answers after which `end` is called, once.
        end: Ends the server while the other connections wait for answers.
    """
    answered = 0

    async def go_on() -> None:
        nonlocal answered
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionError:  # it was gone before this one was open
            return
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                writer.write(request(path, key))
                status = await read_answer(reader)
                answered += status == 200
                if status == 200 and answered == after:
                    end()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*(go_on() for _ in range(connections)))
    return answered
