"""The till: takes one payment for one request, at most once, and says what becomes of it.

A request that carries a payment goes through it like this: `read`, `take` (which claims the payment, or finds what it
has bought already), the route, then `settle`, or `release` where there is nothing to pay for.
"""

import asyncio
from base64 import b64encode
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from service.clock import Clock
from service.errors import ServiceError
from service.payments.cashier import NONCE_USED, Cashier
from service.payments.challenge import Challenger
from service.payments.checks import check, payment_of
from service.payments.decode import Carrier, decode
from service.payments.ledger import PaymentLedger
from service.payments.networks import NETWORKS, ChainId
from service.payments.payment import Entry, Order, PaidAnswer, Payment
from service.payments.refusal import PaymentRefusedError, unused, used_before
from service.payments.steps import Claim
from service.wire.envelope import encode
from service.wire.offers import Offer
from service.wire.payment import PaymentResponse, RequirementsV2

if TYPE_CHECKING:
    from service.payments.admission import Admission

T = TypeVar("T")

PATIENCE_S: Final = 10.0
"""How long a payment that comes again waits for the request that it came with first."""

LOOK_EVERY_S: Final = 0.05
_RETRY_AFTER_S: Final = "2"
Fields = list[tuple[bytes, bytes]]


class Tender(Struct, frozen=True):
    """A payment as it was read, and why it is not good for this call, if it is not."""

    payment: Payment
    refusal: PaymentRefusedError | None


class Till:
    """Sells answers.

    Args:
        chain: Where payments come from.
        challenger: Says what is asked for a call.
        ledger: Keeps what was claimed, and what it bought.
        cashier: Has payments settled.
        clock: Time.
        admission: Says whether a payment is worth the work, where somebody else settles.
    """

    def __init__(
        self,
        chain: ChainId,
        challenger: Challenger,
        ledger: PaymentLedger,
        cashier: Cashier,
        clock: Clock,
        admission: "Admission | None" = None,
    ) -> None:
        self._chain = chain
        self._terms = challenger.terms
        self._rows: dict[str, RequirementsV2] = {}
        self._ledger = ledger
        self._cashier = cashier
        self._clock = clock
        self._admission = admission
        self._tasks: set[asyncio.Task[Entry]] = set()

    def read(self, carrier: Carrier, value: bytes, offer: Offer) -> Tender:
        """Decode a payment and check all that can be seen of it here.

        Args:
            carrier: Which header it came in.
            value: That header's value.
            offer: The route that is called.

        Raises:
            ServiceError: BAD_REQUEST for what cannot be decoded.
            PaymentRefusedError: If it can have bought nothing here, and cannot now.
        """
        row = self._rows.get(offer.id)
        if row is None:
            row = self._rows[offer.id] = self._terms(offer)[0]
        presented = decode(carrier, value)
        try:
            return Tender(check(presented, row, self._chain, self._clock.now_ms()), None)
        except PaymentRefusedError as refusal:
            payment = payment_of(presented)
            if payment is None:
                raise
            return Tender(payment, refusal)

    async def take(self, order: Order, tender: Tender) -> Entry:
        """Claim a payment for a request, or find what it has bought.

        A payment that is not good any more is looked for all the same: it may have bought the answer while it was.

        Returns:
            `claimed`: it is this request's alone, which must end in `settle` or `release`. `settled` or `delivered`:
            its answer, to be given again.

        Raises:
            ServiceError: PAYMENT_REUSED if it was used for another request, or its answer is not kept any more;
                PAYMENT_PENDING if nobody can say yet what becomes of it; UNAVAILABLE if no payment can be taken now.
            PaymentRefusedError: If it is not good, or has failed.
        """
        give_up_s = self._clock.monotonic() + PATIENCE_S
        while True:
            claim, entry = await self._claim(order, tender)
            if claim == "fresh":
                return await self._admit(entry)
            if claim == "other":
                raise _used_otherwise(entry, order)
            if entry.state != "claimed":
                return await self._bought(entry)
            await self._wait(entry, give_up_s)

    async def find(self, user_id: int, key_hash: str, since_ms: int) -> Entry | None:
        """Find what a request with an Idempotency-Key has bought already, with whatever payment.

        Args:
            user_id: Whose request it is.
            key_hash: As its `Order` has it.
            since_ms: Since when the key counts, epoch milliseconds.

        Returns:
            `settled` or `delivered`, with the answer; null where nothing was paid.

        Raises:
            ServiceError: PAYMENT_REUSED if the answer is not kept any more; PAYMENT_PENDING if nobody can say yet what
                becomes of the payment.
        """
        entry = await self._ledger.of_key(user_id, key_hash, since_ms)
        if entry is None:
            return None
        try:
            return await self._bought(entry)
        except NotSettledError:
            return None

    async def settle(self, entry: Entry, answer: PaidAnswer) -> Entry:
        """Have a claimed payment settled for its answer. Goes on when whoever waits for it is gone.

        Args:
            entry: As `take` gave it.
            answer: What is to be handed out once it is settled.

        Returns:
            The settled payment.

        Raises:
            ServiceError: PAYMENT_PENDING if nobody can say yet; UNAVAILABLE if nothing was asked of anybody, because
                the answer could not be kept.
            PaymentRefusedError: If it was not settled.
        """
        closing = asyncio.get_running_loop().create_task(self._close(entry, answer))
        self._tasks.add(closing)
        closing.add_done_callback(self._tasks.discard)
        return _settled(await asyncio.shield(closing))

    async def release(self, entry: Entry) -> None:
        """Give a claimed payment back: nothing was sold. Never raises."""
        await self._ledger.release(entry)

    def delivered(self, entry: Entry) -> None:
        """Note that what a settled payment bought leaves now. Never waits, never raises."""
        self._ledger.delivered(entry)

    async def close(self) -> None:
        """Leave what is under way as it stands: the ledger knows of it, and whoever reads that next goes on."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _claim(self, order: Order, tender: Tender) -> tuple[Claim, Entry]:
        if tender.refusal is None:
            return await self._ledger.claim(order, tender.payment)
        entry = await self._ledger.held(tender.payment)
        if entry is None or entry.state == "released" or not _is_for(entry, order):
            raise tender.refusal
        return "same", entry

    async def _admit(self, entry: Entry) -> Entry:
        """Give a claim back that is not worth the work."""
        if self._admission is not None:
            try:
                await self._admission.check(entry)
            except BaseException:
                await self.release(entry)
                raise
        return entry

    async def _wait(self, entry: Entry, give_up_s: float) -> None:
        """Wait as long as another request runs for the same payment: until its claim is not what it was."""
        now: Entry | None = entry
        while now is not None and (now.state, now.receipt_id) == ("claimed", entry.receipt_id):
            if self._clock.monotonic() >= give_up_s:
                raise pending(entry)
            await self._clock.sleep(LOOK_EVERY_S)
            now = await self._ledger.get(entry.id)

    async def _bought(self, entry: Entry) -> Entry:
        if entry.state == "settling":
            entry = await self._known(entry, self._cashier.resolve(entry))
        entry = _settled(entry)
        if entry.answer is None:
            raise ServiceError(
                "PAYMENT_REUSED",
                f"this payment has bought its answer already, and the answer is not kept any more; "
                f"its receipt is /api/receipts/{entry.receipt_id}",
                details={"payment": entry.receipt_id},
            )
        return entry

    async def _close(self, entry: Entry, answer: PaidAnswer) -> Entry:
        try:
            entry = await self._ledger.settling(entry, answer)
        except ServiceError as error:
            entry = await self._noted(entry, answer, error)
        return entry if entry.state != "settling" else await self._known(entry, self._cashier.settle(entry))

    async def _noted(self, entry: Entry, answer: PaidAnswer, error: ServiceError) -> Entry:
        """The payment as it stands if its settlement was noted and the store could not say so; else it is given back.

        Raises:
            ServiceError: `error` if it is certain that nobody will be asked for the money; else PAYMENT_PENDING.
        """
        if not await self._ledger.release(entry):
            raise pending(entry) from error
        now = await self._known(entry, self._ledger.get(entry.id))
        if now is None or now.receipt_id != entry.receipt_id or now.state == "released":
            raise error
        return replace(now, answer=answer)

    async def _known(self, entry: Entry, asking: Awaitable[T]) -> T:
        try:
            return await asking
        except ServiceError as error:  # the store fails, and somebody may have been asked already
            raise pending(entry) from error


class NotSettledError(PaymentRefusedError):
    """The payment was good to look at, and was not settled.

    Args:
        entry: The failed payment.

    Attributes:
        fields: Header fields in which payers look for the outcome.
    """

    def __init__(self, entry: Entry) -> None:
        reason = entry.reason or "unexpected_settle_error"
        used = reason == NONCE_USED
        super().__init__(reason, used_before(entry.payment, entry.transaction) if used else unused(reason))
        self.fields = outcome_fields(entry)


def outcome_fields(entry: Entry) -> Fields:
    """The outcome of a payment, in the header fields of x402 v2 and v1, and the name of its receipt.

    Args:
        entry: Settled or failed.
    """
    network = NETWORKS[entry.payment.network]
    success = entry.state != "failed"

    def said(name: str) -> bytes:
        response = PaymentResponse(
            success=success,
            transaction=(entry.transaction or "") if success else "",
            network=name,
            payer=entry.payment.payer,
            error_reason=None if success else entry.reason,
        )
        return b64encode(encode(response))

    fields = [(b"payment-response", said(network.chain_id)), (b"x-payment-response", said(network.v1_name))]
    return [*fields, (b"x-receipt-id", entry.receipt_id.encode("ascii"))] if success else fields


def pending(entry: Entry | None = None) -> ServiceError:
    """Tell a payer that nobody can say yet: never a 402, which clients answer by signing, and paying, once more.

    Args:
        entry: The payment; none where it was not looked up.
    """
    named = {} if entry is None else {"payment": entry.receipt_id, "transaction": entry.transaction}
    details = {name: value for name, value in named.items() if value is not None}
    return ServiceError(
        "PAYMENT_PENDING",
        "nobody can say yet what becomes of this payment; send the same payment again: nothing is charged twice",
        details=details or None,
        headers={"Retry-After": _RETRY_AFTER_S},
    )


def _settled(entry: Entry) -> Entry:
    if entry.state == "failed":
        raise NotSettledError(entry)
    if entry.state == "settling":
        raise pending(entry)
    return entry


def _is_for(entry: Entry, order: Order) -> bool:
    held = entry.order
    return (held.user_id, held.request_hash) == (order.user_id, order.request_hash)


def _used_otherwise(entry: Entry, order: Order) -> ServiceError:
    own = entry.order.user_id == order.user_id
    return ServiceError(
        "PAYMENT_REUSED",
        "this payment was used for another request; sign one of its own for this one",
        details={"payment": entry.receipt_id} if own else None,
    )
