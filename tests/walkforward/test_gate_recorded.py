"""The gate over whole markets: the service's strategies pass on the recordings and on the bundled ones, leaks do not.

With fewer surrogates than the service asks for, because each costs a tenth of a second here.
"""

from pathlib import Path

import pytest

from service.analytics.backtest.simulation import simulate
from service.clock import DAY_MS
from service.walkforward import gate
from service.walkforward.engine import run_walkforward, walk_strategies
from service.walkforward.histories import read_recordings
from service.walkforward.parameters import Parameters, WalkforwardRequest
from service.walkforward.walk import Simulate, prepare
from tests.analytics.backtest.tapes import recorded
from tests.market.recordings import DATA, needs_recordings
from tests.walkforward.leaks import Sides, at_close, centred, same_bar, scaled, strategy, trailing

BUNDLED = Path(__file__).resolve().parents[2] / "fixtures" / "upstream" / "hyperliquid"
FOLDERS = [
    pytest.param(BUNDLED, 85, id="bundled"),
    pytest.param(
        DATA / "hyperliquid", 116, marks=[pytest.mark.soak, pytest.mark.recorded, needs_recordings], id="recorded"
    ),
]


@pytest.fixture(autouse=True)
def _a_quicker_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "SURROGATES", 4)
    monkeypatch.setattr(gate, "CUT_EVERY", 60)


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "coins"), FOLDERS)
def test_the_strategies_of_the_service_pass_over_a_whole_market(folder: Path, coins: int) -> None:
    histories = read_recordings(folder, 2**45)
    last_day = max(history.bars[-1][0] for history in histories)
    told = run_walkforward(WalkforwardRequest((last_day + 1) * DAY_MS, Parameters(), histories), lambda *_: None)
    assert [finding for finding in told.findings if not finding.held] == []
    assert told.summary is not None
    assert told.summary.trials == 3 * 6 * 9
    assert told.summary.coins == coins
    assert all(one.total > 100 for one in told.summary.strategies)


@pytest.mark.recorded
@needs_recordings
@pytest.mark.parametrize("sides", [centred, scaled])
def test_a_plan_that_knows_later_days_is_refused_over_the_recordings(sides: Sides) -> None:
    assert "truncation: " in walked(sides, simulate)


@pytest.mark.recorded
@needs_recordings
@pytest.mark.parametrize("simulator", [same_bar, at_close])
def test_fills_that_nobody_could_have_had_are_refused_over_the_recordings(simulator: Simulate) -> None:
    assert "fills: " in walked(trailing, simulator)


def walked(sides: Sides, simulator: Simulate) -> str:
    """Why a strategy is refused."""
    tape, _ = recorded()
    ground = prepare(tape, Parameters(), simulator)
    closes_ms = (tape.first_day + ground.rows) * DAY_MS
    summary = walk_strategies([strategy(sides)], ground, closes_ms, lambda *_: None).summary
    assert summary is not None
    return str(summary.strategies[1].refused)
