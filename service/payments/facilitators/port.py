"""The interface of facilitators, and the outcomes they return."""

from typing import Final, Protocol, TypeAlias

from msgspec import Struct

from service.payments.records import PaymentRecord
from service.wire.payment import SettlementKind


class Settled(Struct, frozen=True):
    """The money has moved, in this transaction (0x and 64 digits)."""

    transaction: str


class SettlementRefused(Struct, frozen=True):
    """The money has not moved and this payment will not move it; `reason` is an x402 reason code.

    A refusal that is not `lasting` (`insufficient_funds`, an expired window) counts only for the first submission:
    after an unknown outcome, a payment that is already settled can be refused this way.
    """

    reason: str
    lasting: bool = True


class Unknown(Struct, frozen=True):
    """The outcome is unknown. `reason` is for the operator; `transaction` may settle it, if known."""

    reason: str
    transaction: str | None = None


Outcome: TypeAlias = Settled | SettlementRefused | Unknown

OTHER_CHAIN: Final = Unknown("The payment is on another chain than VERDICT_NETWORK.")
"""For payments that were claimed before the setting changed: the configured chain does not show their outcome."""


class Facilitator(Protocol):
    """Settles payments.

    Attributes:
        kind: Its name in the manifest and in receipts.
    """

    kind: SettlementKind

    async def settle(self, record: PaymentRecord) -> Outcome:
        """Settle a claimed payment, or find that it was settled. Ends within a minute; raises only when cancelled.

        Return `Settled` or `SettlementRefused` only for an unambiguous answer, otherwise `Unknown`.
        """


class Unused(Struct, frozen=True):
    """The chain has not seen the authorization.

    Attributes:
        at_s: Time of the newest final block, epoch seconds.
        newest_s: Time of the newest block, epoch seconds.
    """

    at_s: int
    newest_s: int = 0


class Cancelled(Struct, frozen=True):
    """The authorization was used, but not for this request.

    Attributes:
        transaction: The transaction that paid this payee this amount before the request was made; None if the payer
            cancelled the authorization, paid another payee, or used it before the blocks that are searched.
    """

    transaction: str | None = None


class AuthorizationReader(Protocol):
    """Reads authorizations from the chain."""

    async def look(self, record: PaymentRecord) -> Settled | Unused | Cancelled | Unknown:
        """Return what the chain shows of a payment. `Unknown` if it cannot be read."""
