"""The books agree with an accountant who does it all by hand, whatever the market and the plan."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analytics.backtest.book import BacktestBook
from service.analytics.backtest.plan import REASONS, TradingPlan
from service.analytics.backtest.simulation import simulate
from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Flags, Floats
from tests.analytics.backtest import accountant
from tests.analytics.backtest.accountant import Accounts, account
from tests.analytics.backtest.tapes import recorded
from tests.market.recordings import needs_recordings

PRICES = (0.5, 0.93, 1.0, 1.07, 2.25)
SCALES = (0.000_017, 1.0, 28_555.5)
RATES = (None, 0.0, 0.0003, 0.012, -0.004)


@st.composite
def markets(draw: st.DrawFn) -> MarketTape:
    days, coins = draw(st.integers(1, 9)), draw(st.integers(1, 3))
    table = st.lists(st.lists(st.sampled_from(PRICES), min_size=coins, max_size=coins), min_size=days, max_size=days)
    scales = np.array(draw(st.lists(st.sampled_from(SCALES), min_size=coins, max_size=coins)))
    opens, closes = np.array(draw(table)) * scales, np.array(draw(table)) * scales
    cell = st.tuples(st.integers(0, days - 1), st.integers(0, coins - 1))
    for row, coin in draw(st.lists(cell, max_size=8)):
        opens[row, coin] = closes[row, coin] = np.nan
    rates = st.lists(st.sampled_from(RATES), min_size=days * coins, max_size=days * coins)
    funding = np.array(draw(rates), dtype=np.float64).reshape(days, coins)
    names = tuple("ABC"[:coins])
    return MarketTape(
        names, 0, opens, np.fmax(opens, closes), np.fmin(opens, closes), closes, np.ones_like(opens), funding
    )


@st.composite
def plans(draw: st.DrawFn, tape: MarketTape) -> TradingPlan:
    days, coins = tape.open.shape

    def table(values: st.SearchStrategy[float]) -> Floats:
        drawn = draw(st.lists(values, min_size=days * coins, max_size=days * coins))
        return np.array(drawn, dtype=np.float64).reshape(days, coins)

    return TradingPlan(
        side=table(st.sampled_from((0, 1, 1, -1))).astype(np.int8),
        weight=table(st.sampled_from((0.0, 0.1, 1 / 3, 1.0))),
        score=table(st.sampled_from((1.5, -2.0))),
        stop=table(st.sampled_from((float("nan"), 0.9))),
        reason=table(st.integers(0, 5)).astype(np.int8),
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[MarketTape, TradingPlan, int, int, Flags]:
    tape = draw(markets())
    days = len(tape.open)
    start = draw(st.integers(0, days))
    end = draw(st.one_of(st.just(days), st.integers(start, days)))
    allowed = draw(st.one_of(st.just([True] * days), st.lists(st.booleans(), min_size=days, max_size=days)))
    return tape, draw(plans(tape)), start, end, np.array(allowed)


def costs_of(tape: MarketTape) -> Floats:
    """Another cost on every day and of every coin."""
    rows, coins = tape.open.shape
    costs: Floats = np.asarray(0.0004 + 0.0001 * ((7 * np.arange(rows)[:, None] + 3 * np.arange(coins)) % 11))
    return costs


def agree(tape: MarketTape, book: BacktestBook, accounts: Accounts, start: int, end: int) -> None:
    columns = [column.tolist() for column in book.trades]
    made = list(zip(*columns, strict=True))
    assert [trade[:4] for trade in made] == [trade[:4] for trade in accounts.trades]
    assert [trade[12] for trade in made] == [trade.reason for trade in accounts.trades]
    for trade, expected in zip(made, accounts.trades, strict=True):
        assert trade[4:12] == pytest.approx(expected[4:12], rel=1e-9, abs=1e-9)
    agree_on_what_is_open(tape, book, accounts)
    for days, expected_days in (
        (book.net, accounts.net),
        (book.price, accounts.price),
        (book.exposure, accounts.exposure),
        (book.turnover, accounts.turnover),
    ):
        assert expected_days.keys() <= set(range(start, end))
        exact = [float(expected_days.get(row, Decimal(0))) for row in range(start, end)]
        assert days.tolist() == pytest.approx(exact, rel=1e-9, abs=1e-9)
    assert (book.position_days, book.known_days) == (accounts.position_days, accounts.known_days)


def agree_on_what_is_open(tape: MarketTape, book: BacktestBook, accounts: Accounts) -> None:
    kept = book.open
    assert [*zip(kept.coin.tolist(), kept.side.tolist(), kept.entry.tolist(), kept.days.tolist(), strict=True)] == [
        (held.coin, held.side, held.entry, held.days) for held in accounts.open
    ]
    for column, exact in (
        (kept.entry_price, [held.price for held in accounts.open]),
        (kept.weight, [held.weight for held in accounts.open]),
        (kept.price_pct, [held.value * 100 for held in accounts.open]),
        (kept.funding_pct, [held.funding * 100 for held in accounts.open]),
        (kept.cost_pct, [held.paid * 100 for held in accounts.open]),
    ):
        assert column.tolist() == pytest.approx([float(value) for value in exact], rel=1e-9, abs=1e-9)
    told = [column.tolist() for column in book.signals]
    expected = [list(column) for column in zip(*accounts.signals, strict=True)] or [[]] * 6
    assert told[:3] == expected[:3]
    for column, wanted in zip(told[3:], expected[3:], strict=True):
        assert column == pytest.approx(wanted, nan_ok=True)


@pytest.mark.slow
@given(cases())
@settings(max_examples=300)
def test_the_books_say_what_an_accountant_says(case: tuple[MarketTape, TradingPlan, int, int, Flags]) -> None:
    tape, plan, start, end, allowed = case
    book = simulate(tape, plan, start, end, costs_of(tape), allowed)
    agree(tape, book, account(tape, plan, start, end, costs_of(tape), allowed.tolist()), start, end)


def test_the_accountant_counts_in_the_reasons_of_the_wire() -> None:
    assert accountant.REASONS == REASONS


@pytest.mark.slow
@given(cases())
def test_what_has_been_booked_does_not_depend_on_what_comes_later(
    case: tuple[MarketTape, TradingPlan, int, int, Flags],
) -> None:
    tape, plan, start, end, allowed = case
    whole = simulate(tape, plan, start, len(tape.open), costs_of(tape), allowed)
    known = simulate(tape.until(end), plan.until(end), start, end, costs_of(tape)[:end], allowed[:end])
    for first, second in zip(known[3:7], whole[3:7], strict=True):
        assert isinstance(first, np.ndarray)
        assert isinstance(second, np.ndarray)
        assert first[:-1].tolist() == second[: max(len(first) - 1, 0)].tolist()  # the last day is marked at its close
    before = whole.trades.exit < end - 1
    assert [column[known.trades.exit < end - 1].tolist() for column in known.trades] == [
        column[before].tolist() for column in whole.trades
    ]


@pytest.mark.slow
@given(cases())
def test_the_days_of_all_positions_add_up_to_their_returns(
    case: tuple[MarketTape, TradingPlan, int, int, Flags],
) -> None:
    book = simulate(*case[:4], costs_of(case[0]), case[4])
    worth = np.cumprod([1.0, *(1 + book.net)])
    assert ((worth >= 0) & np.isfinite(worth)).all()
    trades, held = book.trades, book.open
    if worth[-1]:
        ended = float((trades.weight * worth[trades.entry - case[2]]) @ trades.return_pct)
        standing = held.price_pct + held.funding_pct - held.cost_pct
        total = ended + float((held.weight * worth[held.entry - case[2]]) @ standing)
        assert (worth[-1] - 1) * 100 == pytest.approx(total, rel=1e-9, abs=1e-7)
    else:
        lost = book.net.tolist().index(-1.0)
        assert not any(days[lost + 1 :].any() for days in (book.net, book.price, book.exposure, book.turnover))


@pytest.mark.recorded
@needs_recordings
def test_the_books_of_a_real_quarter_say_what_an_accountant_says() -> None:
    tape, _ = recorded()
    dice = np.random.default_rng(4)
    days, coins = tape.open.shape
    moody = dice.integers(-1, 2, (-(-days // 5), coins)).repeat(5, axis=0)[:days].astype(np.int8)
    reason = dice.integers(0, 6, (days, coins)).astype(np.int8)
    plan = TradingPlan(moody, np.full((days, coins), 1 / coins), moody.astype(np.float64), tape.low, reason)
    for start, end in ((days - 300, days - 255), (days - 40, days)):
        book = simulate(tape, plan, start, end, costs_of(tape))
        assert len(book.trades.coin) > 100
        agree(tape, book, account(tape, plan, start, end, costs_of(tape), [True] * days), start, end)
