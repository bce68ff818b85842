"""The front of funding alerts: filters, pages, and what it refuses."""

import pytest
from msgspec.structs import replace

from service.clock import HOUR_MS, MINUTE_MS, iso
from service.errors import ServiceError
from service.market.alerts.service import AlertService
from service.storage.database import Database
from service.storage.documents import FetchFailure
from service.wire.cursor import Cursors
from service.wire.queries import AlertsQuery
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.loading import series_loading
from tests.market.watching import CALM, COLD, HOT, VERY_HOT, Watching, calm

MONTH = 45 * 24


@pytest.fixture
async def watching(database: Database, clock: FakeClock) -> Watching:
    """BTC, ETH and kPEPE, and nine events: three each, a minute apart, the coins' at the same instants."""
    made = Watching(database, clock)
    coins = ("BTC", "ETH", "kPEPE")
    await made.show(dict.fromkeys(coins, CALM))
    for coin in coins:
        await made.pay(coin, calm(MONTH))
    await made.refresh.round()
    for rate in (HOT, COLD, VERY_HOT):
        await made.look(dict.fromkeys(coins, rate))
    return made


async def refused(watching: Watching, query: AlertsQuery) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        await watching.desk.alerts(query)
    return caught.value


async def pages(watching: Watching, query: AlertsQuery) -> list[str]:
    ids = []
    while True:
        page = await watching.said(query)
        ids += [event.id for event in page.events]
        if page.meta.next_cursor is None:
            return ids
        assert len(page.events) == query.limit
        query = replace(query, cursor=page.meta.next_cursor)


@pytest.mark.promise("alerts.recent", "alerts.payload")
async def test_events_come_newest_first_with_their_number(watching: Watching) -> None:
    said = await watching.said()
    assert (len(said.events), said.meta.total, said.meta.next_cursor) == (9, 9, None)
    assert [event.firedAt for event in said.events] == sorted((e.firedAt for e in said.events), reverse=True)
    assert {event.asset for event in said.events} == {"BTC", "ETH", "PEPE"}


@pytest.mark.slow
@pytest.mark.promise("alerts.parameters")
@pytest.mark.parametrize("limit", [1, 2, 3, 4, 8, 9, 200])
async def test_pages_hold_every_event_once_whatever_their_size(watching: Watching, limit: int) -> None:
    assert await pages(watching, AlertsQuery(limit=limit)) == [event.id for event in await watching.events()]


@pytest.mark.promise("alerts.parameters")
async def test_pages_stay_what_they_are_while_new_events_arrive(watching: Watching) -> None:
    before = [event.id for event in await watching.events()]
    first = await watching.said(AlertsQuery(limit=4))
    await watching.look(dict.fromkeys(("BTC", "ETH", "kPEPE"), COLD))
    assert first.meta.next_cursor is not None
    rest = await pages(watching, AlertsQuery(limit=4, cursor=first.meta.next_cursor))
    assert [event.id for event in first.events] + rest == before
    assert (await watching.said()).meta.total == 12


async def test_the_size_of_a_page_may_change_on_the_way(watching: Watching) -> None:
    first = await watching.said(AlertsQuery(limit=2))
    rest = await watching.said(AlertsQuery(limit=200, cursor=first.meta.next_cursor))
    assert [event.id for event in [*first.events, *rest.events]] == [event.id for event in await watching.events()]


@pytest.mark.promise("alerts.parameters")
@pytest.mark.parametrize("symbol", ["PEPE", "kpepe", "kPEPE", "1000PEPE"])
async def test_a_symbol_narrows_the_list_down_however_it_is_written(watching: Watching, symbol: str) -> None:
    said = await watching.said(AlertsQuery(symbol=symbol))
    assert {event.asset for event in said.events} == {"PEPE"}
    assert said.meta.total == 3
    assert len(await pages(watching, AlertsQuery(symbol=symbol, limit=1))) == 3


@pytest.mark.promise("alerts.parameters")
async def test_since_includes_its_instant_in_any_zone(watching: Watching) -> None:
    second_ms = START_MS + 2 * MINUTE_MS
    said = await watching.said(AlertsQuery(since=iso(second_ms)))
    assert {event.triggerZone for event in said.events} == {"very-hot", "cold"}
    assert said.meta.total == 6
    shifted = iso(second_ms + 2 * HOUR_MS).replace("Z", "+02:00")
    assert await watching.said(AlertsQuery(since=shifted)) == said
    assert (await watching.said(AlertsQuery(since=iso(second_ms + 1)))).meta.total == 3
    assert (await watching.said(AlertsQuery(since=iso(START_MS * 2)))).events == []


async def test_a_cursor_goes_with_the_same_instant_and_coin_in_another_spelling(watching: Watching) -> None:
    first = await watching.said(AlertsQuery(symbol="kpepe", since=iso(START_MS), limit=1))
    again = AlertsQuery(
        symbol="PEPE", since=iso(START_MS).replace(".000Z", "+00:00"), limit=2, cursor=first.meta.next_cursor
    )
    assert len((await watching.said(again)).events) == 2


@pytest.mark.promise("cursors.foreign")
async def test_a_foreign_cursor_is_refused(watching: Watching) -> None:
    cursor = (await watching.said(AlertsQuery(limit=1))).meta.next_cursor
    assert cursor is not None
    elsewhere = AlertService(watching.alerts, Cursors(b"\1" * 32), watching.market, series_loading)
    foreign = (await elsewhere.alerts(AlertsQuery(limit=1))).data
    for query in (
        AlertsQuery(symbol="BTC", cursor=cursor),
        AlertsQuery(since=iso(START_MS), cursor=cursor),
        AlertsQuery(cursor=cursor[:-1]),
        AlertsQuery(cursor="nonsense"),
        AlertsQuery(cursor=foreign.meta.next_cursor),  # type: ignore[attr-defined] # a payload
    ):
        error = await refused(watching, query)
        assert (error.code, error.details) == ("BAD_REQUEST", {"parameter": "cursor"})


@pytest.mark.promise("alerts.parameters")
async def test_a_coin_that_does_not_exist_is_unknown_and_one_without_events_has_none(watching: Watching) -> None:
    error = await refused(watching, AlertsQuery(symbol="PEP"))
    assert (error.code, error.details) == ("UNKNOWN_SYMBOL", {"candidates": ["PEPE"]})
    await watching.look({"BTC": CALM, "ETH": CALM, "kPEPE": CALM, "SOL": CALM})
    said = await watching.said(AlertsQuery(symbol="SOL"))
    assert (said.events, said.meta.total, said.meta.next_cursor) == ([], 0, None)


async def test_before_the_first_look_nothing_is_claimed(database: Database, clock: FakeClock) -> None:
    fresh = Watching(database, clock)
    assert (await refused(fresh, AlertsQuery())).code == "UNAVAILABLE"
    assert (await refused(fresh, AlertsQuery(symbol="BTC"))).code == "UNAVAILABLE"
    await fresh.show({"BTC": CALM})
    assert (await refused(fresh, AlertsQuery(symbol="BTC"))).code == "UNAVAILABLE"


async def test_before_the_first_look_the_venues_failure_is_told(database: Database, clock: FakeClock) -> None:
    fresh = Watching(database, clock)
    await fresh.show({"BTC": CALM})
    await fresh.store.put_failure(FetchFailure(clock.now_ms(), 429, "slow down"))
    fresh.market.show(await fresh.store.snapshot())
    error = await refused(fresh, AlertsQuery())
    assert error.code == "UPSTREAM_4XX"
    assert error.details == {"upstream": "hyperliquid", "upstreamStatus": 429, "upstreamBody": "slow down"}


async def test_what_turned_after_an_instant_is_told_as_it_was_then_in_the_order_of_time(watching: Watching) -> None:
    everything = await watching.desk.transitions(watching.origin, 0)
    assert [at_ms for at_ms, _ in everything] == sorted(at_ms for at_ms, _ in everything)
    fired = [(iso(at_ms), alert.id) for at_ms, alert in everything if alert.clearedAt is None]
    cleared = [(iso(at_ms), alert.id) for at_ms, alert in everything if alert.clearedAt is not None]
    events = await watching.events()
    assert sorted(fired) == sorted((event.firedAt, event.id) for event in events)
    assert sorted(cleared) == sorted((event.clearedAt, event.id) for event in events if event.clearedAt is not None)
    assert cleared
    assert await watching.desk.transitions(watching.origin, everything[0].at_ms) == [
        turn for turn in everything if turn.at_ms > everything[0].at_ms
    ]
    assert await watching.desk.transitions("another history", 0) == []
