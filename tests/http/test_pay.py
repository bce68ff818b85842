"""The pay gate: payment headers never touch the quota, and a spent quota is answered with a challenge."""

from base64 import b64decode

import msgspec
import pytest
from starlette.types import Message, Receive, Scope, Send

from service.access.standing import Standing
from service.errors import ServiceError
from service.http.exchange import Exchange
from service.http.gates.pay import Pay, PaymentDue, resource_url
from service.payments.challenge import Challenger
from service.wire.offers import OFFERS
from service.wire.payment import ChallengeV1, ChallengeV2, PaymentRequired, Quota, Unlock

RISK = next(offer for offer in OFFERS if offer.id == "coin.risk")
SPENT = Standing("free", 10, 10, 0, "lifetime", 1_753_488_000_000)
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

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self.messages[0]["headers"])

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.messages[1:])


class Behind:
    """What stands behind the gate."""

    def __init__(self) -> None:
        self.reached = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        self.reached += 1


async def challenged(*headers: tuple[bytes, bytes], standing: Standing = SPENT, method: str = "GET") -> Sent:
    sent = Sent()
    due = PaymentDue(RISK, Challenger("eip155:84532", "0x" + "1" * 40), None)
    await due(scope_of(*headers, method=method), receive, sent, standing)
    return sent


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


@pytest.mark.promise("quota.402")
async def test_a_spent_quota_is_answered_402_with_both_versions_at_once() -> None:
    sent = await challenged()
    assert sent.messages[0]["status"] == 402
    assert sent.headers[b"content-type"] == b"application/json"
    assert sent.headers[b"content-length"] == str(len(sent.body)).encode()
    required = msgspec.json.decode(b64decode(sent.headers[b"payment-required"]), type=PaymentRequired)
    assert required.resource.url == "http://127.0.0.1:8402/api/cli/coin/risk/BTC"
    assert msgspec.json.decode(sent.body, type=ChallengeV1).accepts[0].resource == required.resource.url


@pytest.mark.promise("challenge.body-v1", "challenge.body-v2")
async def test_the_body_follows_what_the_client_says_it_reads() -> None:
    sent = await challenged((b"x-x402-max-version", b"2"))
    assert msgspec.json.decode(sent.body, type=ChallengeV2).x402_version == 2
    for other in (b"1", b"", b"two", b"02"):
        sent = await challenged((b"x-x402-max-version", other))
        assert msgspec.json.decode(sent.body, type=ChallengeV1).x402_version == 1


async def test_head_gets_the_same_headers_and_no_body() -> None:
    sent, head = await challenged(), await challenged(method="HEAD")
    assert head.messages[0] == sent.messages[0]
    assert head.body == b""


@pytest.mark.promise("challenge.gate")
async def test_the_gate_says_what_is_used_when_it_opens_and_what_opens_it_now() -> None:
    body = msgspec.json.decode((await challenged()).body, type=ChallengeV1)
    assert body.gate.tier == "free"
    assert body.gate.quota == Quota(10, 10, 0, "lifetime")
    assert body.gate.reset_at == "2025-07-26T00:00:00.000Z"
    assert (body.gate.this_query.route, body.gate.this_query.price_usdc) == ("coin.risk", "0.005")
    assert body.gate.unlock[0] == Unlock("wait", "a question becomes free again", at="2025-07-26T00:00:00.000Z")
    assert [way.method for way in body.gate.unlock] == ["wait", "upgrade"]
    assert "10 of 10 used" in body.error.message
    assert "free at 2025-07-26T00:00:00.000Z" in body.error.message


async def test_a_quota_that_never_resets_promises_no_time() -> None:
    standing = Standing("access", 50, 50, 0, "day", None)
    body = msgspec.json.decode((await challenged(standing=standing)).body, type=ChallengeV1)
    assert body.gate.reset_at is None
    assert [way.method for way in body.gate.unlock] == ["upgrade"]
    assert "free at" not in body.error.message


async def test_two_callers_who_stand_differently_are_told_different_things() -> None:
    due = PaymentDue(RISK, Challenger("eip155:84532", "0x" + "1" * 40), None)
    used = []
    for standing in (SPENT, Standing("access", 50, 50, 0, "day", None), SPENT):
        sent = Sent()
        await due(scope_of(), receive, sent, standing)
        used.append(msgspec.json.decode(sent.body, type=ChallengeV1).gate.quota.used)
    assert used == [10, 50, 10]


def test_the_resource_is_the_url_as_the_caller_wrote_it() -> None:
    scope = scope_of(query=b"a=%C3%A9")
    assert resource_url(scope, None) == "http://127.0.0.1:8402/api/cli/coin/risk/BTC?a=%C3%A9"


def test_behind_a_proxy_the_resource_has_the_public_address() -> None:
    assert resource_url(scope_of(), "https://api.example.org") == "https://api.example.org/api/cli/coin/risk/BTC"
