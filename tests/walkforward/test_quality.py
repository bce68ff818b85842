"""What is said of a strategy on one coin: recounted from the trades with the formulas as they were published."""

import random
import statistics
from collections.abc import Sequence
from typing import get_args

import pytest
from msgspec.structs import asdict, replace

from service.walkforward.quality import judge_trades_of
from service.walkforward.records import FoldRecord, StoredRun, pack_run, unpack_run
from service.wire.quality import SignalQuality, SignalValidations, StrategyType
from service.wire.walkforward import Strategy, WalkforwardOutcome
from tests.walkforward.reference_summary import best_by_luck, probability
from tests.walkforward.runs import TODAY, date, made, outcome, summary

TRIALS = 162
YEARLY = (0.9, -0.4, None, 1.1, 0.2)
"""Annualised Sharpe ratios of back-tests; one never traded."""


def run_of(
    returns: Sequence[float], *, strategy: Strategy = "trend-following", yearly: Sequence[float | None] = YEARLY
) -> StoredRun:
    """A run of 200 days whose trades of BTC brought so much, among trades of other coins and strategies."""
    trades = [replace(outcome(number), returnPct=one, strategy=strategy) for number, one in enumerate(returns)]
    others: list[WalkforwardOutcome] = [
        *(replace(outcome(number, "PEPE"), strategy=strategy) for number in range(7)),
        *(replace(outcome(number), strategy="cross-sectional-momentum", returnPct=-1.0) for number in range(5)),
    ]
    folds = [
        FoldRecord(
            strategy=strategy, fold=1, trained=[(date(1), date(2))], tested=(date(3), date(4)), chosen={"period": 1.0},
            trials=len(yearly), train_sharpe=None, sharpes=list(yearly),
        )
    ]  # fmt: skip
    return unpack_run(1, pack_run(replace(made(outcomes=[*trades, *others], told=summary()), folds=folds), TODAY - 1))


def judged(returns: Sequence[float], signal_type: StrategyType = "trend-following") -> SignalQuality:
    return judge_trades_of(run_of(returns), "BTC", signal_type)


def drawn(count: int, mean: float, seed: int = 1) -> list[float]:
    """Returns of trades in percent, with a deviation of 5."""
    dice = random.Random(seed)  # noqa: S311 - no secret
    return [round(dice.gauss(mean, 5.0), 4) for _ in range(count)]


@pytest.mark.promise("quality.payload")
@pytest.mark.parametrize("mean", [-0.5, 0.5, 2.0, 4.0])
@pytest.mark.parametrize("count", [30, 120])
def test_the_figures_are_those_that_the_trades_and_the_papers_come_to(count: int, mean: float) -> None:
    returns = drawn(count, mean)
    found = judged(returns).validations
    wins = sum(1 for one in returns if one > 0)
    assert asdict(found) == {
        "strategy": "trend-following",
        "sampleSize": count,
        "wins": wins,
        "winRate": pytest.approx(wins / count, abs=5e-5),
        "meanReturnPct": pytest.approx(statistics.fmean(returns), abs=5e-5),
        "sharpe": pytest.approx(statistics.fmean(returns) / statistics.pstdev(returns), abs=5e-5),
        "deflatedSharpe": pytest.approx(probability(returns, best_by_luck(TRIALS, 1 / (count - 1))), abs=5e-5),
        "trials": TRIALS,
        "firstDay": date(TODAY - 200),
        "lastDay": date(TODAY - 1),
    }


def test_trials_that_differ_by_more_than_chance_deflate_by_their_own_variance() -> None:
    returns, yearly = drawn(120, 2.0), (4.0, -3.0, None, 2.5)
    found = judge_trades_of(run_of(returns, yearly=yearly), "BTC", "trend-following").validations
    of_a_trade = statistics.variance([4.0, -3.0, 2.5]) * (200 / 365) / 120
    assert of_a_trade > 1 / 119
    assert found.deflatedSharpe == pytest.approx(probability(returns, best_by_luck(TRIALS, of_a_trade)), abs=5e-5)


@pytest.mark.parametrize("apart", [0.0, 1.5, 4.0, -9.0, 30.0, 1000.0])
def test_what_the_market_did_in_another_fold_is_no_spread_of_trials(apart: float) -> None:
    """Ratios of two folds differ by the days as well, so only those of the same days are compared."""
    returns, yearly = drawn(120, 2.0), [4.0, -3.0, 2.5]
    told = run_of(returns, yearly=yearly)
    (one,) = told.head.folds
    other = replace(one, fold=2, sharpes=[ratio + apart for ratio in yearly])
    both = replace(told, head=replace(told.head, folds=[one, other]))
    found, alone = (judge_trades_of(run, "BTC", "trend-following").validations for run in (both, told))
    assert found.deflatedSharpe == alone.deflatedSharpe


@pytest.mark.parametrize("lesser", [5.8, 5.9, 6.0])
def test_moments_beyond_the_formula_are_named_as_the_reason(lesser: float) -> None:
    found = judged([lesser] * 20 + [lesser + 10] * 10)
    assert found.validations.sharpe is not None
    assert found.confidence is None
    assert "cannot be computed, because the returns are too skewed for its formula; VALIDATED" in found.message


def test_a_single_trial_with_a_ratio_has_no_variance_of_its_own() -> None:
    returns = drawn(120, 2.0)
    found = judge_trades_of(run_of(returns, yearly=(4.0, None)), "BTC", "trend-following").validations
    assert found.deflatedSharpe == judged(returns).validations.deflatedSharpe


@pytest.mark.promise("quality.tiers")
@pytest.mark.parametrize(
    ("count", "mean", "tier"),
    [
        (29, 5.0, "INSUFFICIENT_DATA"),
        (30, 5.0, "PRELIMINARY"),
        (99, 5.0, "PRELIMINARY"),
        (100, 5.0, "VALIDATED"),
        (100, 1.0, "PRELIMINARY"),
    ],
)
def test_the_tier_is_decided_by_the_number_of_trades_and_the_deflated_probability(
    count: int, mean: float, tier: str
) -> None:
    found = judged(drawn(count, mean))
    assert found.reliability_tier == tier
    assert found.confidence == found.validations.deflatedSharpe
    assert (found.confidence is None) == (found.validations.sharpe is None) == (count < 30)
    if tier == "VALIDATED":
        assert (found.confidence or 0.0) >= 0.95


@pytest.mark.promise("quality.tiers")
def test_a_probability_just_under_the_threshold_is_not_validated_and_one_on_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for value, tier in ((0.949999, "PRELIMINARY"), (0.95, "VALIDATED")):
        monkeypatch.setattr("service.analytics.backtest.statistics.deflated_sharpe", lambda *_, told=value: told)
        assert judged(drawn(100, 1.0)).reliability_tier == tier


@pytest.mark.promise("quality.tiers")
def test_noise_is_validated_on_at_most_one_of_two_hundred_coins() -> None:
    validated = sum(judged(drawn(120, 0.0, seed)).reliability_tier == "VALIDATED" for seed in range(200))
    assert validated <= 1


def test_a_skill_of_known_strength_is_found() -> None:
    assert all(judged(drawn(150, 3.0, seed)).reliability_tier == "VALIDATED" for seed in range(20))


def test_returns_that_never_change_allow_no_probability() -> None:
    found = judged([1.5] * 120)
    assert (found.reliability_tier, found.confidence, found.validations.sharpe) == ("PRELIMINARY", None, None)
    assert found.message == (
        "120 of 120 closed out-of-sample trades of BTC by trend-following were profitable, with a mean return of +1.5 "
        "percent after costs and funding, and the deflated Sharpe probability cannot be computed, because "
        "all returns are the same; VALIDATED needs 100 trades and 0.95."
    )


@pytest.mark.promise("quality.message")
def test_the_message_of_a_record_tells_its_counts() -> None:
    assert judged([1.0, -0.5, 0.0]).message == (
        "Too few closed out-of-sample trades of BTC by trend-following to judge: 3 of the 30 that are needed."
    )
    assert judged([1.0, -0.5, 0.0]).validations.wins == 1
    returns = drawn(40, 0.5)
    found = judged(returns)
    assert found.message == (
        f"{sum(one > 0 for one in returns)} of 40 closed out-of-sample trades of BTC by trend-following were "
        f"profitable, with a mean return of {statistics.fmean(returns):+.4f} percent after costs and funding, and the "
        f"deflated Sharpe probability is {found.confidence:g}; VALIDATED needs 100 trades and 0.95."
    )


@pytest.mark.promise("quality.types")
def test_mean_reversion_is_no_strategy_of_the_engine_and_the_message_says_so() -> None:
    found = judged(drawn(200, 9.0), "mean_reversion")
    assert (found.reliability_tier, found.confidence, found.validations.sampleSize) == ("INSUFFICIENT_DATA", None, 0)
    assert (found.signal_type, found.validations.strategy) == ("mean_reversion", None)
    assert found.message == (
        "No mean-reversion strategy is run, so there is no record of one; the strategies are trend-following, "
        "cross-sectional-momentum, funding-reversion."
    )


@pytest.mark.promise("quality.types")
def test_the_types_are_the_strategies_and_the_default_of_clients() -> None:
    assert set(get_args(StrategyType)) == {"mean_reversion", *get_args(Strategy)}


@pytest.mark.promise("quality.no-trades")
def test_a_coin_without_trades_is_told_as_one_that_may_be_outside_the_universe() -> None:
    found = judge_trades_of(run_of(drawn(40, 1.0)), "ACE", "trend-following")
    assert (found.reliability_tier, found.confidence) == ("INSUFFICIENT_DATA", None)
    assert found.validations == SignalValidations(
        "trend-following", 0, 0, None, None, None, None, TRIALS, date(TODAY - 200), date(TODAY - 1)
    )
    assert found.message == (
        "The walk-forward closed no out-of-sample trade of ACE by trend-following; ACE may be outside its universe of "
        "the most traded coins."
    )


@pytest.mark.promise("quality.no-trades")
def test_a_strategy_that_the_leakage_checks_refused_is_named_as_refused() -> None:
    told = unpack_run(1, pack_run(made(told=summary("funding-reversion")), TODAY - 1))
    assert judge_trades_of(told, "BTC", "funding-reversion").message == (
        "The leakage checks of the walk-forward refused funding-reversion, so its trades are not counted."
    )
    assert "may be outside its universe" in judge_trades_of(told, "BTC", "trend-following").message


@pytest.mark.promise("quality.no-trades")
def test_a_run_over_too_short_a_history_says_so_in_its_own_words() -> None:
    told = unpack_run(1, pack_run(made(message="Nothing was walked: 3 days are recorded."), TODAY - 1))
    found = judge_trades_of(told, "BTC", "trend-following")
    assert found.message == "Nothing was walked: 3 days are recorded."
    assert found.validations == SignalValidations("trend-following", 0, 0, None, None, None, None, None, None, None)
