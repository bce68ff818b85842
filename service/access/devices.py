"""Devices without a token: exactly one free question each, and so many a network on a UTC day, since ids can be forged.

A device's question is an event of usage like any other: reserved with a lease, committed before its answer leaves,
given back where nothing came of it or its process died before that. The device is entered in the same transaction, so
that of any number of calls at once, in any number of processes, one has the question.

Nobody's id or address is kept: what stands in the store are keyed hashes. A network's is made anew each day.
"""

import asyncio
import hmac
import ipaddress
from contextlib import suppress
from functools import lru_cache
from typing import Final

from msgspec import Struct

from service.access.ledger import RESERVED, Ledger
from service.clock import SECOND_MS, Clock, day_of, midnight_after
from service.errors import ServiceError
from service.storage.database import Database, resolve
from service.storage.engine import Connection

MOST_A_DAY: Final = 20
"""Devices of one network that may ask on one UTC day."""

Bits = tuple[int, int]
"""How many leading bits of an IPv4 address, and of an IPv6 one, name a network."""

_DEVICE_BITS: Final[Bits] = (24, 48)
"""What one site is given."""

_FIND: Final = "SELECT state FROM devices JOIN usage_events ON id = event_id WHERE device = ?"
_COUNT: Final = "SELECT count(*) FROM devices WHERE network = ?"
_ENTER: Final = "INSERT INTO devices (device, network, event_id) VALUES (?, ?, ?)"


Admission = int | ServiceError
"""The event of a question that was given, or why there is none."""


class Visitor(Struct, frozen=True):
    """Who asks without a token: keyed hashes of the device's id, and of its network on a day."""

    device: bytes
    network: bytes


class VisitorForm:
    """Hashes what strangers say of themselves.

    Args:
        key: Whoever has it could try out ids and addresses; without it the hashes say nothing.
        clock: Says which day it is.
        account_bits: What counts as one network where accounts are made.
    """

    def __init__(self, key: bytes, clock: Clock, account_bits: Bits = (24, 56)) -> None:
        self._key = key
        self._clock = clock
        self._account_bits = account_bits

    def visitor(self, device_id: str, host: str) -> Visitor:
        """Hash a device's id, and the network of the address that it asks from."""
        return Visitor(self._hash(b"device", device_id), self._today(b"network", site_of(host, _DEVICE_BITS)))

    def account_network(self, host: str) -> bytes:
        """Hash the network of an address that signs in, and the UTC day."""
        return self._today(b"account network", site_of(host, self._account_bits))

    def _today(self, what: bytes, site: str) -> bytes:
        return self._hash(what, f"{day_of(self._clock.now_ms())} {site}")

    def _hash(self, what: bytes, text: str) -> bytes:
        return hmac.digest(self._key, what + b"\0" + text.encode("utf-8", "surrogatepass"), "sha256")


@lru_cache(maxsize=4096)
def site_of(host: str, bits: Bits) -> str:
    """The network that counts as one site. What is no address stands for itself."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or address
    network = ipaddress.IPv4Network if isinstance(address, ipaddress.IPv4Address) else ipaddress.IPv6Network
    return str(network((int(address), bits[address.version == 6]), strict=False))  # noqa: PLR2004 - the protocol's own


class Devices:
    """The questions of devices, as one process gives them out. What is reserved here is the meter's to end.

    Args:
        database: Where they are entered.
        clock: Says which day it is.
        ledger: Enters their questions.
    """

    def __init__(self, database: Database, clock: Clock, ledger: Ledger) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger

    async def reserve(self, visitor: Visitor, offer_id: str) -> int:
        """Set a device's question aside. It must be committed or released, by the meter.

        A device that has had its question is refused without asking the writer, where the store can be read at once: a
        refusal changes nothing.

        Args:
            visitor: Who asks.
            offer_id: What for.

        Returns:
            The question's event, durable.

        Raises:
            ServiceError: `AUTH_REQUIRED` if the device has had its question, or another call has it; `RATE_LIMITED` if
                its network has had all of the day's; `UNAVAILABLE` if it could not be made durable.
        """
        refused = self._look(visitor)
        if refused is not None:
            raise refused
        future: asyncio.Future[Admission] = asyncio.get_running_loop().create_future()
        admitted: list[Admission] = []

        def admit(connection: Connection) -> Admission:
            admitted.append(self._admit(connection, visitor, offer_id))
            return admitted[0]

        def answer(admission: Admission, error: BaseException | None) -> None:
            if admitted and (error is not None or future.done()):  # a commit whose answer was lost may have been kept
                self._give_back(admitted[0])
            if error is not None or not future.done():
                resolve(future, admission, error)

        self._database.submit(admit, answer)
        try:
            admission = await future
        except asyncio.CancelledError:
            if not future.cancelled() and not future.exception():  # decided just before
                self._give_back(future.result())
            raise
        if isinstance(admission, ServiceError):
            raise admission
        return admission

    def _look(self, visitor: Visitor) -> ServiceError | None:
        try:
            return _known(self._database.glance(_FIND, (visitor.device,)))
        except ServiceError:  # a store that cannot be read at once: the writer sees for itself
            return None

    def _admit(self, connection: Connection, visitor: Visitor, offer_id: str) -> Admission:
        refused = _known(connection.execute(_FIND, (visitor.device,)).fetchone())
        if refused is not None:
            return refused
        (devices,) = connection.execute(_COUNT, (visitor.network,)).fetchone()
        if devices >= MOST_A_DAY:
            return self._full()
        event_id = self._ledger.enter_visit(connection, offer_id)
        connection.execute(_ENTER, (visitor.device, visitor.network, event_id))
        return event_id

    def _full(self) -> ServiceError:
        now_ms = self._clock.now_ms()
        seconds = -((now_ms - midnight_after(now_ms)) // SECOND_MS)
        return ServiceError(
            "RATE_LIMITED",
            "devices of your network have had all of today's free questions; run `verdict login` for questions of your "
            "own, or come back at 00:00 UTC",
            headers={"Retry-After": str(max(1, seconds))},
        )

    def _give_back(self, admission: Admission) -> None:
        """Release what nobody waits for any more; where that fails, its lease runs out."""
        if isinstance(admission, int):
            with suppress(ServiceError):
                self._database.submit(lambda connection: self._ledger.release(connection, admission), _nothing)


def _nothing(_: None, __: BaseException | None) -> None:
    """Whether it was released: the sweep of leases does what could not be done now."""


def _known(row: tuple[int] | None) -> ServiceError | None:
    """What a device is told that is entered already."""
    if row is None:
        return None
    had = "is being answered by another call" if row[0] == RESERVED else "has been answered"
    return ServiceError(
        "AUTH_REQUIRED",
        f"this device's one free question {had}; run `verdict login`, and send the key or session as "
        "`Authorization: Bearer …`",
    )
