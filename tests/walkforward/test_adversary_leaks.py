"""Leaks that are small, and books that are embellished: none of them passes the gate."""

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

from service.analytics.backtest.strategies import STRATEGIES
from service.walkforward import gate
from service.walkforward.parameters import Parameters
from service.walkforward.records import GateCheck
from service.walkforward.walk import Simulate, prepare
from tests.walkforward.cheats import at_the_last_close, bolder, cheats, free, losers_dropped
from tests.walkforward.leaks import ground, market, strategy, trailing
from tests.walkforward.test_gate import failed, findings

EDGE: set[GateCheck] = {"sign-flip-surrogates"}


@pytest.fixture(autouse=True)
def _a_quicker_gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What these cheats have in common is that chance hides them from everything that is drawn."""
    monkeypatch.setattr(gate, "SURROGATES", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # cheats do not look where a market has no bar
        yield


@pytest.mark.slow
@pytest.mark.parametrize("name", cheats())
def test_a_leak_is_caught_however_small_it_is(name: str) -> None:
    assert "truncation" in failed(findings(cheats()[name], ground(market(500))))


def test_the_rule_that_the_leaks_are_hidden_in_is_honest() -> None:
    assert failed(findings(strategy(trailing), ground(market(500)))) <= EDGE


@pytest.mark.slow
@pytest.mark.parametrize("cheat", [losers_dropped, free, bolder, at_the_last_close])
def test_a_book_that_is_not_what_the_plan_brought_at_its_costs_is_caught(cheat: Simulate) -> None:
    assert "fills" in failed(findings(strategy(trailing), ground(market(500), cheat)))


def test_a_strategy_that_holds_for_longer_than_is_purged_is_caught() -> None:
    found = findings(strategy(trailing)._replace(horizon_days=7), ground(market(500)))
    assert failed(found) - EDGE == {"purge"}
    assert "longer than the 7 purged" in found["purge"].figures


@pytest.mark.slow
@pytest.mark.parametrize("days", [366, 368])
def test_the_first_days_after_a_year_of_training_are_no_reason_to_refuse(
    days: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "CUT_EVERY", 40)
    tape = market(1, 400).until(days)
    over = prepare(tape, Parameters())
    assert {of.name: failed(findings(of, over)) - EDGE for of in STRATEGIES} == {of.name: set() for of in STRATEGIES}


def test_a_price_that_multiplies_by_a_billion_is_no_reason_to_refuse() -> None:
    tape = market(500)
    times = np.ones(tape.close.shape)
    times[:, 0] = np.where(np.arange(len(times)) % 40 < 20, 1e-9, 1.0)
    wild = tape._replace(open=tape.open * times, high=tape.high * times, low=tape.low * times, close=tape.close * times)
    assert "fills" not in failed(findings(strategy(trailing), ground(wild)))
