"""Everything a venue can do wrong, to be put in its place: `replay.interceptor = faults; faults.next = hang`."""

import asyncio
import zlib
from collections.abc import Awaitable, Callable, Mapping
from functools import cache

from aiohttp import web

Fault = Callable[[web.Request], Awaitable[web.StreamResponse]]
BOMB_BYTES = 200 * 1024 * 1024


class Faults:
    """Answers with `next` while it is set, and counts the requests that came."""

    def __init__(self) -> None:
        self.next: Fault | None = None
        self.requests: list[bytes] = []
        self._another = asyncio.Condition()

    async def __call__(self, request: web.Request) -> web.StreamResponse | None:
        self.requests.append(await request.read())
        async with self._another:
            self._another.notify_all()
        return await self.next(request) if self.next else None

    async def came(self, number: int) -> None:
        """Wait until that many requests have come."""
        async with asyncio.timeout(20), self._another:
            await self._another.wait_for(lambda: len(self.requests) >= number)


def once(faults: Faults, fault: Fault) -> Fault:
    """That fault for one request, the venue itself from then on."""

    async def answer(request: web.Request) -> web.StreamResponse:
        faults.next = None
        return await fault(request)

    return answer


async def hang(request: web.Request) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError


async def reset(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def drip(request: web.Request) -> web.StreamResponse:
    response = await _start(request, {"Content-Length": "1000000"})
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.001)


async def endless(request: web.Request) -> web.StreamResponse:
    response = await _start(request, {})
    while True:
        await response.write(b" " * 65_536)


async def cut_short(request: web.Request) -> web.StreamResponse:
    response = await _start(request, {"Content-Length": "1000"})
    await response.write(b'{"ok":')
    assert request.transport is not None
    request.transport.abort()
    return response


@cache
def _bomb() -> bytes:
    """A piece, again and again: to pack all of it takes seconds, by which whoever asks for it would be late.

    It has no end: nobody is to come so far.
    """
    packer, block = zlib.compressobj(9, wbits=31), b" " * 1024 * 1024
    begun, piece = (packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return begun + piece * (BOMB_BYTES // len(block) - 1)


async def gzip_bomb(request: web.Request) -> web.StreamResponse:
    return web.Response(body=_bomb(), headers={"Content-Encoding": "gzip"})


def answer(status: int = 200, body: bytes = b"", **headers: str) -> Fault:
    """A plain answer; `Retry_After="7"` becomes the header `Retry-After: 7`."""

    async def answer_it(request: web.Request) -> web.StreamResponse:
        return web.Response(
            status=status, body=body, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )

    return answer_it


html = answer(200, b"<html><body>Just a moment...</body></html>", Content_Type="text/html")
not_a_number = answer(200, b'{"ok":NaN}')


def redirect(to: str) -> Fault:
    return answer(302, b"", Location=to)


def too_many(retry_after: str) -> Fault:
    return answer(429, b"slow down", Retry_After=retry_after)


async def _start(request: web.Request, headers: dict[str, str]) -> web.StreamResponse:
    response = web.StreamResponse(headers=headers)
    await response.prepare(request)
    return response


FAULTS: Mapping[str, Fault] = {
    "reset": reset,
    "black hole": hang,
    "cut short": cut_short,
    "drip": drip,
    "gzip bomb": gzip_bomb,
    "endless body": endless,
    "NaN": not_a_number,
    "HTML at 200": html,
    "redirect": redirect("http://127.0.0.1:1/"),
    "429": too_many("30"),
}
"""One of each kind, by name: what every reader of an upstream has to bear."""
