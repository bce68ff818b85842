from pathlib import Path

import pytest

from service.upstream.fixture_set import read_set
from tests.admin.conftest import Verdict


@pytest.mark.promise("operator.record")
def test_a_venue_is_captured_into_a_set_that_can_be_replayed(verdict: Verdict, venue: str, tmp_path: Path) -> None:
    target = tmp_path / "set"
    done = verdict("admin", "record", "--out", str(target), "PUMP", hyperliquid_url=venue)  # young: little to ask for
    assert done.code == 0, done.err
    assert f"VERDICT_FIXTURES_DIR={target}" in done.out
    metadata, files = read_set(target)
    assert len(files) == len(metadata.files) > 4
    assert "recorded from hyperliquid" in metadata.made


def test_a_coin_that_is_not_listed_is_refused_and_nothing_is_written(
    verdict: Verdict, venue: str, tmp_path: Path
) -> None:
    refused = verdict("admin", "record", "--out", str(tmp_path / "set"), "NOPE", hyperliquid_url=venue)
    assert refused.code == 1
    assert "NOPE" in refused.err
    assert not (tmp_path / "set").exists()


def test_a_venue_that_cannot_be_reached_is_refused_in_one_line(verdict: Verdict, tmp_path: Path) -> None:
    refused = verdict("admin", "record", "--out", str(tmp_path / "set"), hyperliquid_url="http://127.0.0.1:9")
    assert refused.code == 1
    assert [line for line in refused.err.splitlines() if line.startswith("verdict: ")]


def test_a_folder_that_holds_something_is_left_alone(verdict: Verdict, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = verdict("admin", "record", "--out", str(tmp_path))
    assert refused.code == 1
    assert refused.err == f"verdict: {tmp_path} is not empty; name a new folder\n"
