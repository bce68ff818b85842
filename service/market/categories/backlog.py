"""What CoinGecko is asked for once a day, piece by piece: who belongs to a category, what a coin was worth."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from service.clock import DAY_MS, Clock
from service.market.categories.caps import CapStore
from service.market.categories.gecko import GeckoDrawers, GeckoMembers, Membership, note_failure
from service.market.categories.register import Register
from service.market.sources.coingecko import DAILY_DAYS, HOURLY_DAYS, CoinGecko
from service.upstream.failure import UpstreamError

FIRST: Final = 40
"""So many of the largest categories are read before any coin's past is."""

AGAIN_MS: Final = DAY_MS
"""Every piece is read again after a day, the oldest first."""

WAIT_S: Final = 3_600.0
"""A piece that could not be read is left alone for so long."""

SAVE_S: Final = 10.0
"""Members are stored when so much time has passed, not with every category: they are one document."""

_LISTS: Final = 3
"""Calls that are made before any category is known: two pages of coins, and the categories."""

_CALLS_A_PAST: Final = 2

_SEEN: Final = 3
"""Urgency of a piece that has been read before; the lowest number comes first."""

_log: Final = logging.getLogger("verdict.market")


class _Piece(NamedTuple):
    """A category's members or a coin's past; the lowest urgency comes first."""

    urgency: tuple[int, int]
    kind: Literal["members", "past"]
    id: str


class _Done(NamedTuple):
    """What has been read: members by category, and when the past of a coin was read."""

    members: dict[str, Membership]
    pasts: dict[str, int]


def calls_until(place: int, read: Sequence[bool], coins: int) -> int:
    """Calls until the members of a category have been read for the first time.

    Args:
        place: Of the category, among all.
        read: Of each category whether its members have been read.
        coins: How many coins' pasts are read before all but the first categories; none once one of those was read.
    """
    unread = read[: place + 1].count(False) if read else _LISTS
    return unread if place < FIRST or any(read[FIRST:]) else unread + _CALLS_A_PAST * coins


class Backlog:
    """Works off what is due once a day.

    Args:
        clock: What is due, and how long what failed is left alone.
        drawers: Where categories and members are kept.
        caps: Where past market caps are kept.
        source: CoinGecko.
        origin: Which history it tells at this moment.
        register: Who our coins are there; learns from every category that is read.
        loaded: Whether the coins' own series are loaded, and coins' pasts may be read.

    Attributes:
        filling: Whether the next piece is one that has never been read.
    """

    def __init__(
        self,
        clock: Clock,
        drawers: GeckoDrawers,
        caps: CapStore,
        source: CoinGecko,
        origin: Callable[[], str],
        register: Register,
        loaded: Callable[[], bool],
    ) -> None:
        self._clock = clock
        self._drawers = drawers
        self._caps = caps
        self._source = source
        self._origin = origin
        self._register = register
        self._loaded = loaded
        self._waits: dict[str, float] = {}
        self.filling = False

    async def work(self, origin: str, stop: Callable[[], bool]) -> None:
        """Read pieces, the most urgent first, until all are done or it is time to stop; one at least.

        First the members of the largest categories, then the pasts of the coins most traded, then the other categories,
        then what was read longest ago. A piece's failure is its own.

        Args:
            origin: The history that is told; once it is another one, nothing is kept any more.
            stop: Whether something else has to be done first.

        Raises:
            UpstreamError: If CoinGecko wants to be left alone; what was read until then is kept.
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        kept = self._drawers.members.now
        stored = kept.value.members if kept.value is not None and kept.origin == origin else {}
        done = _Done(dict(stored), await self._caps.read_times(origin))
        saved_s = self._clock.monotonic()
        refusal: UpstreamError | None = None
        while refusal is None and (piece := self._next(origin, done)):
            if piece.kind == "past" and not self._loaded():
                break
            if piece.kind == "past" and not done.pasts:
                stored = await self._save(origin, done, stored)  # routes wait for members, none for the pasts
            refusal = await self._read(origin, piece, done)
            if self._origin() != origin:
                return
            if self._clock.monotonic() - saved_s >= SAVE_S:
                stored, saved_s = await self._save(origin, done, stored), self._clock.monotonic()
            if stop():
                break
        await self._save(origin, done, stored)
        if refusal is not None:
            raise refusal

    def _next(self, origin: str, done: _Done) -> _Piece | None:
        now_s = self._clock.monotonic()
        self._waits = {key: until_s for key, until_s in self._waits.items() if until_s > now_s}
        due = (piece for piece in self._due(origin, done) if f"{origin} {piece.kind} {piece.id}" not in self._waits)
        piece = min(due, default=None)
        self.filling = piece is not None and piece.urgency[0] < _SEEN
        return piece

    def _due(self, origin: str, done: _Done) -> Iterator[_Piece]:
        kept, now_ms = self._drawers.categories.now, self._clock.now_ms()
        listed = kept.value.categories if kept.value is not None and kept.origin == origin else ()
        for place, category in enumerate(listed):
            membership = done.members.get(category.id)
            if membership is None:
                yield _Piece((0 if place < FIRST else 2, place), "members", category.id)
            elif now_ms - membership.read_ms >= AGAIN_MS:
                yield _Piece((_SEEN, membership.read_ms), "members", category.id)
        for place, coin_id in enumerate(self._register.by_volume(origin)):
            read_ms = done.pasts.get(coin_id)
            if read_ms is None:
                yield _Piece((1, place), "past", coin_id)
            elif now_ms - read_ms >= AGAIN_MS:
                yield _Piece((_SEEN, read_ms), "past", coin_id)

    async def _read(self, origin: str, piece: _Piece, done: _Done) -> UpstreamError | None:
        """Read a piece; gives the failure back where CoinGecko wants to be left alone."""
        try:
            if piece.kind == "members":
                await self._read_members(origin, piece.id, done)
            else:
                await self._read_past(origin, piece.id, done)
        except UpstreamError as error:
            if piece.kind == "members":
                await note_failure(self._drawers.members, self._clock.now_ms(), error)
            if error.retry_after_s:
                return error
            self._waits[f"{origin} {piece.kind} {piece.id}"] = self._clock.monotonic() + WAIT_S
            _log.warning(
                "a piece is missing", extra={"piece": piece.kind, "id": piece.id, "status": error.upstream_status}
            )
        return None

    async def _read_members(self, origin: str, category_id: str, done: _Done) -> None:
        seen = await self._source.page(1, category_id)
        if self._origin() != origin:
            return
        wanted = self._register.wanted()
        ids = frozenset(row.id for row in seen if row.ticker in wanted)
        done.members[category_id] = Membership(ids, self._clock.now_ms())
        await self._register.note(origin, seen)

    async def _read_past(self, origin: str, coin_id: str, done: _Done) -> None:
        days = await self._source.caps(coin_id, DAILY_DAYS)
        hours = await self._source.caps(coin_id, HOURLY_DAYS)
        if self._origin() != origin:
            return
        points = {cap.at_ms: cap for cap in [*days[:-1], *hours]}
        now_ms = self._clock.now_ms()
        await self._caps.put(origin, coin_id, [points[at_ms] for at_ms in sorted(points)], now_ms)
        done.pasts[coin_id] = now_ms

    async def _save(self, origin: str, done: _Done, stored: Mapping[str, Membership]) -> dict[str, Membership]:
        """Store the members if there are new ones, without those of categories that are no more."""
        kept = self._drawers.categories.now.value
        listed = {category.id for category in kept.categories} if kept is not None else set()
        members = {category_id: found for category_id, found in done.members.items() if category_id in listed}
        if members != stored:
            await self._drawers.members.put(origin, GeckoMembers(members), self._clock.now_ms())
        return members
