"""A run as a whole: what it tells follows from what it walked, and the same request gives the same bytes."""

from functools import cache
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from service.analytics.backtest import trend_following
from service.analytics.backtest.plan import Strategy
from service.analytics.backtest.simulation import simulate
from service.analytics.backtest.strategies import STRATEGIES
from service.analytics.backtest.tape import MarketTape
from service.analytics.costs import standard
from service.clock import DAY_MS
from service.walkforward import gate
from service.walkforward.engine import hash_parameters, run_walkforward, walk_strategies
from service.walkforward.parameters import ENGINE, CoinHistoryInput, Parameters, WalkforwardRequest
from service.walkforward.records import WalkforwardRun
from service.walkforward.summary import LEAST_DAYS
from service.walkforward.walk import back_test, best_index, walk_strategy
from service.wire.walkforward import WalkforwardOutcome, WalkforwardPosition
from tests.walkforward.leaks import PARAMETERS, centred, ground, market, strategy, trailing

TAPE = market(8)
LAST = TAPE.first_day + len(TAPE.close) - 1
NOW_MS = (LAST + 1) * DAY_MS + 60_000


@pytest.fixture(autouse=True, scope="module")
def _a_quicker_gate() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "SURROGATES", 6)
        patch.setattr(gate, "CUT_EVERY", 60)
        yield


def histories(tape: MarketTape) -> list[CoinHistoryInput]:
    told = []
    for column, coin in enumerate(tape.coins):
        rows = np.flatnonzero(~np.isnan(tape.close[:, column]))
        prices = [table[rows, column].tolist() for table in (tape.open, tape.high, tape.low, tape.close, tape.volume)]
        days = (rows + tape.first_day).tolist()
        known = np.flatnonzero(~np.isnan(tape.funding[:, column]))
        paid = zip((known + tape.first_day).tolist(), tape.funding[known, column].tolist(), strict=True)
        told.append(CoinHistoryInput(coin, list(zip(days, *prices, strict=True)), list(paid)))
    return told


def request(tape: MarketTape = TAPE, parameters: Parameters = PARAMETERS) -> WalkforwardRequest:
    return WalkforwardRequest(NOW_MS, parameters, histories(tape))


@cache
def ran() -> tuple[WalkforwardRun, list[tuple[int, int]]]:
    steps: list[tuple[int, int]] = []
    return run_walkforward(request(), lambda done, total: steps.append((done, total))), steps


@pytest.mark.slow
def test_the_same_request_gives_the_same_bytes_in_any_order_and_over_the_border_of_a_process() -> None:
    first, _ = ran()
    asked = request()
    shuffled = replace(asked, histories=asked.histories[::-1])
    sent = msgspec.msgpack.decode(msgspec.msgpack.encode(shuffled), type=WalkforwardRequest)
    again = msgspec.msgpack.encode(run_walkforward(sent, lambda *_: None))
    assert again == msgspec.msgpack.encode(first)
    assert msgspec.msgpack.decode(again, type=WalkforwardRun) == first


def test_a_run_is_known_by_its_tape_and_its_parameters_and_not_by_when_it_ran() -> None:
    first, _ = ran()
    bare = [strategy(trailing)]
    one = walk_strategies(bare, ground(), NOW_MS, lambda *_: None)
    later = walk_strategies(bare, ground(), NOW_MS + 5, lambda *_: None)
    dearer = walk_strategies(bare, ground(parameters=replace(PARAMETERS, fee_bps=9.0)), NOW_MS, lambda *_: None)
    other = walk_strategies(bare, ground(market(9)), NOW_MS, lambda *_: None)
    assert (later.run_id, later.ran_at != one.ran_at) == (one.run_id, True)
    assert len({run_walkforward.run_id for run_walkforward in (first, one, dearer, other)}) == 4
    assert one.parameters_hash == other.parameters_hash != dearer.parameters_hash
    assert len({one.tape_digest, dearer.tape_digest, other.tape_digest}) == 2
    assert first.engine == ENGINE


def test_parameters_are_known_by_everything_that_a_run_depends_on() -> None:
    grids = [STRATEGIES, STRATEGIES[::-1], [one._replace(grid=one.grid[:-1]) for one in STRATEGIES]]
    horizons = [one._replace(horizon_days=one.horizon_days + 1) for one in STRATEGIES]
    assert len({hash_parameters(some, PARAMETERS) for some in [*grids, horizons]}) == 4
    assert hash_parameters(STRATEGIES, PARAMETERS) != hash_parameters(STRATEGIES, replace(PARAMETERS, fee_bps=6.0))


def test_every_step_is_reported_from_none_to_all() -> None:
    _, steps = ran()
    assert [done for done, _ in steps] == list(range(len(steps)))
    assert {total for _, total in steps} == {len(steps) - 1}


def test_records_are_newest_first_and_of_the_tested_days() -> None:
    told, _ = ran()
    assert told.summary is not None
    for days in (
        [signal.scanDate for signal in told.signals],
        [position.entryDate for position in told.positions],
        [outcome.exitDate for outcome in told.outcomes],
    ):
        assert days
        assert all(newer >= older for newer, older in pairwise(days))
        assert told.summary.firstDay <= days[-1] <= days[0] <= told.summary.lastDay


def test_a_signal_its_position_and_its_outcome_share_an_id_that_is_nobody_elses() -> None:
    told, _ = ran()
    signals = {signal.id: signal for signal in told.signals}
    assert len(signals) == len(told.signals)
    entered: list[WalkforwardPosition | WalkforwardOutcome] = [*told.positions, *told.outcomes]
    assert {record.id for record in entered} == {
        key for key, signal in signals.items() if signal.entryPrice is not None
    }
    assert len(entered) == len({record.id for record in entered})
    for record in entered:
        signal = signals[record.id]
        assert (signal.symbol, signal.direction, signal.strategy, signal.fold, signal.entryPrice) == (
            record.symbol, record.direction, record.strategy, record.fold, record.entryPrice,
        )  # fmt: skip
        assert signal.scanDate < record.entryDate
        assert signal.score is not None


def test_positions_are_valued_at_the_last_close_and_outcomes_at_their_exits() -> None:
    told, _ = ran()
    for position in told.positions:
        price = position.currentPrice
        assert price is not None
        assert price == TAPE.close[-1, TAPE.coins.index(position.symbol)]
        side = 1 if position.direction == "long" else -1
        moved = side * (price / position.entryPrice - 1) * 100
        assert position.unrealizedPct == pytest.approx(moved, abs=1e-4)
        assert position.fold == len({fold.fold for fold in told.folds})
    for outcome in told.outcomes:
        side = 1 if outcome.direction == "long" else -1
        moved = side * (outcome.exitPrice / outcome.entryPrice - 1) * 100
        assert outcome.returnPct == pytest.approx(moved + outcome.fundingPct - outcome.costPct, abs=2e-4)
        assert outcome.holdDays > 0
    assert any(position.stop for position in told.positions if position.strategy == "trend-following")
    assert all(position.stop is None for position in told.positions if position.strategy != "trend-following")


def test_a_decision_of_the_last_day_has_no_price_yet() -> None:
    always = strategy(lambda tape, _: np.where(np.arange(len(tape.close)) < len(tape.close) - 1, 1.0, -1.0)[:, None])
    told = walk_strategies([always], ground(), NOW_MS, lambda *_: None)
    assert not told.signals  # that rule knows when the tape ends, and is refused
    assert told.summary is not None
    assert told.summary.strategies[1].refused is not None
    first, _ = ran()
    coming = [signal for signal in first.signals if signal.entryPrice is None]
    assert all(signal.scanDate == first.folds[-1].tested[1] for signal in coming)


def test_folds_tell_how_they_were_trained() -> None:
    told, _ = ran()
    assert [(fold.strategy, fold.fold) for fold in told.folds] == [
        (one.name, number) for one in STRATEGIES for number in (1, 2, 3)
    ]
    for fold, one in zip(told.folds, [one for one in STRATEGIES for _ in range(3)], strict=True):
        assert fold.chosen in one.grid
        assert fold.trials == len(one.grid)
        assert fold.trained[-1][1] < fold.tested[0] <= fold.tested[1]


def test_the_summary_counts_what_is_told() -> None:
    told, _ = ran()
    summary = told.summary
    assert summary is not None
    assert (summary.total, summary.wins) == (len(told.outcomes), sum(one.returnPct > 0 for one in told.outcomes))
    assert summary.total == summary.wins + summary.losses
    assert [one.strategy for one in summary.strategies] == ["all", *(one.name for one in STRATEGIES)]
    assert all(one.published for one in summary.strategies)
    assert sum(one.total for one in summary.strategies[1:]) == summary.total
    assert summary.trials == sum(fold.trials for fold in told.folds)
    assert {one.trials for one in summary.strategies} == {summary.trials}
    assert (summary.folds, summary.coins) == (3, len(TAPE.coins))
    mean = sum(one.returnPct for one in told.outcomes) / summary.total
    assert summary.meanReturnPct == pytest.approx(mean, abs=1e-4)
    assert summary.winRate == pytest.approx(summary.wins / summary.total, abs=1e-4)
    assert 0 < summary.exposure < 2
    assert told.message is None
    assert all(finding.held for finding in told.findings)
    assert len(told.findings) == 6 * len(STRATEGIES)


def test_all_together_is_a_third_of_the_capital_in_each_on_the_first_day_and_nothing_is_moved_later() -> None:
    told, _ = ran()
    assert told.summary is not None
    together, *each = told.summary.strategies
    assert together.returnPct == pytest.approx(sum(one.returnPct for one in each) / 3, abs=1e-3)
    for name in ("exposure", "turnover"):
        assert (
            min(getattr(one, name) for one in each) < getattr(together, name) < max(getattr(one, name) for one in each)
        )
    assert min(one.maxDrawdownPct for one in each) < 100
    known = [one.fundingKnown for one in each if one.fundingKnown is not None]
    assert min(known) <= (together.fundingKnown or 0) <= max(known)


def test_what_the_gate_refuses_is_not_told_but_its_trials_count() -> None:
    cheat = strategy(centred)._replace(name="cross-sectional-momentum")
    honest = strategy(trailing)
    told = walk_strategies([honest, cheat], ground(), NOW_MS, lambda *_: None)
    assert told.summary is not None
    _, one, other = told.summary.strategies
    assert one.published
    assert one.total > 0
    assert not other.published
    assert other.refused is not None
    assert other.refused.startswith("truncation: ")
    assert "; sign-flip-surrogates: " in other.refused
    assert (other.total, other.sharpe, other.returnPct) == (0, None, 0)
    assert {signal.strategy for signal in told.signals} == {"trend-following"}
    assert {outcome.strategy for outcome in told.outcomes} == {"trend-following"}
    assert {position.strategy for position in told.positions} == {"trend-following"}
    assert told.summary.total == one.total
    assert told.summary.trials == 3 * 4
    assert told.summary.returnPct == pytest.approx(one.returnPct / 2, abs=1e-3)
    assert 0 < told.summary.exposure < one.exposure
    assert {fold.strategy for fold in told.folds} == {"trend-following", "cross-sectional-momentum"}


def test_a_history_that_is_too_short_is_said_to_be_and_brings_nothing() -> None:
    steps: list[tuple[int, int]] = []
    told = run_walkforward(request(TAPE.until(150)), lambda done, total: steps.append((done, total)))
    assert told.message == "Nothing was walked: 150 days are recorded, and the first fold needs 151."
    assert (told.summary, told.signals, told.positions, told.outcomes, told.folds, told.findings) == (
        None, [], [], [], [], [],
    )  # fmt: skip
    assert steps == [(0, 0)]
    assert "0 days" in str(run_walkforward(WalkforwardRequest(0, PARAMETERS, []), lambda *_: None).message)


def test_one_day_to_test_is_a_fold() -> None:
    told = walk_strategies([strategy(trailing)], ground(TAPE.until(151)), NOW_MS, lambda *_: None)
    assert told.summary is not None
    assert (told.summary.folds, told.summary.total, told.summary.sharpe) == (1, 0, None)
    assert told.summary.firstDay == told.summary.lastDay
    assert told.summary.buyAndHold.sharpe is None
    assert all(signal.entryPrice is None for signal in told.signals)


@pytest.mark.parametrize(("days", "told"), [(LEAST_DAYS - 1, False), (LEAST_DAYS, True)])
def test_nothing_is_said_of_sharpe_ratios_before_thirty_days_were_tested(days: int, told: bool) -> None:
    summary = walk_strategies([strategy(trailing)], ground(TAPE.until(150 + days)), NOW_MS, lambda *_: None).summary
    assert summary is not None
    assert summary.total > 0
    ratios = [summary.sharpe, summary.probabilisticSharpe, summary.deflatedSharpe, summary.buyAndHold.sharpe]
    assert [ratio is not None for ratio in ratios] == [told] * 4
    assert LEAST_DAYS == 30


def test_a_strategy_that_never_trades_is_told_as_one() -> None:
    idle = strategy(lambda tape, _: np.zeros_like(tape.close))
    told = walk_strategies([idle], ground(), NOW_MS, lambda *_: None)
    assert told.summary is not None
    assert (told.summary.total, told.summary.winRate, told.summary.meanReturnPct) == (0, None, None)
    assert told.summary.strategies[1].fundingKnown is None
    assert {fold.train_sharpe for fold in told.folds} == {None}
    assert [fold.chosen for fold in told.folds] == [{"span": 3}] * 3


@pytest.mark.parametrize(
    ("sharpes", "chosen"),
    [([0.1, 0.3, 0.3], 1), ([None, -0.5], 1), ([None, None], 0), ([-0.1, None, 0.0], 2), ([0.0, None], 0)],
)
def test_the_best_is_the_first_of_the_highest_and_what_never_traded_comes_last(
    sharpes: list[float | None], chosen: int
) -> None:
    assert best_index(sharpes) == chosen


@pytest.mark.slow
@pytest.mark.promise("walkforward.method", "costs.slippage-table")
def test_the_summary_states_its_costs_and_how_it_was_tested() -> None:
    summary = run_walkforward(request(), lambda _done, _total: None).summary
    assert summary is not None
    assert summary.standard == standard()
    assert summary.method.surrogates.startswith("Sign-flip surrogate test: ")
    assert "does not show skill" in summary.method.surrogates
    assert summary.method.embargo.startswith("No embargo is applied.")
    assert "would have no effect on leakage" in summary.method.embargo
    other = replace(request(), parameters=replace(PARAMETERS, fee_bps=1.0, slippage=((0.0, 2.0),)))
    told = run_walkforward(other, lambda _done, _total: None).summary
    assert told is not None
    assert told.standard == standard(1.0, ((0.0, 2.0),))
    assert told.returnPct != summary.returnPct


def test_training_is_judged_by_the_days_that_it_could_hold_a_position_over() -> None:
    over, of = ground(), strategy(trailing)
    plan = of.plan(over.tape, over.universe, of.grid[0])
    allowed = np.zeros(150, np.bool_)
    allowed[100:120] = True
    ratio, decided = back_test(plan, 150, allowed, over)
    net = simulate(over.tape.until(150), plan.until(150), 0, 150, over.costs[:150], allowed).net
    assert np.flatnonzero(net).tolist() == list(range(101, 121))
    assert ratio == pytest.approx(net[101:121].mean() / net[101:121].std())
    assert decided <= set(range(100, 120))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["anchored", "rolling"])
def test_the_future_has_no_say_in_what_is_chosen(scheme: str) -> None:
    parameters = replace(PARAMETERS, scheme=scheme)
    whole = walk_strategy(trend_following.STRATEGY, ground(TAPE, parameters=parameters), lambda: None)
    for tested in whole:
        tables = [
            np.concatenate([table[: tested.fold.begin], 3 * table[tested.fold.begin :][::-1, ::-1]])
            for table in TAPE[2:]
        ]
        other = walk_strategy(
            trend_following.STRATEGY,
            ground(MarketTape(TAPE.coins, TAPE.first_day, *tables), parameters=parameters),
            lambda: None,
        )
        mine, theirs = tested.training, other[tested.fold.number - 1].training
        assert (mine.sharpes, mine.chosen, mine.decided) == (theirs.sharpes, theirs.chosen, theirs.decided)


def test_each_fold_is_followed_with_what_its_own_training_chose() -> None:
    of: Strategy = strategy(trailing, 2, 5, 12)
    over = ground(market(1))
    walked = walk_strategy(of, over, lambda: None)
    assert len({tested.training.chosen for tested in walked}) > 1
    for tested in walked:
        assert tested.chosen == of.grid[tested.training.chosen]
        plan = of.plan(over.tape, over.universe, tested.chosen)
        book = simulate(over.tape, plan, tested.fold.begin, tested.fold.end, over.costs)
        assert np.array_equal(book.net, tested.book.net)
