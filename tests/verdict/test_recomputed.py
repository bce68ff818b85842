"""Verdicts of the past are those that would have been given: nothing later is read, and the same rules apply."""

import random
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analytics.market import MarketAnalytics
from service.analytics.recomputed import DayInputs, FundingDays, judge_inputs, recompute
from service.analytics.states import UNKNOWN
from service.clock import DAY_MS, iso
from service.market.symbols import canonical
from service.verdict.decide import decide
from service.verdict.recompute import plain_rules
from service.verdict.ruleset import VERSION_1, VERSION_2, RuleSet
from service.wire.verdict import FundingFacts, RegimeFacts, RiskFacts, Sources, VerdictInputs, VerdictRaw
from tests.analytics.histories import COINS, History, markets, until
from tests.market.recordings import funding, needs_recordings
from tests.verdict import recorded_days

VERSIONS = [pytest.param(VERSION_1, id="version 1"), pytest.param(VERSION_2, id="version 2")]


def paid(seed: int, days: int) -> Mapping[str, FundingDays]:
    """Payments of every coin but one; now and then a day without."""
    dice = random.Random(seed)  # noqa: S311 - rates, not secrets
    made = {}
    for coin in COINS[1:]:
        on = [day for day in range(days) if dice.random() < 0.97]
        hours = [float(dice.choice([1, 23, 24, 24, 24])) for _ in on]
        rates = [dice.gauss(0.00001, 0.00004) for _ in on]
        made[coin] = FundingDays(on, [rate * over for rate, over in zip(rates, hours, strict=True)], hours, rates)
    return made


@settings(max_examples=15, deadline=None)
@given(markets(), st.integers(0, 99), st.integers(40, 259))
def test_what_was_known_on_a_day_is_what_is_told_when_the_bars_end_there(history: History, seed: int, day: int) -> None:
    funding = paid(seed, 260)
    whole = recompute(MarketAnalytics(history), funding)
    then = MarketAnalytics(until(history, day + 1))
    row = day - whole.first_day
    assessed, regimes, market = then.assessments(), then.coin_regimes(), then.regime()
    for column, coin in enumerate(whole.coins):
        if np.isnan(whole.closes[row, column]) or then.panel.last_day != day:
            assert all(table.codes[row, column] == UNKNOWN for table in whole.states.values())
            continue
        told = assessed[coin]
        through = told.through_ms == (day + 1) * DAY_MS
        assert _name(whole, "risk.trend_daily", row, column) == (told.daily.state if through and told.daily else None)
        assert _name(whole, "risk.trend_weekly", row, column) == (told.weekly.state if told.weekly else None)
        assert _name(whole, "regime.market", row, column) == (market.regime if market else None)
        assert _name(whole, "regime.coin", row, column) == (regimes[coin].regime if coin in regimes else None)


def _name(inputs: DayInputs, path: str, row: int, column: int) -> str | None:
    states = inputs.states[path]
    return states.names.get(int(states.codes[row, column]))


@needs_recordings
@pytest.mark.recorded
@pytest.mark.promise("claims.point-in-time")
def test_means_of_funding_are_those_of_the_payments_until_the_end_of_the_day() -> None:
    inputs = recorded_days.inputs()
    for coin in ("BTC", "SOL", "kPEPE"):
        column = inputs.coins.index(canonical(coin))
        payments = [(row["time"], float(row["fundingRate"])) for row in funding(coin)]
        for row in random.Random(4).sample(range(len(inputs.closes)), 60):  # noqa: S311 - rows, not secrets
            end = (inputs.first_day + row + 1) * DAY_MS
            told = [float(inputs.figures[path][row, column]) for path in ("funding.apr_24h", "funding.apr_7d")]
            for days, mean in zip((1, 7), told, strict=True):
                rates = [rate for at, rate in payments if end - days * DAY_MS < at <= end]
                of_day = sum(end - DAY_MS < at <= end for at, _ in payments)
                if np.isnan(inputs.closes[row, column]) or of_day < 23 or len(rates) < 23 * days:
                    assert np.isnan(mean)
                else:
                    assert mean == pytest.approx(sum(rates) / len(rates) * 8_760 * 100, abs=0.00006)


@needs_recordings
@pytest.mark.recorded
@pytest.mark.parametrize("rules", VERSIONS)
def test_recomputed_verdicts_are_those_that_the_service_would_give(rules: RuleSet) -> None:
    _compare(recorded_days.inputs(), rules, 4_000)


@pytest.mark.slow
@given(markets(), st.integers(0, 99))
@settings(max_examples=8, deadline=None)
@pytest.mark.parametrize("rules", VERSIONS)
def test_of_made_up_markets_too(rules: RuleSet, history: History, seed: int) -> None:
    _compare(recompute(MarketAnalytics(history), paid(seed, 260)), rules, 300)


def _compare(inputs: DayInputs, rules: RuleSet, samples: int) -> None:
    judged = judge_inputs(inputs, plain_rules(rules))
    dice = random.Random(1)  # noqa: S311 - rows, not secrets
    for _ in range(samples):
        row, column = dice.randrange(len(inputs.closes)), dice.randrange(len(inputs.coins))
        verdict = decide(_inputs(inputs, row, column), rules)
        at = int(judged.verdict[row, column])
        assert verdict.verdict == ("insufficient-evidence" if at < 0 else rules.tables.grades[at].verdict)
        if at >= 0:
            assert verdict.score == judged.score[row, column] == judged.groups[:, row, column].sum()
        else:
            assert np.isnan(judged.score[row, column])


def _inputs(inputs: DayInputs, row: int, column: int) -> VerdictInputs:
    """The same as a verdict takes it."""
    close = float(inputs.closes[row, column])
    figures = {path: float(table[row, column]) for path, table in inputs.figures.items()}
    at = iso((inputs.first_day + row + 1) * DAY_MS)
    daily, weekly, market, coin = (_name(inputs, path, row, column) for path in inputs.states)
    risk = RiskFacts(
        observed_at=at,
        price=None if np.isnan(close) else close,
        funding_apr=None if np.isnan(figures["risk.funding_apr"]) else figures["risk.funding_apr"],
        charted_at=at,
        trend_daily=daily,  # type: ignore[arg-type]  # names of states are what they are
        trend_weekly=weekly,  # type: ignore[arg-type]  # as above
        btc_correlation=None,
        stale_fields=[],
    )
    paid_day, paid_week = figures["funding.apr_24h"], figures["funding.apr_7d"]
    known = not np.isnan(paid_day)
    return VerdictInputs(
        inputs.coins[column],
        at,
        Sources("fulfilled", "fulfilled" if known else "rejected", "fulfilled", "rejected"),
        VerdictRaw(
            risk,
            FundingFacts(at, paid_day, None if np.isnan(paid_week) else paid_week, None, 720) if known else None,
            RegimeFacts(at, market, coin, None if coin is None else 0.5),  # type: ignore[arg-type]  # as above
            None,
        ),
    )
