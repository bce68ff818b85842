"""What is walked, read from a folder of recordings."""

import gzip
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from service.clock import DAY_MS, HOUR_MS
from service.market.symbols import canonical
from service.settings import Settings
from service.upstream.fixture_set import pack_rows
from service.upstream.replay.recording import Candle, FundingRow
from service.walkforward.histories import RecordingsError, read_recordings
from tests.fakes.clock import START_MS
from tests.market import recordings
from tests.walkforward.histories import rounded
from tests.walkforward.runs import TODAY

NOW_MS = START_MS


def candle(day: int, coin: str = "BTC", **changes: Any) -> dict[str, Any]:
    told = {
        "t": day * DAY_MS, "T": (day + 1) * DAY_MS - 1, "s": coin, "i": "1d", "o": "2.0", "c": "3.0", "h": "4.0",
        "l": "1.0", "v": "10.5", "n": 0,
    }  # fmt: skip
    return {**told, **changes}


def payment(at_ms: int, rate: str = "0.0001", coin: str = "BTC") -> dict[str, Any]:
    return {"coin": coin, "fundingRate": rate, "premium": None, "time": at_ms}


def write(path: Path, rows: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(json.dumps(rows).encode()))


def test_rows_as_the_venue_answers_are_read_by_ticker(tmp_path: Path) -> None:
    write(tmp_path / "candles-1d" / "kPEPE.json.gz", [candle(TODAY - 2, "kPEPE"), candle(TODAY - 1, "kPEPE")])
    write(tmp_path / "candles-1d" / "BTC.json.gz", [candle(TODAY - 1)])
    write(tmp_path / "candles-1d" / "EMPTY.json.gz", None)
    write(tmp_path / "funding" / "BTC.json.gz", [payment((TODAY - 1) * DAY_MS + hour * HOUR_MS) for hour in range(26)])
    btc, pepe = read_recordings(tmp_path, NOW_MS)
    assert (btc.coin, btc.bars) == ("BTC", [(TODAY - 1, 2.0, 4.0, 1.0, 3.0, 10.5)])
    assert rounded(btc.funding) == [(TODAY - 1, 0.0024)]
    assert (pepe.coin, [bar[0] for bar in pepe.bars], pepe.funding) == ("PEPE", [TODAY - 2, TODAY - 1], [])


def test_columns_as_a_fixture_set_keeps_them_are_read_alike(tmp_path: Path) -> None:
    rows = [candle(TODAY - 2), candle(TODAY - 1, c="2.5")]
    paid = [payment((TODAY - 1) * DAY_MS + hour * HOUR_MS, f"0.00001{hour:02}") for hour in range(1, 25)]
    write(tmp_path / "rows" / "candles-1d" / "BTC.json.gz", rows)
    write(tmp_path / "rows" / "funding" / "BTC.json.gz", paid)
    packed = tmp_path / "columns"
    (packed / "candles-1d").mkdir(parents=True)
    (packed / "funding").mkdir()
    order = ("t", "T", "s", "i", "o", "c", "h", "l", "v", "n")
    candles = [Candle(*(row[name] for name in order)) for row in rows]
    rates = [FundingRow(row["coin"], row["fundingRate"], None, row["time"]) for row in paid]
    (packed / "candles-1d" / "BTC.json.gz").write_bytes(pack_rows(candles))
    (packed / "funding" / "BTC.json.gz").write_bytes(pack_rows(rates))
    assert read_recordings(packed, NOW_MS) == read_recordings(tmp_path / "rows", NOW_MS)


def test_bars_that_are_open_off_the_grid_or_impossible_are_left_out_and_of_two_of_a_day_the_later_stays(
    tmp_path: Path,
) -> None:
    rows = [
        candle(TODAY - 3),
        candle(TODAY - 3, c="2.5"),
        candle(TODAY - 2, l="3.5"),
        candle(TODAY - 1, t=(TODAY - 1) * DAY_MS + HOUR_MS),
        candle(TODAY),
    ]
    write(tmp_path / "candles-1d" / "BTC.json.gz", rows)
    (btc,) = read_recordings(tmp_path, NOW_MS)
    assert btc.bars == [(TODAY - 3, 2.0, 4.0, 1.0, 2.5, 10.5)]


def test_a_day_whose_payments_are_not_all_there_is_unknown_but_one_hour_may_lack(tmp_path: Path) -> None:
    write(tmp_path / "candles-1d" / "BTC.json.gz", [candle(TODAY - 1)])
    whole = [payment((TODAY - 2) * DAY_MS + hour * HOUR_MS + 150) for hour in range(2, 25)]
    half = [payment((TODAY - 1) * DAY_MS + hour * HOUR_MS) for hour in range(1, 12)]
    write(tmp_path / "funding" / "BTC.json.gz", [*whole, *half])
    (btc,) = read_recordings(tmp_path, NOW_MS)
    assert rounded(btc.funding) == [(TODAY - 2, 0.0023)]


@pytest.mark.parametrize("hours", [(8, 16, 24), (8,), range(2, 25, 2), range(1, 23)])
def test_payments_that_lack_do_not_make_the_others_count_for_more_hours(tmp_path: Path, hours: Sequence[int]) -> None:
    write(tmp_path / "candles-1d" / "BTC.json.gz", [candle(TODAY - 1)])
    paid = [payment((TODAY - 2) * DAY_MS + hour * HOUR_MS) for hour in hours]
    write(tmp_path / "funding" / "BTC.json.gz", paid)
    (btc,) = read_recordings(tmp_path, NOW_MS)
    assert btc.funding == []


@pytest.mark.parametrize("name", ["", "elsewhere"])
def test_a_folder_without_bars_is_refused_with_what_is_expected(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecordingsError, match="upstream/hyperliquid of a fixture set"):
        read_recordings(tmp_path / name, NOW_MS)


@pytest.mark.parametrize(
    "content",
    [b"", b"no gzip", *(gzip.compress(said, mtime=0) for said in (b"no json", b'{"t":[1]}', b'[{"t":"x"}]'))],
)
def test_a_file_that_is_no_recording_is_named(tmp_path: Path, content: bytes) -> None:
    write(tmp_path / "candles-1d" / "BTC.json.gz", [])
    (tmp_path / "candles-1d" / "BTC.json.gz").write_bytes(content)
    with pytest.raises(RecordingsError, match=r"BTC\.json\.gz is not a recording of the venue"):
        read_recordings(tmp_path, NOW_MS)


@pytest.mark.parametrize(
    ("content", "what"),
    [(b"no gzip", r"it is not gzip\.$"), (gzip.compress(b'{"t":[1]}', mtime=0), r"column 'T' is missing\.$")],
)
def test_what_is_wrong_with_a_file_is_said_of_that_file(tmp_path: Path, content: bytes, what: str) -> None:
    write(tmp_path / "candles-1d" / "BTC.json.gz", [])
    (tmp_path / "candles-1d" / "BTC.json.gz").write_bytes(content)
    with pytest.raises(RecordingsError, match=what):
        read_recordings(tmp_path, NOW_MS)


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "candles-1d" / "BTC.json.gz").mkdir(parents=True)
    with pytest.raises(RecordingsError, match=r"BTC\.json\.gz is not a recording of the venue"):
        read_recordings(tmp_path, NOW_MS)


@pytest.mark.slow
def test_the_bundled_fixture_set_can_be_walked() -> None:
    found = {history.coin: history for history in read_recordings(Settings().fixtures_dir / "hyperliquid", 2**62)}
    assert len(found["BTC"].bars) >= 800
    assert {"PEPE", "MATIC"} <= found.keys()
    assert len(found["BTC"].funding) >= 88


@pytest.mark.recorded
@recordings.needs_recordings
def test_of_real_coins_every_closed_day_is_read_and_funding_by_the_day_on_which_it_was_earned() -> None:
    found = {history.coin: history for history in read_recordings(recordings.DATA / "hyperliquid", 2**62)}
    assert sorted(found) == sorted(canonical(coin) for coin in recordings.coins())
    for coin in ("BTC", "kPEPE"):
        volumes = [float(row["v"]) * recordings.size_of(coin) for row in recordings.candles(coin)]
        told = [
            (row[0] // DAY_MS, *row[1:], volume) for row, volume in zip(recordings.rows(coin), volumes, strict=True)
        ]
        assert found[canonical(coin)].bars == told
    day = TODAY - 100
    rates = [
        float(row["fundingRate"])
        for row in recordings.funding("BTC")
        if datetime.fromtimestamp(row["time"] / 1_000 - 60, UTC).timetuple().tm_yday
        == datetime.fromtimestamp(day * 86_400, UTC).timetuple().tm_yday
        and datetime.fromtimestamp(row["time"] / 1_000, UTC).year == 2025
    ]
    assert len(rates) == 24
    assert dict(found["BTC"].funding)[day] == pytest.approx(sum(rates))
