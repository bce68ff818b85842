"""The room's front: a page of records of the last run, with the prices of this moment."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from msgspec.structs import replace

from service.clock import Clock, day_of, iso, parse_iso
from service.errors import ServiceError
from service.market.desk import MarketDesk
from service.walkforward.parameters import ENGINE
from service.walkforward.quality import judge
from service.walkforward.records import BEGINNING, Page, R, Told
from service.walkforward.store import RunStore
from service.wire.cursor import Cursors
from service.wire.envelope import Answer
from service.wire.quality import StrategyType
from service.wire.queries import SignalQualityQuery, WalkforwardAction, WalkforwardQuery
from service.wire.walkforward import (
    WalkforwardMeta,
    WalkforwardOutcomes,
    WalkforwardPosition,
    WalkforwardPositions,
    WalkforwardSignals,
)

ROUTE: Final = "walkforward"
UNPACKED: Final = 2
"""Runs in memory: the last one, and the one that somebody may still be reading on in. Some megabytes each."""

_DECIMALS: Final = 4
_NOTHING_WRITTEN: Final = (
    "The engine has written nothing yet: it runs once a day, for the first time when the history of the coins has been "
    "fetched. That says nothing about the market."
)

Payload: TypeAlias = WalkforwardSignals | WalkforwardPositions | WalkforwardOutcomes


class WalkforwardDesk:
    """Answers what was decided out of sample, what is held, and how it ended.

    Args:
        clock: Says how long positions have been held.
        runs: Where runs are kept.
        cursors: Writes and reads where pages begin.
        market: The coins there are, and their prices.
        origin: Which history is told at this moment; runs of others are not.
    """

    def __init__(
        self, clock: Clock, runs: RunStore, cursors: Cursors, market: MarketDesk, origin: Callable[[], str]
    ) -> None:
        self._clock = clock
        self._runs = runs
        self._cursors = cursors
        self._market = market
        self._origin = origin
        self._started_ms = clock.now_ms()
        self._told: dict[tuple[str, int], Told] = {}
        self._loading = asyncio.Lock()

    async def walkforward(self, query: WalkforwardQuery) -> Answer:
        """Read a page of records, newest first.

        Pages go on in the run in which the first of them was read, whatever is run meanwhile.

        Returns:
            Signals, positions or outcomes, as of the run; while there is none, as of this process's start, and
            uncounted.

        Raises:
            ServiceError: `BAD_REQUEST` naming `cursor`; `UNKNOWN_SYMBOL` with candidates for a coin that is neither
                listed nor in the run; `UNAVAILABLE` if the store cannot be read.
        """
        symbol, refusal = (None, None) if query.symbol is None else self._find(query.symbol)
        filters = {"action": query.action, "symbol": symbol}
        if query.cursor is None:
            told, after = await self._newest(), BEGINNING
        else:
            run, after = self._cursors.read(query.cursor, ROUTE, filters)
            told = await self._continued(run)
        if refusal is not None and (told is None or not told.knows(symbol)):
            raise refusal
        if told is None:
            return Answer(_nothing(query.action), self._started_ms, counted=False)
        return Answer(self._payload(told, query, symbol, after), told.ran_ms)

    async def signal_quality(self, asset: str, signal_type: StrategyType) -> Answer:
        """Judge a strategy's closed trades of one coin in the last run.

        Args:
            asset: A ticker in any case.
            signal_type: Whose trades.

        Returns:
            The record, as of the run; before the first run, as of this process's start, and uncounted.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates for a coin that is neither listed nor in the run;
                `UNAVAILABLE` if the store cannot be read.
        """
        symbol, refusal = self._find(asset)
        told = await self._newest()
        if refusal is not None and (told is None or not told.knows(symbol)):
            raise refusal
        # On a thread: the first call of a process imports numpy.
        found = await asyncio.to_thread(judge, told, symbol, signal_type)
        return Answer(found, self._started_ms if told is None else told.ran_ms, counted=told is not None)

    def check(self, query: WalkforwardQuery | SignalQualityQuery) -> None:
        """Refuse a coin that was never listed, of which no run can know, before a question is set aside for it.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates.
        """
        text = query.asset if isinstance(query, SignalQualityQuery) else query.symbol
        if text is None:
            return
        symbol, refusal = self._find(text)
        if refusal is None or refusal.code != "UNKNOWN_SYMBOL":
            return
        if not self._market.directory.was_listed(symbol):
            raise refusal

    def _find(self, text: str) -> tuple[str, ServiceError | None]:
        """The ticker that a spelling means, and why it may mean none: a run also knows coins that were delisted."""
        try:
            return self._market.find(text), None
        except ServiceError as error:
            return text.upper(), error

    async def _newest(self) -> Told | None:
        run = await self._runs.newest(self._origin())
        return None if run is None else await self._load(run)

    async def _continued(self, run: int) -> Told:
        told = await self._load(run)
        if told is None:
            raise ServiceError(
                "BAD_REQUEST",
                "cursor goes on in a run whose records are not kept any more: start again without one",
                details={"parameter": "cursor"},
            )
        return told

    async def _load(self, run: int) -> Told | None:
        key = (self._origin(), run)
        async with self._loading:
            told = self._told.pop(key, None) or await self._runs.load(run, key[0])
            if told is not None:
                self._told[key] = told
                while len(self._told) > UNPACKED:
                    del self._told[next(iter(self._told))]
            return told

    def _payload(self, told: Told, query: WalkforwardQuery, symbol: str | None, after: int) -> Payload:
        if query.action == "signals":
            signals = told.signals.page(symbol, after, query.limit)
            return WalkforwardSignals(signals.records, self._meta(told, query.action, symbol, signals))
        if query.action == "positions":
            positions = told.positions.page(symbol, after, query.limit)
            meta = self._meta(told, query.action, symbol, positions)
            return WalkforwardPositions(self._as_of_now(positions.records), meta)
        outcomes = told.outcomes.page(symbol, after, query.limit)
        meta = self._meta(told, query.action, symbol, outcomes)
        return WalkforwardOutcomes(outcomes.records, told.head.summary, meta)

    def _meta(self, told: Told, action: WalkforwardAction, symbol: str | None, page: Page[R]) -> WalkforwardMeta:
        cursor = None
        if page.goes_on_after is not None:
            filters = {"action": action, "symbol": symbol}
            cursor = self._cursors.write(ROUTE, filters, (told.run, page.goes_on_after))
        return WalkforwardMeta(
            told.engine,
            told.run_id,
            iso(told.ran_ms),
            told.parameters_hash,
            page.total,
            cursor,
            told.head.message if page.total else told.head.message or _nothing_of(told, action, symbol),
        )

    def _as_of_now(self, positions: Sequence[WalkforwardPosition]) -> list[WalkforwardPosition]:
        """The positions at the prices of this moment, held until today."""
        view, today = self._market.view(), day_of(self._clock.now_ms())
        prices = [view[position.symbol].price if position.symbol in view else None for position in positions]
        return [
            replace(
                position,
                currentPrice=price,
                unrealizedPct=None if price is None else _gain_pct(position, price),
                holdDays=max(0, today - day_of(parse_iso(f"{position.entryDate}T00:00:00Z"))),
            )
            for position, price in zip(positions, prices, strict=True)
        ]


def _nothing(action: WalkforwardAction) -> Payload:
    meta = WalkforwardMeta(ENGINE, None, None, None, 0, None, _NOTHING_WRITTEN)
    if action == "signals":
        return WalkforwardSignals([], meta)
    if action == "positions":
        return WalkforwardPositions([], meta)
    return WalkforwardOutcomes([], None, meta)


def _nothing_of(told: Told, action: WalkforwardAction, symbol: str | None) -> str:
    whose = "" if symbol is None else f" of {symbol}"
    return (
        f"The run of {iso(told.ran_ms)} holds no {action}{whose}. Its records are of the past: that says nothing about "
        "the market."
    )


def _gain_pct(position: WalkforwardPosition, price: float) -> float:
    side = 1 if position.direction == "long" else -1
    return round(side * (price / position.entryPrice - 1) * 100, _DECIMALS) + 0.0
