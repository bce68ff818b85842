"""The record of a strategy on a coin is what the slow implementation traded, and what the published trades come to."""

import math
import statistics
from typing import get_args

import pytest

from service.clock import DAY_MS
from service.walkforward import engine, gate
from service.walkforward.histories import read_recordings
from service.walkforward.parameters import Parameters, WalkforwardRequest
from service.walkforward.quality import judge_trades_of
from service.walkforward.records import WalkforwardRun, pack_run, unpack_run
from service.wire.walkforward import Strategy
from tests.market.recordings import needs_recordings
from tests.walkforward.recount import date_of, day_of
from tests.walkforward.reference_bars import BUNDLED, RECORDED
from tests.walkforward.reference_summary import best_by_luck, pooled, probability
from tests.walkforward.test_reference_walk import Case, both, few

ROUNDING = 1e-4
"""Two figures that are rounded to four decimals, one of them from returns that are rounded as well."""


@pytest.mark.slow
@pytest.mark.promise("quality.payload")
def test_trades_wins_and_means_of_every_coin_are_those_of_the_slow_implementation() -> None:
    made = both(Case(BUNDLED, few, "anchored"))
    told = unpack_run(1, pack_run(made.run, made.history.days.stop - 1))
    counted = 0
    for name in get_args(Strategy):
        for coin in made.history.bars:
            brought = [
                100 * trade.brought for one in made.walked[name] for trade in one.books.trades if trade.coin == coin
            ]
            found = judge_trades_of(told, coin, name).validations
            assert (found.sampleSize, found.wins) == (len(brought), sum(one > 0 for one in brought))
            if brought:
                assert found.winRate == pytest.approx(sum(one > 0 for one in brought) / len(brought), abs=ROUNDING)
                assert found.meanReturnPct == pytest.approx(statistics.fmean(brought), abs=ROUNDING)
                counted += len(brought)
    assert counted == sum(len(one.books.trades) for _, one in made.everything()) > 300


@needs_recordings
@pytest.mark.recorded
@pytest.mark.timeout(300)
@pytest.mark.promise("quality.payload", "quality.tiers")
def test_every_record_of_the_recorded_market_is_recounted_from_its_trades() -> None:
    run = _walk()
    assert run.summary is not None
    told = unpack_run(1, pack_run(run, 0))
    first, last = day_of(run.summary.firstDay), day_of(run.summary.lastDay)
    yearly = [sharpe for fold in run.folds for sharpe in fold.sharpes]
    by_fold = [[sharpe for fold in run.folds if fold.fold == one for sharpe in fold.sharpes] for one in range(1, 7)]
    spread = pooled(by_fold) / 365
    tiers: dict[str, int] = dict.fromkeys(("INSUFFICIENT_DATA", "PRELIMINARY", "VALIDATED"), 0)
    for name in get_args(Strategy):
        for coin in {outcome.symbol for outcome in run.outcomes}:
            returns = [one.returnPct for one in run.outcomes if (one.symbol, one.strategy) == (coin, name)]
            found = judge_trades_of(told, coin, name)
            tiers[found.reliability_tier] += 1
            record, count = found.validations, len(returns)
            assert (record.sampleSize, record.trials) == (count, len(yearly))
            assert (record.firstDay, record.lastDay) == (date_of(first), date_of(last))
            if count < 30:
                assert (found.reliability_tier, found.confidence, record.sharpe) == ("INSUFFICIENT_DATA", None, None)
                continue
            variance = max(1 / (count - 1), spread * (last - first + 1) / count)
            confidence = probability(returns, best_by_luck(len(yearly), variance))
            assert record.sharpe == pytest.approx(statistics.fmean(returns) / statistics.pstdev(returns), abs=ROUNDING)
            assert found.confidence == pytest.approx(confidence, abs=ROUNDING)
            assert found.reliability_tier == ("VALIDATED" if count >= 100 and confidence >= 0.95 else "PRELIMINARY")
            assert math.isfinite(confidence)
    assert tiers["PRELIMINARY"] > 0
    assert tiers["VALIDATED"] == 0, "no coin has a hundred trades in this recording"


def _walk() -> WalkforwardRun:
    now_ms = (day_of("2025-07-25") + 1) * DAY_MS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "SURROGATES", 2)  # the gate has tests of its own, and takes most of a run
        patch.setattr(gate, "CUT_EVERY", 60)
        return engine.run_walkforward(
            WalkforwardRequest(now_ms, Parameters(), read_recordings(RECORDED, now_ms)), lambda _done, _total: None
        )
