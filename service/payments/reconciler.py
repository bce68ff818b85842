"""The reconciler: goes back to every payment whose outcome is not known, until it is. One process of several does."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from service.clock import Clock
from service.errors import ServiceError
from service.payments.cashier import Cashier
from service.payments.ledger import PaymentLedger
from service.payments.payment import Entry

EVERY_S: Final = 1.0
"""A round in which nothing is due is one read of an index that is empty."""

AT_ONCE: Final = 16
_PRUNE_EVERY_S: Final = 3_600.0

_log: Final = logging.getLogger("verdict.payments")


class Reconciler:
    """Has open payments resolved, and the ledger tidied.

    Args:
        ledger: Says what is due.
        cashier: Finds out, and enters it.
        clock: When.
        leads: Whether this process is the one that does it.
    """

    def __init__(self, ledger: PaymentLedger, cashier: Cashier, clock: Clock, leads: Callable[[], bool]) -> None:
        self._ledger = ledger
        self._cashier = cashier
        self._clock = clock
        self._leads = leads
        self._prune_s = clock.monotonic()

    async def watch(self) -> None:
        """Go round once a second, until cancelled."""
        while True:
            if self._leads():
                try:
                    await self.round()
                except ServiceError as error:
                    _log.warning("payments could not be looked over", extra={"reason": error.message})
            await self._clock.sleep(EVERY_S)

    async def round(self) -> None:
        """Resolve what is due, some at once; tidy up once an hour.

        Raises:
            ServiceError: `UNAVAILABLE` if the store does not answer.
        """
        due = await self._ledger.due(self._clock.now_ms(), AT_ONCE)
        await asyncio.gather(*(self._resolve(entry) for entry in due))
        if self._clock.monotonic() >= self._prune_s:
            self._prune_s = self._clock.monotonic() + _PRUNE_EVERY_S
            await self._ledger.prune()

    async def _resolve(self, entry: Entry) -> None:
        try:
            now = await self._cashier.resolve(entry)
        except Exception:  # noqa: BLE001 - the cashier has logged it; the others are not to suffer, and it stays due
            return
        if now.state != entry.state:
            _log.info("it is known what became of a payment", extra={"payment": now.receipt_id, "state": now.state})
