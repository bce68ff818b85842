"""Documents on the shelf, over a real database and several processes' worth of shelves."""

from pathlib import Path

import pytest
from msgspec import Struct

from service.errors import ServiceError
from service.market.observed import Failure
from service.market.shelf import Kept, OvertakenError, Shelf
from service.market.silence import nothing_to_say
from service.storage.database import Database, open_database
from tests.fakes.clock import FakeClock


class Note(Struct, frozen=True):
    text: str


class Other(Struct, frozen=True):
    number: int


@pytest.fixture
async def database(tmp_path: Path) -> object:
    async with open_database(tmp_path / "verdict.db", FakeClock()) as database:
        yield database


async def test_what_is_put_is_there_at_once_and_for_others_when_they_follow(database: Database) -> None:
    one, other = Shelf(database), Shelf(database)
    writer, reader = one.drawer("a.note", Note), other.drawer("a.note", Note)
    await writer.put("live", Note("first"), 5)
    assert (writer.now.value, writer.now.observed_ms, writer.now.origin) == (Note("first"), 5, "live")
    assert reader.now == Kept()
    await other.follow()
    assert reader.now == writer.now


async def test_a_failure_leaves_the_value_and_its_age_and_the_next_success_clears_it(database: Database) -> None:
    one, other = Shelf(database), Shelf(database)
    writer, reader = one.drawer("a.note", Note), other.drawer("a.note", Note)
    await writer.put("live", Note("first"), 5)
    await writer.fail(Failure(9, 502, "gone"))
    await other.follow()
    assert (reader.now.value, reader.now.observed_ms, reader.now.failure) == (Note("first"), 5, Failure(9, 502, "gone"))
    await writer.put("live", Note("second"), 10)
    await other.follow()
    assert (reader.now.value, reader.now.failure) == (Note("second"), None)


async def test_a_failure_before_any_value_is_kept(database: Database) -> None:
    shelf = Shelf(database)
    drawer = shelf.drawer("a.note", Note)
    await drawer.fail(Failure(9, None, "no answer"))
    again = Shelf(database)
    reader = again.drawer("a.note", Note)
    await again.follow()
    assert reader.now.value is None
    assert reader.now.failure == Failure(9, None, "no answer")


async def test_only_what_moved_is_read_again_and_listeners_hear_each_revision_once(database: Database) -> None:
    one, other = Shelf(database), Shelf(database)
    writer, reader = one.drawer("a.note", Note), other.drawer("a.note", Note)
    one.drawer("b.note", Note)
    heard: list[str] = []
    reader.on_change(lambda kept: heard.append(kept.value.text if kept.value else ""))
    await writer.put("live", Note("first"), None)
    await other.follow()
    await other.follow()
    await writer.put("live", Note("second"), None)
    await other.follow()
    assert heard == ["first", "second"]


async def test_what_goes_on_from_one_revision_replaces_no_other(database: Database) -> None:
    one, other = Shelf(database), Shelf(database)
    writer, rival = one.drawer("a.note", Note), other.drawer("a.note", Note)
    await writer.put("live", Note("first"), 5, over=0)
    with pytest.raises(OvertakenError):
        await rival.put("live", Note("lost"), 6, over=0)
    assert rival.now == Kept()
    await other.follow()
    assert rival.now.value == Note("first")
    await rival.put("live", Note("second"), 7, over=rival.now.revision)
    await one.follow()
    assert (writer.now.value, writer.now.observed_ms) == (Note("second"), 7)


async def test_what_was_read_before_something_was_put_takes_nothing_back(database: Database) -> None:
    drawer = Shelf(database).drawer("a.note", Note)
    await drawer.put("live", Note("first"), 5)
    ((*read,),) = await database.read(
        "SELECT origin, revision, observed_ms, body, failed_ms, failed_status, failed_body FROM documents"
    )
    await drawer.put("live", Note("second"), 10)
    drawer.read(tuple(read))
    assert drawer.now.value == Note("second")


async def test_a_document_is_opened_once_so_that_nobody_holds_one_that_is_not_followed(database: Database) -> None:
    shelf = Shelf(database)
    shelf.drawer("a.note", Note)
    with pytest.raises(ValueError, match=r"a\.note is open already"):
        shelf.drawer("a.note", Note)


async def test_a_late_listener_is_told_what_is_there(database: Database) -> None:
    drawer = Shelf(database).drawer("a.note", Note)
    await drawer.put("live", Note("first"), None)
    heard: list[Kept[Note]] = []
    drawer.on_change(heard.append)
    assert heard == [drawer.now]


async def test_a_document_that_another_version_wrote_is_left_to_be_replaced(database: Database) -> None:
    old = Shelf(database).drawer("a.note", Other)
    await old.put("live", Other(1), 5)
    shelf = Shelf(database)
    drawer = shelf.drawer("a.note", Note)
    await shelf.follow()
    assert (drawer.now.value, drawer.now.origin) == (None, "")
    await drawer.put("live", Note("new"), 6)
    assert drawer.now.value == Note("new")


@pytest.mark.parametrize(
    ("status", "code"), [(429, "UPSTREAM_4XX"), (502, "UPSTREAM_5XX"), (None, "UPSTREAM_UNREACHABLE")]
)
def test_an_upstreams_failure_is_passed_on(status: int | None, code: str) -> None:
    with pytest.raises(ServiceError) as caught:
        nothing_to_say("coingecko", Failure(1, status, "why"), "categories")
    assert caught.value.code == code
    assert caught.value.details == {"upstream": "coingecko", "upstreamStatus": status, "upstreamBody": "why"}


def test_what_has_not_been_asked_yet_is_worth_another_try() -> None:
    with pytest.raises(ServiceError) as caught:
        nothing_to_say("coingecko", None, "categories")
    assert caught.value.code == "UNAVAILABLE"
    assert caught.value.headers["Retry-After"] == "5"
