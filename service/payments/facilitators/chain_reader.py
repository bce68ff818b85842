"""Reads from the chain what became of an authorization, regardless of who submitted it.

The newest block shows whether it is unused. The newest *final* block shows how far time has advanced: once that lies
past the window, the authorization cannot be used. That an authorization was cancelled or used elsewhere is reported
only
once it is final, because the payer then pays again.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from service.clock import SECOND_MS
from service.payments.challenge import WINDOW_SECONDS
from service.payments.facilitators.port import OTHER_CHAIN, Cancelled, Settled, Unknown, Unused
from service.payments.facilitators.rpc import Block, EthereumRpc, EventLog, open_rpc
from service.payments.facilitators.token import USED, authorization_topics, encode_authorization_state, transfer_outcome
from service.payments.networks import node_url
from service.payments.records import Payment, PaymentRecord
from service.settings import Settings
from service.upstream.json_rpc import NodeError

_BEFORE_S: Final = WINDOW_SECONDS
"""How long before it was claimed an authorization may have been used and still have paid for what it was claimed for:
somebody may have got hold of it on its way, and a clock of ours that runs ahead of the chain by less than the window
still takes payments. What was used earlier has paid for something else."""

_PAGE: Final = 2_000
"""Blocks whose events are asked for at once: public nodes give no more."""

_MOST_PAGES: Final = 500


class ChainReader:
    """Reads the chain through one node.

    Args:
        rpc: The node.
        confirmations: Required depth of a settlement, its own block included.
    """

    def __init__(self, rpc: EthereumRpc, confirmations: int) -> None:
        self._rpc = rpc
        self._confirmations = confirmations

    async def look(self, record: PaymentRecord) -> Settled | Unused | Cancelled | Unknown:
        """Say what the chain knows of a payment. `Unknown` if it cannot be read, or may still be taken back."""
        if record.payment.network != self._rpc.chain:
            return OTHER_CHAIN
        try:
            return await self._look(record.payment, record.claimed_ms // SECOND_MS)
        except NodeError as error:
            return Unknown(str(error))

    async def check(self, record: PaymentRecord, transaction: str) -> Settled | Unused | Cancelled | Unknown:
        """Say whether a transaction settled a payment; if it does not show that, as `look`."""
        try:
            mined = await self._rpc.mined(transaction)
            if mined is not None and mined.succeeded and transfer_outcome(record.payment, mined.logs) == "here":
                earliest_s = record.claimed_ms // SECOND_MS - _BEFORE_S
                deep = (await self._rpc.block("latest")).number - mined.block + 1 >= self._confirmations
                if deep and (await self._rpc.block(mined.block)).time_s >= earliest_s:
                    return Settled(transaction)
        except NodeError as error:
            return Unknown(str(error))
        return await self.look(record)

    async def _look(self, payment: Payment, claimed_s: int) -> Settled | Unused | Cancelled | Unknown:
        final, newest = await self._rpc.block("finalized"), await self._rpc.block("latest")
        if newest.number < final.number:
            return Unknown("The node contradicts itself: its newest block is older than its final block.")
        if not await self.is_spent(payment, newest.number):
            return Unused(final.time_s, newest.time_s)
        first = await self._block_before(claimed_s - _BEFORE_S, newest)
        async for log in self._ends(payment, first, newest.number):
            return await self._judge(payment, claimed_s, log, final, newest)
        if first <= final.number and await self.is_spent(payment, first):
            return Cancelled()
        return Unknown("The authorization is used, and the node does not say by which transaction.")

    async def _judge(
        self, payment: Payment, claimed_s: int, log: EventLog, final: Block, newest: Block
    ) -> Settled | Cancelled | Unknown:
        """Tell what the event that ended an authorization means."""
        block, transaction = int(log.block_number, 16), log.transaction_hash.lower()
        paid = log.topics[0].lower() == USED and await self._pays(payment, transaction)
        if paid and (await self._rpc.block(block)).time_s >= claimed_s - _BEFORE_S:
            deep = newest.number - block + 1 >= self._confirmations
            return Settled(transaction) if deep else Unknown("The transaction is not deep enough yet.", transaction)
        if block > final.number:
            return Unknown("The authorization was used elsewhere or cancelled, but that is not final.", transaction)
        return Cancelled(transaction if paid else None)

    async def _pays(self, payment: Payment, transaction: str) -> bool:
        """Whether a transaction that used the authorization paid this payee this amount."""
        mined = await self._rpc.mined(transaction)
        went = transfer_outcome(payment, mined.logs) if mined is not None and mined.succeeded else None
        if went is None:
            raise NodeError("The node returned an event without its transaction.")
        return went == "here"

    async def is_spent(self, payment: Payment, block: int) -> bool:
        """Ask the token for `authorizationState` after a block: whether the authorization is used or cancelled.

        Raises:
            NodeError: If the node does not tell.
        """
        return any(await self._rpc.call(payment.asset, encode_authorization_state(payment), at=block))

    async def _block_before(self, at_s: int, newest: Block) -> int:
        """Some block that is no younger than that; the chain's first if there is none."""
        back = _PAGE
        while back < newest.number:
            if (await self._rpc.block(newest.number - back)).time_s <= at_s:
                return newest.number - back
            back *= 2
        return 0

    async def _ends(self, payment: Payment, first: int, last: int) -> AsyncIterator[EventLog]:
        pages = range(first, last + 1, _PAGE)
        if len(pages) > _MOST_PAGES:
            raise NodeError("The payment is too old to be found on the chain.")
        for start in pages:
            end = min(start + _PAGE - 1, last)
            for log in await self._rpc.logs(payment.asset, authorization_topics(payment), start, end):
                if not log.removed and _is_end(log, payment):
                    yield log


@asynccontextmanager
async def open_chain_reader(settings: Settings) -> AsyncIterator[ChainReader]:
    """Create the reader used with a remote facilitator. The node is not called yet."""
    async with open_rpc(node_url(settings), settings.network) as rpc:
        yield ChainReader(rpc, settings.confirmations)


def _is_end(log: EventLog, payment: Payment) -> bool:
    """Whether a log matches the query."""
    ends, payer, nonce = authorization_topics(payment)
    return (
        log.address.lower() == payment.asset
        and [topic.lower() for topic in log.topics[1:]] == [payer, nonce]
        and (log.topics[0].lower() in ends)
    )
