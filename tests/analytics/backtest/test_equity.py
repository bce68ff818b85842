"""Equity is carried: what is held keeps its quantity, and nothing is resized for free."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analytics.backtest.plan import NO_REASON, REASONS, TradingPlan
from service.analytics.backtest.simulation import simulate
from service.analytics.backtest.statistics import compounded, max_drawdown
from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Floats

RATE = 0.0003
SIDES = st.sampled_from((1, -1))


def tape(opens: Sequence[Sequence[float]], funding: float = 0.0) -> MarketTape:
    """Coins by column, whose closes are their opens; NaN where there is no bar."""
    table = np.array(opens, dtype=np.float64)
    names = tuple(f"C{column}" for column in range(table.shape[1]))
    return MarketTape(names, 0, table, table, table, table, np.ones_like(table), np.full(table.shape, funding))


def holding(over: MarketTape, side: int = 1, weight: float = 1.0, since: int = 0) -> TradingPlan:
    """Want every coin from a row on, for good."""
    shape = over.open.shape
    wanted = np.zeros(shape, np.int8)
    wanted[since:] = side
    unknown: Floats = np.full(shape, np.nan)
    return TradingPlan(wanted, np.full(shape, weight), unknown, unknown, np.full(shape, NO_REASON, np.int8))


def net(over: MarketTape, plan: TradingPlan, cost: float = 0.0) -> Floats:
    return simulate(over, plan, 0, len(over.open), np.full(over.open.shape, cost)).net


def column(prices: Sequence[float]) -> list[list[float]]:
    return [[price] for price in prices]


@pytest.mark.parametrize(("side", "grown"), [(1, 2.0), (-1, 0.0)])
def test_one_percent_of_the_entry_on_each_of_a_hundred_days_is_a_hundred_percent(side: int, grown: float) -> None:
    over = tape(column([100.0, *(100.0 + day for day in range(101))]))
    returns = net(over, holding(over, side))
    assert 1 + compounded(returns) == pytest.approx(grown, abs=1e-12)
    assert returns[1:101].tolist() == pytest.approx(
        [side / (100 + side * day) for day in range(100)], rel=1e-9
    )  # a share of what it has become, not of what was put in


@settings(deadline=None, max_examples=60)
@given(SIDES, st.floats(0.05, 1.0), st.floats(0.0, 0.01), st.floats(-0.002, 0.002), st.integers(1, 40))
def test_a_price_that_does_not_move_costs_fees_and_funding_alone(
    side: int, weight: float, cost: float, rate: float, days: int
) -> None:
    over = tape(column([7.0] * (days + 1)), rate)
    total = compounded(net(over, holding(over, side, weight), cost))
    assert total == pytest.approx(-weight * (2 * cost + side * rate * days), abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.floats(80.0, 120.0), min_size=4, max_size=20),
    st.lists(st.floats(80.0, 120.0), min_size=20, max_size=20),
    SIDES,
    st.integers(1, 18),
)
def test_a_day_more_in_the_middle_of_a_holding_period_changes_nothing(
    prices: list[float], others: list[float], side: int, split: int
) -> None:
    split = 1 + split % (len(prices) - 2)
    once = np.column_stack([prices, others[: len(prices)]])
    twice = np.insert(once, split, once[split], axis=0)  # the same price on two days: nothing is traded between them
    whole, parts = (
        compounded(net(tape(of.tolist()), holding(tape(of.tolist()), side, 0.4), 0.001)) for of in (once, twice)
    )
    assert parts == pytest.approx(whole, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(50.0, 150.0), min_size=3, max_size=30), SIDES, st.floats(0.05, 1.0))
def test_the_return_of_a_position_is_its_profit_over_its_notional_whatever_the_way(
    prices: list[float], side: int, weight: float
) -> None:
    over = tape(column(prices))
    returns = net(over, holding(over, side, weight))
    if returns.min() > -1:
        assert compounded(returns) == pytest.approx(weight * side * (prices[-1] / prices[1] - 1), abs=1e-12)


@pytest.mark.parametrize("weight", [1.0, 1.5, 3.0])
@pytest.mark.parametrize("after", [1.0, 50.0])
def test_equity_that_reaches_zero_is_lost_and_comes_back_by_no_price(weight: float, after: float) -> None:
    over = tape(column([100, 100, 120, 250, after, after, after]), RATE)
    book = simulate(over, holding(over, -1, weight), 0, 7, np.full((7, 1), 0.001))
    assert book.net[2] == -1.0
    assert book.net.min() == -1.0
    assert not book.net[3:].any()
    assert not book.exposure[3:].any()
    assert (compounded(book.net), max_drawdown(book.net)) == (-1.0, 1.0)
    assert book.lost_on == 2


def test_what_is_held_when_equity_is_lost_ends_then_and_nothing_is_entered_or_decided_after_it() -> None:
    calm = [100.0] * 7
    over = tape([[bad, *rest] for bad, *rest in zip([100, 100, 120, 250, 1, 1, 1], calm, calm, calm, strict=True)])
    plan = holding(over, -1, 1.0)
    plan.side[:, 2] = [0, 0, 0, 1, 1, 1, 1]  # wanted when there is nothing to enter it with
    plan.side[:, 3] = [0, -1, 0, 0, 0, 0, -1]
    plan.reason[2, 3] = REASONS.index("stop")
    book = simulate(over, plan, 0, 7, np.full((7, 4), 0.001))
    trades = book.trades
    told = [(coin, entry, left, REASONS[why]) for coin, entry, left, why in zip(
        trades.coin.tolist(), trades.entry.tolist(), trades.exit.tolist(), trades.reason.tolist(), strict=True
    )]  # fmt: skip
    assert told == [(0, 1, 3, "fold-end"), (1, 1, 3, "fold-end"), (3, 2, 3, "stop")]
    assert trades.exit_price.tolist() == [250, 100, 100]
    left = [2.5, 1.0, book.trades.weight[2] * np.prod(1 + book.net[:2]) * 2]  # entered and left on that day
    assert book.turnover[2] == pytest.approx(sum(left) / np.prod(1 + book.net[:2]))
    assert not book.open.coin.size
    assert book.signals.row.tolist() == [0, 0, 1]
    assert (book.position_days, book.lost_on) == (5, 2)


def test_equity_lost_on_the_last_day_leaves_what_is_held_until_the_next_open_and_decides_nothing() -> None:
    over = tape([[100, 100], [100, 100], [250, 100]])
    table = over.close.copy()
    table[2, 0] = 300
    plan = holding(over, -1, 1.0)
    plan.side[:, 1] = [0, 0, 1]
    book = simulate(over._replace(close=table), plan, 0, 3, np.zeros((3, 2)))
    assert book.lost_on == 1
    assert (book.trades.exit.tolist(), book.trades.exit_price.tolist()) == ([2], [250])
    milder = over.open.copy()
    milder[2, 0] = 150
    book = simulate(over._replace(open=milder, close=table), plan, 0, 3, np.zeros((3, 2)))
    assert (book.lost_on, book.open.coin.tolist(), book.signals.row.tolist()) == (2, [0], [0])


def test_a_loss_of_one_position_is_borne_by_all_that_share_the_equity() -> None:
    over = tape([[100, 100], [100, 100], [300, 100], [300, 300]])
    book = simulate(over, holding(over, -1, 0.5), 0, 4, np.zeros((4, 2)))
    assert book.net.tolist() == [0, -1.0, 0, 0]


def test_positions_are_sized_by_the_equity_at_their_own_entry() -> None:
    over = tape([[10, 10], [10, 10], [20, 10], [20, 10], [20, 15]])
    plan = holding(over, 1, 0.5)
    plan.side[:2, 1] = 0
    book = simulate(over, plan, 0, 5, np.zeros((5, 2)))
    # 0.5 of 1 doubles: 1.5; the other coin gets 0.5 of that, which grows by a half.
    assert np.cumprod(1 + book.net).tolist() == pytest.approx([1, 1.5, 1.5, 1.875, 1.875])
    assert book.exposure.tolist() == pytest.approx([0, 0.5, 1 / 1.5, 1.75 / 1.5, 2.125 / 1.875])


def test_a_gap_ends_a_position_at_its_last_close_and_its_money_waits() -> None:
    over = tape(column([10, 10, 12, np.nan, 99, 100, 150]))
    returns = net(over, holding(over))
    assert np.cumprod(1 + returns).tolist() == pytest.approx([1, 1.2, 1.2, 1.2, 1.2, 1.8, 1.8])


def test_a_coin_listed_yesterday_is_entered_at_the_first_open_after_its_first_close() -> None:
    listed = [np.nan] * 3
    over = tape([[10, price] for price in (*listed, 40, 50)])
    book = simulate(over, holding(over, 1, 0.5), 0, 5, np.zeros((5, 2)))
    assert book.open.entry.tolist() == [1, 4]
    assert not book.net.any()
    assert book.exposure.tolist() == pytest.approx([0, 0.5, 0.5, 0.5, 1.0])


@settings(deadline=None, max_examples=40)
@given(st.lists(st.floats(60.0, 140.0), min_size=6, max_size=25), SIDES, st.integers(2, 24))
def test_a_cut_tape_gives_the_same_days_but_for_its_last(prices: list[float], side: int, cut: int) -> None:
    cut = min(cut, len(prices))
    over = tape(column(prices), RATE)
    whole, known = (net(of, holding(of, side, 0.8), 0.001) for of in (over, over.until(cut)))
    assert known[:-1].tolist() == whole[: cut - 1].tolist()
