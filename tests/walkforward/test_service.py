"""The front: pages of records, the prices of the moment, and what is said where there is nothing."""

from typing import TypeVar

import msgspec
import pytest
from msgspec.structs import replace

from service.clock import DAY_MS, iso
from service.errors import ServiceError
from service.market.models import CoinChart, MarketSnapshot, MarketState, Quote, VenueCoin
from service.market.service import MarketService
from service.market.symbols import canonical
from service.storage.database import Database
from service.walkforward import service as service_module
from service.walkforward import store as store_module
from service.walkforward.parameters import ENGINE
from service.walkforward.records import pack_run
from service.walkforward.service import WalkforwardService
from service.walkforward.store import RunStore
from service.wire.cursor import Cursors
from service.wire.envelope import Answer
from service.wire.quality import SignalQuality, SignalValidations
from service.wire.queries import SignalQualityQuery, WalkforwardAction, WalkforwardQuery
from service.wire.walkforward import WalkforwardOutcomes, WalkforwardPositions, WalkforwardSignals
from tests.fakes.clock import START_MS, FakeClock
from tests.walkforward.runs import COINS, HASH, TODAY, date, made, outcome, packed, position, summary

T = TypeVar("T")

ACTIONS: tuple[WalkforwardAction, ...] = ("signals", "positions", "outcomes")


def quote(venue_symbol: str, price: float | None) -> Quote:
    at_ms = None if price is None else START_MS
    return Quote(venue_symbol, canonical(venue_symbol), 1e6, price, at_ms, 0.0000125, START_MS)


class Told:
    """A desk over a market of two coins and one that was delisted."""

    def __init__(self, clock: FakeClock, runs: RunStore) -> None:
        self.origin = "live"
        self.market = MarketService(clock)
        self.show(110.0)
        self.runs = runs
        self.desk = WalkforwardService(clock, runs, Cursors(bytes(32)), self.market, lambda: self.origin)

    def show(self, price: float | None, delisted: str = "MATIC") -> None:
        coins = [(quote("BTC", price), CoinChart()), (quote("kPEPE", 0.01), CoinChart())]
        gone = [VenueCoin(delisted, canonical(delisted), listed=False)]
        self.market.show(MarketSnapshot(MarketState("live", 1, quotes_ms=START_MS), coins, gone))

    async def ask(self, action: WalkforwardAction = "signals", **others: object) -> Answer:
        return await self.desk.walkforward(WalkforwardQuery(action=action, **others))  # type: ignore[arg-type]

    async def told(self, kind: type[T], action: WalkforwardAction, **others: object) -> T:
        data = (await self.ask(action, **others)).data
        assert isinstance(data, kind)
        return data

    async def refused(self, **others: object) -> ServiceError:
        with pytest.raises(ServiceError) as refused:
            await self.ask(**others)  # type: ignore[arg-type]
        return refused.value


@pytest.fixture
def told(clock: FakeClock, runs: RunStore) -> Told:
    return Told(clock, runs)


@pytest.mark.promise("walkforward.empty", "walkforward.as-of")
@pytest.mark.parametrize("action", ACTIONS)
async def test_before_the_first_run_lists_are_empty_say_why_and_cost_nothing(
    told: Told, clock: FakeClock, action: WalkforwardAction
) -> None:
    await clock.advance(3_600)
    answer = await told.ask(action)
    assert (answer.counted, answer.as_of_ms) == (False, START_MS)
    body = msgspec.to_builtins(answer.data)
    assert body[action] == []
    assert body["meta"] == {
        "engine": ENGINE, "run_id": None, "ran_at": None, "parameters_hash": None, "total": 0, "next_cursor": None,
        "message": body["meta"]["message"],
    }  # fmt: skip
    assert "No run has finished yet" in body["meta"]["message"]
    assert "nothing about the market" in body["meta"]["message"]
    assert body.keys() == {action, "meta"} | ({"summary"} if action == "outcomes" else set())


@pytest.mark.promise("walkforward.actions", "walkforward.meta", "walkforward.as-of")
@pytest.mark.parametrize("action", ACTIONS)
async def test_the_last_run_is_told_as_of_the_instant_it_was_run(told: Told, action: WalkforwardAction) -> None:
    await told.runs.put("live", packed("before"))
    await told.runs.put("live", packed("last", ran_ms=START_MS - 5_000))
    answer = await told.ask(action)
    assert (answer.counted, answer.as_of_ms) == (True, START_MS - 5_000)
    body = msgspec.to_builtins(answer.data)
    assert [record["symbol"] for record in body[action]] == list(COINS)
    assert body["meta"] == {
        "engine": ENGINE, "run_id": "last", "ran_at": iso(START_MS - 5_000), "parameters_hash": HASH, "total": 3,
        "next_cursor": None, "message": None,
    }  # fmt: skip


@pytest.mark.promise("walkforward.signal", "walkforward.position", "walkforward.outcome", "walkforward.summary")
async def test_records_hold_what_the_contract_lists(told: Told) -> None:
    await told.runs.put("live", packed())
    listed = {
        "signals": "id symbol scanDate direction strategy score fold entryPrice",
        "positions": "id symbol direction entryDate entryPrice currentPrice holdDays unrealizedPct stop",
        "outcomes": "id symbol direction entryDate exitDate entryPrice exitPrice returnPct fundingPct costPct holdDays "
        "exitReason fold",
    }
    for action in ACTIONS:
        record = msgspec.to_builtins((await told.ask(action)).data)[action][0]
        assert set(listed[action].split()) <= record.keys()
    outcomes = await told.told(WalkforwardOutcomes, "outcomes", symbol="PEPE", limit=1)
    assert outcomes.summary == summary()
    figures = "total wins losses winRate meanReturnPct sharpe deflatedSharpe maxDrawdownPct exposure trials"
    assert set(figures.split()) <= msgspec.to_builtins(outcomes.summary).keys()


async def test_pages_go_on_in_the_run_they_began_in_whatever_is_run_meanwhile(told: Told) -> None:
    await told.runs.put("live", packed("first", count=7, ran_ms=START_MS - DAY_MS))
    page = await told.told(WalkforwardOutcomes, "outcomes", limit=3)
    await told.runs.put("live", packed("second", count=2))
    found = list(page.outcomes)
    while page.meta.next_cursor is not None:
        page = await told.told(WalkforwardOutcomes, "outcomes", limit=3, cursor=page.meta.next_cursor)
        assert (page.meta.run_id, page.meta.ran_at, page.meta.total) == ("first", iso(START_MS - DAY_MS), 7)
        found += page.outcomes
    assert found == [outcome(number, COINS[number % 3]) for number in range(7)]
    assert (await told.told(WalkforwardOutcomes, "outcomes")).meta.run_id == "second"


async def test_a_cursor_is_good_for_its_own_list_alone(told: Told) -> None:
    await told.runs.put("live", packed(count=7))
    cursor = (await told.told(WalkforwardSignals, "signals", limit=1)).meta.next_cursor
    for others in ({"action": "outcomes"}, {"action": "signals", "symbol": "BTC"}):
        error = await told.refused(cursor=cursor, **others)
        assert (error.code, error.details) == ("BAD_REQUEST", {"parameter": "cursor"})


async def test_a_cursor_into_a_run_that_is_no_longer_kept_says_so(
    told: Told, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "RUNS_KEPT", 1)
    await told.runs.put("live", packed(count=7))
    cursor = (await told.told(WalkforwardSignals, "signals", limit=1)).meta.next_cursor
    await told.runs.put("live", packed())
    restarted = Told(clock, told.runs)
    error = await restarted.refused(cursor=cursor)
    assert (error.code, error.details) == ("BAD_REQUEST", {"parameter": "cursor"})
    assert "was deleted" in error.message


async def test_when_another_history_is_told_its_runs_alone_are(told: Told) -> None:
    await told.runs.put("live", packed("live", count=7))
    cursor = (await told.told(WalkforwardSignals, "signals", limit=1)).meta.next_cursor
    told.origin = "a replay"
    assert (await told.told(WalkforwardSignals, "signals")).meta.run_id is None
    assert (await told.refused(cursor=cursor)).details == {"parameter": "cursor"}
    await told.runs.put("a replay", packed("replayed"))
    assert (await told.told(WalkforwardSignals, "signals")).meta.run_id == "replayed"


async def test_two_runs_stay_in_memory_and_a_third_is_read_again(
    told: Told, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[int] = []
    load = told.runs.load

    async def counted(run: int, origin: str) -> object:
        loaded.append(run)
        return await load(run, origin)

    monkeypatch.setattr(told.runs, "load", counted)
    cursors: list[str | None] = []
    for _ in range(service_module.UNPACKED + 1):
        await told.runs.put("live", packed(count=7))
        cursors.append((await told.told(WalkforwardSignals, "signals", limit=1)).meta.next_cursor)
    assert loaded == [1, 2, 3]
    await told.ask("outcomes")
    await told.ask("signals", cursor=cursors[1])
    assert loaded == [1, 2, 3]
    await told.ask("signals", cursor=cursors[0])
    assert loaded == [1, 2, 3, 1]
    await told.ask("signals", cursor=cursors[1])
    assert loaded == [1, 2, 3, 1]  # what was not asked for longest has gone, and not what was read first


@pytest.mark.parametrize("spelling", ["kpepe", "PEPE", "1000PEPE"])
async def test_a_symbol_narrows_the_list_down_however_it_is_spelt(told: Told, spelling: str) -> None:
    await told.runs.put("live", packed(count=7))
    signals = await told.told(WalkforwardSignals, "signals", symbol=spelling)
    assert [signal.symbol for signal in signals.signals] == ["PEPE", "PEPE"]
    assert signals.meta.total == 2


async def test_a_coin_that_was_delisted_since_is_found_in_the_run(told: Told) -> None:
    await told.runs.put("live", packed())
    outcomes = await told.told(WalkforwardOutcomes, "outcomes", symbol="matic")
    assert [outcome.symbol for outcome in outcomes.outcomes] == ["MATIC"]


@pytest.mark.parametrize("spelling", ["matic", "KMATIC", "kMATIC", "1000matic"])
async def test_a_delisted_coin_is_found_by_the_venues_ticker_of_a_thousand(told: Told, spelling: str) -> None:
    told.show(110.0, delisted="kMATIC")
    await told.runs.put("live", packed())
    told.desk.check(WalkforwardQuery(symbol=spelling))
    outcomes = await told.told(WalkforwardOutcomes, "outcomes", symbol=spelling)
    assert [outcome.symbol for outcome in outcomes.outcomes] == ["MATIC"]


@pytest.mark.parametrize("has_run", [True, False])
async def test_a_coin_that_nobody_knows_is_not_found(told: Told, *, has_run: bool) -> None:
    if has_run:
        await told.runs.put("live", packed())
    error = await told.refused(symbol="BTCC")
    assert error.code == "UNKNOWN_SYMBOL"
    assert error.details == {"candidates": ["BTC"]}


@pytest.mark.parametrize("symbol", [None, "BTC", "kpepe", "matic"])
def test_a_coin_that_is_or_was_listed_is_let_through_before_anything_is_read(told: Told, symbol: str | None) -> None:
    told.desk.check(WalkforwardQuery(symbol=symbol))


def test_a_coin_that_never_was_is_refused_before_anything_is_read(told: Told) -> None:
    with pytest.raises(ServiceError) as refused:
        told.desk.check(WalkforwardQuery(symbol="BTCC"))
    assert refused.value.code == "UNKNOWN_SYMBOL"
    assert refused.value.details == {"candidates": ["BTC"]}


def test_while_no_coin_is_known_a_kept_run_may_still_know_it(told: Told, clock: FakeClock, runs: RunStore) -> None:
    fresh = WalkforwardService(clock, runs, Cursors(bytes(32)), MarketService(clock), lambda: "live")
    fresh.check(WalkforwardQuery(symbol="BTC"))


async def test_an_empty_list_of_a_coin_says_that_it_is_the_run_which_holds_none(told: Told) -> None:
    await told.runs.put("live", pack_run(made(told=summary()), TODAY - 1))
    positions = await told.told(WalkforwardPositions, "positions", symbol="BTC")
    assert positions.meta.message == (
        f"The run of {iso(START_MS)} has no positions of BTC. This says nothing about the market."
    )
    everything = await told.told(WalkforwardPositions, "positions")
    assert (everything.meta.message or "").startswith(f"The run of {iso(START_MS)} has no positions. ")
    assert (await told.ask("positions")).counted


async def test_a_run_over_too_short_a_history_says_so(told: Told) -> None:
    await told.runs.put("live", pack_run(made(message="Nothing was walked: 3 days are recorded."), TODAY - 1))
    outcomes = await told.told(WalkforwardOutcomes, "outcomes")
    assert (outcomes.outcomes, outcomes.summary) == ([], None)
    assert outcomes.meta.message == "Nothing was walked: 3 days are recorded."


@pytest.mark.parametrize(
    ("direction", "price", "gain"), [("long", 110.0, 10.0), ("short", 110.0, -10.0), ("long", 100.0, 0.0)]
)
async def test_positions_are_told_at_the_price_of_this_moment(
    told: Told, clock: FakeClock, direction: str, price: float, gain: float
) -> None:
    held = position(0, direction=direction, entryDate=date(TODAY - 5), entryPrice=100.0)
    await told.runs.put("live", pack_run(made(positions=[held], told=summary()), TODAY - 1))
    told.show(price)
    clock.set_wall(START_MS + 60_000)
    page = await told.told(WalkforwardPositions, "positions")
    assert page.positions == [replace(held, currentPrice=price, unrealizedPct=gain, holdDays=5)]


async def test_a_price_that_is_too_old_or_of_nobody_is_null(told: Told) -> None:
    await told.runs.put("live", packed())
    told.show(None)
    page = await told.told(WalkforwardPositions, "positions")
    prices = {held.symbol: (held.currentPrice, held.unrealizedPct) for held in page.positions}
    assert prices["BTC"] == prices["MATIC"] == (None, None)
    assert prices["PEPE"] == (0.01, -99.99)


async def test_a_clock_that_was_set_back_makes_nobody_hold_for_less_than_nothing(told: Told, clock: FakeClock) -> None:
    await told.runs.put("live", packed())
    clock.set_wall(START_MS - 30 * DAY_MS)
    assert {held.holdDays for held in (await told.told(WalkforwardPositions, "positions")).positions} == {0}


@pytest.mark.promise("quality.loading")
async def test_before_the_first_run_there_is_no_record_the_message_says_why_and_it_costs_nothing(
    told: Told, clock: FakeClock
) -> None:
    await clock.advance(3_600)
    answer = await told.desk.signal_quality("BTC", "trend-following")
    assert (answer.counted, answer.as_of_ms) == (False, START_MS)
    assert isinstance(answer.data, SignalQuality)
    assert (answer.data.reliability_tier, answer.data.confidence) == ("INSUFFICIENT_DATA", None)
    assert answer.data.validations == SignalValidations(
        "trend-following", 0, 0, None, None, None, None, None, None, None
    )
    assert answer.data.message == (
        "No walk-forward has finished yet, so there is no record; the first one runs soon after a start."
    )


@pytest.mark.promise("quality.payload", "quality.as-of")
@pytest.mark.parametrize("spelling", ["kpepe", "PEPE", "1000PEPE"])
async def test_a_record_is_of_the_coin_in_any_spelling_and_as_of_the_last_run(told: Told, spelling: str) -> None:
    await told.runs.put("live", packed("before", count=3))
    await told.runs.put("live", packed("last", count=7, ran_ms=START_MS - 5_000))
    answer = await told.desk.signal_quality(spelling, "trend-following")
    assert (answer.counted, answer.as_of_ms) == (True, START_MS - 5_000)
    assert isinstance(answer.data, SignalQuality)
    assert (answer.data.asset, answer.data.validations.sampleSize, answer.data.validations.wins) == ("PEPE", 2, 2)


@pytest.mark.promise("quality.asset")
@pytest.mark.parametrize("has_run", [True, False])
async def test_a_record_of_an_unknown_coin_is_refused_with_candidates(told: Told, *, has_run: bool) -> None:
    if has_run:
        await told.runs.put("live", packed())
    query = SignalQualityQuery("BTCC")
    with pytest.raises(ServiceError) as refused:
        await told.desk.signal_quality("BTCC", "mean_reversion")
    with pytest.raises(ServiceError) as checked:
        told.desk.check(query)
    for error in (refused.value, checked.value):
        assert (error.code, error.details) == ("UNKNOWN_SYMBOL", {"candidates": ["BTC"]})


async def test_a_coin_that_was_delisted_since_has_its_record_in_the_run(told: Told) -> None:
    query = SignalQualityQuery("matic", "trend-following")
    told.desk.check(query)
    await told.runs.put("live", packed())
    found = (await told.desk.signal_quality("matic", "trend-following")).data
    assert isinstance(found, SignalQuality)
    assert (found.asset, found.validations.sampleSize) == ("MATIC", 1)
