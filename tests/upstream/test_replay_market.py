"""The recorded venue at any instant: nothing of the future, and the past exactly as recorded."""

from collections.abc import Sequence
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS, LATEST_MS
from service.upstream.fixture_set import unpack_newest
from service.upstream.replay import recording
from service.upstream.replay.market import (
    MOST_CANDLES,
    MOST_FUNDING_ROWS,
    RecordedMarket,
    decimal_text,
    price_decimals,
    price_text,
)
from service.upstream.replay.recording import (
    Asset,
    Candle,
    Context,
    FundingRow,
    Packed,
    Recording,
    Universe,
    load_recording,
)
from tests.upstream.conftest import FIXTURES

RECORDING = load_recording(FIXTURES)
TAPE = RecordedMarket(RECORDING)
END_MS = RECORDING.frozen_at_ms
LAST_DAY_MS = END_MS + 1 - DAY_MS
LISTED = [asset for dex in RECORDING.universes for asset in TAPE.universe_of(dex)]
COINS = [asset.name for asset in LISTED if not asset.is_delisted]
BTC = TAPE.universe[0]

instants = st.integers(LAST_DAY_MS, END_MS)


def bars(coin: str, interval: str, at_ms: int, since_ms: int = 0, until_ms: int = LATEST_MS) -> list[Candle]:
    return TAPE.candles(coin, interval, at_ms, since_ms, until_ms)


def test_daily_bars_are_unpacked_once_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds: list[str] = []

    def note(packed: bytes, kind: type[Candle], most: int) -> tuple[list[Candle], int]:
        rows, length = unpack_newest(packed, kind, most)
        kinds.append(rows[0].interval)
        return rows, length

    monkeypatch.setattr(recording, "unpack_newest", note)
    tape = RecordedMarket(
        replace(RECORDING, days={"BTC": Packed(cast("Packed[Candle]", RECORDING.days["BTC"]).path, Candle, 8)})
    )
    assert kinds == []
    assert tape.candles("BTC", "1d", END_MS, END_MS - DAY_MS, END_MS)
    assert kinds == ["1d"]


@pytest.mark.slow
@given(instants, st.sampled_from(COINS))
def test_nothing_after_now_is_served(at_ms: int, coin: str) -> None:
    for interval in ("1h", "1d"):
        assert all(bar.open_ms <= at_ms for bar in bars(coin, interval, at_ms))
    assert all(row.time_ms <= at_ms for row in TAPE.funding(coin, at_ms, at_ms - DAY_MS, LATEST_MS))


@pytest.mark.slow
@given(instants, st.sampled_from(COINS))
def test_closed_bars_are_as_recorded_and_only_the_last_is_open(at_ms: int, coin: str) -> None:
    for interval, recorded in (("1h", RECORDING.hours), ("1d", RECORDING.days)):
        served = bars(coin, interval, at_ms)
        assert served[:-1] == list(recorded[coin][: len(served) - 1])
        assert served[-1].open_ms <= at_ms <= served[-1].close_ms


@given(instants, st.sampled_from(COINS))
def test_the_open_day_is_the_sum_of_its_hours(at_ms: int, coin: str) -> None:
    day, hours = bars(coin, "1d", at_ms)[-1], bars(coin, "1h", at_ms, at_ms // DAY_MS * DAY_MS)
    assert (day.open, day.close) == (hours[0].open, hours[-1].close)
    assert float(day.high) == max(float(hour.high) for hour in hours)
    assert float(day.low) == min(float(hour.low) for hour in hours)
    assert float(day.volume) == pytest.approx(sum(float(hour.volume) for hour in hours))
    assert day.trades == sum(hour.trades for hour in hours)


@pytest.mark.slow
@given(st.integers(0, 23), st.lists(st.integers(0, HOUR_MS - 1), min_size=2, max_size=6), st.sampled_from(COINS))
def test_an_open_bar_only_grows(hour: int, offsets: Sequence[int], coin: str) -> None:
    last: Candle | None = None
    for offset in sorted(offsets):
        bar = bars(coin, "1h", LAST_DAY_MS + hour * HOUR_MS + offset)[-1]
        if last:
            assert float(bar.high) >= float(last.high)
            assert float(bar.low) <= float(last.low)
            assert float(bar.volume) >= float(last.volume)
            assert (bar.open, bar.trades >= last.trades) == (last.open, True)
        assert float(bar.low) <= min(float(bar.open), float(bar.close)) <= float(bar.high)
        last = bar


@pytest.mark.parametrize("coin", COINS)
def test_the_last_millisecond_completes_a_bar(coin: str) -> None:
    assert bars(coin, "1h", END_MS) == list(RECORDING.hours[coin])
    assert bars(coin, "1d", END_MS) == list(RECORDING.days[coin])


@pytest.mark.slow
@given(instants, st.sampled_from(COINS))
def test_the_mark_price_is_the_close_of_the_open_bar(at_ms: int, coin: str) -> None:
    asset = TAPE.asset(coin)
    context = TAPE.context(asset, at_ms)
    assert context.mark_px == bars(coin, "1h", at_ms)[-1].close
    assert context.impact_pxs is not None
    bid, ask = map(float, context.impact_pxs)
    assert bid <= float(context.mark_px) <= ask > bid
    assert float(context.mid_px or 0) == pytest.approx((bid + ask) / 2)
    assert TAPE.mid(asset, at_ms) == context.mid_px
    tick = 10.0 ** -price_decimals(float(context.mark_px), asset.sz_decimals)
    oracle = float(context.mark_px) / (1 + float(context.premium or 0))
    assert float(context.oracle_px) == pytest.approx(oracle, abs=1.1 * tick)


def test_the_first_candle_contains_the_start_and_the_last_the_end() -> None:
    served = bars("BTC", "1h", END_MS, LAST_DAY_MS + HOUR_MS + 1, LAST_DAY_MS + 3 * HOUR_MS)
    assert [bar.open_ms - LAST_DAY_MS for bar in served] == [HOUR_MS, 2 * HOUR_MS, 3 * HOUR_MS]


def test_a_span_outside_the_recording_is_empty() -> None:
    assert bars("BTC", "1d", END_MS, END_MS + 1) == []
    assert bars("BTC", "1d", END_MS, 0, 1) == []
    assert bars("BTC", "1d", END_MS, END_MS, LAST_DAY_MS - 1) == []
    assert TAPE.funding("BTC", END_MS, END_MS + 1, LATEST_MS) == []


def test_intervals_that_were_not_recorded_are_empty() -> None:
    assert bars("BTC", "15m", END_MS) == []


def test_funding_comes_in_pages_by_time() -> None:
    first = TAPE.funding("BTC", END_MS, 0, LATEST_MS)
    second = TAPE.funding("BTC", END_MS, first[-1].time_ms + 1, LATEST_MS)
    assert len(first) == MOST_FUNDING_ROWS
    assert [*first, *second] == list(RECORDING.funding["BTC"][: 2 * MOST_FUNDING_ROWS])
    third = first[2]
    assert TAPE.funding("BTC", END_MS, third.time_ms, third.time_ms) == [third]


def test_funding_and_premium_run_from_one_payment_to_the_next() -> None:
    before, after = RECORDING.funding["BTC"][-3:-1]
    at_payment, between = TAPE.context(BTC, before.time_ms), TAPE.context(BTC, (before.time_ms + after.time_ms) // 2)
    assert (at_payment.funding, at_payment.premium) == (before.rate, before.premium)
    assert float(between.premium or 0) == pytest.approx((float(before.premium or 0) + float(after.premium or 0)) / 2)


def test_day_volume_and_previous_price_look_back_a_day() -> None:
    at_ms = LAST_DAY_MS + 7 * HOUR_MS - 1
    context, day = TAPE.context(BTC, at_ms), bars("BTC", "1h", at_ms, at_ms - DAY_MS + 1)
    assert len(day) == 24
    assert float(context.day_base_vlm) == pytest.approx(sum(float(bar.volume) for bar in day))
    assert float(context.day_ntl_vlm) / float(context.day_base_vlm) == pytest.approx(float(context.mark_px), rel=0.2)
    assert context.prev_day_px == day[0].open or float(context.prev_day_px) == pytest.approx(
        float(day[0].open), rel=1e-3
    )


def test_at_its_end_the_recording_answers_its_own_snapshot() -> None:
    for asset in LISTED:
        assert TAPE.context(asset, END_MS) == RECORDING.contexts[asset.name]


def test_a_delisted_coin_has_its_recorded_context_and_no_mid() -> None:
    delisted = TAPE.universe[-1]
    assert delisted.is_delisted
    context = TAPE.context(delisted, LAST_DAY_MS)
    assert (context.premium, context.mid_px, context.impact_pxs, context.open_interest) == (None, None, None, "0.0")
    assert TAPE.mid(delisted, LAST_DAY_MS) is None
    assert bars(delisted.name, "1d", END_MS) == list(RECORDING.days[delisted.name])


def thin(**changes: object) -> RecordedMarket:
    """A recording of one coin with a single day and no hours, no funding."""
    asset = Asset(name="ODD", sz_decimals=1, max_leverage=3, margin_table_id=3)
    bar = Candle(LAST_DAY_MS, END_MS, "ODD", "1d", "1.0", "2.0", "2.5", "0.5", "24.0", 24)
    recording = Recording(
        identity="thin",
        frozen_at_ms=END_MS,
        universes={"": Universe([asset], RECORDING.universes[""].margin_tables, 0)},
        contexts={"ODD": replace(RECORDING.contexts["BTC"], mark_px="2.0")},
        dexs=b"[null]",
        annotations=b"[]",
        hours={},
        days={"ODD": [bar]},
        funding={},
    )
    return RecordedMarket(replace(recording, **changes))


def test_a_coin_without_hours_still_has_its_day_and_its_recorded_context() -> None:
    tape = thin()
    half = tape.candles("ODD", "1d", LAST_DAY_MS + DAY_MS // 2 - 1, 0, LATEST_MS)
    assert [(bar.open, bar.close, bar.high, bar.low, bar.volume, bar.trades) for bar in half] == [
        ("1.0", "1.5", "1.5", "0.5", "12.0", 12)
    ]
    assert tape.context(tape.universe[0], END_MS).mark_px == "2.0"
    assert tape.price("ODD", END_MS) is None


@pytest.mark.parametrize("rows", [[], [FundingRow("ODD", "0.0000125", None, LAST_DAY_MS)]], ids=["none", "null"])
def test_without_recorded_premiums_the_oracle_is_the_price(rows: list[FundingRow]) -> None:
    hour = Candle(END_MS + 1 - HOUR_MS, END_MS, "ODD", "1h", "1.0", "2.0", "2.5", "0.5", "0.0", 0)
    tape = thin(hours={"ODD": [hour]}, funding={"ODD": rows})
    context: Context = tape.context(tape.universe[0], END_MS)
    assert (context.premium, context.oracle_px, context.mark_px) == (None, "2.0", "2.0")
    assert context.funding == (rows[0].rate if rows else "0.0")
    assert context.prev_day_px == "2.0"


@pytest.mark.parametrize(
    ("price", "sz_decimals", "text"),
    [
        (117_726.4, 5, "117726.0"),
        (12_345.67, 4, "12346.0"),
        (3_729.24, 4, "3729.2"),
        (187.123, 2, "187.12"),
        (0.0125601, 0, "0.01256"),
        (0.000_123_456, 0, "0.000123"),
        (1.23456, 5, "1.2"),
        (0.0, 0, "0.0"),
    ],
)
def test_prices_have_the_venues_precision(price: float, sz_decimals: int, text: str) -> None:
    assert price_text(price, sz_decimals) == text


@given(st.floats(0, 1e9), st.integers(0, 10))
def test_numbers_are_written_without_an_exponent(value: float, decimals: int) -> None:
    text = decimal_text(value, decimals)
    assert set(text) <= set("0123456789.")
    assert float(text) == pytest.approx(round(value, max(decimals, 1)), rel=1e-15)


def test_at_most_five_thousand_candles_exist() -> None:
    step = HOUR_MS
    many = [
        Candle(n * step, (n + 1) * step - 1, "ODD", "1h", "1.0", "1.0", "1.0", "1.0", "1.0", 1)
        for n in range(MOST_CANDLES + 10)
    ]
    served = thin(hours={"ODD": many}).candles("ODD", "1h", END_MS, 0, LATEST_MS)
    assert served == many[-MOST_CANDLES:]


def test_what_was_not_listed_is_not_known() -> None:
    assert (TAPE.knows("xyz:AAPL"), TAPE.knows("AAPL")) == (True, False)
    with pytest.raises(KeyError):
        TAPE.asset("AAPL")
    with pytest.raises(KeyError):
        TAPE.universe_of("flx")


def test_rows_stay_packed_until_they_are_looked_at() -> None:
    rows, recent = RECORDING.days["BTC"], RECORDING.hours["BTC"]
    assert isinstance(rows, Packed)
    assert len(rows) == len(list(rows)) == 900
    assert rows[-1] == rows[899] == rows.newest[-1]
    assert isinstance(recent, Packed)
    assert list(recent[-len(recent.newest) :]) == recent.newest
    assert Packed(rows.path, Candle, 2)[3:5] == rows[3:5]


@given(st.integers(END_MS - 5 * DAY_MS, END_MS), st.integers(0, 3 * DAY_MS), st.sampled_from(["BTC", "xyz:AAPL"]))
def test_a_span_holds_the_same_bars_whether_or_not_they_were_packed(start_ms: int, length_ms: int, coin: str) -> None:
    found = bars(coin, "1h", END_MS, start_ms, start_ms + length_ms)
    assert found == [
        bar for bar in RECORDING.hours[coin] if bar.close_ms >= start_ms and bar.open_ms <= start_ms + length_ms
    ]


@pytest.mark.parametrize("days", [0, 1, 4, 60])
def test_the_price_long_ago_is_the_open_of_its_hour(days: int) -> None:
    bar = RECORDING.hours["ETH"][-1 - 24 * days]
    assert TAPE.price("ETH", bar.open_ms) == pytest.approx(float(bar.open), rel=1e-4)
    assert TAPE.price("ETH", RECORDING.hours["ETH"][0].open_ms - 1) is None
