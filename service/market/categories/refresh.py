"""Keeps CoinGecko's data fresh with a few calls a minute.

Coins and categories are read in rounds. The backlog, members of a category and past of a coin, is read piece by piece,
once a day each.
"""

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from service.clock import DAY_MS, Clock
from service.market.categories.documents import (
    CapStore,
    GeckoCategories,
    GeckoDocuments,
    GeckoLargest,
    GeckoMembers,
    Membership,
    note_failure,
)
from service.market.categories.identity import CoinRegister
from service.market.models import CoinView
from service.market.plausibility.quarantine import Quarantine
from service.market.sources.coingecko import DAILY_DAYS, HOURLY_DAYS, PER_PAGE, CoinGecko, GeckoCoin
from service.upstream.failures import UpstreamError

FIRST: Final = 40
"""This many of the largest categories are read before any coin's past."""

REREAD_AFTER_MS: Final = DAY_MS
"""Every piece is read again after a day, the oldest first."""

WAIT_S: Final = 3_600.0
"""Seconds before a failed piece is requested again."""

SAVE_S: Final = 10.0
"""Members are one document: it is stored at most this often."""

_LISTS: Final = 3
"""Calls before any category is known: two pages of coins, and the categories."""

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
    """What has been read: members by category, and when each coin's past was."""

    members: dict[str, Membership]
    pasts: dict[str, int]


def calls_until(place: int, read: Sequence[bool], coins: int) -> int:
    """Number of calls until the members of a category are read for the first time.

    Args:
        place: Place of the category among all.
        read: For each category whether its members have been read.
        coins: Number of coins whose pasts are read before all but the first categories; none once one of those was
            read.
    """
    unread = read[: place + 1].count(False) if read else _LISTS
    return unread if place < FIRST or any(read[FIRST:]) else unread + _CALLS_A_PAST * coins


class Backlog:
    """Reads what is due once a day.

    Args:
        clock: Decides what is due.
        documents: Categories and members.
        caps: Past market caps.
        source: CoinGecko.
        origin: The current dataset.
        register: Matches of coins; learns from every category.
        loaded: Whether the coins' own series are loaded, so that pasts may be read.

    Attributes:
        first_load: Whether the next piece has never been read.
    """

    def __init__(
        self,
        clock: Clock,
        documents: GeckoDocuments,
        caps: CapStore,
        source: CoinGecko,
        origin: Callable[[], str],
        register: CoinRegister,
        loaded: Callable[[], bool],
    ) -> None:
        self._clock = clock
        self._documents = documents
        self._caps = caps
        self._source = source
        self._origin = origin
        self._register = register
        self._loaded = loaded
        self._waits: dict[str, float] = {}
        self.first_load = False

    async def work(self, origin: str, stop: Callable[[], bool]) -> None:
        """Read pieces, the most urgent first, until all are done or `stop` is true; at least one.

        Order: members of the largest categories, pasts of the most traded coins, other categories, then the piece that
            was
        read longest ago. A piece that fails does not stop the others.

        Args:
            origin: The dataset; nothing more is stored once it changes.
            stop: Whether other work is due.

        Raises:
            UpstreamError: If CoinGecko asks to wait; what was read until then is stored.
            ServiceError: `UNAVAILABLE` if the store cannot be used.
        """
        current = self._documents.members.current
        stored = current.value.members if current.value is not None and current.origin == origin else {}
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
        self.first_load = piece is not None and piece.urgency[0] < _SEEN
        return piece

    def _due(self, origin: str, done: _Done) -> Iterator[_Piece]:
        current, now_ms = self._documents.categories.current, self._clock.now_ms()
        listed = current.value.categories if current.value is not None and current.origin == origin else ()
        for place, category in enumerate(listed):
            membership = done.members.get(category.id)
            if membership is None:
                yield _Piece((0 if place < FIRST else 2, place), "members", category.id)
            elif now_ms - membership.read_ms >= REREAD_AFTER_MS:
                yield _Piece((_SEEN, membership.read_ms), "members", category.id)
        for place, coin_id in enumerate(self._register.by_volume(origin)):
            read_ms = done.pasts.get(coin_id)
            if read_ms is None:
                yield _Piece((1, place), "past", coin_id)
            elif now_ms - read_ms >= REREAD_AFTER_MS:
                yield _Piece((_SEEN, read_ms), "past", coin_id)

    async def _read(self, origin: str, piece: _Piece, done: _Done) -> UpstreamError | None:
        """Read a piece; returns the failure if CoinGecko asks to wait."""
        try:
            if piece.kind == "members":
                await self._read_members(origin, piece.id, done)
            else:
                await self._read_past(origin, piece.id, done)
        except UpstreamError as error:
            if piece.kind == "members":
                await note_failure(self._documents.members, self._clock.now_ms(), error)
            if error.retry_after_s:
                return error
            self._waits[f"{origin} {piece.kind} {piece.id}"] = self._clock.monotonic() + WAIT_S
            _log.warning(
                "CoinGecko request failed. It is repeated in an hour.",
                extra={"piece": piece.kind, "id": piece.id, "status": error.upstream_status},
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
        """Store the members if there are new ones, without those of removed categories."""
        current = self._documents.categories.current.value
        listed = {category.id for category in current.categories} if current is not None else set()
        members = {category_id: found for category_id, found in done.members.items() if category_id in listed}
        if members != stored:
            await self._documents.members.put(origin, GeckoMembers(members), self._clock.now_ms())
        return members


CATEGORIES_EVERY_S: Final = 20.0
"""Seconds between two checks of what is due."""

PAGES: Final = 2
"""Pages of the largest coins: 500 coins hold nearly all that a venue of perpetuals lists."""


class CategoryRefresh:
    """Requests what is due from CoinGecko.

    Args:
        clock: Decides what is due.
        documents: Coins, categories and members.
        caps: Past market caps.
        source: CoinGecko.
        origin: The current dataset; a replay's changes at midnight.
        view: Current values of the venue's coins.
        quarantine: Receives values that are held back.
        loaded: Whether the coins' own series are loaded, so that pasts may be read.
    """

    def __init__(
        self,
        clock: Clock,
        documents: GeckoDocuments,
        caps: CapStore,
        source: CoinGecko,
        origin: Callable[[], str],
        view: Callable[[], Mapping[str, CoinView]],
        quarantine: Quarantine,
        loaded: Callable[[], bool] = lambda: True,
    ) -> None:
        self._clock = clock
        self._documents = documents
        self._source = source
        self._origin = origin
        self._view = view
        self._register = CoinRegister(clock, documents.coins, view, quarantine)
        self._backlog = Backlog(clock, documents, caps, source, origin, self._register, loaded)
        self._asked: dict[str, tuple[str, float]] = {}

    async def round(self) -> None:
        """Request coins and categories if due, then work on the backlog until either is due again.

        Nothing is requested before the venue's coins are known, because nothing could be matched.

        Raises:
            UpstreamError: If a call failed. The others are made all the same, unless CoinGecko asks to wait.
            ServiceError: `UNAVAILABLE` if the store cannot be used.
        """
        if not self._view():
            return
        origin = self._origin()
        failures = [
            failure
            for name, step in (("coins", self._read_coins), ("categories", self._read_categories))
            if self._is_due(origin, name) and (failure := await self._try(origin, name, step))
        ]
        await self._backlog.work(origin, self._is_anything_due)
        if failures:
            raise failures[0]

    def _is_anything_due(self) -> bool:
        origin = self._origin()
        return self._is_due(origin, "coins") or self._is_due(origin, "categories")

    def _is_due(self, origin: str, name: str) -> bool:
        asked_of, asked_s = self._asked.get(name, ("", 0.0))
        every_s = self._source.refresh_s(first_load=self._backlog.first_load)
        return asked_of != origin or asked_s + every_s <= self._clock.monotonic()

    async def _try(self, origin: str, name: str, step: Callable[[str], Awaitable[None]]) -> UpstreamError | None:
        started_s = self._clock.monotonic()
        try:
            await step(origin)
        except UpstreamError as error:
            if error.retry_after_s:
                raise
            return error
        self._asked[name] = (origin, started_s)
        return None

    async def _read_coins(self, origin: str) -> None:
        """Read the largest coins, and matched coins that are not among them."""
        seen: list[GeckoCoin] = []
        failure: UpstreamError | None = None
        try:
            for number in range(1, PAGES + 1):
                seen += await self._source.page(number)
            missing = {row.id for row in self._register.known(origin).values()} - {row.id for row in seen}
            if missing:
                seen += await self._source.coins(sorted(missing)[:PER_PAGE])
        except UpstreamError as error:
            failure = error
        if seen and self._origin() == origin:
            await self._register.refresh(origin, seen)
        if seen and failure is None and self._origin() == origin:
            await self._documents.largest.put(origin, GeckoLargest(tuple(seen)), max(row.seen_ms for row in seen))
        if failure is not None:
            await note_failure(self._documents.coins, self._clock.now_ms(), failure)
            raise failure

    async def _read_categories(self, origin: str) -> None:
        """Read all categories with their figures."""
        document = self._documents.categories
        try:
            found = await self._source.categories()
        except UpstreamError as error:
            await note_failure(document, self._clock.now_ms(), error)
            raise
        if found and self._origin() == origin:
            await document.put(origin, GeckoCategories(tuple(found)), max(row.seen_ms for row in found))
