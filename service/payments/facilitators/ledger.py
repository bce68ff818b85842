"""Settlement that moves nothing: the payment was checked, the receipt is real, and the money stays where it is."""

from hashlib import sha256
from typing import Final

from service.ethereum.signatures import LENGTH
from service.payments.facilitators.port import OTHER_CHAIN, Outcome, Refused, Settled
from service.payments.networks import ChainId
from service.payments.payment import Entry
from service.wire.payment import SettlementKind

_OWN_SIGNATURE: Final = 2 + 2 * LENGTH


class LedgerFacilitator:
    """Takes a payment's signature for the money: for machines that have no chain, on testnets only.

    Args:
        chain: Where payments come from.
    """

    kind: SettlementKind = "ledger"

    def __init__(self, chain: ChainId) -> None:
        self._chain = chain

    async def settle(self, entry: Entry) -> Outcome:
        """Settle a payment that was checked before it was claimed, the same way however often it is asked.

        Returns:
            `Settled` by a mark that stands for a transaction, always the same for one payment. `Refused` for the
            signature of a contract wallet: nobody can check it without its chain. `Unknown` for a payment of another
            chain: somebody else was asked for its money.
        """
        payment = entry.payment
        if payment.network != self._chain:
            return OTHER_CHAIN
        if len(payment.signature) != _OWN_SIGNATURE:
            return Refused("invalid_exact_evm_payload_signature")
        named = f"verdict-ledger{payment.network}{payment.asset}{payment.payer}{payment.nonce}"
        return Settled("0x" + sha256(named.encode()).hexdigest())
