import json
from typing import Any

import pytest

from service.http.health import Health
from service.http.request import RequestContext
from tests.fakes.asgi import scope_of


async def ask(app: Any, path: str, method: str = "GET") -> tuple[int, dict[bytes, bytes], bytes]:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = scope_of(path, method, {})
    scope["verdict"] = RequestContext(scope)
    await app(scope, None, send)
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


async def test_a_process_that_answers_is_alive_whatever_its_rooms_say() -> None:
    status, headers, body = await ask(Health({"market": lambda: {"ready": False}}), "/healthz")
    assert (status, json.loads(body)) == (200, {"live": True})
    assert headers[b"content-type"] == b"application/json"


async def test_the_service_is_ready_once_every_room_is() -> None:
    rooms = {"market": {"ready": True, "assets": 40}, "storage": {"ready": True}}
    health = Health({room: lambda found=found: found for room, found in rooms.items()})  # type: ignore[misc]
    status, headers, body = await ask(health, "/readyz")
    assert (status, json.loads(body)) == (200, {"ready": True, **rooms})
    assert b"retry-after" not in headers
    assert health.ready


async def test_until_then_it_says_which_room_is_not_and_why() -> None:
    health = Health(
        {"market": lambda: {"ready": False, "waiting_for": ["candles"]}, "storage": lambda: {"ready": True}}
    )
    status, headers, body = await ask(health, "/readyz")
    assert status == 503
    assert json.loads(body)["market"] == {"ready": False, "waiting_for": ["candles"]}
    assert headers[b"retry-after"] == b"1"
    assert not health.ready


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_head_is_answered_like_get_without_the_body(path: str) -> None:
    health = Health({})
    status, headers, body = await ask(health, path)
    assert await ask(health, path, "HEAD") == (status, headers, b"")
    assert headers[b"content-length"] == b"%d" % len(body)
