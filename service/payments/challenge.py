"""The 402 of a priced route: one challenge that clients of both x402 versions can read."""

from base64 import b64encode
from typing import Any, Final, Literal

from msgspec import Struct

from service.payments.bazaar import BAZAAR, bazaar_extension
from service.payments.networks import NETWORKS, ChainId
from service.wire.envelope import SCHEMA_VERSION, ErrorBody, encode
from service.wire.offer import Offer
from service.wire.payment import Gate, PaymentRequired, RequirementsV1, RequirementsV2, Resource

X402Version = Literal[1, 2]

SCHEME: Final = "exact"

WINDOW_SECONDS: Final = 60
"""How long a signature may be valid."""

LONGEST_URL: Final = 2_048

_ERROR: Final = "payment required"


class Challenge(Struct, frozen=True):
    """A 402: the value of `PAYMENT-REQUIRED` and the body."""

    header: bytes
    body: bytes


class PaymentRejection(Struct, frozen=True):
    """Why a payment is refused: an x402 reason code and a sentence."""

    reason: str
    message: str


class ChallengeBuilder:
    """Builds challenges for one chain and one payee.

    Args:
        network: CAIP-2 id of the chain.
        pay_to: Address that is paid.
    """

    def __init__(self, network: ChainId, pay_to: str) -> None:
        self._network = NETWORKS[network]
        self._pay_to = pay_to
        self._extensions: dict[str, dict[str, Any]] = {}

    def challenge(self, offer: Offer, gate: Gate, message: str, url: str, max_version: X402Version) -> Challenge:
        """Write the 402 of a quota that is spent.

        Args:
            offer: The priced route.
            gate: Why it is shut, and what opens it.
            message: The same in a sentence.
            url: Absolute URL of the request.
            max_version: What the client says it reads; decides the body.

        Returns:
            The header, always v2, and the body. The question route, which has no envelope, says `error` as text.
        """
        return self._write(offer, gate, ErrorBody("PAYMENT_REQUIRED", message), _ERROR, url, max_version)

    def refusal(
        self, offer: Offer, gate: Gate, refusal: PaymentRejection, url: str, max_version: X402Version
    ) -> Challenge:
        """Write the 402 of a payment that is not good: the challenge to sign the next one by, and what was wrong.

        Args:
            offer: The priced route.
            gate: How the caller stands.
            refusal: What is wrong with the payment.
            url: Absolute URL of the request.
            max_version: What the client says it reads; decides the body.

        Returns:
            As `challenge`; the header's `error` is the reason code.
        """
        error = ErrorBody("PAYMENT_REQUIRED", refusal.message, {"reason": refusal.reason})
        return self._write(offer, gate, error, refusal.reason, url, max_version)

    def terms(self, offer: Offer) -> list[RequirementsV2]:
        """What is asked for a call of a route, in the words of v2."""
        row = RequirementsV2(
            scheme=SCHEME,
            network=self._network.chain_id,
            amount=str(offer.price),
            asset=self._network.usdc,
            pay_to=self._pay_to,
            max_timeout_seconds=WINDOW_SECONDS,
            extra=self._network.domain,
        )
        return [row]

    def terms_v1(self, offer: Offer, resource: Resource) -> list[RequirementsV1]:
        """What is asked for a call of a route, in the words of v1."""
        row = RequirementsV1(
            scheme=SCHEME,
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
        return [row]

    def resource(self, offer: Offer, url: str) -> Resource:
        """What is bought at an absolute URL, as challenges name it."""
        shown = url if len(url) <= LONGEST_URL else url.partition("?")[0]
        return Resource(url=shown, description=offer.summary, mime_type=offer.forms[0])

    def extensions(self, offer: Offer) -> dict[str, Any]:
        """The extensions of a route's challenge, for catalogues: made once."""
        if offer.id not in self._extensions:
            self._extensions[offer.id] = {BAZAAR: bazaar_extension(offer)}
        return self._extensions[offer.id]

    def _write(
        self, offer: Offer, gate: Gate, error: ErrorBody, error_text: str, url: str, max_version: X402Version
    ) -> Challenge:
        resource = self.resource(offer, url)
        rows = self.terms(offer)
        required = PaymentRequired(
            x402_version=2, error=error_text, resource=resource, accepts=rows, extensions=self.extensions(offer)
        )
        if max_version == 1:
            terms = b'"x402Version":1,"accepts":%b' % encode(self.terms_v1(offer, resource))
        else:
            terms = b'"x402Version":2,"resource":%b,"accepts":%b' % (encode(resource), encode(rows))
        body = b'{%b,%b,"gate":%b}' % (_error_members(offer, error), terms, encode(gate))
        return Challenge(b64encode(encode(required)), body)


def _error_members(offer: Offer, error: ErrorBody) -> bytes:
    if offer.bare_errors:
        return b'"error":%b' % encode(error.message)
    return b'"schemaVersion":%d,"error":%b' % (SCHEMA_VERSION, encode(error))
