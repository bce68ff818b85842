"""A fixture set on disk: checked against its digests, refused with a remedy."""

from pathlib import Path

import pytest

from service.upstream.fixture_set import (
    METADATA,
    FixtureError,
    Metadata,
    pack,
    read_metadata,
    read_set,
    unpack,
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


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"hyperliquid/metaAndAssetCtxs.json": b"[]"},
        {"hyperliquid/metaAndAssetCtxs.json": b'[{"universe":[],"marginTables":[],"collateralToken":0},[]]'},
    ],
)
def test_a_set_that_is_not_a_venue_is_refused(tmp_path: Path, files: dict[str, bytes]) -> None:
    write_set(tmp_path, files, ABOUT)
    with pytest.raises(FixtureError, match="malformed"):
        load_recording(tmp_path)


def test_a_series_that_is_not_gzip_is_refused(tmp_path: Path) -> None:
    files = {
        "hyperliquid/metaAndAssetCtxs.json": b'[{"universe":[],"marginTables":[],"collateralToken":0},[]]',
        "hyperliquid/perpDexs.json": b"[null]",
        "hyperliquid/funding/BTC.json.gz": b"[]",
    }
    write_set(tmp_path, files, ABOUT)
    with pytest.raises(FixtureError, match="not gzip"):
        load_recording(tmp_path)
