"""From bars in the store to charts and conclusions: what is read, what is published, and that it stays."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from service.clock import DAY_MS, SECOND_MS
from service.errors import ServiceError
from service.market.daily_report.models import BreadthDay, DailyReport
from service.market.daily_report.refresh import GRACE_MS, LONGEST_WAIT_MS
from service.market.models import CoinChart, PackedBars, Row
from service.storage.database import Database, open_database
from service.wire.market import MarketHealth
from tests.fakes.clock import FakeClock
from tests.market.concluding import Leader, Reader, read, wave

TODAY = 20_300
DAYS = range(TODAY - 199, TODAY + 1)
COINS = ("BTC", "ETH", "SOL", "XRP")
GRACE_S = GRACE_MS / 1_000


def bars(days: range = DAYS) -> dict[str, list[Row]]:
    return {coin: wave(days, 11.0 + place, place, 0.002) for place, coin in enumerate(COINS)}


@pytest.fixture
async def leader(database: Database, clock: FakeClock) -> Leader:
    made = Leader(database, clock)
    made.at(TODAY, 10)
    await made.store.claim("test")
    await made.list_coins(*COINS)
    return made


async def give(leader: Leader, rows: Mapping[str, list[Row]]) -> None:
    for coin, own in rows.items():
        await leader.give(coin, own)


async def charts(leader: Leader) -> dict[str, CoinChart]:
    return {quote.venue_symbol: chart for quote, chart in (await leader.store.snapshot()).coins}


async def complete(leader: Leader) -> None:
    await give(leader, bars())
    await leader.round(asked=True)


def spy_on_reads(leader: Leader, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, int]]:
    """What is asked of the store from now on: by coin, from when."""
    asked: list[dict[str, int]] = []
    read_bars = leader.store.packed_after

    async def watched(since_ms: Mapping[str, int]) -> dict[str, PackedBars]:
        asked.append(dict(since_ms))
        return await read_bars(since_ms)

    monkeypatch.setattr(leader.store, "packed_after", watched)
    return asked


async def test_charts_come_as_their_coins_do_and_what_is_said_of_all_waits_for_all(leader: Leader) -> None:
    rows = bars()
    await leader.give("SOL", rows["SOL"])
    await leader.round()
    assert (await charts(leader))["SOL"] == CoinChart()
    await give(leader, {coin: rows[coin] for coin in ("BTC", "ETH")})
    await leader.round()
    seen = await charts(leader)
    assert seen["SOL"].trend_daily is not None
    assert seen["XRP"] == CoinChart()
    assert leader.document.current.value is None
    await leader.give("XRP", rows["XRP"])
    await leader.round()
    assert (await charts(leader))["XRP"].through_ms == (TODAY + 1) * DAY_MS
    assert leader.document.current.value is None
    await leader.round(asked=True)
    assert leader.told.through_ms == (TODAY + 1) * DAY_MS
    assert leader.told.health.universe == len(COINS)


async def test_a_chart_says_what_it_can(leader: Leader) -> None:
    """Of a coin that is young, new, without a bar, or that ended early."""
    await leader.list_coins(*COINS, "YOUNG", "NEW", "BARE", "ENDED")
    await complete(leader)
    await leader.give("YOUNG", wave(range(TODAY - 31, TODAY + 1), 9))
    await leader.give("NEW", wave(range(TODAY - 4, TODAY + 1), 9))
    await leader.give("ENDED", wave(range(TODAY - 100, TODAY - 9), 9))
    await leader.round()
    seen = await charts(leader)
    assert (seen["YOUNG"].trend_daily is None, seen["YOUNG"].trend_weekly) == (False, None)
    assert seen["YOUNG"].btc_correlation is not None
    assert seen["NEW"] == CoinChart(through_ms=(TODAY + 1) * DAY_MS)
    assert seen["BARE"] == CoinChart()
    assert seen["ENDED"].through_ms == (TODAY - 9) * DAY_MS
    assert (seen["BTC"].btc_correlation, seen["BTC"].trend_weekly is None) == (1.0, False)


async def test_without_ether_no_chart_is_read(leader: Leader) -> None:
    await leader.give("BTC", bars()["BTC"])
    await leader.round(asked=True)
    assert (await charts(leader))["BTC"] == CoinChart()
    assert leader.document.current.value is None


async def test_before_any_bar_and_before_any_coin_there_is_nothing_to_do(database: Database, clock: FakeClock) -> None:
    leader = Leader(database, clock)
    await leader.store.claim("test")
    await leader.round(asked=True)
    await leader.list_coins(*COINS)
    await leader.round(asked=True)
    assert leader.document.current.revision == 0


async def test_days_on_which_no_trend_is_known_are_not_published(leader: Leader) -> None:
    await give(leader, bars(range(TODAY - 8, TODAY + 1)))
    await leader.round(asked=True)
    assert leader.document.current.value is None
    leader.at(TODAY + 2, 10)
    await give(leader, bars(range(TODAY + 1, TODAY + 3)))
    await leader.round(asked=True)
    assert [day.day for day in leader.told.breadth] == [TODAY + 2]
    assert leader.told.regime is None


async def test_only_bars_that_are_new_are_read(leader: Leader, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = spy_on_reads(leader, monkeypatch)
    await complete(leader)
    await leader.round()
    leader.at(TODAY + 1, 10)
    await leader.give("SOL", wave(range(TODAY + 1, TODAY + 2), 13))
    await leader.round()
    await leader.round()
    assert asked == [dict.fromkeys(COINS, 0), {"SOL": TODAY * DAY_MS + 1}]


async def test_a_round_without_news_writes_nothing(leader: Leader, database: Database) -> None:
    await complete(leader)
    before = database.transactions
    await leader.round(asked=True)
    assert database.transactions == before


async def test_after_midnight_the_new_day_is_published_within_a_round(leader: Leader) -> None:
    await complete(leader)
    leader.at(TODAY + 1, 10)
    await leader.round()
    assert read(leader.breadth.health(0), MarketHealth).date == "2025-07-31"
    await give(leader, {coin: rows[-1:] for coin, rows in bars(range(DAYS[0], TODAY + 2)).items()})
    await leader.round()
    assert read(leader.breadth.health(0), MarketHealth).date == "2025-08-01"
    assert leader.breadth.health(0).as_of_ms == (TODAY + 2) * DAY_MS
    assert [day.day for day in leader.told.breadth][-2:] == [TODAY, TODAY + 1]


async def test_a_coin_that_comes_late_changes_its_own_chart_and_no_published_day(leader: Leader) -> None:
    await leader.list_coins(*COINS, *(f"C{number}" for number in range(8)), "LATE")
    await complete(leader)
    for number in range(8):
        await leader.give(f"C{number}", wave(range(DAYS[0], TODAY + 2), 9.0 + number / 3))
    await give(leader, {coin: rows[-1:] for coin, rows in bars(range(DAYS[0], TODAY + 2)).items()})
    await leader.give("LATE", wave(DAYS, 10.0, 2.0))
    leader.at(TODAY + 1, GRACE_S - 1)
    await leader.round(asked=True)
    assert leader.told.breadth[-1].day == TODAY
    leader.at(TODAY + 1, GRACE_S)
    await leader.round(asked=True)
    published = leader.told
    assert published.breadth[-1].day == TODAY + 1
    assert published.health.universe == len(COINS) + 8
    leader.at(TODAY + 1, 5 * 3_600)
    await leader.give("LATE", wave(range(DAYS[0], TODAY + 2), 10.0, 2.0)[-1:])
    await leader.round(asked=True)
    assert leader.told == published
    assert (await charts(leader))["LATE"].through_ms == (TODAY + 2) * DAY_MS
    leader.at(TODAY + 2, 10)
    for coin in [*COINS, *(f"C{number}" for number in range(8)), "LATE"]:
        await leader.give(coin, wave(range(TODAY + 2, TODAY + 3), 9.0))
    await leader.round(asked=True)
    assert leader.told.breadth[:-1] == published.breadth
    assert leader.told.health.universe == len(COINS) + 9


async def test_the_regime_follows_the_published_figure_whatever_comes_later(leader: Leader, database: Database) -> None:
    await complete(leader)
    false = [replace(day, up=4, hodl=0, down=0) for day in leader.told.breadth]
    await leader.document.put("test", replace(leader.told, breadth=false), leader.told.through_ms)
    again = Leader(database, leader.clock)
    await again.follow()
    before = again.told.runs
    await again.round(asked=True)
    assert again.told.breadth == false
    assert again.told.health.trends.UP == 4
    assert again.told.runs != before


async def test_a_coin_that_was_delisted_counts_in_the_past(leader: Leader) -> None:
    await leader.list_coins(*COINS, "GONE")
    await leader.give("GONE", wave(range(DAYS[0], TODAY - 49), 12.0))
    await leader.list_coins(*COINS)
    await complete(leader)
    universe = {day.day: day.up + day.hodl + day.down for day in leader.told.breadth}
    assert universe[TODAY - 60] == universe[TODAY - 50] == len(COINS) + 1
    assert universe[TODAY - 49] == universe[TODAY] == len(COINS)


async def test_a_restart_says_the_same_and_writes_nothing_again(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "verdict.db"
    async with open_database(path, clock) as database:
        leader = Leader(database, clock)
        leader.at(TODAY, 10)
        await leader.store.claim("test")
        await leader.list_coins(*COINS)
        await complete(leader)
        before, revision = leader.breadth.health(1), leader.document.current.revision
    async with open_database(path, clock) as database:
        leader = Leader(database, clock)
        await leader.follow()
        assert leader.breadth.health(1) == before
        await leader.round()
        await leader.round(asked=True)
        assert leader.breadth.health(1) == before
        assert leader.document.current.revision == revision


async def test_a_restart_while_a_new_day_comes_in_says_the_same_of_the_last_one(
    leader: Leader, database: Database
) -> None:
    await complete(leader)
    before, revision = leader.told, leader.document.current.revision
    leader.at(TODAY + 1, 60)
    for coin in COINS[:3]:
        await leader.give(coin, wave(range(TODAY + 1, TODAY + 2), 5.0))
    again = Leader(database, leader.clock)
    await again.follow()
    await again.round(asked=True)
    assert (again.told, again.document.current.revision) == (before, revision)
    assert (await charts(again))["SOL"].through_ms == (TODAY + 2) * DAY_MS


async def lead_between(leader: Leader, database: Database) -> Leader:
    """Another process that has led, published a day without one coin's bar, and got that bar since."""
    new = {coin: rows[-1:] for coin, rows in bars(range(DAYS[0], TODAY + 2)).items()}
    late = new.pop("XRP")
    other = Leader(database, leader.clock)
    await other.follow()
    await give(other, new)
    other.at(TODAY + 1, LONGEST_WAIT_MS / SECOND_MS)
    await other.round(asked=True)
    assert (other.told.breadth[-1].day, other.told.health.universe) == (TODAY + 1, len(COINS) - 1)
    await other.give("XRP", late)
    return other


def of_all(told: DailyReport) -> tuple[object, ...]:
    """What is said of the market as a whole; of one coin more may be said once its late bar is there."""
    return told.through_ms, told.breadth, told.health.universe, told.crossings, told.runs


async def test_a_process_that_leads_again_tells_no_day_otherwise_that_was_published_meanwhile(
    leader: Leader, database: Database
) -> None:
    await complete(leader)
    other = await lead_between(leader, database)
    await leader.follow()
    await leader.round(asked=True)
    assert of_all(leader.told) == of_all(other.told)
    assert (await charts(leader))["XRP"].through_ms == (TODAY + 2) * DAY_MS


async def test_a_process_that_leads_again_and_does_not_know_yet_what_was_published_takes_nothing_back(
    leader: Leader, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await complete(leader)
    other = await lead_between(leader, database)
    await leader.round(asked=True)
    assert leader.told == other.told
    assert "Another process has published a newer daily report." in caplog.text
    await leader.round(asked=True)
    assert of_all(leader.told) == of_all(other.told)


async def test_another_process_answers_the_same(leader: Leader, database: Database, tmp_path: Path) -> None:
    await complete(leader)
    async with open_database(tmp_path / "verdict.db", leader.clock) as other:
        follower = Reader(other, leader.clock)
        await follower.follow()
        assert follower.told == leader.told
        assert follower.breadth.health(1) == leader.breadth.health(1)
        assert follower.breadth.crossing() == leader.breadth.crossing()
        assert follower.regimes.regime("signals", None) == leader.regimes.regime("signals", None)


async def test_another_history_is_concluded_anew_and_the_old_one_told_until_then(leader: Leader) -> None:
    await complete(leader)
    before = leader.told
    leader.origin = f"{leader.origin}:tomorrow"
    await leader.round(asked=True)
    await leader.list_coins(*COINS)
    await leader.round()
    assert leader.told == before
    shifted = {coin: wave(range(DAYS[0] + 1, TODAY + 2), 8.0 + place) for place, coin in enumerate(COINS)}
    await give(leader, shifted)
    leader.at(TODAY + 1, 10)
    await leader.round(asked=True)
    assert leader.document.current.origin == leader.origin
    assert leader.told.breadth[-1].day == TODAY + 1
    assert leader.told.breadth[:50] != before.breadth[:50]


async def test_bars_read_while_the_history_changes_are_not_concluded_from(
    leader: Leader, monkeypatch: pytest.MonkeyPatch
) -> None:
    await give(leader, bars())
    newest = leader.store.newest_closed

    async def meanwhile() -> dict[str, int]:
        leader.origin = "tomorrow"
        return await newest()

    monkeypatch.setattr(leader.store, "newest_closed", meanwhile)
    await leader.round(asked=True)
    assert (leader.document.current.value, (await charts(leader))["BTC"]) == (None, CoinChart())


async def test_what_could_not_be_written_is_written_by_the_next_round(
    leader: Leader, monkeypatch: pytest.MonkeyPatch
) -> None:
    await complete(leader)
    leader.at(TODAY + 1, 10)
    await give(leader, {coin: rows[-1:] for coin, rows in bars(range(DAYS[0], TODAY + 2)).items()})
    with monkeypatch.context() as broken:

        async def refuse(*_: object, **__: object) -> None:
            raise ServiceError("UNAVAILABLE", "the disk is full")

        broken.setattr(leader.document, "put", refuse)
        with pytest.raises(ServiceError, match="disk"):
            await leader.round(asked=True)
    await leader.round()
    assert leader.told.breadth[-1] == BreadthDay(TODAY + 1, *_counts(leader))


def _counts(leader: Leader) -> tuple[int, int, int]:
    trends = leader.told.health.trends
    return trends.UP, trends.HODL, trends.DOWN
