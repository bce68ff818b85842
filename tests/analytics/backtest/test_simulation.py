"""How a plan is traded: one coin, prices that can be followed with a pencil."""

from collections.abc import Sequence

import numpy as np
import pytest

from service.analytics.backtest import simulation
from service.analytics.backtest.book import BacktestBook
from service.analytics.backtest.plan import NO_REASON, REASONS, TradingPlan
from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Flags, Floats

FREE = 0.0
TURNED, TIME = REASONS.index("trend-turned"), REASONS.index("time")
NAN = float("nan")


def column(values: Sequence[float | None]) -> Floats:
    return np.array([[NAN if value is None else value] for value in values])


def market(opens: Sequence[float | None], funding: Sequence[float | None] | float = 0.0) -> MarketTape:
    """One coin; every close is 1 % over its open. None: no bar that day."""
    rates = [funding] * len(opens) if isinstance(funding, float) else funding
    laid = column(opens)
    return MarketTape(("BTC",), 0, laid, laid * 1.02, laid, laid * 1.01, laid, column(rates))


def wanting(*sides: int, reason: int = TURNED, weight: float = 1.0) -> TradingPlan:
    side = np.array(sides, np.int8)[:, None]
    left = np.append(False, (side[:-1, 0] != 0) & (side[1:, 0] != side[:-1, 0]))[:, None]
    same = np.full(side.shape, weight)
    score, stop = side.astype(np.float64) * 2, np.arange(0.5, len(sides))[:, None]
    return TradingPlan(side, same, score, stop, np.where(left, reason, NO_REASON).astype(np.int8))


def simulate(
    tape: MarketTape, plan: TradingPlan, start: int, end: int, share: float = 0.000_95, allowed: Flags | None = None
) -> BacktestBook:
    """Trade where every fill costs the same share of its notional."""
    return simulation.simulate(tape, plan, start, end, np.full(tape.open.shape, share), allowed)


def endings(book: BacktestBook) -> list[tuple[int, int, int, float, float, str]]:
    trades = book.trades
    return [
        (side, entry, over, bought, sold, REASONS[reason])
        for side, entry, over, bought, sold, reason in zip(
            trades.side.tolist(),
            trades.entry.tolist(),
            trades.exit.tolist(),
            trades.entry_price.tolist(),
            trades.exit_price.tolist(),
            trades.reason.tolist(),
            strict=True,
        )
    ]


def decisions(book: BacktestBook) -> list[tuple[int, int, float | None]]:
    rows, sides, prices = book.signals.row.tolist(), book.signals.side.tolist(), book.signals.entry_price.tolist()
    return [
        (row, side, None if price != price else price)  # noqa: PLR0124 - NaN
        for row, side, price in zip(rows, sides, prices, strict=True)
    ]


def test_a_long_earns_what_the_price_gains_less_funding_fees_and_slippage() -> None:
    tape = market([100, 100, 110, 120, 130], funding=[0.0, 0.001, -0.002, 0.5, 0.5])
    book = simulate(tape, wanting(1, 1, 0, 0, 0, weight=0.25), 0, 5)
    trades = book.trades
    assert endings(book) == [(1, 1, 3, 100.0, 120.0, "trend-turned")]
    assert trades.days.tolist() == [2]
    assert trades.price_pct.tolist() == pytest.approx([20])
    assert trades.funding_pct.tolist() == pytest.approx([-0.1 + 0.2 * 1.1])  # paid on 100, received on 110
    assert trades.cost_pct.tolist() == pytest.approx([0.095 + 0.095 * 1.2])
    assert trades.return_pct.tolist() == pytest.approx([20 + 0.12 - 0.209])
    first = 0.025 - 0.25 * 0.00095 - 0.25 * 0.001
    assert book.price.tolist() == pytest.approx([0, 0.025, 0.025 / (1 + first), 0, 0])
    second = 0.025 + 0.25 * 0.0022 - 0.25 * 1.2 * 0.00095
    assert book.net.tolist() == pytest.approx([0, first, second / (1 + first), 0, 0])
    assert book.exposure.tolist() == pytest.approx([0, 0.25, 0.25 * 1.1 / (1 + first), 0, 0])
    assert book.turnover.tolist() == pytest.approx([0, 0.25, 0.3 / (1 + first), 0, 0])


def test_a_fill_costs_what_stands_on_the_row_that_decided_it() -> None:
    tape = market([100, 100, 110, 120, 130])
    costs = column([0.001, 0.002, 0.004, 0.008, 0.016])
    book = simulation.simulate(tape, wanting(1, 1, 0, -1, -1, weight=0.5), 0, 5, costs)
    assert book.trades.cost_pct.tolist() == pytest.approx([0.1 + 0.4 * 1.2])
    assert book.open.cost_pct.tolist() == pytest.approx([0.8 + 1.6 * 1.01])
    worth = 1 + 0.05 - 0.5 * 0.001
    paid = [0, 0.5 * 0.001, 0.5 * 1.2 * 0.004 / worth, 0, 0.5 * (0.008 + 0.016 * 1.01)]
    assert (book.price - book.net).tolist() == pytest.approx(paid)
    delisted = market([100, 100, None])
    book = simulation.simulate(delisted, wanting(1, 1, 1), 0, 3, costs[:3])
    assert book.trades.cost_pct.tolist() == pytest.approx([0.1 + 0.2 * 1.01])


def test_a_short_earns_what_the_price_loses_and_is_paid_the_funding() -> None:
    tape = market([100, 100, 80, 80], funding=0.001)
    trades = simulate(tape, wanting(-1, 0, 0, 0), 0, 4).trades
    assert trades.price_pct.tolist() == pytest.approx([20])
    assert trades.funding_pct.tolist() == pytest.approx([0.1])
    assert trades.cost_pct.tolist() == pytest.approx([0.095 * 1.8])


def test_funding_that_nobody_recorded_costs_a_long_the_resting_rate() -> None:
    book = simulate(market([1, 1, 1, 1], [None, None, 0.001, None]), wanting(1, 1, 0, 0), 0, 4, FREE)
    assert book.trades.funding_pct.tolist() == pytest.approx([-(0.03 + 0.1)])
    assert (book.known_days, book.position_days) == (1, 2)


def test_funding_that_nobody_recorded_pays_a_short_nothing() -> None:
    book = simulate(market([1, 1, 1], [None, None, None]), wanting(-1, 0, 0), 0, 3, FREE)
    assert book.trades.return_pct.tolist() == [0]
    assert (book.known_days, book.position_days) == (0, 1)


def test_who_holds_nothing_knows_of_no_funding() -> None:
    book = simulate(market([1, 1, 1]), wanting(0, 0, 0), 0, 3)
    assert (book.known_days, book.position_days) == (0, 0)
    assert book.net.tolist() == [0, 0, 0]


def test_a_decision_is_filled_at_the_next_open_and_at_no_other_price() -> None:
    tape = market([100, 107, 93, 111])
    assert endings(simulate(tape, wanting(1, 0, 0, 0), 0, 4)) == [(1, 1, 2, 107.0, 93.0, "trend-turned")]


def test_a_turn_leaves_and_enters_at_the_same_open() -> None:
    book = simulate(market([1, 2, 3, 4, 5]), wanting(1, -1, 0, 0, 0), 0, 5, FREE)
    assert endings(book) == [(1, 1, 2, 2.0, 3.0, "trend-turned"), (-1, 2, 3, 3.0, 4.0, "trend-turned")]
    assert book.exposure.tolist() == [0, 1, 1, 0, 0]
    assert book.turnover.tolist() == pytest.approx([0, 1 + 1.5, 1 + 4 / 3, 0, 0])  # each of its day's equity


def test_a_side_that_is_wanted_before_the_first_row_is_entered_on_the_next() -> None:
    book = simulate(market([1, 2, 3, 4, 5, 6]), wanting(1, 1, 1, 1, 0, 0, reason=TIME), 2, 6)
    assert endings(book) == [(1, 3, 5, 4.0, 6.0, "time")]
    assert decisions(book) == [(2, 1, 4.0)]


def test_everything_is_left_at_the_open_after_the_last_row_of_a_window() -> None:
    book = simulate(market([1, 2, 3, 4, 5]), wanting(1, 1, 1, 1, 1), 0, 3)
    assert endings(book) == [(1, 1, 3, 2.0, 4.0, "fold-end")]
    assert len(book.net) == 3
    assert not book.open.coin.size


def test_a_plan_that_leaves_on_the_last_row_of_a_window_leaves_for_its_own_reason() -> None:
    book = simulate(market([1, 2, 3, 4, 5]), wanting(1, 1, 0, 1, 1, reason=TIME), 0, 3)
    assert endings(book) == [(1, 1, 3, 2.0, 4.0, "time")]


@pytest.mark.parametrize("sides", [(0, 0, 1, 1, 1), (0, 0, -1, 0, 0)])
def test_nothing_is_entered_only_to_be_left_at_the_same_open(sides: tuple[int, ...]) -> None:
    book = simulate(market([1, 2, 3, 4, 5]), wanting(*sides), 0, 3)
    assert endings(book) == []
    assert decisions(book) == []


def test_a_coin_without_a_next_bar_is_left_at_its_last_close() -> None:
    book = simulate(market([100, 100, 50, None, None]), wanting(1, 1, 1, 0, 0), 0, 5)
    assert endings(book) == [(1, 1, 2, 100.0, 50.5, "delisted")]
    assert book.trades.days.tolist() == [2]
    assert book.price.tolist() == pytest.approx([0, -0.5, 0.005 / (0.5 - 0.00095), 0, 0])


def test_a_coin_that_is_delisted_when_the_plan_leaves_it_is_left_as_delisted() -> None:
    assert endings(simulate(market([1, 1, None, 1]), wanting(1, 0, 0, 0), 0, 4)) == [(1, 1, 1, 1.0, 1.01, "delisted")]


def test_a_coin_that_is_delisted_when_a_window_ends_is_left_as_delisted() -> None:
    assert endings(simulate(market([1, 1, None, 1]), wanting(1, 1, 1, 1), 0, 2)) == [(1, 1, 1, 1.0, 1.01, "delisted")]


def test_a_decision_without_a_next_bar_is_never_filled_and_so_no_signal() -> None:
    book = simulate(market([1, 1, None, None]), wanting(0, 1, 1, 0), 0, 4)
    assert endings(book) == []
    assert decisions(book) == []


def test_after_a_gap_a_coin_is_entered_by_a_decision_of_its_first_new_bar() -> None:
    book = simulate(market([1, 1, None, 4, 5, 6]), wanting(1, 1, 1, 1, 1, 1), 0, 6)
    assert endings(book) == [(1, 1, 1, 1.0, 1.01, "delisted")]
    assert decisions(book) == [(0, 1, 1.0), (3, 1, 5.0)]
    assert book.open.entry.tolist() == [4]


def test_what_is_held_when_the_tape_ends_is_marked_at_its_last_close() -> None:
    book = simulate(market([100, 100, 110], funding=0.001), wanting(1, 1, 1, weight=0.5), 0, 3)
    kept = book.open
    assert endings(book) == []
    assert (kept.side.tolist(), kept.entry.tolist(), kept.days.tolist()) == ([1], [1], [2])
    assert kept.entry_price.tolist() == [100]
    assert kept.price_pct.tolist() == pytest.approx([11.1])
    assert kept.funding_pct.tolist() == pytest.approx([-0.21])
    assert kept.cost_pct.tolist() == pytest.approx([0.095 + 0.095 * 1.111])  # as if it were left at that close
    assert kept.stop.tolist() == [2.5]
    assert np.prod(1 + book.net) - 1 == pytest.approx(0.5 * (0.111 - 0.0021 - 0.00095 * 2.111))
    assert book.turnover.tolist() == [0, 0.5, 0]


def test_a_decision_of_the_last_row_is_a_signal_whose_fill_is_to_come() -> None:
    book = simulate(market([1, 2, 3]), wanting(0, 0, -1), 0, 3)
    assert decisions(book) == [(2, -1, None)]
    assert book.signals.score.tolist() == [-2]
    assert not book.trades.coin.size
    assert book.turnover.tolist() == [0, 0, 0]


def test_a_turn_decided_on_the_last_row_leaves_the_old_position_held() -> None:
    book = simulate(market([1, 2, 3]), wanting(1, 1, -1), 0, 3)
    assert book.open.side.tolist() == [1]
    assert decisions(book) == [(0, 1, 2.0), (2, -1, None)]


def test_an_exit_decided_on_the_last_row_leaves_the_position_held() -> None:
    book = simulate(market([1, 2, 3]), wanting(1, 1, 0), 0, 3)
    assert book.open.side.tolist() == [1]
    assert decisions(book) == [(0, 1, 2.0)]


def test_a_window_of_the_last_row_alone_decides_and_holds_nothing() -> None:
    book = simulate(market([1, 2, 3]), wanting(1, 1, 1), 2, 3)
    assert decisions(book) == [(2, 1, None)]
    assert book.net.tolist() == [0]


def test_rows_that_are_not_allowed_decide_nothing() -> None:
    allowed = np.array([True, True, False, False, True, True])
    book = simulate(market([1, 2, 3, 4, 5, 6]), wanting(1, 1, 1, 1, 1, 1), 0, 6, allowed=allowed)
    assert endings(book) == [(1, 1, 3, 2.0, 4.0, "fold-end")]
    assert book.open.entry.tolist() == [5]


def test_a_row_that_is_not_allowed_gives_no_reason() -> None:
    allowed = np.array([True, True, False, True, True])
    for sides in ((1, 1, 0, 0, 0), (1, 1, -1, 0, 0)):
        book = simulate(market([1, 2, 3, 4, 5]), wanting(*sides), 0, 5, allowed=allowed)
        assert endings(book) == [(1, 1, 3, 2.0, 4.0, "fold-end")]


def test_a_weight_is_that_of_the_decision_and_stays() -> None:
    plan = wanting(1, 1, 1, 0, 0)
    plan.weight[:, 0] = (0.5, 0.25, 0.125, 0, 0)
    book = simulate(market([1, 1, 1, 1, 1]), plan, 0, 5, FREE)
    assert book.trades.weight.tolist() == [0.5]
    assert book.exposure.tolist() == [0, 0.5, 0.5, 0.5, 0]


def test_positions_come_in_the_order_of_their_entries_and_then_of_their_coins() -> None:
    opens = np.ones((5, 3))
    side = np.array([[0, 1, 0], [1, 1, -1], [1, 0, 0], [0, 0, 0], [0, 0, 0]], np.int8)
    flat = np.zeros((5, 3))
    tape = MarketTape(("A", "B", "C"), 0, opens, opens, opens, opens, opens, flat)
    book = simulate(tape, TradingPlan(side, flat + 0.1, flat, flat, flat.astype(np.int8)), 0, 5)
    assert [*zip(book.trades.entry.tolist(), book.trades.coin.tolist(), strict=True)] == [(1, 1), (2, 0), (2, 2)]
    assert [*zip(book.signals.row.tolist(), book.signals.coin.tolist(), strict=True)] == [(0, 1), (1, 0), (1, 2)]


def test_a_tape_without_rows_or_coins_has_empty_books() -> None:
    none = np.zeros((0, 0))
    book = simulate(
        MarketTape((), 0, *[none] * 6), TradingPlan(none.astype(np.int8), none, none, none, none.astype(np.int8)), 0, 0
    )
    assert (len(book.net), book.position_days, len(book.signals.row)) == (0, 0, 0)


def test_a_window_without_rows_has_empty_books() -> None:
    book = simulate(market([1, 2, 3]), wanting(1, 1, 1), 1, 1)
    assert (len(book.net), len(book.trades.coin), len(book.signals.row)) == (0, 0, 0)


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 1), (0, 4)])
def test_rows_that_are_not_on_the_tape_are_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="not all on a tape of 3"):
        simulate(market([1, 2, 3]), wanting(1, 1, 1), start, end)


def test_a_plan_of_another_tape_is_refused() -> None:
    with pytest.raises(ValueError, match="not of this tape"):
        simulate(market([1, 2, 3]), wanting(1, 1), 0, 2)
    with pytest.raises(ValueError, match="not of this tape"):
        simulate(market([1, 2, 3]), wanting(1, 1, 1), 0, 2, allowed=np.array([True]))


@pytest.mark.parametrize("weight", [NAN, -0.1, float("inf")])
@pytest.mark.parametrize("sides", [(1, 1, 1), (0, 0, 1)], ids=["held", "to come"])
def test_a_position_without_a_good_weight_is_refused(weight: float, sides: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="weight"):
        simulate(market([1, 2, 3]), wanting(*sides, weight=weight), 0, 3)


@pytest.mark.parametrize("reason", [NO_REASON, len(REASONS)])
def test_a_position_left_without_a_reason_is_refused(reason: int) -> None:
    with pytest.raises(ValueError, match="without a reason"):
        simulate(market([1, 2, 3]), wanting(1, 0, 0, reason=reason), 0, 3)
