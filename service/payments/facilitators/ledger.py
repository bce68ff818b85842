"""Settlement that moves nothing: the payment was checked, the receipt is real, and the money stays where it is."""

from typing import Final

from service.ethereum.addresses import keccak256
from service.ethereum.signatures import LENGTH
from service.payments.facilitators.port import Outcome, Refused, Settled
from service.payments.payment import Entry
from service.wire.payment import SettlementKind

_OWN_SIGNATURE: Final = 2 + 2 * LENGTH


class LedgerFacilitator:
    """Takes a payment's signature for the money: for machines that have no chain, on testnets only."""

    kind: SettlementKind = "ledger"

    async def settle(self, entry: Entry) -> Outcome:
        """Settle a payment that was checked before it was claimed, the same way however often it is asked.

        Returns:
            `Settled` by a mark that stands for a transaction, always the same for one payment. `Refused` for the
            signature of a contract wallet: nobody can check it without its chain.
        """
        payment = entry.payment
        if len(payment.signature) != _OWN_SIGNATURE:
            return Refused("invalid_exact_evm_payload_signature")
        named = f"verdict-ledger{payment.network}{payment.asset}{payment.payer}{payment.nonce}"
        return Settled("0x" + keccak256(named.encode()).hex())
