"""What each strategy wants, and of whom it may want it, is what its published words say, every day."""

import math
import random
from collections import defaultdict
from collections.abc import Callable, Mapping

import pytest

from service.analytics.backtest.strategies import STRATEGIES
from service.analytics.backtest.universe import tradable
from tests.walkforward.reference_bars import History, bundled
from tests.walkforward.reference_plans import RULES, Rule, universe
from tests.walkforward.reference_tables import decisions_of, tape_of
from tests.walkforward.reference_trading import Decision


def riddled() -> History:
    """Some of the bundled coins, with one day in forty and whole weeks of payments missing."""
    dice = random.Random(4)  # noqa: S311 - which days, not secrets
    whole = bundled().only(*sorted(bundled().bars)[::5])
    return History(
        {coin: {day: bar for day, bar in bars.items() if dice.random() > 1 / 40} for coin, bars in whole.bars.items()},
        {
            coin: {
                day: (dice.random() - 0.4) ** 3 / 40 for day in whole.days if day // 7 % 9 and dice.random() > 1 / 20
            }
            for coin in whole.bars
        },
    )


MARKETS = [pytest.param(bundled, id="bundled"), pytest.param(riddled, id="riddled")]


@pytest.mark.slow
@pytest.mark.parametrize("market", MARKETS)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_strategy_wants_what_its_words_say(market: Callable[[], History], rule: Rule) -> None:
    history = market()
    strategy = next(one for one in STRATEGIES if one.name == rule.name)
    sets = [tuple(parameters[name] for name in rule.parameters) for parameters in strategy.grid]
    assert (sets, strategy.horizon_days) == (rule.grid, rule.horizon)

    tape = tape_of(history)
    may, own = tradable(tape, 50), universe(history)
    told = [{coin for coin, flag in zip(tape.coins, row, strict=True) if flag} for row in may.tolist()]
    assert told == [own[day] for day in history.days]

    for parameters in strategy.grid[::8]:
        theirs = decisions_of(history, strategy.plan(tape, may, parameters))
        plan = rule.plan(history, own, *(parameters[name] for name in rule.parameters))
        expected = {(coin, day): decision for coin, days in plan.items() for day, decision in days.items()}
        assert len(expected) > 300
        assert theirs.keys() == expected.keys()
        assert _most_at_once(theirs) < 1 + 1e-9
        assert [key for key, told in theirs.items() if not same(told, expected[key])] == []


def same(told: Decision, expected: Decision) -> bool:
    figures = (told.weight, told.score, told.stop), (expected.weight, expected.score, expected.stop)
    return (told.side, told.reason) == (expected.side, expected.reason) and all(
        (one is None) == (other is None) and (one is None or math.isclose(one, other or 0, rel_tol=1e-9))
        for one, other in zip(*figures, strict=True)
    )


def _most_at_once(decisions: Mapping[tuple[str, int], Decision]) -> float:
    """The largest share of the capital that one day's decisions ask for together."""
    of_day: dict[int, float] = defaultdict(float)
    for (_, day), decision in decisions.items():
        of_day[day] += decision.weight
    return max(of_day.values())
