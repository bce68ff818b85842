"""Sentences about figures. Each one states what it was computed from."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from service.analytics.breadth import EXTREME_PCT, VELOCITY_DAYS, Breadth
from service.analytics.findings import DivergenceFinding as BreadthDivergence
from service.analytics.findings import Reason
from service.clock import DAY_MS, iso
from service.wire.market import BreadthExtreme, Mover, Trend
from service.wire.regime import CoinRegime, MarketRegime, Regime, RegimePosition, RegimeSummary

CONFIDENCE_MEANS: Final = (
    "Confidence is 0 to 1: how clearly the inputs of the rules speak for the regime (for a coin 0.4 its trend, 0.3 the "
    "market's regime, 0.3 its distance from its SuperTrend line, full at three average true ranges); it is no "
    "probability."
)

_DATE: Final = len("2026-01-31")


def date(day: int) -> str:
    """A UTC day, counted from 1970-01-01, as an ISO date."""
    return iso(day * DAY_MS)[:_DATE]


def closing_date(close_ms: int) -> str:
    """The UTC day whose bar closed at an instant: a bar that closes at midnight is named after the day before."""
    return date(close_ms // DAY_MS - 1)


def days(count: int) -> str:
    """A number of days, with its unit."""
    return "1 day" if count == 1 else f"{count} days"


def missing(summary: RegimeSummary, held: RegimePosition | None) -> list[str]:
    """What the figures of a coin's regime trades leave out."""
    sentences = [
        "Margin, liquidation and the depth of the order book are not simulated.",
        "A position that is left at the last close is listed once the next day's bar has closed.",
    ]
    if summary.fundingKnown is not None and summary.fundingKnown < 1:
        sentences.append(f"Funding was recorded on {100 * summary.fundingKnown:.1f} % of the days held.")
    if held is not None and held.entryPrice is None:
        sentences.append(
            f"The entry price of the current position is not known before the bar of {held.entryDate} closes."
        )
    return sentences


def oppose(symbol: str, trend: Trend, btc: Trend, correlation: float) -> str:
    """A coin whose trend opposes BTC's despite its correlation."""
    return (
        f"{symbol} is {trend} while BTC is {btc}, with a correlation of {correlation:.2f} over the returns of at most "
        "90 daily bars."
    )


def diverge(found: BreadthDivergence) -> str:
    """A high or low of BTC that breadth did not confirm."""
    extreme = "highest" if found.code == "bearish-breadth" else "lowest"
    return (
        f"BTC's close of {closing_date(found.at_ms)} is its {extreme} of 20 days, with a net breadth of "
        f"{found.net_pct:+.1f} %; on {closing_date(found.reference_ms)} that was {found.reference_net_pct:+.1f} %."
    )


def explain_turn(symbol: str, regime: Regime, reasons: Iterable[Reason]) -> list[str]:
    """Why a coin's regime changed: one sentence per reason, then the resulting regime."""
    return [*(_explain(symbol, reason) for reason in reasons), f"So {symbol}'s regime turned {regime}."]


def _explain(symbol: str, reason: Reason) -> str:
    value = reason.value
    if reason.code == "trend":
        others = [other for other in ("USD", "BTC", "ETH") if other != symbol]
        return f"{symbol}'s daily trend against {', '.join(others[:-1])} and {others[-1]} is {value}."
    if reason.code == "trend-streak-days":
        return f"It has been so for {days(int(value))}."
    if reason.code == "market-regime":
        return f"The market's regime is {value}."
    side = "above" if float(value) >= 0 else "below"
    return f"Its close is {abs(float(value)):.1f} average true ranges {side} its SuperTrend line in USD."


def summarise(market: MarketRegime, coins: Sequence[CoinRegime]) -> str:
    """Number of coins in each regime, and the meaning of a confidence."""
    counts = Counter(row.regime for row in coins)
    return (
        f"The market has been {market.regime} since {market.since[:_DATE]} ({days(market.age_days)}), confidence "
        f"{market.conviction:.2f}. Of {len(coins)} coins {counts['risk-on']} are risk-on, {counts['neutral']} neutral "
        f"and {counts['risk-off']} risk-off. {CONFIDENCE_MEANS}"
    )


def interpret(
    breadth: Breadth,
    extremes: Sequence[BreadthExtreme],
    velocity: float | None,
    regime: MarketRegime | None,
    reasons: Iterable[Reason],
    leaders: Sequence[Mover],
    laggards: Sequence[Mover],
    divergences: Sequence[str],
) -> str:
    """A day's figures as one paragraph."""
    sentences = [
        *_count(breadth),
        *_weigh(extremes),
        *([] if velocity is None else [_speed(velocity)]),
        *([] if regime is None else _place(regime, reasons)),
        *_rank("above", leaders),
        *_rank("below", laggards),
        *divergences,
    ]
    return " ".join(sentences)


def _count(breadth: Breadth) -> Iterator[str]:
    shares = breadth.shares_pct
    listed = ", ".join(f"{count} {state} ({shares[state]:.1f} %)" for state, count in breadth.counts.items())
    yield f"{breadth.universe} coins by their trend at the close of {date(breadth.day)} (UTC): {listed}."
    yield f"The net share, UP less DOWN, is {breadth.net_pct:+.1f} %."


def _weigh(extremes: Sequence[BreadthExtreme]) -> Iterator[str]:
    for extreme in extremes:
        yield f"That is an extreme: {extreme.state} holds at least {EXTREME_PCT:.0f} %."
    if not extremes:
        yield f"No state holds {EXTREME_PCT:.0f} %, from which a day is extreme."


def _speed(velocity: float) -> str:
    return f"The net share moved by {velocity:+.1f} percentage points a day over the last {days(VELOCITY_DAYS)}."


def _place(regime: MarketRegime, reasons: Iterable[Reason]) -> Iterator[str]:
    values = {reason.code: reason.value for reason in reasons}
    yield (
        f"The market's regime has been {regime.regime} since {regime.since[:_DATE]} ({days(regime.age_days)}); BTC's "
        f"daily trend is {values['btc-trend']}, in USD alone {values['btc-in-usd']}, its 30-day realised volatility at "
        f"percentile {values['btc-volatility-percentile']:.1f} of 365 days."
    )


def _rank(side: str, movers: Sequence[Mover]) -> Iterator[str]:
    if movers:
        listed = ", ".join(f"{mover.symbol} {mover.relative_pct:+.1f}" for mover in movers)
        yield f"Furthest {side} the median 30-day return, in percentage points: {listed}."
