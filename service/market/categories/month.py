"""CoinGecko's monthly budget: counted in the store, so that a restart does not reset it, and spread over the month."""

from typing import Final

from msgspec import Struct

from service.clock import SECOND_MS, Clock, iso, parse_iso
from service.market.shelf import Drawer
from service.upstream.failure import UpstreamError

SHARE: Final = 0.9
"""Of a month's calls so many are planned: retries and checks take the rest."""

FIRST_FILL: Final = 1_500
"""Calls that may be made at once in a month: what reading everything once takes, and half as many again."""

CALLS: Final = "market.gecko.calls"
"""The document of the count."""

_TOO_MANY: Final = 429
_DECEMBER: Final = 12


class GeckoCalls(Struct, frozen=True):
    """Calls made in a month of UTC (`2026-11`)."""

    month: str
    calls: int


class MonthlyCalls:
    """Says whether a call may be made, and counts it.

    Args:
        clock: Which month it is, and how much of it is over.
        drawer: Where the count is kept.
        most: Calls that a month has; null: there is no such limit.
    """

    def __init__(self, clock: Clock, drawer: Drawer[GeckoCalls], most: int | None) -> None:
        self._clock = clock
        self._drawer = drawer
        self._planned = None if most is None else int(most * SHARE)

    async def take(self) -> None:
        """Count a call.

        Raises:
            UpstreamError: If no call is left for now; `retry_after_s` says when one is.
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        if self._planned is None:
            return
        now_ms = self._clock.now_ms()
        month = iso(now_ms)[: len("2026-11")]
        kept = self._drawer.now.value
        made = kept.calls if kept is not None and kept.month == month else 0
        wait_ms = self._due_ms(month, made, self._planned) - now_ms
        if wait_ms > 0:
            said = f"{made} of this month's {self._planned} calls are made; the next is due in {wait_ms // SECOND_MS} s"
            raise UpstreamError("coingecko", _TOO_MANY, said.encode(), retry_after_s=wait_ms / SECOND_MS)
        await self._drawer.put("live", GeckoCalls(month, made + 1), now_ms)

    def _due_ms(self, month: str, made: int, planned: int) -> int:
        """When the next call of a month is due: the first ones at once, the others evenly until its end."""
        begin_ms, end_ms = _begin(month), _begin(_after(month))
        if made < FIRST_FILL:
            return begin_ms
        if made >= planned:
            return end_ms
        return begin_ms + (made + 1 - FIRST_FILL) * (end_ms - begin_ms) // (planned - FIRST_FILL)


def _begin(month: str) -> int:
    return parse_iso(f"{month}-01T00:00:00.000Z")


def _after(month: str) -> str:
    year, number = map(int, month.split("-"))
    return f"{year + 1}-01" if number == _DECEMBER else f"{year}-{number + 1:02}"
