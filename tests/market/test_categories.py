"""Keeping CoinGecko's coins, categories and past market caps fresh within its budget."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from service.clock import DAY_MS, HOUR_MS, iso
from service.market.categories.documents import REACH_MS, known_coins, known_members
from service.market.categories.refresh import CATEGORIES_EVERY_S, FIRST, REREAD_AFTER_MS, WAIT_S
from service.market.sources.coingecko import REFRESH_S, PastCap
from service.scheduler import run_forever
from service.storage.database import Database
from service.upstream.failures import UpstreamError
from tests.fakes.clock import START_MS, FakeClock
from tests.market.gecko import KEYLESS, Gecko, open_gecko, rows
from tests.upstream.faults import Fault, answer, hang, html, not_a_number, reset, too_many

HOUR_S = 3_600.0
DAY_S = 86_400.0
CATEGORIES = 37
UNKNOWN_THERE = {"T"}


@pytest.fixture
async def gecko(clock: FakeClock, database: Database) -> AsyncIterator[Gecko]:
    async with open_gecko(clock, database) as opened:
        yield opened


def few(gecko: Gecko, *symbols: str) -> None:
    """Let the venue list a few coins only, so that few pasts are to be read."""
    gecko.view = {symbol: gecko.view[symbol] for symbol in symbols}


@pytest.mark.slow
async def test_every_coin_of_the_venue_is_told_from_those_that_share_its_ticker(gecko: Gecko) -> None:
    few_asked = gecko.view
    await gecko.refresh.round()
    found = gecko.identities()
    assert found.keys() == few_asked.keys() - UNKNOWN_THERE
    assert (found["ONE"], found["PEPE"], found["DOGE"], found["S"], found["IP"], found["GAS"]) == (
        "harmony", "pepe", "dogecoin", "sonic-3", "story-2", "gas"
    )  # fmt: skip
    assert not {"one-token", "kpepe-real", "pepe-2", "t-token", "tether"} & set(found.values())


async def test_a_coin_nobody_can_be_told_to_be_is_logged_once(gecko: Gecko, caplog: pytest.LogCaptureFixture) -> None:
    few(gecko, "BTC", "T")
    with caplog.at_level(logging.DEBUG, "verdict.market"):
        await gecko.refresh.round()
        await gecko.clock.advance(REFRESH_S)
        await gecko.refresh.round()
    said = [record for record in caplog.records if "No CoinGecko coin matches" in record.message]
    assert [vars(record)["coins"] for record in said] == [["T"]]


async def test_before_the_venues_coins_are_known_nothing_is_asked(gecko: Gecko) -> None:
    gecko.view = {}
    await gecko.refresh.round()
    assert gecko.paths == []


async def test_coins_and_categories_are_asked_for_every_five_minutes_and_the_rest_once_a_day(gecko: Gecko) -> None:
    few(gecko, "BTC", "ETH")
    await gecko.refresh.round()
    assert (len(gecko.asked("market_chart")), len(gecko.asked("category="))) == (4, CATEGORIES)
    gecko.paths.clear()
    await gecko.clock.advance(REFRESH_S - 1)
    await gecko.refresh.round()
    assert gecko.paths == []
    await gecko.clock.advance(1)
    await gecko.refresh.round()
    assert len(gecko.paths) == 3
    assert gecko.paths[-1] == "/coins/categories"
    gecko.paths.clear()
    await gecko.clock.advance(REREAD_AFTER_MS / 1_000 - REFRESH_S)
    gecko.look()
    few(gecko, "BTC", "ETH")
    for _ in range(CATEGORIES + 4):
        await gecko.refresh.round()
    assert (len(gecko.asked("market_chart")), len(gecko.asked("category="))) == (4, CATEGORIES)


async def test_large_categories_come_first_then_the_most_traded_coins_pasts_then_the_other_categories(
    gecko: Gecko, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.market.categories.refresh.FIRST", 2)
    few(gecko, "ETH", "BTC")
    await gecko.refresh.round()
    order = [path.split("?")[0] if "chart" in path else path.split("&")[1] for path in gecko.paths[3:]]
    largest = [category.id for category in await gecko.source.categories()]
    assert order[:2] == [f"category={category}" for category in largest[:2]]
    assert order[2:6] == ["/coins/bitcoin/market_chart"] * 2 + ["/coins/ethereum/market_chart"] * 2
    assert order[6:] == [f"category={category}" for category in largest[2:]]
    assert FIRST == 40


async def test_what_was_read_longest_ago_is_read_again_first(gecko: Gecko) -> None:
    few(gecko, "BTC")
    gecko.broken["category=meme"] = answer_of(404)
    await gecko.refresh.round()
    gecko.broken.clear()
    await gecko.clock.advance(WAIT_S)
    await gecko.refresh.round()
    assert gecko.asked("category=")[-1].split("&")[1] == "category=meme"
    await gecko.clock.advance(DAY_S)
    gecko.look()
    few(gecko, "BTC")
    gecko.paths.clear()
    for _ in range(CATEGORIES + 2):
        await gecko.refresh.round()
    again = [path for path in gecko.paths if "category=" in path or "chart" in path]
    assert len(again) == CATEGORIES + 2
    assert "category=meme" in again[-1]


async def test_members_are_kept_that_have_tickers_of_the_venue(gecko: Gecko) -> None:
    few(gecko, "BTC", "ETH", "PEPE", "DOGE")
    await gecko.refresh.round()
    members = known_members(gecko.documents.members.current)
    assert members["stablecoins"].ids == frozenset()
    assert members["meme"].ids == {"dogecoin", "pepe", "pepe-2", "binance-peg-dogecoin"}
    assert members["layer-1"].ids == {"bitcoin", "ethereum"}
    assert members["layer-1"].read_ms == START_MS


@pytest.mark.slow
@pytest.mark.promise("coingecko.first-fill")
async def test_a_simulated_hour_stays_within_the_budget_at_all_times(clock: FakeClock, database: Database) -> None:
    times: list[float] = []
    paths: list[str] = []
    async with open_gecko(clock, database, weight_per_minute=KEYLESS) as gecko:

        async def count(request: web.Request) -> web.StreamResponse | None:
            times.append(clock.monotonic())
            paths.append(request.path_qs)
            return None

        gecko.replay.interceptor = count
        loop = asyncio.create_task(run_forever("categories", gecko.refresh.round, CATEGORIES_EVERY_S, clock))
        async with asyncio.timeout(60):
            while clock.monotonic() < 2 * HOUR_S:
                await asyncio.sleep(0.001)
                if clock._sleepers:
                    await clock.advance(max(0.0, clock._sleepers[0][0] - clock.monotonic()))
        loop.cancel()
        await asyncio.gather(loop, return_exceptions=True)
        assert gecko.session.weight == gecko.session.calls == len(times)
    first = [at_s for at_s in times if at_s < HOUR_S]
    by_path = dict(zip(reversed(paths), reversed(times), strict=True))  # when each was first asked for
    assert ["markets" in path or "categories" in path for path in paths[:4]] == [True] * 4
    assert "category=" not in "".join(paths[:3])
    assert max(at_s for path, at_s in by_path.items() if "category=" in path) < HOUR_S / 4
    assert max(at_s for path, at_s in by_path.items() if "market_chart" in path) < HOUR_S * 11 / 12
    assert len([path for path in by_path if "market_chart" in path]) == 2 * len(gecko.identities()) > 140
    assert 120 < len(first) <= 240
    assert max(sum(at_s <= other < at_s + 60 for other in times) for at_s in times) <= 0.8 * KEYLESS
    assert len(known_members(gecko.documents.members.current)) == CATEGORIES
    assert len(times) - len(first) < len(first)


async def test_members_are_stored_as_they_come_where_that_takes_long(clock: FakeClock, database: Database) -> None:
    async with open_gecko(clock, database, weight_per_minute=KEYLESS) as gecko:
        few(gecko, "BTC")
        round_ = asyncio.create_task(gecko.refresh.round())
        async with asyncio.timeout(20):
            while not known_members(gecko.documents.members.current):
                await asyncio.sleep(0.001)
                await clock.advance(1)
        assert len(known_members(gecko.documents.members.current)) < CATEGORIES
        round_.cancel()
        await asyncio.gather(round_, return_exceptions=True)


def hide_notcoin(gecko: Gecko) -> None:
    """Show Bitcoin alone among the largest, and Notcoin in one category alone."""
    few(gecko, "BTC", "ETH", "NOT")
    large = {"id": "bitcoin", "symbol": "btc", "current_price": gecko.view["BTC"].price}
    small = {"market_cap": None, "id": "notcoin", "symbol": "not", "current_price": gecko.view["NOT"].price}
    gecko.broken = {
        "category=gaming&": web.Response(body=rows(small)),
        "category=": web.Response(body=b"[]"),
        "&page=1": web.Response(body=rows(large)),
        "&page=2": web.Response(body=b"[]"),
    }


async def test_a_coin_outside_the_largest_is_found_in_a_category_and_then_asked_for_by_its_id(gecko: Gecko) -> None:
    hide_notcoin(gecko)
    await gecko.refresh.round()
    assert gecko.identities() == {"BTC": "bitcoin", "NOT": "notcoin"}
    assert [path.split("?")[0] for path in gecko.asked("notcoin")] == ["/coins/notcoin/market_chart"] * 2
    await gecko.clock.advance(REFRESH_S)
    await gecko.refresh.round()
    assert gecko.asked("ids=") == ["/coins/markets?vs_currency=usd&ids=notcoin&per_page=250"]
    assert known_coins(gecko.documents.coins.current)["NOT"].seen_ms == START_MS + REFRESH_S * 1_000


async def test_a_coin_of_another_history_is_not_known_in_this_one(gecko: Gecko) -> None:
    hide_notcoin(gecko)
    await gecko.refresh.round()
    gecko.origin = "tomorrow"
    del gecko.broken["category=gaming&"]
    await gecko.refresh.round()
    assert gecko.identities() == {"BTC": "bitcoin"}


async def test_a_coin_found_while_the_history_changes_is_not_known(gecko: Gecko) -> None:
    hide_notcoin(gecko)
    intercept = gecko.replay.interceptor
    assert intercept is not None

    async def change(request: web.Request) -> web.StreamResponse | None:
        if "category=gaming&" in request.path_qs:
            gecko.origin = "tomorrow"
        return await intercept(request)

    gecko.replay.interceptor = change
    await gecko.refresh.round()
    assert gecko.origin == "tomorrow"
    assert gecko.identities() == {"BTC": "bitcoin"}


async def test_a_coin_that_is_not_traded_any_more_is_nobody(gecko: Gecko) -> None:
    few(gecko, "BTC")
    row = {"id": "btc-2", "symbol": "btc", "current_price": gecko.view["BTC"].price, "market_cap": 9e13}
    gecko.broken["per_page=250&page=1"] = web.Response(body=rows(row | {"last_updated": "2025-07-24T11:59:59.000Z"}))
    gecko.broken["page=2"] = web.Response(body=b"[]")
    await gecko.refresh.round()
    assert gecko.identities() == {}


async def test_a_coin_that_is_no_longer_followed_does_not_hold_its_ticker_against_one_that_is(gecko: Gecko) -> None:
    few(gecko, "BTC")
    price = gecko.view["BTC"].price
    old = {"id": "old", "symbol": "btc", "current_price": price, "market_cap": 9e13, "last_updated": iso(START_MS)}
    new = {"id": "new", "symbol": "btc", "current_price": price, "market_cap": 1.0}
    gecko.broken["ids="] = gecko.broken["per_page=250&page=1"] = web.Response(body=rows(old))
    gecko.broken["&page=2"] = web.Response(body=b"[]")
    await gecko.refresh.round()
    assert gecko.identities() == {"BTC": "old"}
    gecko.broken["per_page=250&page=1"] = web.Response(body=rows(old, new))
    for waited_s, found in ((DAY_MS / 1_000 - 1, "old"), (REFRESH_S, "new"), (REFRESH_S, "new")):
        await gecko.clock.advance(waited_s)
        await gecko.refresh.round()
        assert gecko.identities() == {"BTC": found}


def answer_of(status: int, body: bytes = b'{"error":"no"}', **headers: str) -> web.Response:
    return web.Response(
        status=status, body=body, headers={name.replace("_", "-"): text for name, text in headers.items()}
    )


@pytest.mark.slow
@pytest.mark.parametrize("fault", [answer(500, b"down"), html, not_a_number, reset, answer(404, b"{}")])
async def test_a_failing_coingecko_leaves_the_last_good_values_and_says_how_it_failed(
    gecko: Gecko, fault: Fault
) -> None:
    few(gecko, "BTC", "ETH")
    await gecko.refresh.round()
    before = [document.current.value for document in gecko.documents]
    gecko.faults.next = fault
    await gecko.clock.advance(REFRESH_S)
    with pytest.raises(UpstreamError):
        await gecko.refresh.round()
    assert [document.current.value for document in gecko.documents] == before
    assert gecko.documents.coins.current.failure is not None
    assert gecko.documents.categories.current.failure is not None
    assert gecko.documents.coins.current.failure.at_ms == gecko.clock.now_ms()
    gecko.faults.next = None
    await gecko.clock.advance(60)
    await gecko.refresh.round()
    assert [document.current.failure for document in gecko.documents] == [None] * 4


async def test_an_answer_that_never_comes_is_given_up(clock: FakeClock, database: Database) -> None:
    async with open_gecko(clock, database, deadline_s=0.05) as gecko:
        gecko.faults.next = hang
        with pytest.raises(UpstreamError) as caught:
            await gecko.refresh.round()
        assert caught.value.upstream_status is None
        assert gecko.documents.coins.current.failure is not None


async def test_after_a_429_nothing_is_asked_until_the_time_it_named(gecko: Gecko) -> None:
    few(gecko, "BTC")
    gecko.faults.next = too_many("600")
    with pytest.raises(UpstreamError) as caught:
        await gecko.refresh.round()
    assert caught.value.retry_after_s == 600
    assert gecko.documents.coins.current.failure is not None
    assert (gecko.documents.coins.current.failure.status, gecko.documents.coins.current.failure.body) == (
        429,
        "slow down",
    )
    assert gecko.documents.categories.current.failure is None
    gecko.faults.next = None
    await gecko.clock.advance(599)
    with pytest.raises(UpstreamError):
        await gecko.refresh.round()
    assert len(gecko.paths) == 1
    await gecko.clock.advance(1)
    await gecko.refresh.round()
    assert gecko.identities() == {"BTC": "bitcoin"}


async def test_a_429_in_the_backlog_ends_the_round_and_keeps_what_was_read(gecko: Gecko) -> None:
    few(gecko, "BTC")
    gecko.broken["category=meme"] = answer_of(429, Retry_After="30")
    with pytest.raises(UpstreamError):
        await gecko.refresh.round()
    read = known_members(gecko.documents.members.current)
    assert 0 < len(read) < CATEGORIES
    assert gecko.asked("category=")[-1].split("&")[1] == "category=meme"
    gecko.broken.clear()
    await gecko.clock.advance(30)
    await gecko.refresh.round()
    assert len(known_members(gecko.documents.members.current)) == CATEGORIES


async def test_one_page_that_fails_leaves_the_other_and_the_categories(gecko: Gecko) -> None:
    few(gecko, "BTC")
    gecko.broken["&page=2"] = answer_of(404)
    with pytest.raises(UpstreamError):
        await gecko.refresh.round()
    assert gecko.identities() == {"BTC": "bitcoin"}
    assert gecko.documents.coins.current.failure is not None
    assert gecko.documents.categories.current.failure is None
    assert len(known_members(gecko.documents.members.current)) == 1


async def test_a_list_that_keeps_failing_does_not_hold_up_the_backlog(gecko: Gecko) -> None:
    few(gecko, "BTC")
    await gecko.refresh.round()
    await gecko.clock.advance(DAY_S)
    gecko.broken["/coins/categories"] = answer_of(404)
    gecko.paths.clear()
    for _ in range(3):
        with pytest.raises(UpstreamError):
            await gecko.refresh.round()
    assert len(gecko.asked("category=") + gecko.asked("chart")) >= 3


async def test_a_piece_that_fails_is_left_alone_for_an_hour_and_the_rest_is_read(gecko: Gecko) -> None:
    few(gecko, "BTC", "ETH")
    gecko.broken |= {"category=oracle": answer_of(404), "bitcoin/market_chart": answer_of(404)}
    await gecko.refresh.round()
    assert len(known_members(gecko.documents.members.current)) == CATEGORIES - 1
    assert (await gecko.caps.read_times("test")).keys() == {"ethereum"}
    gecko.broken.clear()
    gecko.paths.clear()
    await gecko.clock.advance(WAIT_S - REFRESH_S)
    await gecko.refresh.round()
    assert gecko.asked("oracle") + gecko.asked("bitcoin/") == []
    await gecko.clock.advance(REFRESH_S)
    await gecko.refresh.round()
    await gecko.refresh.round()
    assert len(gecko.asked("oracle") + gecko.asked("bitcoin/")) == 3


async def test_an_empty_list_of_categories_replaces_nothing(gecko: Gecko) -> None:
    few(gecko, "BTC")
    await gecko.refresh.round()
    gecko.broken["/coins/categories"] = web.Response(body=b"[]")
    await gecko.clock.advance(REFRESH_S)
    await gecko.refresh.round()
    assert len(gecko.desk.category_names()) == CATEGORIES


async def test_a_category_that_is_no_more_is_forgotten(gecko: Gecko) -> None:
    few(gecko, "BTC")
    await gecko.refresh.round()
    gecko.broken["/coins/categories"] = web.Response(body=b'[{"id":"oracle","name":"Oracle"}]')
    await gecko.clock.advance(DAY_S)
    gecko.look()
    few(gecko, "BTC")
    await gecko.refresh.round()
    assert known_members(gecko.documents.members.current).keys() == {"oracle"}


async def test_what_was_stored_survives_a_restart_and_is_not_asked_for_again(gecko: Gecko) -> None:
    few(gecko, "BTC")
    await gecko.refresh.round()
    before = [document.current.value for document in gecko.documents]
    gecko.restart()
    await gecko.document_store.refresh()
    assert [document.current.value for document in gecko.documents] == before
    gecko.paths.clear()
    await gecko.refresh.round()
    assert len(gecko.paths) == 3


async def test_another_history_is_read_anew_and_the_old_one_stands_until_then(gecko: Gecko) -> None:
    few(gecko, "BTC")
    await gecko.refresh.round()
    gecko.origin = "tomorrow"
    assert len(known_members(gecko.documents.members.current)) == CATEGORIES
    assert await gecko.past.before("BTC", START_MS - DAY_MS) is None
    gecko.paths.clear()
    seen: list[int] = []
    gecko.documents.members.on_change(lambda current: seen.append(len(known_members(current))))
    await gecko.refresh.round()
    assert len(gecko.paths) == 3 + CATEGORIES + 2
    assert {document.current.origin for document in gecko.documents} == {"tomorrow"}
    assert set(seen) == {CATEGORIES}
    assert await gecko.past.before("BTC", START_MS - DAY_MS) is not None


@pytest.mark.parametrize("at", ["page=2", "/coins/categories", "category=", "days=42"])
async def test_an_answer_that_comes_while_the_history_changes_is_dropped(gecko: Gecko, at: str) -> None:
    few(gecko, "BTC")

    async def change(request: web.Request) -> None:
        if at in request.path_qs:
            gecko.origin = "tomorrow"

    gecko.faults.next = change  # type: ignore[assignment]
    await gecko.refresh.round()
    after = {"page=2": 0, "/coins/categories": 2, "category=": 3, "days=42": 4}[
        at
    ]  # members are kept before a past is read
    assert [document.current.origin for document in gecko.documents].count("test") == after
    assert "tomorrow" not in {document.current.origin for document in gecko.documents}
    assert await gecko.caps.read_times("test") == await gecko.caps.read_times("tomorrow") == {}


async def test_past_market_caps_are_by_the_hour_for_weeks_and_by_the_day_for_a_year(gecko: Gecko) -> None:
    few(gecko, "BTC", "PEPE")
    await gecko.refresh.round()
    hourly = await gecko.past.before("BTC", START_MS - 24 * HOUR_MS + 7)
    assert hourly is not None
    assert hourly.at_ms == START_MS - 24 * HOUR_MS
    daily = await gecko.past.before("PEPE", START_MS - 200 * DAY_MS - 12 * HOUR_MS)
    assert daily is not None
    assert daily.at_ms == START_MS - 200 * DAY_MS - 12 * HOUR_MS
    assert await gecko.past.before("PEPE", START_MS - 200 * DAY_MS) is None
    assert await gecko.past.before("BTC", START_MS - 400 * DAY_MS) is None
    assert await gecko.past.before("T", START_MS) is None
    now = await gecko.past.before("BTC", START_MS)
    assert now is not None
    assert now.market_cap == known_coins(gecko.documents.coins.current)["BTC"].market_cap


async def test_a_coins_past_is_replaced_whole_and_another_historys_goes(gecko: Gecko) -> None:
    caps = gecko.caps
    await caps.put("one", "bitcoin", [PastCap(0, 1.0, None), PastCap(HOUR_MS, None, 2.0)], START_MS)
    await caps.put("one", "ethereum", [PastCap(0, 3.0, 4.0)], START_MS)
    assert await caps.before("one", "bitcoin", HOUR_MS - 1) == PastCap(0, 1.0, None)
    assert await caps.before("one", "bitcoin", HOUR_MS) == PastCap(HOUR_MS, None, 2.0)
    assert await caps.before("one", "bitcoin", HOUR_MS + REACH_MS + 1) is None
    assert await caps.before("two", "bitcoin", 0) is None
    await caps.put("one", "bitcoin", [PastCap(5, 9.0, None)], START_MS + 1)
    assert await caps.before("one", "bitcoin", 4) is None
    assert await caps.before("one", "bitcoin", 5) == PastCap(5, 9.0, None)
    assert await caps.read_times("one") == {"bitcoin": START_MS + 1, "ethereum": START_MS}
    await caps.put("two", "bitcoin", [], START_MS + 2)
    assert await caps.read_times("one") == {}
    assert await gecko.database.read("SELECT count(*) FROM market_caps") == [(0,)]
