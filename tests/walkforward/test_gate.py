"""The leakage gate: what cheats is caught by the check that is meant to, and what does not cheat passes."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from service.analytics.backtest.book import BacktestBook
from service.analytics.backtest.inspection import SurrogateEdge
from service.analytics.backtest.plan import Strategy, TradingPlan
from service.analytics.backtest.strategies import STRATEGIES
from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Flags, Floats
from service.clock import DAY_MS
from service.walkforward import gate
from service.walkforward.engine import walk_strategies
from service.walkforward.gate import check_strategy
from service.walkforward.records import GateCheck, GateFinding
from service.walkforward.walk import Simulate, WalkContext, WalkedFold, walk_strategy
from tests.walkforward.leaks import (
    DAYS,
    HORIZON,
    PARAMETERS,
    a_day_early,
    at_close,
    centred,
    embellished,
    ground,
    market,
    same_bar,
    scaled,
    strategy,
    trailing,
    unpurged,
    wanting,
)

SURROGATES = gate.SURROGATES


@pytest.fixture(autouse=True)
def quicker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Days of chance cost most of a gate: all of them are drawn only where they are what is looked at."""
    monkeypatch.setattr(gate, "SURROGATES", 8)


@pytest.fixture
def whole(quicker: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate as the service has it."""
    monkeypatch.setattr(gate, "SURROGATES", SURROGATES)


def findings(
    of: Strategy, over: WalkContext | None = None, walked: Sequence[WalkedFold] | None = None, seed: str = "seed"
) -> dict[GateCheck, GateFinding]:
    over = over or ground()
    closed_ms = (over.tape.first_day + over.rows) * DAY_MS
    walked = walk_strategy(of, over, lambda: None) if walked is None else walked
    return {found.check: found for found in check_strategy(of, walked, over, closed_ms, seed, lambda: None)}


def failed(found: dict[GateCheck, GateFinding]) -> set[GateCheck]:
    return {check for check, finding in found.items() if not finding.held}


@pytest.mark.parametrize(("errors", "held"), [(-4.1, False), (-4.0, True), (4.0, True), (4.1, False)])
def test_to_lose_by_knowing_is_as_suspect_as_to_win(monkeypatch: pytest.MonkeyPatch, errors: float, held: bool) -> None:
    monkeypatch.setattr(gate, "SURROGATES", 1)
    monkeypatch.setattr(gate, "surrogate_edge", lambda _: SurrogateEdge(errors, errors, 100))
    over = ground()
    walked = walk_strategy(strategy(trailing), over, lambda: None)
    assert gate._sign_flip_surrogates(strategy(trailing), walked, over, "seed", lambda: None)[0] is held


@pytest.mark.usefixtures("whole")
def test_an_honest_strategy_passes_every_check() -> None:
    found = findings(strategy(trailing))
    assert list(found) == [
        "truncation", "shifted-features", "sign-flip-surrogates", "purge", "fills", "open-bar",
    ]  # fmt: skip
    assert not failed(found)
    assert all(finding.figures for finding in found.values())


def pass_on_random_walks(seed: int) -> None:
    over = ground(market(seed))
    assert {one.name: failed(findings(one, over)) for one in STRATEGIES} == {one.name: set() for one in STRATEGIES}


@pytest.mark.slow
def test_the_strategies_of_the_service_pass_on_a_random_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "CUT_EVERY", 8)
    pass_on_random_walks(100)


@pytest.mark.soak
@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("seed", range(100, 103))
def test_the_strategies_of_the_service_pass_on_random_walks(seed: int) -> None:
    pass_on_random_walks(seed)


@pytest.mark.slow
@pytest.mark.usefixtures("whole")
def test_a_centred_window_is_caught_by_shortened_tapes_and_by_days_that_nobody_can_foresee() -> None:
    found = findings(strategy(centred))
    assert failed(found) >= {"truncation", "sign-flip-surrogates"}
    assert "shortened tapes give another plan" in found["truncation"].figures


@pytest.mark.usefixtures("whole")
def test_a_scaler_of_the_full_sample_is_caught_by_shortened_tapes_and_by_days_that_nobody_can_foresee() -> None:
    assert failed(findings(strategy(scaled))) >= {"truncation", "sign-flip-surrogates"}


@pytest.mark.slow
@pytest.mark.parametrize("cheat", [same_bar, at_close, a_day_early])
def test_a_fill_on_the_bar_that_decided_is_caught_by_the_prices_of_the_fills(cheat: Simulate) -> None:
    found = findings(strategy(trailing), ground(simulator=cheat))
    assert "fills" in failed(found)
    assert "not filled at the open after their decision" in found["fills"].figures


@pytest.mark.slow
@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("cheat", [same_bar, a_day_early])
def test_a_fill_on_the_bar_that_decided_earns_on_days_that_nobody_can_foresee(cheat: Simulate) -> None:
    assert "sign-flip-surrogates" in failed(findings(strategy(trailing), ground(simulator=cheat)))


def test_days_that_the_positions_did_not_bring_are_caught() -> None:
    found = findings(strategy(trailing), ground(simulator=embellished))
    assert "of the equity" in found["fills"].figures
    assert not found["fills"].held


def test_training_that_ignores_the_purge_is_caught() -> None:
    found = findings(strategy(trailing), ground(simulator=unpurged))
    assert failed(found) == {"purge"}
    assert "should have been left out" in found["purge"].figures


@pytest.mark.slow
@pytest.mark.parametrize("row", [150 - HORIZON - 1, 149])
def test_a_training_row_within_the_purge_is_caught(row: int) -> None:
    assert failed(with_training_row(0, row)) == {"purge"}


@pytest.mark.slow
def test_a_training_row_older_than_a_rolling_window_is_caught() -> None:
    rolling = ground(parameters=replace(PARAMETERS, scheme="rolling"))
    assert not failed(findings(strategy(trailing), rolling))
    assert failed(with_training_row(2, 119, rolling)) == {"purge"}


def with_training_row(fold: int, row: int, over: WalkContext | None = None) -> dict[GateCheck, GateFinding]:
    over = over or ground()
    of = strategy(trailing)
    walked = walk_strategy(of, over, lambda: None)
    rows = walked[fold].training.rows.copy()
    assert not rows[row]
    rows[row] = True
    walked[fold] = walked[fold]._replace(training=walked[fold].training._replace(rows=rows))
    return findings(of, over, walked)


@pytest.mark.slow
@pytest.mark.parametrize("admitted", [True, False])
def test_parameters_chosen_by_the_fold_itself_are_caught(*, admitted: bool) -> None:
    of, over = strategy(trailing, 3, 5, 8), ground()
    walked = walk_strategy(of, over, lambda: None)
    other = (walked[1].training.chosen + 1) % 3
    plan = of.plan(over.tape, over.universe, of.grid[other])
    book = over.simulate(over.tape, plan, walked[1].fold.begin, walked[1].fold.end, over.costs, None)
    training = walked[1].training._replace(chosen=other) if admitted else walked[1].training
    walked[1] = walked[1]._replace(training=training, chosen=of.grid[other], plan=plan, book=book)
    found = findings(of, over, walked)
    assert failed(found) == {"purge"}
    assert "choice of fold 2" in found["purge"].figures


def test_training_figures_that_saw_more_than_their_days_are_caught() -> None:
    of, over = strategy(trailing), ground()
    walked = walk_strategy(of, over, lambda: None)
    training = walked[0].training
    known = [None if ratio is None else ratio + 1e-6 for ratio in training.sharpes]
    walked[0] = walked[0]._replace(training=training._replace(sharpes=tuple(known)))
    assert failed(findings(of, over, walked)) == {"purge"}


def test_a_rule_that_wants_the_same_whatever_it_knows_is_refused() -> None:
    def plan(tape: MarketTape, _universe: Flags, _parameters: Mapping[str, float]) -> TradingPlan:
        return wanting(np.where(np.arange(len(tape.coins)) == 0, 1.0, 0.0) * np.ones(tape.close.shape))

    found = findings(Strategy("trend-following", HORIZON, ({},), plan))
    assert failed(found) == {"shifted-features", "purge"}
    assert "changes nothing" in found["shifted-features"].figures


def test_a_strategy_that_decides_nothing_has_nothing_to_hide() -> None:
    found = findings(strategy(lambda tape, _: np.zeros_like(tape.close)))
    assert not failed(found)
    assert found["shifted-features"].figures == "nothing was decided, so nothing can have been foreseen"
    assert found["sign-flip-surrogates"].figures.endswith("tapes, so nothing can have been foreseen")


def bold(tape: MarketTape, universe: Flags, parameters: Mapping[str, float]) -> TradingPlan:
    """The honest rule with thirty times the money."""
    plan = strategy(trailing).plan(tape, universe, parameters)
    return plan._replace(weight=plan.weight * 30)


def test_a_strategy_that_lost_its_equity_trades_nothing_in_later_folds_and_passes() -> None:
    of, over = Strategy("trend-following", HORIZON, ({"span": 3},), bold), ground()
    walked = walk_strategy(of, over, lambda: None)
    first, *later = [tested.book for tested in walked]
    assert first.lost_on is not None
    assert len(first.trades.coin) > 0
    assert first.trades.entry.max() <= walked[0].fold.begin + first.lost_on < first.trades.exit.max()
    for book in later:
        assert [book.trades.coin.size, book.open.coin.size, book.signals.row.size, book.position_days] == [0] * 4
        assert not any(days.any() for days in (book.net, book.exposure, book.turnover))
    assert "fills" not in failed(findings(of, over, walked))
    walked[1] = walked[1]._replace(
        book=over.simulate(over.tape, walked[1].plan, *walked[1].fold[1:3], over.costs, None)
    )
    assert "fills" in failed(findings(of, over, walked))
    told = walk_strategies([of], over, (over.tape.first_day + over.rows) * DAY_MS, lambda *_: None)
    assert "fills" not in {finding.check for finding in told.findings if not finding.held}


def test_a_book_that_says_its_equity_was_lost_to_hide_trades_is_caught() -> None:
    def hiding(
        tape: MarketTape, plan: TradingPlan, start: int, end: int, costs: Floats, allowed: Flags | None
    ) -> BacktestBook:
        held = np.ones(len(tape.open), np.bool_) if allowed is None else allowed.copy()
        held[start + 20 :] = False
        book = over.simulate(tape, plan, start, end, costs, held)
        net = book.net.copy()
        net[20] = -1.0
        return book._replace(net=net)

    of, over = strategy(trailing), ground(parameters=replace(PARAMETERS, test_days=DAYS))
    (only,) = walk_strategy(of, over._replace(simulate=hiding), lambda: None)
    assert "of the equity" in findings(of, over, [only])["fills"].figures


def test_a_bar_that_is_still_open_is_caught() -> None:
    of, over = strategy(trailing), ground()
    closes_ms = (over.tape.first_day + over.rows) * DAY_MS
    walked = walk_strategy(of, over, lambda: None)
    early = {found.check: found for found in check_strategy(of, walked, over, closes_ms - 1, "seed", lambda: None)}
    assert failed(early) == {"open-bar"}


@pytest.mark.slow
def test_the_same_seed_finds_the_same_and_every_step_is_reported() -> None:
    of, over = strategy(trailing), ground()
    walked = walk_strategy(of, over, lambda: None)
    steps: list[int] = []
    again = check_strategy(of, walked, over, 0, "seed", lambda: steps.append(1))
    assert again == check_strategy(of, walked, over, 0, "seed", lambda: None)
    assert again != check_strategy(of, walked, over, 0, "another", lambda: None)
    assert len(steps) == gate.step_count(over.rows, len(walked), len(of.grid))
