"""Gates that count stand behind those that know who is asking: where those are missing, nobody is let through."""

from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.gates.quota import DeviceQuotaGate
from service.http.request import RequestContext
from service.wire.offers import QUESTION
from tests.http.questions import body_of, scope

UNASKED: Any = Mock()
"""Where questions and answers are kept: it does not come to that."""


async def never(*_: Any) -> None:
    raise AssertionError("nobody may come as far as this")


async def receive() -> dict[str, Any]:
    return {"type": "http.request", "body": body_of(), "more_body": False}


def device(app: ASGIApp) -> ASGIApp:
    return DeviceQuotaGate(app, QUESTION, UNASKED)


@pytest.mark.parametrize("gate", [device])
async def test_a_gate_before_which_nobody_asked_who_it_is_lets_nobody_through(
    gate: Callable[[ASGIApp], ASGIApp],
) -> None:
    asking: Scope = scope(idempotency_key="a")
    asking["verdict"] = request = RequestContext(asking)
    request.connect(receive, never)
    channel: tuple[Receive, Send] = (receive, never)
    with pytest.raises(RuntimeError, match="behind"):
        await gate(never)(asking, *channel)
