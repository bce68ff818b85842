"""The pay gate: payment headers never touch the quota."""

import pytest
from starlette.types import Message, Receive, Scope, Send

from service.errors import ServiceError
from service.http.exchange import Exchange
from service.http.gates.pay import Pay

HOST = (b"host", b"127.0.0.1:8402")


def scope_of(*headers: tuple[bytes, bytes], method: str = "GET", query: bytes = b"") -> Scope:
    scope: Scope = {
        "type": "http",
        "scheme": "http",
        "method": method,
        "raw_path": b"/api/cli/coin/risk/BTC",
        "query_string": query,
        "headers": [HOST, *headers],
    }
    scope["verdict"] = Exchange(scope, Sent())
    return scope


async def receive() -> Message:
    raise AssertionError("a gate reads no body")


class Sent:
    """What an ASGI application sent."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def __call__(self, message: Message) -> None:
        self.messages.append(message)


class Behind:
    """What stands behind the gate."""

    def __init__(self) -> None:
        self.reached = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        self.reached += 1


async def test_a_request_without_a_payment_passes() -> None:
    behind = Behind()
    await Pay(behind)(scope_of((b"x-x402-max-version", b"2")), receive, Sent())
    assert behind.reached == 1


@pytest.mark.promise("pay.no-quota", "pay.not-yet")
@pytest.mark.parametrize("name", [b"payment-signature", b"x-payment"])
@pytest.mark.parametrize("value", [b"", b"e30=", b"not base64", b"W10=", b"bnVsbA=="])
async def test_a_payment_is_refused_before_the_quota_is_touched(name: bytes, value: bytes) -> None:
    behind = Behind()
    with pytest.raises(ServiceError) as caught:
        await Pay(behind)(scope_of((name, value)), receive, Sent())
    assert (caught.value.status, caught.value.code) == (402, "PAYMENT_REQUIRED")
    assert caught.value.details == {"reason": "payments_not_enabled"}
    assert "nothing was charged" in caught.value.message
    assert behind.reached == 0


@pytest.mark.promise("pay.two-headers")
@pytest.mark.parametrize("second", [b"payment-signature", b"x-payment"])
async def test_two_payments_are_a_bad_request(second: bytes) -> None:
    behind = Behind()
    with pytest.raises(ServiceError) as caught:
        await Pay(behind)(scope_of((b"x-payment", b"e30="), (second, b"e30=")), receive, Sent())
    assert caught.value.code == "BAD_REQUEST"
    assert behind.reached == 0
