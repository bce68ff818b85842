"""The yardstick: uvicorn and nothing else, a constant body of the size the risk route sends.

Given a file with an answer, it sends that answer's status, fields and body instead.
"""

import sys
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import uvicorn

BODY = b'{"x":"' + b"." * 592 + b'"}'
START = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(BODY))],
}

if len(sys.argv) > 2:
    head, _, BODY = Path(sys.argv[2]).read_bytes().partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    fields = [tuple(line.split(b": ", 1)) for line in lines if not line.startswith(b"date:")]
    START = {"type": "http.response.start", "status": int(first.split()[1]), "headers": fields}

Message = MutableMapping[str, Any]


async def app(
    scope: Message, _receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    assert scope["type"] == "http"
    await send(START)
    await send({"type": "http.response.body", "body": BODY})


if __name__ == "__main__":
    uvicorn.run(
        app,
        port=int(sys.argv[1]),
        access_log=False,
        log_level="warning",
        loop="uvloop",
        http="httptools",
        lifespan="off",
    )
