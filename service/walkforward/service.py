"""Walk-forward records, page by page, with prices of now."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from msgspec.structs import replace

from service.clock import Clock, day_of, iso, parse_iso
from service.errors import ServiceError
from service.market.service import MarketService
from service.walkforward.parameters import ENGINE
from service.walkforward.quality import judge_trades_of
from service.walkforward.records import BEGINNING, R, RecordPage, StoredRun
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
"""Runs in memory: the newest one, and one that a client may still page through. Some megabytes each."""

_DECIMALS: Final = 4
_NOTHING_WRITTEN: Final = (
    "No run has finished yet. The engine runs once a day, first after the history of the coins is loaded. This says "
    "nothing about the market."
)

Payload: TypeAlias = WalkforwardSignals | WalkforwardPositions | WalkforwardOutcomes


class WalkforwardService:
    """Answers out-of-sample signals, positions and outcomes.

    Args:
        clock: The time.
        runs: Stored runs.
        cursors: Write and read positions in lists.
        market: Coins and prices.
        origin: The current dataset; runs of others are not answered.
    """

    def __init__(
        self, clock: Clock, runs: RunStore, cursors: Cursors, market: MarketService, origin: Callable[[], str]
    ) -> None:
        self._clock = clock
        self._runs = runs
        self._cursors = cursors
        self._market = market
        self._origin = origin
        self._started_ms = clock.now_ms()
        self._loaded: dict[tuple[str, int], StoredRun] = {}
        self._loading = asyncio.Lock()

    async def walkforward(self, query: WalkforwardQuery) -> Answer:
        """A page of records, newest first.

        All pages of a list come from the run of its first page.

        Returns:
            Signals, positions or outcomes, as of the run. Before the first run: as of the start of this process, and
            not counted.

        Raises:
            ServiceError: `BAD_REQUEST` naming `cursor`; `UNKNOWN_SYMBOL` with candidates for a coin that is neither
                listed nor in the run; `UNAVAILABLE` if the store cannot be read.
        """
        symbol, refusal = (None, None) if query.symbol is None else self._find(query.symbol)
        filters = {"action": query.action, "symbol": symbol}
        if query.cursor is None:
            stored, after = await self._newest(), BEGINNING
        else:
            run, after = self._cursors.read(query.cursor, ROUTE, filters)
            stored = await self._continued(run)
        if refusal is not None and (stored is None or not stored.knows(symbol)):
            raise refusal
        if stored is None:
            return Answer(_empty_payload(query.action), self._started_ms, counted=False)
        return Answer(self._payload(stored, query, symbol, after), stored.ran_ms)

    async def signal_quality(self, asset: str, signal_type: StrategyType) -> Answer:
        """The record of a strategy on one coin, from the closed trades of the newest run.

        Args:
            asset: A ticker in any case.
            signal_type: The strategy.

        Returns:
            The record, as of the run. Before the first run: as of the start of this process, and not counted.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates for a coin that is neither listed nor in the run;
                `UNAVAILABLE` if the store cannot be read.
        """
        symbol, refusal = self._find(asset)
        stored = await self._newest()
        if refusal is not None and (stored is None or not stored.knows(symbol)):
            raise refusal
        # On a thread: the first call of a process imports numpy.
        found = await asyncio.to_thread(judge_trades_of, stored, symbol, signal_type)
        return Answer(found, self._started_ms if stored is None else stored.ran_ms, counted=stored is not None)

    def check(self, query: WalkforwardQuery | SignalQualityQuery) -> None:
        """Refuse a coin that was never listed, before a question is reserved for it.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates.
        """
        text = query.asset if isinstance(query, SignalQualityQuery) else query.symbol
        if text is None:
            return
        symbol, refusal = self._find(text)
        if refusal is None or refusal.code != "UNKNOWN_SYMBOL":
            return
        if self._market.directory.delisted(symbol) is None:
            raise refusal

    def _find(self, text: str) -> tuple[str, ServiceError | None]:
        """The ticker of a spelling, and the error if it is not listed; a run also holds delisted coins."""
        try:
            return self._market.find(text), None
        except ServiceError as error:
            return self._market.directory.delisted(text) or text.upper(), error

    async def _newest(self) -> StoredRun | None:
        run = await self._runs.newest(self._origin())
        return None if run is None else await self._load(run)

    async def _continued(self, run: int) -> StoredRun:
        stored = await self._load(run)
        if stored is None:
            raise ServiceError(
                "BAD_REQUEST",
                "The run of this cursor was deleted. Start again without a cursor.",
                details={"parameter": "cursor"},
            )
        return stored

    async def _load(self, run: int) -> StoredRun | None:
        key = (self._origin(), run)
        async with self._loading:
            stored = self._loaded.pop(key, None) or await self._runs.load(run, key[0])
            if stored is not None:
                self._loaded[key] = stored
                while len(self._loaded) > UNPACKED:
                    del self._loaded[next(iter(self._loaded))]
            return stored

    def _payload(self, stored: StoredRun, query: WalkforwardQuery, symbol: str | None, after: int) -> Payload:
        if query.action == "signals":
            signals = stored.signals.page(symbol, after, query.limit)
            return WalkforwardSignals(signals.records, self._meta(stored, query.action, symbol, signals))
        if query.action == "positions":
            positions = stored.positions.page(symbol, after, query.limit)
            meta = self._meta(stored, query.action, symbol, positions)
            return WalkforwardPositions(self._as_of_now(positions.records), meta)
        outcomes = stored.outcomes.page(symbol, after, query.limit)
        meta = self._meta(stored, query.action, symbol, outcomes)
        return WalkforwardOutcomes(outcomes.records, stored.head.summary, meta)

    def _meta(
        self, stored: StoredRun, action: WalkforwardAction, symbol: str | None, page: RecordPage[R]
    ) -> WalkforwardMeta:
        cursor = None
        if page.goes_on_after is not None:
            filters = {"action": action, "symbol": symbol}
            cursor = self._cursors.write(ROUTE, filters, (stored.run, page.goes_on_after))
        return WalkforwardMeta(
            stored.engine,
            stored.run_id,
            iso(stored.ran_ms),
            stored.parameters_hash,
            page.total,
            cursor,
            stored.head.message if page.total else stored.head.message or _empty_list_message(stored, action, symbol),
        )

    def _as_of_now(self, positions: Sequence[WalkforwardPosition]) -> list[WalkforwardPosition]:
        """The positions at the prices of now, held until today."""
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


def _empty_payload(action: WalkforwardAction) -> Payload:
    meta = WalkforwardMeta(ENGINE, None, None, None, 0, None, _NOTHING_WRITTEN)
    if action == "signals":
        return WalkforwardSignals([], meta)
    if action == "positions":
        return WalkforwardPositions([], meta)
    return WalkforwardOutcomes([], None, meta)


def _empty_list_message(stored: StoredRun, action: WalkforwardAction, symbol: str | None) -> str:
    whose = "" if symbol is None else f" of {symbol}"
    return f"The run of {iso(stored.ran_ms)} has no {action}{whose}. This says nothing about the market."


def _gain_pct(position: WalkforwardPosition, price: float) -> float:
    side = 1 if position.direction == "long" else -1
    return round(side * (price / position.entryPrice - 1) * 100, _DECIMALS) + 0.0
