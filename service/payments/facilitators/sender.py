"""Sends the operator's transactions: fees, nonces, and replacements of stuck ones."""

import logging
from typing import Final

from service.ethereum.transactions import ContractCall
from service.payments.facilitators.operator_account import Outbox, OutboxTransaction
from service.payments.facilitators.port import SettlementRefused, Unknown
from service.payments.facilitators.rpc import EthereumRpc
from service.payments.facilitators.token import FAILED, encode_transfer, refusal_reason
from service.payments.records import PaymentRecord
from service.upstream.json_rpc import NodeError, RevertedError

GWEI: Final = 10**9
_MAX_GAS: Final = 300_000
"""A transfer by a key takes about 75,000; a contract wallet may take more, but not at any price."""

_log: Final = logging.getLogger("verdict.payments")


class TransactionSender:
    """Sends transactions from the operator's account.

    Args:
        rpc: The node.
        outbox: Stores transactions before they are sent.
        address: The account.
        asset: Address of the token.
        gas_cap_gwei: Highest gas price.

    Attributes:
        address: The account.
    """

    def __init__(self, rpc: EthereumRpc, outbox: Outbox, address: str, asset: str, gas_cap_gwei: int) -> None:
        self.address = address
        self._rpc = rpc
        self._outbox = outbox
        self._asset = asset
        self._cap = gas_cap_gwei * GWEI

    async def submit(self, record: PaymentRecord) -> list[OutboxTransaction] | SettlementRefused | Unknown:
        """Send a payment's first transaction.

        Returns:
            What was sent; or why nothing was.

        Raises:
            NodeError: If the node does not tell what must be known before: nothing was sent.
        """
        data = encode_transfer(record.payment)
        try:
            gas = await self._rpc.estimate(self._asset, data, self.address) * 5 // 4
        except RevertedError as error:
            return SettlementRefused(refusal_reason(error))
        if gas > _MAX_GAS:
            return SettlementRefused(FAILED)
        base, tip = await self._fees()
        if base + tip > self._cap:
            return Unknown("Gas costs more than VERDICT_GAS_CAP_GWEI.")
        call = ContractCall(
            chain_id=self._rpc.chain_id,
            nonce=await self._rpc.sent_by(self.address, waiting=True),
            tip=tip,
            max_fee=min(2 * base + tip, self._cap),
            gas=gas,
            to=self._asset,
            data=data,
        )
        if await self._rpc.balance(self.address) < gas * call.max_fee:
            _log.error("The operator account has too little ether for gas.", extra={"operator": self.address})
            return Unknown("The operator account has too little ether for gas.")
        sent = await self._outbox.enter(record.id, call)
        if sent[-1].nonce > call.nonce:
            # What is written down and does not wait at the node would hold this one up.
            await self._resend(await self._outbox.unmined(call.chain_id, call.nonce, sent[-1].nonce - 1))
        await self._resend(sent[-1:])
        return sent

    async def nudge(self, nonce: int) -> None:
        """Send again whatever is not mined up to a nonce, for more where the fees have risen.

        Raises:
            NodeError: If the node does not tell what must be known before.
        """
        done = await self._rpc.sent_by(self.address, waiting=False)
        base, tip = await self._fees()
        for sent in await self._outbox.unmined(self._rpc.chain_id, done, nonce):
            await self._resend([await self._outbid(sent, base, tip) or sent])

    async def _outbid(self, sent: OutboxTransaction, base: int, tip: int) -> OutboxTransaction | None:
        """Offer more for a transaction that would not be mined; nothing if it would, or if more would be too much."""
        if sent.max_fee >= base + tip:
            return None
        # Nodes take a replacement only for a tenth more of both.
        least_tip, least_fee = (fee * 9 // 8 + 1 for fee in (sent.tip, sent.max_fee))
        if max(least_fee, base + tip) > self._cap:
            return None
        call = ContractCall(
            chain_id=self._rpc.chain_id,
            nonce=sent.nonce,
            tip=max(least_tip, tip),
            max_fee=min(max(least_fee, 2 * base + tip), self._cap),
            gas=sent.gas,
            to=self._asset,
            data=sent.data,
        )
        return await self._outbox.outbid(sent, call)

    async def _fees(self) -> tuple[int, int]:
        """Base fee of the newest block, and what is given beside it; wei a gas."""
        return (await self._rpc.block("latest")).base_fee, await self._rpc.tip()

    async def _resend(self, transactions: list[OutboxTransaction]) -> None:
        for sent in transactions:
            try:
                await self._rpc.send(sent.raw)
            except NodeError as error:
                # "already known", "nonce too low" and a lost answer look alike: only the chain tells.
                _log.info("The node did not accept a transaction.", extra={"tx": sent.hash, "reason": str(error)})
