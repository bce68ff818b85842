"""`chain`: this service submits the authorizations itself, through a node, with the operator's key."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from service.clock import Clock
from service.errors import ServiceError
from service.payments import token
from service.payments.facilitators.port import OTHER_CHAIN, Cancelled, Outcome, Refused, Settled, Unknown, Unused
from service.payments.facilitators.sender import Sender
from service.payments.networks import NETWORKS, node_url
from service.payments.operator_account import open_account
from service.payments.outbox import Outbox, Sent
from service.payments.payment import Entry, Payment
from service.payments.rpc import Rpc, open_rpc
from service.payments.witness import ChainWitness
from service.settings import Settings
from service.storage.database import Database
from service.upstream.json_rpc import NodeError, RevertedError
from service.wire.payment import SettlementKind

PATIENCE_S: Final = 25.0
"""How long a transaction is waited for before its outcome counts as unknown."""

_LONGEST_S: Final = 40.0
_LOOK_EVERY_S: Final = 1.0
_NUDGE_EVERY_S: Final = 6.0
_TRIES_TOO_EARLY: Final = 5

_log: Final = logging.getLogger("verdict.payments")


class ChainFacilitator:
    """Settles payments on the chain.

    Args:
        rpc: The node.
        witness: Looks where an authorization went that somebody else has submitted.
        outbox: Where transactions stand before they are sent.
        sender: Sends them.
        clock: Paces the waiting.
        confirmations: Blocks that a settlement must be deep, its own included.
    """

    kind: SettlementKind = "chain"

    def __init__(
        self, rpc: Rpc, witness: ChainWitness, outbox: Outbox, sender: Sender, clock: Clock, confirmations: int
    ) -> None:
        self._rpc = rpc
        self._witness = witness
        self._outbox = outbox
        self._sender = sender
        self._clock = clock
        self._confirmations = confirmations

    async def settle(self, entry: Entry) -> Outcome:
        """Submit an authorization, or go on waiting for it. What was once sent is never refused: only time tells."""
        if entry.payment.network != self._rpc.chain:
            return OTHER_CHAIN
        try:
            async with asyncio.timeout(_LONGEST_S):
                sent = await self._outbox.of(entry.id)
                if sent:
                    return await self._follow(entry, sent, again=True)
                entered = await self._begin(entry)
                return await self._follow(entry, entered, again=False) if isinstance(entered, list) else entered
        except TimeoutError:
            return Unknown("the node takes too long")
        except (NodeError, ServiceError) as error:
            return Unknown(str(error))

    async def _begin(self, entry: Entry) -> list[Sent] | Outcome:
        refused = await self._simulate(entry)
        if refused is not None:
            return refused
        return await self._sender.submit(entry)

    async def _simulate(self, entry: Entry) -> Outcome | None:
        """Have the token say whether it would take the authorization; nothing if it would."""
        reason = token.NOT_YET
        for _ in range(_TRIES_TOO_EARLY):
            try:
                await self._rpc.call(entry.payment.asset, token.transfer_of(entry.payment), sender=self._sender.address)
            except NodeError as error:
                reason = await self._diagnose(entry.payment, error)
                _log.info("the token refuses a payment", extra={"payment": entry.receipt_id, "reason": str(error)})
            else:
                return None
            if reason != token.NOT_YET:
                break
            # The newest block is older than the signature: the next one is not.
            await self._clock.sleep(_LOOK_EVERY_S)
        if reason in {token.NONCE_USED, token.EXPIRED}:
            return await self._ask_witness(entry, reason)
        return Unknown(reason) if reason == token.NOT_YET else Refused(reason)

    async def _diagnose(self, payment: Payment, error: NodeError) -> str:
        """Find the x402 reason why a transfer cannot be made: from the chain's state, and only then from the words.

        Nodes word and place a contract's reason as they like; the state is the same for all of them.

        Raises:
            NodeError: If the node does not tell, or failed itself and the state speaks for the payment.
        """
        newest = await self._rpc.block("latest")
        if await self._witness.is_spent(payment, newest.number):
            return token.NONCE_USED
        if newest.time_s >= payment.valid_before_s:
            return token.EXPIRED
        if newest.time_s <= payment.valid_after_s:
            return token.NOT_YET
        if int.from_bytes(await self._rpc.call(payment.asset, token.balance_of(payment))) < payment.value:
            return token.NO_FUNDS
        if not isinstance(error, RevertedError):
            raise error
        return token.refusal(error)

    async def _ask_witness(self, entry: Entry, reason: str) -> Outcome:
        """Find out what was done by somebody else. The token says "expired" also of what was used in time."""
        seen = await self._witness.look(entry)
        if isinstance(seen, Cancelled):
            return Refused(token.NONCE_USED)
        if isinstance(seen, Unused):
            over = reason == token.EXPIRED and seen.at_s >= entry.payment.valid_before_s
            return Refused(token.EXPIRED) if over else Unknown(reason)
        return seen

    async def _follow(self, entry: Entry, sent: list[Sent], *, again: bool) -> Outcome:
        """Wait until one of a payment's transactions is deep enough; have them sent again now and then."""
        until_s = self._clock.monotonic() + PATIENCE_S
        nudge_s = self._clock.monotonic() + (0 if again else _NUDGE_EVERY_S)
        reason = "in no block yet"
        while True:
            try:
                outcome = await self._look(entry, sent)
                if outcome is not None:
                    return outcome
                if self._clock.monotonic() >= nudge_s:
                    nudge_s = self._clock.monotonic() + _NUDGE_EVERY_S
                    await self._sender.nudge(sent[-1].nonce)
                    sent = await self._outbox.of(entry.id)
            except NodeError as error:
                reason = str(error)
            if self._clock.monotonic() >= until_s:
                return Unknown(reason, sent[-1].hash)
            await self._clock.sleep(_LOOK_EVERY_S)

    async def _look(self, entry: Entry, sent: list[Sent]) -> Outcome | None:
        for transaction in reversed(sent):
            mined = await self._rpc.mined(transaction.hash)
            if mined is None:
                continue
            newest = await self._rpc.block("latest")
            if newest.number - mined.block + 1 < self._confirmations:
                return None
            if mined.succeeded and token.spent(entry.payment, mined.logs) == "here":
                return Settled(transaction.hash)
            # Reverted: somebody else was faster, or the payer's money has gone; a reorganisation may still mend it.
            seen = await self._witness.look(entry)
            return seen if isinstance(seen, Settled) else Unknown("the transaction was reverted", transaction.hash)
        return None


@asynccontextmanager
async def open_chain(
    settings: Settings, database: Database, clock: Clock
) -> AsyncIterator[tuple[ChainFacilitator, ChainWitness]]:
    """Open the facilitator and the witness beside it; the node is not asked yet.

    Args:
        settings: Checked ones, with `settlement` at `chain`.
        database: Where the outbox is.
        clock: Paces the waiting.

    Raises:
        SettingsError: If the operator's key cannot be had.
    """
    account = await open_account(settings)
    async with open_rpc(node_url(settings), settings.network) as rpc:
        witness = ChainWitness(rpc, settings.confirmations)
        outbox = Outbox(database, account, clock)
        sender = Sender(rpc, outbox, account.address, NETWORKS[settings.network].usdc, settings.gas_cap_gwei)
        yield ChainFacilitator(rpc, witness, outbox, sender, clock, settings.confirmations), witness
