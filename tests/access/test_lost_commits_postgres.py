"""A COMMIT whose answer is lost: a 503, and no question is lost by it or counted twice, kept or not."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from service.access.meter import Meter, open_meter
from service.access.usage_ledger import LEASE_MS
from service.errors import ServiceError
from service.settings import Secret
from service.storage.database import Database
from service.storage.postgres.database import open_postgres
from service.storage.response_store import StoredResponse
from tests.access.test_anonymous import a_visitor, devices
from tests.access.test_idempotency import ANSWER, a_request, claim
from tests.access.test_meter import OFFER, a_caller, charge, states
from tests.fakes.clock import FakeClock
from tests.fakes.lost_commits import TAKEN, cut_at_commit
from tests.fakes.postgres import postgres_dsn

pytestmark = pytest.mark.process

FREE = 10


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("node")


@pytest.fixture
def address() -> Iterator[str]:
    with postgres_dsn() as found:
        yield found


@pytest.fixture
async def db(address: str, folder: Path, clock: FakeClock) -> AsyncIterator[Database]:
    async with open_postgres(Secret(address), folder / "verdict.db", clock) as opened:
        yield opened


@pytest.fixture
async def meter(db: Database, clock: FakeClock) -> AsyncIterator[Meter]:
    async with open_meter(db, clock) as opened:
        yield opened
        assert await opened.verify() == []


async def settled(db: Database) -> None:
    """Wait until what was handed to the writer so far is done."""
    await db.write(lambda _: None)


@TAKEN
@pytest.mark.promise("meter.machines")
async def test_a_question_that_nobody_was_answered_is_given_back(
    meter: Meter, db: Database, monkeypatch: pytest.MonkeyPatch, *, taken: bool
) -> None:
    assert await charge(meter, 3) == 3
    cut = cut_at_commit(monkeypatch, taken=taken)
    with pytest.raises(ServiceError):
        await meter.charge(a_caller(), OFFER)
    await settled(db)
    assert cut == ["COMMIT"]
    assert (await meter.quota_status(a_caller())).used == 3
    assert await charge(meter, 20) == FREE - 3


@TAKEN
async def test_a_question_is_given_back_when_the_store_is_well_again(
    meter: Meter, db: Database, monkeypatch: pytest.MonkeyPatch, *, taken: bool
) -> None:
    cut = cut_at_commit(monkeypatch, taken=taken, again=2)
    with pytest.raises(ServiceError):
        await meter.charge(a_caller(), OFFER)
    for _ in range(2):
        with pytest.raises(ServiceError):
            await settled(db)
    assert cut == ["COMMIT", "BEGIN", "BEGIN"]
    assert await charge(meter, FREE) == FREE - taken  # whoever comes next has it given back
    await settled(db)
    assert (await meter.quota_status(a_caller())).used == FREE - taken
    assert await charge(meter, FREE) == taken


@TAKEN
async def test_a_question_that_is_owed_is_given_back_at_the_end(
    db: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, *, taken: bool
) -> None:
    async with open_meter(db, clock) as meter:
        cut_at_commit(monkeypatch, taken=taken, again=1)
        with pytest.raises(ServiceError):
            await meter.charge(a_caller(), OFFER)
        with pytest.raises(ServiceError):
            await settled(db)
        assert await states(db) == ([(1, 1)] if taken else [])
    assert await states(db) == ([(1, 2)] if taken else [])


async def test_what_another_machine_gave_out_under_the_same_number_is_not_given_back(
    meter: Meter, db: Database, address: str, clock: FakeClock, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        open_postgres(Secret(address), folder / "other" / "verdict.db", clock) as elsewhere,
        open_meter(elsewhere, clock) as other,
    ):
        cut_at_commit(monkeypatch, taken=False, again=1)
        with pytest.raises(ServiceError):
            await meter.charge(a_caller(1), OFFER)
        with pytest.raises(ServiceError):
            await settled(db)
        theirs = await other.charge(a_caller(2), OFFER)
        ours = await meter.charge(a_caller(1), OFFER)
        await settled(db)
        assert (theirs.event_id, ours.event_id) == (1, 2)
        assert await states(db) == [(1, 1), (2, 1)]


@TAKEN
async def test_a_reservation_that_nobody_knows_of_is_given_back(
    meter: Meter, db: Database, monkeypatch: pytest.MonkeyPatch, *, taken: bool
) -> None:
    cut_at_commit(monkeypatch, taken=taken)
    with pytest.raises(ServiceError):
        await meter.reserve(a_caller(), OFFER)
    await settled(db)
    assert (await meter.quota_status(a_caller())).used == 0


@TAKEN
async def test_a_reserved_call_that_could_not_be_counted_is_given_back_whichever_way_it_stands(
    meter: Meter, db: Database, monkeypatch: pytest.MonkeyPatch, *, taken: bool
) -> None:
    decision = await meter.reserve(a_caller(), OFFER)
    assert decision.event_id is not None
    cut_at_commit(monkeypatch, taken=taken)
    with pytest.raises(ServiceError):
        await meter.commit(decision.event_id)
    await meter.release(decision.event_id)  # as its gate does
    assert (await meter.quota_status(a_caller())).used == 0
    assert await states(db) == [(1, 2)]


@TAKEN
async def test_a_device_keeps_its_one_question(
    meter: Meter, db: Database, monkeypatch: pytest.MonkeyPatch, *, taken: bool
) -> None:
    cut_at_commit(monkeypatch, taken=taken)
    with pytest.raises(ServiceError):
        await meter.anonymous.reserve(a_visitor(), OFFER)
    await settled(db)
    assert await devices(db) == 0
    await meter.commit(await meter.anonymous.reserve(a_visitor(), OFFER))
    assert await devices(db) == 1


@TAKEN
async def test_a_key_whose_claim_nobody_knows_of_is_free_at_once(
    meter: Meter, db: Database, monkeypatch: pytest.MonkeyPatch, *, taken: bool
) -> None:
    cut_at_commit(monkeypatch, taken=taken)
    with pytest.raises(ServiceError):
        await meter.idempotency.claim(a_request())
    await settled(db)
    await claim(meter)


@TAKEN
async def test_an_answer_with_a_key_is_counted_once_and_given_to_whoever_asks_again(
    meter: Meter, db: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, *, taken: bool
) -> None:
    first = await claim(meter)
    decision = await meter.reserve(a_caller(), OFFER)
    cut_at_commit(monkeypatch, taken=taken)
    with pytest.raises(ServiceError):
        await meter.idempotency.store(first, ANSWER, decision.event_id)
    await meter.idempotency.release(first, decision.event_id)  # as its gate does
    again = await meter.idempotency.claim(a_request())
    assert isinstance(again, StoredResponse) == taken
    assert (await meter.quota_status(a_caller())).used == taken
    await clock.advance(LEASE_MS / 1_000 + 1)
    assert (await meter.quota_status(a_caller())).used == taken
