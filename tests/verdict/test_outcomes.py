"""How verdicts turned out: at the price of the first hour that opens when an outcome is due."""

import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, iso
from service.market.symbols import canonical
from service.storage.database import Database
from service.storage.documents import Document, DocumentStore
from service.verdict import outcomes as scoring_module
from service.verdict.audit import audit_ledger
from service.verdict.ledger import Ledger
from service.verdict.outcomes import OutcomeScorer, move_pct
from service.verdict.scorecard import SCORECARD, Scorecard
from service.wire.verdict import CoinVerdict
from tests.fakes.clock import START_MS, FakeClock
from tests.verdict.issuing import ORIGIN, Hours, judged

NOW = START_MS // HOUR_MS
DAY_H = 24
Row = tuple[int, int, int | None, float | None, float | None, str | None]


class Stage:
    """A ledger, a market by the hour, and what scores the one by the other."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.database, self.clock, self.origin = database, clock, ORIGIN
        self.hours, self.ledger = Hours(database), Ledger(database)
        self.drawer: Document[Scorecard] = DocumentStore(database).document(SCORECARD, Scorecard)
        self.scoring = self.new_scoring()

    def new_scoring(self) -> OutcomeScorer:
        return OutcomeScorer(self.clock, self.database, self.hours.store, self.drawer, lambda: self.origin)

    async def issue(self, *verdicts: CoinVerdict, at_ms: int = START_MS) -> None:
        for verdict in verdicts:
            await self.ledger.issue(ORIGIN, verdict, at_ms)

    async def score(self, at_h: float) -> list[Row]:
        """Have a round at so many hours after the start; what the outcomes are then."""
        self.clock.set_wall(START_MS + round(at_h * HOUR_MS))
        await self.scoring.round()
        return await self.outcomes()

    async def outcomes(self) -> list[Row]:
        rows = await self.database.read(
            "SELECT seq, days, price_ms, price, move_pct, void FROM verdict_outcomes ORDER BY seq, days"
        )
        return [(*row,) for row in rows]

    async def waiting(self) -> list[tuple[object, ...]]:
        return await self.database.read("SELECT seq, days FROM verdict_due ORDER BY seq, days")


@pytest.fixture
async def stage(database: Database, clock: FakeClock) -> Stage:
    made = Stage(database, clock)
    await made.hours.list_coins("BTC", "kPEPE", "SOL")
    return made


def days(found: Sequence[Row]) -> list[int]:
    return [row[1] for row in found]


async def test_each_horizon_is_scored_at_the_open_of_the_hour_that_opens_when_it_is_due(stage: Stage) -> None:
    await stage.issue(judged("BTC", 100.0))
    await stage.hours.go_on("BTC", range(NOW, NOW + 8 * DAY_H), 100.0)
    await stage.hours.open("BTC", {NOW + 8 * DAY_H: 1.0})
    for hours, price in ((24, 102.5), (72, 97.0), (168, 100.0)):
        await stage.database.write(
            lambda connection, at=NOW + hours, price=price: (
                connection.execute(  # type: ignore[misc]
                    "UPDATE candles SET open = ? WHERE venue_symbol = 'BTC' AND open_ms = ?", (price, at * HOUR_MS)
                ).rowcount
            )
        )
    assert await stage.score(169) == [
        (1, 1, START_MS + DAY_MS, 102.5, 2.5, None),
        (1, 3, START_MS + 3 * DAY_MS, 97.0, -3.0, None),
        (1, 7, START_MS + 7 * DAY_MS, 100.0, 0.0, None),
    ]
    assert await stage.waiting() == []


async def test_a_verdict_within_the_hour_takes_the_next_one_never_the_one_that_runs(stage: Stage) -> None:
    await stage.issue(judged("BTC", 100.0), at_ms=START_MS + MINUTE_MS)
    await stage.hours.open("BTC", {NOW + 24: 111.0, NOW + 25: 122.0})
    assert await stage.score(26 + 1 / 60) == [(1, 1, START_MS + DAY_MS + HOUR_MS, 122.0, 22.0, None)]


async def test_an_hour_that_has_not_closed_scores_nothing(stage: Stage) -> None:
    await stage.issue(judged("BTC", 100.0))
    await stage.hours.open("BTC", {NOW + 24: 111.0}, closed=False)
    assert await stage.score(24.9) == []
    assert await stage.score(25) == []
    await stage.hours.open("BTC", {NOW + 24: 112.0})
    assert days(await stage.score(25)) == [1]


async def test_nothing_is_read_of_the_future_of_a_horizon(stage: Stage) -> None:
    """Hours that are already there, as a replay has them, do not score what is not due yet."""
    await stage.issue(judged("BTC", 100.0))
    await stage.hours.go_on("BTC", range(NOW, NOW + 10 * DAY_H), 101.0)
    assert await stage.score(24.9) == []
    assert days(await stage.score(25)) == [1]
    assert days(await stage.score(73)) == [1, 3]


@pytest.mark.parametrize(("late_h", "scored"), [(6, True), (7, False)])
async def test_an_hour_up_to_six_hours_late_still_tells(stage: Stage, late_h: int, *, scored: bool) -> None:
    await stage.issue(judged("BTC", 100.0))
    await stage.hours.go_on("BTC", [NOW + 23, *range(NOW + 24 + late_h, NOW + 24 + 47)], 101.0)
    assert bool(await stage.score(71)) is scored


async def test_a_gap_is_given_up_once_hours_have_gone_on_for_two_days(stage: Stage) -> None:
    await stage.issue(judged("BTC", 100.0))
    await stage.hours.go_on("BTC", range(NOW + 24 + 7, NOW + 24 + 48), 101.0)
    assert await stage.score(24 + 49) == []
    await stage.hours.open("BTC", {NOW + 24 + 48: 101.0})
    said = f"no hourly bar of BTC opened in the 6 hours from {iso(START_MS + DAY_MS)}"
    assert (await stage.score(24 + 49))[0] == (1, 1, None, None, None, said)
    assert (1, 1) not in await stage.waiting()


async def test_after_a_long_absence_the_hours_are_waited_for_before_anything_is_given_up(stage: Stage) -> None:
    """A service that was off for a month first has to fetch what it missed, the most traded coin first."""
    await stage.issue(judged("BTC", 100.0), judged("SOL", 10.0))
    await stage.hours.go_on("BTC", range(NOW - 5, NOW), 100.0)
    assert await stage.score(30 * DAY_H) == []
    await stage.hours.go_on("BTC", range(NOW, NOW + 30 * DAY_H), 105.0)
    assert [row[:2] for row in await stage.score(30 * DAY_H)] == [(1, 1), (1, 3), (1, 7)]
    await stage.hours.go_on("SOL", range(NOW, NOW + 30 * DAY_H), 11.0)
    assert [row[4] for row in await stage.score(30 * DAY_H)] == [5.0] * 3 + [10.0] * 3


async def test_a_coin_that_is_no_longer_traded_is_given_up_by_the_clock_of_btc(stage: Stage) -> None:
    await stage.issue(judged("SOL", 10.0), judged("GONE", 5.0))
    await stage.hours.go_on("SOL", range(NOW, NOW + 25), 11.0)
    await stage.hours.go_on("BTC", range(NOW, NOW + 24 + 48), 1.0)
    await stage.hours.list_coins("BTC", "kPEPE")
    assert [row[:2] for row in await stage.score(24 + 48)] == [(1, 1)]
    await stage.hours.open("BTC", {NOW + 24 + 48: 1.0})
    found = await stage.score(24 + 48)
    assert [(*row[:2], row[5] is None) for row in found] == [(1, 1, True), (2, 1, False)]
    await stage.hours.go_on("BTC", range(NOW, NOW + 3 * DAY_H + 49), 1.0)
    found = await stage.score(3 * DAY_H + 50)
    assert [(*row[:2], row[5] is None) for row in found] == [
        (1, 1, True),
        (1, 3, False),
        (2, 1, False),
        (2, 3, False),
    ]


async def test_a_coin_is_found_by_its_ticker_whatever_the_venue_calls_it(stage: Stage) -> None:
    await stage.issue(judged("PEPE", 0.01))
    await stage.hours.go_on("kPEPE", range(NOW, NOW + 26), 0.0125)
    assert await stage.score(26) == [(1, 1, START_MS + DAY_MS, 0.0125, 25.0, None)]


async def test_an_entry_on_a_thousand_coins_is_scored_in_thousands_and_passes_the_audit(stage: Stage) -> None:
    await stage.ledger.issue_day(ORIGIN, START_MS // DAY_MS - 1, [judged("KPEPE", 0.01)], START_MS)
    await stage.hours.go_on("kPEPE", range(NOW, NOW + 26), 0.0000123)
    assert await stage.score(26) == [(1, 1, START_MS + DAY_MS, 0.0123, 23.0, None)]
    assert (await stage.database.inspect(audit_ledger)).findings == []
    assert stage.drawer.current.value is not None
    assert [(cell.kind, cell.symbol) for cell in stage.drawer.current.value.cells] == [("daily", "PEPE")]


async def test_of_two_coins_with_one_ticker_the_one_that_is_traded_tells(stage: Stage) -> None:
    await stage.hours.list_coins("BTC", "PEPE")
    await stage.hours.go_on("kPEPE", range(NOW, NOW + 26), 5.0)
    await stage.hours.go_on("PEPE", range(NOW, NOW + 26), 2.0)
    await stage.issue(judged("PEPE", 1.0))
    assert [row[3] for row in await stage.score(26)] == [2.0]


async def test_what_was_scored_is_never_scored_again(stage: Stage) -> None:
    await stage.issue(judged("BTC", 100.0))
    await stage.hours.go_on("BTC", range(NOW, NOW + 26), 101.0)
    found = await stage.score(26)
    await stage.database.write(lambda connection: connection.execute("INSERT INTO verdict_due VALUES (?, ?, 1, 1)", (ORIGIN, START_MS)).rowcount)  # fmt: skip # noqa: E501
    assert await stage.score(27) == found
    assert (1, 1) not in await stage.waiting()


async def test_many_outcomes_are_written_a_batch_at_a_time(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring_module, "_BATCH", 4)
    await stage.issue(*(judged("BTC", 100.0 + place) for place in range(10)))
    await stage.hours.go_on("BTC", range(NOW, NOW + 8 * DAY_H), 101.0)
    before = stage.database.closures
    assert len(await stage.score(8 * DAY_H)) == 30
    assert stage.database.closures - before == 9  # eight batches, and the scorecard


async def test_verdicts_of_another_history_are_left_alone(stage: Stage) -> None:
    await stage.ledger.issue("another", judged("BTC", 100.0), START_MS)
    await stage.hours.go_on("BTC", range(NOW, NOW + 30 * DAY_H), 101.0)
    assert await stage.score(30 * DAY_H) == []
    assert len(await stage.waiting()) == 3


async def test_a_store_that_turns_to_another_history_meanwhile_makes_nobody_give_up(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.issue(judged("BTC", 100.0))
    await stage.hours.go_on("BTC", range(NOW + 32, NOW + 30 * DAY_H), 101.0)
    read = stage.hours.store.closed_bars_after

    async def turn(*arguments: object) -> object:
        await stage.hours.store.claim("another")
        return await read(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(stage.hours.store, "closed_bars_after", turn)
    assert await stage.score(30 * DAY_H) == []


async def test_the_scorecard_is_put_at_first_and_then_only_where_there_are_outcomes(stage: Stage) -> None:
    await stage.issue(judged("BTC", 100.0))
    await stage.hours.go_on("BTC", range(NOW, NOW + 26), 101.0)
    await stage.score(1)
    assert (stage.drawer.current.revision, stage.drawer.current.value) == (1, Scorecard(2, [], []))
    await stage.score(2)
    assert stage.drawer.current.revision == 1
    await stage.score(26)
    assert stage.drawer.current.revision == 2
    assert stage.drawer.current.value is not None
    assert [cell.outcomes for cell in stage.drawer.current.value.cells] == [1]
    stage.scoring = stage.new_scoring()
    await stage.score(27)
    assert stage.drawer.current.revision == 2
    stage.origin = "another"
    await stage.score(28)
    assert (stage.drawer.current.origin, stage.drawer.current.value) == ("another", Scorecard(2, [], []))


async def test_outcomes_equal_those_of_an_independent_reading_of_the_same_hours(stage: Stage) -> None:
    """Coins with gaps, verdicts at odd minutes; each outcome looked up the slow way, in fractions."""
    chance = random.Random(11)  # noqa: S311 - which hours are missing is all it decides
    coins = {"BTC": 30_000.0, "kPEPE": 0.01, "SOL": 150.0}
    series: dict[str, dict[int, float]] = {}
    for coin, price in coins.items():
        hours = [hour for hour in range(NOW, NOW + 20 * DAY_H) if chance.random() < 0.2]
        hours += [NOW + 20 * DAY_H] if coin == "BTC" else []
        series[coin] = {hour: float(f"{price * chance.uniform(0.9, 1.1):.5g}") for hour in hours}
        await stage.hours.open(coin, series[coin])
    issued = []
    for place in range(60):
        coin = chance.choice([*coins])
        at_ms = START_MS + chance.randrange(10 * DAY_MS)
        entry = float(f"{coins[coin] * chance.uniform(0.9, 1.1):.6g}")
        await stage.issue(judged(canonical(coin), entry, funding=place / 100), at_ms=at_ms)
        issued.append((coin, at_ms, entry))
    found = {(seq, day): rest for seq, day, *rest in await stage.score(20 * DAY_H + 1)}
    for seq, (coin, at_ms, entry) in enumerate(issued, 1):
        for day in (1, 3, 7):
            due = at_ms + day * 86_400_000
            told = [hour for hour in sorted(series[coin]) if due <= hour * 3_600_000 <= due + 6 * 3_600_000]
            if told:
                price = series[coin][told[0]]
                exact = (Fraction(price) / Fraction(entry) - 1) * 100
                price_ms, scored, move, void = found[seq, day]
                assert (price_ms, scored, void) == (told[0] * 3_600_000, price, None)
                assert abs(Fraction(move or 0.0) - exact) <= Fraction(1, 19_000)
            elif max(series[coin]) * 3_600_000 >= due + 48 * 3_600_000:
                assert found[seq, day][:3] == [None, None, None]
            else:
                assert (seq, day) not in found
    assert {void is None for *_, void in found.values()} == {True, False}
    assert (await stage.database.inspect(audit_ledger)).findings == []


@pytest.mark.parametrize(
    ("entry", "price", "move"),
    [(100.0, 102.0, 2.0), (100.0, 98.0, -2.0), (3.0, 3.105, 3.5), (7.0, 7.0, 0.0), (1.0, 1.0000004, 0.0), (8, 12, 50)],
)
def test_a_move_is_in_percent_to_four_decimals_and_bounds_are_met_exactly(
    entry: float, price: float, move: float
) -> None:
    assert str(move_pct(entry, price)) == str(float(move))


def test_a_tiny_fall_is_no_negative_zero() -> None:
    assert str(move_pct(1.0, 0.99999999)) == "0.0"


async def test_outcomes_are_summed_up_only_where_there_are_new_ones(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.score(0)
    monkeypatch.delattr(scoring_module, "count_ledger")
    assert await stage.score(1) == []
