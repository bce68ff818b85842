"""The yardstick: uvicorn and nothing else, a constant body of the size the risk route sends.

Given a file with an answer, it sends that answer's status, fields and body instead.
"""

import sys
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import uvicorn

BODY = b'{"x":"' + b"." * 592 + b'"}'

Message = MutableMapping[str, Any]
App = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]


def constant() -> App:
    fields = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(BODY))]
    return application(200, fields, BODY)


def repeated(answer: bytes) -> App:
    """What an answer said, but for its date, which uvicorn adds."""
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    pairs = [line.split(b": ", 1) for line in lines if not line.startswith(b"date:")]
    return application(int(first.split()[1]), [(name, value) for name, value in pairs], body)


def application(status: int, fields: list[tuple[bytes, bytes]], body: bytes) -> App:
    start = {"type": "http.response.start", "status": status, "headers": fields}

    async def app(
        scope: Message, _receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        assert scope["type"] == "http"
        await send(start)
        await send({"type": "http.response.body", "body": body})

    return app


if __name__ == "__main__":
    uvicorn.run(
        repeated(Path(sys.argv[1]).read_bytes()) if len(sys.argv) > 1 else constant(),
        port=0,
        access_log=False,
        log_level="info",
        loop="uvloop",
        http="httptools",
        lifespan="off",
    )
