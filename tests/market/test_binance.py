"""Binance's wire format, read strictly; bans and budgets kept."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS
from service.market.fallback import BinanceFallback
from service.market.models import Bar, Quote
from service.market.sources import binance
from service.market.sources.binance import CONFIRM_S, WEIGHT_PER_MINUTE, Binance, Contract, MarkPrice
from service.units import Interval
from service.upstream.budget import SHARE
from service.upstream.failures import UpstreamError
from service.upstream.session import UpstreamSession, open_session
from tests.fakes.clock import START_MS, FakeClock
from tests.market.binance_venue import BinanceVenue, contract, kline, open_binance
from tests.market.recordings import DATA, needs_recordings
from tests.upstream import faults

HOUR = START_MS // HOUR_MS * HOUR_MS


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def venue(clock: FakeClock) -> AsyncIterator[BinanceVenue]:
    async with open_binance(clock) as opened:
        yield opened


@pytest.fixture
async def session(venue: BinanceVenue, clock: FakeClock) -> AsyncIterator[UpstreamSession]:
    async with open_session("binance", venue.url, clock, weight_per_minute=1_000_000, deadline_s=20) as opened:
        yield opened


@pytest.fixture
def source(session: UpstreamSession, clock: FakeClock) -> Binance:
    return Binance(session, clock)


@needs_recordings
@pytest.mark.recorded
@pytest.mark.parametrize(
    ("sample", "decoder", "is_list"),
    [
        ("GetExchangeInfo", binance.EXCHANGE_INFO, True),
        ("GetFundingInfo", binance.FUNDING_INFO, True),
        ("GetMarkPrice", binance.PREMIUM_INDEX, False),
        ("GetTicker", binance.TICKERS, False),
        ("GetKlines", binance.KLINES, True),
    ],
)
def test_recorded_samples_are_read(sample: str, decoder: msgspec.json.Decoder[object], is_list: bool) -> None:
    text = (DATA / "wire" / "binance-net" / f"{sample}.txt").read_text().split("\n", 3)[3]
    # A sample of one contract stands for the list that is asked for: the venue writes the same object in it.
    assert decoder.decode((text if is_list else f"[{text}]").encode())


@needs_recordings
@pytest.mark.recorded
def test_a_recorded_bar_is_read_field_by_field() -> None:
    text = (DATA / "wire" / "binance-net" / "GetKlines.txt").read_text().split("\n", 3)[3]
    (row,) = binance.KLINES.decode(text.encode())
    assert (row.open_ms, row.close_ms) == (1_499_040_000_000, 1_499_644_799_999)
    assert (row.open, row.high, row.low, row.close, row.volume) == (
        0.01634790, 0.8, 0.015758, 0.015771, 148_976.11427815,
    )  # fmt: skip
    assert (row.quote_volume, row.trades) == (2_434.19055334, 308)


async def test_contracts_are_those_traded_against_usdt_with_their_interval(
    venue: BinanceVenue, source: Binance
) -> None:
    venue.contracts = [
        contract("BTC"),
        contract("WIF"),
        contract("AAPL", "TRADIFI_PERPETUAL", "EQUITY"),
        contract("LUNA", status="SETTLING"),
        contract("ETH", quoteAsset="USDC"),
    ]
    venue.hours = {"WIFUSDT": 4, "GONEUSDT": 1}
    assert await source.contracts() == {
        "BTCUSDT": Contract("BTCUSDT", "BTC", "PERPETUAL", "COIN", 8),
        "WIFUSDT": Contract("WIFUSDT", "WIF", "PERPETUAL", "COIN", 4),
        "AAPLUSDT": Contract("AAPLUSDT", "AAPL", "TRADIFI_PERPETUAL", "EQUITY", 8),
    }


async def test_contracts_are_asked_for_once_an_hour(venue: BinanceVenue, source: Binance, clock: FakeClock) -> None:
    venue.contracts = [contract("BTC")]
    await source.contracts()
    await clock.advance(3_599)
    await source.contracts()
    assert (venue.count("exchangeInfo"), venue.count("fundingInfo")) == (1, 1)
    await clock.advance(1)
    await source.contracts()
    assert (venue.count("exchangeInfo"), venue.count("fundingInfo")) == (2, 2)


async def test_contracts_without_their_intervals_are_not_used(venue: BinanceVenue, source: Binance) -> None:
    venue.contracts, venue.silent = [contract("BTC")], {"fundingInfo"}
    with pytest.raises(UpstreamError):
        await source.contracts()
    venue.silent = set()
    assert await source.contracts()


async def test_marks_hold_price_funding_and_the_day(venue: BinanceVenue, source: Binance) -> None:
    venue.trade("BTC", "118000.10000000", "-0.00012000")
    venue.trade("BTC", "118500.0", "", symbol="BTCUSDT_250926")
    marks = await source.marks()
    assert marks.observed_ms == START_MS
    assert marks.rows == {
        "BTCUSDT": MarkPrice(118_000.1, -0.00012, 80.0, 5_000.5),
        "BTCUSDT_250926": MarkPrice(118_500.0, None, 80.0, 5_000.5),
    }


@pytest.mark.parametrize(
    ("base", "ticker", "units"),
    [
        ("1000PEPE", "PEPE", 1_000),
        ("1000000MOG", "MOG", 1_000_000),
        ("1MBABYDOGE", "BABYDOGE", 1_000_000),
        ("1INCH", "1INCH", 1),
    ],
)
async def test_prices_and_volumes_are_those_of_one_coin(
    venue: BinanceVenue, source: Binance, clock: FakeClock, base: str, ticker: str, units: int
) -> None:
    open_ms, symbol = START_MS - 2 * HOUR_MS, f"{base}USDT"
    venue.trade(base, "100.0")
    venue.klines[symbol, "1h"] = [kline(open_ms // HOUR_MS * HOUR_MS, 100.0)]
    assert (await source.contracts())[symbol].base == ticker
    mark = (await source.marks()).rows[symbol]
    assert (mark.price, mark.prev_price, mark.volume_usd) == (100.0 / units, 80.0 / units, 5_000.5)
    await source.bars(symbol, "1h", open_ms // HOUR_MS * HOUR_MS)
    await clock.advance(CONFIRM_S)
    (bar,) = (await source.bars(symbol, "1h", open_ms // HOUR_MS * HOUR_MS)).bars
    assert (bar.high, bar.close, bar.volume) == (102.0 / units, 100.0 / units, 10.5 * units)


async def test_a_contract_whose_price_stands_still_or_is_none_is_left_out(venue: BinanceVenue, source: Binance) -> None:
    for base, price in (("BTC", "1.0"), ("OLD", "1.0"), ("NIL", "0.00000000"), ("LATE", "1.0")):
        venue.trade(base, price)
    venue.lags_ms = {"OLDUSDT": MINUTE_MS + 1, "LATEUSDT": MINUTE_MS}
    assert (await source.marks()).rows.keys() == {"BTCUSDT", "LATEUSDT"}


async def test_prices_do_without_the_day_where_it_cannot_be_had(venue: BinanceVenue, source: Binance) -> None:
    venue.trade("BTC", "100.0")
    venue.silent = {"ticker/24hr"}
    assert (await source.marks()).rows == {"BTCUSDT": MarkPrice(100.0, 0.0001, None, None)}


async def test_an_observation_is_never_dated_after_its_receipt(
    venue: BinanceVenue, source: Binance, clock: FakeClock
) -> None:
    venue.trade("BTC", "100.0")
    venue.clock = FakeClock(START_MS + HOUR_MS)
    assert (await source.marks()).observed_ms == clock.now_ms()


@pytest.mark.parametrize("rate", ["NaN", "Infinity", "1e999", "null", "0x1", " "])
async def test_funding_that_is_no_number_is_unknown(venue: BinanceVenue, source: Binance, rate: str) -> None:
    venue.trade("BTC", "100.0", rate)
    assert (await source.marks()).rows["BTCUSDT"].funding is None


async def confirmed(source: Binance, clock: FakeClock, symbol: str, interval: Interval, start_ms: int) -> list[Bar]:
    """Bars that two requests, as far apart as they have to be, have shown unchanged."""
    assert (await source.bars(symbol, interval, start_ms)).bars == []
    await clock.advance(CONFIRM_S)
    return list((await source.bars(symbol, interval, start_ms)).bars)


async def test_only_closed_bars_are_given(venue: BinanceVenue, source: Binance, clock: FakeClock) -> None:
    venue.klines["BTCUSDT", "1h"] = [kline(HOUR - n * HOUR_MS, 100.0 + n) for n in range(3, -1, -1)]
    bars = await confirmed(source, clock, "BTCUSDT", "1h", HOUR - 3 * HOUR_MS)
    assert [bar.open_ms for bar in bars] == [HOUR - n * HOUR_MS for n in (3, 2)]
    assert bars[0] == Bar(HOUR - 3 * HOUR_MS, 103 * 0.99, 103 * 1.02, 103 * 0.98, 103.0, 10.5, 7)
    bars = await confirmed(source, clock, "BTCUSDT", "1h", HOUR - HOUR_MS)
    assert [bar.open_ms for bar in bars] == [HOUR - HOUR_MS]


@pytest.mark.promise("bars.confirmed")
async def test_a_bar_that_the_venue_still_changes_after_its_close_is_final_once_a_request_shows_it_unchanged(
    venue: BinanceVenue, source: Binance, clock: FakeClock
) -> None:
    start_ms = HOUR - 3 * HOUR_MS
    for close in (100.0, 101.0):
        venue.klines["BTCUSDT", "1h"] = [kline(start_ms, close)]
        assert (await source.bars("BTCUSDT", "1h", start_ms)).bars == []
        await clock.advance(CONFIRM_S)
    (bar,) = (await source.bars("BTCUSDT", "1h", start_ms)).bars
    assert bar.close == 101.0


@pytest.mark.promise("bars.confirmed")
async def test_a_bar_whose_own_close_time_lies_ahead_is_open(
    venue: BinanceVenue, source: Binance, clock: FakeClock
) -> None:
    row = kline(HOUR - 3 * HOUR_MS, 100.0)
    row[6] = HOUR + HOUR_MS
    venue.klines["BTCUSDT", "1h"] = [row]
    assert await confirmed(source, clock, "BTCUSDT", "1h", HOUR - 3 * HOUR_MS) == []


async def test_bars_that_cannot_be_are_left_out(venue: BinanceVenue, source: Binance, clock: FakeClock) -> None:
    start_ms = HOUR - 9 * HOUR_MS
    crooked, upside_down, free = (kline(start_ms + n * HOUR_MS, 100.0) for n in (1, 2, 3))
    crooked[0] = start_ms + HOUR_MS + 1
    upside_down[2], upside_down[3] = upside_down[3], upside_down[2]
    free[3] = "0.0"
    venue.klines["BTCUSDT", "1h"] = [kline(start_ms, 100.0), crooked, upside_down, free]
    assert [bar.open_ms for bar in await confirmed(source, clock, "BTCUSDT", "1h", start_ms)] == [start_ms]


async def test_more_bars_than_a_page_are_fetched_page_by_page(
    venue: BinanceVenue, source: Binance, clock: FakeClock
) -> None:
    start_ms = HOUR - 3_200 * HOUR_MS
    venue.klines["BTCUSDT", "1h"] = [kline(start_ms + n * HOUR_MS, 100.0) for n in range(3_201)]
    bars = await confirmed(source, clock, "BTCUSDT", "1h", start_ms)
    assert [bar.open_ms for bar in bars] == [start_ms + n * HOUR_MS for n in range(3_199)]
    assert [(query["startTime"], query["limit"]) for _, query in venue.asked[:3]] == [
        (str(start_ms), "1500"),
        (str(start_ms + 1_500 * HOUR_MS), "1500"),
        (str(start_ms + 3_000 * HOUR_MS), "201"),
    ]


async def test_pages_that_do_not_move_on_end(venue: BinanceVenue, source: Binance, session: UpstreamSession) -> None:
    early = [kline(HOUR - n * HOUR_MS, 100.0) for n in range(4_000, 2_500, -1)]
    venue.faults.next = faults.answer(200, msgspec.json.encode(early))
    assert (await source.bars("BTCUSDT", "1h", HOUR - 2_000 * HOUR_MS)).bars == []
    assert session.calls == 1


@pytest.mark.parametrize(("days", "weight"), [(0, 1), (98, 1), (99, 2), (498, 2), (499, 5), (999, 5), (1_000, 10)])
async def test_bars_cost_what_the_venue_publishes(
    venue: BinanceVenue, source: Binance, session: UpstreamSession, days: int, weight: int
) -> None:
    venue.klines["BTCUSDT", "1d"] = []
    await source.bars("BTCUSDT", "1d", START_MS // DAY_MS * DAY_MS - days * DAY_MS)
    assert session.weight == weight


async def test_a_refusal_carries_the_venues_code_and_words(venue: BinanceVenue, source: Binance) -> None:
    venue.faults.next = faults.answer(400, b'{"code":-1121,"msg":"Invalid symbol."}')
    with pytest.raises(UpstreamError) as refused:
        await source.bars("NOPE", "1d", START_MS)
    assert (refused.value.upstream_status, refused.value.body) == (400, '{"code":-1121,"msg":"Invalid symbol."}')


@pytest.mark.parametrize(
    "fault",
    [
        faults.answer(200, b'{"code":-1003,"msg":"Too many requests."}'),
        faults.answer(200, b'[{"symbol":"BTCUSDT","markPrice":"NaN","time":1}]'),
        faults.answer(200, b'[{"symbol":"BTCUSDT","markPrice":"1e999","time":1}]'),
        faults.answer(200, b'[{"symbol":"BTCUSDT"}]'),
        faults.html,
        faults.reset,
        faults.cut_short,
        faults.gzip_bomb,
        faults.endless,
        faults.answer(502, b"bad gateway"),
        faults.redirect("http://127.0.0.1:9/"),
    ],
    ids=["error at 200", "NaN", "infinite", "missing", "html", "reset", "cut", "bomb", "endless", "502", "redirect"],
)
async def test_no_price_is_taken_from_what_cannot_be_trusted(
    venue: BinanceVenue, source: Binance, fault: faults.Fault
) -> None:
    venue.faults.next = fault
    with pytest.raises(UpstreamError):
        await source.marks()
    venue.faults.next = None
    venue.trade("BTC", "100.0")
    assert (await source.marks()).rows["BTCUSDT"].price == 100.0


async def test_a_venue_that_hangs_or_drips_is_given_up_at_the_deadline(venue: BinanceVenue, clock: FakeClock) -> None:
    for fault in (faults.hang, faults.drip):
        venue.faults.next = fault
        async with open_session("binance", venue.url, clock, weight_per_minute=100_000, deadline_s=0.05) as session:
            with pytest.raises(UpstreamError) as late:
                await Binance(session, clock).marks()
            assert late.value.upstream_status is None


async def test_after_429_nothing_is_asked_before_the_time_it_names(
    venue: BinanceVenue, source: Binance, clock: FakeClock
) -> None:
    venue.faults.next = faults.once(venue.faults, faults.too_many("7"))
    for _ in range(2):
        with pytest.raises(UpstreamError) as refused:
            await source.marks()
        assert refused.value.retry_after_s == 7
    assert venue.count("premiumIndex") == 1
    await clock.advance(7)
    assert (await source.marks()).rows == {}


@pytest.mark.parametrize(
    ("status", "header", "pause_s"), [(418, None, 900), (418, "120", 120), (451, None, 3_600), (403, None, 3_600)]
)
async def test_a_ban_is_sat_out(
    venue: BinanceVenue, source: Binance, clock: FakeClock, status: int, header: str | None, pause_s: int
) -> None:
    headers = {"Retry_After": header} if header else {}
    venue.faults.next = faults.answer(status, b'{"code":-1003,"msg":"Way too many requests; banned."}', **headers)
    with pytest.raises(UpstreamError):
        await source.marks()
    await clock.advance(pause_s - 1)
    with pytest.raises(UpstreamError) as held:
        await source.contracts()
    assert (held.value.upstream_status, held.value.retry_after_s) == (status, 1)
    assert len(venue.asked) == 1
    venue.faults.next = None
    await clock.advance(1)
    assert (await source.marks()).rows == {}


async def test_an_hour_of_standing_in_stays_under_the_budget(venue: BinanceVenue, clock: FakeClock) -> None:
    """Every round of quotes (15 s), those of real-world assets (30 s), and the bars of 230 coins once."""
    venue.trade("BTC", "100.0")
    venue.klines["BTCUSDT", "1d"] = []
    known = {"BTC": Quote("BTC", "BTC", 1.0, 100.0, START_MS, 0.0, START_MS)}
    spent: list[tuple[float, int]] = []
    async with open_session("binance", venue.url, clock, weight_per_minute=WEIGHT_PER_MINUTE) as session:
        fallback, assets = BinanceFallback(session, clock), Binance(session, clock)

        async def spend() -> None:
            for quarter in range(240):
                await fallback.quotes(known)
                if quarter % 2:
                    await assets.contracts()
                    await assets.marks()
                if quarter < 230:
                    await fallback.daily_bars("BTC", START_MS - 3 * DAY_MS)
                spent.append((clock.elapsed_s, session.weight))
                await clock.sleep(15)

        task = asyncio.create_task(spend())
        while not task.done():
            await asyncio.sleep(0)
            if clock._sleepers:
                await clock.advance(15)
        await task
    for at_s, before in spent:
        minute = [weight for then_s, weight in spent if at_s <= then_s < at_s + 60]
        assert minute[-1] - before <= SHARE * WEIGHT_PER_MINUTE
    assert 240 * 50 + 120 * 50 + 230 <= spent[-1][1] <= 60 * SHARE * WEIGHT_PER_MINUTE / 4


texts = st.one_of(st.text(max_size=8), st.floats().map(repr), st.integers().map(str))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**60), 2**60), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=13), st.dictionaries(st.text(max_size=6), inner, max_size=4)),
    max_leaves=30,
)


@given(values)
def test_whatever_comes_is_read_as_finite_numbers_or_refused(value: object) -> None:
    body = msgspec.json.encode(value)
    for decoder in (binance.PREMIUM_INDEX, binance.KLINES, binance.TICKERS, binance.EXCHANGE_INFO):
        try:
            rows = decoder.decode(body)
        except (msgspec.MsgspecError, ValueError):
            continue
        msgspec.json.encode(rows)


@given(texts)
def test_a_price_is_finite_or_refused(text: str) -> None:
    body = msgspec.json.encode([{"symbol": "X", "markPrice": text, "time": 1}])
    try:
        (row,) = binance.PREMIUM_INDEX.decode(body)
    except msgspec.ValidationError:
        return
    assert abs(row.mark_price) < 1e301
