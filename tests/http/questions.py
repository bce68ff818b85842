"""What callers of the question route send, and what it costs them."""

import json
from typing import Any

from tests.fakes.asgi import Reply, ask, conversing, scope_of
from tests.http.stage import Stage

__all__ = ["PATH", "asked", "body_of", "conversing", "devices", "events", "question", "reserved", "scope"]

PATH = "/api/cli"
JSON = {"content-type": "application/json"}


def body_of(text: str = "how is BTC doing", **fields: object) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": text}], **fields}).encode()


def scope(key: str | None = None, *, client: str = "192.0.2.7", **headers: str) -> dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    authorization = {} if key is None else {"authorization": f"Bearer {key}"}
    return {**scope_of(PATH, "POST", {**JSON, **authorization, **named}), "client": (client, 50_000)}


async def question(stage: Stage, key: str | None = None, body: bytes | None = None, **headers: str) -> Reply:
    """Ask a question and wait for the whole answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await ask(
        stage.app, PATH, "POST", key=key, body=body_of() if body is None else body, headers={**JSON, **named}
    )


async def asked(stage: Stage, body: bytes, *, client: str) -> int:
    """Ask from an address; the status."""
    async with conversing(stage.app, scope(client=client), body) as conversation:
        head = await conversation.head()
        async for _ in conversation.pieces():
            pass
    return int(head["status"])


async def events(stage: Stage) -> list[tuple[int, int]]:
    """User and state of every question so far: 0 reserved, 1 committed, 2 released."""
    rows = await stage.db.read("SELECT user_id, state FROM usage_events ORDER BY id")
    return [(int(user), int(state)) for user, state in rows]


async def reserved(stage: Stage) -> int:
    return sum(state == 0 for _, state in await events(stage))


async def devices(stage: Stage) -> int:
    ((count,),) = await stage.db.read("SELECT count(*) FROM devices")
    return int(count)
