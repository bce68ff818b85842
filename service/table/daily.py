"""The closed days of all coins in memory, with the states that the published rules give for each of them."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from msgspec import Struct

from service.clock import DAY_MS, LATEST_MS
from service.market.freshness import CHART, Freshness
from service.wire.market import Trend
from service.wire.regime import Regime
from service.wire.verdict import Label

S = TypeVar("S")

UNKNOWN: Final = 2
"""Code of a state that is not known."""

TRENDS: Final[Mapping[int, Trend]] = {1: "UP", 0: "HODL", -1: "DOWN"}
REGIMES: Final[Mapping[int, Regime]] = {1: "risk-on", 0: "neutral", -1: "risk-off"}
QUARTERS: Final = 4
"""Scores are multiples of a quarter and are kept as integers."""

FIELDS: Final = 5


class PastBar(NamedTuple):
    """One bar: open time (epoch ms UTC), USD prices, USD volume (base volume at the close).

    `closed` is false for the bar of the present day, which still changes.
    """

    open_ms: int
    open: float
    high: float
    low: float
    close: float
    volume_usd: float
    closed: bool = True


class PastState(NamedTuple, Generic[S]):
    """A state, and the close of the first bar of its run (epoch ms UTC), as routes give it in `..._since`."""

    state: S
    since_ms: int


class DayStates(NamedTuple):
    """The states of a coin as known at the end of the UTC day that opens at `day_ms`; null where not known.

    `score` is -4 to 4, null without a verdict. Verdicts are recomputed from bars and funding, without sentiment.
    """

    day_ms: int
    trend_daily: Trend | None
    trend_weekly: Trend | None
    regime: Regime | None
    verdict: Label
    score: float | None


class PastVerdict(NamedTuple):
    """A verdict on what was known at `known_ms` (epoch ms UTC).

    `recorded`: judged from inputs that were stored at that time. Else recomputed from the bars and the funding that
    were known at the close of that day, without sentiment; `score` is null then if there is no verdict.
    """

    known_ms: int
    verdict: Label
    score: float | None
    recorded: bool


class ClosesTable(NamedTuple):
    """Closes of many coins: `days` are the opens of UTC days (epoch ms), oldest first, without a gap.

    `closes` holds for each ticker one USD close per day, null where the coin has no bar.
    """

    days: Sequence[int]
    closes: Mapping[str, Sequence[float | None]]


class CoinDays(Struct, frozen=True):
    """A coin's closed days: for each the day (from 1970-01-01), five numbers, and codes of its states.

    `numbers` are open, high, low, close (USD) and volume (USD) of each day, one after the other. `scores` are quarters.
    `verdicts` are indices of `DailyHistory.grades`, -1 where there is no verdict.
    """

    days: "array[int]"
    numbers: "array[float]"
    daily: "array[int]"
    weekly: "array[int]"
    regimes: "array[int]"
    verdicts: "array[int]"
    scores: "array[int]"

    def place(self, day: int) -> int:
        """The place of the last day up to and including `day`; -1 if there is none."""
        return bisect_right(self.days, day) - 1

    def bar(self, at: int) -> PastBar:
        """The bar at a place."""
        open_, high, low, close, volume_usd = self.numbers[at * FIELDS : (at + 1) * FIELDS]
        return PastBar(self.days[at] * DAY_MS, open_, high, low, close, volume_usd)

    def state(self, codes: "array[int]", at_ms: int) -> tuple[int, int] | None:
        """The newest known code at an instant and the close of the first day of its run.

        Null where the last day that knows it closed more than 48 hours before the instant, the limit of routes.
        """
        at = self.place(at_ms // DAY_MS - 1)
        while at >= 0 and codes[at] == UNKNOWN:
            at -= 1
        if at < 0 or CHART.judge((self.days[at] + 1) * DAY_MS, at_ms) is Freshness.GONE:
            return None
        first = at
        for before in range(at - 1, -1, -1):
            if codes[before] == codes[at]:
                first = before
            elif codes[before] != UNKNOWN:
                break
        return codes[at], (self.days[first] + 1) * DAY_MS


class DailyHistory:
    """All closed days through the last published one. Immutable; all methods are synchronous and use no I/O.

    Tickers are canonical (`BTC`). Delisted coins are included. Instants are epoch milliseconds UTC. A state at an
    instant is that of the last day that had closed by then, so nothing later enters it.

    Args:
        coins: By ticker.
        listed: Tickers that are traded now.
        market_first_day: The day of the first of `market_regimes`.
        market_regimes: Code of the market's regime on each day.
        grades: Verdicts by the index that `CoinDays.verdicts` has.

    Attributes:
        first_ms: Open of the first day of any coin; null without coins.
        last_ms: Open of the last day of any coin; null without coins.
        listed: As above.
    """

    def __init__(
        self,
        coins: Mapping[str, CoinDays],
        listed: frozenset[str],
        market_first_day: int,
        market_regimes: Sequence[int],
        grades: Sequence[Label],
    ) -> None:
        self._coins = coins
        self._grades = grades
        self._market_days = range(market_first_day, market_first_day + len(market_regimes))
        self._market_regimes = market_regimes
        self.listed = listed
        self.first_ms = min((coin.days[0] * DAY_MS for coin in coins.values()), default=None)
        self.last_ms = max((coin.days[-1] * DAY_MS for coin in coins.values()), default=None)

    @property
    def symbols(self) -> Sequence[str]:
        """Tickers of all coins that have closed days, delisted ones included, in alphabetical order."""
        return sorted(self._coins)

    def first_day_ms(self, symbol: str) -> int | None:
        """Open of a coin's first known day; null where none is known."""
        coin = self._coins.get(symbol)
        return None if coin is None else coin.days[0] * DAY_MS

    def bars(self, symbol: str, since_ms: int = 0, until_ms: int = LATEST_MS) -> list[PastBar]:
        """Closed daily bars whose open is in [`since_ms`, `until_ms`), oldest first; none for an unknown coin."""
        coin = self._coins.get(symbol)
        return [] if coin is None else [coin.bar(at) for at in _places(coin, since_ms, until_ms)]

    def trend_daily(self, symbol: str, at_ms: int) -> PastState[Trend] | None:
        """The daily trend of a coin at an instant; null where not known."""
        return self._state(symbol, at_ms, "daily", TRENDS)

    def trend_weekly(self, symbol: str, at_ms: int) -> PastState[Trend] | None:
        """The weekly trend of a coin at an instant; null where not known."""
        return self._state(symbol, at_ms, "weekly", TRENDS)

    def regime(self, symbol: str, at_ms: int) -> PastState[Regime] | None:
        """The regime of a coin at an instant; null where it had none."""
        return self._state(symbol, at_ms, "regimes", REGIMES)

    def market_regime(self, at_ms: int) -> PastState[Regime] | None:
        """The regime of the market at an instant; null where not known."""
        day = min(at_ms // DAY_MS - 1, self._market_days.stop - 1)
        if day not in self._market_days or CHART.judge((day + 1) * DAY_MS, at_ms) is Freshness.GONE:
            return None
        first = at = day - self._market_days.start
        code = self._market_regimes[at]
        while first > 0 and self._market_regimes[first - 1] == code:
            first -= 1
        return PastState(REGIMES[code], (self._market_days[first] + 1) * DAY_MS) if code in REGIMES else None

    def verdict(self, symbol: str, at_ms: int) -> PastVerdict | None:
        """The recomputed verdict at the last close by an instant, 48 hours ago at most; null where there is no bar."""
        coin = self._coins.get(symbol)
        at = -1 if coin is None else coin.place(at_ms // DAY_MS - 1)
        if coin is None or at < 0 or CHART.judge((coin.days[at] + 1) * DAY_MS, at_ms) is Freshness.GONE:
            return None
        states = self._states(coin, at)
        return PastVerdict(states.day_ms + DAY_MS, states.verdict, states.score, recorded=False)

    def states(self, symbol: str, since_ms: int = 0, until_ms: int = LATEST_MS) -> list[DayStates]:
        """The states of a coin on each closed day whose open is in [`since_ms`, `until_ms`), oldest first."""
        coin = self._coins.get(symbol)
        return [] if coin is None else [self._states(coin, at) for at in _places(coin, since_ms, until_ms)]

    def closes(self, since_ms: int, until_ms: int, symbols: Sequence[str] | None = None) -> ClosesTable:
        """Closes of all listed coins, or of some, on each UTC day whose open is in [`since_ms`, `until_ms`)."""
        days = self._window(since_ms, until_ms)
        wanted = sorted(self.listed & self._coins.keys()) if symbols is None else symbols
        closes: dict[str, Sequence[float | None]] = {}
        for symbol in wanted:
            coin, row = self._coins.get(symbol), [None] * len(days)
            closes[symbol] = row if coin is None else _closes(coin, days)
        return ClosesTable([day * DAY_MS for day in days], closes)

    def _window(self, since_ms: int, until_ms: int) -> range:
        if self.first_ms is None or self.last_ms is None:
            return range(0)
        first = max(-(-since_ms // DAY_MS), self.first_ms // DAY_MS)
        return range(first, min(-(-until_ms // DAY_MS), self.last_ms // DAY_MS + 1))

    def _state(self, symbol: str, at_ms: int, codes: str, names: Mapping[int, S]) -> PastState[S] | None:
        coin = self._coins.get(symbol)
        found = None if coin is None else coin.state(getattr(coin, codes), at_ms)
        return None if found is None else PastState(names[found[0]], found[1])

    def _states(self, coin: CoinDays, at: int) -> DayStates:
        grade = coin.verdicts[at]
        return DayStates(
            coin.days[at] * DAY_MS,
            TRENDS.get(coin.daily[at]),
            TRENDS.get(coin.weekly[at]),
            REGIMES.get(coin.regimes[at]),
            "insufficient-evidence" if grade < 0 else self._grades[grade],
            None if grade < 0 else coin.scores[at] / QUARTERS,
        )


def _places(coin: CoinDays, since_ms: int, until_ms: int) -> range:
    first = bisect_left(coin.days, -(-since_ms // DAY_MS))
    return range(first, bisect_left(coin.days, -(-until_ms // DAY_MS)))


def _closes(coin: CoinDays, days: range) -> list[float | None]:
    row: list[float | None] = [None] * len(days)
    for at in range(bisect_left(coin.days, days.start), bisect_left(coin.days, days.stop)):
        row[coin.days[at] - days.start] = coin.numbers[at * FIELDS + 3]
    return row
