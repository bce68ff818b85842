"""The port every facilitator stands behind."""

from typing import Final, Protocol, TypeAlias

from msgspec import Struct

from service.payments.payment import Entry
from service.wire.payment import SettlementKind


class Settled(Struct, frozen=True):
    """The money has moved, in this transaction (0x and 64 digits)."""

    transaction: str


class Refused(Struct, frozen=True):
    """The money has not moved and this payment will not move it; `reason` is an x402 reason code.

    A refusal that does not last (`insufficient_funds`, a window that is over) says so only if nobody was asked before:
    after an unknown outcome it may be said of a payment that has long been settled.
    """

    reason: str
    lasting: bool = True


class Unknown(Struct, frozen=True):
    """Nobody can say yet. `reason` is for the operator; `transaction` is the one that may do it, if one is known."""

    reason: str
    transaction: str | None = None


Outcome: TypeAlias = Settled | Refused | Unknown

OTHER_CHAIN: Final = Unknown("it is a payment of another chain than VERDICT_NETWORK names now")
"""Said of what was claimed before the setting was changed: whoever looks at one chain knows nothing of another."""


class Facilitator(Protocol):
    """Settles payments.

    Attributes:
        kind: What the manifest and receipts call it.
    """

    kind: SettlementKind

    async def settle(self, entry: Entry) -> Outcome:
        """Have a claimed payment settled, or learn that it has been. Bounded in time; never raises but when cancelled.

        Whatever leaves a doubt is `Unknown`: only an answer that cannot be misread is `Settled` or `Refused`.
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
    """The authorization is spent, and not for this request.

    Attributes:
        transaction: The one that paid this payee this amount, but before the request was made; null if the payer
            cancelled the authorization, paid somebody else, or used it too long ago to be looked for.
    """

    transaction: str | None = None


class Witness(Protocol):
    """Somebody who can see the chain."""

    async def look(self, entry: Entry) -> Settled | Unused | Cancelled | Unknown:
        """Say what the chain knows of a payment, whoever submitted it. `Unknown` if the chain cannot be read now."""
