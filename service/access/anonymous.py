"""Callers without a token: one free question a device, and a limit per network and UTC day.

A device's question is a usage event like any other: reserved with a lease, committed before its answer leaves, returned
if there is no answer. The device is recorded in the same transaction, so concurrent calls get one question in total.
Device ids and addresses are stored only as keyed hashes; a network's hash changes daily.
"""

import asyncio
import hmac
import ipaddress
from contextlib import suppress
from functools import lru_cache
from typing import Final

from msgspec import Struct

from service.access.usage_ledger import RESERVED, UsageLedger
from service.clock import SECOND_MS, Clock, day_of, midnight_after
from service.errors import ServiceError
from service.storage.database import Database, resolve
from service.storage.engine import Connection

MAX_DEVICES_PER_DAY: Final = 20
"""Devices of one network that may ask on one UTC day."""

PrefixBits = tuple[int, int]
"""How many leading bits of an IPv4 address, and of an IPv6 one, name a network."""

_DEVICE_BITS: Final[PrefixBits] = (24, 48)
"""What one site is given."""

_FIND_DEVICE: Final = "SELECT state FROM devices JOIN usage_events ON id = event_id WHERE device = ?"
_COUNT_DEVICES: Final = "SELECT count(*) FROM devices WHERE network = ?"
_INSERT_DEVICE: Final = "INSERT INTO devices (device, network, event_id) VALUES (?, ?, ?)"


FreeQuestion = int | ServiceError
"""The event of a question that was given, or why there is none."""


class AnonymousCaller(Struct, frozen=True):
    """A caller without a token: keyed hashes of the device id, and of its network and the UTC day."""

    device: bytes
    network: bytes


class AnonymousHasher:
    """Hashes device ids and networks.

    Args:
        key: Secret of the hashes. With it, ids and addresses could be guessed.
        clock: Time.
        account_bits: Prefix lengths of one network where accounts are created.
    """

    def __init__(self, key: bytes, clock: Clock, account_bits: PrefixBits = (24, 56)) -> None:
        self._key = key
        self._clock = clock
        self._account_bits = account_bits

    def identify(self, device_id: str, host: str) -> AnonymousCaller:
        """Hash a device's id, and the network of the address that it asks from."""
        return AnonymousCaller(
            self._hash(b"device", device_id), self._today(b"network", network_of(host, _DEVICE_BITS))
        )

    def account_network(self, host: str) -> bytes:
        """Hash the network of an address that signs in, and the UTC day."""
        return self._today(b"account network", network_of(host, self._account_bits))

    def _today(self, what: bytes, site: str) -> bytes:
        return self._hash(what, f"{day_of(self._clock.now_ms())} {site}")

    def _hash(self, what: bytes, text: str) -> bytes:
        return hmac.digest(self._key, what + b"\0" + text.encode("utf-8", "surrogatepass"), "sha256")


@lru_cache(maxsize=4096)
def network_of(host: str, bits: PrefixBits) -> str:
    """The network of an address. Text that is not an address stands for itself."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or address
    network = ipaddress.IPv4Network if isinstance(address, ipaddress.IPv4Address) else ipaddress.IPv6Network
    return str(network((int(address), bits[address.version == 6]), strict=False))  # noqa: PLR2004 - the protocol's own


class AnonymousQuota:
    """Reserves the questions of devices. The meter commits or releases them.

    Args:
        database: Where devices are stored.
        clock: Time.
        ledger: Records usage events.
    """

    def __init__(self, database: Database, clock: Clock, ledger: UsageLedger) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger

    async def reserve(self, caller: AnonymousCaller, offer_id: str) -> int:
        """Reserve a device's question. The meter must commit or release it.

        Returns:
            The usage event, durable.

        Raises:
            ServiceError: `AUTH_REQUIRED` if the device used its question; `RATE_LIMITED` if its network used all of the
                day's;
                `UNAVAILABLE` if the reservation could not be made durable.
        """
        refused = self._look(caller)
        if refused is not None:
            raise refused
        future: asyncio.Future[FreeQuestion] = asyncio.get_running_loop().create_future()
        admitted: list[FreeQuestion] = []

        def admit(connection: Connection) -> FreeQuestion:
            admitted.append(self._admit(connection, caller, offer_id))
            return admitted[0]

        def answer(admission: FreeQuestion, error: BaseException | None) -> None:
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

    def _look(self, caller: AnonymousCaller) -> ServiceError | None:
        try:
            rows = self._database.read_now(_FIND_DEVICE, (caller.device,))
            return _already_used(rows[0] if rows else None)
        except ServiceError:  # a store that cannot be read at once: the writer sees for itself
            return None

    def _admit(self, connection: Connection, caller: AnonymousCaller, offer_id: str) -> FreeQuestion:
        refused = _already_used(connection.execute(_FIND_DEVICE, (caller.device,)).fetchone())
        if refused is not None:
            return refused
        (devices,) = connection.execute(_COUNT_DEVICES, (caller.network,)).fetchone()
        if devices >= MAX_DEVICES_PER_DAY:
            return self._full()
        event_id = self._ledger.reserve_anonymous(connection, offer_id)
        connection.execute(_INSERT_DEVICE, (caller.device, caller.network, event_id))
        return event_id

    def _full(self) -> ServiceError:
        now_ms = self._clock.now_ms()
        seconds = -((now_ms - midnight_after(now_ms)) // SECOND_MS)
        return ServiceError(
            "RATE_LIMITED",
            "The devices of your network have used all of today's free questions. Run `verdict login` for questions of "
            "your own, or try again after 00:00 UTC.",
            headers={"Retry-After": str(max(1, seconds))},
        )

    def _give_back(self, admission: FreeQuestion) -> None:
        """Release a reservation whose call was cancelled. If that fails, its lease expires."""
        if isinstance(admission, int):
            with suppress(ServiceError):
                self._database.submit(lambda connection: self._ledger.release(connection, admission), _ignore_result)


def _ignore_result(_: None, __: BaseException | None) -> None:
    """Ignore the result: an unreleased reservation expires."""


def _already_used(row: tuple[int] | None) -> ServiceError | None:
    """The error for a device that is already recorded."""
    if row is None:
        return None
    had = "is being answered by another call" if row[0] == RESERVED else "has been answered"
    return ServiceError(
        "AUTH_REQUIRED",
        f"This device's one free question {had}. Run `verdict login`, and send the key or session as "
        "`Authorization: Bearer …`.",
    )
