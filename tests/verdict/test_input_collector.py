"""The fan-out: all sources at once, each failing in each way alone and together, and what the inputs then say."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from itertools import combinations, product
from typing import Any

import pytest
from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, iso
from service.errors import ServiceError
from service.storage.documents import FetchFailure
from service.verdict.sources import BATCH, DEADLINE_S, SourceFacts
from service.wire.queries import SignalQuery
from service.wire.verdict import Sources, VerdictInputs, VerdictRaw
from tests.fakes.clock import START_MS, FakeClock
from tests.verdict.knowing import CLOSE_MS, COINS, HEARD_MS, PAID_MS, World, quote, read

NAMES = ("risk", "funding", "regime", "sentiment")
DATED = {"risk": CLOSE_MS, "funding": PAID_MS, "regime": CLOSE_MS, "sentiment": HEARD_MS}
SUBSETS = [lost for size in range(1, 5) for lost in combinations(NAMES, size)]


async def down(_: str) -> SourceFacts[Any]:
    raise ServiceError("UPSTREAM_5XX", "down")


async def defective(_: str) -> SourceFacts[Any]:
    raise ZeroDivisionError


async def hanging(_: str) -> SourceFacts[Any]:
    await asyncio.get_running_loop().create_future()
    raise AssertionError


async def deaf(_: str) -> SourceFacts[Any]:
    """Hangs, and cannot even be told to stop, at first."""
    try:
        await asyncio.get_running_loop().create_future()
    except asyncio.CancelledError:
        await asyncio.sleep(0)
    raise ZeroDivisionError


async def cancelled(_: str) -> SourceFacts[Any]:
    raise asyncio.CancelledError


FAULTS: dict[str, Callable[[str], Awaitable[SourceFacts[Any]]]] = {
    "down": down, "defective": defective, "hanging": hanging, "deaf": deaf, "cancelled": cancelled
}  # fmt: skip


async def observed(world: World, clock: FakeClock, symbol: str = "BTC") -> VerdictInputs:
    """Observe, and let the deadline pass for whoever hangs."""
    asked = asyncio.ensure_future(world.observer.collect(symbol))
    await clock.settle()
    await clock.advance(DEADLINE_S)
    assert asked.done()
    return asked.result()


@pytest.mark.promise("signal.fan-out")
async def test_the_four_sources_are_asked_and_all_of_them_told(world: World) -> None:
    found = await world.observer.collect("BTC")
    assert (found.symbol, found.as_of) == ("BTC", iso(CLOSE_MS))
    assert found.sources == Sources("fulfilled", "fulfilled", "fulfilled", "fulfilled")
    assert found.raw == VerdictRaw(
        *[(await getattr(world.sources, name)("BTC")).facts for name in NAMES]
    )  # fmt: skip


async def test_the_sources_are_asked_at_once_and_not_in_turn(world: World, clock: FakeClock) -> None:
    waiting: list[str] = []
    everyone = asyncio.Event()

    def meeting(name: str) -> Callable[[str], Awaitable[SourceFacts[Any]]]:
        asked = getattr(world.sources, name)

        async def source(symbol: str) -> SourceFacts[Any]:
            waiting.append(name)
            if len(waiting) == len(NAMES):
                everyone.set()
            await everyone.wait()
            return await asked(symbol)  # type: ignore[no-any-return]

        return source

    world.ask(**{name: meeting(name) for name in NAMES})
    assert (await world.observer.collect("BTC")).sources == Sources("fulfilled", "fulfilled", "fulfilled", "fulfilled")
    assert sorted(waiting) == sorted(NAMES)


@pytest.mark.slow
@pytest.mark.promise("signal.sources")
@pytest.mark.parametrize(("fault", "lost"), list(product(FAULTS, SUBSETS)), ids=str)
async def test_whoever_fails_however_is_rejected_and_the_others_are_heard(
    world: World, clock: FakeClock, fault: str, lost: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    whole = await world.observer.collect("BTC")
    world.ask(**dict.fromkeys(lost, FAULTS[fault]))
    found = await observed(world, clock)
    for name in NAMES:
        assert getattr(found.sources, name) == ("rejected" if name in lost else "fulfilled")
        assert getattr(found.raw, name) == (None if name in lost else getattr(whole.raw, name))
    kept = [at_ms for name, at_ms in DATED.items() if name not in lost]
    assert found.as_of == iso(min(kept) if kept else START_MS)
    logged = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(logged) == (len(lost) if fault in {"defective", "deaf"} else 0)
    assert {vars(record)["symbol"] for record in logged} <= {"BTC"}


async def test_different_faults_at_once_are_each_their_sources_own(world: World, clock: FakeClock) -> None:
    await world.moods.fail(FetchFailure(START_MS, 500, "no"))
    world.ask(risk=hanging, funding=defective, regime=down)
    found = await observed(world, clock)
    assert found.sources == Sources("rejected", "rejected", "rejected", "stale")
    assert found.as_of == iso(HEARD_MS)


async def test_nobody_is_waited_for_longer_than_the_deadline_nor_given_up_before(
    world: World, clock: FakeClock
) -> None:
    late = asyncio.Event()

    async def slow(symbol: str) -> SourceFacts[Any]:
        await late.wait()
        return await world.sources.funding(symbol)

    funding = world.sources.funding
    world.ask(risk=hanging, funding=slow)
    asked = asyncio.ensure_future(world.observer.collect("BTC"))
    await clock.settle()
    await clock.advance(DEADLINE_S - 0.001)
    assert not asked.done()
    world.sources = world.sources._replace(funding=funding)
    late.set()
    await clock.settle()
    assert not asked.done()
    await clock.advance(0.001)
    assert asked.result().sources == Sources("rejected", "fulfilled", "fulfilled", "fulfilled")
    assert DEADLINE_S == 2


async def test_whoever_is_not_waited_for_any_more_is_stopped(world: World, clock: FakeClock) -> None:
    stopped: list[str] = []

    async def noticing(symbol: str) -> SourceFacts[Any]:
        try:
            return await hanging(symbol)
        finally:
            stopped.append(symbol)

    world.ask(funding=noticing, regime=noticing)
    await observed(world, clock)
    await clock.settle()
    assert stopped == ["BTC", "BTC"]
    asked = asyncio.ensure_future(world.observer.collect("ETH"))
    await clock.settle()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    await clock.settle()
    assert stopped == ["BTC", "BTC", "ETH", "ETH"]


@pytest.mark.promise("signal.as-of")
async def test_as_of_is_the_oldest_of_what_is_used(world: World, clock: FakeClock) -> None:
    moment = world.momenta.current.value
    assert moment is not None
    await world.pay({"BTC": replace(moment.coins["BTC"], newest_ms=START_MS - HOUR_MS)})
    world.ask(regime=down)
    world.charts["BTC"] = replace(world.charts["BTC"], through_ms=START_MS)
    world.show()
    assert (await world.observer.collect("BTC")).as_of == iso(START_MS - HOUR_MS)
    world.charts["BTC"] = replace(world.charts["BTC"], through_ms=CLOSE_MS)
    world.show()
    world.ask(funding=down, regime=down)
    assert (await world.observer.collect("BTC")).as_of == iso(CLOSE_MS)
    world.charts["BTC"] = replace(world.charts["BTC"], through_ms=START_MS - 3 * DAY_MS)
    world.show()
    assert (await world.observer.collect("BTC")).as_of == iso(HEARD_MS)


async def test_where_nothing_was_told_as_of_is_when_the_price_was_last_seen_and_does_not_move(
    world: World, clock: FakeClock
) -> None:
    world.ask(**dict.fromkeys(NAMES, down))
    clock.set_wall(START_MS + DAY_MS)
    first = await world.observer.collect("BTC")
    clock.set_wall(START_MS + DAY_MS + 1)
    assert first == await world.observer.collect("BTC")
    assert first.as_of == iso(START_MS)
    clock.set_wall(START_MS - 1)
    assert (await world.observer.collect("BTC")).as_of == iso(START_MS - 1)


async def test_a_coin_that_was_never_seen_priced_is_dated_by_the_minute_that_it_is(
    world: World, clock: FakeClock
) -> None:
    world.ask(**dict.fromkeys(NAMES, down))
    world.quotes["BTC"] = replace(quote("BTC"), price=None, price_ms=None)
    world.show()
    clock.set_wall(START_MS + 59_999)
    assert (await world.observer.collect("BTC")).as_of == iso(START_MS)
    clock.set_wall(START_MS + MINUTE_MS)
    assert (await world.observer.collect("BTC")).as_of == iso(START_MS + MINUTE_MS)
    del world.quotes["BTC"]
    world.show()
    assert (await world.observer.collect("BTC")).as_of == iso(START_MS + MINUTE_MS)


async def test_every_listed_coin_is_observed_by_ticker(world: World) -> None:
    found = await world.observer.collect_all()
    assert [inputs.symbol for inputs in found] == sorted(COINS)
    assert found == [await world.observer.collect(symbol) for symbol in sorted(COINS)]


async def test_a_source_that_hangs_costs_a_whole_market_seconds_only(world: World, clock: FakeClock) -> None:
    names = [f"C{place:02}" for place in range(3 * BATCH)]
    world.quotes = {symbol: quote(symbol) for symbol in names}
    world.show()
    world.ask(regime=hanging)
    asked = asyncio.ensure_future(world.observer.collect_all())
    for _ in range(3):
        assert not asked.done()
        await clock.settle()
        await clock.advance(DEADLINE_S)
    found = asked.result()
    assert [inputs.symbol for inputs in found] == names
    assert {inputs.sources.regime for inputs in found} == {"rejected"}


async def test_sentiment_and_regime_down_give_a_verdict_of_less_confidence_that_says_so(world: World) -> None:
    assert (await world.signal()).confidence == "high"
    world.ask(sentiment=down, regime=down)
    answer = await world.desk.signal(SignalQuery("BTC"))
    said = read(answer)
    assert (said.verdict, said.confidence, answer.counted) == ("bull", "low", True)
    assert said.sources == Sources("fulfilled", "fulfilled", "rejected", "rejected")
    assert "the regime gave nothing" in said.confidence_basis.explanation
    assert "sentiment gave nothing" in said.confidence_basis.explanation
    assert said.evidence[-1] == said.confidence_basis.explanation


@pytest.mark.promise("signal.insufficient-free")
async def test_price_and_trend_down_are_insufficient_evidence_and_cost_nothing(world: World) -> None:
    world.ask(risk=down)
    answer = await world.desk.signal(SignalQuery("BTC"))
    said = read(answer)
    assert (said.verdict, said.confidence, answer.counted) == ("insufficient-evidence", "low", False)
    assert said.sources == Sources("rejected", "fulfilled", "fulfilled", "fulfilled")
