"""Filters, lists, ranks, counts, shares and comparisons, recounted row by row."""

from array import array
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.ask.measure_table import Unit
from service.ask.planner.result import Figure, text
from service.ask.query import (
    Aggregate,
    All,
    Any_,
    Changed,
    Check,
    Comparator,
    Compare,
    Condition,
    Count,
    Exists,
    List,
    Measure,
    Not,
    Position,
    Query,
    Rank,
    Ranked,
    Share,
    Subject,
    Window,
)
from service.clock import DAY_MS
from service.wire.market import CategoryInfo, TrendCounts
from service.wire.queries import OfCategory
from service.wire.rwa import OfRwaSymbol, RwaAsset, RwaAssets, RwaAssetsQuery, RwaFunding, RwaListing
from tests.ask.planner.asked import (
    ALL,
    FUNDING,
    L1,
    MARKET,
    PRICE,
    THIS_WEEK,
    TREND,
    UP,
    VERDICT,
    VOLUME,
    change,
    coins,
    day,
    days,
    of,
    where,
)
from tests.ask.planner.world import CATEGORIES, COINS, NEW, NOW_MS, TODAY_MS, World, tool

WORLD = World()
ROWS = WORLD.table


async def names(query: Query, world: World = WORLD) -> list[str]:
    result = await world.ask(query)
    assert result.refusal is None, result.kind
    return [row.subject for row in result.rows]


# Three-valued conditions against Python's own comparisons on the rows

_COLUMNS = {"funding": "funding_apr", "volume": "volume_24h_usd", "score": "score", "streak": "streak_days"}
_OPS: dict[str, Callable[[Any, Any], bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}


def truth(condition: Condition, symbol: str) -> bool | None:
    """The same conditions, by three-valued logic written out another way: 1, 0, and one half for unknown."""
    level = _level(condition, symbol)
    return None if level == 0.5 else level == 1.0


def _level(condition: Any, symbol: str) -> float:
    if isinstance(condition, Not):
        return 1 - _level(condition.item, symbol)
    if isinstance(condition, All):
        return min(_level(item, symbol) for item in condition.items)
    if isinstance(condition, Any_):
        return max(_level(item, symbol) for item in condition.items)
    column = "trend_daily" if condition.measure.name == "trend" else _COLUMNS[condition.measure.name]
    value = getattr(ROWS[symbol], column)
    return 0.5 if value is None else float(_OPS[condition.op](value, condition.value))


_tests = st.one_of(
    st.builds(
        where,
        st.sampled_from([Measure(name) for name in _COLUMNS]),
        st.sampled_from([*_OPS]),
        st.one_of(st.floats(-30, 60), st.sampled_from([1e6, 1e8, 1e9])),
    ),
    st.builds(where, st.just(TREND), st.sampled_from(["eq", "ne"]), st.sampled_from(["UP", "HODL", "DOWN"])),
)
_conditions = st.recursive(
    _tests,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(All, st.tuples(inner, inner)),
        st.builds(Any_, st.tuples(inner, inner)),
    ),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None)
@given(_conditions)
async def test_filters_are_exact_and_leave_unknown_coins_out(condition: Condition) -> None:
    found = await WORLD.ask(of(ALL, where=condition, operation=List()))
    assert sorted(row.subject for row in found.rows) == sorted(one for one in COINS if truth(condition, one))
    assert sorted(found.unknown) == sorted(one for one in COINS if truth(condition, one) is None)


@settings(max_examples=60, deadline=None)
@given(_conditions)
async def test_counts_shares_and_quantifiers_agree_with_the_filter(condition: Condition) -> None:
    said = [truth(condition, one) for one in COINS]
    true, known = said.count(True), len(COINS) - said.count(None)
    counted = await WORLD.ask(of(ALL, where=condition, operation=Count()))
    if not known:
        assert counted.kind == "unknown-value"
        return
    assert (counted.figures["count"].value, counted.figures["of"].value) == (true, known)
    share = await WORLD.ask(of(ALL, where=condition, operation=Share()))
    assert share.figures["share"].value == pytest.approx(100 * true / known)
    expected = {"any": true > 0, "all": true == known, "none": true == 0, "most": 2 * true > known}
    for quantifier, answer in expected.items():
        found = await WORLD.ask(of(ALL, where=condition, operation=Exists(quantifier)))  # type: ignore[arg-type]
        assert found.figures["answer"].value == ("Yes" if answer else "No")


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(sorted(_COLUMNS)), st.sampled_from(["most", "least"]), st.integers(1, 30), st.none() | _conditions
)
async def test_ranks_are_in_order_with_ties_by_ticker(
    name: str, direction: Any, limit: int, condition: Condition | None
) -> None:
    found = await WORLD.ask(of(ALL, Measure(name), where=condition, operation=Rank(direction, limit)))
    sign = -1 if direction == "most" else 1
    wanted = [one for one in COINS if condition is None or truth(condition, one)]
    values = {one: value for one in wanted if (value := getattr(ROWS[one], _COLUMNS[name])) is not None}
    assert [row.subject for row in found.rows] == sorted(values, key=lambda one: (sign * values[one], one))[:limit]
    if found.rows:
        assert found.figures["subject"].value == found.rows[0].subject


async def test_ties_are_broken_by_ticker() -> None:
    world = World(**{symbol: {"volume_24h_usd": 5.0} for symbol in COINS})
    assert await names(of(ALL, VOLUME, operation=Rank("most", 4)), world) == sorted(COINS)[:4]
    assert await names(of(ALL, VOLUME, operation=Rank("least", 4)), world) == sorted(COINS)[:4]


async def test_subjects_are_members_of_categories_without_what_is_left_out() -> None:
    assert sorted(await names(of(L1, operation=List()))) == sorted(CATEGORIES["Layer 1 (L1)"])
    both = Subject(scope="category", categories=("Layer 1 (L1)", "Meme"))
    assert len(await names(of(both, operation=List()))) == len({*CATEGORIES["Layer 1 (L1)"], *CATEGORIES["Meme"]})
    together = Subject(scope="category", categories=both.categories, together=True)
    assert await names(of(together, operation=List())) == ["C01"]
    not_memes = Subject(scope="all", excluded_categories=("Meme",), excluded=("BTC",))
    assert set(await names(of(not_memes, operation=List()))) == set(COINS) - {*CATEGORIES["Meme"], "BTC"}


async def test_a_set_without_conditions_is_counted_whole() -> None:
    found = await WORLD.ask(of(L1, operation=Count()))
    assert (found.figures["count"].value, found.figures["names"].value) == (5, "BTC, C01, C02, ETH, SOL")


async def test_an_empty_set_is_answered_as_such() -> None:
    found = await WORLD.ask(of(ALL, where=where(PRICE, "lt", -1.0), operation=List()))
    assert (found.kind, found.rows) == ("nothing", ())
    found = await WORLD.ask(of(ALL, PRICE, where=where(PRICE, "lt", -1.0), operation=Rank("most", 3)))
    assert found.kind == "nothing"
    world = World(**{symbol: {"score": None} for symbol in COINS})
    found = await world.ask(of(ALL, where=where(Measure("score"), "gt", 1.0), operation=Count()))
    assert found.kind == "unknown-value"


async def test_a_list_shows_the_measures_asked_for_and_those_of_its_conditions() -> None:
    found = await WORLD.ask(of(ALL, VOLUME, where=All((UP, where(FUNDING, "lt", 10.0))), operation=List(3)))
    assert [column.label for column in found.columns] == ["24-hour volume", "daily trend", "funding"]
    assert found.shown == 3
    volumes = [row.values[0] for row in found.rows]
    assert volumes == sorted(volumes, key=lambda value: -float(value or 0))
    also = await WORLD.ask(of(ALL, VOLUME, where=where(PRICE, "gt", 0.0), operation=Rank("most", 2)))
    assert [column.label for column in also.columns] == ["24-hour volume", "price"]
    assert await names(of(L1, VOLUME)) == await names(of(L1, VOLUME, operation=List()))


async def test_verdicts_are_ranked_by_their_score() -> None:
    found = await WORLD.ask(of(ALL, VERDICT, operation=Rank("most", 5)))
    scores = sorted((row.score for row in ROWS.values() if row.score is not None), reverse=True)
    assert [row.values[1] for row in found.rows] == scores[:5]


async def test_states_compare_by_their_order_from_best_to_worst() -> None:
    found = await names(of(ALL, where=where(VERDICT, "ge", "bull"), operation=List()))
    assert sorted(found) == sorted(one for one in COINS if ROWS[one].verdict in {"strong-bull", "bull"})
    found = await names(of(ALL, where=where(VERDICT, "eq", "STRONG-BEAR"), operation=List()))
    assert sorted(found) == sorted(one for one in COINS if ROWS[one].verdict == "strong-bear")
    strange = await WORLD.ask(of(ALL, where=where(VERDICT, "ge", "splendid"), operation=Count()))
    assert strange.kind == "unknown-value"
    assert (await WORLD.ask(of(ALL, where=where(VERDICT, "ge", 3.0), operation=Count()))).kind == "not-comparable"
    assert (await WORLD.ask(of(ALL, where=where(PRICE, "ge", "UP"), operation=Count()))).kind == "not-comparable"


async def test_states_are_ranked_the_best_first() -> None:
    found = await WORLD.ask(of(ALL, TREND, operation=Rank("most", 50)))
    order = [str(row.values[0]) for row in found.rows]
    assert order == sorted(order, key=["UP", "HODL", "DOWN"].index)


async def test_a_measure_is_compared_with_another_of_the_same_coin_or_with_that_of_another() -> None:
    higher = where(change(days(7)), "gt", to=change(days(30)))
    expected = [
        one
        for one in COINS
        if None not in {ROWS[one].change_7d, ROWS[one].change_30d} and ROWS[one].change_7d > ROWS[one].change_30d
    ]
    assert sorted(await names(of(ALL, where=higher, operation=List()))) == sorted(expected)
    world = World(BTC={"score": 1.0})
    better = await names(of(ALL, where=where(Measure("score"), "gt", coin="BTC"), operation=List()), world)
    assert sorted(better) == sorted(
        one for one, row in world.table.items() if row.score is not None and row.score > 1.0
    )


async def test_a_condition_on_the_market_holds_for_every_coin_or_none() -> None:
    world = World()
    greedy = where(Measure("fear_greed"), "gt", 50.0)
    assert (await world.ask(of(ALL, where=greedy, operation=Count()))).figures["count"].value == len(COINS)
    listed = await world.ask(of(L1, where=greedy, operation=List()))
    assert {row.values for row in listed.rows} == {(55,)}
    world.index = (20, TODAY_MS)
    assert (await world.ask(of(ALL, where=greedy, operation=Count()))).figures["count"].value == 0
    asked = await world.ask(of(MARKET, where=greedy, operation=Check()))
    assert asked.figures["answer"].value == "No"


async def test_a_condition_can_hold_at_another_time() -> None:
    past = where(TREND, "eq", "UP", at=day(20))
    known = {one: WORLD.history.days.trend_daily(one, TODAY_MS - 19 * DAY_MS) for one in COINS}
    expected = [one for one, state in known.items() if state is not None and state.state == "UP"]
    assert sorted(await names(of(ALL, where=past, operation=List()))) == sorted(expected)


async def test_among_the_first_of_all_coins() -> None:
    volumes = {one: row.volume_24h_usd for one, row in ROWS.items() if row.volume_24h_usd is not None}
    first = sorted(volumes, key=lambda one: (-volumes[one], one))[:6]
    found = await names(of(ALL, where=Ranked(VOLUME, "most", 6), operation=List()))
    assert sorted(found) == sorted(first)
    found = await names(of(L1, where=Ranked(VOLUME, "most", 6), operation=List()))
    assert sorted(found) == sorted(set(first) & set(CATEGORIES["Layer 1 (L1)"]))


async def test_the_first_of_a_set_are_ranked_among_themselves_and_are_what_a_share_is_of() -> None:
    volumes = {one: ROWS[one].volume_24h_usd or 0.0 for one in CATEGORIES["Layer 1 (L1)"]}
    first = sorted(volumes, key=lambda one: (-volumes[one], one))[:3]
    largest = Ranked(VOLUME, "most", 3, own=True)
    assert sorted(await names(of(L1, where=largest, operation=List()))) == sorted(first)
    up = All((largest, where(change(), "gt", 0.0)))
    moved = [ROWS[one].change_24h for one in first]
    known = [one for one in moved if one is not None]
    rising = [one for one in known if one > 0]
    found = [await WORLD.ask(of(L1, where=up, operation=one)) for one in (Count(), Share(), Exists("all"))]
    for one in found:
        assert (one.figures["count"].value, one.figures["of"].value, one.total) == (len(rising), len(known), 3)
    assert found[1].figures["share"].value == pytest.approx(len(rising) / len(known) * 100)
    assert found[2].figures["answer"].value == ("Yes" if len(rising) == len(known) else "No")


def turned(symbol: str, to: str | None, since_ms: int, state: str = "trend_daily") -> bool:
    """Whether a state changed at the end of a day, from an instant on."""
    days_ = WORLD.history.days.states(symbol)
    pairs = pairwise(days_)
    return any(
        now.day_ms + DAY_MS >= since_ms
        and None not in {getattr(now, state), getattr(then, state)}
        and getattr(now, state) != getattr(then, state)
        and to in {None, getattr(now, state)}
        for then, now in pairs
    )


@pytest.mark.parametrize("to", ["UP", "DOWN", None])
async def test_changes_of_a_state_within_a_span(to: str | None) -> None:
    found = await names(of(ALL, where=Changed(TREND, to, THIS_WEEK), operation=List()))
    assert sorted(found) == sorted(one for one in COINS if turned(one, to, THIS_WEEK.start_ms))
    regimes = await names(of(ALL, where=Changed(Measure("regime"), None, THIS_WEEK), operation=List()))
    assert sorted(regimes) == sorted(one for one in COINS if turned(one, None, THIS_WEEK.start_ms, "regime"))


async def test_changes_that_nothing_records_are_refused_or_unknown() -> None:
    for measure in (Measure("sentiment"), PRICE):
        assert (
            await WORLD.ask(of(ALL, where=Changed(measure, None, THIS_WEEK), operation=Count()))
        ).kind == "no-changes"
    assert (await WORLD.ask(of(MARKET, where=Changed(TREND, None, THIS_WEEK), operation=Check()))).kind == "no-changes"
    world = World()
    world.history.coins.pop("BTC")
    found = await world.ask(
        of(ALL, where=Changed(Measure("trend", frame="weekly"), None, THIS_WEEK), operation=Count())
    )
    assert "BTC" in found.unknown
    verdicts = await WORLD.ask(of(ALL, where=Changed(VERDICT, "bull", days(30)), operation=Count()))
    assert verdicts.refusal is None


async def test_yes_or_no_for_one_and_for_several() -> None:
    world = World(BTC={"trend_daily": "UP"}, ETH={"trend_daily": "DOWN"}, SOL={"trend_daily": None})
    yes = await world.ask(of(coins("BTC"), where=UP, operation=Check()))
    assert (yes.kind, yes.figures["answer"].value, yes.rows[0].values) == ("check", "Yes", ("yes", "UP"))
    no = await world.ask(of(coins("BTC", "ETH", "SOL"), FUNDING, where=UP, operation=Check()))
    assert (no.kind, no.figures["answer"].value, no.unknown) == ("checks", "No", ("SOL",))
    assert [row.values[0] for row in no.rows] == ["yes", "no", None]
    assert (await world.ask(of(coins("SOL"), where=UP, operation=Check()))).kind == "unknown-value"
    assert (await world.ask(of(coins("SOL"), operation=Check()))).kind == "no-measure"


async def test_the_place_of_a_coin_among_all_or_a_category() -> None:
    volumes = {one: float(1000 - place) for place, one in enumerate(sorted(COINS))}
    world = World(**{one: {"volume_24h_usd": value} for one, value in volumes.items()})
    found = await world.ask(of(coins("C03"), VOLUME, operation=Position()))
    assert (found.figures["place"].value, found.figures["of"].value) == (sorted(COINS).index("C03") + 1, len(COINS))
    least = await world.ask(of(coins("C03"), VOLUME, operation=Position("least")))
    assert least.figures["place"].value == len(COINS) - sorted(COINS).index("C03")
    within = Subject(coins=("SOL", "BTC"), categories=("Layer 1 (L1)",))
    found = await world.ask(of(within, VOLUME, operation=Position()))
    assert [row.values[0] for row in found.rows] == [5, 1]
    assert (await world.ask(of(coins("SOL"), operation=Position()))).kind == "no-measure"
    world = World(SOL={"volume_24h_usd": None})
    assert (await world.ask(of(coins("SOL"), VOLUME, operation=Position()))).kind == "unknown-value"


@pytest.mark.parametrize(("how", "recount"), [("mean", fmean), ("median", median), ("sum", sum)])
async def test_figures_over_a_set(how: Any, recount: Callable[[Sequence[float]], float]) -> None:
    known = [row.market_cap for row in ROWS.values() if row.market_cap is not None]
    found = await WORLD.ask(of(ALL, Measure("market_cap"), operation=Aggregate(how)))
    assert found.figures["value"].value == pytest.approx(recount(known))
    assert found.figures["of"].value == len(known)
    assert len(found.unknown) == len(COINS) - len(known)


async def test_a_mean_of_states_is_refused() -> None:
    assert (await WORLD.ask(of(ALL, TREND, operation=Aggregate("mean")))).kind == "no-aggregate"


async def test_two_coins_side_by_side() -> None:
    world = World(SOL={"change_7d": 5.0}, ETH={"change_7d": 8.5}, BTC={"change_7d": None})
    found = await world.ask(of(coins("SOL", "ETH", "BTC"), change(days(7)), operation=Compare("most")))
    assert (found.kind, found.figures["subject"].value, found.unknown) == ("winner", "ETH", ("BTC",))
    found = await world.ask(of(coins("SOL", "ETH"), change(days(7)), operation=Compare("least")))
    assert found.figures["subject"].value == "SOL"
    assert (await world.ask(of(coins("SOL", "ETH"), change(days(7)), operation=Compare()))).kind == "each"
    assert (await world.ask(of(coins("SOL", "ETH"), operation=Compare()))).kind == "table"
    for alone in (Compare("most"), Rank("most", 1)):
        assert (await world.ask(of(coins("SOL"), change(days(7)), operation=alone))).kind == "no-pair"
    world.table["SOL"].change_7d = None
    assert (await world.ask(of(coins("SOL", "BTC"), change(days(7)), operation=Compare()))).kind == "unknown-value"
    world = World(SOL={"change_7d": 5.0}, ETH={"change_7d": 5.0})
    assert (await world.ask(of(coins("SOL", "ETH"), change(days(7)), operation=Compare("most")))).kind == "tied"


async def test_two_things_that_are_compared_have_a_difference() -> None:
    world = World(SOL={"change_7d": 5.0, "price": 100.0}, ETH={"change_7d": -3.0, "price": 4_000.0})
    pair = coins("SOL", "ETH")
    moves = await world.ask(of(pair, change(days(7)), operation=Compare()))
    assert moves.figures["difference"] == Figure(8.0, Unit.POINTS)
    prices = await world.ask(of(pair, PRICE, operation=Compare("most")))
    assert prices.figures["difference"] == Figure(3_900.0, Unit.USD)
    states = await world.ask(of(pair, TREND, operation=Compare()))
    three = await world.ask(of(coins("SOL", "ETH", "BTC"), PRICE, operation=Compare()))
    overview = await world.ask(of(pair, operation=Compare()))
    for found in (states, three, overview):
        assert found.figures["difference"] == text("")


async def test_a_count_needs_a_condition_unless_it_counts_a_set() -> None:
    for query in (
        of(coins("BTC"), operation=Count()),
        of(ALL, operation=Count(), time=days(30)),
        of(MARKET, operation=Exists("any")),
    ):
        assert (await WORLD.ask(query)).kind == "no-condition"


async def test_verdicts_are_listed_with_their_scores() -> None:
    found = await WORLD.ask(of(ALL, VERDICT, operation=List()))
    assert [column.label for column in found.columns] == ["verdict", "score"]


async def test_values_of_several_things_and_measures() -> None:
    world = World(SOL={"price": 5.0}, ETH={"price": 8.5, "funding_apr": None}, BTC={"price": None, "funding_apr": None})
    each = await world.ask(of(coins("SOL", "ETH", "BTC"), PRICE))
    assert (each.kind, each.unknown, each.shown) == ("each", ("BTC",), 0)
    table = await world.ask(of(coins("SOL", "ETH", "BTC"), PRICE, FUNDING))
    assert (table.kind, [row.subject for row in table.rows]) == ("table", ["SOL", "ETH"])
    one = await world.ask(of(coins("ETH"), PRICE, FUNDING))
    assert (one.kind, one.unknown, one.rows[0].values) == ("values", ("funding",), (8.5,))
    overview = await world.ask(of(coins("SOL")))
    assert [column.label for column in overview.columns][:2] == ["price", "24-hour change"]


async def test_places_behind_the_last_are_refused_with_how_many_there_are() -> None:
    known = sum(row.volume_24h_usd is not None for row in ROWS.values())
    found = await WORLD.ask(of(ALL, VOLUME, operation=Rank("most", 6, skip=known)))
    assert (found.kind, found.figures["of"].value) == ("too-few", known)
    last = await WORLD.ask(of(ALL, VOLUME, operation=Rank("most", 6, skip=known - 1)))
    assert (last.kind, last.figures["place"].value) == ("position", known)
    nothing = where(VOLUME, "gt", 1e15)
    assert (await WORLD.ask(of(ALL, VOLUME, where=nothing, operation=Rank("most", 1, skip=1)))).kind == "nothing"


async def test_what_a_measure_does_not_have_over_a_span_is_refused() -> None:
    for measure in (Measure("streak"), Measure("open_interest"), Measure("rank")):
        assert (await WORLD.ask(of(coins("ETH"), measure, time=days(7)))).kind == "not-over"
    assert (await WORLD.ask(of(ALL, PRICE, time=days(7), operation=Rank("most", 3)))).kind == "not-over"
    assert (await WORLD.ask(of(ALL, operation=Rank("most", 3)))).kind == "no-measure"
    assert (await WORLD.ask(of(L1, Measure("breadth"), operation=Rank("most", 3)))).kind == "wrong-subject"


# Real-world assets and categories as subjects


def asset(symbol: str, **changed: Any) -> RwaAsset:
    facts = {"change_24h": 1.0, "trend_daily": "UP", "volume_24h_usd": 2.0, **changed}
    return RwaAsset(
        id=f"xyz:{symbol}", symbol=symbol, name=symbol, assetType="metal", venue="hyperliquid", price=10.0,
        trend_weekly=None, funding=RwaFunding(0.0, 1.0, 5.0), open_interest_usd=None, changes_from={},
        _stale_fields=["price"], **facts,
    )  # fmt: skip


def with_assets() -> World:
    listed = [asset("GOLD", change_24h=1.5), asset("SILVER", change_24h=-2.5), asset("TIN", change_24h=None)]
    known = {one.id: one for one in listed}
    rows = [RwaListing(one.id, one.symbol, one.name, one.assetType, one.venue) for one in listed]
    info = {
        "Layer 1 (L1)": CategoryInfo("Layer 1 (L1)", None, [], TrendCounts(1, 1, 1), 3e12, 1.0, 5e9, [], []),
        "Meme": CategoryInfo("Meme", None, [], TrendCounts(1, 1, 1), 5e10, 9.0, 5e8, [], []),
    }
    return World(
        [
            tool("rwa.symbol", OfRwaSymbol, lambda query: known[query.symbol]),
            tool(
                "rwa.assets", RwaAssetsQuery, lambda query: RwaAssets(3, rows if query.type in {None, "metal"} else [])
            ),
            tool("category.info", OfCategory, lambda query: info[query.name]),
        ]
    )


async def test_real_world_assets_are_asked_like_coins() -> None:
    world = with_assets()
    named = Subject(scope="assets", assets=("xyz:GOLD",))
    one = await world.ask(of(named, PRICE))
    assert (one.figures["subject"].value, one.figures["value"].value, one.stale) == ("GOLD", 10.0, ("price",))
    assert [source.path for source in one.sources] == ["/api/cli/rwa/symbol/xyz%3AGOLD"]
    assert len((await world.ask(of(named))).columns) == 4
    metals = Subject(scope="assets", asset_type="metal", excluded=("xyz:TIN",))
    assert await names(of(metals, change(), operation=Rank("most", 5)), world) == ["GOLD", "SILVER"]
    everything = await world.ask(of(Subject(scope="assets"), where=where(change(), "gt", 0.0), operation=List()))
    assert ([row.subject for row in everything.rows], everything.unknown) == (["GOLD"], ("TIN",))
    mixed = await world.ask(of(Subject(scope="assets"), where=Ranked(VOLUME, "most", 1), operation=Count()))
    assert mixed.figures["count"].value == 1
    assert (await world.ask(of(Subject(scope="assets"), operation=List()))).columns[0].label == "price"
    assert (await world.ask(of(named, operation=Count()))).figures["noun"].value == "asset"


async def test_assets_have_no_stored_past() -> None:
    world = with_assets()
    named = Subject(scope="assets", assets=("xyz:GOLD",))
    assert (await world.ask(of(named, change(days(14))))).kind == "no-asset-history"
    assert (await world.ask(of(named, PRICE, time=day(4)))).kind == "not-past"
    assert (await world.ask(of(named, Measure("confidence")))).kind == "wrong-subject"
    assert (await world.ask(of(named, where=Changed(TREND, None, THIS_WEEK), operation=Check()))).kind == "no-changes"


async def test_categories_are_ranked_as_a_whole() -> None:
    world = with_assets()
    sectors = Subject(scope="category", excluded_categories=())
    assert await names(of(sectors, Measure("market_cap"), operation=Rank("most", 2)), world) == ["Layer 1 (L1)", "Meme"]
    assert await names(of(sectors, change(), operation=Rank("most", 1)), world) == ["Meme"]
    assert (await world.ask(of(sectors, operation=Count()))).figures["noun"].value == "categories"
    only = Subject(scope="category", excluded_categories=("Meme",))
    assert await names(of(only, VOLUME, operation=Rank("most", 5)), world) == ["Layer 1 (L1)"]


async def test_the_span_of_a_rank_is_that_of_its_first_measure() -> None:
    world = World(SOL={"change_7d": 99.0, "verdict": "bull", "open_interest_usd": 5.0})
    found = await world.ask(
        of(ALL, change(), VERDICT, Measure("open_interest"), time=days(7), operation=Rank("most", 1))
    )
    assert (found.rows[0].subject, found.rows[0].values) == ("SOL", (99.0, "bull", 5.0))


async def test_volumes_of_a_day_and_mean_funding_are_ranked_over_all_coins() -> None:
    day_volume = Measure("volume", Window(24, "h", "24 hours"))
    expected = await names(of(ALL, VOLUME, operation=Rank("most", 5)))
    assert await names(of(ALL, day_volume, operation=Rank("most", 5))) == expected
    mean = Measure("funding", days(7), mean=True)
    first = (await names(of(ALL, mean, operation=Rank("most", 1))))[0]
    now_ms = WORLD.clock.now_ms()
    paid = {one: await WORLD.history.funding(one, now_ms - 7 * DAY_MS, now_ms) for one in COINS}
    assert first == max(COINS, key=lambda one: paid[one].mean_apr or 0)
    assert (await WORLD.ask(of(ALL, Measure("funding", days(200)), operation=Rank("most", 1)))).kind == "hours-before"


async def test_the_window_of_a_volume_is_named() -> None:
    found = await WORLD.ask(of(ALL, VOLUME, time=days(7), operation=Rank("most", 1)))
    assert (found.columns[0].label, found.figures["when"].value) == ("7-day volume", "")
    assert found.title == "all coins, ranked by 7-day volume, top 1"


async def test_a_state_that_a_new_coin_has_had_from_its_first_day_is_not_known_to_have_changed() -> None:
    world = World()
    world.history.coins[NEW].daily[:] = array("b", [1] * len(world.history.coins[NEW].daily))
    condition = Changed(Measure("trend", frame="daily"), "UP", days(60))
    found = await world.ask(of(ALL, where=condition, operation=List()))
    assert NEW in found.unknown
    assert NEW not in [row.subject for row in found.rows]


@pytest.mark.parametrize(("op", "trend"), [("gt", "UP"), ("lt", "DOWN")])
async def test_a_count_of_coins_that_are_up_names_the_trends_as_well(op: Comparator, trend: str) -> None:
    condition = where(change(Window(24, "h", "24 hours")), op, 0.0)
    found = await WORLD.ask(of(ALL, where=condition, operation=Count()))
    assert found.notes == ("trending",)
    assert found.figures["trend"].value == trend
    assert found.figures["trending"].value == [row.trend_daily for row in ROWS.values()].count(trend)
    other = await WORLD.ask(of(ALL, where=where(change(days(7)), op, 0.0), operation=Count()))
    assert "trending" not in other.notes


async def test_the_longest_trends_are_told_with_the_day_on_which_they_began() -> None:
    found = await WORLD.ask(of(ALL, Measure("streak"), operation=Rank("most", 2)))
    assert found.columns[-1].label == "since"
    for row in found.rows:
        run = WORLD.history.days.trend_daily(row.subject, NOW_MS)
        assert run is not None
        assert row.values[-1] == run.since_ms
