"""The 402 of a spent quota, as clients of both x402 versions read it."""

from base64 import b64decode

import msgspec
import pytest

from service.payments.bazaar import bazaar_extension
from service.payments.challenge import LONGEST_URL, ChallengeBuilder, PaymentRejection
from service.payments.networks import NETWORKS, ChainId
from service.wire.offer import Offer
from service.wire.offers import OFFERS, QUESTION
from service.wire.payment import (
    BareChallengeV1,
    BareChallengeV2,
    ChallengeV1,
    ChallengeV2,
    Gate,
    PaymentRequired,
    Quota,
    ThisQuery,
)

PAYEE = "0x1111111111111111111111111111111111111111"
URL = "https://api.example.org/api/cli/coin/risk/BTC?x=1"
RISK = next(offer for offer in OFFERS if offer.id == "coin.risk")
SHUT = Gate(
    tier="free",
    used=10,
    limit=10,
    quota=Quota(10, 10, 0, "lifetime", "grant"),
    reset_at="2025-07-26T00:00:00.000Z",
    upgrade_url=None,
    this_query=ThisQuery("coin.risk", "0.005"),
    unlock=[],
)


@pytest.fixture
def challenges() -> ChallengeBuilder:
    return ChallengeBuilder("eip155:84532", PAYEE)


@pytest.mark.promise("challenge.header")
def test_the_header_is_v2_in_standard_base64(challenges: ChallengeBuilder) -> None:
    header = challenges.challenge(RISK, SHUT, "spent", URL, 1).header
    assert msgspec.json.decode(b64decode(header, validate=True)) == {
        "x402Version": 2,
        "error": "payment required",
        "resource": {
            "url": URL,
            "description": "Bundled risk context of one asset",
            "mimeType": "application/json",
        },
        "accepts": [
            {
                "scheme": "exact",
                "network": "eip155:84532",
                "amount": "5000",
                "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
                "payTo": PAYEE,
                "maxTimeoutSeconds": 60,
                "extra": {"name": "USDC", "version": "2"},
            }
        ],
        "extensions": {"bazaar": bazaar_extension(RISK)},
    }


@pytest.mark.promise("challenge.body-v1", "challenge.v1-names", "challenge.envelope")
def test_the_body_is_v1_beside_the_envelope(challenges: ChallengeBuilder) -> None:
    body = msgspec.json.decode(challenges.challenge(RISK, SHUT, "spent", URL, 1).body)
    assert list(body) == ["schemaVersion", "error", "x402Version", "accepts", "gate"]
    assert body["schemaVersion"] == 1
    assert body["error"] == {"code": "PAYMENT_REQUIRED", "message": "spent"}
    assert body["x402Version"] == 1
    assert body["accepts"] == [
        {
            "scheme": "exact",
            "network": "base-sepolia",
            "maxAmountRequired": "5000",
            "resource": URL,
            "description": "Bundled risk context of one asset",
            "mimeType": "application/json",
            "payTo": PAYEE,
            "maxTimeoutSeconds": 60,
            "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
            "extra": {"name": "USDC", "version": "2"},
        }
    ]


@pytest.mark.promise("challenge.v1-names")
def test_no_caip_2_network_and_no_null_schema_reaches_a_v1_body(challenges: ChallengeBuilder) -> None:
    body = challenges.challenge(RISK, SHUT, "spent", URL, 1).body
    assert b"eip155" not in body
    assert b"outputSchema" not in body


@pytest.mark.promise("challenge.body-v2")
def test_the_body_is_v2_for_a_client_that_says_so(challenges: ChallengeBuilder) -> None:
    challenge = challenges.challenge(RISK, SHUT, "spent", URL, 2)
    required = msgspec.json.decode(b64decode(challenge.header), type=PaymentRequired)
    body = msgspec.json.decode(challenge.body, type=ChallengeV2)
    assert (body.x402_version, body.resource, body.accepts) == (2, required.resource, required.accepts)
    assert list(msgspec.json.decode(challenge.body)) == [
        "schemaVersion",
        "error",
        "x402Version",
        "resource",
        "accepts",
        "gate",
    ]


@pytest.mark.promise("challenge.gate")
def test_the_gate_travels_in_the_body(challenges: ChallengeBuilder) -> None:
    body = challenges.challenge(RISK, SHUT, "spent", URL, 1).body
    assert msgspec.json.decode(body, type=ChallengeV1).gate == SHUT
    assert list(msgspec.json.decode(body)["gate"]) == [
        "tier",
        "used",
        "limit",
        "quota",
        "reset_at",
        "upgrade_url",
        "this_query",
        "unlock",
    ]


@pytest.mark.promise("question.challenge-error", "question.price")
def test_the_question_route_says_its_error_as_text(challenges: ChallengeBuilder) -> None:
    body = msgspec.json.decode(challenges.challenge(QUESTION, SHUT, "spent", URL, 1).body)
    assert list(body) == ["error", "x402Version", "accepts", "gate"]
    assert body["error"] == "spent"
    assert body["accepts"][0]["maxAmountRequired"] == "50000"
    assert body["accepts"][0]["mimeType"] == "text/plain"
    assert msgspec.json.decode(msgspec.json.encode(body), type=BareChallengeV1, strict=True).gate == SHUT
    later = challenges.challenge(QUESTION, SHUT, "spent", URL, 2).body
    assert msgspec.json.decode(later, type=BareChallengeV2).resource.mime_type == "text/plain"


@pytest.mark.promise("challenge.networks")
@pytest.mark.parametrize(
    ("chain", "v1_name", "asset", "name"),
    [
        ("eip155:84532", "base-sepolia", "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "USDC"),
        ("eip155:8453", "base", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USD Coin"),
    ],
)
def test_each_network_names_its_own_dollar(chain: ChainId, v1_name: str, asset: str, name: str) -> None:
    challenge = ChallengeBuilder(chain, PAYEE).challenge(RISK, SHUT, "spent", URL, 1)
    v1 = msgspec.json.decode(challenge.body, type=ChallengeV1).accepts[0]
    v2 = msgspec.json.decode(b64decode(challenge.header), type=PaymentRequired).accepts[0]
    assert (v1.network, v2.network) == (v1_name, chain)
    assert (v1.asset, v1.extra.name, v1.extra.version) == (asset, name, "2")
    assert (v2.asset, v2.extra) == (v1.asset, v1.extra)
    assert NETWORKS[chain].chain_id == chain


@pytest.mark.promise("challenge.header")
def test_a_long_url_loses_its_query_so_that_the_header_stays_small(challenges: ChallengeBuilder) -> None:
    longest = "https://a.example/" + "b" * (LONGEST_URL - 18)
    for url in (longest, "https://a.example/api?" + "q" * 7_000):
        challenge = challenges.challenge(RISK, SHUT, "spent", url, 2)
        assert len(challenge.header) < 8_192
        required = msgspec.json.decode(b64decode(challenge.header), type=PaymentRequired)
        assert required.resource.url == (longest if url == longest else "https://a.example/api")


def test_the_terms_alone_are_the_rows_of_the_header(challenges: ChallengeBuilder) -> None:
    header = challenges.challenge(RISK, SHUT, "spent", URL, 1).header
    assert msgspec.json.decode(b64decode(header), type=PaymentRequired).accepts == challenges.terms(RISK)


@pytest.mark.promise("errors.payment-refused")
@pytest.mark.parametrize(
    ("offer", "error"),
    [
        (RISK, {"code": "PAYMENT_REQUIRED", "message": "no", "details": {"reason": "invalid_network"}}),
        (QUESTION, "no"),
    ],
)
def test_a_refused_payment_is_answered_with_its_reason_and_the_same_terms(
    challenges: ChallengeBuilder, offer: Offer, error: object
) -> None:
    spent = challenges.challenge(offer, SHUT, "spent", URL, 2)
    refused = challenges.refusal(offer, SHUT, PaymentRejection("invalid_network", "no"), URL, 2)
    assert msgspec.json.decode(refused.body) == msgspec.json.decode(spent.body) | {"error": error}
    header = msgspec.json.decode(b64decode(refused.header))
    assert header == msgspec.json.decode(b64decode(spent.header)) | {"error": "invalid_network"}


def test_the_words_of_v1_and_the_resource_are_those_of_the_challenge(challenges: ChallengeBuilder) -> None:
    challenge = challenges.challenge(RISK, SHUT, "spent", URL, 1)
    resource = challenges.resource(RISK, URL)
    assert msgspec.json.decode(challenge.body, type=ChallengeV1).accepts == challenges.terms_v1(RISK, resource)
    required = msgspec.json.decode(b64decode(challenge.header), type=PaymentRequired)
    assert (required.resource, required.extensions) == (resource, challenges.extensions(RISK))
