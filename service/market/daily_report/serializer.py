"""Builds the daily report from `MarketAnalytics`. Pure; runs on a worker thread."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from service.analytics import breadth as breadths
from service.analytics import findings
from service.analytics.breadth import Breadth
from service.clock import DAY_MS, iso
from service.market.daily_report import wording
from service.market.daily_report.models import BreadthDay, CoinTrades, DailyReport, RegimeRun
from service.market.symbols import canonical
from service.wire.market import BreadthExtreme, Crossing, Divergence, MarketHealth, Mover, TrendCounts, TrendShares
from service.wire.regime import (
    CoinRegime,
    MarketRegime,
    RegimePosition,
    RegimeSignal,
    RegimeSummary,
    RegimeTrade,
)

if TYPE_CHECKING:
    from service.analytics.backtest.tape import MarketTape
    from service.analytics.market import MarketAnalytics

CROSSING_DAYS: Final = 90
"""Closed days, including the last, whose crossings are listed."""

SIGNAL_DAYS: Final = 30
"""Closed days, including the last, whose regime changes are listed."""

MOVERS: Final = 5
"""Number of leaders, and of laggards."""

LIKE_BTC: Final = 0.7
"""Minimum correlation to BTC of a coin whose opposite trend is listed."""

OPPOSED: Final = 10
"""Maximum number of such coins, the most correlated first."""


def build_report(market: "MarketAnalytics", published: Sequence[BreadthDay], tape: "MarketTape") -> DailyReport:
    """Build the report.

    Args:
        market: All closed bars through the last published day, with the published breadths.
        published: The published days, oldest first; at least one.
        tape: The same bars with volumes, and the known funding.
    """
    through = published[-1].day
    regime = market.regime()
    market_regime = None if regime is None else _regime(regime)
    confidence = [
        CoinRegime(canonical(found.coin), found.regime, found.conviction) for found in market.coin_regimes().values()
    ]
    followed = market.followed(tape)
    positions = [_position(found) for found in followed.positions]
    signals = sorted(
        market.signals(through - SIGNAL_DAYS + 1), key=lambda fired: (-fired.fired_ms, canonical(fired.coin))
    )
    return DailyReport(
        through_ms=(through + 1) * DAY_MS,
        breadth=list(published),
        health=_health(market, _breadth(published[-1]), market_regime, () if regime is None else regime.reasons),
        crossings=[
            _crossing(found) for found in market.crossings()[::-1] if found.current.day > through - CROSSING_DAYS
        ],
        regime=market_regime,
        runs=[RegimeRun(run.regime, run.since_ms) for run in market.regimes()],
        positions=sorted(positions, key=lambda held: (-held.conviction, held.symbol)),
        signals=[_signal(found) for found in signals],
        confidence=sorted(confidence, key=lambda row: (-row.confidence, row.symbol)),
        regime_trades=_regime_trades(market, followed.trades, {held.symbol: held for held in positions}),
    )


def _breadth(day: BreadthDay) -> Breadth:
    return Breadth(day.day, day.up, day.hodl, day.down)


def _counts(breadth: Breadth) -> TrendCounts:
    return TrendCounts(breadth.up, breadth.hodl, breadth.down)


def _regime(found: findings.MarketRegimeRun) -> MarketRegime:
    return MarketRegime(found.regime, iso(found.since_ms), found.age_days, found.conviction)


def _health(
    market: "MarketAnalytics", breadth: Breadth, regime: MarketRegime | None, reasons: Sequence[findings.Reason]
) -> MarketHealth:
    standings = [Mover(canonical(one.coin), one.excess_pct, one.state) for one in market.standings()]
    leaders = [mover for mover in standings[:MOVERS] if mover.relative_pct > 0]
    laggards = [mover for mover in standings[: -MOVERS - 1 : -1] if mover.relative_pct < 0]
    counts = breadth.counts
    extremes = [
        BreadthExtreme(found.state, found.share_pct, counts[found.state]) for found in breadths.extremes(breadth)
    ]
    velocity = market.velocity()
    velocity = None if velocity is None else velocity + 0.0  # avoids a negative zero
    divergences = list(_divergences(market))
    return MarketHealth(
        date=wording.date(breadth.day),
        universe=breadth.universe,
        trends=_counts(breadth),
        breadth_pct=TrendShares(**breadth.shares_pct),
        hasExtremes=bool(extremes),
        extremes=extremes,
        velocity=velocity,
        regime=None if regime is None else regime.regime,
        regime_age_days=None if regime is None else regime.age_days,
        leadership=leaders,
        laggards=laggards,
        divergences=divergences,
        interpretation=wording.interpret(
            breadth, extremes, velocity, regime, reasons, leaders, laggards, [found.detail for found in divergences]
        ),
    )


def _divergences(market: "MarketAnalytics") -> Iterator[Divergence]:
    for found in market.divergences():
        yield Divergence(found.code, None, wording.diverge(found))
    charts = market.assessments()
    opposed = [
        (chart.btc_correlation, canonical(coin), chart.daily.state)
        for coin, chart in ((coin, charts[coin]) for coin in market.opposed())
        if chart.daily is not None and chart.btc_correlation is not None and chart.btc_correlation >= LIKE_BTC
    ]
    for correlation, symbol, state in sorted(opposed, key=lambda one: (-one[0], one[1]))[:OPPOSED]:
        detail = wording.oppose(symbol, state, "UP" if state == "DOWN" else "DOWN", correlation)
        yield Divergence("against-btc", symbol, detail)


def _crossing(found: breadths.BreadthCrossing) -> Crossing:
    current = found.current
    return Crossing(
        id=f"{wording.date(current.day)}-{found.direction.lower().replace(' ', '-')}",
        up=current.up,
        down=current.down,
        direction=found.direction,
        at=iso((current.day + 1) * DAY_MS),
        previous=_counts(found.previous),
        current=_counts(current),
        universe=current.universe,
    )


def _position(found: findings.OpenPosition) -> RegimePosition:
    return RegimePosition(
        symbol=canonical(found.coin),
        regime=found.regime,
        direction=found.direction,
        conviction=found.conviction,
        entryPrice=found.entry_price,
        currentPrice=None,
        entryDate=wording.date(found.entry_day),
        holdDays=found.hold_days,
    )


def _signal(found: findings.RegimeChange) -> RegimeSignal:
    symbol = canonical(found.coin)
    return RegimeSignal(
        symbol=symbol,
        regime=found.regime,
        direction=found.direction,
        conviction=found.conviction,
        firedAt=iso(found.fired_ms),
        reasons=wording.explain_turn(symbol, found.regime, found.reasons),
    )


def _regime_trades(
    market: "MarketAnalytics", trades: Mapping[str, Sequence[findings.Trade]], held: Mapping[str, RegimePosition]
) -> dict[str, CoinTrades]:
    found: dict[str, CoinTrades] = {}
    for coin in market.panel.coins:
        symbol, closed = canonical(coin), trades.get(coin, ())
        if closed or symbol in held:
            found[symbol] = CoinTrades([_trade(trade) for trade in closed], _sum_up(closed), held.get(symbol))
    return found


def _trade(found: findings.Trade) -> RegimeTrade:
    return RegimeTrade(
        direction=found.direction,
        entryDate=wording.date(found.entry_day),
        entryPrice=found.entry_price,
        exitDate=wording.date(found.exit_day),
        exitPrice=found.exit_price,
        returnPct=_rounded(found.return_pct),
        fundingPct=_rounded(found.funding_pct),
        costPct=_rounded(found.cost_pct),
        holdDays=found.hold_days,
        exitReason=found.exit_reason,
    )


def _sum_up(closed: Sequence[findings.Trade]) -> RegimeSummary:
    """Statistics of closed trades: a win is a return over 0, anything else a loss."""
    total = len(closed)
    wins = sum(trade.return_pct > 0 for trade in closed)
    held = sum(trade.hold_days for trade in closed)
    funded = sum(trade.funded_days for trade in closed)
    return RegimeSummary(
        total=total,
        wins=wins,
        losses=total - wins,
        winRate=_rounded(wins / total) if total else None,
        meanReturnPct=_rounded(sum(trade.return_pct for trade in closed) / total) if total else None,
        fundingKnown=_rounded(funded / held) if total else None,
    )


def _rounded(value: float) -> float:
    """Round to 4 decimals; zero has no sign."""
    return round(value, 4) + 0.0
