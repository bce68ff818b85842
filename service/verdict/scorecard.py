"""What became of past verdicts: sums over their outcomes, the figures made of them, and the words for these.

Pure: no I/O, no clock. A verdict's outcome is judged on its move, the price's change in percent to four decimals: a
bullish verdict was right where it is above zero, a bearish one where it is below, a neutral one where it stayed within
the bound of its horizon. The Brier score is the mean of (probability of a rise - whether it rose)², after Brier,
"Verification of forecasts expressed in terms of probability", Monthly Weather Review 78 (1950): 0.25 is a coin toss. It
and the reliability table count only entries that claim a probability: those of version 1 of the rules.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

from service.market.shelf import Drawer, Kept
from service.verdict.ledger import ABSTAINED, HORIZONS, Head, Kind
from service.wire.verdict import HorizonRecord, Label, TrackRecord, Verdict

SCORECARD: Final = "verdict.scorecard"
"""The document's name on the shelf."""

LEAST: Final = 30
"""Fewer outcomes than this say nothing yet."""

FLAT_PCT: Final[Mapping[int, float]] = {1: 2.0, 3: 3.5, 7: 5.0}
"""How far a price may move, either way, and still be neutral: percent, by days."""

LABELS: Final[tuple[Label, ...]] = ("strong-bull", "bull", "neutral", "bear", "strong-bear")
"""The verdicts that claim something."""

BINS: Final = 20
"""The reliability table divides 0 to 1 into so many equal ranges of probability."""

_DECIMALS: Final = 4


class Tally(Struct, frozen=True):
    """Sums over outcomes: how many there are, how many went up, down, and neither far; of moves (percent); of errors².

    `flats` overlaps with both `ups` and `downs`. `claimed` is how many had a claimed probability; `errors` sums theirs.
    """

    outcomes: int = 0
    ups: int = 0
    downs: int = 0
    flats: int = 0
    moves: float = 0.0
    errors: float = 0.0
    claimed: int = 0

    def plus(self, other: "Tally") -> "Tally":
        """Both together."""
        return Tally(
            self.outcomes + other.outcomes,
            self.ups + other.ups,
            self.downs + other.downs,
            self.flats + other.flats,
            self.moves + other.moves,
            self.errors + other.errors,
            self.claimed + other.claimed,
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
    errors: float
    claimed: int = 0


class Bin(Struct, frozen=True, array_like=True):
    """The outcomes of verdicts that claimed a probability from `place` / 20 to under (`place` + 1) / 20.

    `claimed` is the sum of what they claimed.
    """

    kind: Kind
    days: int
    place: int
    outcomes: int
    ups: int
    claimed: float


class Scorecard(Struct, frozen=True):
    """All scored outcomes of one history; made by the leader, read by every process."""

    cells: list[Cell]
    bins: list[Bin]


class Figures(NamedTuple):
    """What outcomes say: rates and Brier score 0 to 1, the mean move in percent; null below 30 of them.

    `brier` is over the outcomes of verdicts that claimed a probability, and null below 30 of these.

    `base_rate` is how often what the verdict says came true of all daily verdicts' coins; `compared`, how many those
    are.
    """

    outcomes: int
    hit_rate: float | None = None
    base_rate: float | None = None
    brier: float | None = None
    mean_move_pct: float | None = None
    compared: int = 0


class Reliability(NamedTuple):
    """What verdicts claimed, from `low` to under `high`, and how often prices rose after them: 0 to 1."""

    low: float
    high: float
    outcomes: int
    claimed: float
    rose: float | None


_Key: TypeAlias = tuple[Kind, str | None, int, Label | None]
"""Kind, coin (null: all), days, verdict (null: all)."""


class Pools:
    """Outcomes by kind, coin, horizon and verdict, and all of each.

    Args:
        cells: The parts.
    """

    def __init__(self, cells: Iterable[Cell] = ()) -> None:
        self._tallies: dict[_Key, Tally] = {}
        for cell in cells:
            part = Tally(cell.outcomes, cell.ups, cell.downs, cell.flats, cell.moves, cell.errors, cell.claimed)
            for symbol in (None, cell.symbol):
                for verdict in (None, cell.verdict):
                    key: _Key = (cell.kind, symbol, cell.days, verdict)
                    self._tallies[key] = self.tally(*key).plus(part)

    def tally(self, kind: Kind, symbol: str | None, days: int, verdict: Label | None) -> Tally:
        """The sums of a pool; `None` stands for all."""
        return self._tallies.get((kind, symbol, days, verdict), Tally())

    def figures(self, verdict: Label, days: int, kind: Kind = "daily", symbol: str | None = None) -> Figures:
        """What the outcomes of a verdict say.

        Args:
            verdict: Which.
            days: How much later.
            kind: Whose verdicts.
            symbol: Of this coin alone; null is all coins.
        """
        own, compared = self.tally(kind, symbol, days, verdict), self.tally("daily", symbol, days, None)
        if own.outcomes < LEAST:
            return Figures(own.outcomes)
        return Figures(
            own.outcomes,
            _rate(_hits(own, verdict), own.outcomes),
            _rate(_hits(compared, verdict), compared.outcomes) if compared.outcomes >= LEAST else None,
            _rate(own.errors, own.claimed) if own.claimed >= LEAST else None,
            _rate(own.moves, own.outcomes),
            compared.outcomes,
        )


def reliability(scorecard: Scorecard, days: int, kind: Kind = "daily") -> list[Reliability]:
    """Say how often prices rose after each range of claimed probability, the lowest first; null below 30 outcomes."""
    return [
        Reliability(
            found.place / BINS,
            (found.place + 1) / BINS,
            found.outcomes,
            _rate(found.claimed, found.outcomes),
            _rate(found.ups, found.outcomes) if found.outcomes >= LEAST else None,
        )
        for found in scorecard.bins
        if (found.kind, found.days) == (kind, days)
    ]


class Scorecards:
    """Tells the track record of a verdict, from memory.

    Args:
        drawer: Where the scorecard is kept.
        origin: Which history is told at this moment: outcomes of another one say nothing of it.
    """

    def __init__(self, drawer: Drawer[Scorecard], origin: Callable[[], str]) -> None:
        self._origin = origin
        self._of = ""
        self._scorecard = Scorecard([], [])
        self._pools = Pools()
        self._told: dict[str, tuple[object, TrackRecord]] = {}
        drawer.on_change(self._show)

    def track(self, verdict: Verdict, head: Head) -> TrackRecord:
        """What became of verdicts like this one.

        Args:
            verdict: The verdict.
            head: The ledger's as of its entry.

        Returns:
            The same object for as long as nothing in it changes.
        """
        pools = self._pools if self._of == self._origin() else Pools()
        key = (pools if pools is self._pools else None, verdict.verdict, head)
        told = self._told.get(verdict.symbol)
        if told is None or told[0] != key:
            told = self._told[verdict.symbol] = (key, _tell(pools, verdict, head))
        return told[1]

    def whole(self) -> Scorecard:
        """All outcomes of the history that is told; empty while none of it are scored."""
        return self._scorecard if self._of == self._origin() else Scorecard([], [])

    def _show(self, kept: Kept[Scorecard]) -> None:
        self._of = kept.origin
        self._scorecard = kept.value or Scorecard([], [])
        self._pools = Pools(self._scorecard.cells)


def _tell(pools: Pools, verdict: Verdict, head: Head) -> TrackRecord:
    return TrackRecord(
        probability_up=None,
        all_coins=[_record(pools, verdict.verdict, days, None) for days in HORIZONS],
        this_coin=[_record(pools, verdict.verdict, days, verdict.symbol) for days in HORIZONS],
        entries=head.entries,
        head=head.hash,
    )


def _record(pools: Pools, verdict: Label, days: int, symbol: str | None) -> HorizonRecord:
    found = pools.figures(verdict, days, symbol=symbol)
    return HorizonRecord(
        days=days,
        outcomes=found.outcomes,
        hit_rate=found.hit_rate,
        base_rate=found.base_rate,
        brier=found.brier,
        mean_move_pct=found.mean_move_pct,
        says=_say(found, verdict, days, symbol),
    )


def _say(found: Figures, verdict: Label, days: int, symbol: str | None) -> str:
    on, later = "" if symbol is None else f" on {symbol}", "a day later" if days == 1 else f"{days} days later"
    if verdict == ABSTAINED:
        return "An abstention claims nothing, so there is nothing to score."
    if found.hit_rate is None or found.base_rate is None:
        return f"Not enough yet: {found.outcomes} outcomes of {verdict} verdicts{on} {later}, {LEAST} are needed."
    return (
        f"After {found.hit_rate:.1%} of {found.outcomes} {verdict} verdicts{on} the price was {_claim(verdict, days)} "
        f"{later}; after {found.base_rate:.1%} of all {found.compared}{on} it was."
    )


def _claim(verdict: Label, days: int) -> str:
    if verdict == "neutral":
        return f"within {FLAT_PCT[days]:g} %"
    return "higher" if verdict.endswith("bull") else "lower"


def _hits(tally: Tally, verdict: Label) -> int:
    """Of how many outcomes what a verdict says came true."""
    if verdict == "neutral":
        return tally.flats
    return tally.ups if verdict.endswith("bull") else tally.downs


def _rate(part: float, whole: int) -> float:
    return round(part / whole, _DECIMALS) + 0.0
