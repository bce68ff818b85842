"""What the gate sees: any change of a plan, any fill that is not the plan's, any day that no position brought."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analytics.backtest.book import BacktestBook
from service.analytics.backtest.inspection import (
    accounting_error,
    count_misfilled,
    digest_tape,
    first_difference,
    held_over,
    plan_a_day_early,
    rows_of,
    surrogate_edge,
)
from service.analytics.backtest.plan import NO_REASON, TradingPlan
from service.analytics.backtest.simulation import simulate
from service.analytics.backtest.tape import MarketTape
from service.analytics.backtest.universe import fill_costs
from tests.walkforward.leaks import market, strategy, trailing

BEGIN, END = 100, 250


def made(seed: int = 1, end: int = END) -> tuple[MarketTape, TradingPlan, BacktestBook]:
    tape = market(seed)
    of = strategy(trailing)
    plan = of.plan(tape, ~np.isnan(tape.close), of.grid[0])
    return tape, plan, simulate(tape, plan, BEGIN, end, fill_costs(tape))


def test_a_tape_is_known_by_all_it_holds() -> None:
    tape = market()
    other = tape.volume.copy()
    other[7, 1] += 1e-9
    forged = [
        tape._replace(volume=other),
        tape._replace(first_day=1),
        tape._replace(coins=("Z", *tape.coins[1:])),
        tape.until(319),
        tape._replace(high=tape.low, low=tape.high),
    ]
    assert digest_tape(tape) == digest_tape(tape._replace(open=np.array(tape.open, order="F")))
    assert len({digest_tape(one) for one in [tape, *forged]}) == 6


def test_a_tape_has_the_same_fingerprint_whatever_its_unknowns_are_made_of() -> None:
    tape = market()
    assert digest_tape(tape) == digest_tape(
        tape._replace(funding=np.where(np.isnan(tape.funding), -np.nan, tape.funding))
    )


def test_rows_of_spans_and_the_days_that_they_are_held_over() -> None:
    rows = rows_of(8, [range(2), range(5, 7)])
    assert rows.nonzero()[0].tolist() == [0, 1, 5, 6]
    assert held_over(rows).nonzero()[0].tolist() == [1, 2, 6, 7]


@pytest.mark.parametrize("field", TradingPlan._fields)
@pytest.mark.parametrize("row", [0, 57, 99])
def test_a_plan_that_differs_in_anything_differs(field: str, row: int) -> None:
    _, plan, _ = made()
    beginning = plan.until(100)
    assert first_difference(plan, beginning, 100) is None
    changed = getattr(beginning, field).copy()
    changed[row, 5] = 7
    assert first_difference(plan, beginning._replace(**{field: changed}), 100) == row


def test_a_plan_that_forgets_a_price_differs() -> None:
    _, plan, _ = made()
    score = plan.score.copy()
    row, coin = (int(one[0]) for one in np.nonzero(~np.isnan(score)))
    score[row, coin] = np.nan
    assert first_difference(plan, plan._replace(score=score), len(score)) == row


def test_who_foresees_wants_today_what_the_plan_wants_tomorrow() -> None:
    _, plan, _ = made()
    ahead = plan_a_day_early(plan)
    assert np.array_equal(ahead.side[:-1], plan.side[1:])
    assert np.array_equal(ahead.weight[:-1], plan.weight[1:])
    assert np.array_equal(ahead.reason[:-1], plan.reason[1:])
    assert np.array_equal(ahead.side[-1], plan.side[-1])
    assert (ahead.reason[-1] == NO_REASON).all()


def test_an_edge_is_told_in_standard_errors_and_a_year() -> None:
    found = surrogate_edge([np.array([0.01, 0.0, -0.01]), np.array([0.01])])
    assert found.errors == pytest.approx(1 / np.sqrt(3))
    assert found.yearly_pct == pytest.approx(0.01 / 4 * 365 * 100)
    assert found.days == 3


def test_where_nothing_was_held_there_is_no_edge() -> None:
    assert surrogate_edge([np.zeros(5)]) == (0.0, None, 0)
    assert surrogate_edge([]) == (0.0, None, 0)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 1000), st.integers(BEGIN, 320))
def test_every_book_of_the_simulation_is_that_of_its_plan(seed: int, end: int) -> None:
    tape, plan, book = made(seed, end)
    assert count_misfilled(tape, plan, BEGIN, end, book) == 0
    assert accounting_error(tape, BEGIN, book, fill_costs(tape)) < 1e-12
    assert (accounting_error(tape, BEGIN, book, fill_costs(tape) * 1.01) > 1e-6) == bool(
        len(book.trades.coin) + len(book.open.coin)
    )


DOCTORED: Mapping[str, tuple[int, float]] = {
    "side": (-2, 0),
    "entry": (1, 0),
    "exit": (1, 0),
    "entry_price": (0, 0.01),
    "exit_price": (0, 0.01),
    "coin": (1, 0),
}


@pytest.mark.parametrize("column", DOCTORED)
def test_a_trade_that_is_told_otherwise_than_it_was_made_is_found(column: str) -> None:
    tape, plan, book = made(end=320)
    values = getattr(book.trades, column).copy()
    at = int(np.flatnonzero((book.trades.days > 1) & (book.trades.side > 0) & (book.trades.coin < 2))[0])
    moved, grown = DOCTORED[column]
    values[at] += moved + values[at] * grown
    doctored = book._replace(trades=book.trades._replace(**{column: values}))
    assert count_misfilled(tape, plan, BEGIN, 320, doctored) == 1


@pytest.mark.parametrize("column", ["side", "entry", "entry_price"])
def test_a_position_that_is_told_otherwise_than_it_was_entered_is_found(column: str) -> None:
    tape, plan, book = made(end=320)
    values = getattr(book.open, column).copy()
    values[0] = -values[0]
    assert count_misfilled(tape, plan, BEGIN, 320, book._replace(open=book.open._replace(**{column: values}))) == 1


def test_a_trade_that_is_held_longer_than_the_plan_wants_is_found_whatever_its_price() -> None:
    tape, plan, book = made(end=320)
    trades = book.trades
    at = int(np.flatnonzero((trades.coin == 0) & (trades.exit < 300))[0])
    over, price = trades.exit.copy(), trades.exit_price.copy()
    over[at] += 1
    price[at] = tape.open[over[at], 0]
    held_on = book._replace(trades=trades._replace(exit=over, exit_price=price))
    assert count_misfilled(tape, plan, BEGIN, 320, held_on) == 1


def test_a_position_decided_before_the_fold_is_found() -> None:
    tape, plan, _ = made()
    early = simulate(tape, plan, BEGIN - 1, END, fill_costs(tape))
    at_once = np.count_nonzero(early.trades.entry == BEGIN)
    assert count_misfilled(tape, plan, BEGIN, END, early) == at_once > 0


def test_a_delisted_coin_is_left_at_its_last_close_and_nowhere_else() -> None:
    tape, plan, _ = made()
    everyone = plan._replace(side=np.ones_like(plan.side), weight=np.full_like(plan.weight, 0.1))
    book = simulate(tape, everyone, BEGIN, 320, fill_costs(tape))
    assert count_misfilled(tape, everyone, BEGIN, 320, book) == 0
    at = book.trades.coin.tolist().index(3)
    assert book.trades.exit_price[at] == tape.close[259, 3]
    price = book.trades.exit_price.copy()
    price[at] = tape.open[259, 3]
    assert (
        count_misfilled(tape, everyone, BEGIN, 320, book._replace(trades=book.trades._replace(exit_price=price))) == 1
    )


@pytest.mark.parametrize("column", ["price", "net"])
def test_days_that_no_position_brought_are_found(column: str) -> None:
    tape, _, book = made()
    days = getattr(book, column).copy()
    days[-1] += 0.001
    assert accounting_error(tape, BEGIN, book._replace(**{column: days}), fill_costs(tape)) == pytest.approx(0.001)


def test_days_of_positions_that_are_resized_every_day_are_found() -> None:
    tape, _, book = made(end=320)
    resized = np.zeros(len(book.net))
    for coin, entry, over, side, weight in zip(*(getattr(book.trades, name).tolist() for name in (
        "coin", "entry", "exit", "side", "weight",
    )), strict=True):  # fmt: skip
        for row in range(entry, over):
            opens = tape.open[row : row + 2, coin]
            resized[row - BEGIN] += weight * side * (opens[1] - opens[0]) / tape.open[entry, coin]
    assert accounting_error(tape, BEGIN, book._replace(price=np.nan_to_num(resized)), fill_costs(tape)) > 1e-3


def test_a_book_that_lost_everything_is_still_that_of_its_positions() -> None:
    tape, plan, _ = made(end=320)
    bold = plan._replace(weight=plan.weight * 60)
    book = simulate(tape, bold, BEGIN, 320, fill_costs(tape))
    assert book.net.min() == -1
    assert count_misfilled(tape, bold, BEGIN, 320, book) == 0
    assert accounting_error(tape, BEGIN, book, fill_costs(tape)) < 1e-9
    days = book.net.copy()
    days[-1] = 0.1
    assert accounting_error(tape, BEGIN, book._replace(net=days), fill_costs(tape)) == pytest.approx(0.1)


@pytest.mark.parametrize("moved", [-400, 400])
def test_a_position_held_on_days_that_are_not_the_books_is_found(moved: int) -> None:
    tape, _, book = made()
    entry = book.trades.entry.copy()
    entry[3] += moved
    doctored = book._replace(trades=book.trades._replace(entry=entry))
    assert accounting_error(tape, BEGIN, doctored, fill_costs(tape)) == np.inf
