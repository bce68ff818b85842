"""Progress of loading, estimates of how long the rest takes, and the errors for data that is not available.

Estimates are computed from what the store lacks, so every process can make them.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NoReturn

from msgspec import Struct

from service.clock import DAY_MS, HOUR_MS, Clock
from service.errors import ServiceError, upstream_code
from service.market.models import MAJORS, REACH_MS, SETTLE_MS, SeriesProgress
from service.market.sources.hyperliquid import Hyperliquid
from service.market.sources.hyperliquid_wire import EARLIEST_MS, FUNDING_PAGE
from service.market.store import MarketStore
from service.storage.documents import FetchFailure
from service.units import Interval

LEAST_WAIT_S: Final = 1
_RETRY_AFTER_S: Final = 5
_CONFIRM_AFTER_S: Final = 15

_PIECES: Final = 8
_LEAST_PIECES: Final = 3


class LoadProgress(Struct, frozen=True):
    """How far one kind of data is loaded.

    Attributes:
        known: Number of loaded coins (or categories).
        total: Number of all; 0 if unknown.
        of: Plural noun for the message (`coins`).
        remaining_s: Estimated seconds until all are loaded; null if unknown.
    """

    known: int
    total: int
    of: str = "coins"
    remaining_s: float | None = None

    @property
    def complete(self) -> bool:
        """Whether everything is loaded."""
        return self.known >= self.total > 0

    def __str__(self) -> str:
        return f"{self.known} of {self.total} {self.of}" if self.total else "not begun"


class LoadPace:
    """Measures how long one piece takes to load, where pieces are loaded one after another.

    Args:
        clock: Monotonic time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ends_s: deque[float] = deque(maxlen=_PIECES + 1)

    def begin(self) -> None:
        """Forget earlier pieces. The next piece begins now."""
        self._ends_s.clear()
        self.note()

    def note(self) -> None:
        """Record the end of a piece, which is the beginning of the next."""
        self._ends_s.append(self._clock.monotonic())

    def piece_s(self) -> float:
        """Mean seconds of the last 8 pieces; 0 after fewer than 3."""
        pieces = len(self._ends_s) - 1
        return (self._ends_s[-1] - self._ends_s[0]) / pieces if pieces >= _LEAST_PIECES else 0.0


_PAGES: Final = -(-REACH_MS // HOUR_MS // FUNDING_PAGE)
"""Requests for one coin's payments."""


class LoadEstimator:
    """Estimates how long it takes until the series of a coin are stored.

    Daily bars are loaded first: BTC and ETH, then the most traded coins. Then hourly bars and funding payments
    alternate, request by request.

    Args:
        clock: Decides which bars have closed.
        store: Knows what is missing.
        source: Knows the weight of a request, and the rate at which weight may be spent.
        origin: The current dataset of the venue.
        pace: How long one coin's hourly bars took recently, in the process that loads them.
    """

    def __init__(
        self, clock: Clock, store: MarketStore, source: Hyperliquid, origin: Callable[[], str], pace: LoadPace
    ) -> None:
        self._clock = clock
        self._store = store
        self._source = source
        self._origin = origin
        self._pace = pace

    async def bars(self, coin: str, interval: Interval) -> LoadProgress:
        """Count the coins that have bars, and estimate when one coin's bars are loaded.

        Args:
            coin: Venue symbol of a listed coin.
            interval: Length of a bar.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        days = await self._store.progress(self._origin())
        if interval == "1d":
            # The sort is stable: the majors first, the others in their order.
            order = sorted(days, key=lambda row: row.venue_symbol not in MAJORS)
            return _progress(days, self._source.wait_s(self._daily_weight(_until(order, coin))))
        hours = await self._store.progress(self._origin(), "1h")
        place = len([row for row in _until(hours, coin) if row.last_ms is None])
        wait_s = self._source.wait_s(self._daily_weight(days) + place * self._hour_weight())
        return _progress(hours, max(wait_s, place * self._pace.piece_s()))

    async def payments(self) -> LoadProgress:
        """Count the coins that have funding payments, and estimate when the first coin's are loaded.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        paid, days = await self._store.funding_progress(self._origin()), await self._store.progress(self._origin())
        pages = 0 if any(row.last_ms is not None for row in paid) else _PAGES
        return _progress(paid, self._source.wait_s(self._daily_weight(days) + pages * self._hour_weight()))

    def daily_wait_s(self, coins: int) -> float:
        """Estimated seconds until the daily bars of this many coins without any are requested."""
        return self._source.wait_s(coins * self._source.weight_of_bars("1d", EARLIEST_MS))

    def _daily_weight(self, days: Sequence[SeriesProgress]) -> int:
        """Weight of requesting the missing daily bars."""
        newest_ms = (self._clock.now_ms() - SETTLE_MS) // DAY_MS * DAY_MS - DAY_MS
        starts = (EARLIEST_MS if row.last_ms is None else row.last_ms for row in days)
        return sum(self._source.weight_of_bars("1d", start_ms) for start_ms in starts if start_ms < newest_ms)

    def _hour_weight(self) -> int:
        """Weight of one coin's hourly bars and one page of its payments."""
        since_ms = self._clock.now_ms() - REACH_MS
        return self._source.weight_of_bars("1h", since_ms) + self._source.weight_of_payments(since_ms)


def _until(rows: Sequence[SeriesProgress], coin: str) -> Sequence[SeriesProgress]:
    """The rows up to and including a coin's; all rows if it has none."""
    places = [place for place, row in enumerate(rows, 1) if row.venue_symbol == coin]
    return rows[: places[0]] if places else rows


def _progress(rows: Sequence[SeriesProgress], remaining_s: float) -> LoadProgress:
    listed = [row for row in rows if row.listed]
    return LoadProgress(sum(row.last_ms is not None for row in listed), len(listed), remaining_s=remaining_s)


def raise_unavailable(
    upstream: str, failure: FetchFailure | None, what: str, progress: LoadProgress | None = None
) -> NoReturn:
    """Raise the error that explains why there is no data.

    Args:
        upstream: Name of the source (`hyperliquid`).
        failure: The last failed request; null if none was made yet.
        what: The missing data, for the message (`prices`).
        progress: How far the required data is loaded, if known.

    Raises:
        ServiceError: `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UPSTREAM_UNREACHABLE` with `{upstream, upstreamStatus,
            upstreamBody}` after a failure; otherwise `UNAVAILABLE` with `Retry-After`.
    """
    if failure is None:
        raise_still_loading(what, progress)
    raise ServiceError(
        upstream_code(failure.status),
        f"No {what} from {upstream} for too long: its last request failed. Retry later.",
        details={"upstream": upstream, "upstreamStatus": failure.status, "upstreamBody": failure.body},
    )


def raise_still_loading(what: str, progress: LoadProgress | None) -> NoReturn:
    """Raise the error for data that is still loading.

    Args:
        what: The missing data, for the message (`prices`).
        progress: How far the required data is loaded; null if unknown.

    Raises:
        ServiceError: `UNAVAILABLE` with the progress in its message and an estimated `Retry-After` in whole seconds.
    """
    remaining_s = None if progress is None else progress.remaining_s
    wait_s = _RETRY_AFTER_S if remaining_s is None else max(LEAST_WAIT_S, math.ceil(remaining_s))
    loaded = "history" if progress is not None and progress.of == "coins" else "data"
    detail = "" if progress is None else f" ({progress})"
    verb = "are" if what.partition(" of ")[0].endswith("s") else "is"
    raise ServiceError(
        "UNAVAILABLE",
        f"{what[0].upper()}{what[1:]} {verb} not available yet: {loaded} is loading{detail}. Retry in {wait_s} s.",
        headers={"Retry-After": str(wait_s)},
    )


def raise_unconfirmed(upstream: str, symbol: str) -> NoReturn:
    """Raise the error for a coin or asset without any value that passed the plausibility check.

    Args:
        upstream: Source of the values.
        symbol: Ticker.

    Raises:
        ServiceError: `UNAVAILABLE` with `Retry-After`.
    """
    raise ServiceError(
        "UNAVAILABLE",
        f"The price of {symbol} is not confirmed yet: no recent value from {upstream} passed the plausibility check. "
        f"Retry in {_CONFIRM_AFTER_S} s.",
        headers={"Retry-After": str(_CONFIRM_AFTER_S)},
    )
