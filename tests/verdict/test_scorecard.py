"""What past verdicts were worth: counted by the service, and once more the slow way."""

import asyncio
import random
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pytest

from service.clock import DAY_MS
from service.market.shelf import Drawer, Shelf
from service.storage.database import Database
from service.storage.engine import Connection, connect
from service.verdict.ledger import HORIZONS, Head, Kind, Ledger
from service.verdict.rules_v1 import TABLES_V1
from service.verdict.ruleset import VERSION_1, VERSION_2
from service.verdict.scorecard import (
    LABELS,
    LEAST,
    SCORECARD,
    Bin,
    Cell,
    Figures,
    Pools,
    Scorecard,
    Scorecards,
    reliability,
)
from service.verdict.scoring import move_pct
from service.verdict.tally import _BINS, Count, count_entries, tally
from service.wire.verdict import Label, TrackRecord
from tests.fakes.clock import START_MS
from tests.verdict.issuing import LEANS, ORIGIN, judged

HEAD = Head(7, "a" * 64)
BOUNDS = ("2", "-2", "3.5", "-3.5", "5", "-5", "0", "2.01", "-5.01")
COINS = ("BTC", "ETH", "KPEPE")


class Past(NamedTuple):
    """A verdict and one of its outcomes."""

    kind: str
    symbol: str
    verdict: str
    claimed: float | None
    days: int
    entry: float
    price: float

    @property
    def rose(self) -> bool:
        return self.price > self.entry

    def came_true(self, verdict: str) -> bool:
        """Whether what a verdict says came true here, from the prices as they are written."""
        entry, price = Decimal(repr(self.entry)), Decimal(repr(self.price))
        if verdict in {"strong-bull", "bull"}:
            return price > entry
        if verdict in {"strong-bear", "bear"}:
            return price < entry
        bound = {1: Decimal(2), 3: Decimal("3.5"), 7: Decimal(5)}[self.days]
        return abs(price - entry) * 100 <= bound * entry


async def live_through(database: Database, days: int) -> list[Past]:
    """Issue verdicts for so many days, on every coin and for somebody who asks, and have some of them turn out.

    Every fourth day they are of version 2 of the rules, which claims no probability.
    """
    chance = random.Random(days)  # noqa: S311 - a made-up past
    ledger = Ledger(database)
    for day in range(days):
        at_ms, rules = START_MS + day * DAY_MS, VERSION_1 if day % 4 else VERSION_2
        verdicts = [
            judged(coin, _price(chance), chance.choice([*LEANS]), chance.choice([0.0, 30.0, -15.0]), rules)
            for coin in COINS
        ]
        await ledger.issue_day(ORIGIN, day, verdicts, at_ms)
        asked = judged("BTC", _price(chance), chance.choice([*LEANS]), rules=rules)
        await ledger.issue(ORIGIN, asked, at_ms)
    rows = await database.read("SELECT seq, kind, symbol, verdict, probability_up, price FROM verdict_ledger")
    past = []
    outcomes: list[tuple[object, ...]] = []
    for seq, kind, symbol, verdict, claimed, entry in rows:
        for horizon in HORIZONS:
            if chance.random() < 0.1:
                outcomes.append((1, seq, horizon, None, None, None, "no such hour"))
                continue
            move = Decimal(chance.choice([*BOUNDS, f"{chance.gauss(0, 4):.3f}"]))
            price = float(Decimal(repr(entry)) * (100 + move) / 100)
            past.append(Past(kind, symbol, verdict, claimed, horizon, entry, price))
            outcomes.append((1, seq, horizon, 1, price, move_pct(entry, price), None))
    await database.write(lambda connection: _put(connection, outcomes))
    return past


def _price(chance: random.Random) -> float:
    return round(chance.uniform(10, 99), 2)


def _brier(past: Sequence[Past]) -> float | None:
    """Of those that claimed a probability, if there are thirty."""
    errors = [(each.claimed - each.rose) ** 2 for each in past if each.claimed is not None]
    return None if len(errors) < 30 else fmean(errors)


def _put(connection: Connection, outcomes: Sequence[tuple[object, ...]]) -> None:
    connection.executemany(
        "INSERT INTO verdict_outcomes (scored_ms, seq, days, price_ms, price, move_pct, void) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        outcomes,
    )


async def look(database: Database) -> Scorecard:
    return await database.inspect(lambda connection: tally(connection, ORIGIN))


def among(past: Sequence[Past], **wanted: object) -> list[Past]:
    return [each for each in past if all(getattr(each, name) == value for name, value in wanted.items())]


@pytest.mark.parametrize("symbol", [None, "ETH"])
async def test_figures_equal_an_independent_count_of_the_same_outcomes(database: Database, symbol: str | None) -> None:
    past = await live_through(database, 100)
    pools = Pools((await look(database)).cells)
    of_coin: dict[str, object] = {} if symbol is None else {"symbol": symbol}
    seen = scored = 0
    for verdict in LABELS:
        for days in HORIZONS:
            own = among(past, kind="daily", verdict=verdict, days=days, **of_coin)
            every = among(past, kind="daily", days=days, **of_coin)
            found = pools.figures(verdict, days, symbol=symbol)
            assert found.outcomes == len(own)
            if len(own) < 30:
                assert found == Figures(len(own))
                continue
            seen += 1
            assert found.compared == len(every)
            assert found.hit_rate == pytest.approx(fmean(each.came_true(verdict) for each in own), abs=5e-5)
            assert found.base_rate == pytest.approx(fmean(each.came_true(verdict) for each in every), abs=5e-5)
            assert found.brier == pytest.approx(_brier(own), abs=5.1e-5)
            scored += found.brier is not None
            move = fmean((each.price / each.entry - 1) * 100 for each in own)
            assert found.mean_move_pct == pytest.approx(move, abs=1.1e-4)
    if symbol is None:
        assert (seen, scored) == (15, 15)


async def test_the_reliability_table_equals_an_independent_sorting_into_ranges(database: Database) -> None:
    past = await live_through(database, 60)
    card = await look(database)
    kinds: tuple[Kind, ...] = ("daily", "asked")
    for kind in kinds:
        for days in HORIZONS:
            ranges: dict[int, list[Past]] = {}
            for each in among(past, kind=kind, days=days):
                if each.claimed is not None:
                    ranges.setdefault(int(Decimal(repr(each.claimed)) * 100) // 5, []).append(each)
            found = reliability(card, days, kind)
            assert [round(row.low * 20) for row in found] == sorted(ranges)
            assert len(found) >= 4
            for row, place in zip(found, sorted(ranges), strict=True):
                own = ranges[place]
                assert (row.high, row.outcomes) == ((place + 1) / 20, len(own))
                assert row.claimed == pytest.approx(fmean(one.claimed or 0.0 for one in own), abs=5.1e-5)
                rose = None if len(own) < 30 else pytest.approx(fmean(one.rose for one in own), abs=5.1e-5)
                assert row.rose == rose


async def test_what_somebody_asked_for_changes_no_figure_of_the_daily_verdicts(database: Database) -> None:
    await live_through(database, 40)
    before = Pools((await look(database)).cells)
    ledger = Ledger(database)
    heads = await asyncio.gather(
        *(ledger.issue(ORIGIN, judged("BTC", 10.0 + place, "strong-bull"), START_MS) for place in range(60))
    )
    moves = [(1, head.entries, days, 1, 99.0, 50.0, None) for head in heads for days in HORIZONS]
    await database.write(lambda connection: _put(connection, moves))
    card = await look(database)
    assert {cell.symbol for cell in card.cells if cell.kind == "asked"} == {""}
    after = Pools(card.cells)
    for days in HORIZONS:
        for verdict in LABELS:
            assert after.figures(verdict, days) == before.figures(verdict, days)
            assert after.figures(verdict, days, symbol="BTC") == before.figures(verdict, days, symbol="BTC")
        assert after.figures("strong-bull", days, "asked").outcomes >= 60


async def test_a_census_counts_what_the_ledger_holds_of_a_history(database: Database) -> None:
    ledger = Ledger(database)
    await ledger.issue_day(ORIGIN, 1, [judged("BTC"), judged("ETH", None)], START_MS)
    await ledger.issue(ORIGIN, judged("BTC"), START_MS + 5)
    await ledger.issue(ORIGIN, judged("SOL"), START_MS + 9)
    await ledger.issue("another", judged("SOL"), START_MS + 11)
    await database.write(lambda connection: _put(connection, [(1, 1, 1, None, None, None, "gone")]))
    found = await database.inspect(lambda connection: count_entries(connection, ORIGIN))
    assert found.kinds == {
        "daily": Count(2, 1, START_MS, START_MS),
        "asked": Count(2, 0, START_MS + 5, START_MS + 9),
    }
    assert (found.waiting, found.void) == (9, 1)


def cells(count: int, *, ups: int, symbol: str = "BTC", verdict: Label = "bull", days: int = 1) -> list[Cell]:
    """So many outcomes that claimed 0.6, of which so many rose by 3 %, and the rest fell by 1 %."""
    downs = count - ups
    moves, errors = ups * 3.0 - downs, ups * 0.16 + downs * 0.36
    return [Cell("daily", days, symbol, verdict, count, ups, downs, downs, moves, errors, count)]


@pytest.fixture
def drawer(database: Database) -> Drawer[Scorecard]:
    return Shelf(database).drawer(SCORECARD, Scorecard)


@pytest.fixture
def scorecards(drawer: Drawer[Scorecard]) -> Scorecards:
    return Scorecards(drawer, lambda: ORIGIN)


Put = Callable[[list[Cell]], Any]


@pytest.fixture
def put(drawer: Drawer[Scorecard]) -> Put:
    return lambda cells: drawer.put(ORIGIN, Scorecard(cells, []), START_MS)


def test_before_anything_was_scored_a_record_says_that_it_is_not_enough_yet(scorecards: Scorecards) -> None:
    verdict = judged("BTC")
    record = scorecards.track(verdict, HEAD)
    assert (record.entries, record.head, record.probability_up) == (7, "a" * 64, None)
    assert [each.days for each in record.all_coins] == [each.days for each in record.this_coin] == [1, 3, 7]
    for each in record.all_coins + record.this_coin:
        assert each.outcomes == 0
        assert each.hit_rate is each.base_rate is each.brier is each.mean_move_pct is None
        assert each.says.startswith("Not enough yet: 0 outcomes of bull verdicts")
        assert each.says.endswith("30 are needed.")


async def test_twenty_nine_outcomes_are_not_enough_and_thirty_are(scorecards: Scorecards, put: Put) -> None:
    await put(cells(29, ups=20))
    first = scorecards.track(judged("BTC"), HEAD).all_coins[0]
    assert (first.outcomes, first.hit_rate, first.brier) == (29, None, None)
    assert first.says == "Not enough yet: 29 outcomes of bull verdicts a day later, 30 are needed."
    await put(cells(30, ups=20))
    first = scorecards.track(judged("BTC"), HEAD).all_coins[0]
    assert (first.outcomes, first.hit_rate, first.base_rate) == (30, 0.6667, 0.6667)
    assert (first.brier, first.mean_move_pct) == (round((20 * 0.16 + 10 * 0.36) / 30, 4), round(50 / 30, 4))


async def test_a_record_tells_all_coins_and_this_coin_and_what_they_are_compared_with(
    scorecards: Scorecards, put: Put
) -> None:
    await put(cells(40, ups=30) + cells(60, ups=10, symbol="ETH") + cells(50, ups=25, verdict="neutral"))
    record = scorecards.track(judged("BTC"), HEAD)
    every, own = record.all_coins[0], record.this_coin[0]
    assert (every.outcomes, every.hit_rate, every.base_rate) == (100, 0.4, round(65 / 150, 4))
    assert (own.outcomes, own.hit_rate, own.base_rate) == (40, 0.75, round(55 / 90, 4))
    assert every.says == (
        "After 40.0% of 100 bull verdicts the price was higher a day later; after 43.3% of all 150 it was."
    )
    assert own.says == (
        "After 75.0% of 40 bull verdicts on BTC the price was higher a day later; after 61.1% of all 90 on BTC it was."
    )


@pytest.mark.parametrize(
    ("verdict", "hit_rate", "said"),
    [
        ("strong-bull", 0.25, "higher 3 days later"),
        ("bear", 0.75, "lower 3 days later"),
        ("strong-bear", 0.75, "lower 3 days later"),
        ("neutral", 0.75, "within 3.5 % 3 days later"),
    ],
)
async def test_each_verdict_is_held_to_what_it_says(
    scorecards: Scorecards, put: Put, verdict: Label, hit_rate: float, said: str
) -> None:
    await put(cells(40, ups=10, verdict=verdict, days=3))
    found = scorecards.track(judged("BTC", 100.0, verdict), HEAD).all_coins[1]
    assert found.hit_rate == hit_rate
    assert said in found.says


async def test_an_abstention_has_nothing_to_be_held_to(scorecards: Scorecards, put: Put) -> None:
    await put(cells(40, ups=10))
    record = scorecards.track(judged("BTC", None), HEAD)
    assert {each.says for each in record.all_coins} == {"An abstention claims nothing, so there is nothing to score."}
    assert {each.outcomes for each in record.this_coin} == {0}


async def test_a_record_is_the_same_object_until_something_in_it_changes(scorecards: Scorecards, put: Put) -> None:
    first = scorecards.track(judged("BTC"), HEAD)
    assert scorecards.track(judged("BTC"), Head(7, "a" * 64)) is first
    scorecards.track(judged("ETH"), HEAD)
    assert scorecards.track(judged("BTC"), HEAD) is first
    others: list[TrackRecord] = [
        scorecards.track(judged("BTC"), Head(8, "b" * 64)),
        scorecards.track(judged("BTC", 100.0, "bear"), HEAD),
    ]
    await put(cells(40, ups=10))
    others.append(scorecards.track(judged("BTC"), HEAD))
    assert first not in others


async def test_outcomes_of_another_history_say_nothing_of_this_one(
    drawer: Drawer[Scorecard], scorecards: Scorecards
) -> None:
    await drawer.put("another", Scorecard(cells(40, ups=10), []), START_MS)
    record = scorecards.track(judged("BTC"), HEAD)
    assert record.all_coins[0].outcomes == 0
    assert scorecards.track(judged("BTC"), HEAD) is record


def test_asked_verdicts_are_compared_with_daily_ones_only_where_there_are_enough_of_these() -> None:
    asked = [Cell("asked", 1, "", "bull", 40, 30, 10, 0, 80.0, 8.0)]
    found = Pools(asked + cells(29, ups=3)).figures("bull", 1, "asked")
    assert (found.hit_rate, found.base_rate) == (0.75, None)
    found = Pools(asked + cells(30, ups=3)).figures("bull", 1, "asked")
    assert (found.base_rate, found.compared, LEAST) == (0.1, 30, 30)


async def test_the_bounds_of_neutral_belong_to_it(database: Database) -> None:
    ledger = Ledger(database)
    moves = {1: "2", 3: "3.5", 7: "5"}
    for place in range(4):
        await ledger.issue(ORIGIN, judged("BTC", 100.0 + place, "neutral"), START_MS)
    rows: list[tuple[object, ...]] = []
    for days, bound in moves.items():
        for place, by in enumerate((Decimal(1), Decimal(-1), Decimal("1.0001"), Decimal("-1.0001"))):
            entry = 100.0 + place
            price = float(Decimal(repr(entry)) * (100 + Decimal(bound) * by) / 100)
            rows.append((1, place + 1, days, 1, price, move_pct(entry, price), None))
    await database.write(lambda connection: _put(connection, rows))
    pools = Pools((await look(database)).cells)
    assert [pools.tally("asked", None, days, "neutral").flats for days in HORIZONS] == [2, 2, 2]


@pytest.mark.parametrize(
    ("claimed", "place"),
    [
        *((TABLES_V1.claimed(quarters / 4), 10 + quarters // 4) for quarters in range(-16, 17)),
        (0.0, 0),
        (0.9, 18),
        (0.95, 19),
        (1.0, 19),
    ],
)
def test_every_score_has_its_range_the_lower_end_included(claimed: float, place: int) -> None:
    connection = connect(Path(":memory:"))
    try:
        connection.execute("CREATE TABLE verdict_ledger (seq INTEGER PRIMARY KEY, origin, kind, probability_up)")
        connection.execute("CREATE TABLE verdict_outcomes (seq, days, price, move_pct)")
        connection.execute("INSERT INTO verdict_ledger VALUES (1, 'test', 'daily', ?)", (claimed,))
        connection.execute("INSERT INTO verdict_outcomes VALUES (1, 1, 1.0, 1.0)")
        assert connection.execute(_BINS, ("test",)).fetchall() == [("daily", 1, place, 1, 1, claimed)]
    finally:
        connection.close()


async def test_all_outcomes_are_those_of_the_history_that_is_told(drawer: Drawer[Scorecard]) -> None:
    told = [ORIGIN]
    scorecards = Scorecards(drawer, lambda: told[0])
    assert scorecards.whole() == Scorecard([], [])
    card = Scorecard([Cell("daily", 1, "BTC", "bull", 1, 1, 0, 0, 1.0, 0.1)], [])
    await drawer.put(ORIGIN, card, START_MS)
    assert scorecards.whole() == card
    told[0] = "another"
    assert scorecards.whole() == Scorecard([], [])


@pytest.mark.parametrize(("outcomes", "rate"), [(29, None), (30, 0.5)])
def test_a_range_tells_how_often_prices_rose_from_thirty_outcomes_on(outcomes: int, rate: float | None) -> None:
    card = Scorecard([], [Bin("daily", 1, 12, outcomes, outcomes // 2, 0.6 * outcomes)])
    assert [(found.outcomes, found.rose) for found in reliability(card, 1)] == [(outcomes, rate)]


async def test_verdicts_that_claim_no_probability_have_every_figure_but_the_brier_score(database: Database) -> None:
    ledger = Ledger(database)
    for place in range(40):
        rules = VERSION_1 if place < 29 else VERSION_2
        await ledger.issue_day(ORIGIN, place, [judged("BTC", 100.0 + place, rules=rules)], START_MS)
    rows = [(1, seq, 1, 1, 99.0, 1.0 if seq % 2 else -1.0, None) for seq in range(1, 41)]
    await database.write(lambda connection: _put(connection, rows))
    card = await look(database)
    found = Pools(card.cells).figures("bull", 1)
    assert (found.outcomes, found.hit_rate, found.base_rate, found.brier) == (40, 0.5, 0.5, None)
    assert sum(row.outcomes for row in reliability(card, 1)) == 29


async def test_without_any_claimed_probability_there_is_no_reliability_table(database: Database) -> None:
    await Ledger(database).issue_day(ORIGIN, 1, [judged("BTC")], START_MS)
    await database.write(lambda connection: _put(connection, [(1, 1, 1, 1, 101.0, 1.0, None)]))
    card = await look(database)
    assert (card.bins, [cell.outcomes for cell in card.cells]) == ([], [1])
