"""Places of a ranking, categories, ratios of measures, sums and majorities, recounted row by row."""

from collections.abc import Callable, Sequence
from statistics import fmean, median
from types import SimpleNamespace
from typing import Any

import pytest

from service.ask import query as q
from service.ask.measure_table import Unit
from service.ask.query import Check, Compare, Measure, Rank, Share, Subject
from service.wire.market import CategoryInfo, TrendCounts
from service.wire.queries import OfCategory
from tests.ask.planner.asked import ALL, FUNDING, UP, VOLUME, change, coins, days, of
from tests.ask.planner.world import CATEGORIES, COINS, World, tool

BOTH = Subject(scope="category", categories=("Layer 1 (L1)", "Meme"), each=True)
WORLD = World()
ROWS = WORLD.table


def _by_volume() -> list[str]:
    known = [symbol for symbol in COINS if ROWS[symbol].volume_24h_usd is not None]
    return sorted(known, key=lambda symbol: (-ROWS[symbol].volume_24h_usd, symbol))


@pytest.mark.parametrize(("skip", "limit"), [(1, 1), (3, 5)])
async def test_a_ranking_skips_the_first_places(skip: int, limit: int) -> None:
    found = await WORLD.ask(of(ALL, VOLUME, operation=Rank("most", limit, skip)))
    assert [row.subject for row in found.rows] == _by_volume()[skip : skip + limit]
    assert found.kind == "position"
    if found.rows:
        assert found.figures["place"].value == skip + 1


def _known(measure: str, symbols: Sequence[str]) -> dict[str, float]:
    values = {symbol: getattr(ROWS[symbol], measure) for symbol in symbols}
    return {symbol: value for symbol, value in values.items() if value is not None}


def _with_categories() -> World:
    info = {
        "Layer 1 (L1)": CategoryInfo("Layer 1 (L1)", None, [], TrendCounts(1, 1, 1), 3e12, 1.0, 5e9, [], []),
        "Meme": CategoryInfo("Meme", None, [], TrendCounts(1, 1, 1), 5e10, 9.0, 5e8, [], []),
    }
    return World([tool("category.info", OfCategory, lambda query: info[query.name])])


@pytest.mark.parametrize(("how", "recount"), [("mean", fmean), ("median", median), ("sum", sum)])
async def test_categories_are_compared_by_a_figure_of_their_coins(
    how: Any, recount: Callable[[Sequence[float]], float]
) -> None:
    found = await _with_categories().ask(of(BOTH, FUNDING, operation=Compare("least", how)))
    expected = {name: recount([*_known("funding_apr", CATEGORIES[name]).values()]) for name in BOTH.categories}
    assert found.kind == "winner"
    assert [row.subject for row in found.rows] == sorted(expected, key=lambda name: expected[name])
    assert {row.subject: row.values[0] for row in found.rows} == pytest.approx(expected)


async def test_a_category_without_known_coins_is_named_as_unknown() -> None:
    world = _with_categories()
    for symbol in CATEGORIES["Meme"]:
        world.table[symbol] = SimpleNamespace(**{**vars(world.table[symbol]), "funding_apr": None})
    found = await world.ask(of(BOTH, FUNDING, operation=Compare("most", "mean")))
    assert ([row.subject for row in found.rows], found.unknown) == (["Layer 1 (L1)"], ("Meme",))


async def test_categories_are_compared_by_their_own_values() -> None:
    found = await _with_categories().ask(of(BOTH, Measure("change"), operation=Compare("most")))
    assert [(row.subject, row.values) for row in found.rows] == [("Meme", (9.0,)), ("Layer 1 (L1)", (1.0,))]


async def test_coins_are_ranked_by_one_measure_divided_by_another() -> None:
    volumes, caps = _known("volume_24h_usd", COINS), _known("market_cap", COINS)
    ratios = {symbol: volumes[symbol] / caps[symbol] for symbol in volumes if symbol in caps}
    found = await WORLD.ask(of(ALL, Measure("volume", per="market_cap"), operation=Rank("most", 50)))
    assert [row.subject for row in found.rows] == sorted(ratios, key=lambda symbol: -ratios[symbol])
    assert {row.subject: row.values[0] for row in found.rows} == pytest.approx(ratios)
    assert set(found.unknown) == set(COINS) - set(ratios)
    assert found.columns[0].unit is Unit.RATIO


async def test_coins_are_ranked_by_the_size_of_a_move() -> None:
    plain = await WORLD.ask(of(ALL, change(days(7)), operation=Rank("most", 50)))
    sizes = {row.subject: abs(row.values[0]) for row in plain.rows if isinstance(row.values[0], float)}
    found = await WORLD.ask(of(ALL, Measure("change", days(7), absolute=True), operation=Rank("most", 50)))
    assert {row.subject: row.values for row in found.rows} == {
        row.subject: (row.values[0], sizes[row.subject]) for row in plain.rows if row.subject in sizes
    }
    assert found.figures["label"].value == "7-day change up or down"
    assert [row.subject for row in found.rows] == sorted(sizes, key=lambda symbol: (-sizes[symbol], symbol))
    assert set(found.unknown) == set(plain.unknown)


async def test_a_coin_is_compared_with_others_taken_together() -> None:
    caps = _known("market_cap", COINS)
    first = max(caps, key=lambda symbol: caps[symbol])
    others = Subject(scope="all", excluded=(first,))
    for op, expected in (("gt", caps[first] > sum(caps.values()) - caps[first]), ("lt", True)):
        test = q.Test(Measure("market_cap"), op, total=others if op == "gt" else ALL)  # type: ignore[arg-type]
        found = await WORLD.ask(of(coins(first), where=test, operation=Check()))
        assert found.figures["answer"].value == ("Yes" if expected else "No")


async def test_a_total_names_the_things_that_it_leaves_out() -> None:
    world = World(BTC={"market_cap": 9.0}, ETH={"market_cap": 5.0}, SOL={"market_cap": None})
    for total, unknown in ((coins("ETH", "SOL"), ("SOL",)), (coins("ETH"), ())):
        test = q.Test(Measure("market_cap"), "gt", total=total)
        found = await world.ask(of(coins("BTC"), where=test, operation=Check()))
        assert (found.figures["answer"].value, found.unknown) == ("Yes", unknown)
    nothing = q.Test(Measure("market_cap"), "gt", total=coins("SOL"))
    assert (await world.ask(of(coins("BTC"), where=nothing, operation=Check()))).kind == "unknown-value"


async def test_a_share_is_told_of_all_where_some_are_not_known() -> None:
    world = World()
    world.table["BTC"] = SimpleNamespace(**{**vars(world.table["BTC"]), "trend_daily": None})
    up = sum(row.trend_daily == "UP" for row in world.table.values())
    found = await world.ask(of(ALL, where=UP, operation=Share()))
    assert found.figures["of_all"].value == pytest.approx(100 * up / len(COINS))
    known = tuple(symbol for symbol in COINS if world.table[symbol].trend_daily)
    assert (await world.ask(of(coins(*known), where=UP, operation=Share()))).figures["of_all"].value == ""
