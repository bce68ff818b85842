"""The record of verdicts, as `signal-quality` answers it."""

from collections.abc import Sequence
from typing import Final

from service.verdict.claims import earned, withdrawal
from service.verdict.ledger import HORIZONS, Kind, LedgerHead
from service.verdict.measured import MeasuredClaim
from service.verdict.ruleset import CURRENT
from service.verdict.scorecard import LABELS, LEAST_DAYS, OutcomeStatistics, Scorecard, Scorecards, later
from service.wire.quality import (
    ReliabilityTier,
    SignalValidations,
    VerdictCounts,
    VerdictFigures,
    VerdictQuality,
    VerdictRecords,
)

_DECIMALS: Final = 4
_NOTHING: Final = (
    Scorecard(CURRENT.label.version, [], []),
    OutcomeStatistics(Scorecard(CURRENT.label.version, [], [])),
)


def judge_verdicts(scorecards: Scorecards, asset: str, head: LedgerHead) -> VerdictQuality:
    """The record of verdicts on a coin.

    Args:
        scorecards: The live and the backtested record.
        asset: Ticker of the coin.
        head: Current head of the ledger.
    """
    live, backtested = scorecards.live() or _NOTHING, scorecards.backtested()
    days, right = live[1].called(asset, HORIZONS[0])
    published = [look for look in earned() if withdrawal(look, scorecards.skills()) is None]
    enough = days >= LEAST_DAYS
    return VerdictQuality(
        asset=asset,
        signal_type="verdict",
        reliability_tier=_tier(published, enough=enough),
        confidence=None,
        validations=SignalValidations(
            strategy=None,
            sampleSize=days,
            wins=right,
            winRate=round(right / days, _DECIMALS) if enough else None,
            meanReturnPct=None,
            sharpe=None,
            deflatedSharpe=None,
            trials=None,
            firstDay=None,
            lastDay=None,
        ),
        message=_message(asset, days, right, published),
        record=VerdictRecords(
            ruleset=CURRENT.label.version,
            days_needed=LEAST_DAYS,
            entries=head.entries,
            head=head.hash,
            live=_count(live, asset),
            backtested=None if backtested is None else _count(backtested, asset),
        ),
    )


def _tier(published: Sequence[MeasuredClaim], *, enough: bool) -> ReliabilityTier:
    if not enough:
        return "INSUFFICIENT_DATA"
    return "VALIDATED" if published else "PRELIMINARY"


def _message(asset: str, days: int, right: int, published: Sequence[MeasuredClaim]) -> str:
    """The live record as one sentence."""
    if days < LEAST_DAYS:
        return (
            f"Too few live verdicts on {asset} to judge: {days} called a rise or a fall and have an outcome, and "
            f"{LEAST_DAYS} are needed."
        )
    shown = ", ".join(f"{look.target} {later(look.days)}" for look in published)
    skill = f"probabilities are published for {shown}" if published else "no probability has shown skill"
    return f"{right} of {days} live verdicts on {asset} that called a rise or a fall were right a day later; {skill}."


def _count(counted: tuple[Scorecard, OutcomeStatistics], asset: str) -> VerdictCounts:
    scorecard, pools = counted
    return VerdictCounts(_figures(pools), _figures(pools, symbol=asset), _figures(pools, kind="asked"), scorecard.void)


def _figures(pools: OutcomeStatistics, kind: Kind = "daily", symbol: str | None = None) -> list[VerdictFigures]:
    rows = [(label, days, pools.figures(label, days, kind, symbol)) for label in LABELS for days in HORIZONS]
    return [
        VerdictFigures(
            label,
            days,
            found.days_seen,
            found.outcomes,
            found.hit_rate,
            found.base_rate,
            found.hit_rate_low,
            found.hit_rate_high,
            found.mean_move_pct,
        )
        for label, days, found in rows
        if found.outcomes
    ]
