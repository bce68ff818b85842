"""Rules over a market that is put in by hand, one evaluation at a time."""

from typing import Any
from unittest import mock

import msgspec
import pytest
from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, iso
from service.errors import ServiceError
from service.market.daily_report.models import RegimeRun
from service.notify.evaluation import HOLD_MS, RuleEvaluator
from service.notify.store import RuleStore
from service.storage.database import Database
from service.wire.regime import RegimeSignal
from service.wire.verdict import Label, Sources, SourceState
from tests.fakes.clock import START_MS, FakeClock
from tests.watch.streaming import Process, concluded, crossing


class Verdicts:
    """Stands for the verdict service: the same label for every coin.

    Attributes:
        label: The verdict.
        sentiment: State of one of its sources.
        as_of_ms: Time of the oldest input; null for now.
        asked: The coins of each call.
    """

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self.label: Label = "neutral"
        self.sentiment: SourceState = "fulfilled"
        self.as_of_ms: int | None = None
        self.asked: list[list[str]] = []

    async def verdicts(self, symbols: list[str]) -> dict[str, Any]:
        self.asked.append(symbols)
        sources = Sources("fulfilled", "fulfilled", "fulfilled", self.sentiment)

        class Found(msgspec.Struct):
            verdict: str
            sources: Sources
            as_of: str

        return {symbol: Found(self.label, sources, iso(self.as_of_ms or self._clock.now_ms())) for symbol in symbols}


class World:
    """A market, rules of user 1, and their messages."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.clock = clock
        self.process = Process(database, clock)
        self.store = RuleStore(database)
        self.verdicts = Verdicts(clock)
        self.restart()

    def restart(self) -> None:
        """Forget what is in memory, as a new process has it."""
        verdict: Any = self.verdicts
        self.evaluator = RuleEvaluator(self.clock, self.store, self.process.market, verdict, "fixtures")

    async def add(self, text: str) -> None:
        await self.store.add(1, text, "https://example.org/", self.clock.now_ms())

    async def quote(self, price: float | None) -> list[str]:
        """Show a price of BTC five seconds later and evaluate; the messages so far, oldest first."""
        await self.clock.advance(5)
        await self.process.quote({"BTC": price, "ETH": 10.0})
        return await self.look()

    async def look(self) -> list[str]:
        await self.evaluator.round()
        return [message["data"]["message"] for message in await self.messages()]

    async def messages(self) -> list[dict[str, Any]]:
        return [msgspec.json.decode(each.body) for each in reversed(await self.store.messages(1, 200))]

    async def state(self) -> str | None:
        return (await self.store.rules())[0].state


@pytest.fixture
async def world(database: Database, clock: FakeClock) -> World:
    made = World(database, clock)
    await made.process.series.claim(made.process.origin)
    await made.process.quote({"BTC": 100.0, "ETH": 10.0})
    return made


@pytest.mark.promise("notify.rules", "notify.once")
async def test_a_price_rule_fires_once_when_its_price_is_crossed(world: World) -> None:
    await world.add("BTC > 100")
    assert await world.quote(99.0) == []
    assert await world.state() == "armed"
    assert await world.quote(101.5) == ["BTC is above $100: $101.5."]
    assert len(await world.quote(103.0)) == len(await world.quote(99.9)) == len(await world.quote(101.0)) == 1
    assert len(await world.quote(99.0)) == 1
    assert await world.quote(100.5) == ["BTC is above $100: $101.5.", "BTC is above $100: $100.5."]
    first, second = await world.messages()
    assert first["data"]["id"] != second["data"]["id"]
    assert first["type"] == "alert.price-above"
    assert first["timestamp"] == first["data"]["as_of"] == iso(START_MS + 10_000)
    assert {name: first["data"][name] for name in ("alert", "rule", "symbol", "value", "source")} == {
        "alert": 1, "rule": "BTC > 100", "symbol": "BTC", "value": 101.5, "source": "fixtures",
    }  # fmt: skip


async def test_a_price_below_fires_and_a_price_that_is_beyond_at_first_does_not(world: World) -> None:
    await world.add("BTC < 100")
    assert await world.quote(90.0) == []
    assert await world.state() == "fired"
    await world.quote(101.0)
    world.restart()
    assert await world.quote(99.0) == ["BTC is below $100: $99."]


@pytest.mark.promise("notify.accepted-data")
async def test_a_stale_or_unknown_price_or_coin_triggers_nothing(world: World) -> None:
    await world.add("BTC > 100")
    await world.add("GONE > 1")
    await world.quote(99.0)
    await world.process.quote({"BTC": 105.0, "ETH": 10.0})
    await world.clock.advance(46)
    assert await world.look() == []
    assert await world.quote(None) == []
    assert await world.state() == "armed"


async def test_a_state_of_another_dataset_does_not_count(world: World) -> None:
    await world.add("BTC > 100")
    await world.quote(99.0)
    world.process.origin = "two"
    await world.process.series.claim("two")
    assert await world.quote(105.0) == []
    (rule,) = await world.store.rules()
    assert (rule.origin, rule.state) == ("two", "fired")


async def test_nothing_is_written_while_nothing_changes(world: World, database: Database) -> None:
    assert await world.look() == []
    await world.add("BTC > 100")
    await world.look()
    before = database.closures
    await world.look()
    assert database.closures == before


@pytest.mark.promise("notify.rules")
async def test_a_new_verdict_counts_once_it_has_held_for_five_minutes(world: World) -> None:
    await world.add("verdict BTC")
    assert await world.look() == []
    assert await world.state() == "neutral"
    await world.look()
    assert world.verdicts.asked == [["BTC"]], "once a minute"

    async def after_a_minute(label: Label) -> list[str]:
        world.verdicts.label = label
        await world.clock.advance(60)
        await world.process.quote({"BTC": 100.0})
        return await world.look()

    for label in ("bull", "bull", "neutral", "bull", "bear", "bear", "bear", "bear", "bear"):
        assert await after_a_minute(label) == []
    assert HOLD_MS == 5 * MINUTE_MS
    assert await after_a_minute("bear") == ["The verdict on BTC changed from neutral to bear."]
    assert len(await after_a_minute("bear")) == 1
    assert await world.state() == "bear"
    (message,) = await world.messages()
    assert (message["type"], message["data"]["value"]) == ("alert.verdict", "bear")


async def hold(world: World, label: Label) -> list[str]:
    """Show a verdict for six minutes; the messages so far."""
    world.verdicts.label, said = label, []
    for _ in range(6):
        await world.clock.advance(60)
        await world.process.quote({"BTC": 100.0})
        said = await world.look()
    return said


@pytest.mark.promise("notify.once")
async def test_each_change_of_a_verdict_is_told_also_where_its_oldest_input_stays(world: World) -> None:
    await world.add("verdict BTC")
    world.verdicts.as_of_ms = START_MS
    for label in ("bull", "neutral", "bull", "neutral", "bull"):
        await hold(world, label)
    assert await world.look() == [f"The verdict on BTC changed from {change}." for change in (
        "bull to neutral", "neutral to bull", "bull to neutral", "neutral to bull"
    )]  # fmt: skip


async def test_a_verdict_that_could_not_be_stored_is_told_a_minute_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.add("verdict BTC")
    await hold(world, "neutral")
    monkeypatch.setattr(world.store, "record", mock.AsyncMock(side_effect=ServiceError("UNAVAILABLE", "no store")))
    with pytest.raises(ServiceError):
        await hold(world, "bear")
    monkeypatch.undo()
    await world.clock.advance(60)
    assert await world.look() == ["The verdict on BTC changed from neutral to bear."]


@pytest.mark.promise("notify.accepted-data")
@pytest.mark.parametrize(
    ("label", "state"), [("bear", "stale"), ("bear", "rejected"), ("insufficient-evidence", "fulfilled")]
)
async def test_a_verdict_that_is_not_made_of_fresh_inputs_triggers_nothing(
    world: World, label: Label, state: SourceState
) -> None:
    await world.add("verdict BTC")
    await world.look()
    world.verdicts.label, world.verdicts.sentiment = label, state
    for _ in range(8):
        await world.clock.advance(60)
        assert await world.look() == []
    assert await world.state() == "neutral"


@pytest.mark.promise("notify.rules", "notify.once")
async def test_funding_zones_of_the_coin_are_told_once_each_also_after_a_restart(world: World) -> None:
    await world.process.turn("BTC", None, "hot", START_MS - 1)
    await world.add("funding BTC")
    await world.clock.advance(60)
    await world.process.turn("ETH", None, "hot")
    await world.process.turn("BTC", "hot", "very-hot")
    assert await world.look() == ["Funding of BTC became very hot: 30.00 % per year."]
    await world.clock.advance(60)
    await world.process.turn("BTC", "very-hot", None)
    said = await world.look()
    assert said[1:] == ["Funding of BTC is no longer hot.", "Funding of BTC is no longer very hot."]
    world.restart()
    assert await world.look() == said
    last = (await world.messages())[-1]
    assert (last["type"], last["data"]["value"]) == ("alert.funding", "left very-hot")


@pytest.mark.promise("notify.rules")
async def test_a_fall_to_a_milder_zone_is_told_as_the_zone_that_was_left(world: World) -> None:
    await world.add("funding BTC")
    await world.clock.advance(60)
    await world.process.turn("BTC", None, "very-hot")
    await world.clock.advance(60)
    await world.process.turn("BTC", "very-hot", "hot")
    assert (await world.look())[-1] == "Funding of BTC is no longer very hot."
    assert [message["data"]["value"] for message in await world.messages()] == ["very-hot", "left very-hot"]


async def test_a_rule_that_cannot_be_read_is_logged_once_and_stops_no_other(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await world.add("nonsense")
    await world.add("BTC > 100")
    await world.quote(99.0)
    assert await world.quote(101.5) == ["BTC is above $100: $101.5."]
    assert [record.__dict__["rule"] for record in caplog.records if "cannot be read" in record.message] == [1]


async def test_many_rules_are_judged_and_stored_in_steps(
    world: World, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.notify.evaluation._RULES_AT_ONCE", 2)
    monkeypatch.setattr("service.notify.evaluation._UPDATES_AT_ONCE", 2)
    for _ in range(5):
        await world.add("BTC > 100")
    before = database.closures
    await world.look()
    assert {rule.state for rule in await world.store.rules()} == {"armed"}
    assert database.closures - before == 3


@pytest.mark.promise("notify.accepted-data")
async def test_a_verdict_must_hold_without_a_gap(world: World) -> None:
    await world.add("verdict BTC")
    await hold(world, "neutral")
    world.verdicts.label = "bear"
    states: list[SourceState] = ["fulfilled"] * 10
    states[4] = "stale"
    for state in states:
        world.verdicts.sentiment = state
        await world.clock.advance(60)
        assert await world.look() == []
    await world.clock.advance(60)
    assert len(await world.look()) == 1


async def test_a_verdict_rule_that_was_removed_leaves_no_hold_to_the_next(world: World) -> None:
    await world.add("verdict BTC")
    await hold(world, "neutral")
    world.verdicts.label = "bear"
    await world.clock.advance(60)
    await world.look()
    assert world.evaluator._changing
    await world.store.remove(1, 1, world.clock.now_ms())
    await world.look()
    assert not world.evaluator._changing


@pytest.mark.promise("notify.rules", "notify.once")
async def test_regimes_and_breadth_are_told_from_the_daily_report_once(world: World) -> None:
    for text in ("regime", "regime BTC", "breadth"):
        await world.add(text)
    await world.clock.advance(12 * 3_600)
    close_ms = world.clock.now_ms() // DAY_MS * DAY_MS
    report = replace(
        concluded(crossing(close_ms, "new"), crossing(close_ms - DAY_MS, "old"), through_ms=close_ms),
        runs=[RegimeRun("risk-on", 0), RegimeRun("neutral", close_ms - DAY_MS), RegimeRun("risk-off", close_ms)],
        signals=[RegimeSignal(symbol, "risk-off", "short", 0.5, iso(close_ms), []) for symbol in ("BTC", "ETH")],
    )
    await world.process.conclude(report)
    said = await world.look()
    assert sorted(said) == [
        "Breadth: UP over DOWN, 5 coins are up and 3 down.",
        "The market's regime is now risk-off.",
        "The regime of BTC is now risk-off.",
    ]
    assert await world.look() == said


async def test_events_of_two_days_ago_and_of_another_dataset_are_not_told(world: World) -> None:
    await world.add("breadth")
    await world.clock.advance(12 * 3_600)
    close_ms = world.clock.now_ms() // DAY_MS * DAY_MS
    await world.clock.advance(48 * 3_600)
    await world.process.conclude(concluded(crossing(close_ms), through_ms=close_ms))
    assert await world.look() == []
    world.process.origin = "two"
    await world.process.conclude(concluded(crossing(world.clock.now_ms() - HOUR_MS)))
    assert await world.look() == []


@pytest.mark.promise("notify.outbox")
async def test_what_could_not_be_stored_is_found_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.add("funding BTC")
    await world.clock.advance(60)
    await world.process.turn("BTC", None, "hot")

    async def fail(*_: object) -> None:
        raise ServiceError("UNAVAILABLE", "no store")

    with monkeypatch.context() as broken:
        broken.setattr(world.store, "record", fail)
        with pytest.raises(ServiceError):
            await world.look()
    assert len(await world.look()) == 1


async def test_before_there_is_a_dataset_nothing_is_evaluated(database: Database, clock: FakeClock) -> None:
    world = World(database, clock)
    await world.add("BTC > 100")
    assert await world.look() == []
    assert await world.state() is None
