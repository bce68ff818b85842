"""Checks on the chain what a remote facilitator has reported as settled. One process of several does.

A report counts as false when the chain shows, 40 seconds after it, that the authorization is not used, or that it was
used for something else. Then the payment has failed: it has no receipt and is not in the usage. No further payment goes
through that facilitator until the operator resumes them. A chain that cannot be read proves nothing.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final, Protocol

from service.clock import HOUR_MS, MINUTE_MS, SECOND_MS, Clock
from service.errors import ServiceError
from service.payments.facilitator_stop import FacilitatorStop
from service.payments.facilitators.port import Cancelled, Settled, Unknown, Unused
from service.payments.payment import Entry
from service.payments.rows import COLUMNS, entry_of
from service.storage.database import Database
from service.storage.engine import Connection

NOT_ON_CHAIN: Final = "settlement_not_on_chain"
"""The reason of a payment that failed because its settlement was reported and never happened."""

FIRST_LOOK_MS: Final = 2 * SECOND_MS
"""How long after a report the first check follows, so that its transaction can be in a block."""

GRACE_MS: Final = 40 * SECOND_MS
"""How long after a report the chain must show it, by the chain's own time."""

LATE_MS: Final = MINUTE_MS
"""How long after a report its check is late: the chain could not be read."""

_EVERY_S: Final = 1.0
_AGAIN_MS: Final = 5 * SECOND_MS
_AT_ONCE: Final = 32
_DUE: Final = f"""
SELECT {COLUMNS} FROM payments JOIN unchecked_settlements ON payment_id = id
WHERE look_ms <= ? OR look_ms > ? ORDER BY look_ms LIMIT ?
"""  # noqa: S608 -- names of columns
_LATE: Final = "SELECT count(*) FROM payments JOIN unchecked_settlements ON payment_id = id WHERE settled_ms < ?"
_CORRECT: Final = "UPDATE payments SET tx = ? WHERE id = ? AND tx <> ?"
_FAIL: Final = """
UPDATE payments SET state = 'failed', settled_ms = NULL, settlement = NULL, event_id = NULL, reason = ?, due_ms = ?
WHERE id = ?
"""
_STOP: Final = """
INSERT INTO payment_stops (facilitator, stopped_ms, receipt_id, tx) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
"""

_log: Final = logging.getLogger("verdict.payments")

Void = Callable[[Connection, int], None]
"""Takes a paid call out of the usage, by its event id."""


class Reader(Protocol):
    """Reads the chain."""

    async def check(self, entry: Entry, transaction: str) -> Settled | Unused | Cancelled | Unknown:
        """Say whether a transaction settled a payment; else what the chain knows of the payment."""


class SettlementChecker:
    """Checks reports until each is known to be true or false.

    Args:
        database: Where reports are stored.
        reader: Reads the chain.
        stop: Stopped by a false report.
        void: Takes a paid call out of the usage.
        clock: Says when.
        leads: Whether this process is the one that checks.
    """

    def __init__(
        self,
        database: Database,
        reader: Reader,
        stop: FacilitatorStop,
        void: Void,
        clock: Clock,
        leads: Callable[[], bool],
    ) -> None:
        self._database = database
        self._reader = reader
        self._stop = stop
        self._void = void
        self._clock = clock
        self._leads = leads

    async def watch(self) -> None:
        """Check what is due once a second, until cancelled."""
        while True:
            await self._clock.sleep(_EVERY_S)
            if self._leads():
                try:
                    await self.round()
                except ServiceError as error:
                    _log.warning("settlements could not be checked", extra={"reason": error.message})

    async def round(self) -> None:
        """Check all that is due, some at once.

        Raises:
            ServiceError: `UNAVAILABLE` if the store does not answer.
        """
        while len(due := await self._due()) > 0:
            await asyncio.gather(*map(self._check, due))

    async def _due(self) -> list[Entry]:
        now_ms = self._clock.now_ms()
        # What lies further ahead than anything is put was put there by a clock that has been set back since.
        rows = await self._database.read(_DUE, (now_ms, now_ms + HOUR_MS, _AT_ONCE))
        return [entry_of(row) for row in rows]

    async def _check(self, entry: Entry) -> None:
        settled_ms, transaction = entry.settled_ms or 0, entry.transaction or ""
        try:
            seen = await self._reader.check(entry, transaction)
        except Exception:  # noqa: BLE001 - a defect must not end the service, and proves nothing; the log has its trace
            _log.exception("a settlement check failed", extra={"payment": entry.receipt_id})
            seen = Unknown("a defect")
        if isinstance(seen, Settled):
            await self._database.write(lambda connection: _confirm(connection, entry, seen.transaction))
        elif isinstance(seen, Cancelled) or (
            isinstance(seen, Unused) and seen.newest_s * SECOND_MS >= settled_ms + GRACE_MS
        ):
            await self._reject(entry)
        else:
            await self._postpone(entry, settled_ms)

    async def _postpone(self, entry: Entry, settled_ms: int) -> None:
        now_ms = self._clock.now_ms()
        age_ms = now_ms - settled_ms
        if age_ms > LATE_MS:
            _log.warning("a settlement cannot be checked on the chain", extra={"payment": entry.receipt_id})
        next_ms = now_ms + max(_AGAIN_MS, min(age_ms - LATE_MS, HOUR_MS))
        await self._database.write(
            lambda connection: connection.execute(
                "UPDATE unchecked_settlements SET look_ms = ? WHERE payment_id = ?", (next_ms, entry.id)
            )
        )

    async def _reject(self, entry: Entry) -> None:
        _log.error(
            "a facilitator has reported a settlement that is not on the chain",
            extra={"facilitator": self._stop.facilitator, "payment": entry.receipt_id, "tx": entry.transaction},
        )
        await self._database.write(lambda connection: self._fail(connection, entry))
        await self._stop.read()

    def _fail(self, connection: Connection, entry: Entry) -> None:
        now_ms = self._clock.now_ms()
        found = connection.execute("SELECT event_id FROM payments WHERE id = ?", (entry.id,)).fetchone()
        # A holder of the authorization can still submit it: check again after its window.
        look_ms = max(entry.payment.valid_before_s * SECOND_MS + MINUTE_MS, now_ms + FIRST_LOOK_MS)
        connection.execute(_FAIL, (NOT_ON_CHAIN, look_ms, entry.id))
        self._void(connection, found[0])
        _forget(connection, entry)
        connection.execute(_STOP, (self._stop.facilitator, now_ms, entry.receipt_id, entry.transaction))


def report(connection: Connection, payment_id: int, now_ms: int) -> None:
    """Note that a settlement was reported and is to be checked."""
    connection.execute("INSERT INTO unchecked_settlements VALUES (?, ?)", (payment_id, now_ms + FIRST_LOOK_MS))


def count_late(connection: Connection, now_ms: int) -> int:
    """How many reports are older than a minute and unchecked."""
    (late,) = connection.execute(_LATE, (now_ms - LATE_MS,)).fetchone()
    return int(late)


def _confirm(connection: Connection, entry: Entry, transaction: str) -> None:
    connection.execute(_CORRECT, (transaction, entry.id, transaction))
    _forget(connection, entry)


def _forget(connection: Connection, entry: Entry) -> None:
    connection.execute("DELETE FROM unchecked_settlements WHERE payment_id = ?", (entry.id,))
