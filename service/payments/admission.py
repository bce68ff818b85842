"""Whether a payment may be worked for: asked of a remote facilitator before the route runs."""

from service.errors import ServiceError
from service.payments.facilitator_stop import FacilitatorStop
from service.payments.facilitators.port import Cancelled, Settled, Unknown, Unused, Witness
from service.payments.facilitators.remote import RemoteFacilitator
from service.payments.payment import Entry
from service.payments.refusal import PaymentRefusedError, unused, used_before
from service.payments.token import NONCE_USED


class Admission:
    """Admits claimed payments.

    Args:
        facilitator: Verifies them.
        witness: Sees the chain.
        stop: Whether payments through this facilitator are stopped.
    """

    def __init__(self, facilitator: RemoteFacilitator, witness: Witness, stop: FacilitatorStop) -> None:
        self._facilitator = facilitator
        self._witness = witness
        self._stop = stop

    async def check(self, entry: Entry) -> None:
        """Return if the payment can be settled, as far as can be known before.

        Raises:
            PaymentRefusedError: If the facilitator refuses it, and the chain shows that it has not paid for this.
            ServiceError: UNAVAILABLE if payments are stopped, or if facilitator or chain do not answer.
        """
        if self._stop.current is not None:
            raise _unavailable("Payments are stopped until the operator has looked at them.", 60)
        verified = await self._facilitator.verify(entry)
        if verified is None:
            return
        if isinstance(verified, Unknown):
            raise _unavailable("The payment cannot be verified at the moment.", 2)
        seen = await self._witness.look(entry)
        if isinstance(seen, Cancelled):
            raise PaymentRefusedError(NONCE_USED, used_before(entry.payment, seen.transaction))
        if isinstance(seen, Unused):
            raise PaymentRefusedError(verified.reason, unused(verified.reason))
        if not isinstance(seen, Settled):
            raise _unavailable("The chain cannot be read at the moment.", 2)
        # The money has arrived already: the settlement will find it.


def _unavailable(why: str, retry_s: int) -> ServiceError:
    return ServiceError(
        "UNAVAILABLE",
        f"{why} No settlement was attempted. Send the same request again.",
        headers={"Retry-After": str(retry_s)},
    )
