"""The cashier: has payments settled, or finds out what became of them, and enters it in the ledger.

What a facilitator says is taken for proof only where it is one. Whatever else may have happened is `settling` until the
facilitator or the chain says more: a payer who is told that a payment has failed signs, and pays, once more.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeAlias

from service.clock import MINUTE_MS, SECOND_MS, Clock
from service.payments.facilitator_stop import FacilitatorStop
from service.payments.facilitators.port import (
    Cancelled,
    Facilitator,
    Outcome,
    Refused,
    Settled,
    Unknown,
    Unused,
    Witness,
)
from service.payments.ledger import PaymentLedger
from service.payments.payment import Entry
from service.payments.steps import FARTHEST_MS, FLIGHT_MS

GRACE_MS: Final = MINUTE_MS
"""How long after its window a payment is not given up: clocks differ, and blocks come late."""

EXPIRED: Final = "expired_unsettled"
NONCE_USED: Final = "invalid_exact_evm_nonce_already_used"

_ASKED_AGAIN: Final = "asked again: whoever asked first has not said what came of it"
_NOBODY_LOOKS: Final = "nobody here can see the chain"
_DEFECT: Final = "whoever was asked is defective: see the log"
_NOT_BELIEVED: Final = "payments through this facilitator are stopped: only the chain is believed"
_SHORTEST_PAUSE_MS: Final = 2 * SECOND_MS
_LONGEST_PAUSE_MS: Final = MINUTE_MS

_log: Final = logging.getLogger("verdict.payments")

Seen: TypeAlias = Settled | Unused | Cancelled | Unknown


class Cashier:
    """Settles payments, each in one flight at a time in this process; who comes later joins it.

    Args:
        ledger: Where the outcome is entered.
        facilitator: Moves the money.
        witness: Sees the chain, where somebody does.
        clock: Says when a window is over, and when to ask again.
        stop: Whether the facilitator is not to be believed any more.
    """

    def __init__(
        self,
        ledger: PaymentLedger,
        facilitator: Facilitator,
        witness: Witness | None,
        clock: Clock,
        stop: FacilitatorStop | None = None,
    ) -> None:
        self._ledger = ledger
        self._facilitator = facilitator
        self._witness = witness
        self._clock = clock
        self._stop = stop
        self._flights: dict[int, asyncio.Task[Entry]] = {}

    async def settle(self, entry: Entry) -> Entry:
        """Ask for the money, for the first time. The flight goes on when whoever waits for it is gone.

        Args:
            entry: As `PaymentLedger.settling` gave it just now.

        Returns:
            The payment: settled, failed, or still settling where nobody can say yet.

        Raises:
            ServiceError: `UNAVAILABLE` if the outcome could not be entered: it is not known then.
        """
        return await self._fly(entry, self._ask_first)

    async def resolve(self, entry: Entry) -> Entry:
        """Find out what became of a payment that somebody was asked to settle; else as `settle`.

        Args:
            entry: Settling; or failed, and then it is only looked for on the chain, never asked for again.
        """
        return await self._fly(entry, self._ask_again)

    async def close(self) -> None:
        """Leave what is under way as it stands: the ledger knows of it, and whoever reads that next goes on."""
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)

    async def _fly(self, entry: Entry, ask: Callable[[Entry], Coroutine[Any, Any, Entry]]) -> Entry:
        flight = self._flights.get(entry.id)
        if flight is None:
            flight = self._flights[entry.id] = asyncio.get_running_loop().create_task(ask(entry))
            flight.add_done_callback(lambda done: self._land(entry, done))
        return await asyncio.shield(flight)

    def _land(self, entry: Entry, flight: "asyncio.Task[Entry]") -> None:
        del self._flights[entry.id]
        if not flight.cancelled() and (error := flight.exception()) is not None:
            _log.error("what became of a payment could not be entered", exc_info=error, extra=_named(entry))

    async def _ask_first(self, entry: Entry) -> Entry:
        outcome = await self._ask(entry)
        if isinstance(outcome, Refused):
            return await self._refuse(entry, outcome.reason, first=not outcome.lasting)
        return await self._enter(entry, outcome)

    async def _ask_again(self, entry: Entry) -> Entry:
        if entry.state == "failed":
            return await self._doubt(entry, Unknown(_NOBODY_LOOKS))
        if entry.reason is None:
            # Whoever asked first may still be waiting for its answer, in another process. If that is a refusal which
            # proves something only of a payment that nobody else has asked for, this note takes the proof away.
            entry = await self._ledger.postpone(entry, _ASKED_AGAIN, None, self._clock.now_ms() + FLIGHT_MS)
        if entry.state != "settling":
            return entry
        outcome = await self._ask(entry)
        if not isinstance(outcome, Refused):
            return await self._enter(entry, outcome)
        if outcome.lasting:
            return await self._refuse(entry, outcome.reason, first=False)
        return await self._doubt(entry, Unknown(outcome.reason))

    async def _ask(self, entry: Entry) -> Outcome:
        try:
            outcome = await self._facilitator.settle(entry)
        except Exception:  # noqa: BLE001 - whatever went wrong, the money may have moved; the log has its trace
            _log.exception("a facilitator is defective", extra=_named(entry))
            return Unknown(_DEFECT)
        if isinstance(outcome, Settled) and self._stop is not None and self._stop.current is not None:
            return Unknown(_NOT_BELIEVED, outcome.transaction)
        return outcome

    async def _look(self, entry: Entry) -> Seen | None:
        """What the chain says of a payment; nothing if no chain is configured."""
        if self._witness is None:
            return None
        try:
            return await self._witness.look(entry)
        except Exception:  # noqa: BLE001 - a witness that fails has seen nothing; the log has its trace
            _log.exception("a witness is defective", extra=_named(entry))
            return Unknown(_DEFECT)

    async def _refuse(self, entry: Entry, reason: str, *, first: bool) -> Entry:
        """Enter a refusal, unless the chain says otherwise: an authorization that is used has paid for something.

        Whoever has seen the authorization may still submit it, as long as its window lasts.
        """
        seen = await self._look(entry)
        if seen is not None and not isinstance(seen, Unused):
            return await self._conclude(entry, seen, Unknown(reason))
        soon_ms = self._clock.now_ms() + _SHORTEST_PAUSE_MS
        look_ms = None if seen is None else max(_over_ms(entry), soon_ms)
        return await self._ledger.failed(entry, reason, look_ms, first=first, transaction=entry.transaction)

    async def _enter(self, entry: Entry, outcome: Settled | Unknown) -> Entry:
        if isinstance(outcome, Settled):
            # Somebody else's word: it is checked on the chain soon.
            reported = self._facilitator.kind == "remote"
            return await self._ledger.settled(entry, outcome.transaction, reported=reported)
        return await self._doubt(entry, outcome)

    async def _doubt(self, entry: Entry, doubt: Unknown) -> Entry:
        """Enter what the chain says where the facilitator cannot; else that nothing is known, and when to ask again."""
        return await self._conclude(entry, await self._look(entry) or doubt, doubt)

    async def _conclude(self, entry: Entry, seen: Seen, doubt: Unknown) -> Entry:
        if isinstance(seen, Settled):
            return await self._ledger.settled(entry, seen.transaction)
        if isinstance(seen, Cancelled):
            reason = _failure(entry, NONCE_USED)
            return await self._ledger.failed(entry, reason, None, transaction=seen.transaction)
        if isinstance(seen, Unused) and self._is_lost(entry, seen):
            return await self._ledger.failed(entry, _failure(entry, EXPIRED), None, transaction=entry.transaction)
        transaction = doubt.transaction or (seen.transaction if isinstance(seen, Unknown) else None)
        pause_ms = self._pause_ms(entry)
        _log.warning(
            "nobody can say yet what becomes of a payment",
            extra={**_named(entry), "reason": doubt.reason, "pause_s": pause_ms // SECOND_MS},
        )
        return await self._ledger.postpone(entry, doubt.reason, transaction, self._clock.now_ms() + pause_ms)

    def _is_lost(self, entry: Entry, unused: Unused) -> bool:
        """Whether no block can take the authorization any more: EIP-3009 wants it mined before `validBefore`."""
        return unused.at_s >= entry.payment.valid_before_s and self._clock.now_ms() >= _over_ms(entry)

    def _pause_ms(self, entry: Entry) -> int:
        """Wait as long as it has taken so far, which doubles from pause to pause and needs no counting."""
        now_ms = self._clock.now_ms()
        longest_ms = _LONGEST_PAUSE_MS if now_ms < _over_ms(entry) else FARTHEST_MS
        return min(max(now_ms - entry.claimed_ms, _SHORTEST_PAUSE_MS), longest_ms)


def _over_ms(entry: Entry) -> int:
    return entry.payment.valid_before_s * SECOND_MS + GRACE_MS


def _failure(entry: Entry, reason: str) -> str:
    """Why a payment has failed: what its payer was told first, where it was told anything."""
    return entry.reason if entry.state == "failed" and entry.reason else reason


def _named(entry: Entry) -> dict[str, object]:
    return {"payment": entry.receipt_id}
