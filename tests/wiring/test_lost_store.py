"""The whole service while its database file is removed and put back."""

from pathlib import Path

import pytest

from tests.fakes.serving import serving, wait_until

pytestmark = [pytest.mark.process, pytest.mark.wall]

RISK = "/api/cli/coin/risk/BTC"


@pytest.mark.promise("store.lost-while-running")
def test_all_workers_refuse_metered_calls_while_the_store_is_gone_and_continue_when_it_is_back(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as running:
        key = running.make_key("--tier", "pro")
        store, aside = tmp_path / "verdict.db", tmp_path / "aside"
        assert running.ask(RISK, key)[0] == 200
        store.rename(aside)
        for _ in range(12):
            status, _, body = running.ask(RISK, key)
            assert (status, body["error"]["code"]) == (503, "UNAVAILABLE")
            assert "removed or replaced" in body["error"]["message"]
        wait_until(lambda: all(running.ask("/readyz")[0] == 503 for _ in range(8)))
        assert "was removed or replaced" in running.ask("/readyz")[2]["store"]["reason"]
        lost = [record for record in running.records if record.get("reason") == "STORE_LOST"]
        assert {record["level"] for record in lost} == {"error"}
        aside.rename(store)
        wait_until(lambda: all(running.ask("/readyz")[0] == 200 for _ in range(8)))
        assert running.ask(RISK, key)[0] == 200
