"""The room's front: verdicts of now, written down before they are answered, and of what was known then."""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.clock import HOUR_MS, MINUTE_MS, SECOND_MS, iso, parse_iso
from service.errors import ServiceError
from service.market.models import CoinChart
from service.storage.database import open_database
from service.verdict.claims import claims
from service.verdict.decide import decide, grade
from service.verdict.scorecard import Scorecard
from service.verdict.service import REACH_MS
from service.wire.queries import SignalQuery
from service.wire.verdict import CoinVerdict, Signal, VerdictInputs
from tests.fakes.clock import START_MS, FakeClock
from tests.verdict.knowing import CLOSE_MS, ORIGIN, PRICE, UP, World, quote, read
from tests.verdict.test_input_collector import NAMES, down


def inputs_of(said: Signal) -> VerdictInputs:
    return VerdictInputs(said.symbol, said.as_of, said.sources, said.raw)


async def refused(world: World, symbol: str, as_of: str | None) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        await world.desk.signal(SignalQuery(symbol, as_of))
    return caught.value


@pytest.mark.promise("signal.payload", "signal.evidence")
async def test_a_signal_is_the_verdict_on_what_is_known_with_its_claims_and_record(world: World) -> None:
    answer = await world.desk.signal(SignalQuery("btc"))
    assert isinstance(answer.data, msgspec.Raw)
    assert list(msgspec.json.decode(bytes(answer.data))) == [
        "symbol", "verdict", "score", "confidence", "as_of", "evidence", "sources", "raw", "rules", "ruleset",
        "verdict_id", "confidence_basis", "claims", "record",
    ]  # fmt: skip
    said, expected = read(answer), decide(await world.observer.collect("BTC"))
    for field in CoinVerdict.__struct_fields__:
        assert getattr(said, field) == getattr(expected, field)
    assert (said.verdict, said.score, said.evidence[0][-1]) == ("strong-bull", 3.0, ".")
    assert answer.counted is True
    assert (answer.as_of_ms, said.as_of) == (CLOSE_MS, iso(CLOSE_MS))
    head = await world.ledger.head()
    assert said.record is not None
    assert (said.record.entries, said.record.head) == (1, head.hash)
    assert said.claims == claims(expected)


async def test_verdicts_of_several_coins_are_those_of_signals_and_are_not_written_down(world: World) -> None:
    found = await world.desk.verdicts([*world.coins.view()])
    assert await world.entries() == []
    for symbol in world.coins.view():
        said = await world.signal(symbol)
        assert all(getattr(said, field) == getattr(found[symbol], field) for field in CoinVerdict.__struct_fields__)


async def test_verdicts_of_several_coins_are_those_that_signals_answer_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [await world.signal(symbol) for symbol in world.coins.view()]
    await world.clock.advance(5)
    world.show()
    monkeypatch.setattr("service.verdict.service.decide", down)
    again = await world.desk.verdicts([*world.coins.view()])
    assert {symbol: one.verdict_id for symbol, one in again.items()} == {one.symbol: one.verdict_id for one in before}


async def test_the_venues_own_spelling_is_understood_and_answered_in_the_canonical_one(world: World) -> None:
    said = await world.signal("kPEPE")
    assert said.symbol == "PEPE"
    assert await world.entries() == [("asked", "PEPE", said.verdict_id)]


async def test_a_coin_that_does_not_exist_or_is_no_longer_listed_is_unknown_before_any_source_is_asked(
    world: World,
) -> None:
    asked: list[str] = []

    async def watched(symbol: str) -> object:
        asked.append(symbol)
        raise AssertionError

    world.ask(**dict.fromkeys(NAMES, watched))
    world.show(delisted={"MATIC": "MATIC"})
    for as_of in (None, iso(START_MS)):
        for symbol in ("NOPE", "MATIC", "PEP"):
            error = await refused(world, symbol, as_of)
            assert (error.code, error.status) == ("UNKNOWN_SYMBOL", 404)
    assert asked == []
    assert await world.entries() == []


async def test_before_any_coin_is_known_the_caller_is_told_to_come_back(world: World) -> None:
    world.quotes, world.state = {}, replace(world.state, quotes_ms=None)
    world.show()
    assert (await refused(world, "BTC", None)).code == "UNAVAILABLE"


async def test_while_the_inputs_stay_the_same_nothing_is_computed_or_written_and_the_answer_is_the_same_object(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await world.desk.signal(SignalQuery("BTC"))
    closures = world.database.closures
    monkeypatch.setattr("service.verdict.service.decide", down)
    world.clock.set_wall(START_MS + 20 * SECOND_MS)
    assert await world.desk.signal(SignalQuery("BTC")) is first
    assert world.database.closures == closures
    assert len(await world.entries()) == 1


async def test_new_inputs_are_a_new_verdict_of_its_own_in_the_ledger(world: World) -> None:
    first = await world.signal()
    await world.clock.advance(15)
    world.refresh(PRICE + 1)
    second = await world.signal()
    assert first.verdict_id != second.verdict_id
    assert (await world.entries()) == [("asked", "BTC", first.verdict_id), ("asked", "BTC", second.verdict_id)]
    assert [said.record and said.record.entries for said in (first, second)] == [1, 2]


async def test_the_verdict_is_in_the_ledger_when_it_is_answered_and_without_that_there_is_no_answer(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise ServiceError("UNAVAILABLE", "the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(world.database, "write", full)
        assert (await refused(world, "BTC", None)).code == "UNAVAILABLE"
    assert await world.entries() == []
    said = await world.signal()
    assert await world.entries() == [("asked", "BTC", said.verdict_id)]


async def test_many_at_once_and_other_processes_get_the_same_verdict_from_one_entry(world: World) -> None:
    other = world.new_desk()
    answers = await asyncio.gather(*(desk.signal(SignalQuery("BTC")) for desk in (world.desk, other) * 20))
    assert len({bytes(answer.data) for answer in answers if isinstance(answer.data, msgspec.Raw)}) == 1
    assert len(await world.entries()) == 1


async def test_an_answer_is_encoded_anew_once_the_scorecard_says_something_else(world: World) -> None:
    first = await world.desk.signal(SignalQuery("BTC"))
    await world.scorecard.put(ORIGIN, Scorecard(2, [], []), START_MS)
    second = await world.desk.signal(SignalQuery("BTC"))
    assert second is not first
    assert read(second) == read(first)
    assert len(await world.entries()) == 1


async def test_another_history_is_another_record_even_of_equal_inputs(world: World) -> None:
    await world.signal()
    world.origin = "another"
    world.show()
    await world.signal()
    assert len(await world.entries()) == 2
    assert (await refused(world, "BTC", iso(START_MS - 1))).code == "NOT_FOUND"


@pytest.mark.promise("signal.insufficient-free")
@pytest.mark.parametrize(("lost", "counted"), [((), True), (("sentiment", "regime"), True), (("risk",), False)])
async def test_an_abstention_is_not_counted_now_or_then(world: World, lost: tuple[str, ...], counted: bool) -> None:
    world.ask(**dict.fromkeys(lost, down))
    for as_of in (None, iso(START_MS)):
        answer = await world.desk.signal(SignalQuery("BTC", as_of))
        assert answer.counted is counted
        assert (read(answer).verdict == "insufficient-evidence") is not counted


async def test_asking_while_everything_is_down_again_and_again_writes_one_entry(world: World) -> None:
    world.ask(**dict.fromkeys(NAMES, down))
    for _ in range(5):
        await world.clock.advance(61)
        await world.signal()
    said = await world.signal()
    assert said.verdict == "insufficient-evidence"
    assert said.as_of == iso(START_MS)
    assert len(await world.entries()) == 1


@pytest.mark.promise("signal.as-of-replay")
async def test_as_of_gives_the_verdict_that_was_issued_then_from_what_was_known_then(world: World) -> None:
    first = await world.desk.signal(SignalQuery("BTC"))
    await world.clock.advance(60)
    world.refresh(PRICE * 2)
    world.ask(sentiment=down)
    second = await world.desk.signal(SignalQuery("BTC"))
    for at_ms, issued in ((START_MS, first), (START_MS + 59_999, first), (START_MS + 60_000, second)):
        then = await world.desk.signal(SignalQuery("BTC", iso(at_ms)))
        assert read(then).verdict_id == read(issued).verdict_id
        assert inputs_of(read(then)) == inputs_of(read(issued))
        assert (then.as_of_ms, then.counted) == (issued.as_of_ms, True)
    assert len(await world.entries()) == 2


async def test_as_of_reads_rows_that_were_written_down_unasked(world: World) -> None:
    known = await world.observer.collect("ETH")
    await world.recorder.round()
    await world.clock.advance(600)
    world.refresh(PRICE * 2)
    assert inputs_of(await world.signal("eth", "2025-07-25T14:05:00+02:00")) == known
    assert await world.entries() == []


async def test_the_later_of_row_and_ledger_is_what_was_known(world: World) -> None:
    asked = await world.signal()
    await world.clock.advance(60)
    world.refresh(PRICE * 2)
    await world.recorder.round()
    recorded = await world.observer.collect("BTC")
    await world.clock.advance(60)
    world.refresh(PRICE * 3)
    later = await world.signal()
    assert inputs_of(await world.signal("BTC", iso(START_MS + 30_000))) == inputs_of(asked)
    assert inputs_of(await world.signal("BTC", iso(START_MS + 90_000))) == recorded
    assert inputs_of(await world.signal("BTC", iso(START_MS + 120_000))) == inputs_of(later)


async def test_an_instant_ahead_is_a_mistake_of_the_parameter(world: World) -> None:
    await world.recorder.round()
    assert (await world.desk.signal(SignalQuery("BTC", iso(START_MS)))).as_of_ms == CLOSE_MS
    error = await refused(world, "BTC", iso(START_MS + 1))
    assert (error.code, error.details) == ("BAD_REQUEST", {"parameter": "as_of"})
    assert "as_of" in error.message
    error = await refused(world, "BTC", "2026-02-30T00:00:00Z")
    assert (error.code, error.details) == ("BAD_REQUEST", {"parameter": "as_of"})


async def test_what_nobody_wrote_down_is_not_found_and_the_answer_says_what_is_there(world: World) -> None:
    at = iso(START_MS - 1)
    error = await refused(world, "BTC", at)
    assert (error.code, error.status, error.details) == ("NOT_FOUND", 404, {"recorded_since": None})
    assert error.message == f"No stored inputs of BTC cover {at}. None exists before that time."
    await world.recorder.round()
    error = await refused(world, "BTC", at)
    assert error.details == {"recorded_since": iso(START_MS)}
    assert error.message.endswith(f"The first one is from {iso(START_MS)}.")
    world.quotes["NEW"] = quote("NEW")
    world.show()
    assert (await refused(world, "NEW", iso(START_MS))).message.endswith("None exists before that time.")


async def test_the_ledger_counts_as_a_record_too(world: World) -> None:
    await world.signal()
    await world.clock.advance(3_600)
    await world.recorder.round()
    assert (await refused(world, "BTC", iso(START_MS - 1))).details == {"recorded_since": iso(START_MS)}
    assert (await refused(world, "ETH", iso(START_MS))).details == {"recorded_since": iso(START_MS + HOUR_MS)}


async def test_a_record_stands_for_half_an_hour_and_no_longer(world: World) -> None:
    await world.recorder.round()
    await world.clock.advance(2 * 3_600)
    assert (await world.signal("BTC", iso(START_MS + REACH_MS))).as_of == iso(CLOSE_MS)
    error = await refused(world, "BTC", iso(START_MS + REACH_MS + 1))
    assert (error.code, error.details) == ("NOT_FOUND", {"recorded_since": iso(START_MS)})
    assert error.message.endswith(f"The newest one before it is from {iso(START_MS)}, more than half an hour earlier.")
    assert REACH_MS == 30 * MINUTE_MS


async def test_a_recomputation_is_no_new_verdict_and_leaves_the_ledger_as_it_is(world: World) -> None:
    await world.recorder.round()
    before = await world.ledger.head()
    said = await world.signal("BTC", iso(START_MS))
    assert await world.ledger.head() == before
    assert said.verdict_id == (await world.signal()).verdict_id


async def test_what_became_of_verdicts_is_not_told_of_an_instant_at_which_nobody_knew(world: World) -> None:
    now, then = await world.signal(), await world.signal("BTC", iso(START_MS))
    assert (now.record is None, now.claims is None) == (False, False)
    assert (then.record, then.claims) == (None, None)


CHANGES: Mapping[str, Callable[[World], None]] = {
    "price": lambda world: world.quotes.update(BTC=replace(world.quotes["BTC"], price=PRICE * 1.01)),
    "price again": lambda world: world.quotes.update(BTC=replace(world.quotes["BTC"], price_ms=START_MS - 1)),
    "daily trend": lambda world: world.charts.update(BTC=replace(UP, trend_daily="DOWN")),
    "weekly trend": lambda world: world.charts.update(BTC=replace(UP, trend_weekly="HODL")),
    "funding rate": lambda world: world.quotes.update(BTC=replace(world.quotes["BTC"], funding=0.00002)),
    "no trend": lambda world: world.charts.update(BTC=CoinChart()),
    "no price": lambda world: world.quotes.update(BTC=replace(world.quotes["BTC"], price=None)),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_the_next_answer_after_an_input_changed_is_judged_from_it_at_the_same_instant(
    world: World, change: str
) -> None:
    first = await world.signal()
    CHANGES[change](world)
    world.show()
    now = await world.observer.collect("BTC")
    assert now != inputs_of(first)
    said = await world.signal()
    assert inputs_of(said) == now
    assert (said.verdict, said.score) == grade(now)
    assert (await world.desk.verdicts(["BTC"]))["BTC"].verdict_id == said.verdict_id != first.verdict_id
    assert len(await world.entries()) == 2


async def test_the_same_inputs_are_answered_from_memory_however_long_they_stay(
    world: World, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = await world.desk.signal(SignalQuery("BTC"))
    monkeypatch.setattr("service.verdict.service.decide", down)
    for seconds in (0.001, 1, 14, 16):
        await clock.advance(seconds)
        world.show()
        assert await world.desk.signal(SignalQuery("BTC")) is answer
    assert len(await world.entries()) == 1


async def test_a_verdict_gives_way_when_a_source_falls_silent_or_the_clock_is_set_back(
    world: World, clock: FakeClock
) -> None:
    await world.signal()
    world.ask(funding=down)
    assert (await world.signal()).sources.funding == "rejected"
    clock.set_wall(START_MS - 1)
    world.refresh()
    await world.signal()
    assert len(await world.entries()) == 3


async def test_nothing_is_written_anew_while_verdict_and_record_stay_the_same(world: World) -> None:
    assert await world.desk.signal(SignalQuery("BTC")) is await world.desk.signal(SignalQuery("BTC"))


steps = st.lists(st.tuples(st.sampled_from(["ask", "record", "wait"]), st.integers(1, 1_200)), min_size=1, max_size=12)
"""What happens, each so many seconds after the last."""


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(steps, st.lists(st.integers(-600, 15_000), min_size=1, max_size=8))
async def test_whatever_happened_as_of_is_what_a_reader_of_the_diary_would_say(
    happened: list[tuple[str, int]], instants: list[int]
) -> None:
    diary: list[tuple[int, VerdictInputs]] = []
    with TemporaryDirectory() as folder:
        clock = FakeClock()
        async with open_database(Path(folder) / "verdict.db", clock) as database:
            world = World(database, clock)
            await world.know()
            for what, seconds in happened:
                await clock.advance(seconds)
                world.refresh(PRICE + seconds)
                known = await world.observer.collect("BTC")
                if what == "ask":
                    await world.desk.signal(SignalQuery("BTC"))
                elif what == "record":
                    await world.inputs.record(ORIGIN, clock.now_ms(), [known])
                if what != "wait":
                    diary.append((clock.now_ms(), known))
            for after in instants:
                at_ms = START_MS + after * SECOND_MS
                before = [(written, known) for written, known in diary if written <= at_ms]
                if at_ms > clock.now_ms():
                    assert (await refused(world, "BTC", iso(at_ms))).code == "BAD_REQUEST"
                elif not before or at_ms - before[-1][0] > 1_800_000:
                    error = await refused(world, "BTC", iso(at_ms))
                    assert error.details == {"recorded_since": iso(diary[0][0]) if diary else None}
                else:
                    assert inputs_of(await world.signal("BTC", iso(at_ms))) == before[-1][1]


async def test_an_answers_as_of_is_the_payloads(world: World) -> None:
    for symbol in ("BTC", "ETH", "PEPE"):
        answer = await world.desk.signal(SignalQuery(symbol))
        assert answer.as_of_ms == parse_iso(read(answer).as_of)
        assert answer.as_of_ms == CLOSE_MS


@pytest.mark.parametrize(
    ("symbol", "as_of", "code"), [("NONE", None, "UNKNOWN_SYMBOL"), ("BTC", START_MS + 60_000, "BAD_REQUEST")]
)
async def test_what_nobody_can_judge_is_refused_before_a_question_is_set_aside_for_it(
    world: World, symbol: str, as_of: int | None, code: str
) -> None:
    world.desk.check(SignalQuery("BTC", iso(START_MS)))
    with pytest.raises(ServiceError) as caught:
        world.desk.check(SignalQuery(symbol, None if as_of is None else iso(as_of)))
    assert caught.value.code == code


async def test_a_brief_verdict_is_the_full_one_without_what_it_names(world: World) -> None:
    full = json.loads(bytes((await world.desk.signal(SignalQuery("BTC"))).data))  # type: ignore[call-overload]
    short = json.loads(bytes((await world.desk.signal(SignalQuery("BTC", detail="brief"))).data))  # type: ignore[call-overload]
    same = set(short) - {"price", "claims", "record", "omitted"}
    assert set(full) - same == {"raw", "claims", "record"}
    assert {name: short[name] for name in same} == {name: full[name] for name in same}
    assert short["price"] == full["raw"]["risk"]["price"]
    assert short["claims"] == [claim for claim in full["claims"] if claim["probability"] is not None]
    left_out = {"raw": 1, "claims": len(full["claims"]) - len(short["claims"])}
    for record in ("live", "backtested"):
        for part, rows in (full["record"][record] or {}).items():
            kept = [row for row in rows if row["outcomes"]]
            assert short["record"][record][part] == kept
            left_out[f"record.{record}.{part}"] = len(rows) - len(kept)
    assert short["omitted"] == {path: count for path, count in left_out.items() if count}
    assert len(json.dumps(short)) < len(json.dumps(full))


async def test_a_brief_verdict_of_the_past_has_no_claims_to_leave_out(world: World) -> None:
    issued = await world.signal()
    answer = await world.desk.signal(SignalQuery("BTC", iso(world.clock.now_ms()), "brief"))
    short = json.loads(bytes(answer.data))  # type: ignore[call-overload]
    assert (short["verdict_id"], short["claims"], short["record"]) == (issued.verdict_id, None, None)
    assert short["omitted"] == {"raw": 1}
