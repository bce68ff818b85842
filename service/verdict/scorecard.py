"""What became of past verdicts: sums over their outcomes, the figures made of them, and the words for these.

Pure: no I/O, no clock. A verdict's outcome is judged on its move, the price's change in percent to four decimals: a
bullish verdict was right where it is above zero, a bearish one where it is below, a neutral one where it stayed within
the bound of its horizon. Coins move together, so the 95 % interval of a hit rate treats the outcomes of a day as one
cluster (Liang and Zeger, Biometrika 73, 1986); its variance is multiplied by the horizon in days, since the outcomes of
neighbouring days overlap.
"""

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

from service.market.shelf import Drawer, Kept
from service.verdict.ledger import ABSTAINED, HORIZONS, Head, Kind
from service.wire.verdict import HorizonRecord, Label, Outcomes, Record, Target, Verdict

SCORECARD: Final = "verdict.scorecard"
"""The name of the document that counts the ledger."""

BACKTEST: Final = "verdict.backtest"
"""The name of the document that counts recomputed verdicts."""

LEAST_DAYS: Final = 60
"""Days of verdicts under which nothing is said."""

FLAT_PCT: Final[Mapping[int, float]] = {1: 2.0, 3: 3.5, 7: 5.0}
"""How far a price may move, either way, and still be neutral: percent, by days."""

LABELS: Final[tuple[Label, ...]] = ("strong-bull", "bull", "neutral", "bear", "strong-bear")
"""The verdicts that say something."""

SIDES: Final[Mapping[Label, int]] = {"strong-bull": 1, "bull": 1, "neutral": 0, "bear": -1, "strong-bear": -1}
"""Which way a price has to go for a verdict to be right."""

_Z: Final = 1.96
_DECIMALS: Final = 4


class Tally(Struct, frozen=True):
    """Sums over outcomes: how many there are, how many went up, down, and neither far; of moves (percent).

    `flats` overlaps with both `ups` and `downs`.
    """

    outcomes: int = 0
    ups: int = 0
    downs: int = 0
    flats: int = 0
    moves: float = 0.0

    def plus(self, other: "Tally") -> "Tally":
        """Both together."""
        return Tally(
            self.outcomes + other.outcomes,
            self.ups + other.ups,
            self.downs + other.downs,
            self.flats + other.flats,
            self.moves + other.moves,
        )


class Cell(Struct, frozen=True, array_like=True):
    """The outcomes of one verdict on one coin, so many days later; those somebody asked for are not told apart by coin.

    The fields after `verdict` are a `Tally`'s.
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


class Spread(Struct, frozen=True, array_like=True):
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
    """Skill over the base rate of a probability that was earned, on days of the ledger with their outcome.

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
    """All outcomes of one history and of verdicts by one version of the rules, made by the leader.

    `skills` has the claims that were earned and have 60 live days. `void` counts outcomes without a recorded price.
    """

    ruleset: int
    cells: list[Cell]
    spreads: list[Spread]
    skills: list[LiveSkill] = []
    void: int = 0


class Figures(NamedTuple):
    """What outcomes say: rates 0 to 1, the mean move in percent; null below 60 days.

    `base_rate` is how often what the verdict says came true of all daily verdicts' coins; `compared`, how many those
    are.
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


class Pools:
    """Outcomes by kind, coin, horizon and verdict, and all of each.

    Args:
        scorecard: The parts.
    """

    def __init__(self, scorecard: Scorecard) -> None:
        self._tallies: dict[_Key, Tally] = {}
        self._spreads = {(found.kind, found.days, found.verdict): found for found in scorecard.spreads}
        for cell in scorecard.cells:
            part = Tally(cell.outcomes, cell.ups, cell.downs, cell.flats, cell.moves)
            for symbol in (None, cell.symbol):
                for verdict in (None, cell.verdict):
                    key: _Key = (cell.kind, symbol, cell.days, verdict)
                    self._tallies[key] = self._tally(*key).plus(part)

    def figures(self, verdict: Label, days: int, kind: Kind = "daily", symbol: str | None = None) -> Figures:
        """What the outcomes of a verdict say.

        Args:
            verdict: Which.
            days: How much later.
            kind: Whose verdicts.
            symbol: Of this coin alone; null is all coins.
        """
        own, compared = self._tally(kind, symbol, days, verdict), self._tally("daily", symbol, days, None)
        hits, spread = _hits(own, verdict), self._spread(own, verdict, days, kind, symbol)
        if spread.seen < LEAST_DAYS:
            return Figures(own.outcomes, spread.seen)
        rate = hits / own.outcomes
        off = _Z * sqrt(days * _variance(spread, rate, own.outcomes))
        return Figures(
            own.outcomes,
            spread.seen,
            _rounded(rate),
            _rounded(max(0.0, rate - off)),
            _rounded(min(1.0, rate + off)),
            _rounded(_hits(compared, verdict) / compared.outcomes) if compared.outcomes else None,
            _rounded(own.moves / own.outcomes),
            compared.outcomes,
        )

    def called(self, symbol: str, days: int) -> tuple[int, int]:
        """How many daily verdicts on a coin called a rise or a fall and have an outcome, and how many were right."""
        sided = [(label, self._tally("daily", symbol, days, label)) for label, side in SIDES.items() if side]
        return sum(found.outcomes for _, found in sided), sum(_hits(found, label) for label, found in sided)

    def _tally(self, kind: Kind, symbol: str | None, days: int, verdict: Label | None) -> Tally:
        return self._tallies.get((kind, symbol, days, verdict), Tally())

    def _spread(self, own: Tally, verdict: Label, days: int, kind: Kind, symbol: str | None) -> Spread:
        """Of one coin there is one daily verdict a day, so that its days are its outcomes."""
        if symbol is None:
            return self._spreads.get((kind, days, verdict), Spread(kind, days, verdict, 0, 0, 0, 0))
        hits = _hits(own, verdict)
        return Spread(kind, days, verdict, own.outcomes, hits, hits, own.outcomes)


class Scorecards:
    """Tells the record of a verdict, from memory.

    Args:
        live: Where the count of the ledger is kept.
        backtested: Where the count of recomputed verdicts is kept.
        origin: Which history is told at this moment: outcomes of another one say nothing of it.
    """

    def __init__(self, live: Drawer[Scorecard], backtested: Drawer[Scorecard], origin: Callable[[], str]) -> None:
        self._origin = origin
        self._live = _Counted(live)
        self._backtested = _Counted(backtested)
        self._told: dict[str, tuple[object, Record]] = {}

    def track(self, verdict: Verdict, head: Head) -> Record:
        """What became of verdicts like this one.

        Args:
            verdict: The verdict.
            head: The ledger's as of its entry.

        Returns:
            The same object for as long as nothing in it changes.
        """
        live, backtested = (counted.of(self._origin()) for counted in (self._live, self._backtested))
        key = (live, backtested, verdict.verdict, head)
        told = self._told.get(verdict.symbol)
        if told is None or told[0] != key:
            record = Record(
                backtested=None if backtested is None else _tell(backtested[1], verdict),
                live=_tell(_NOTHING if live is None else live[1], verdict),
                entries=head.entries,
                head=head.hash,
            )
            told = self._told[verdict.symbol] = (key, record)
        return told[1]

    def skills(self) -> Sequence[LiveSkill]:
        """The live skill of claims that were earned, for the current history."""
        live = self.live()
        return () if live is None else live[0].skills

    def live(self) -> tuple[Scorecard, Pools] | None:
        """The count of the ledger for the current history; null until it is done."""
        return self._live.of(self._origin())

    def counted_ms(self) -> int | None:
        """When the ledger's count last changed, epoch milliseconds; null until it is done."""
        return None if self.live() is None else self._live.put_ms

    def backtested(self) -> tuple[Scorecard, Pools] | None:
        """The count of recomputed verdicts for the current history; null until it is done."""
        return self._backtested.of(self._origin())


class _Counted:
    """One count, and its sums, made once.

    Attributes:
        put_ms: When the count was put, epoch milliseconds.
    """

    def __init__(self, drawer: Drawer[Scorecard]) -> None:
        self.put_ms: int | None = None
        self._kept: tuple[str, tuple[Scorecard, Pools]] | None = None
        drawer.on_change(self._show)

    def of(self, origin: str) -> tuple[Scorecard, Pools] | None:
        """The same object for as long as it is the same count."""
        return self._kept[1] if self._kept is not None and self._kept[0] == origin else None

    def _show(self, kept: Kept[Scorecard]) -> None:
        self._kept = None if kept.value is None else (kept.origin, (kept.value, Pools(kept.value)))
        self.put_ms = kept.observed_ms


_NOTHING: Final = Pools(Scorecard(0, [], []))


def _tell(pools: Pools, verdict: Verdict) -> Outcomes:
    return Outcomes(
        all_coins=[_record(pools, verdict.verdict, days, None) for days in HORIZONS],
        this_coin=[_record(pools, verdict.verdict, days, verdict.symbol) for days in HORIZONS],
    )


def _record(pools: Pools, verdict: Label, days: int, symbol: str | None) -> HorizonRecord:
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
        says=_say(found, verdict, days, symbol),
    )


def _say(found: Figures, verdict: Label, days: int, symbol: str | None) -> str:
    on, after = "" if symbol is None else f" on {symbol}", later(days)
    if verdict == ABSTAINED:
        return "An abstention claims nothing, so there is nothing to score."
    if found.hit_rate is None:
        return (
            f"Not enough yet: {verdict} verdicts{on} were given on {found.days_seen} days with an outcome {after}; "
            f"{LEAST_DAYS} are needed."
        )
    return (
        f"After {found.hit_rate:.1%} of {found.outcomes} {verdict} verdicts{on} on {found.days_seen} days the price "
        f"was {_claim(verdict, days)} {after} (95 % interval {found.hit_rate_low:.1%} to {found.hit_rate_high:.1%}); "
        f"after {found.base_rate:.1%} of all {found.compared}{on} it was."
    )


def later(days: int) -> str:
    """`a day later`, `3 days later`."""
    return "a day later" if days == 1 else f"{days} days later"


def _claim(verdict: Label, days: int) -> str:
    return {1: "higher", 0: f"within {FLAT_PCT[days]:g} %", -1: "lower"}[SIDES[verdict]]


def _hits(tally: Tally, verdict: Label) -> int:
    """Of how many outcomes what a verdict says came true."""
    return {1: tally.ups, 0: tally.flats, -1: tally.downs}[SIDES.get(verdict, 0)]


def _variance(spread: Spread, rate: float, outcomes: int) -> float:
    """Of a rate over days that are clusters, for outcomes that do not overlap."""
    residuals = spread.squares - 2 * rate * spread.products + rate * rate * spread.sizes
    return max(0.0, residuals) / outcomes**2


def _rounded(figure: float) -> float:
    return round(figure, _DECIMALS) + 0.0
