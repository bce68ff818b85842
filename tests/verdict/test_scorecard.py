"""What past verdicts were worth: counted by the service, and once more the slow way."""

import asyncio
import math
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from decimal import Decimal
from statistics import fmean
from typing import Any, NamedTuple

import pytest

from service.clock import DAY_MS
from service.storage.database import Database
from service.storage.documents import Document, DocumentStore
from service.storage.engine import Connection
from service.verdict.ledger import HORIZONS, Ledger, LedgerHead
from service.verdict.ledger_statistics import count_ledger
from service.verdict.outcomes import move_pct
from service.verdict.ruleset import VERSION_1, VERSION_2
from service.verdict.scorecard import (
    BACKTEST,
    LABELS,
    SCORECARD,
    DaySpread,
    OutcomeCell,
    OutcomeStatistics,
    Scorecard,
    Scorecards,
)
from service.wire.verdict import Label, TrackRecord
from tests.analytics.students import reach
from tests.fakes.clock import START_MS
from tests.verdict.issuing import LEANS, ORIGIN, judged
from tests.verdict.scorecards import card, cell

HEAD = LedgerHead(7, "a" * 64)
BOUNDS = ("2", "-2", "3.5", "-3.5", "5", "-5", "0", "2.01", "-5.01")
COINS = ("BTC", "ETH", "PEPE")


class Past(NamedTuple):
    """A verdict and one of its outcomes."""

    kind: str
    symbol: str
    verdict: str
    issued_ms: int
    days: int
    entry: float
    price: float

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

    Every fourth day they are of version 1 of the rules, which are not counted, and not in what is returned.
    """
    chance = random.Random(days)  # noqa: S311 - a made-up past
    ledger = Ledger(database)
    for day in range(days):
        at_ms, rules = START_MS + day * DAY_MS, VERSION_2 if day % 4 else VERSION_1
        verdicts = [
            judged(coin, _price(chance), chance.choice([*LEANS]), chance.choice([0.0, 30.0, -15.0]), rules)
            for coin in COINS
        ]
        await ledger.issue_day(ORIGIN, day, verdicts, at_ms)
        asked = judged("BTC", _price(chance), chance.choice([*LEANS]), rules=rules)
        await ledger.issue(ORIGIN, asked, at_ms)
    rows = await database.read(
        "SELECT seq, kind, symbol, verdict, issued_ms, price, probability_up FROM verdict_ledger"
    )
    past = []
    outcomes: list[tuple[object, ...]] = []
    for seq, kind, symbol, verdict, issued_ms, entry, claimed in rows:
        for horizon in HORIZONS:
            if chance.random() < 0.1:
                outcomes.append((1, seq, horizon, None, None, None, "no such hour"))
                continue
            move = Decimal(chance.choice([*BOUNDS, f"{chance.gauss(0, 4):.3f}"]))
            price = float(Decimal(repr(entry)) * (100 + move) / 100)
            if claimed is None:
                past.append(Past(kind, symbol, verdict, issued_ms, horizon, entry, price))
            outcomes.append((1, seq, horizon, 1, price, move_pct(entry, price), None))
    await database.write(lambda connection: _put(connection, outcomes))
    return past


def _price(chance: random.Random) -> float:
    return round(chance.uniform(10, 99), 2)


def interval(own: Sequence[Past], verdict: str, days: int) -> tuple[float, float]:
    """95 %, all outcomes of a day as one cluster, for outcomes that overlap over so many days."""
    rate = fmean(each.came_true(verdict) for each in own)
    residuals: dict[int, float] = defaultdict(float)
    for each in own:
        residuals[each.issued_ms // DAY_MS] += each.came_true(verdict) - rate
    variance = sum(residual**2 for residual in residuals.values()) / len(own) ** 2
    off = reach(len(residuals)) * math.sqrt(days * variance)
    return max(0.0, rate - off), min(1.0, rate + off)


def _put(connection: Connection, outcomes: Sequence[tuple[object, ...]]) -> None:
    connection.executemany(
        "INSERT INTO verdict_outcomes (scored_ms, seq, days, price_ms, price, move_pct, void) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        outcomes,
    )


async def look(database: Database) -> Scorecard:
    return await database.inspect(lambda connection: count_ledger(connection, ORIGIN))


def among(past: Sequence[Past], **wanted: object) -> list[Past]:
    return [each for each in past if all(getattr(each, name) == value for name, value in wanted.items())]


@pytest.mark.slow
@pytest.mark.promise("record.intervals")
@pytest.mark.parametrize("symbol", [None, "ETH"])
async def test_figures_equal_an_independent_count_of_the_same_outcomes(database: Database, symbol: str | None) -> None:
    past = await live_through(database, 600)
    pools = OutcomeStatistics(await look(database))
    of_coin: dict[str, object] = {} if symbol is None else {"symbol": symbol}
    for verdict in LABELS:
        for days in HORIZONS:
            own = among(past, kind="daily", verdict=verdict, days=days, **of_coin)
            every = among(past, kind="daily", days=days, **of_coin)
            found = pools.figures(verdict, days, symbol=symbol)
            assert (found.outcomes, found.compared) == (len(own), len(every))
            assert found.days_seen == len({each.issued_ms // DAY_MS for each in own}) >= 60
            assert found.hit_rate == pytest.approx(fmean(each.came_true(verdict) for each in own), abs=5e-5)
            assert found.base_rate == pytest.approx(fmean(each.came_true(verdict) for each in every), abs=5e-5)
            bounds = (found.hit_rate_low, found.hit_rate_high)
            assert bounds == pytest.approx(interval(own, verdict, days), abs=5.1e-5)
            move = fmean((each.price / each.entry - 1) * 100 for each in own)
            assert found.mean_move_pct == pytest.approx(move, abs=1.1e-4)


async def test_what_somebody_asked_for_changes_no_figure_of_the_daily_verdicts(database: Database) -> None:
    await live_through(database, 40)
    before = OutcomeStatistics(await look(database))
    ledger = Ledger(database)
    heads = await asyncio.gather(
        *(ledger.issue(ORIGIN, judged("BTC", 10.0 + place, "strong-bull"), START_MS) for place in range(60))
    )
    moves = [(1, head.entries, days, 1, 99.0, 50.0, None) for head in heads for days in HORIZONS]
    await database.write(lambda connection: _put(connection, moves))
    card = await look(database)
    assert {cell.symbol for cell in card.cells if cell.kind == "asked"} == {""}
    after = OutcomeStatistics(card)
    for days in HORIZONS:
        for verdict in LABELS:
            assert after.figures(verdict, days) == before.figures(verdict, days)
            assert after.figures(verdict, days, symbol="BTC") == before.figures(verdict, days, symbol="BTC")
        assert after.figures("strong-bull", days, "asked").outcomes >= 60


async def test_outcomes_without_a_price_are_counted_of_the_current_rules_and_history_alone(database: Database) -> None:
    ledger = Ledger(database)
    await ledger.issue_day(ORIGIN, 1, [judged("BTC"), judged("ETH", rules=VERSION_1)], START_MS)
    await ledger.issue("another", judged("SOL"), START_MS + 11)
    void = [(1, seq, 1, None, None, None, "gone") for seq in (1, 2, 3)]
    await database.write(lambda connection: _put(connection, void))
    assert (await look(database)).void == 1


@pytest.fixture
def drawer(database: Database) -> Document[Scorecard]:
    return DocumentStore(database).document(SCORECARD, Scorecard)


@pytest.fixture
def backtest(database: Database) -> Document[Scorecard]:
    return DocumentStore(database).document(BACKTEST, Scorecard)


@pytest.fixture
def scorecards(drawer: Document[Scorecard], backtest: Document[Scorecard]) -> Scorecards:
    return Scorecards(drawer, backtest, lambda: ORIGIN)


Put = Callable[[Scorecard], Any]


@pytest.fixture
def put(drawer: Document[Scorecard]) -> Put:
    return lambda counted: drawer.put(ORIGIN, counted, START_MS)


@pytest.mark.promise("record.enough")
def test_before_anything_was_scored_a_record_says_that_it_is_not_enough_yet(scorecards: Scorecards) -> None:
    record = scorecards.track(judged("BTC"), HEAD)
    assert (record.entries, record.head, record.backtested) == (7, "a" * 64, None)
    live = record.live
    assert [each.days for each in live.all_coins] == [each.days for each in live.this_coin] == [1, 3, 7]
    for each in live.all_coins + live.this_coin:
        assert (each.outcomes, each.days_seen) == (0, 0)
        assert each.hit_rate is each.base_rate is each.hit_rate_low is each.hit_rate_high is each.mean_move_pct is None
        assert each.says.startswith("Not enough yet: bull verdicts")
        assert each.says.endswith("60 are needed.")


@pytest.mark.promise("record.enough")
async def test_a_thousand_outcomes_of_fifty_nine_days_are_not_enough_and_of_sixty_are(
    scorecards: Scorecards, put: Put
) -> None:
    await put(card(cell(1_000, ups=600), days=59))
    first = scorecards.track(judged("BTC"), HEAD).live.all_coins[0]
    assert (first.outcomes, first.days_seen, first.hit_rate) == (1_000, 59, None)
    assert first.says == (
        "Not enough yet: bull verdicts were given on 59 days with an outcome a day later; 60 are needed."
    )
    await put(card(cell(1_000, ups=600), days=60))
    first = scorecards.track(judged("BTC"), HEAD).live.all_coins[0]
    assert (first.days_seen, first.hit_rate, first.base_rate, first.mean_move_pct) == (60, 0.6, 0.6, 1.4)


async def test_a_record_tells_all_coins_and_this_coin_and_what_they_are_compared_with(
    scorecards: Scorecards, put: Put
) -> None:
    await put(card(cell(80, ups=60), cell(120, ups=20, symbol="ETH"), cell(100, ups=50, verdict="neutral")))
    live = scorecards.track(judged("BTC"), HEAD).live
    every, own = live.all_coins[0], live.this_coin[0]
    assert (every.outcomes, every.hit_rate, every.base_rate) == (200, 0.4, round(130 / 300, 4))
    assert (own.outcomes, own.hit_rate, own.base_rate) == (80, 0.75, round(110 / 180, 4))
    assert every.says == (
        "After 40.0 % of 200 bull verdicts on 100 days the price was higher a day later (no interval, because all days "
        "are alike); after 43.3 % of all 300 it was."
    )
    assert own.says == (
        "After 75.0 % of 80 bull verdicts on BTC on 80 days the price was higher a day later (95 % interval 65.4 % to "
        "84.6 %); after 61.1 % of all 180 on BTC it was."
    )


@pytest.mark.promise("record.two")
async def test_the_live_and_the_backtested_record_are_never_mixed(
    scorecards: Scorecards, put: Put, backtest: Document[Scorecard]
) -> None:
    await put(card(cell(100, ups=30)))
    live = scorecards.track(judged("BTC"), HEAD).live
    await backtest.put(ORIGIN, card(cell(500, ups=400), days=90), START_MS)
    record = scorecards.track(judged("BTC"), HEAD)
    assert record.live == live
    assert record.backtested is not None
    first = record.backtested.all_coins[0]
    assert (first.outcomes, first.days_seen, first.hit_rate) == (500, 90, 0.8)


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
    await put(card(cell(80, ups=20, verdict=verdict, days=3)))
    found = scorecards.track(judged("BTC", 100.0, verdict), HEAD).live.all_coins[1]
    assert found.hit_rate == hit_rate
    assert said in found.says


async def test_an_abstention_has_nothing_to_be_held_to(scorecards: Scorecards, put: Put) -> None:
    await put(card(cell(80, ups=10)))
    live = scorecards.track(judged("BTC", None), HEAD).live
    assert {each.says for each in live.all_coins} == {"An abstention claims nothing, so there is nothing to score."}
    assert {each.outcomes for each in live.this_coin} == {0}


async def test_a_record_is_the_same_object_until_something_in_it_changes(scorecards: Scorecards, put: Put) -> None:
    first = scorecards.track(judged("BTC"), HEAD)
    assert scorecards.track(judged("BTC"), LedgerHead(7, "a" * 64)) is first
    scorecards.track(judged("ETH"), HEAD)
    assert scorecards.track(judged("BTC"), HEAD) is first
    others: list[TrackRecord] = [
        scorecards.track(judged("BTC"), LedgerHead(8, "b" * 64)),
        scorecards.track(judged("BTC", 100.0, "bear"), HEAD),
    ]
    await put(card(cell(80, ups=10)))
    others.append(scorecards.track(judged("BTC"), HEAD))
    assert first not in others


async def test_outcomes_of_another_history_say_nothing_of_this_one(
    drawer: Document[Scorecard], scorecards: Scorecards
) -> None:
    await drawer.put("another", card(cell(80, ups=10)), START_MS)
    record = scorecards.track(judged("BTC"), HEAD)
    assert record.live.all_coins[0].outcomes == 0
    assert scorecards.track(judged("BTC"), HEAD) is record


def test_asked_verdicts_are_compared_with_daily_ones_where_there_are_any() -> None:
    asked = OutcomeCell("asked", 1, "", "bull", 80, 60, 20, 0, 160.0)
    found = OutcomeStatistics(card(asked)).figures("bull", 1, "asked")
    assert (found.hit_rate, found.base_rate, found.compared) == (0.75, None, 0)
    found = OutcomeStatistics(card(asked, cell(30, ups=3))).figures("bull", 1, "asked")
    assert (found.base_rate, found.compared) == (0.1, 30)


@pytest.mark.parametrize(
    ("days", "count", "odd", "even"), [(60, 1, 0, 1), (61, 2, 2, 1), (97, 3, 1, 3), (400, 20, 3, 9)]
)
@pytest.mark.parametrize("horizon", HORIZONS)
def test_an_interval_is_by_students_distribution_over_days(
    days: int, count: int, odd: int, even: int, horizon: int
) -> None:
    hits = [(odd if day % 2 else even) * (day % 3 > 0) for day in range(days)]
    ups, outcomes = sum(hits), count * days
    every = OutcomeCell("daily", horizon, "BTC", "bull", outcomes, ups, outcomes - ups, 0, 0.0)
    squares, products = sum(hit**2 for hit in hits), sum(hit * count for hit in hits)
    spread = DaySpread("daily", horizon, "bull", days, squares, products, count**2 * days)
    found = OutcomeStatistics(Scorecard(2, [every], [spread])).figures("bull", horizon)
    rate = ups / outcomes
    variance = horizon * sum((hit - rate * count) ** 2 for hit in hits) / outcomes**2
    off = reach(days) * math.sqrt(variance)
    assert found.hit_rate_low == pytest.approx(max(0.0, rate - off), abs=5.1e-5)
    assert found.hit_rate_high == pytest.approx(min(1.0, rate + off), abs=5.1e-5)


@pytest.mark.parametrize("days", [60, 61, 99, 180, 363, 1001])
@pytest.mark.parametrize(("right", "of"), [(0, 3), (1, 3), (7, 7)])
def test_days_that_are_all_alike_have_no_interval(days: int, right: int, of: int) -> None:
    found = OutcomeStatistics(card(cell(of * days, ups=right * days), days=days)).figures("bull", 1)
    assert (found.hit_rate, found.hit_rate_low, found.hit_rate_high) == (round(right / of, 4), None, None)


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
    counted = await look(database)
    assert [(cell.days, cell.flats) for cell in counted.cells] == [(days, 2) for days in HORIZONS]
    assert [(spread.days, spread.squares) for spread in counted.spreads] == [(days, 4) for days in HORIZONS]


async def test_all_outcomes_are_those_of_the_history_that_is_told(drawer: Document[Scorecard]) -> None:
    told = [ORIGIN]
    scorecards = Scorecards(drawer, drawer, lambda: told[0])
    assert (scorecards.live(), scorecards.backtested()) == (None, None)
    counted = card(cell(1, ups=1))
    await drawer.put(ORIGIN, counted, START_MS)
    found = scorecards.live()
    assert found is not None
    assert found[0] == counted
    assert scorecards.live() is found, "it is summed up once"
    told[0] = "another"
    assert scorecards.live() is None
