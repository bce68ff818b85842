"""Runs as they are kept: nothing is lost in packing, and every page is a piece of the list."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from service.walkforward.parameters import Parameters
from service.walkforward.records import (
    BEGINNING,
    PackedRun,
    RecordList,
    pack_run,
    parameters_json,
    records_by_kind,
    unpack_run,
)
from service.wire.walkforward import WalkforwardOutcome
from tests.fakes.clock import START_MS
from tests.walkforward.runs import HASH, TODAY, made, outcome, packed, position, signal, summary


def test_what_is_unpacked_is_what_was_packed() -> None:
    run = made(
        signals=[signal(0), signal(1)],
        positions=[position(0)],
        outcomes=[outcome(2, "PEPE")],
        told=summary(refused="funding-reversion"),
        message="as it was",
    )
    told = unpack_run(7, pack_run(run, TODAY - 1))
    assert (told.run, told.run_id, told.engine, told.parameters_hash) == (7, run.run_id, run.engine, HASH)
    assert told.ran_ms == START_MS
    assert (told.head.summary, told.head.message, told.head.tape_digest) == (run.summary, run.message, run.tape_digest)
    assert (told.head.folds, told.head.findings) == (run.folds, run.findings)
    assert told.signals.page(None, BEGINNING, 9).records == run.signals
    assert told.positions.page(None, BEGINNING, 9).records == run.positions
    assert told.outcomes.page(None, BEGINNING, 9).records == run.outcomes
    assert [told.knows(symbol) for symbol in ("BTC", "PEPE", "MATIC", None)] == [True, True, False, False]


def test_a_packed_run_crosses_the_border_of_a_process_as_it_is() -> None:
    run = packed()
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(run), type=PackedRun) == run
    assert set(records_by_kind(run)) == {"signals", "positions", "outcomes"}


def test_parameters_are_written_the_same_for_the_same() -> None:
    assert parameters_json(Parameters()) == parameters_json(Parameters(scheme="anchored"))
    assert parameters_json(Parameters()) != parameters_json(Parameters(scheme="rolling"))


def test_what_another_version_packed_is_not_understood() -> None:
    with pytest.raises(msgspec.MsgspecError):
        unpack_run(1, msgspec.structs.replace(packed(), head=b'{"summary":7}'))


@given(
    some.lists(some.sampled_from(["BTC", "ETH", "SOL"]), max_size=30),
    some.sampled_from([None, "BTC", "SOL", "NONE"]),
    some.integers(1, 12),
)
def test_page_after_page_gives_every_record_once_in_its_order(coins: list[str], symbol: str | None, limit: int) -> None:
    records = [outcome(number, coin) for number, coin in enumerate(coins)]
    listed = RecordList(records)
    found: list[WalkforwardOutcome] = []
    after: int | None = BEGINNING
    while after is not None:
        page = listed.page(symbol, after, limit)
        assert page.total == sum(symbol in {None, coin} for coin in coins)
        assert len(page.records) == limit or page.goes_on_after is None
        found += page.records
        assert (page.goes_on_after is None) == (len(found) == page.total)
        after = page.goes_on_after
    assert found == [record for record in records if symbol in {None, record.symbol}]
