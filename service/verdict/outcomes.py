"""Scores verdicts: the open of the first hourly bar at or after each horizon decides."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Final, NamedTuple

from service.clock import HOUR_MS, Clock, iso
from service.market.models import BENCHMARK, Row
from service.market.store import MarketStore
from service.storage.database import Database
from service.storage.documents import Document
from service.storage.engine import Connection
from service.storage.rows import insert_rows
from service.verdict.ledger import THOUSANDS
from service.verdict.ledger_statistics import count_ledger
from service.verdict.scorecard import Scorecard

SCORE_EVERY_S: Final = 300.0

WINDOW_MS: Final = 6 * HOUR_MS
"""How long after the due time an hourly bar may open and still decide an outcome."""

GIVE_UP_MS: Final = 48 * HOUR_MS
"""How much later the hours of a coin must have continued before an outcome without a bar is void."""

_BATCH: Final = 512
_DECIMALS: Final = 4
_PRICE_DECIMALS: Final = 12

_DUE: Final = """
    SELECT d.seq, d.days, d.due_ms, l.symbol, l.price FROM verdict_due d JOIN verdict_ledger l USING (seq)
    WHERE d.origin = ? AND d.due_ms <= ? ORDER BY d.due_ms, d.seq, d.days
"""
_SCORE: Final = "INSERT INTO verdict_outcomes (scored_ms, seq, days, price_ms, price, move_pct, void)"
_DONE: Final = """
    DELETE FROM verdict_due WHERE origin = ? AND due_ms <= ?
        AND EXISTS (SELECT 1 FROM verdict_outcomes o WHERE o.seq = verdict_due.seq AND o.days = verdict_due.days)
"""


class DueOutcome(NamedTuple):
    """A scheduled outcome: entry, horizon in days, due time, and the ticker and price (USD) of the entry."""

    seq: int
    days: int
    due_ms: int
    symbol: str
    price: float

    @property
    def coin(self) -> str:
        """Ticker of the coin, also where the entry is on a thousand of it."""
        return THOUSANDS.get(self.symbol, self.symbol)


class ScoredOutcome(NamedTuple):
    """A scored outcome: price (USD, of as many coins as in the entry), its time, and the move in percent.

    In `void` is why there is none.
    """

    due: DueOutcome
    price_ms: int | None = None
    price: float | None = None
    move_pct: float | None = None
    void: str | None = None


class OutcomeScorer:
    """Scores due outcomes and counts the ledger. Runs in the leader.

    Args:
        clock: The time.
        database: Holds the ledger.
        store: Hourly bars.
        document: Holds the scorecard.
        origin: The current dataset.
    """

    def __init__(
        self,
        clock: Clock,
        database: Database,
        store: MarketStore,
        document: Document[Scorecard],
        origin: Callable[[], str],
    ) -> None:
        self._clock = clock
        self._database = database
        self._store = store
        self._document = document
        self._origin = origin
        self._summed: str | None = None

    async def round(self) -> None:
        """Score due outcomes, then store the scorecard if it changed.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used; outcomes scored before that stay.
        """
        origin = self._origin()
        outcomes = await self._find_due(origin)
        if outcomes:
            self._summed = None  # stays so until they are counted, also if the store fails before that
        for start in range(0, len(outcomes), _BATCH):
            await self._store_outcomes(origin, outcomes[start : start + _BATCH])
        if self._summed != origin:
            await self._update_scorecard(origin)

    async def _find_due(self, origin: str) -> list[ScoredOutcome]:
        """Due outcomes that can be scored or given up.

        The progress of hours is read before the hours, so that hours that arrive meanwhile give nothing up.
        """
        due = await self._database.inspect(partial(_read_due, origin, self._clock.now_ms()))
        if not due:
            return []
        progress = await self._store.progress(origin, "1h")
        listed = {coin.symbol: coin.last_ms or 0 for coin in progress if coin.listed}
        coins = await self._store.coins()
        venue_symbols = {coin.symbol: coin.venue_symbol for coin in sorted(coins, key=lambda coin: coin.listed)}
        bars = await self._store.closed_bars_after(_first_due(due, venue_symbols), "1h")
        if not await self._store.progress(origin, "1h"):
            return []  # the store changed to another dataset
        found = (
            score_outcome(
                wanted,
                bars.get(venue_symbols.get(wanted.coin, ""), ()),
                listed.get(wanted.coin, listed.get(BENCHMARK, 0)),
            )
            for wanted in due
        )
        return [outcome for outcome in found if outcome is not None]

    async def _store_outcomes(self, origin: str, outcomes: Sequence[ScoredOutcome]) -> None:
        now_ms = self._clock.now_ms()
        rows = [(found.due.seq, found.due.days, *found[1:]) for found in outcomes]
        last_ms = max(found.due.due_ms for found in outcomes)

        def work(connection: Connection) -> None:
            insert_rows(connection, _SCORE, rows, shared=(now_ms,))
            connection.execute(_DONE, (origin, last_ms))

        await self._database.write(work)

    async def _update_scorecard(self, origin: str) -> None:
        summed = await self._database.inspect(partial(count_ledger, origin=origin))
        kept = self._document.current
        if (kept.origin, kept.value) != (origin, summed):
            await self._document.put(origin, summed, self._clock.now_ms())
        self._summed = origin


def score_outcome(due: DueOutcome, bars: Sequence[Row], reached_ms: int) -> ScoredOutcome | None:
    """Score an outcome.

    Args:
        due: The scheduled outcome.
        bars: Closed hourly bars of its coin, oldest first.
        reached_ms: Open of the newest closed hourly bar of the coin; of BTC if the coin is no longer traded.

    Returns:
        The outcome by the first bar that opened at the due time or up to six hours later. Void if there is none and
        hours continue for 48 more. Null if it is too early.
    """
    place = bisect_left(bars, due.due_ms, key=itemgetter(0))
    if place < len(bars) and bars[place][0] <= due.due_ms + WINDOW_MS:
        open_ms, price = bars[place][:2]
        if due.symbol in THOUSANDS:
            price = round(price * 1_000, _PRICE_DECIMALS)
        return ScoredOutcome(due, open_ms, price, move_pct(due.price, price))
    if reached_ms < due.due_ms + GIVE_UP_MS:
        return None
    hours = WINDOW_MS // HOUR_MS
    return ScoredOutcome(due, void=f"no hourly bar of {due.symbol} opened in the {hours} hours from {iso(due.due_ms)}")


def move_pct(entry: float, price: float) -> float:
    """The move of a price in percent, rounded to 4 decimals."""
    return round((price / entry - 1) * 100, _DECIMALS) + 0.0


def _first_due(due: Iterable[DueOutcome], venue_symbols: Mapping[str, str]) -> dict[str, int]:
    """The first due time of each coin, by venue symbol."""
    first_ms: dict[str, int] = {}
    for wanted in due:
        if wanted.coin in venue_symbols:
            first_ms.setdefault(venue_symbols[wanted.coin], wanted.due_ms)  # rows are ordered by time
    return first_ms


def _read_due(origin: str, now_ms: int, connection: Connection) -> list[DueOutcome]:
    """Scheduled outcomes whose first hour can have closed."""
    return list(map(DueOutcome._make, connection.execute(_DUE, (origin, now_ms - HOUR_MS))))
