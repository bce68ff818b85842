"""A store that was filled from one source and is then used with another."""

from msgspec import Struct

from service.market.categories.documents import CALLS, GeckoCalls
from service.market.store import MarketStore
from service.storage.database import Database
from service.storage.documents import DocumentState, DocumentStore

TODAY, TOMORROW = "fixtures:5e05:shifted:+493d", "fixtures:5e05:shifted:+494d"
EVENT = "INSERT INTO funding_watch (venue_symbol, zone) VALUES ('BTC', 'hot')"
HIGHLIGHTS = "INSERT INTO transcript_told VALUES (1, ?)"


class Note(Struct, frozen=True):
    text: str


async def test_recorded_data_are_not_served_as_live_ones_nor_live_ones_as_recorded(database: Database) -> None:
    store, documents = MarketStore(database), DocumentStore(database)
    note, calls = documents.document("a.note", Note), documents.document(CALLS, GeckoCalls)

    async def stored() -> tuple[DocumentState[Note], int]:
        await documents.refresh()
        ((events,),) = await database.read("SELECT count(*) FROM funding_watch, transcript_told")
        return note.current, events

    await calls.put("", GeckoCalls("2026-11", 7), 1)
    for first, second in ((TODAY, "live"), ("live", TODAY)):
        await store.claim(first)
        await note.put(first, Note("observed"), 1)
        await database.write(lambda connection: connection.execute(EVENT).rowcount)
        await database.write(lambda connection: connection.execute(HIGHLIGHTS, ("any",)).rowcount)
        await store.claim(first)
        assert await stored() == (note.current, 1)
        assert note.current.value == Note("observed")
        await store.claim(second)
        current, events = await stored()
        assert (current.value, current.observed_ms, current.origin, events) == (None, None, "", 0)
    assert calls.current.value == GeckoCalls("2026-11", 7), "a month's calls are of no source"


async def test_on_the_next_day_of_a_recording_documents_stay_until_they_are_replaced(database: Database) -> None:
    store, documents = MarketStore(database), DocumentStore(database)
    note = documents.document("a.note", Note)
    await store.claim(TODAY)
    await note.put(TODAY, Note("observed"), 1)
    await store.claim(TOMORROW)
    await documents.refresh()
    assert note.current.value == Note("observed")
