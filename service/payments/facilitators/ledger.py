"""The `ledger` facilitator: records settlements and moves no money."""

from hashlib import sha256
from typing import Final

from service.ethereum.signatures import SIGNATURE_BYTES
from service.payments.facilitators.port import OTHER_CHAIN, Outcome, Settled, SettlementRefused
from service.payments.networks import ChainId
from service.payments.records import PaymentRecord
from service.wire.payment import SettlementKind

_KEY_SIGNATURE_CHARS: Final = 2 + 2 * SIGNATURE_BYTES


class LedgerFacilitator:
    """Accepts a checked signature as payment: for machines without a chain, on testnets only.

    Args:
        chain: The chain of payments.
    """

    kind: SettlementKind = "ledger"

    def __init__(self, chain: ChainId) -> None:
        self._chain = chain

    async def settle(self, record: PaymentRecord) -> Outcome:
        """Settle a payment that was checked before it was claimed. Repeated calls return the same outcome.

        Returns:
            `Settled` with a hash of the payment in place of a transaction. `SettlementRefused` for the signature of a
            contract wallet, which cannot be checked without its chain. `Unknown` for a payment on another chain: it may
            have been settled there.
        """
        payment = record.payment
        if payment.network != self._chain:
            return OTHER_CHAIN
        if len(payment.signature) != _KEY_SIGNATURE_CHARS:
            return SettlementRefused("invalid_exact_evm_payload_signature")
        named = f"verdict-ledger{payment.network}{payment.asset}{payment.payer}{payment.nonce}"
        return Settled("0x" + sha256(named.encode()).hexdigest())
