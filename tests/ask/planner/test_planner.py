"""The planner over the services of a process, and figures of series that never move."""

from types import SimpleNamespace
from typing import Any

from service.ask.planner import series
from service.ask.planner.planner import open_planner
from service.ask.query import Count, Measure
from service.ask.tools import Toolbox
from service.clock import DAY_MS
from service.table.daily import PastBar
from tests.ask.planner.asked import L1, MARKET, PRICE, coins, of
from tests.ask.planner.world import CATEGORIES, World


async def test_a_planner_reads_the_services_of_the_process() -> None:
    world = World(BTC={"price": 7.0})
    rooms: Any = SimpleNamespace(
        clock=world.clock,
        table=SimpleNamespace(coins=world, history=world.history),
        market=SimpleNamespace(
            categories=SimpleNamespace(members=CATEGORIES.__getitem__, category_names=lambda: [*CATEGORIES])
        ),
        sentiment=SimpleNamespace(fear_greed=lambda: (61, 0)),
    )
    planner = open_planner(rooms, Toolbox([]))
    assert (await planner.run(of(coins("BTC"), PRICE), None)).figures["value"].value == 7.0
    assert (await planner.run(of(L1, operation=Count()), None)).figures["count"].value == 5
    assert (await planner.run(of(MARKET, Measure("fear_greed")), None)).figures["value"].value == 61


def test_prices_that_never_move_have_no_correlation_and_no_volatility() -> None:
    flat = [PastBar(day * DAY_MS, 5.0, 5.0, 5.0, 5.0, 1.0) for day in range(30)]
    assert series.correlation(flat, flat) is None
    assert series.volatility(flat) == 0.0


def test_a_missing_day_gives_no_return() -> None:
    bars = [PastBar(day * DAY_MS, 5.0, 5.0, 5.0, 5.0 + day, 1.0) for day in (0, 1, 3, 4)]
    assert [*series.log_returns(series.closes_by_day(bars))] == [DAY_MS, 4 * DAY_MS]
    assert [day for day, _ in series.changes(bars, 1)] == [DAY_MS, 4 * DAY_MS]


def test_a_change_that_is_no_number_is_not_known() -> None:
    assert series.percent(1e308, 1e-308) is None
    assert series.percent(5.0, 0.0) is None
