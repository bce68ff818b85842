"""Whether payments through the remote facilitator are stopped. Every process reads the same row of the store."""

import logging
from typing import Final

from msgspec import Struct

from service.clock import Clock
from service.errors import ServiceError
from service.storage.database import Database
from service.storage.engine import Connection

READ_EVERY_S: Final = 1.0
_READ: Final = "SELECT facilitator, stopped_ms, receipt_id, tx FROM payment_stops ORDER BY facilitator"

_log: Final = logging.getLogger("verdict.payments")


class Stop(Struct, frozen=True):
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
        self.current: Stop | None = None
        self._database = database
        self._clock = clock

    async def read(self) -> None:
        """Read the stop from the store.

        Raises:
            ServiceError: `UNAVAILABLE` if the store does not answer.
        """
        stops = [Stop(*row) for row in await self._database.read(_READ)]
        found = next((stop for stop in stops if stop.facilitator == self.facilitator), None)
        if found is not None and self.current is None:
            _log.error(
                "payments are stopped: the facilitator reported a settlement that is not on the chain",
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
                _log.warning("the stop of payments could not be read", extra={"reason": error.message})

    def readiness(self) -> dict[str, object]:
        """What `/readyz` shows."""
        if self.current is None:
            return {"ready": True}
        return {
            "ready": False,
            "reason": "The facilitator reported a settlement that is not on the chain. Run `verdict payments resume`.",
            "facilitator": self.current.facilitator,
            "payment": self.current.receipt_id,
        }


def read_stops(connection: Connection) -> list[Stop]:
    """Read every stop there is."""
    return [Stop(*row) for row in connection.execute(_READ).fetchall()]


def clear_stops(connection: Connection) -> list[Stop]:
    """Remove every stop; services notice within a second.

    Returns:
        What was removed.
    """
    stops = read_stops(connection)
    connection.execute("DELETE FROM payment_stops")
    return stops
