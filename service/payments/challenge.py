"""What a spent quota is answered with on a priced route: one 402 that clients of both x402 versions can read."""

from base64 import b64encode
from typing import Final, Literal

from msgspec import Struct

from service.payments.networks import NETWORKS, ChainId
from service.wire.envelope import SCHEMA_VERSION, ErrorBody, encode
from service.wire.offers import Offer
from service.wire.payment import Gate, PaymentRequired, RequirementsV1, RequirementsV2, Resource

X402Version = Literal[1, 2]

WINDOW_SECONDS: Final = 60
"""How long a signature may be valid."""

LONGEST_URL: Final = 2_048

_REASON: Final = "the free quota is spent, and payments are not accepted yet"
_SCHEME: Final = "exact"
_MIME_TYPE: Final = "application/json"


class Challenge(Struct, frozen=True):
    """A 402: the value of `PAYMENT-REQUIRED` and the body."""

    header: bytes
    body: bytes


class Challenger:
    """Writes challenges for one chain and one payee.

    Args:
        network: CAIP-2 id of the chain.
        pay_to: Address that is paid.
    """

    def __init__(self, network: ChainId, pay_to: str) -> None:
        self._network = NETWORKS[network]
        self._pay_to = pay_to

    def challenge(self, offer: Offer, gate: Gate, message: str, url: str, max_version: X402Version) -> Challenge:
        """Write the 402 for one request.

        Args:
            offer: The priced route.
            gate: Why it is shut, and what opens it.
            message: The same in a sentence.
            url: Absolute URL of the request.
            max_version: What the client says it reads; decides the body.

        Returns:
            The header, always v2, and the body. The question route, which has no envelope, says `error` as text.
        """
        shown = url if len(url) <= LONGEST_URL else url.partition("?")[0]
        resource = Resource(url=shown, description=offer.summary, mime_type=_MIME_TYPE)
        rows = self.terms(offer)
        required = PaymentRequired(x402_version=2, error=_REASON, resource=resource, accepts=rows, extensions={})
        if max_version == 1:
            terms = b'"x402Version":1,"accepts":%b' % encode([self._row_v1(offer, resource)])
        else:
            terms = b'"x402Version":2,"resource":%b,"accepts":%b' % (encode(resource), encode(rows))
        body = b'{%b,%b,"gate":%b}' % (_head(offer, message), terms, encode(gate))
        return Challenge(b64encode(encode(required)), body)

    def terms(self, offer: Offer) -> list[RequirementsV2]:
        """What is asked for a call of a route, in the words of v2."""
        row = RequirementsV2(
            scheme=_SCHEME,
            network=self._network.chain_id,
            amount=str(offer.price),
            asset=self._network.usdc,
            pay_to=self._pay_to,
            max_timeout_seconds=WINDOW_SECONDS,
            extra=self._network.domain,
        )
        return [row]

    def _row_v1(self, offer: Offer, resource: Resource) -> RequirementsV1:
        return RequirementsV1(
            scheme=_SCHEME,
            network=self._network.v1_name,
            max_amount_required=str(offer.price),
            resource=resource.url,
            description=resource.description,
            mime_type=resource.mime_type,
            pay_to=self._pay_to,
            max_timeout_seconds=WINDOW_SECONDS,
            asset=self._network.usdc,
            extra=self._network.domain,
        )


def _head(offer: Offer, message: str) -> bytes:
    if offer.envelope:
        return b'"schemaVersion":%d,"error":%b' % (SCHEMA_VERSION, encode(ErrorBody("PAYMENT_REQUIRED", message)))
    return b'"error":%b' % encode(message)
