"""A remote facilitator, called over HTTP: any service that implements x402.

Source: x402 specification v1 and v2, facilitator interface (`POST /verify`, `POST /settle`, `GET /supported`).
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct, structs

from service.clock import Clock
from service.ethereum.addresses import checksum_address
from service.formats import sentence
from service.payments.bazaar import BAZAAR, bazaar_extension
from service.payments.challenge import ChallengeBuilder
from service.payments.facilitators.cdp import CdpKey
from service.payments.facilitators.port import Outcome, Settled, SettlementRefused, Unknown
from service.payments.networks import NETWORKS, Network
from service.payments.records import Payment, PaymentRecord
from service.settings import Settings
from service.units import MicroUsd
from service.upstream.failures import UpstreamError, entrust
from service.upstream.http_client import HttpClient, Reply, open_http_client
from service.wire.offer import Offer
from service.wire.offers import OFFERS
from service.wire.payment import Authorization, ExactPayload, SettlementKind
from service.wire.strict import StrictError, check_depth, parse, refuse_repeats

NAME: Final = "facilitator"
DEADLINE_S: Final = 30.0
VERIFY_DEADLINE_S: Final = 10.0
LARGEST_ANSWER: Final = 65_536

REFUSALS: Final = frozenset(
    {
        "asset_not_deployed_contract",
        "eip6492_factory_not_allowed",
        "insufficient_funds",
        "invalid_exact_evm_eip3009_not_supported",
        "invalid_exact_evm_insufficient_balance",
        "invalid_exact_evm_payload_authorization_valid_before",
        "invalid_exact_evm_payload_authorization_value",
        "invalid_exact_evm_payload_authorization_value_mismatch",
        "invalid_exact_evm_payload_recipient_mismatch",
        "invalid_exact_evm_payload_signature",
        "invalid_exact_evm_payload_undeployed_smart_wallet",
        "invalid_exact_evm_token_name_mismatch",
        "invalid_exact_evm_token_version_mismatch",
        "invalid_network",
        "invalid_payload",
        "invalid_payment_requirements",
        "invalid_scheme",
        "invalid_x402_version",
        "missing_eip712_domain",
        "network_mismatch",
        "payment_expired",
        "unsupported_scheme",
    }
)
"""Reasons that are found before anything is submitted, and that do not change with time.

Not among them, though the official facilitators give them: a nonce that is used (somebody else may have submitted this
very payment), a simulation that failed (for the same reason, perhaps), a payment that is not yet valid (its clock and
ours differ, and it will be in a moment), a transaction that failed, and whatever is pending.
"""

_STANDARD_REASONS: Final = {
    "invalid_exact_evm_insufficient_balance": "insufficient_funds",
    "payment_expired": "invalid_exact_evm_payload_authorization_valid_before",
}
"""Where an implementation's word is not the specification's."""

_TRANSACTION: Final = re.compile(r"0x(?!0{64})[0-9A-Fa-f]{64}\Z")
_REASON: Final = re.compile(r"[a-z][a-z0-9_]{0,99}\Z")
_OFFERS: Final = {offer.id: offer for offer in OFFERS}

Authorize = Callable[[str, str], str | None]
"""The bearer token for a request, by its method and URL; null if none is wanted."""


class _SettleResponse(Struct, rename="camel"):
    """What `/settle` says. Strings that are null, empty or missing say nothing."""

    success: bool
    transaction: str | None = None
    network: str | None = None
    payer: str | None = None
    amount: str | int | None = None
    error_reason: str | None = None


class _VerifyResponse(Struct, rename="camel"):
    """What `/verify` says. Strings that are null, empty or missing say nothing."""

    is_valid: bool
    payer: str | None = None
    invalid_reason: str | None = None


class _Kind(Struct, rename={"version": "x402Version"}):
    version: int
    scheme: str
    network: str


class _Supported(Struct):
    kinds: list[_Kind]


_read_answer: Final = msgspec.json.Decoder(_SettleResponse)
_read_verification: Final = msgspec.json.Decoder(_VerifyResponse)
_read_supported: Final = msgspec.json.Decoder(_Supported)
_encode: Final = msgspec.json.Encoder().encode


class RemoteFacilitator:
    """A facilitator at a URL; opened by `open_remote`.

    Args:
        client: Who answers.
        url: Where, as tokens name it.
        network: The chain that payments come from.
        authorize: Makes bearer tokens.

    Attributes:
        host: Host and port: what stops and messages call it.
    """

    kind: SettlementKind = "remote"

    def __init__(self, client: HttpClient, url: str, network: Network, authorize: Authorize) -> None:
        self._client = client
        self._url = url.rstrip("/")
        self.host = urlsplit(url).netloc.rpartition("@")[2]
        self._network = network
        self._authorize = authorize

    async def settle(self, record: PaymentRecord) -> Outcome:
        """Ask for a settlement, once. See the port.

        No refusal of a facilitator lasts: it checks the window, the balance and the nonce before it remembers what it
        has settled itself.
        """
        try:
            reply = await self._client.post("/settle", settle_request(record), self._bearer("POST", "/settle"))
        except UpstreamError as error:
            return Unknown(sentence(error.body))
        return settle_outcome(reply, record.payment)

    async def verify(self, record: PaymentRecord) -> SettlementRefused | Unknown | None:
        """Ask whether a payment could be settled. Nothing moves.

        Returns:
            Null if it could; `Refused` with the facilitator's reason; `Unknown` if there is no usable answer.
        """
        try:
            async with asyncio.timeout(VERIFY_DEADLINE_S):
                reply = await self._client.post("/verify", settle_request(record), self._bearer("POST", "/verify"))
        except UpstreamError as error:
            return Unknown(sentence(error.body))
        except TimeoutError:
            return Unknown(f"No answer within {VERIFY_DEADLINE_S:g} s.")
        return verify_outcome(reply, record.payment)

    async def versions(self) -> frozenset[int]:
        """Ask which versions of x402 it settles `exact` payments on our chain in: 1, 2, both or none.

        Raises:
            UpstreamError: If there is no answer, or none that can be read.
        """
        reply = await self._client.get("/supported", self._bearer("GET", "/supported"))
        if not _is_success(reply.status):
            raise UpstreamError(NAME, reply.status, reply.body)
        try:
            check_depth(reply.body)
            supported = parse(_read_supported, reply.body)
        except (StrictError, msgspec.ValidationError):
            raise UpstreamError(NAME, reply.status, reply.body) from None
        names = {1: self._network.v1_name, 2: self._network.chain_id}
        return frozenset(
            kind.version
            for kind in supported.kinds
            if kind.scheme == "exact" and names.get(kind.version) == kind.network
        )

    def _bearer(self, method: Literal["GET", "POST"], target: str) -> dict[str, str]:
        token = self._authorize(method, self._url + target)
        return {"Authorization": f"Bearer {token}"} if token else {}


@asynccontextmanager
async def open_remote(settings: Settings, clock: Clock) -> AsyncIterator[RemoteFacilitator]:
    """Open the facilitator that the settings name.

    Args:
        settings: With a `facilitator_url`.
        clock: Of CDP tokens.

    Raises:
        SettingsError: If there is no usable URL or CDP key.
    """
    url = settings.facilitator_url or ""
    entrust(url, settings.facilitator_token.text if settings.facilitator_token else "")
    authorize = _authorize(settings, clock)
    async with open_http_client(NAME, url, deadline_s=DEADLINE_S, most=LARGEST_ANSWER) as client:
        yield RemoteFacilitator(client, url, NETWORKS[settings.network], authorize)


def _authorize(settings: Settings, clock: Clock) -> Authorize:
    if settings.cdp_key_id and settings.cdp_key_secret:
        return CdpKey(settings.cdp_key_id, settings.cdp_key_secret, clock).token
    token = settings.facilitator_token.text if settings.facilitator_token else None
    return lambda _method, _url: token


def settle_request(record: PaymentRecord) -> bytes:
    """Encode the body of `/settle` from decoded and checked values only."""
    payment, purchase = record.payment, record.purchase
    offer = structs.replace(_offer(purchase.offer_id), price=MicroUsd(payment.value))
    terms = ChallengeBuilder(payment.network, checksum_address(payment.pay_to))
    resource = terms.resource(offer, purchase.resource)
    paid: dict[str, Any] = {"x402Version": payment.version, "payload": _payload(payment)}
    row: Struct
    if payment.version == 1:
        (row,) = terms.terms_v1(offer, resource)
        paid |= {"scheme": row.scheme, "network": row.network}
    else:
        (row,) = terms.terms(offer)
        paid |= {"accepted": row, "resource": resource, "extensions": _extensions(purchase.offer_id)}
    return _encode({"x402Version": payment.version, "paymentPayload": paid, "paymentRequirements": row})


def _offer(offer_id: str) -> Offer:
    # A route that is no longer offered may still have payments under way.
    return _OFFERS.get(offer_id) or Offer(id=offer_id, path="/", summary=offer_id, result=Struct)


@cache
def _extensions(offer_id: str) -> dict[str, Any]:
    return {BAZAAR: bazaar_extension(_OFFERS[offer_id])} if offer_id in _OFFERS else {}


def _payload(payment: Payment) -> ExactPayload:
    # In EIP-55's capitals: web3, and with it the official facilitator, takes no others.
    return ExactPayload(
        signature=payment.signature,
        authorization=Authorization(
            from_=checksum_address(payment.payer),
            to=checksum_address(payment.pay_to),
            value=str(payment.value),
            valid_after=str(payment.valid_after_s),
            valid_before=str(payment.valid_before_s),
            nonce=payment.nonce,
        ),
    )


def settle_outcome(reply: Reply, payment: Payment) -> Outcome:
    """Interpret an answer of `/settle`.

    The body counts for any status, since facilitators refuse with 200, 400 and 500. Success requires a status of
    success.

    Args:
        reply: The answer.
        payment: The payment it is about.
    """
    try:
        check_depth(reply.body)
        answer = parse(_read_answer, reply.body)
        refuse_repeats(reply.body)
    except (StrictError, msgspec.ValidationError):
        return Unknown(f"The answer cannot be read (status {reply.status}).")
    transaction = answer.transaction or ""
    known = transaction.lower() if _TRANSACTION.match(transaction) else None
    reason = answer.error_reason or ""
    doubt = _doubt(answer, payment)
    if doubt:
        return Unknown(f"{doubt} (status {reply.status}).")
    if answer.success and _is_success(reply.status) and answer.network and known and not reason:
        return Settled(known)
    if not answer.success and reason in REFUSALS and not transaction and not _is_redirect(reply.status):
        return SettlementRefused(_STANDARD_REASONS.get(reason, reason), lasting=False)
    said = f"The facilitator says {reason}" if _REASON.match(reason) else "The answer proves nothing"
    return Unknown(f"{said} (status {reply.status}).", known)


def verify_outcome(reply: Reply, payment: Payment) -> SettlementRefused | Unknown | None:
    """Say what an answer of `/verify` means; see `RemoteFacilitator.verify`.

    A facilitator that fails itself (its node is down) says so in the same form as a refusal, with a reason of its own.
    """
    try:
        check_depth(reply.body)
        answer = parse(_read_verification, reply.body)
        refuse_repeats(reply.body)
    except (StrictError, msgspec.ValidationError):
        return Unknown(f"The answer cannot be read (status {reply.status}).")
    reason = answer.invalid_reason or ""
    if answer.payer and answer.payer.lower() != payment.payer:
        return Unknown(f"The answer is about another payer (status {reply.status}).")
    if answer.is_valid and not reason and _is_success(reply.status):
        return None
    its_own_failure = "unexpected" in reason or "failed_to" in reason or _is_redirect(reply.status)
    if answer.is_valid or its_own_failure or not _REASON.match(reason):
        return Unknown(f"The answer proves nothing (status {reply.status}).")
    return SettlementRefused(_STANDARD_REASONS.get(reason, reason), lasting=False)


def _doubt(answer: _SettleResponse, payment: Payment) -> str | None:
    """Why an answer may be about another payment."""
    network = NETWORKS[payment.network]
    if answer.network and answer.network not in {network.chain_id, network.v1_name}:
        return "The answer is about another network"
    if answer.payer and answer.payer.lower() != payment.payer:
        return "The answer is about another payer"
    if answer.amount not in {None, "", payment.value, str(payment.value)}:
        return "The answer is about another amount"
    return None


def _is_success(status: int) -> bool:
    return 200 <= status < 300  # noqa: PLR2004 RFC 9110 §15.3


def _is_redirect(status: int) -> bool:
    return 300 <= status < 400  # noqa: PLR2004 RFC 9110 §15.4
