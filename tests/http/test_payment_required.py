"""The 402: what it says when a quota is spent, and when a payment is not good."""

from base64 import b64decode

import msgspec
import pytest
from starlette.types import Message, Scope

from service.access.quota import QuotaStatus
from service.errors import ServiceError
from service.http.quota_response import PaymentRequiredResponse
from service.http.request import RequestContext
from service.payments.challenge import Challenge, ChallengeBuilder, X402Version
from service.wire.envelope import ErrorBody
from service.wire.offer import Offer
from service.wire.offers import OFFERS
from service.wire.payment import ChallengeV1, ChallengeV2, Gate, PaymentRequired, Quota, Unlock

RISK = next(offer for offer in OFFERS if offer.id == "coin.risk")
SPENT = QuotaStatus("free", 10, 10, 0, "lifetime", 1_753_488_000_000)
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


async def challenged(
    *headers: tuple[bytes, bytes],
    standing: QuotaStatus = SPENT,
    method: str = "GET",
    refused: ServiceError | None = None,
) -> Sent:
    sent = Sent()
    due = PaymentRequiredResponse(RISK, ChallengeBuilder("eip155:84532", "0x" + "1" * 40), None)
    scope = scope_of(*headers, method=method)
    await due(RequestContext(scope), standing, refused)(scope, receive, sent)
    return sent


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


@pytest.mark.promise("challenge.gate", "challenge.unlock-pay")
async def test_the_gate_says_what_is_used_when_it_opens_and_what_opens_it_now() -> None:
    body = msgspec.json.decode((await challenged()).body, type=ChallengeV1)
    assert body.gate.tier == "free"
    assert body.gate.quota == Quota(10, 10, 0, "lifetime", "grant")
    assert (body.gate.used, body.gate.limit) == (10, 10)
    assert body.gate.unlock[0].price_usdc == body.gate.this_query.price_usdc
    assert body.gate.reset_at == "2025-07-26T00:00:00.000Z"
    assert (body.gate.this_query.route, body.gate.this_query.price_usdc) == ("coin.risk", "0.005")
    assert body.gate.unlock[1] == Unlock(
        "wait", "Wait until a question becomes free again.", at="2025-07-26T00:00:00.000Z"
    )
    assert [way.method for way in body.gate.unlock] == ["x402", "wait", "upgrade"]
    assert "10 of 10 used" in body.error.message
    assert "free at 2025-07-26T00:00:00.000Z" in body.error.message


async def test_a_quota_that_never_resets_promises_no_time() -> None:
    standing = QuotaStatus("access", 50, 50, 0, "day", None)
    body = msgspec.json.decode((await challenged(standing=standing)).body, type=ChallengeV1)
    assert body.gate.reset_at is None
    assert [way.method for way in body.gate.unlock] == ["x402", "upgrade"]
    assert "free at" not in body.error.message


async def test_two_callers_who_stand_differently_are_told_different_things() -> None:
    due = PaymentRequiredResponse(RISK, ChallengeBuilder("eip155:84532", "0x" + "1" * 40), None)
    used = []
    for standing in (SPENT, QuotaStatus("access", 50, 50, 0, "day", None), SPENT):
        sent = Sent()
        await due(RequestContext(scope_of()), standing)(scope_of(), receive, sent)
        used.append(msgspec.json.decode(sent.body, type=ChallengeV1).gate.quota.used)
    assert used == [10, 50, 10]


def test_the_resource_is_the_url_as_the_caller_wrote_it() -> None:
    scope = scope_of(query=b"a=%C3%A9")
    assert RequestContext(scope).url(None) == "http://127.0.0.1:8402/api/cli/coin/risk/BTC?a=%C3%A9"


def test_behind_a_proxy_the_resource_has_the_public_address() -> None:
    assert RequestContext(scope_of()).url("https://api.example.org") == "https://api.example.org/api/cli/coin/risk/BTC"


LATE = ServiceError(
    "PAYMENT_REQUIRED",
    "the payment has run out; sign a new one",
    details={"reason": "invalid_exact_evm_payload_authorization_valid_before"},
)


@pytest.mark.promise("errors.payment-refused")
async def test_a_payment_that_is_not_good_is_told_its_reason_and_all_that_a_right_one_needs() -> None:
    sent, spent = await challenged(refused=LATE), await challenged()
    assert sent.messages[0]["status"] == 402
    required, other = (
        msgspec.json.decode(b64decode(each.headers[b"payment-required"]), type=PaymentRequired)
        for each in (sent, spent)
    )
    assert required.error == "invalid_exact_evm_payload_authorization_valid_before"
    assert msgspec.structs.replace(required, error=other.error) == other
    body = msgspec.json.decode(sent.body, type=ChallengeV1)
    assert body.error == ErrorBody("PAYMENT_REQUIRED", LATE.message, LATE.details)
    assert msgspec.structs.replace(body, error=None) == msgspec.structs.replace(
        msgspec.json.decode(spent.body, type=ChallengeV1), error=None
    )


@pytest.mark.promise("errors.payment-refused")
async def test_who_pays_badly_and_has_questions_left_is_not_told_that_they_are_spent() -> None:
    body = msgspec.json.decode(
        (await challenged(refused=LATE, standing=QuotaStatus("free", 3, 10, 7, "lifetime", None))).body,
        type=ChallengeV1,
    )
    assert body.gate.quota.remaining == 7
    assert "spent" not in body.error.message


async def test_head_with_a_bad_payment_gets_the_same_headers_and_no_body() -> None:
    sent, head = await challenged(refused=LATE), await challenged(refused=LATE, method="HEAD")
    assert head.messages[0] == sent.messages[0]
    assert head.body == b""


async def test_a_challenge_is_written_once_for_all_who_stand_alike_and_ask_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[str] = []
    challenge = ChallengeBuilder.challenge

    def noting(
        challenges: ChallengeBuilder, offer: Offer, gate: Gate, message: str, url: str, version: X402Version
    ) -> Challenge:
        written.append(url)
        return challenge(challenges, offer, gate, message, url, version)

    monkeypatch.setattr(ChallengeBuilder, "challenge", noting)
    due = PaymentRequiredResponse(RISK, ChallengeBuilder("eip155:84532", "0x" + "1" * 40), None)
    first = due(RequestContext(scope_of()), SPENT)
    assert due(RequestContext(scope_of()), SPENT) == first
    assert len(written) == 1
    for number in range(300):
        due(RequestContext(scope_of(query=b"a=%d" % number)), SPENT)
    assert due(RequestContext(scope_of()), SPENT) == first
    assert len(written) == 302
