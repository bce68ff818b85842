"""What a fill costs: the table as it is published, and its application to what was known at the decision."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analytics.backtest.tape import DayBar, MarketTape, build_tape
from service.analytics.backtest.universe import fill_costs, median_volume
from service.analytics.costs import FEE_BPS, SLIPPAGE, standard
from tests.analytics.backtest.tapes import forged, tapes
from tests.market.recordings import needs_recordings
from tests.walkforward.reference_bars import History, bundled, costs_of, recorded
from tests.walkforward.reference_tables import tape_of

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "decisions" / "0011-costs-of-trades.md").read_text()
PAGE = (ROOT / "docs" / "walk-forward.md").read_text()


def trading(*daily_usd: float) -> MarketTape:
    """One coin at 2 USD that trades so much each day."""
    return build_tape({"BTC": [DayBar(day, 2, 2, 2, 2, usd / 2) for day, usd in enumerate(daily_usd)]}, {})


@pytest.mark.promise("costs.slippage-table")
def test_the_published_table_is_the_one_that_is_charged() -> None:
    rows = re.findall(r"^\| ([0-9,]+) \| ([0-9.]+) \|", TEXT, re.MULTILINE)
    published = [(float(volume.replace(",", "")), float(bps)) for volume, bps in rows]
    assert published == list(SLIPPAGE)
    assert [(band.volume_usd_from, band.bps) for band in standard().slippage] == published
    assert f"{FEE_BPS:g} basis points" in TEXT


@pytest.mark.recorded
@needs_recordings
def test_the_measurements_behind_the_table_are_those_of_the_recordings() -> None:
    tape = tape_of(recorded())
    volume = median_volume(tape, ~np.isnan(tape.close))
    volatility = np.log(tape.high / tape.low) / math.sqrt(4 * math.log(2))
    upper = math.inf
    columns = r"^\| [0-9,]+ \| [0-9.]+ \| ([0-9.,]+) M \| ([0-9.]+) % \| ([0-9.]+) \| ([0-9.]+) \|"
    rows = re.findall(columns, TEXT, re.MULTILINE)
    assert len(rows) == len(SLIPPAGE)
    for (least, bps), row in zip(SLIPPAGE, rows, strict=True):
        usual, sigma, impact, spread = (float(cell.replace(",", "")) for cell in row)
        band = (volume >= least) & (volume < upper)
        traded, moved = float(np.median(volume[band])), float(np.median(volatility[band]))
        exact = 2 / 3 * moved * math.sqrt(10_000 / traded) * 10_000
        assert usual * 1e6 == pytest.approx(traded, rel=0.005)
        assert sigma == pytest.approx(100 * moved, abs=0.051)
        assert impact == pytest.approx(exact, abs=0.051)
        assert bps == pytest.approx(impact + spread, abs=7)
        upper = least


@pytest.mark.parametrize(
    ("usd", "bps"),
    [
        (5e9, 1), (1e9, 1), (9.99e8, 3), (1e8, 3), (9.99e7, 10), (1e7, 10), (9.99e6, 25), (1e6, 25), (9.99e5, 60),
        (1e5, 60), (9.99e4, 150), (0, 150),
    ],
)  # fmt: skip
def test_a_fill_pays_the_fee_and_the_slippage_of_its_volume(usd: float, bps: float) -> None:
    costs = fill_costs(trading(*[usd] * 30))
    assert costs[29, 0] == pytest.approx((4.5 + bps) / 10_000, rel=1e-12)
    assert costs[:29, 0] == pytest.approx(154.5 / 10_000)  # fewer than thirty bars: the volume is not known


def test_the_median_of_thirty_days_decides_and_not_one_wild_day() -> None:
    costs = fill_costs(trading(*[2e6] * 29, 9e9, *[1.5e8] * 15))
    assert costs[29, 0] == costs[42, 0] == pytest.approx(29.5 / 10_000)
    assert costs[43, 0] == pytest.approx((4.5 + 10) / 10_000)  # the mean of 2 and 150 million


def test_other_costs_can_be_asked_for() -> None:
    assert fill_costs(trading(1.0), 2.0, ((0.0, 3.0),)).tolist() == [[0.0005]]


@pytest.mark.slow
@given(tapes(), st.integers(1, 169))
def test_what_a_fill_costs_does_not_depend_on_what_comes_after_its_decision(tape: MarketTape, rows: int) -> None:
    assert np.array_equal(fill_costs(tape)[:rows], fill_costs(tape.until(rows)))
    assert np.array_equal(fill_costs(tape)[:rows], fill_costs(forged(tape, rows))[:rows])


@pytest.mark.parametrize(
    "history",
    [
        pytest.param(bundled, id="bundled"),
        pytest.param(recorded, id="recorded", marks=[pytest.mark.recorded, needs_recordings]),
    ],
)
def test_the_costs_of_every_coin_and_day_are_those_of_plain_arithmetic(history: Callable[[], History]) -> None:
    known = history()
    tape = tape_of(known)
    costs, there = fill_costs(tape), ~np.isnan(tape.close)
    assert np.isfinite(costs).all()
    for column, coin in enumerate(tape.coins):
        expected = costs_of(known.bars[coin])
        rows = np.flatnonzero(there[:, column])
        assert costs[rows, column] == pytest.approx([expected[tape.first_day + int(row)] for row in rows], rel=1e-12)
    assert np.isnan(median_volume(tape, there)[~there]).all()
