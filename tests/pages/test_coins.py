"""Every coin at once."""

import pytest

from service.clock import SECOND_MS
from service.market.observed import Failure
from service.pages.coins import Listed, Row, heat, listed
from tests.pages.stage import NOW_MS, Stage, quote


def of(stage: Stage) -> Listed:
    return listed(stage.coins.view(), stage.coins.state, NOW_MS)


def names(rows: list[Row] | tuple[Row, ...]) -> list[str]:
    return [row.coin.symbol for row in rows]


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.mark.parametrize(
    ("apr", "name"),
    [(-50.1, "c3"), (-50.0, "c2"), (-20.0, "c1"), (-0.1, "c1"), (0.0, "n"), (10.95, "n"), (11.0, "h1"), (22.0, "h2"),
     (50.0, "h3"), (None, None)],
)  # fmt: skip
def test_a_rate_is_ordinary_up_to_what_venues_take_by_default(apr: float | None, name: str | None) -> None:
    assert heat(apr) == name


def test_the_most_traded_and_the_hottest_and_those_that_moved_most_come_first(stage: Stage) -> None:
    stage.show(
        quote("A", volume_usd=1.0, funding=0.0001, prev_price=200.0),
        quote("B", volume_usd=3.0, funding=-0.0001, prev_price=50.0),
        quote("C", volume_usd=2.0, funding=None, prev_price=100.0),
        quote("D", volume_usd=2.0, funding=0.0, prev_price=None),
    )
    found = of(stage)
    assert names(list(found.rows)) == ["B", "C", "D", "A"]
    assert names(list(found.tiles)) == ["A", "D", "B"]
    assert names(list(found.risers)) == ["B"]
    assert names(list(found.fallers)) == ["A"]
    assert (found.paying, found.receiving) == (1, 1)
    assert found.mean_apr == pytest.approx(0)


def test_of_no_coins_there_is_no_mean(stage: Stage) -> None:
    assert listed({}, stage.coins.state, NOW_MS).mean_apr is None


def test_what_the_last_round_did_not_bring_or_is_old_is_stale(stage: Stage) -> None:
    late = NOW_MS - 2 * SECOND_MS
    stage.show(quote("A"), quote("B", price_ms=late), quote("C", funding_ms=late), quote("D", price=None, funding=None))
    assert {row.coin.symbol: row.stale for row in of(stage).rows} == {"A": False, "B": True, "C": True, "D": False}


def test_when_nobody_brought_prices_all_are_stale(stage: Stage) -> None:
    stage.show(quote("A"), failure=Failure(NOW_MS, 500, "down"), venue=None)
    assert [row.stale for row in of(stage).rows] == [True]
