"""A row says what the routes of its coin say, and names what is not fresh."""

from typing import Any

import msgspec
import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from service.errors import ServiceError
from service.market.models import Quote, Quotes
from service.market.momentum import MomentumTable
from service.market.plausibility.quarantine import QuarantinedValue, QuarantineReport
from service.market.plausibility.rules import RejectReason
from service.market.symbols import canonical
from service.storage.documents import FetchFailure
from service.verdict.grading import CoinGrader
from service.wire.coins import CoinRow
from service.wire.market import Historical, Stance
from service.wire.queries import HistoricalQuery, SignalQuery
from tests.table.world import COINS, LAST, World, midnight

SYMBOLS = [canonical(coin) for coin in COINS]


async def single(world: World, symbol: str) -> dict[str, Any]:
    """The same measures as the routes of the coin give them."""
    said = msgspec.json.decode(bytes(world.coins.risk(symbol, world.sentiment.mood).data))  # type: ignore[call-overload]
    signal = msgspec.json.decode(bytes((await world.verdict.signal(SignalQuery(symbol))).data))  # type: ignore[call-overload]
    hour, day = [await historical(world, symbol, count, "h") for count in (1, 24)]
    week, month = [await historical(world, symbol, count, "d") for count in (7, 30)]
    confidence = {row.symbol: row.regime for row in world.told.confidence}
    return {
        **{name: said[name] for name in ("price", "funding_apr", "trend_daily", "trend_weekly", "sentiment_stance")},
        "btc_correlation": said["btc_correlation"],
        "verdict": signal["verdict"],
        "score": signal["score"],
        "change_1h": hour.change_pct,
        "change_24h": day.change_pct,
        "change_7d": week.change_pct,
        "change_30d": month.change_pct,
        "market_cap": hour.now.marketCap,
        "volume_24h_usd": hour.now.futuresVolume24h,
        "open_interest_usd": hour.now.openInterest,
        "regime": confidence.get(symbol),
        "stale": set(said["_stale_fields"]),
        "is_complete": set(signal["sources"].values()) == {"fulfilled"},
    }


async def historical(world: World, symbol: str, count: int, unit: Any) -> Historical:
    data = (await world.market.historical.historical(HistoricalQuery(symbol, count, unit))).data
    assert isinstance(data, Historical)
    return data


async def agrees(world: World) -> None:
    """Hold every row to the routes of its coin."""
    assert list(world.table.rows()) != []
    for symbol, row in world.table.rows().items():
        told = await single(world, symbol)
        stale, complete = told.pop("stale"), told.pop("is_complete")
        assert {name: getattr(row, name) for name in told} == told
        shared = {"price", "funding_apr", "trend_daily", "trend_weekly", "sentiment_stance", "btc_correlation"}
        assert set(row.stale_fields) & shared == stale
        assert ("verdict" in row.stale_fields) == ("score" in row.stale_fields) == (not complete)
        assert all(name in row.stale_fields for name in told if getattr(row, name) is None)


@pytest.mark.promise("coins.payload", "coins.agree", "coins.changes")
async def test_every_row_says_what_the_routes_of_its_coin_say(world: World) -> None:
    await agrees(world)
    btc, pepe, young = world.row("BTC"), world.row("PEPE"), world.row("YOUNG")
    assert (btc.name, btc.rank, btc.categories) == ("Bitcoin", 1, ["Layer 1 (L1)"])
    assert btc.stale_fields == []
    assert world.row("SOL").categories == ["Layer 1 (L1)", "Meme"]
    assert (pepe.name, pepe.rank, pepe.market_cap, pepe.categories) == ("Pepe", None, None, ["Meme"])
    assert (young.name, young.rank, young.categories, young.change_30d) == (None, None, None, None)
    assert [row.rank for row in world.table.rows().values()] == [1, 2, 3, None, None]


@pytest.mark.parametrize(
    "stance", ["capitulation", "exhaustion", "accumulation", "neutral", "distribution", "euphoria"]
)
async def test_a_signal_asked_a_moment_ago_gives_way_at_the_instant_at_which_its_row_does(
    world: World, stance: Stance
) -> None:
    """The clock stands still, and every source answers as it did."""
    first: Stance = "euphoria" if stance == "accumulation" else "accumulation"
    for felt in (first, stance, first):
        await world.feel(dict.fromkeys(SYMBOLS, felt), world.clock.now_ms())
        assert {row.sentiment_stance for row in world.table.rows().values()} == {felt}
        await agrees(world)


async def test_a_streak_counts_days_from_the_first_close_of_the_trend(world: World) -> None:
    since_ms = world.coins.view()["BTC"].trend_daily_since_ms
    assert since_ms is not None
    assert world.row("BTC").streak_days == (midnight(LAST) - since_ms) // DAY_MS + 1
    assert world.row("YOUNG").streak_days is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "later_ms",
    [
        50 * SECOND_MS,
        11 * MINUTE_MS,
        2 * HOUR_MS,
        4 * HOUR_MS,
        13 * HOUR_MS,
        37 * HOUR_MS,
        49 * HOUR_MS,
    ],
)
async def test_rows_agree_with_the_routes_while_everything_grows_old(world: World, later_ms: int) -> None:
    world.clock.at_ms += later_ms
    gone = later_ms > 10 * MINUTE_MS
    if gone:  # else no route says anything
        await world.quote(world.clock.now_ms())
    await world.market.past_prices.refresh()
    if later_ms <= 36 * HOUR_MS:
        await agrees(world)
    row = world.row("BTC")
    assert ("change_1h" in row.stale_fields) == (later_ms < 60 * SECOND_MS or later_ms > 2 * HOUR_MS)
    assert ("change_7d" in row.stale_fields) == (later_ms < 60 * SECOND_MS)
    assert ("market_cap" in row.stale_fields) == (later_ms > HOUR_MS)
    assert (row.market_cap is None) == (later_ms > 48 * HOUR_MS)
    assert (row.regime is None) == (later_ms > 36 * HOUR_MS)
    assert ("regime" in row.stale_fields) == (later_ms > 12.25 * HOUR_MS)
    assert (row.sentiment_stance is None) == (later_ms > 48 * HOUR_MS)


async def test_rows_agree_with_the_routes_when_prices_are_missed(world: World) -> None:
    now_ms = world.clock.now_ms()
    await world.store.put_failure(FetchFailure(now_ms, 500, "down"))
    await world.follow()
    await agrees(world)
    assert {"price", "change_1h", "change_24h", "volume_24h_usd"} <= set(world.row("BTC").stale_fields)


async def test_rows_agree_with_the_routes_while_little_is_known(world: World) -> None:
    await world.momenta.put(world.origin, MomentumTable({}), world.clock.now_ms())
    await world.moods.fail(FetchFailure(world.clock.now_ms(), 500, "down"))
    await agrees(world)
    assert "sentiment_stance" in world.row("BTC").stale_fields


async def test_a_coin_with_funding_alone_has_no_price_and_no_verdict(world: World) -> None:
    now_ms = world.clock.now_ms()
    world.clock.at_ms += 11 * MINUTE_MS
    funding = [Quote(coin, canonical(coin), 1e6, None, None, 0.0000125, now_ms + 11 * MINUTE_MS) for coin in COINS]
    await world.store.put_quotes(world.origin, Quotes(now_ms + 11 * MINUTE_MS, funding))
    await world.follow()
    row = world.row("BTC")
    assert (row.price, row.volume_24h_usd, row.change_7d) == (None, None, None)
    assert (row.funding_apr, row.verdict) == (10.95, "insufficient-evidence")
    await agrees(world)


async def test_without_prices_and_funding_a_row_has_what_is_left(world: World) -> None:
    world.clock.at_ms += 11 * MINUTE_MS
    row = world.row("BTC")
    assert (row.price, row.funding_apr, row.verdict) == (None, None, "insufficient-evidence")
    assert (row.trend_daily, row.market_cap) == (world.coins.view()["BTC"].trend_daily, 2e12)


async def test_without_conclusions_there_is_no_regime(world: World) -> None:
    empty = msgspec.structs.replace(world.told, regime=None, confidence=[])
    await world.document.put(world.origin, empty, world.told.through_ms)
    assert world.row("BTC").regime is None
    assert {"regime", "verdict", "score"} <= set(world.row("BTC").stale_fields)
    await agrees(world)


async def test_what_is_held_back_is_named_with_the_coin_it_belongs_to(world: World) -> None:
    held = [
        QuarantinedValue("hyperliquid", "SOL", field, RejectReason.PRICE_IMPOSSIBLE, 0)
        for field in ("volume", "interest")
    ]
    await world.quarantine.put(world.origin, QuarantineReport(held), world.clock.now_ms())
    named = {"volume_24h_usd", "open_interest_usd"}
    assert named <= set(world.row("SOL").stale_fields)
    assert not {"volume_24h_usd"} & set(world.row("BTC").stale_fields)


async def test_rows_are_the_same_object_until_something_changes(world: World) -> None:
    rows = world.table.rows()
    assert world.table.rows() is rows
    await world.market.past_prices.refresh()
    assert world.table.rows() is rows
    world.clock.at_ms += SECOND_MS
    assert world.table.rows() is not rows


async def test_before_the_first_price_there_is_no_table(world: World) -> None:
    world.coins.show(msgspec.structs.replace(await world.store.snapshot(), coins=[]))
    with pytest.raises(ServiceError) as refused:
        world.table.rows()
    assert refused.value.code == "UNAVAILABLE"


async def test_grades_that_are_cached_are_forgotten_when_there_are_too_many(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.verdict.grading._MOST_CACHED", 1)
    grader, view = CoinGrader(world.clock, world.market), world.coins.view()
    for symbol in ("BTC", "SOL", "BTC"):
        grade, _ = grader.grade(view[symbol], world.sentiment.mood(symbol), is_price_stale=False, is_chart_stale=False)
        assert (grade.verdict, grade.score) == (world.row(symbol).verdict, world.row(symbol).score)
    assert len(grader._cached) == 1


def test_a_row_has_the_fields_of_the_specification() -> None:
    assert " ".join(CoinRow.__struct_encode_fields__) == (
        "symbol name rank price change_1h change_24h change_7d change_30d volume_24h_usd open_interest_usd "
        "market_cap funding_apr trend_daily trend_weekly streak_days regime verdict score sentiment_stance "
        "btc_correlation categories changes_from _stale_fields"
    )
