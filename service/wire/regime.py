"""Payloads of `regime`: its four actions."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Regime = Literal["risk-on", "neutral", "risk-off"]
Direction = Literal["long", "short"]
Share = Annotated[float, Meta(ge=0, le=1)]


class MarketRegime(Struct, frozen=True):
    """The regime of the whole market and the close of the bar on which it began; `conviction` is 0 to 1."""

    regime: Regime
    since: str
    age_days: int
    conviction: Share


class RegimePosition(Struct, frozen=True):
    """A coin whose regime points somewhere.

    Opened in USD at the close of the UTC day `entryDate`, that is at 00:00 of the next day, when its signal fired;
    `holdDays` counts from there to the last published close. `currentPrice` is live, null where too old.
    """

    symbol: str
    regime: Regime
    direction: Direction
    conviction: Share
    entryPrice: float
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
    """A closed position of a coin's regime, before costs and funding; opened and closed at the closes of UTC days.

    `exitReason` is what turned, the coin's trend or the market's regime, or that the coin had no bars any more.
    """

    direction: Direction
    entryDate: str
    entryPrice: float
    exitDate: str
    exitPrice: float
    returnPct: float
    holdDays: int
    exitReason: ExitReason


class RegimeSummary(Struct, frozen=True):
    """Of the closed trades; rates 0 to 1, returns percent. Null where there are none."""

    total: int
    wins: int
    losses: int
    winRate: Share | None
    meanReturnPct: float | None


class RegimeHistory(Struct, frozen=True):
    """`regime?action=history`: every position a coin's regime has had, oldest first."""

    symbol: str
    trades: list[RegimeTrade]
    summary: RegimeSummary
    currentPosition: RegimePosition | None
