"""What is concluded of all closed daily bars at once: one document, written by the leader, read by every process."""

from typing import Final

from msgspec import Struct

from service.wire.market import Crossing, MarketHealth
from service.wire.regime import CoinRegime, MarketRegime, RegimePosition, RegimeSignal, RegimeSummary, RegimeTrade

CONCLUSIONS: Final = "market.conclusions"
"""The document's name on the shelf."""


class BreadthDay(Struct, frozen=True, array_like=True):
    """How many coins were UP, HODL and DOWN on a closed day, counted from 1970-01-01 UTC. Published once, for ever."""

    day: int
    up: int
    hodl: int
    down: int


class RegimeRun(Struct, frozen=True, array_like=True):
    """A run of one market regime, from the close of the bar on which it began; the last one runs still."""

    regime: str
    since_ms: int


class CoinTrades(Struct, frozen=True):
    """The closed trades of one coin's regime, oldest first, and the position that it wants now."""

    trades: list[RegimeTrade]
    summary: RegimeSummary
    position: RegimePosition | None


class Conclusions(Struct, frozen=True):
    """Everything said of the market as a whole, through one published day.

    `through_ms` is the close of that day's bar. `breadth` holds every published day, oldest first: days are added, none
    is ever changed, and the market's regime follows it, so that neither is ever told differently. What is told of one
    coin changes in two cases: a bar that comes after its day was published takes back that the position was left for
    lack of it, and funding that becomes known replaces what was charged in its place.
    `crossings` and `signals` are newest first, signals of one day by ticker. `regime` is null until its inputs are
    known (some 120 days of BTC); `runs` are the market regime's, oldest first. `positions` are the open ones, the
    surest first; `regime_trades` hold every coin that ever had one, by ticker, and are null in a document of a version
    that filled at closes. `currentPrice` is null everywhere: it is the present's, and filled in when answered.
    """

    through_ms: int
    breadth: list[BreadthDay]
    health: MarketHealth
    crossings: list[Crossing]
    regime: MarketRegime | None
    runs: list[RegimeRun]
    positions: list[RegimePosition]
    signals: list[RegimeSignal]
    confidence: list[CoinRegime]
    regime_trades: dict[str, CoinTrades] | None = None
