"""The month's budget of a CoinGecko key: kept in the store, spread over the month, none without a key."""

from collections.abc import AsyncIterator

import pytest

from service.clock import DAY_MS, SECOND_MS, parse_iso
from service.market.categories.documents import CALLS, FIRST_FILL, GeckoCalls, MonthlyCalls
from service.market.sources.coingecko import KEYED_REFRESH_S, REFRESH_S, CoinGecko
from service.settings import Secret, Settings
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.upstream.failures import UpstreamError
from service.upstream.session import open_session
from service.wiring.upstreams import KEYED_PER_MONTH, open_upstreams
from tests.fakes.clock import FakeClock

NOVEMBER = parse_iso("2026-11-01T00:00:00.000Z")
PLANNED = 9_000


async def opened(database: Database, clock: FakeClock, most: int | None = KEYED_PER_MONTH) -> MonthlyCalls:
    """The budget as a process that starts finds it."""
    document_store = DocumentStore(database)
    budget = MonthlyCalls(clock, document_store.document(CALLS, GeckoCalls), most)
    await document_store.refresh()
    return budget


async def spend(budget: MonthlyCalls) -> tuple[int, UpstreamError]:
    """Take calls until one is refused."""
    for taken in range(20_000):
        try:
            await budget.take()
        except UpstreamError as error:
            return taken, error
    raise AssertionError


@pytest.mark.slow
@pytest.mark.promise("coingecko.month")
async def test_a_month_of_calls_is_spread_and_never_overspent_also_over_restarts(
    database: Database,
) -> None:
    clock, taken = FakeClock(NOVEMBER), 0
    for day in range(30):
        clock.set_wall(NOVEMBER + day * DAY_MS)
        some, error = await spend(await opened(database, clock))
        taken += some
        assert error.upstream_status == 429
        assert (error.retry_after_s or 0) * SECOND_MS <= DAY_MS
        assert some == FIRST_FILL if day == 0 else 249 <= some <= 251
    clock.set_wall(NOVEMBER + 30 * DAY_MS - 1)
    taken += (await spend(await opened(database, clock)))[0]
    assert PLANNED - 1 <= taken <= PLANNED
    clock.set_wall(NOVEMBER + 30 * DAY_MS)
    assert (await spend(await opened(database, clock)))[0] == FIRST_FILL


@pytest.mark.promise("coingecko.month")
async def test_a_month_whose_calls_are_spent_is_waited_for_to_its_end(database: Database) -> None:
    clock = FakeClock(parse_iso("2026-12-31T00:00:00.000Z"))
    document_store = DocumentStore(database)
    document = document_store.document(CALLS, GeckoCalls)
    await document.put("live", GeckoCalls("2026-12", PLANNED), None)
    with pytest.raises(UpstreamError) as refused:
        await MonthlyCalls(clock, document, KEYED_PER_MONTH).take()
    assert refused.value.retry_after_s == DAY_MS / SECOND_MS
    assert refused.value.body == "9000 of this month's 9000 calls are made. The next is due in 86400 s."


async def test_without_a_key_no_month_is_counted(database: Database) -> None:
    budget = await opened(database, FakeClock(NOVEMBER), None)
    await budget.take()
    assert await database.read("SELECT * FROM documents") == []


@pytest.fixture
async def refused() -> AsyncIterator[CoinGecko]:
    async def take() -> None:
        raise UpstreamError("coingecko", 429, b"spent", retry_after_s=5.0)

    clock = FakeClock()
    async with open_session(
        "coingecko", "http://127.0.0.1:1", clock, weight_per_minute=5, calls_per_month=10
    ) as session:
        yield CoinGecko(session, clock, take)


async def test_a_call_that_is_not_left_is_not_sent(refused: CoinGecko) -> None:
    for call in (refused.page(1), refused.categories(), refused.caps("bitcoin", 42)):
        with pytest.raises(UpstreamError, match="coingecko") as caught:
            await call
        assert caught.value.retry_after_s == 5.0
    assert refused.refresh_s() == KEYED_REFRESH_S


@pytest.mark.promise("coingecko.month")
@pytest.mark.parametrize(("key", "most", "every_s"), [(None, None, REFRESH_S), (Secret("CG-x"), 10_000, 3_600.0)])
async def test_a_key_brings_its_own_limits(key: Secret | None, most: int | None, every_s: float) -> None:
    clock = FakeClock()
    async with open_upstreams(Settings(source="live", coingecko_key=key), clock) as upstreams:
        session = upstreams.sessions["coingecko"]
        assert session.calls_per_month == most
        assert CoinGecko(session, clock).refresh_s() == every_s
        assert upstreams.sessions["binance"].calls_per_month is None
