"""Checks on the chain what a remote facilitator reports as settled. One process does it.

A report is false if the chain shows, 40 seconds later, that the authorization is unused or was used for something else.
Then the payment fails, its usage is removed, and payments through that facilitator stop until the operator resumes
them.
A chain that cannot be read proves nothing.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final, Protocol

from msgspec import Struct

from service.clock import HOUR_MS, MINUTE_MS, SECOND_MS, Clock
from service.errors import ServiceError
from service.payments.facilitators.port import Cancelled, Settled, Unknown, Unused
from service.payments.records import COLUMNS, PaymentRecord, record_of
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


_INSERT_STOP: Final = """
INSERT INTO payment_stops (facilitator, stopped_ms, receipt_id, tx) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
"""

_log: Final = logging.getLogger("verdict.payments")

VoidUsage = Callable[[Connection, int], None]
"""Takes a paid call out of the usage, by its event id."""

READ_EVERY_S: Final = 1.0
_READ_STOPS: Final = "SELECT facilitator, stopped_ms, receipt_id, tx FROM payment_stops ORDER BY facilitator"


class PaymentStop(Struct, frozen=True):
    """A facilitator that reported a settlement which is not on the chain.

    Attributes:
        facilitator: Host and port.
        stopped_ms: Since when, epoch milliseconds.
        receipt_id: The payment of the false report.
        transaction: What it reported.
    """

    facilitator: str
    stopped_ms: int
    receipt_id: str
    transaction: str | None


class FacilitatorStop:
    """The stop of one facilitator, as this process knows it: at most a second old.

    Args:
        database: Where stops are stored.
        facilitator: Host and port.
        clock: Paces the reading.

    Attributes:
        facilitator: As given.
        current: The stop; null while payments go through.
    """

    def __init__(self, database: Database, facilitator: str, clock: Clock) -> None:
        self.facilitator = facilitator
        self.current: PaymentStop | None = None
        self._database = database
        self._clock = clock

    async def read(self) -> None:
        """Read the stop from the store.

        Raises:
            ServiceError: `UNAVAILABLE` if the store does not answer.
        """
        stops = [PaymentStop(*row) for row in await self._database.read(_READ_STOPS)]
        found = next((stop for stop in stops if stop.facilitator == self.facilitator), None)
        if found is not None and self.current is None:
            _log.error(
                "Payments are stopped. The facilitator reported a settlement that is not on the chain.",
                extra={"facilitator": found.facilitator, "payment": found.receipt_id, "tx": found.transaction},
            )
        self.current = found

    async def watch(self) -> None:
        """Read the stop once a second, until cancelled."""
        while True:
            await self._clock.sleep(READ_EVERY_S)
            try:
                await self.read()
            except ServiceError as error:
                _log.warning("The stop of payments could not be read.", extra={"reason": error.message})

    def readiness(self) -> dict[str, object]:
        """What `/readyz` shows."""
        if self.current is None:
            return {"ready": True}
        return {
            "ready": False,
            "reason": "The facilitator reported a settlement that is not on the chain. "
            "Run `verdict admin payments resume`.",
            "facilitator": self.current.facilitator,
            "payment": self.current.receipt_id,
        }


class TransactionChecker(Protocol):
    """Reads the chain."""

    async def check(self, record: PaymentRecord, transaction: str) -> Settled | Unused | Cancelled | Unknown:
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
        reader: TransactionChecker,
        stop: FacilitatorStop,
        void: VoidUsage,
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
                    _log.warning(
                        "Reported settlements could not be checked. The next check follows in a second.",
                        extra={"reason": error.message},
                    )

    async def round(self) -> None:
        """Check all that is due, some at once.

        Raises:
            ServiceError: `UNAVAILABLE` if the store does not answer.
        """
        while len(due := await self._due()) > 0:
            await asyncio.gather(*map(self._check, due))

    async def _due(self) -> list[PaymentRecord]:
        now_ms = self._clock.now_ms()
        # What lies further ahead than anything is put was put there by a clock that has been set back since.
        rows = await self._database.read(_DUE, (now_ms, now_ms + HOUR_MS, _AT_ONCE))
        return [record_of(row) for row in rows]

    async def _check(self, record: PaymentRecord) -> None:
        settled_ms, transaction = record.settled_ms or 0, record.transaction or ""
        try:
            seen = await self._reader.check(record, transaction)
        except Exception:  # noqa: BLE001 - a defect must not end the service, and proves nothing; the log has its trace
            _log.exception("a settlement check failed", extra={"payment": record.receipt_id})
            seen = Unknown("The chain could not be read because of a defect.")
        if isinstance(seen, Settled):
            await self._database.write(lambda connection: _confirm(connection, record, seen.transaction))
        elif isinstance(seen, Cancelled) or (
            isinstance(seen, Unused) and seen.newest_s * SECOND_MS >= settled_ms + GRACE_MS
        ):
            await self._reject(record)
        else:
            await self._postpone(record, settled_ms)

    async def _postpone(self, record: PaymentRecord, settled_ms: int) -> None:
        now_ms = self._clock.now_ms()
        age_ms = now_ms - settled_ms
        if age_ms > LATE_MS:
            _log.warning("A settlement cannot be checked on the chain.", extra={"payment": record.receipt_id})
        next_ms = now_ms + max(_AGAIN_MS, min(age_ms - LATE_MS, HOUR_MS))
        await self._database.write(
            lambda connection: connection.execute(
                "UPDATE unchecked_settlements SET look_ms = ? WHERE payment_id = ?", (next_ms, record.id)
            )
        )

    async def _reject(self, record: PaymentRecord) -> None:
        _log.error(
            "A facilitator reported a settlement that is not on the chain.",
            extra={"facilitator": self._stop.facilitator, "payment": record.receipt_id, "tx": record.transaction},
        )
        await self._database.write(lambda connection: self._fail(connection, record))
        await self._stop.read()

    def _fail(self, connection: Connection, record: PaymentRecord) -> None:
        now_ms = self._clock.now_ms()
        found = connection.execute("SELECT event_id FROM payments WHERE id = ?", (record.id,)).fetchone()
        # A holder of the authorization can still submit it: check again after its window.
        look_ms = max(record.payment.valid_before_s * SECOND_MS + MINUTE_MS, now_ms + FIRST_LOOK_MS)
        connection.execute(_FAIL, (NOT_ON_CHAIN, look_ms, record.id))
        self._void(connection, found[0])
        _delete_report(connection, record)
        connection.execute(_INSERT_STOP, (self._stop.facilitator, now_ms, record.receipt_id, record.transaction))


def record_report(connection: Connection, payment_id: int, now_ms: int) -> None:
    """Note that a settlement was reported and is to be checked."""
    connection.execute("INSERT INTO unchecked_settlements VALUES (?, ?)", (payment_id, now_ms + FIRST_LOOK_MS))


def count_late(connection: Connection, now_ms: int) -> int:
    """How many reports are older than a minute and unchecked."""
    (late,) = connection.execute(_LATE, (now_ms - LATE_MS,)).fetchone()
    return int(late)


def _confirm(connection: Connection, record: PaymentRecord, transaction: str) -> None:
    connection.execute(_CORRECT, (transaction, record.id, transaction))
    _delete_report(connection, record)


def _delete_report(connection: Connection, record: PaymentRecord) -> None:
    connection.execute("DELETE FROM unchecked_settlements WHERE payment_id = ?", (record.id,))


def read_stops(connection: Connection) -> list[PaymentStop]:
    """Read every stop there is."""
    return [PaymentStop(*row) for row in connection.execute(_READ_STOPS).fetchall()]


def clear_stops(connection: Connection) -> list[PaymentStop]:
    """Remove every stop; services notice within a second.

    Returns:
        What was removed.
    """
    stops = read_stops(connection)
    connection.execute("DELETE FROM payment_stops")
    return stops
