"""Looking how verdicts turned out: at the price that the hour after each horizon opened with."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Final, NamedTuple

from service.clock import HOUR_MS, Clock, iso
from service.market.observed import BENCHMARK, Row
from service.market.shelf import Drawer
from service.market.store import MarketStore
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.rows import insert_rows
from service.verdict.scorecard import Scorecard
from service.verdict.tally import tally

SCORE_EVERY_S: Final = 300.0

WINDOW_MS: Final = 6 * HOUR_MS
"""How long after an outcome is due an hourly bar may open and still tell it."""

PATIENCE_MS: Final = 48 * HOUR_MS
"""How far a coin's hours must have gone on past a due outcome before it is given up."""

_BATCH: Final = 512
_DECIMALS: Final = 4

_DUE: Final = """
    SELECT d.seq, d.days, d.due_ms, l.symbol, l.price FROM verdict_due d JOIN verdict_ledger l USING (seq)
    WHERE d.origin = ? AND d.due_ms <= ? ORDER BY d.due_ms, d.seq, d.days
"""
_SCORE: Final = "INSERT INTO verdict_outcomes (scored_ms, seq, days, price_ms, price, move_pct, void)"
_DONE: Final = """
    DELETE FROM verdict_due WHERE origin = ? AND due_ms <= ?
        AND EXISTS (SELECT 1 FROM verdict_outcomes o WHERE o.seq = verdict_due.seq AND o.days = verdict_due.days)
"""


class Due(NamedTuple):
    """An outcome that is waited for: of which entry, so many days later, when; the coin, and its price then (USD)."""

    seq: int
    days: int
    due_ms: int
    symbol: str
    price: float


class Outcome(NamedTuple):
    """How it turned out: the price (USD) and when it was, and the move in percent; or why that is not known."""

    due: Due
    price_ms: int | None = None
    price: float | None = None
    move_pct: float | None = None
    void: str | None = None


class Scoring:
    """Scores what is due, and sums up, one round at a time, in the process that leads.

    Args:
        clock: Says what is due.
        database: Where the ledger is.
        store: Where hourly bars are.
        drawer: Where the scorecard is put.
        origin: Which history the store holds at this moment.
    """

    def __init__(
        self,
        clock: Clock,
        database: Database,
        store: MarketStore,
        drawer: Drawer[Scorecard],
        origin: Callable[[], str],
    ) -> None:
        self._clock = clock
        self._database = database
        self._store = store
        self._drawer = drawer
        self._origin = origin
        self._summed: str | None = None

    async def round(self) -> None:
        """Score what can be scored; put the scorecard where it has changed.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used; what was scored until then stays.
        """
        origin = self._origin()
        outcomes = await self._find(origin)
        if outcomes:
            self._summed = None  # and so it stays until they are summed up, should the store fail before that
        for start in range(0, len(outcomes), _BATCH):
            await self._keep(origin, outcomes[start : start + _BATCH])
        if self._summed != origin:
            await self._sum_up(origin)

    async def _find(self, origin: str) -> list[Outcome]:
        """What is due and can be told, or given up.

        How far hours go is read before the hours themselves, so that hours which come meanwhile make nobody give up.
        """
        due = [Due(*row) for row in await self._database.inspect(partial(_read_due, origin, self._clock.now_ms()))]
        if not due:
            return []
        progress = await self._store.progress(origin, "1h")
        listed = {coin.symbol: coin.last_ms or 0 for coin in progress if coin.listed}
        coins = await self._store.coins()
        venue_symbols = {coin.symbol: coin.venue_symbol for coin in sorted(coins, key=lambda coin: coin.listed)}
        bars = await self._store.closed_bars_after(_first_due(due, venue_symbols), "1h")
        if not await self._store.progress(origin, "1h"):
            return []  # the store has turned to another history
        found = (
            judge(
                wanted,
                bars.get(venue_symbols.get(wanted.symbol, ""), ()),
                listed.get(wanted.symbol, listed.get(BENCHMARK, 0)),
            )
            for wanted in due
        )
        return [outcome for outcome in found if outcome is not None]

    async def _keep(self, origin: str, outcomes: Sequence[Outcome]) -> None:
        now_ms = self._clock.now_ms()
        rows = [(found.due.seq, found.due.days, *found[1:]) for found in outcomes]
        last_ms = max(found.due.due_ms for found in outcomes)

        def work(connection: Connection) -> None:
            insert_rows(connection, _SCORE, rows, shared=(now_ms,))
            connection.execute(_DONE, (origin, last_ms))

        await self._database.write(work)

    async def _sum_up(self, origin: str) -> None:
        summed = await self._database.inspect(partial(tally, origin=origin))
        kept = self._drawer.now
        if (kept.origin, kept.value) != (origin, summed):
            await self._drawer.put(origin, summed, self._clock.now_ms())
        self._summed = origin


def judge(due: Due, bars: Sequence[Row], reached_ms: int) -> Outcome | None:
    """Say how a verdict turned out.

    Args:
        due: What is waited for.
        bars: Closed hourly bars of its coin, oldest first.
        reached_ms: Open of the newest closed hourly bar of the coin, or of BTC where the coin is no longer traded.

    Returns:
        The outcome by the first bar that opened when it was due or up to six hours later; void where there is none and
        hours have gone on for 48 more; null where it is too early to say.
    """
    place = bisect_left(bars, due.due_ms, key=itemgetter(0))
    if place < len(bars) and bars[place][0] <= due.due_ms + WINDOW_MS:
        open_ms, price = bars[place][:2]
        return Outcome(due, open_ms, price, move_pct(due.price, price))
    if reached_ms < due.due_ms + PATIENCE_MS:
        return None
    hours = WINDOW_MS // HOUR_MS
    return Outcome(due, void=f"no hourly bar of {due.symbol} opened in the {hours} hours from {iso(due.due_ms)}")


def move_pct(entry: float, price: float) -> float:
    """By how many percent a price has moved, to 4 decimals: what outcomes are judged on."""
    return round((price / entry - 1) * 100, _DECIMALS) + 0.0


def _first_due(due: Iterable[Due], venue_symbols: Mapping[str, str]) -> dict[str, int]:
    """From when each coin's hours are wanted, by venue symbol."""
    first_ms: dict[str, int] = {}
    for wanted in due:
        if wanted.symbol in venue_symbols:
            first_ms.setdefault(venue_symbols[wanted.symbol], wanted.due_ms)  # the earliest comes first
    return first_ms


def _read_due(origin: str, now_ms: int, connection: Connection) -> list[tuple[int, int, int, str, float]]:
    """What is due, and whose hour can have closed."""
    return connection.execute(_DUE, (origin, now_ms - HOUR_MS)).fetchall()
