"""Outcomes of past verdicts: sums, rates with intervals, and sentences.

Pure: no I/O, no clock. A bullish verdict is right if the price is higher after the horizon, a bearish one if it is
lower, a neutral one if it moved less than the bound of the horizon. Coins move together, so the 95 % interval of a hit
rate treats the outcomes of a day as one cluster (Liang and Zeger, Biometrika 73, 1986), by Student's t with as many
degrees of freedom as days less one. Outcomes of neighboring days overlap, so the variance is multiplied by the horizon
in days. Days that are all alike have no spread, so there is no interval.
"""

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

from service import formats
from service.analytics.intervals import standard_errors
from service.market.series import DayCounts
from service.storage.documents import Document, DocumentState
from service.verdict.ledger import ABSTAINED, HORIZONS, Kind, LedgerHead
from service.wire.verdict import CoinVerdict, HorizonRecord, Label, Outcomes, Target, TrackRecord

SCORECARD: Final = "verdict.scorecard"
"""Name of the document with the count of the ledger."""

BACKTEST: Final = "verdict.backtest"
"""Name of the document with the count of recomputed verdicts."""

LEAST_DAYS: Final = 60
"""Fewest days of verdicts for which rates are published."""

FLAT_PCT: Final[Mapping[int, float]] = {1: 2.0, 3: 3.5, 7: 5.0}
"""Largest move of a neutral outcome in percent, by horizon in days."""

LABELS: Final[tuple[Label, ...]] = ("strong-bull", "bull", "neutral", "bear", "strong-bear")
"""Verdicts that are scored."""

SIDES: Final[Mapping[Label, int]] = {"strong-bull": 1, "bull": 1, "neutral": 0, "bear": -1, "strong-bear": -1}
"""Direction of the price for which a verdict is right."""

_DECIMALS: Final = 4


class OutcomeSums(Struct, frozen=True):
    """Sums over outcomes: their number, those that rose, fell, stayed flat, and the sum of moves (percent).

    `flats` overlaps with `ups` and `downs`.
    """

    outcomes: int = 0
    ups: int = 0
    downs: int = 0
    flats: int = 0
    moves: float = 0.0

    def plus(self, other: "OutcomeSums") -> "OutcomeSums":
        """The sum of both."""
        return OutcomeSums(
            self.outcomes + other.outcomes,
            self.ups + other.ups,
            self.downs + other.downs,
            self.flats + other.flats,
            self.moves + other.moves,
        )


class OutcomeCell(Struct, frozen=True, array_like=True):
    """Sums over the outcomes of one verdict on one coin after one horizon; `symbol` is empty for requested verdicts.

    The fields after `verdict` are those of `OutcomeSums`.
    """

    kind: Kind
    days: int
    symbol: str
    verdict: Label
    outcomes: int
    ups: int
    downs: int
    flats: int
    moves: float


class DaySpread(Struct, frozen=True, array_like=True):
    """Sums over the days on which a verdict was given, of all coins: with n outcomes and h hits on a day.

    `seen` counts the days, `squares` sums h * h, `products` h * n and `sizes` n * n.
    """

    kind: Kind
    days: int
    verdict: Label
    seen: int
    squares: int
    products: int
    sizes: int


class LiveSkill(Struct, frozen=True):
    """Skill of a published probability over the base rate, on days of the ledger with outcomes.

    Skill is 1 less the Brier score over that of the base rate. `skill_high` is its one-sided 95 % upper bound, from a
    bootstrap over blocks of days.
    """

    target: Target
    days: int
    days_seen: int
    skill: float
    skill_high: float

    @property
    def withdraws(self) -> bool:
        """Whether the probability was worse than the base rate, by decision 9."""
        return self.days_seen >= LEAST_DAYS and self.skill_high < 0


class Scorecard(Struct, frozen=True):
    """All outcomes of one dataset and one version of the rules, counted by the leader.

    `skills` has published claims with 60 live days or more. `void` counts outcomes without a recorded price. `counts`
    are those of the closed days that a backtested record was recomputed from; null for the live one.
    """

    ruleset: int
    cells: list[OutcomeCell]
    spreads: list[DaySpread]
    skills: list[LiveSkill] = []
    void: int = 0
    counts: DayCounts | None = None


class Figures(NamedTuple):
    """Rates of outcomes, 0 to 1, and the mean move in percent; null below 60 days.

    `base_rate` is the rate over the coins of all daily verdicts, of which there are `compared`. The interval is null as
    well where the days are all alike.
    """

    outcomes: int
    days_seen: int
    hit_rate: float | None = None
    hit_rate_low: float | None = None
    hit_rate_high: float | None = None
    base_rate: float | None = None
    mean_move_pct: float | None = None
    compared: int = 0


_Key: TypeAlias = tuple[Kind, str | None, int, Label | None]
"""Kind, coin (null: all), days, verdict (null: all)."""


class OutcomeStatistics:
    """Sums of a scorecard by kind, coin, horizon and verdict, and totals.

    Args:
        scorecard: The counted outcomes.
    """

    def __init__(self, scorecard: Scorecard) -> None:
        self._tallies: dict[_Key, OutcomeSums] = {}
        self._spreads = {(found.kind, found.days, found.verdict): found for found in scorecard.spreads}
        for cell in scorecard.cells:
            part = OutcomeSums(cell.outcomes, cell.ups, cell.downs, cell.flats, cell.moves)
            for symbol in (None, cell.symbol):
                for verdict in (None, cell.verdict):
                    key: _Key = (cell.kind, symbol, cell.days, verdict)
                    self._tallies[key] = self._tally(*key).plus(part)

    def figures(self, verdict: Label, days: int, kind: Kind = "daily", symbol: str | None = None) -> Figures:
        """Rates of one verdict.

        Args:
            verdict: The verdict.
            days: The horizon.
            kind: Daily or requested verdicts.
            symbol: One coin; null for all coins.
        """
        own, compared = self._tally(kind, symbol, days, verdict), self._tally("daily", symbol, days, None)
        hits, spread = _hits(own, verdict), self._spread(own, verdict, days, kind, symbol)
        if spread.seen < LEAST_DAYS:
            return Figures(own.outcomes, spread.seen)
        rate = hits / own.outcomes
        low, high = _interval(rate, days * _variance(spread, hits, own.outcomes), spread.seen)
        return Figures(
            own.outcomes,
            spread.seen,
            _rounded(rate),
            low,
            high,
            _rounded(_hits(compared, verdict) / compared.outcomes) if compared.outcomes else None,
            _rounded(own.moves / own.outcomes),
            compared.outcomes,
        )

    def called(self, symbol: str, days: int) -> tuple[int, int]:
        """Number of daily bullish and bearish verdicts on a coin with an outcome, and how many were right."""
        sided = [(label, self._tally("daily", symbol, days, label)) for label, side in SIDES.items() if side]
        return sum(found.outcomes for _, found in sided), sum(_hits(found, label) for label, found in sided)

    def _tally(self, kind: Kind, symbol: str | None, days: int, verdict: Label | None) -> OutcomeSums:
        return self._tallies.get((kind, symbol, days, verdict), OutcomeSums())

    def _spread(self, own: OutcomeSums, verdict: Label, days: int, kind: Kind, symbol: str | None) -> DaySpread:
        """The sums by day; one coin has one daily verdict a day, so its days are its outcomes."""
        if symbol is None:
            return self._spreads.get((kind, days, verdict), DaySpread(kind, days, verdict, 0, 0, 0, 0))
        hits = _hits(own, verdict)
        return DaySpread(kind, days, verdict, own.outcomes, hits, hits, own.outcomes)


class Scorecards:
    """The live and the backtested record, from memory.

    Args:
        live: Document with the count of the ledger.
        backtested: Document with the count of recomputed verdicts.
        origin: The current dataset; counts of others are not used.
    """

    def __init__(self, live: Document[Scorecard], backtested: Document[Scorecard], origin: Callable[[], str]) -> None:
        self._origin = origin
        self._live = _ScorecardCache(live)
        self._backtested = _ScorecardCache(backtested)
        self._records: dict[str, tuple[object, TrackRecord]] = {}

    def track(self, verdict: CoinVerdict, head: LedgerHead) -> TrackRecord:
        """The record of verdicts like this one.

        Args:
            verdict: The verdict.
            head: Head of the ledger as of its entry.

        Returns:
            The same object while its content does not change.
        """
        live, backtested = (counted.of(self._origin()) for counted in (self._live, self._backtested))
        key = (live, backtested, verdict.verdict, head)
        cached = self._records.get(verdict.symbol)
        if cached is None or cached[0] != key:
            record = TrackRecord(
                backtested=None if backtested is None else _outcomes(backtested[1], verdict),
                live=_outcomes(_NOTHING if live is None else live[1], verdict),
                entries=head.entries,
                head=head.hash,
            )
            cached = self._records[verdict.symbol] = (key, record)
        return cached[1]

    def skills(self) -> Sequence[LiveSkill]:
        """Live skill of published claims, for the current dataset."""
        live = self.live()
        return () if live is None else live[0].skills

    def live(self) -> tuple[Scorecard, OutcomeStatistics] | None:
        """The count of the ledger for the current dataset; null until it is done."""
        return self._live.of(self._origin())

    def counted_ms(self) -> int | None:
        """When the count of the ledger last changed, epoch milliseconds; null until it is done."""
        return None if self.live() is None else self._live.put_ms

    def backtested(self) -> tuple[Scorecard, OutcomeStatistics] | None:
        """The count of recomputed verdicts for the current dataset; null until it is done."""
        return self._backtested.of(self._origin())

    def recomputed_from(self, through_ms: int) -> DayCounts | None:
        """Counts of the closed days that the backtested record rests on; null unless it is through this instant."""
        backtested = self.backtested()
        return None if backtested is None or self._backtested.put_ms != through_ms else backtested[0].counts


class _ScorecardCache:
    """One count and its statistics, computed once.

    Attributes:
        put_ms: When the count was put, epoch milliseconds.
    """

    def __init__(self, document: Document[Scorecard]) -> None:
        self.put_ms: int | None = None
        self._kept: tuple[str, tuple[Scorecard, OutcomeStatistics]] | None = None
        document.on_change(self._show)

    def of(self, origin: str) -> tuple[Scorecard, OutcomeStatistics] | None:
        """The count of a dataset, the same object until it changes."""
        return self._kept[1] if self._kept is not None and self._kept[0] == origin else None

    def _show(self, kept: DocumentState[Scorecard]) -> None:
        self._kept = None if kept.value is None else (kept.origin, (kept.value, OutcomeStatistics(kept.value)))
        self.put_ms = kept.observed_ms


_NOTHING: Final = OutcomeStatistics(Scorecard(0, [], []))


def _outcomes(pools: OutcomeStatistics, verdict: CoinVerdict) -> Outcomes:
    return Outcomes(
        all_coins=[_record(pools, verdict.verdict, days, None) for days in HORIZONS],
        this_coin=[_record(pools, verdict.verdict, days, verdict.symbol) for days in HORIZONS],
    )


def _record(pools: OutcomeStatistics, verdict: Label, days: int, symbol: str | None) -> HorizonRecord:
    found = pools.figures(verdict, days, symbol=symbol)
    return HorizonRecord(
        days=days,
        days_seen=found.days_seen,
        outcomes=found.outcomes,
        hit_rate=found.hit_rate,
        hit_rate_low=found.hit_rate_low,
        hit_rate_high=found.hit_rate_high,
        base_rate=found.base_rate,
        mean_move_pct=found.mean_move_pct,
        says=_sentence(found, verdict, days, symbol),
    )


def _sentence(found: Figures, verdict: Label, days: int, symbol: str | None) -> str:
    on, after = "" if symbol is None else f" on {symbol}", later(days)
    if verdict == ABSTAINED:
        return "An abstention claims nothing, so there is nothing to score."
    if found.hit_rate is None or found.base_rate is None:
        return (
            f"Not enough yet: {verdict} verdicts{on} were given on {found.days_seen} days with an outcome {after}; "
            f"{LEAST_DAYS} are needed."
        )
    return (
        f"After {formats.share(found.hit_rate)} of {found.outcomes} {verdict} verdicts{on} on {found.days_seen} days "
        f"the price was {_claim(verdict, days)} {after} ({_interval_words(found)}); "
        f"after {formats.share(found.base_rate)} of all {found.compared}{on} it was."
    )


def _interval_words(found: Figures) -> str:
    if found.hit_rate_low is None or found.hit_rate_high is None:
        return "no interval, because all days are alike"
    return f"95 % interval {formats.share(found.hit_rate_low)} to {formats.share(found.hit_rate_high)}"


def later(days: int) -> str:
    """`a day later`, `3 days later`."""
    return "a day later" if days == 1 else f"{days} days later"


def _claim(verdict: Label, days: int) -> str:
    return {1: "higher", 0: f"within {FLAT_PCT[days]:g} %", -1: "lower"}[SIDES[verdict]]


def _hits(tally: OutcomeSums, verdict: Label) -> int:
    """Number of outcomes for which a verdict was right."""
    return {1: tally.ups, 0: tally.flats, -1: tally.downs}[SIDES.get(verdict, 0)]


def _variance(spread: DaySpread, hits: int, outcomes: int) -> float:
    """Variance of a rate with days as clusters, for outcomes that do not overlap; 0 where all days are alike."""
    residuals = spread.squares * outcomes**2 - 2 * hits * spread.products * outcomes + hits**2 * spread.sizes
    return max(0, residuals) / outcomes**4


def _interval(rate: float, variance: float, seen: int) -> tuple[float, float] | tuple[None, None]:
    """The 95 % interval of a rate, 0 to 1; null where all days are alike, or there is only one."""
    errors = standard_errors(seen)
    if errors is None or not variance:
        return None, None
    off = errors * sqrt(variance)
    return _rounded(max(0.0, rate - off)), _rounded(min(1.0, rate + off))


def _rounded(figure: float) -> float:
    return round(figure, _DECIMALS) + 0.0
