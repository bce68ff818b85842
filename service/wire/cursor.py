"""Cursors: where the next page of a list begins, as text that only this service can have written."""

import hmac
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Final, TypeAlias

from service.errors import ServiceError
from service.wire.envelope import encode

Position: TypeAlias = tuple[int, int]
"""Of the last entry of a page: what the list is ordered by (mostly its time, epoch milliseconds) and its row's id."""

Filters: TypeAlias = Mapping[str, str | int | None]
"""What the caller asked the list to leave out, each in its one spelling (`BTC` however it was written)."""

_PACKED: Final = struct.Struct(">qq")
_MAC_BYTES: Final = 16


class Cursors:
    """Writes and reads the cursors of every paged route.

    A cursor is bound to a route, to its filters and to the service: it holds the position and a keyed digest of all of
    them, so that nothing else than what was written is ever read. The size of a page is no filter: it may change.

    Args:
        key: 32 bytes derived from the service's secrets, the same in all of its processes and after a restart.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def write(self, route: str, filters: Filters, position: Position) -> str:
        """Write the cursor that continues after a position.

        Args:
            route: Id of the offer.
            filters: Those of the list, null where not given.
            position: Two integers of 64 bits.

        Returns:
            43 characters of the URL-safe alphabet.
        """
        packed = _PACKED.pack(*position)
        return _spell(packed + self._mac(route, filters, packed))

    def read(self, text: str, route: str, filters: Filters) -> Position:
        """Read a cursor that `write` wrote for this route with these filters.

        Raises:
            ServiceError: BAD_REQUEST naming `cursor`, for any other text.
        """
        try:
            raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except ValueError:
            raw = b""
        packed, mac = raw[:-_MAC_BYTES], raw[-_MAC_BYTES:]
        # Decoding skips what is not of the alphabet, and the last bits; so it must also be spelt as we wrote it.
        whole = len(packed) == _PACKED.size and _spell(raw) == text
        if not whole or not hmac.compare_digest(mac, self._mac(route, filters, packed)):
            raise ServiceError(
                "BAD_REQUEST",
                "This cursor does not belong to this route and these filters. Start again without a cursor.",
                details={"parameter": "cursor"},
            )
        ordered, row = _PACKED.unpack(packed)
        return ordered, row

    def _mac(self, route: str, filters: Filters, packed: bytes) -> bytes:
        bound = encode([route, sorted(filters.items())])
        return hmac.digest(self._key, packed + bound, "sha256")[:_MAC_BYTES]


def _spell(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()
