"""Documents over a real database and several document stores, one per process."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import Struct

from service.storage.database import Database, open_database
from service.storage.documents import DocumentState, DocumentStore, FetchFailure, RevisionConflictError
from tests.fakes.clock import FakeClock


class Note(Struct, frozen=True):
    text: str


class Other(Struct, frozen=True):
    number: int


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(tmp_path / "verdict.db", FakeClock()) as database:
        yield database


async def test_a_new_value_is_current_at_once_and_in_other_processes_after_a_refresh(database: Database) -> None:
    one, other = DocumentStore(database), DocumentStore(database)
    writer, reader = one.document("a.note", Note), other.document("a.note", Note)
    await writer.put("live", Note("first"), 5)
    state = writer.current
    assert (state.value, state.observed_ms, state.origin) == (Note("first"), 5, "live")
    assert reader.current == DocumentState()
    await other.refresh()
    assert reader.current == writer.current


async def test_a_failure_leaves_the_value_and_its_age_and_the_next_success_clears_it(database: Database) -> None:
    one, other = DocumentStore(database), DocumentStore(database)
    writer, reader = one.document("a.note", Note), other.document("a.note", Note)
    failure = FetchFailure(9, 502, "gone")
    await writer.put("live", Note("first"), 5)
    await writer.fail(failure)
    await other.refresh()
    state = reader.current
    assert (state.value, state.observed_ms, state.failure) == (Note("first"), 5, failure)
    await writer.put("live", Note("second"), 10)
    await other.refresh()
    assert (reader.current.value, reader.current.failure) == (Note("second"), None)


async def test_a_failure_before_the_first_value_is_stored(database: Database) -> None:
    document = DocumentStore(database).document("a.note", Note)
    await document.fail(FetchFailure(9, None, "no answer"))
    other = DocumentStore(database)
    reader = other.document("a.note", Note)
    await other.refresh()
    assert reader.current.value is None
    assert reader.current.failure == FetchFailure(9, None, "no answer")


async def test_a_refresh_reads_changed_documents_only_and_listeners_see_each_revision_once(database: Database) -> None:
    one, other = DocumentStore(database), DocumentStore(database)
    writer, reader = one.document("a.note", Note), other.document("a.note", Note)
    one.document("b.note", Note)
    heard: list[str] = []
    reader.on_change(lambda state: heard.append(state.value.text if state.value else ""))
    await writer.put("live", Note("first"), None)
    await other.refresh()
    await other.refresh()
    await writer.put("live", Note("second"), None)
    await other.refresh()
    assert heard == ["first", "second"]


async def test_a_write_over_one_revision_replaces_no_other_revision(database: Database) -> None:
    one, other = DocumentStore(database), DocumentStore(database)
    writer, rival = one.document("a.note", Note), other.document("a.note", Note)
    await writer.put("live", Note("first"), 5, over=0)
    with pytest.raises(RevisionConflictError):
        await rival.put("live", Note("lost"), 6, over=0)
    assert rival.current == DocumentState()
    await other.refresh()
    assert rival.current.value == Note("first")
    await rival.put("live", Note("second"), 7, over=rival.current.revision)
    await one.refresh()
    assert (writer.current.value, writer.current.observed_ms) == (Note("second"), 7)


async def test_a_row_read_before_a_write_does_not_replace_the_written_value(database: Database) -> None:
    document = DocumentStore(database).document("a.note", Note)
    await document.put("live", Note("first"), 5)
    ((*row,),) = await database.read(
        "SELECT origin, revision, observed_ms, body, failed_ms, failed_status, failed_body FROM documents"
    )
    await document.put("live", Note("second"), 10)
    document.load(tuple(row))
    assert document.current.value == Note("second")


async def test_a_document_can_be_registered_once(database: Database) -> None:
    documents = DocumentStore(database)
    documents.document("a.note", Note)
    with pytest.raises(ValueError, match=r"a\.note is registered already"):
        documents.document("a.note", Note)


async def test_a_late_listener_is_called_with_the_current_state(database: Database) -> None:
    document = DocumentStore(database).document("a.note", Note)
    await document.put("live", Note("first"), None)
    heard: list[DocumentState[Note]] = []
    document.on_change(heard.append)
    assert heard == [document.current]


async def test_a_document_of_another_version_counts_as_missing_until_it_is_replaced(database: Database) -> None:
    old = DocumentStore(database).document("a.note", Other)
    await old.put("live", Other(1), 5)
    documents = DocumentStore(database)
    document = documents.document("a.note", Note)
    await documents.refresh()
    assert (document.current.value, document.current.origin) == (None, "")
    await document.put("live", Note("new"), 6)
    assert document.current.value == Note("new")
