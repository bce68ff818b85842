"""The `chain` facilitator: submits authorizations through a node with the operator's key."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from service.clock import Clock
from service.errors import ServiceError
from service.payments.errors import NONCE_USED
from service.payments.facilitators import token
from service.payments.facilitators.chain_reader import ChainReader
from service.payments.facilitators.operator_account import Outbox, OutboxTransaction, open_operator_account
from service.payments.facilitators.port import (
    OTHER_CHAIN,
    Cancelled,
    Outcome,
    Settled,
    SettlementRefused,
    Unknown,
    Unused,
)
from service.payments.facilitators.rpc import EthereumRpc, open_rpc
from service.payments.facilitators.sender import TransactionSender
from service.payments.networks import NETWORKS, node_url
from service.payments.records import Payment, PaymentRecord
from service.settings import Settings
from service.storage.database import Database
from service.upstream.json_rpc import NodeError, RevertedError
from service.wire.payment import SettlementKind

MAX_WAIT_S: Final = 25.0
"""How long a transaction is waited for before its outcome counts as unknown."""

_DEADLINE_S: Final = 40.0
_POLL_EVERY_S: Final = 1.0
_RESEND_EVERY_S: Final = 6.0
_TRIES_TOO_EARLY: Final = 5

_log: Final = logging.getLogger("verdict.payments")


class ChainFacilitator:
    """Settles payments on the chain.

    Args:
        rpc: The node.
        chain_reader: Finds authorizations that others submitted.
        outbox: Stores transactions before they are sent.
        sender: Sends them.
        clock: Time.
        confirmations: Required depth of a settlement, its own block included.
    """

    kind: SettlementKind = "chain"

    def __init__(
        self,
        rpc: EthereumRpc,
        chain_reader: ChainReader,
        outbox: Outbox,
        sender: TransactionSender,
        clock: Clock,
        confirmations: int,
    ) -> None:
        self._rpc = rpc
        self._chain_reader = chain_reader
        self._outbox = outbox
        self._sender = sender
        self._clock = clock
        self._confirmations = confirmations

    async def settle(self, record: PaymentRecord) -> Outcome:
        """Submit an authorization, or continue to wait for it. A sent transaction is never refused."""
        if record.payment.network != self._rpc.chain:
            return OTHER_CHAIN
        try:
            async with asyncio.timeout(_DEADLINE_S):
                sent = await self._outbox.of(record.id)
                if sent:
                    return await self._follow(record, sent, again=True)
                entered = await self._begin(record)
                return await self._follow(record, entered, again=False) if isinstance(entered, list) else entered
        except TimeoutError:
            return Unknown("The node takes too long.")
        except (NodeError, ServiceError) as error:
            return Unknown(str(error))

    async def _begin(self, record: PaymentRecord) -> list[OutboxTransaction] | Outcome:
        refused = await self._simulate(record)
        if refused is not None:
            return refused
        return await self._sender.submit(record)

    async def _simulate(self, record: PaymentRecord) -> Outcome | None:
        """Ask the token whether it would accept the authorization. Returns None if it would."""
        reason = token.NOT_YET
        for _ in range(_TRIES_TOO_EARLY):
            try:
                await self._rpc.call(
                    record.payment.asset, token.encode_transfer(record.payment), sender=self._sender.address
                )
            except NodeError as error:
                reason = await self._diagnose(record.payment, error)
                _log.info(
                    "The token contract refuses a payment.", extra={"payment": record.receipt_id, "reason": str(error)}
                )
            else:
                return None
            if reason != token.NOT_YET:
                break
            # The newest block is older than the signature: the next one is not.
            await self._clock.sleep(_POLL_EVERY_S)
        if reason in {NONCE_USED, token.EXPIRED}:
            return await self._read_outcome(record, reason)
        return Unknown(reason) if reason == token.NOT_YET else SettlementRefused(reason)

    async def _diagnose(self, payment: Payment, error: NodeError) -> str:
        """Find the x402 reason why a transfer fails, from the chain's state first and then from the node's message.

        Nodes report a contract's reason in different places and words; the state is the same on all of them.

        Raises:
            NodeError: If the node gives no reason, or failed itself and the state shows no reason.
        """
        newest = await self._rpc.block("latest")
        if await self._chain_reader.is_spent(payment, newest.number):
            return NONCE_USED
        if newest.time_s >= payment.valid_before_s:
            return token.EXPIRED
        if newest.time_s <= payment.valid_after_s:
            return token.NOT_YET
        if int.from_bytes(await self._rpc.call(payment.asset, token.encode_balance_of(payment))) < payment.value:
            return token.NO_FUNDS
        if not isinstance(error, RevertedError):
            raise error
        return token.refusal_reason(error)

    async def _read_outcome(self, record: PaymentRecord, reason: str) -> Outcome:
        """Find out whether another party used the authorization. The token reports those as expired too."""
        seen = await self._chain_reader.look(record)
        if isinstance(seen, Cancelled):
            return SettlementRefused(NONCE_USED)
        if isinstance(seen, Unused):
            over = reason == token.EXPIRED and seen.at_s >= record.payment.valid_before_s
            return SettlementRefused(token.EXPIRED) if over else Unknown(reason)
        return seen

    async def _follow(self, record: PaymentRecord, sent: list[OutboxTransaction], *, again: bool) -> Outcome:
        """Wait until one of a payment's transactions is deep enough; send them again at intervals."""
        until_s = self._clock.monotonic() + MAX_WAIT_S
        nudge_s = self._clock.monotonic() + (0 if again else _RESEND_EVERY_S)
        reason = "The transaction is in no block yet."
        while True:
            try:
                outcome = await self._look(record, sent)
                if outcome is not None:
                    return outcome
                if self._clock.monotonic() >= nudge_s:
                    nudge_s = self._clock.monotonic() + _RESEND_EVERY_S
                    await self._sender.nudge(sent[-1].nonce)
                    sent = await self._outbox.of(record.id)
            except NodeError as error:
                reason = str(error)
            if self._clock.monotonic() >= until_s:
                return Unknown(reason, sent[-1].hash)
            await self._clock.sleep(_POLL_EVERY_S)

    async def _look(self, record: PaymentRecord, sent: list[OutboxTransaction]) -> Outcome | None:
        for transaction in reversed(sent):
            mined = await self._rpc.mined(transaction.hash)
            if mined is None:
                continue
            newest = await self._rpc.block("latest")
            if newest.number - mined.block + 1 < self._confirmations:
                return None
            if mined.succeeded and token.transfer_outcome(record.payment, mined.logs) == "here":
                return Settled(transaction.hash)
            # Reverted: another transaction was first, or the balance is too low. A reorganisation can change this.
            seen = await self._chain_reader.look(record)
            return seen if isinstance(seen, Settled) else Unknown("The transaction was reverted.", transaction.hash)
        return None


@asynccontextmanager
async def open_chain(
    settings: Settings, database: Database, clock: Clock
) -> AsyncIterator[tuple[ChainFacilitator, ChainReader]]:
    """Open the facilitator and its chain reader. Nothing is sent to the node yet.

    Args:
        settings: Checked, with `settlement` set to `chain`.
        database: Stores the outbox.
        clock: Time.

    Raises:
        SettingsError: If the operator's key cannot be read.
    """
    account = await open_operator_account(settings)
    async with open_rpc(node_url(settings), settings.network) as rpc:
        chain_reader = ChainReader(rpc, settings.confirmations)
        outbox = Outbox(database, account, clock)
        sender = TransactionSender(rpc, outbox, account.address, NETWORKS[settings.network].usdc, settings.gas_cap_gwei)
        yield ChainFacilitator(rpc, chain_reader, outbox, sender, clock, settings.confirmations), chain_reader
