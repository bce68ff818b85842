"""Settles payments, and finds out what became of those whose outcome is unknown.

A facilitator's answer counts only if it proves something. Otherwise a payment stays `settling` until the facilitator or
the chain proves more: a payer whose payment is reported as failed pays again.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final, TypeAlias

from service.clock import MINUTE_MS, SECOND_MS, Clock
from service.errors import ServiceError
from service.payments.errors import NONCE_USED
from service.payments.facilitators.port import (
    AuthorizationReader,
    Cancelled,
    Facilitator,
    Outcome,
    Settled,
    SettlementRefused,
    Unknown,
    Unused,
)
from service.payments.ledger import PaymentLedger
from service.payments.records import PaymentRecord
from service.payments.settlement_checks import FacilitatorStop
from service.payments.transactions import ATTEMPT_MS, MAX_PAUSE_MS

GRACE_MS: Final = MINUTE_MS
"""How long after its window a payment is not given up: clocks differ, and blocks come late."""

EXPIRED_UNSETTLED: Final = "expired_unsettled"
_ASKED_AGAIN: Final = "The first settlement attempt has not reported yet."
_NO_CHAIN: Final = "No chain is configured."
_DEFECT: Final = "The facilitator failed. See the log."
_NOT_BELIEVED: Final = "Payments through this facilitator are stopped. Only the chain counts."
_SHORTEST_PAUSE_MS: Final = 2 * SECOND_MS
_LONGEST_PAUSE_MS: Final = MINUTE_MS
_log: Final = logging.getLogger("verdict.payments")
ChainOutcome: TypeAlias = Settled | Unused | Cancelled | Unknown

ROUND_EVERY_S: Final = 1.0
"""A round in which nothing is due is one read of an index that is empty."""

MAX_CONCURRENT: Final = 16
_PRUNE_EVERY_S: Final = 3_600.0


class Settlement:
    """Settles payments. Concurrent calls for one payment share one attempt.

    Args:
        ledger: Records outcomes.
        facilitator: Moves the money.
        chain_reader: Reads the chain; None if no chain is configured.
        clock: Time.
        stop: Whether the facilitator is stopped.
    """

    def __init__(
        self,
        ledger: PaymentLedger,
        facilitator: Facilitator,
        chain_reader: AuthorizationReader | None,
        clock: Clock,
        stop: FacilitatorStop | None = None,
    ) -> None:
        self._ledger = ledger
        self._facilitator = facilitator
        self._chain_reader = chain_reader
        self._clock = clock
        self._stop = stop
        self._attempts: dict[str, asyncio.Task[PaymentRecord]] = {}

    async def attempt(
        self, record: PaymentRecord, work: Callable[[PaymentRecord], Coroutine[Any, Any, PaymentRecord]]
    ) -> PaymentRecord:
        """Run an attempt to settle a payment, or join the one that runs. Continues if the caller is cancelled.

        Args:
            record: The payment.
            work: What to do with it if no attempt runs: one task.

        Returns:
            The result of the attempt.

        Raises:
            BaseException: What the attempt raised.
        """
        task = self._attempts.get(record.receipt_id)
        if task is None:
            task = self._attempts[record.receipt_id] = asyncio.get_running_loop().create_task(work(record))
            task.add_done_callback(partial(self._finish_attempt, record))
        return await asyncio.shield(task)

    async def settle(self, record: PaymentRecord) -> PaymentRecord:
        """Submit a payment for the first time. Call it in an `attempt`.

        Args:
            record: From `PaymentLedger.begin_settlement`.

        Returns:
            The payment: settled, failed, or settling if the outcome is unknown.

        Raises:
            ServiceError: `UNAVAILABLE` if the outcome could not be recorded.
        """
        outcome = await self._ask(record)
        if isinstance(outcome, SettlementRefused):
            return await self._refuse(record, outcome.reason, first=not outcome.lasting)
        return await self._enter(record, outcome)

    async def resolve(self, record: PaymentRecord) -> PaymentRecord:
        """Find the outcome of a payment that was submitted before.

        Args:
            record: Settling; or failed: then it is only looked up on the chain, not submitted.
        """
        return await self.attempt(record, self._ask_again)

    async def close(self) -> None:
        """Cancel running attempts. The ledger keeps their state; the reconciler continues them."""
        attempts = list(self._attempts.values())
        for attempt in attempts:
            attempt.cancel()
        await asyncio.gather(*attempts, return_exceptions=True)

    def _finish_attempt(self, record: PaymentRecord, attempt: "asyncio.Task[PaymentRecord]") -> None:
        del self._attempts[record.receipt_id]
        if not attempt.cancelled() and (error := attempt.exception()) is not None:
            _log.error("A settlement attempt failed.", exc_info=error, extra=_log_fields(record))

    async def _ask_again(self, record: PaymentRecord) -> PaymentRecord:
        if record.state == "failed":
            return await self._doubt(record, Unknown(_NO_CHAIN))
        if record.reason is None:
            # Another process may still wait for the first answer. Once this is recorded, a refusal that counts only for
            # the first submission no longer counts.
            record = await self._ledger.postpone(record, _ASKED_AGAIN, None, self._clock.now_ms() + ATTEMPT_MS)
        if record.state != "settling":
            return record
        outcome = await self._ask(record)
        if not isinstance(outcome, SettlementRefused):
            return await self._enter(record, outcome)
        if outcome.lasting:
            return await self._refuse(record, outcome.reason, first=False)
        return await self._doubt(record, Unknown(outcome.reason))

    async def _ask(self, record: PaymentRecord) -> Outcome:
        try:
            outcome = await self._facilitator.settle(record)
        except Exception:  # noqa: BLE001 - the money may have moved; the log has its trace
            _log.exception("The facilitator failed.", extra=_log_fields(record))
            return Unknown(_DEFECT)
        if isinstance(outcome, Settled) and self._stop is not None and self._stop.current is not None:
            return Unknown(_NOT_BELIEVED, outcome.transaction)
        return outcome

    async def _look(self, record: PaymentRecord) -> ChainOutcome | None:
        """What the chain shows of a payment; None if no chain is configured."""
        if self._chain_reader is None:
            return None
        try:
            return await self._chain_reader.look(record)
        except Exception:  # noqa: BLE001 - a reader that fails has seen nothing; the log has its trace
            _log.exception("The chain reader failed.", extra=_log_fields(record))
            return Unknown(_DEFECT)

    async def _refuse(self, record: PaymentRecord, reason: str, *, first: bool) -> PaymentRecord:
        """Record a refusal, unless the chain shows that the authorization was used.

        Anyone who saw the authorization can still submit it until its window ends.
        """
        seen = await self._look(record)
        if seen is not None and not isinstance(seen, Unused):
            return await self._conclude(record, seen, Unknown(reason))
        soon_ms = self._clock.now_ms() + _SHORTEST_PAUSE_MS
        look_ms = None if seen is None else max(_deadline_ms(record), soon_ms)
        return await self._ledger.record_failed(record, reason, look_ms, first=first, transaction=record.transaction)

    async def _enter(self, record: PaymentRecord, outcome: Settled | Unknown) -> PaymentRecord:
        if isinstance(outcome, Settled):
            # A report of another service: it is checked on the chain soon.
            reported = self._facilitator.kind == "remote"
            return await self._ledger.record_settled(record, outcome.transaction, reported=reported)
        return await self._doubt(record, outcome)

    async def _doubt(self, record: PaymentRecord, doubt: Unknown) -> PaymentRecord:
        """Record what the chain shows; else that the outcome is unknown, and when to ask again."""
        return await self._conclude(record, await self._look(record) or doubt, doubt)

    async def _conclude(self, record: PaymentRecord, seen: ChainOutcome, doubt: Unknown) -> PaymentRecord:
        if isinstance(seen, Settled):
            return await self._ledger.record_settled(record, seen.transaction)
        if isinstance(seen, Cancelled):
            reason = _failure(record, NONCE_USED)
            return await self._ledger.record_failed(record, reason, None, transaction=seen.transaction)
        if isinstance(seen, Unused) and self._is_lost(record, seen):
            return await self._ledger.record_failed(
                record, _failure(record, EXPIRED_UNSETTLED), None, transaction=record.transaction
            )
        transaction = doubt.transaction or (seen.transaction if isinstance(seen, Unknown) else None)
        pause_ms = self._pause_ms(record)
        _log.warning(
            "The outcome of a payment is not known yet.",
            extra={**_log_fields(record), "reason": doubt.reason, "pause_s": pause_ms // SECOND_MS},
        )
        return await self._ledger.postpone(record, doubt.reason, transaction, self._clock.now_ms() + pause_ms)

    def _is_lost(self, record: PaymentRecord, unused: Unused) -> bool:
        """Whether no block can include the authorization any more: EIP-3009 requires it before `validBefore`."""
        return unused.at_s >= record.payment.valid_before_s and self._clock.now_ms() >= _deadline_ms(record)

    def _pause_ms(self, record: PaymentRecord) -> int:
        """Pause as long as the payment has taken so far: pauses double without a counter."""
        now_ms = self._clock.now_ms()
        longest_ms = _LONGEST_PAUSE_MS if now_ms < _deadline_ms(record) else MAX_PAUSE_MS
        return min(max(now_ms - record.claimed_ms, _SHORTEST_PAUSE_MS), longest_ms)


def _deadline_ms(record: PaymentRecord) -> int:
    return record.payment.valid_before_s * SECOND_MS + GRACE_MS


def _failure(record: PaymentRecord, reason: str) -> str:
    """Why a payment failed: the first recorded reason."""
    return record.reason if record.state == "failed" and record.reason else reason


def _log_fields(record: PaymentRecord) -> dict[str, object]:
    return {"payment": record.receipt_id}


class Reconciler:
    """Resolves open payments and prunes the ledger. One process does it.

    Args:
        ledger: Reads what is due.
        settlement: Resolves payments.
        clock: Time.
        leads: Whether this process does it.
    """

    def __init__(self, ledger: PaymentLedger, settlement: Settlement, clock: Clock, leads: Callable[[], bool]) -> None:
        self._ledger = ledger
        self._settlement = settlement
        self._clock = clock
        self._leads = leads
        self._prune_s = clock.monotonic()

    async def watch(self) -> None:
        """Run a round every second, until cancelled."""
        while True:
            if self._leads():
                try:
                    await self.round()
                except ServiceError as error:
                    _log.warning(
                        "Open payments could not be checked. The next check follows in a second.",
                        extra={"reason": error.message},
                    )
            await self._clock.sleep(ROUND_EVERY_S)

    async def round(self) -> None:
        """Resolve due payments, some concurrently; prune once an hour.

        Raises:
            ServiceError: `UNAVAILABLE` if the store does not answer.
        """
        due = await self._ledger.read_due(self._clock.now_ms(), MAX_CONCURRENT)
        await asyncio.gather(*(self._resolve(record) for record in due))
        if self._clock.monotonic() >= self._prune_s:
            self._prune_s = self._clock.monotonic() + _PRUNE_EVERY_S
            await self._ledger.prune()

    async def _resolve(self, record: PaymentRecord) -> None:
        try:
            now = await self._settlement.resolve(record)
        except Exception:  # noqa: BLE001 - `attempt` has logged it; the payment stays due
            return
        if now.state != record.state:
            _log.info("The outcome of a payment is known.", extra={"payment": now.receipt_id, "state": now.state})
