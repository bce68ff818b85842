"""A fixture set on disk: checked against its digests, refused with a remedy."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.upstream.fixture_set import (
    METADATA,
    FixtureError,
    Metadata,
    pack,
    pack_rows,
    read_files,
    read_metadata,
    read_set,
    unpack,
    unpack_rows,
    write_set,
)
from service.upstream.replay.recording import frozen_at, load_recording

ABOUT = Metadata(made="by hand", licence="MIT", seed=1, last_day="2025-07-25", frozen_at=7, files={})


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    write_set(tmp_path / "set", {"a/one.json": b"1", "two.json.gz": pack([2])}, ABOUT)
    return tmp_path / "set"


def test_what_is_written_is_read_back(directory: Path) -> None:
    metadata, files = read_set(directory)
    assert files == {"a/one.json": b"1", "two.json.gz": pack([2])}
    assert (metadata.made, metadata.frozen_at, frozen_at(directory)) == ("by hand", 7, 7)
    assert unpack(files["two.json.gz"]) == b"[2]"


def test_equal_rows_pack_to_equal_bytes_without_a_time() -> None:
    assert pack([1, 2]) == pack([1, 2])
    assert pack([1, 2])[4:8] == b"\0\0\0\0"


def test_a_changed_file_is_refused(directory: Path) -> None:
    (directory / "a/one.json").write_bytes(b"2")
    with pytest.raises(FixtureError, match=r"a/one\.json .* is not the file .*make fixtures"):
        read_set(directory)


def test_a_missing_file_is_refused(directory: Path) -> None:
    (directory / "a/one.json").unlink()
    with pytest.raises(FixtureError, match=r"a/one\.json is missing .*make fixtures"):
        read_set(directory)


@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff"])
def test_a_set_without_usable_metadata_is_refused(directory: Path, content: bytes | None) -> None:
    (directory / METADATA).unlink()
    if content is not None:
        (directory / METADATA).write_bytes(content)
    with pytest.raises(FixtureError, match=r"no usable metadata\.json .*make fixtures"):
        read_metadata(directory)


class Row(msgspec.Struct, frozen=True, rename={"at_ms": "t"}):
    at_ms: int
    coin: str
    rate: str | None


@given(st.lists(st.builds(Row, at_ms=st.integers(-(2**50), 2**50)), min_size=1))
def test_rows_come_back_as_they_were_packed(rows: list[Row]) -> None:
    assert unpack_rows(pack_rows(rows), Row) == rows


def test_rows_are_packed_column_by_column_under_the_wires_names() -> None:
    rows = [Row(7, "BTC", "1"), Row(9, "BTC", None), Row(10, "BTC", "2")]
    assert unpack(pack_rows(rows)) == b'{"t":[7,2,1],"coin":"BTC","rate":["1",null,"2"]}'


@pytest.mark.parametrize(
    "table", [b"[]", b'{"t":[1]}', b'{"t":[1,1],"coin":["a"],"rate":null}', b'{"t":[1,"a"],"coin":"a","rate":"b"}']
)
def test_a_table_that_is_none_is_refused(table: bytes) -> None:
    with pytest.raises((KeyError, ValueError, TypeError)):
        unpack_rows(pack(msgspec.Raw(table)), Row)


def test_the_content_of_a_set_is_found_unpacked_under_its_plain_path(directory: Path) -> None:
    files = read_files(directory)
    assert dict(files) == {"a/one.json": b"1", "two.json": b"[2]"}
    assert len(files) == 2
    assert files.get("two.json.gz") is None


CONTEXTS = "hyperliquid/metaAndAssetCtxs.json"
VENUE = {
    CONTEXTS: b'[{"universe":[],"marginTables":[],"collateralToken":0},[]]',
    "hyperliquid/perpDexs.json": b"[null]",
    "hyperliquid/perpConciseAnnotations.json": b"[]",
}
CONTEXT = (
    b'{"funding":"0.0","openInterest":"0.0","prevDayPx":"1.0","dayNtlVlm":"0.0","premium":null,"oraclePx":"1.0",'
    b'"markPx":"1.0","midPx":null,"impactPxs":null,"dayBaseVlm":"0.0"}'
)
ONE_COIN = VENUE | {
    CONTEXTS: b'[{"universe":[{"name":"BTC","szDecimals":5,"maxLeverage":40,"marginTableId":40}],"marginTables":[],'
    b'"collateralToken":0},[' + CONTEXT + b"]]"
}


@pytest.mark.parametrize(
    "files",
    [
        {},
        {name: content for name, content in VENUE.items() if name != CONTEXTS} | {CONTEXTS: b"[]"},
        {name: content for name, content in VENUE.items() if "Dexs" not in name},
        {name: content for name, content in VENUE.items() if "Annotations" not in name},
        ONE_COIN | {CONTEXTS: ONE_COIN[CONTEXTS].replace(CONTEXT, b"")},
    ],
)
def test_a_set_that_is_not_a_venue_is_refused(tmp_path: Path, files: dict[str, bytes]) -> None:
    write_set(tmp_path, files, ABOUT)
    with pytest.raises(FixtureError, match="malformed"):
        load_recording(tmp_path)


def test_a_set_without_a_builders_dex_is_a_venue(tmp_path: Path) -> None:
    write_set(tmp_path, ONE_COIN | {"hyperliquid/perpDexs.json": b'[null,{"name":"xyz"}]'}, ABOUT)
    assert list(load_recording(tmp_path).universes) == [""]


@pytest.mark.parametrize(
    ("packed", "error"),
    [(b"[]", FixtureError), (pack([]), ValueError), (pack({"coin": "BTC"}), KeyError)],
    ids=["no gzip", "no table", "a column is missing"],
)
def test_a_malformed_series_is_refused_where_it_is_read(tmp_path: Path, packed: bytes, error: type[Exception]) -> None:
    write_set(tmp_path, ONE_COIN | {"hyperliquid/funding/BTC.json.gz": packed}, ABOUT)
    series = load_recording(tmp_path).funding["BTC"]
    with pytest.raises(error):
        len(series)


def test_a_set_is_read_anew_when_it_has_changed(tmp_path: Path) -> None:
    write_set(tmp_path, VENUE, ABOUT)
    first = load_recording(tmp_path)
    assert load_recording(tmp_path) is first
    write_set(tmp_path, ONE_COIN, ABOUT)
    assert load_recording(tmp_path).identity != first.identity
