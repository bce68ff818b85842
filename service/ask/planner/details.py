"""What is said beside the value of one thing: the day of a high, since when a state holds, who pays funding."""

from collections.abc import Sequence
from typing import Final

from service.ask.describe import label_of
from service.ask.measure_table import Unit
from service.ask.planner.asked import Asked
from service.ask.planner.bars import BENCHMARK, bound_bar, bound_price
from service.ask.planner.reading import MARKET
from service.ask.planner.result import Column, Figure, Scalar, count, text
from service.ask.planner.values import since_of, unit_of, values_of
from service.ask.query import All, Any_, Condition, Measure, Now, Test

_BOUNDS: Final = frozenset({"high", "low"})
_FROM: Final = frozenset({"drawdown", "from_high", "from_low"})
DETAILS: Final = frozenset({"on", "since", "from"})
"""Labels of cells that belong to the cell before."""

_LASTING: Final = frozenset({"trend", "regime", "market_regime"})


async def detailed(
    asked: Asked, measures: Sequence[Measure | None], columns: Sequence[Column], cells: Sequence[Scalar]
) -> list[tuple[Column, Scalar]]:
    """The cells of one thing; after a high or low its day, after a trend or regime since when it holds."""
    found = []
    for measure, column, cell in zip(measures, columns, cells, strict=True):
        found.append((column, cell))
        detail = None if measure is None or cell is None else await _detail(asked, measure, cell)
        if detail is not None:
            found.append(detail)
    return found


async def _detail(asked: Asked, measure: Measure, cell: Scalar) -> tuple[Column, Scalar] | None:
    id_, time = asked.ids[0], asked.query.time
    if id_ in asked.reading.others:
        return None
    if measure.name in _BOUNDS:
        bar = await bound_bar(asked.reading, measure, time, id_)
        return None if bar is None else (Column("on", Unit.DATE), bar.open_ms)
    if measure.name in _FROM and isinstance(time, Now):
        bound = await bound_price(asked.reading, measure, time, id_)
        scale = 1_000 if id_ in asked.reading.per_coin else 1
        return None if bound is None else (Column("from", Unit.USD), bound / scale)
    if measure.name in _LASTING:
        since_ms = await since_of(asked.reading, measure, time, id_, cell)
        return None if since_ms is None else (Column("since", Unit.DATE), since_ms)
    return None


async def benchmarks(asked: Asked, condition: Condition | None) -> list[tuple[Column, Scalar]]:
    """The values of the coins that a condition compares with: "did ETH beat BTC?"."""
    items = condition.items if isinstance(condition, All | Any_) else (condition,)
    tests = [item for item in items if isinstance(item, Test) and item.coin is not None]
    one = len({test.measure for test in tests}) == 1
    found = []
    for test in tests:
        coin = str(test.coin)
        values = await values_of(asked.reading, test.measure, test.at or asked.query.time, [coin])
        label = f"{asked.name(coin)}'s{'' if one else f' {label_of(test.measure)}'}"
        found.append((Column(label, unit_of(test.measure)), values[coin]))
    return found


async def remarks(asked: Asked, measures: Sequence[Measure]) -> tuple[dict[str, Figure], list[str]]:
    """Figures and notes on what the measures of one thing are made of."""
    reading, id_ = asked.reading, asked.ids[0]
    named = {measure.name: measure for measure in measures}
    figures: dict[str, Figure] = {}
    if "breadth" in named:
        health = await reading.tool("market.health", context=1)
        figures |= {name.lower(): count(health["trends"][name]) for name in ("UP", "HODL", "DOWN")}
        figures["universe"] = count(health["universe"])
        return figures, ["breadth"]
    if "strength" in named:
        one = named["strength"]
        other, change = one.other or BENCHMARK, Measure("change", one.over)
        moves = await values_of(reading, change, asked.query.time, [id_, other])
        figures |= {"own": Figure(moves[id_], Unit.PERCENT), "base": Figure(moves[other], Unit.PERCENT)}
        return figures | {"other": text(other)}, ["strength"]
    if [*named] == ["funding"] and id_ != MARKET:
        paid = (await asked.values(named["funding"], [id_]))[id_]
        if isinstance(paid, int | float) and paid:
            figures |= {
                "payer": text("longs" if paid > 0 else "shorts"),
                "payee": text("shorts" if paid > 0 else "longs"),
            }
            return figures, ["payer"]
    return figures, []
