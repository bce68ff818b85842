"""Payloads of `regime`: its four actions."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Regime = Literal["risk-on", "neutral", "risk-off"]
Direction = Literal["long", "short"]
Share = Annotated[float, Meta(ge=0, le=1)]


class SlippageBand(Struct, frozen=True):
    """Slippage of a fill, basis points of its notional, from a daily dollar volume on (up to the band above)."""

    volume_usd_from: float
    bps: float


class TradingStandard(Struct, frozen=True):
    """How simulated trades are filled and what they cost, in `regime` and `walkforward`.

    Attributes:
        fills: When and at which price a decision is filled.
        fee_bps: Fee of each fill, basis points of its notional.
        slippage: By daily dollar volume, the largest first.
        volume: Which volume decides the band.
        funding: How funding is charged, and what happens where it was not recorded.
    """

    fills: str
    fee_bps: float
    slippage: list[SlippageBand]
    volume: str
    funding: str


class MarketRegime(Struct, frozen=True):
    """The regime of the whole market and the close of the bar on which it began; `conviction` is 0 to 1.

    `age_days` counts the closed days in it: 1 at that close.
    """

    regime: Regime
    since: str
    age_days: int
    conviction: Share


class RegimePosition(Struct, frozen=True):
    """A coin whose regime points somewhere.

    Entered at the open of the UTC day `entryDate`, the day after the close that decided. `entryPrice`, USD, is null
    while that day's bar has not closed. `holdDays` counts from the entry to the last published close. `currentPrice` is
    live, null where too old.
    """

    symbol: str
    regime: Regime
    direction: Direction
    conviction: Share
    entryPrice: float | None
    currentPrice: float | None
    entryDate: str
    holdDays: int


class RegimeMeta(Struct, frozen=True):
    """How many coins were looked at, through which closed day, and by which rules."""

    universe: int
    through: str
    ruleset: str


class ActiveRegime(Struct, frozen=True):
    """`regime?action=active`."""

    market: MarketRegime
    positions: list[RegimePosition]
    meta: RegimeMeta


class RegimeSignal(Struct, frozen=True):
    """A coin's regime turned; `direction` is null where it turned neutral. `reasons` are sentences with figures.

    `firedAt` is the close of the bar, the first instant at which it could be known.
    """

    symbol: str
    regime: Regime
    direction: Direction | None
    conviction: Share
    firedAt: str
    reasons: list[str]


class RegimeSignals(Struct, frozen=True):
    """`regime?action=signals`, newest first."""

    signals: list[RegimeSignal]
    meta: RegimeMeta


class CoinRegime(Struct, frozen=True):
    """How sure a coin's regime is, 0 to 1."""

    symbol: str
    regime: Regime
    confidence: Share


class RegimeConfidence(Struct, frozen=True):
    """`regime?action=confidence`: `source` names the rules, `generated` the close they were applied to."""

    source: str
    generated: str
    summary: str
    coins: list[CoinRegime]


ExitReason = Literal["trend-turned", "market-turned", "no-bars"]


class RegimeTrade(Struct, frozen=True):
    """A closed position of a coin's regime, after costs and funding.

    Entered and left at the opens of `entryDate` and `exitDate`, UTC days. `exitReason` is what turned, the coin's trend
    or the market's regime; with `no-bars` the position was left at the close of `exitDate`. `returnPct`, percent of the
    notional at entry, is the price's part plus `fundingPct` (received: positive) less `costPct` (fees and slippage).
    """

    direction: Direction
    entryDate: str
    entryPrice: float
    exitDate: str
    exitPrice: float
    returnPct: float
    fundingPct: float
    costPct: float
    holdDays: int
    exitReason: ExitReason


class RegimeSummary(Struct, frozen=True):
    """Of the closed trades; rates 0 to 1, returns percent after costs and funding. Null where there are none.

    `fundingKnown` is the share of the days held whose funding was recorded.
    """

    total: int
    wins: int
    losses: int
    winRate: Share | None
    meanReturnPct: float | None
    fundingKnown: Share | None


class RegimeHistoryMeta(Struct, frozen=True):
    """Through which closed day, by which rules, and how the trades are filled and charged.

    `missing` lists what the figures leave out; sentences.
    """

    through: str
    ruleset: str
    standard: TradingStandard
    missing: list[str]


class RegimeHistory(Struct, frozen=True):
    """`regime?action=history`: every position a coin's regime has had, oldest first."""

    symbol: str
    trades: list[RegimeTrade]
    summary: RegimeSummary
    currentPosition: RegimePosition | None
    meta: RegimeHistoryMeta
