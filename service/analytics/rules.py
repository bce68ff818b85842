"""The rules of the regime, of the market and of each coin, and what follows from them. Needs no numpy.

Rules with thresholds, never a model: who knows a day's inputs can say its regime by hand. All of them look at closed
daily bars only, and at no day after the one they speak of.
"""

from typing import Final, Literal, NamedTuple

from service.analytics.states import DOWN, UNKNOWN, UP

Regime = Literal["risk-on", "neutral", "risk-off"]
Direction = Literal["long", "short"]

RISK_ON: Final = 1
NEUTRAL: Final = 0
RISK_OFF: Final = -1
"""How tables write a regime; `states.UNKNOWN` where there is none."""

REGIMES: Final[dict[int, Regime]] = {RISK_ON: "risk-on", NEUTRAL: "neutral", RISK_OFF: "risk-off"}
DIRECTIONS: Final[dict[int, Direction]] = {RISK_ON: "long", RISK_OFF: "short"}

CONFIRM_DAYS: Final = 3
"""Closed days in a row that must want another regime of the market, the last of them the day of the change."""

CONFIRM_COIN_DAYS: Final = 2
"""The same for a coin's regime. Its trend is slow by itself: SuperTrend asks for a close beyond three ranges."""

SEASON_DAYS: Final = 30
"""Days that a coin's trend must have been known, the present one included, before the coin has a regime.

A SuperTrend begins as up, whatever the price did; on the recordings it takes 23 bars at the median until one that began
as down would say the same. Without a season every listing would be a long.
"""

PATIENCE_DAYS: Final = 2
"""Days without a known state after which a coin has no regime any more: delisted, or its bars are missing."""

NET_ENTER_PCT: Final = 20.0
"""Net breadth, percent of the universe, that the market must reach to either side to take that side ..."""

NET_STAY_PCT: Final = 0.0
"""... and must not cross to stay on it."""

CALM_ENTER: Final = 80.0
"""Percentile of BTC's realised volatility up to which risk-on may begin, and from which HODL may be risk-off ..."""

CALM_STAY: Final = 95.0
"""... and beyond which risk-on ends."""

FULL_NET_PCT: Final = 60.0
"""Net breadth at which the market is of one mind, as far as conviction goes."""

FULL_REACH: Final = 3.0
"""Average true ranges between a close and its SuperTrend line at which a trend is as clear as it gets."""


class Inputs(NamedTuple):
    """What the regime of the market is decided on.

    BTC's daily trend state, net breadth in percent of the universe, the percentile (0 to 100) of BTC's 30-day realised
    volatility within 365 days, and whether BTC is up (1) or down (-1) in USD alone.
    """

    btc: int
    net_pct: float
    volatility: float
    in_usd: int


MARKET_SYMBOLS: Final = 17
NOTHING_SEEN: Final = 16
_MAY_BE_ON, _MAY_STAY_ON, _MAY_BE_OFF, _MAY_STAY_OFF = 1, 2, 4, 8


def market_symbol(inputs: Inputs | None) -> int:
    """Say what a day allows; `NOTHING_SEEN` where an input is unknown.

    | regime | may begin | may go on |
    |---|---|---|
    | risk-on | BTC UP, net breadth ≥ 20 %, volatility ≤ 80th percentile | BTC not DOWN, net ≥ 0, volatility ≤ 95th |
    | risk-off | net ≤ -20 % and BTC down in USD, or HODL with volatility ≥ 80th | BTC not UP, net ≤ 0 |

    BTC is seldom DOWN: when it falls, ETH mostly falls faster, and BTC is up against it. So in USD is what counts.
    """
    if inputs is None:
        return NOTHING_SEEN
    btc, net, volatility, in_usd = inputs
    unrest = btc != UP and volatility >= CALM_ENTER
    return (
        _MAY_BE_ON * (btc == UP and net >= NET_ENTER_PCT and volatility <= CALM_ENTER)
        + _MAY_STAY_ON * (btc != DOWN and net >= NET_STAY_PCT and volatility <= CALM_STAY)
        + _MAY_BE_OFF * (net <= -NET_ENTER_PCT and (in_usd == DOWN or unrest))
        + _MAY_STAY_OFF * (btc != UP and net <= -NET_STAY_PCT)
    )


def market_wants(regime: int, symbol: int) -> int | None:
    """Which regime the market should have, given the one it has; see `hysteresis.Wants`."""
    if symbol == NOTHING_SEEN:
        return None
    if symbol & (_MAY_STAY_ON if regime == RISK_ON else _MAY_BE_ON) and regime != UNKNOWN:
        return RISK_ON
    if symbol & (_MAY_STAY_OFF if regime == RISK_OFF else _MAY_BE_OFF) and regime != UNKNOWN:
        return RISK_OFF
    return NEUTRAL


COIN_SYMBOLS: Final = 20
UNSEEN, GONE = 18, 19
"""Below them: 6 * (trend + 1) + 3 * (1 if the coin is up in USD, else 0) + market + 1, each -1, 0 or 1."""


def coin_wants(regime: int, symbol: int) -> int | None:
    """Which regime a coin should have, given the one it has; see `hysteresis.Wants`.

    | regime | may begin | may go on |
    |---|---|---|
    | risk-on | trend UP, market not risk-off | trend UP; or HODL and up in USD, market not risk-off |
    | risk-off | trend DOWN, market not risk-on | trend DOWN; or HODL and down in USD, market not risk-on |

    In USD, because that is what a position gains or loses: HODL alone would let a short stand while its coin rises, for
    as long as BTC rises faster.
    """
    if symbol == UNSEEN:
        return None
    if symbol == GONE:
        return UNKNOWN
    if regime == UNKNOWN:
        return NEUTRAL
    trend, in_usd, market = symbol // 6 - 1, symbol // 3 % 2 * 2 - 1, symbol % 3 - 1
    for side in (RISK_ON, RISK_OFF):
        begins = trend == side and market != -side
        goes_on = trend == side or (trend == NEUTRAL and in_usd == side and market != -side)
        if goes_on if regime == side else begins:
            return side
    return NEUTRAL


def market_conviction(regime: int, inputs: Inputs) -> float:
    """How clearly the inputs speak for the regime, 0 to 1, 4 decimals.

    0.5 * breadth + 0.3 * trend + 0.2 * volatility, each 0 to 1. Risk-on: net breadth / 60 %; BTC UP 1, HODL 0.5,
    DOWN 0; 1 - percentile / 100. Risk-off: the mirror image. Neutral: 1 - |net| / 60 %; HODL 1, else 0.5; nearness of
    the percentile to 50.
    """
    btc, net, volatility, _ = inputs
    if regime == NEUTRAL:
        parts = 1 - min(1.0, abs(net) / FULL_NET_PCT), 1.0 if btc == NEUTRAL else 0.5, 1 - abs(volatility - 50) / 50
    else:
        calm = 1 - volatility / 100
        parts = _clip(regime * net / FULL_NET_PCT), (1 + regime * btc) / 2, calm if regime == RISK_ON else 1 - calm
    return round(0.5 * parts[0] + 0.3 * parts[1] + 0.2 * parts[2], 4)


def coin_conviction(regime: int, trend: int, market: int, reach: float | None) -> float:
    """How clearly a coin's charts and the market speak for its regime, 0 to 1, 4 decimals.

    0.4 * trend + 0.3 * market + 0.3 * reach, each 0 to 1. Risk-on: trend UP 1, HODL 0.5, DOWN 0; the market's regime
    likewise; `reach` / 3. Risk-off: the mirror image. Neutral: HODL 1, else 0.5; the market likewise; 1 - |reach| / 3.

    Args:
        regime: The coin's.
        trend: Its daily trend state.
        market: The market's regime.
        reach: Average true ranges from the SuperTrend line in USD up to the close; None while unknown, which counts 0.
    """
    if regime == NEUTRAL:
        parts = [1.0 if state == NEUTRAL else 0.5 for state in (trend, market)]
        parts.append(0.0 if reach is None else 1 - min(1.0, abs(reach) / FULL_REACH))
    else:
        parts = [(1 + regime * state) / 2 for state in (trend, market)]
        parts.append(0.0 if reach is None else _clip(regime * reach / FULL_REACH))
    return round(0.4 * parts[0] + 0.3 * parts[1] + 0.3 * parts[2], 4)


def _clip(value: float) -> float:
    return min(1.0, max(0.0, value))
