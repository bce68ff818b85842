"""Hyperliquid's wire: what is read, and what is refused."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from service.clock import DAY_MS, HOUR_MS, SECOND_MS
from service.errors import ServiceError
from service.market.sources import hyperliquid
from service.market.sources import hyperliquid_wire as wire
from service.market.sources.hyperliquid import Hyperliquid
from service.market.sources.hyperliquid_wire import EARLIEST_MS
from service.upstream.failures import UpstreamError
from tests.fakes.clock import START_MS, FakeClock
from tests.market.parts import TODAY, Parts
from tests.market.recordings import DATA, needs_recordings
from tests.market.venue import candle, context, payment
from tests.upstream.faults import answer

RECORDED = DATA / "wire"

DECODERS: dict[str, Callable[[str], object]] = {
    "hyperliquid-nautilus/ws_all_dexs_asset_ctxs.json": lambda body: list(frame_contexts(body)),
    "hyperliquid-net/Endpoints-Futures-ExchangeData-GetExchangeInfoAndTickers.txt": wire.META_AND_CONTEXTS.decode,
    "hyperliquid-net/Endpoints-Futures-ExchangeData-GetFundingRateHistory.txt": wire.FUNDING_HISTORY.decode,
    "hyperliquid-net/Endpoints-Spot-ExchangeData-GetKlines.txt": wire.CANDLES.decode,
    "hyperliquid-sdk/test_get_candles_snapshot.yaml": wire.CANDLES.decode,
    "hyperliquid-sdk/test_get_funding_history1684811870000.yaml": wire.FUNDING_HISTORY.decode,
    "hyperliquid-sdk/test_get_funding_historyNone.yaml": wire.FUNDING_HISTORY.decode,
}

NOT_READ = {
    "hyperliquid-nautilus/ws_allmids.json": "marks are read, not mids",
    "hyperliquid-net/Endpoints-Futures-ExchangeData-GetExchangeInfo.txt": "the universe comes with its contexts",
    "hyperliquid-net/Endpoints-Spot-ExchangeData-GetPrices.txt": "marks are read, not mids",
    "hyperliquid-net/Subscriptions-Prices.txt": "marks are read, not mids",
    "hyperliquid-sdk/test_get_all_mids.yaml": "marks are read, not mids",
    "hyperliquid-sdk/test_get_info.yaml": "the universe comes with its contexts",
    "hyperliquid-net/Endpoints-Futures-ExchangeData-GetSymbolsAtMaxOpenInterest.txt": "no route asks for it",
    "hyperliquid-net/Endpoints-Spot-ExchangeData-GetAssetInfo.txt": "spot tokens",
    "hyperliquid-net/Endpoints-Spot-ExchangeData-GetExchangeInfo.txt": "spot tokens",
    "hyperliquid-net/Endpoints-Spot-ExchangeData-GetExchangeInfoAndTickers.txt": "spot tokens",
    "hyperliquid-net/Endpoints-Spot-ExchangeData-GetOrderBook.txt": "order books",
    "hyperliquid-net/Subscriptions-BookTicker.txt": "order books",
    "hyperliquid-net/Subscriptions-Klines.txt": "bars are polled at their close",
    "hyperliquid-net/Subscriptions-OrderBook.txt": "order books",
    "hyperliquid-net/Subscriptions-Trades.txt": "trades",
    "hyperliquid-sdk/test_get_l2_snapshot.yaml": "order books",
}


def frame_contexts(body: str) -> Iterator[tuple[str, wire.Contexts]]:
    """A frame as it is read: the socket takes off the envelope."""
    for dex, contexts in wire.DEX_CONTEXTS.decode(msgspec.json.encode(json.loads(body)["data"])).ctxs:
        yield dex, wire.CONTEXTS.decode(contexts)


def recorded_body(name: str) -> str:
    """The JSON body of a sample: the last of a cassette, or what follows the request lines."""
    text = (RECORDED / name).read_text()
    if name.endswith(".yaml"):
        return str(re.findall(r"^      string: '(.*?)'$", text, re.MULTILINE | re.DOTALL)[-1])
    return text[re.search(r"^[\[{]", text, re.MULTILINE).start() :]  # type: ignore[union-attr]


@pytest.mark.recorded
@needs_recordings
@pytest.mark.parametrize("name", DECODERS)
def test_a_recorded_sample_decodes(name: str) -> None:
    assert DECODERS[name](recorded_body(name))


@pytest.mark.recorded
@needs_recordings
def test_every_recorded_sample_is_read_or_says_why_not() -> None:
    samples = {str(path.relative_to(RECORDED)) for path in RECORDED.glob("hyperliquid*/*")}
    assert samples == DECODERS.keys() | NOT_READ.keys()


@pytest.mark.recorded
@needs_recordings
def test_a_real_frame_gives_the_numbers_that_stand_in_it() -> None:
    body = recorded_body("hyperliquid-nautilus/ws_all_dexs_asset_ctxs.json")
    theirs = dict(json.loads(body)["data"]["ctxs"])
    read = dict(frame_contexts(body))
    assert read.keys() == theirs.keys()
    for dex, ours in read.items():
        assert [c.mark_px for c in ours] == [float(c["markPx"]) for c in theirs[dex]]
        assert [c.funding for c in ours] == [float(c["funding"]) for c in theirs[dex]]
        assert [c.open_interest for c in ours] == [float(c["openInterest"]) for c in theirs[dex]]
        assert [c.prev_day_px for c in ours] == [float(c["prevDayPx"]) for c in theirs[dex]]


@pytest.mark.recorded
@needs_recordings
async def test_a_real_frame_is_read_over_the_universe_it_belongs_to(parts: Parts) -> None:
    data = json.loads(recorded_body("hyperliquid-nautilus/ws_all_dexs_asset_ctxs.json"))["data"]
    theirs = dict(data["ctxs"])[""]
    parts.venue.contexts = {f"C{place}": context("1.0") for place in range(len(theirs))}
    await parts.source.quotes()
    parts.source.adopt_universe()
    found = parts.source.read_frame(msgspec.json.encode(data), START_MS)
    assert found is not None
    assert [quote.price for quote in found.quotes] == [float(row["markPx"]) or None for row in theirs]
    assert [quote.funding for quote in found.quotes] == [float(row["funding"]) for row in theirs]


@pytest.mark.parametrize("number", ["nan", "NaN", "inf", "-Infinity", "1e400", "1_0", " 1", "", "0x1", "1,5"])
def test_what_is_no_finite_number_is_refused(number: str) -> None:
    with pytest.raises(msgspec.MsgspecError):
        wire.CONTEXTS.decode(json.dumps([{"markPx": number}]))


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)))
def test_any_json_is_decoded_or_refused_as_malformed(value: object) -> None:
    for decoder in (
        wire.META_AND_CONTEXTS,
        wire.CANDLES,
        wire.FUNDING_HISTORY,
        wire.DEX_CONTEXTS,
        wire.CONTEXTS,
        wire.ANNOTATIONS,
    ):
        try:
            decoder.decode(msgspec.json.encode(value))
        except msgspec.MsgspecError:
            continue


@pytest.mark.promise("time.as-of-oldest", "numbers.precision")
async def test_quotes_carry_price_funding_and_the_venues_time(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("118000.5", "-0.0000071", "2.5"), "kPEPE": context("0.0123")}
    found = await parts.source.quotes()
    assert found.observed_ms == START_MS
    btc, pepe = found.quotes
    assert (btc.symbol, btc.price, btc.funding, btc.volume_usd) == ("BTC", 118000.5, -0.0000071, 2.5)
    assert (btc.price_ms, btc.funding_ms) == (START_MS, START_MS)
    assert (pepe.venue_symbol, pepe.symbol) == ("kPEPE", "PEPE")


@pytest.mark.promise("time.as-of-oldest")
async def test_an_observation_is_never_dated_after_its_receipt(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    parts.venue.ahead_ms = 3_600 * SECOND_MS
    assert (await parts.source.quotes()).observed_ms == START_MS
    parts.venue.ahead_ms = -7 * SECOND_MS
    assert (await parts.source.quotes()).observed_ms == START_MS - 7 * SECOND_MS


async def test_a_delisted_coin_is_not_quoted(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0"), "MATIC": context("0.37621", "0.0")}
    parts.venue.delisted = {"MATIC"}
    assert [quote.symbol for quote in (await parts.source.quotes()).quotes] == ["BTC"]


@pytest.mark.parametrize("price", [None, "0.0", "-1.0"])
async def test_what_is_no_price_is_unknown_for_that_coin_alone(parts: Parts, price: str | None) -> None:
    parts.venue.contexts = {"BTC": context("1.0"), "X": context(price, None)}
    btc, x = (await parts.source.quotes()).quotes
    assert btc.price == 1.0
    assert (x.price, x.price_ms, x.funding, x.funding_ms) == (None, None, None, None)


async def test_quotes_carry_what_is_held_and_yesterdays_price(parts: Parts) -> None:
    parts.venue.contexts = {
        "BTC": context("1.0") | {"openInterest": "12.5", "prevDayPx": "0.8"},
        "X": context("1.0") | {"openInterest": "-1.0", "prevDayPx": "0.0", "dayNtlVlm": "-5.0"},
        "Y": context("1.0") | {"openInterest": None, "prevDayPx": None, "dayNtlVlm": None},
    }
    btc, x, y = (await parts.source.quotes()).quotes
    assert (btc.open_interest, btc.prev_price, btc.venue, btc.interval_hours) == (12.5, 0.8, "hyperliquid", 1.0)
    for quote in (x, y):
        assert (quote.open_interest, quote.prev_price, quote.volume_usd) == (None, None, 0.0)


async def test_delisted_coins_are_named_beside_the_quotes(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0"), "MATIC": context("0.37621", "0.0")}
    parts.venue.delisted = {"MATIC"}
    assert (await parts.source.quotes()).delisted == ["MATIC"]


async def test_a_builders_market_is_asked_by_its_name_and_its_tickers_go_without_it(parts: Parts) -> None:
    parts.venue.contexts = {"xyz:AAPL": context("230.5"), "xyz:GOLD": context("3300.0")}
    found = (await parts.source.quotes("xyz")).quotes
    assert [(quote.venue_symbol, quote.symbol) for quote in found] == [("xyz:AAPL", "AAPL"), ("xyz:GOLD", "GOLD")]
    assert parts.venue.asked("metaAndAssetCtxs") == [{"type": "metaAndAssetCtxs", "dex": "xyz"}]
    frame = msgspec.json.encode({"ctxs": [["", [context("1.0"), context("2.0")]]]})
    assert parts.source.read_frame(frame, START_MS) is None


@pytest.mark.parametrize("status", [200, 500])
async def test_a_market_that_does_not_exist_is_refused(parts: Parts, status: int) -> None:
    parts.venue.faults.next = answer(status, b"null")
    with pytest.raises(UpstreamError):
        await parts.source.quotes("nope")


async def test_a_frame_is_read_in_the_order_of_the_universe(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0"), "OLD": context("9.0"), "kPEPE": context("3.0")}
    parts.venue.delisted = {"OLD"}
    await parts.source.quotes()
    parts.source.adopt_universe()
    shown = [context("1.5"), context("0.0"), context("3.5", "-0.001")]
    found = parts.source.read_frame(msgspec.json.encode({"ctxs": [["a", []], ["", shown]]}), START_MS + 1_007)
    assert found is not None
    assert [(q.symbol, q.price, q.funding, q.price_ms) for q in found.quotes] == [
        ("BTC", 1.5, 0.0000125, START_MS + 1_000),
        ("PEPE", 0.0035, -0.001, START_MS + 1_000),
    ]
    assert found.delisted is None


@pytest.mark.promise("quarantine.tickers")
async def test_a_row_without_a_valid_ticker_is_dropped_and_counted(parts: Parts) -> None:
    names = ["BTC", "<script>", "btc", "A" * 21, "", "kPEPE", "xyz:AAPL", "SOL\n", "KÄSE"]
    parts.venue.contexts = {name: context("1.0") for name in names}
    parts.venue.contexts["GONE!"] = context("1.0")
    parts.venue.delisted = {"GONE!"}
    found = await parts.source.quotes()
    assert [quote.venue_symbol for quote in found.quotes] == ["BTC", "kPEPE", "xyz:AAPL"]
    assert (found.delisted, found.dropped) == ([], 7)


async def test_a_frame_of_one_market_is_read_if_it_is_the_main_one(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.source.quotes()
    parts.source.adopt_universe()
    frames = [msgspec.json.encode({"dex": dex, "ctxs": [context("1.5")]}) for dex in ("", "xyz")]
    main, other = (parts.source.read_frame(frame, START_MS) for frame in frames)
    assert main is not None
    assert [quote.price for quote in main.quotes] == [1.5]
    assert other is None


@pytest.mark.parametrize(
    "frame", [b"", b"null", b'{"ctxs":[]}', b'{"ctxs":[["xyz",[{}]]]}', b'{"ctxs":[["",[{},{}]]]}']
)
async def test_a_frame_that_fits_no_universe_is_refused(parts: Parts, frame: bytes) -> None:
    assert parts.source.read_frame(frame, START_MS) is None
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.source.quotes()
    parts.source.adopt_universe()
    assert parts.source.read_frame(frame, START_MS) is None


async def test_payments_are_read_in_order_with_the_stamps_of_the_venue(parts: Parts) -> None:
    hour = START_MS // HOUR_MS
    parts.venue.funding["BTC"] = [
        payment("BTC", hour - back, late_ms=late) for back, late in ((1, -20), (2, 76), (0, 0))
    ]
    assert await parts.source.funding_history("BTC", 0) == [
        ((hour - back) * HOUR_MS + late, 0.0000125) for back, late in ((2, 76), (1, -20), (0, 0))
    ]


async def test_a_coin_that_the_venue_does_not_know_has_no_payments(parts: Parts) -> None:
    parts.venue.faults.next = answer(200, b"null")
    assert await parts.source.funding_history("NOPE", 0) == []


async def test_funding_of_something_else_is_refused(parts: Parts) -> None:
    parts.venue.funding["BTC"] = [payment("ETH", 0)]
    with pytest.raises(UpstreamError):
        await parts.source.funding_history("BTC", 0)


async def test_what_is_said_of_a_builders_coins_is_read(parts: Parts) -> None:
    parts.venue.faults.next = answer(
        200,
        b'[["xyz:AAPL",{"category":"stocks","displayName":"Apple","keywords":["iphone"]}],["xyz:Z",{"category":""}]]',
    )
    assert await parts.source.annotations() == {
        "xyz:AAPL": wire.Annotation("stocks", "Apple", ("iphone",)),
        "xyz:Z": wire.Annotation("", None, ()),
    }


async def test_a_ticker_that_two_coins_would_share_stays_with_the_first(parts: Parts) -> None:
    parts.venue.contexts = {"kPEPE": context("1.0"), "PEPE": context("2.0")}
    (quote,) = (await parts.source.quotes()).quotes
    assert (quote.venue_symbol, quote.price) == ("kPEPE", 0.001)


@pytest.mark.parametrize(
    "body",
    [
        b'[{"universe":[{"name":"BTC","szDecimals":1,"maxLeverage":1}]},[]]',
        b'[{"universe":[]},[]]',
        b'[{"universe":[{"name":"BTC","szDecimals":1,"maxLeverage":1}]},[{"markPx":"NaN"}]]',
        b"null",
        b"<html>",
    ],
    ids=["unequal lengths", "nothing listed", "not a number", "null", "html"],
)
async def test_an_answer_that_cannot_be_trusted_is_refused_whole(parts: Parts, body: bytes) -> None:
    parts.venue.faults.next = answer(200, body)
    with pytest.raises(UpstreamError) as refused:
        await parts.source.quotes()
    assert refused.value.code == "UPSTREAM_5XX"
    assert isinstance(refused.value, ServiceError)


@pytest.mark.promise("candles.end-time")
async def test_more_candles_than_an_answer_holds_are_read_by_advancing_the_start(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hyperliquid, "MOST_CANDLES", 2)
    days = list(range(TODAY - 4, TODAY + 1))

    async def page(request: web.Request) -> web.Response:
        asked = (await request.json())["req"]
        first, last = asked["startTime"] // DAY_MS, asked["endTime"] // DAY_MS
        rows = [candle("BTC", day, 2, 4, 1, 3) for day in days if first <= day <= last]
        return web.json_response(rows[:2])

    parts.venue.faults.next = page
    history = await parts.source.bars("BTC", "1d", (TODAY - 4) * DAY_MS)
    assert [bar.open_ms // DAY_MS for bar in history.bars] == days
    asked = [json.loads(body)["req"] for body in parts.venue.faults.requests]
    assert [(ask["startTime"] // DAY_MS, "endTime" in ask) for ask in asked] == [
        (TODAY - 4, True),
        (TODAY - 2, True),
        (TODAY, True),
    ]


async def test_full_answers_that_do_not_move_on_end(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hyperliquid, "MOST_CANDLES", 2)
    parts.venue.candles["BTC"] = [candle("BTC", day, 2, 4, 1, 3) for day in (TODAY - 9, TODAY - 8)]
    await parts.source.bars("BTC", "1d", (TODAY - 2) * DAY_MS)
    assert len(parts.venue.asked("candleSnapshot")) == 1


@pytest.mark.promise("candles.end-time")
async def test_bars_are_asked_for_from_a_day_on_and_come_in_order(parts: Parts) -> None:
    parts.venue.candles["BTC"] = [candle("BTC", day, 2, 4, 1, 3) for day in (TODAY, TODAY - 2, TODAY - 1)]
    history = await parts.source.bars("BTC", "1d", (TODAY - 1) * DAY_MS)
    assert parts.venue.asked("candleSnapshot")[0]["req"] == {
        "coin": "BTC",
        "interval": "1d",
        "startTime": (TODAY - 1) * DAY_MS,
        "endTime": parts.clock.now_ms(),
    }
    assert [bar.open_ms // DAY_MS for bar in history.bars] == [TODAY - 1, TODAY]
    assert (history.bars[0].open, history.bars[0].high, history.bars[0].low, history.bars[0].close) == (2, 4, 1, 3)
    assert (history.bars[0].volume, history.bars[0].trades) == (10, 7)


@pytest.mark.promise("symbols.venue")
async def test_what_the_venue_trades_by_the_thousand_is_read_as_one_coin(parts: Parts) -> None:
    parts.venue.contexts = {"kPEPE": context("0.0123") | {"openInterest": "2.5", "prevDayPx": "0.0121"}}
    parts.venue.candles["kPEPE"] = [candle("kPEPE", TODAY, 0.012, 0.0129, 0.0119, 0.0123)]
    (quote,) = (await parts.source.quotes()).quotes
    assert (quote.symbol, quote.price, quote.prev_price, quote.open_interest) == ("PEPE", 0.0000123, 0.0000121, 2_500.0)
    assert (quote.volume_usd, quote.funding) == (1_000_000.0, 0.0000125)
    (bar,) = (await parts.source.bars("kPEPE", "1d", TODAY * DAY_MS)).bars
    assert (bar.open, bar.high, bar.low, bar.close) == (0.000012, 0.0000129, 0.0000119, 0.0000123)
    assert (bar.volume, bar.trades) == (10_000.0, 7)


@pytest.mark.parametrize("field", ["s", "i"])
async def test_bars_of_something_else_are_refused(parts: Parts, field: str) -> None:
    parts.venue.candles["BTC"] = [candle("BTC", TODAY, 2, 4, 1, 3) | {field: "1h"}]
    with pytest.raises(UpstreamError):
        await parts.source.bars("BTC", "1d", EARLIEST_MS)


@pytest.mark.parametrize(
    "broken",
    [{"l": "0.0"}, {"l": "2.5"}, {"h": "2.5"}, {"t": TODAY * DAY_MS + 1}, {"c": "-3.0"}],
    ids=["free", "low above open", "high under close", "between days", "negative"],
)
async def test_a_bar_that_cannot_be_is_left_out(parts: Parts, broken: dict[str, Any]) -> None:
    parts.venue.candles["BTC"] = [candle("BTC", TODAY - 1, 2, 4, 1, 3), candle("BTC", TODAY, 2, 4, 1, 3) | broken]
    history = await parts.source.bars("BTC", "1d", EARLIEST_MS)
    assert [bar.open_ms // DAY_MS for bar in history.bars] == [TODAY - 1]


async def test_a_coin_the_venue_does_not_know_has_no_bars(parts: Parts) -> None:
    parts.venue.faults.next = answer(200, b"null")
    assert list((await parts.source.bars("NOPE", "1d", EARLIEST_MS)).bars) == []


class _Weighed:
    """A session that only notes the weights."""

    name = "hyperliquid"

    def __init__(self) -> None:
        self.weights: list[int] = []

    async def post_json(self, *_asked: object, weight: int, **_how: object) -> object:
        self.weights.append(weight)
        raise UpstreamError(self.name, None, b"")


async def test_history_is_weighed_by_what_it_may_hold(clock: FakeClock) -> None:
    session = _Weighed()
    source = Hyperliquid(session, clock)  # type: ignore[arg-type]
    for start_ms in (START_MS, START_MS - 59 * DAY_MS, START_MS - 60 * DAY_MS, START_MS + DAY_MS):
        with pytest.raises(UpstreamError):
            await source.bars("BTC", "1d", start_ms)
    for start_ms in (START_MS, START_MS - 90 * DAY_MS):
        with pytest.raises(UpstreamError):
            await source.bars("BTC", "1h", start_ms)
    for start_ms in (START_MS + 1, START_MS - 19 * HOUR_MS, START_MS - 20 * HOUR_MS, 0):
        with pytest.raises(UpstreamError):
            await source.funding_history("BTC", start_ms)
    assert session.weights == [21, 21, 22, 21, 21, 57, 21, 21, 22, 45]


def test_history_begins_on_a_monday() -> None:
    assert (EARLIEST_MS // DAY_MS + 3) % 7 == 0
    assert EARLIEST_MS % DAY_MS == 0
