"""The checkout: accepts one payment for one request, at most once.

A paid request calls `check`, `claim` (which claims the payment or finds its stored response), the route, and then
`settle`, or `release` if there is nothing to pay for.

A claim is held in memory: of the requests of one process, one at a time runs for a payment. Across processes the row
decides that `settle` stores before anything is submitted.
"""

from collections.abc import Awaitable
from functools import partial
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from service.clock import Clock
from service.errors import ServiceError
from service.payments.challenge import ChallengeBuilder
from service.payments.checks import EXPIRED, check_payment, expired, normalised_payment
from service.payments.decode import PaymentHeader, decode_payment
from service.payments.errors import (
    NONCE_USED,
    NotSettledError,
    PaymentRefusedError,
    authorization_used_message,
    not_settled_message,
    payment_pending,
)
from service.payments.facilitators.port import AuthorizationReader, Cancelled, Settled, Unknown, Unused
from service.payments.facilitators.remote import RemoteFacilitator
from service.payments.ledger import PaymentLedger
from service.payments.networks import ChainId
from service.payments.records import Authorization, Payment, PaymentRecord, Purchase, authorization, new_claim
from service.payments.settlement import Settlement
from service.payments.settlement_checks import FacilitatorStop
from service.storage.response_store import StoredResponse
from service.wire.offer import Offer
from service.wire.payment import RequirementsV2

T = TypeVar("T")

MAX_WAIT_S: Final = 10.0
"""How long a payment that comes again waits for the request that it came with first."""

POLL_EVERY_S: Final = 0.05


class CheckedPayment(Struct, frozen=True):
    """A decoded payment, and why it is not valid for this call, if it is not."""

    payment: Payment
    refusal: PaymentRefusedError | None


class Checkout:
    """Sells responses. `ledger.delivered` notes that a response leaves.

    Args:
        chain: The chain of payments.
        challenges: Knows what a call costs.
        ledger: Stores payments and responses.
        settlement: Settles payments.
        clock: Time.
        verifier: Verifies payments before the route runs, with a remote facilitator.
    """

    def __init__(
        self,
        chain: ChainId,
        challenges: ChallengeBuilder,
        ledger: PaymentLedger,
        settlement: Settlement,
        clock: Clock,
        verifier: "PaymentVerifier | None" = None,
    ) -> None:
        self._chain = chain
        self._terms = challenges.terms
        self._rows: dict[str, RequirementsV2] = {}
        self.ledger = ledger
        self._settlement = settlement
        self._clock = clock
        self._verifier = verifier
        self._claims: dict[Authorization, PaymentRecord] = {}

    def check(self, carrier: PaymentHeader, value: bytes, offer: Offer) -> CheckedPayment:
        """Decode a payment and check what can be checked locally.

        Args:
            carrier: The header it came in.
            value: The header's value.
            offer: The route.

        Raises:
            ServiceError: BAD_REQUEST if it cannot be decoded.
            PaymentRefusedError: If it is not a payment of a supported scheme and chain.
        """
        row = self._rows.get(offer.id)
        if row is None:
            row = self._rows[offer.id] = self._terms(offer)[0]
        presented = decode_payment(carrier, value)
        try:
            return CheckedPayment(check_payment(presented, row, self._chain, self._clock.now_ms()), None)
        except PaymentRefusedError as refusal:
            payment = normalised_payment(presented)
            if payment is None:
                raise
            return CheckedPayment(payment, refusal)

    async def claim(self, purchase: Purchase, checked: CheckedPayment, *, look: bool = True) -> PaymentRecord:
        """Claim a payment for a request, or find the response it paid for.

        A payment that is no longer valid is looked up too: it may have paid for this response earlier.

        Args:
            purchase: The request.
            checked: The payment.
            look: Whether to look for an earlier response now. Otherwise `settle` finds it.

        Returns:
            `claimed`: held for this request; end it with `settle` or `release`. `settled` or `delivered`: with the
            response to send again.

        Raises:
            ServiceError: PAYMENT_REUSED if it was used for another request or its response is no longer stored;
                PAYMENT_PENDING if its outcome is unknown; UNAVAILABLE if payments cannot be accepted now.
            PaymentRefusedError: If it is not valid, or has failed.
        """
        await self._wait(purchase, checked)
        claim = new_claim(purchase, checked.payment, self._clock.now_ms())
        self._claims[authorization(checked.payment)] = claim
        try:
            # Before a facilitator verifies it: what was submitted before must not be refused as new.
            must_look = look or checked.refusal is not None or self._verifier is not None
            found = await self._find(purchase, checked) if must_look else None
            if found is None and self._verifier is not None:
                found = await self._verify(purchase, checked, claim, self._verifier)
        except BaseException:
            self.release(claim)
            raise
        if found is None:
            return claim
        self.release(claim)
        return await self._stored_response(found)

    def release(self, claim: PaymentRecord) -> None:
        """End a claim; nothing was submitted. Does nothing if it has ended."""
        key = authorization(claim.payment)
        if self._claims.get(key) is claim:
            del self._claims[key]

    async def find_bought(self, user_id: int, key_hash: str, since_ms: int) -> PaymentRecord | None:
        """Find what a request with an Idempotency-Key has already paid for, with any payment.

        Args:
            user_id: The user.
            key_hash: As in `Purchase`.
            since_ms: Earliest claim that counts, epoch milliseconds.

        Returns:
            `settled` or `delivered`, with the response; None if nothing was paid.

        Raises:
            ServiceError: PAYMENT_REUSED if the response is no longer stored; PAYMENT_PENDING if the outcome is unknown.
        """
        record = await self.ledger.find_by_key_hash(user_id, key_hash, since_ms)
        if record is None:
            return None
        try:
            return await self._stored_response(record)
        except NotSettledError:
            return None

    async def settle(self, claim: PaymentRecord, answer: StoredResponse) -> PaymentRecord:
        """Settle a claimed payment for its response. Continues if the caller is cancelled.

        Args:
            claim: From `claim`. It ends.
            answer: The response to send once the payment is settled.

        Returns:
            The settled payment, with the response to send: an earlier one, if the payment has paid for that.

        Raises:
            ServiceError: PAYMENT_PENDING if the outcome is unknown; PAYMENT_REUSED if the payment was used for another
                request; UNAVAILABLE if the response could not be stored and nothing was submitted.
            PaymentRefusedError: If it was not settled.
        """
        record = await self._settlement.attempt(claim, partial(self._settle, answer))
        if record.receipt_id == claim.receipt_id:
            return _settled(record)
        if not _is_same_request(record, claim.purchase):
            raise _used_otherwise(record, claim.purchase)
        return await self._stored_response(record)

    async def _wait(self, purchase: Purchase, checked: CheckedPayment) -> None:
        """Wait while another request of this process holds the payment."""
        key, give_up_s = authorization(checked.payment), self._clock.monotonic() + MAX_WAIT_S
        while (held := self._claims.get(key)) is not None:
            if not _is_same_request(held, purchase):
                raise checked.refusal or _used_otherwise(held, purchase)
            if self._clock.monotonic() >= give_up_s:
                raise payment_pending()
            await self._clock.sleep(POLL_EVERY_S)

    async def _verify(
        self, purchase: Purchase, checked: CheckedPayment, claim: PaymentRecord, verifier: "PaymentVerifier"
    ) -> PaymentRecord | None:
        """Verify a payment; if it is refused because another process has submitted it meanwhile, return that."""
        try:
            await verifier.check(claim)
        except PaymentRefusedError:
            found = await self._find(purchase, checked)
            if found is None:
                raise
            return found
        return None

    async def _find(self, purchase: Purchase, checked: CheckedPayment) -> PaymentRecord | None:
        """Find what a payment was used for; raise if that was another request, or nothing and it is not valid.

        A payment that has expired may be about to be stored by another process, which took it in time.
        """
        is_expired = checked.refusal is not None and checked.refusal.reason == EXPIRED
        find = self.ledger.find_after_writes if is_expired else self.ledger.find_by_authorization
        record = await find(checked.payment)
        if record is None or not _is_same_request(record, purchase):
            if checked.refusal is not None:
                raise checked.refusal
            if record is not None:
                raise _used_otherwise(record, purchase)
        return record

    async def _stored_response(self, record: PaymentRecord) -> PaymentRecord:
        if record.state == "settling":
            record = await self._or_pending(record, self._settlement.resolve(record))
        record = _settled(record)
        if record.answer is None:
            raise ServiceError(
                "PAYMENT_REUSED",
                f"This payment has paid for an answer that is no longer stored. "
                f"Its receipt is /api/receipts/{record.receipt_id}.",
                details={"payment": record.receipt_id},
            )
        return record

    async def _settle(self, answer: StoredResponse, claim: PaymentRecord) -> PaymentRecord:
        try:
            try:
                record = await self.ledger.begin_settlement(claim, answer)
            except ServiceError as error:
                record = await self._resolve_failed_write(claim, answer, error)
            if record.state == "claimed":
                raise expired(self._clock.now_ms())
            if record.receipt_id != claim.receipt_id or record.state != "settling":
                return record
            return await self._or_pending(record, self._settlement.settle(record))
        finally:
            self.release(claim)

    async def _resolve_failed_write(
        self, claim: PaymentRecord, answer: StoredResponse, error: ServiceError
    ) -> PaymentRecord:
        """Handle a failed write of `begin_settlement`: return the payment if the write succeeded after all.

        Raises:
            ServiceError: `error` if the payment was certainly not submitted; else PAYMENT_PENDING.
        """
        begun = await self._or_pending(None, self.ledger.find_begun(claim))
        if begun is None:
            raise error
        return replace(begun, answer=answer)

    async def _or_pending(self, record: PaymentRecord | None, asking: Awaitable[T]) -> T:
        try:
            return await asking
        except Exception as error:  # whatever failed, the payment may have been submitted
            raise payment_pending(record) from error


def _settled(record: PaymentRecord) -> PaymentRecord:
    if record.state == "failed":
        raise NotSettledError(record)
    if record.state == "settling":
        raise payment_pending(record)
    return record


def _is_same_request(record: PaymentRecord, purchase: Purchase) -> bool:
    held = record.purchase
    return (held.user_id, held.request_hash) == (purchase.user_id, purchase.request_hash)


def _used_otherwise(record: PaymentRecord, purchase: Purchase) -> ServiceError:
    own = record.purchase.user_id == purchase.user_id
    return ServiceError(
        "PAYMENT_REUSED",
        "This payment was used for another request. Sign a new payment for this request.",
        details={"payment": record.receipt_id} if own else None,
    )


class PaymentVerifier:
    """Asks the remote facilitator, before the route runs, whether a claimed payment can be settled.

    Args:
        facilitator: Verifies payments.
        chain_reader: Reads the chain.
        stop: Whether payments through this facilitator are stopped.
    """

    def __init__(
        self, facilitator: RemoteFacilitator, chain_reader: AuthorizationReader, stop: FacilitatorStop
    ) -> None:
        self._facilitator = facilitator
        self._chain_reader = chain_reader
        self._stop = stop

    async def check(self, record: PaymentRecord) -> None:
        """Verify a payment.

        Raises:
            PaymentRefusedError: If the facilitator refuses it and the chain shows that it did not pay for this request.
            ServiceError: UNAVAILABLE if payments are stopped, or facilitator or chain do not answer.
        """
        if self._stop.current is not None:
            raise _unavailable("Payments are stopped until the operator has looked at them.", 60)
        verified = await self._facilitator.verify(record)
        if verified is None:
            return
        if isinstance(verified, Unknown):
            raise _unavailable("The payment cannot be verified at the moment.", 2)
        seen = await self._chain_reader.look(record)
        if isinstance(seen, Cancelled):
            raise PaymentRefusedError(NONCE_USED, authorization_used_message(record.payment, seen.transaction))
        if isinstance(seen, Unused):
            raise PaymentRefusedError(verified.reason, not_settled_message(verified.reason))
        if not isinstance(seen, Settled):
            raise _unavailable("The chain cannot be read at the moment.", 2)

        # The money has arrived already: the settlement will find it.


def _unavailable(why: str, retry_s: int) -> ServiceError:
    return ServiceError(
        "UNAVAILABLE",
        f"{why} No settlement was attempted. Send the same request again.",
        headers={"Retry-After": str(retry_s)},
    )
