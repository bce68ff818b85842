import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from service.admin import doctor
from service.admin.doctor_network import check_proxies
from service.clock import DAY_MS, SystemClock, day_of, iso
from service.settings import Settings
from service.storage.database import open_database
from service.storage.engine import StorageError
from service.verdict.ledger import Ledger, LedgerHead
from tests.admin.conftest import Told, Verdict
from tests.fakes.clock import START_MS, FakeClock
from tests.payments.receipts import put, receipt_id
from tests.verdict.issuing import ORIGIN, cheating, judged

ALL = [
    "SQLite",
    "secrets",
    "database",
    "counters",
    "devices",
    "days",
    "ledger",
    "payments",
    "refreshes",
    "facilitator",
    "quarantine",
    "keys",
    "settlement",
    "model",
    "wallets",
    "disk",
    "privacy",
    "log",
]

EVENT = "INSERT INTO usage_events (user_id, offer_id, at_ms, day, bucket, state, run_id) VALUES (?, 'x', 0, ?, 1, ?, 1)"
"""An event of a user, on a day, in a state (1 committed, 2 released)."""


@pytest.fixture(autouse=True)
def _somebody(verdict: Verdict) -> None:
    verdict("admin", "keys", "create", "--name", "first")


@contextmanager
def opened(data_dir: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(data_dir / "verdict.db")) as connection, connection:
        yield connection


def count(data_dir: Path, *, day: int, events: int, counted: int) -> None:
    """Give user 1 a past: so many events on a day, and counters that say something of them."""
    with opened(data_dir) as connection:
        connection.execute("INSERT INTO quota VALUES (1, 0, 0, ?, ?, ?)", (day, counted, counted))
        connection.executemany(EVENT, [(1, day, 1)] * events)


def finding(told: Told, check: str) -> dict[str, object]:
    """The one check that found something."""
    checks = {found["check"]: found for found in told.json["checks"]}
    assert [name for name, found in checks.items() if found["findings"]] == [check]
    assert told.code == 1
    assert not told.json["ok"]
    found = checks[check]
    assert isinstance(found, dict)
    return found


def test_a_sound_folder_has_every_check_ok_and_exit_code_0(verdict: Verdict) -> None:
    told = verdict("admin", "doctor")
    assert told.code == 0
    assert [line.split()[1].rstrip(":") for line in told.out.splitlines()] == ALL
    assert all(line.startswith("ok ") for line in told.out.splitlines())
    as_json = verdict("admin", "doctor", "--json").json
    assert as_json["ok"]
    assert [check["check"] for check in as_json["checks"]] == ALL
    assert all(check["findings"] == [] and check["remedy"] is None for check in as_json["checks"])


@pytest.mark.promise("meter.counters", "operator.doctor")
def test_counters_that_differ_from_events_are_found_and_repaired(verdict: Verdict, data_dir: Path) -> None:
    today = day_of(SystemClock().now_ms())
    count(data_dir, day=today, events=3, counted=5)
    found = finding(verdict("admin", "doctor", "--json"), "counters")
    assert "verdict admin doctor --repair" in str(found["remedy"])
    repaired = verdict("admin", "doctor", "--repair", "--json")
    assert (repaired.code, repaired.json["ok"]) == (0, True)
    assert repaired.err == "repaired: the counters of 1 users, the days of 0\n"


def test_a_day_in_the_future_is_found_and_repaired(verdict: Verdict, data_dir: Path) -> None:
    ahead = day_of(SystemClock().now_ms()) + 400
    count(data_dir, day=ahead, events=2, counted=2)
    found = finding(verdict("admin", "doctor", "--json"), "days")
    assert found["findings"] == [f"user 1 was last seen on {iso(ahead * DAY_MS)[:10]}"]
    assert "clock" in str(found["remedy"])
    assert verdict("admin", "doctor", "--repair").code == 0


def test_secrets_that_others_can_read_are_found(verdict: Verdict, data_dir: Path) -> None:
    (data_dir / "secrets.toml").chmod(0o640)
    assert "chmod 600" in str(finding(verdict("admin", "doctor", "--json"), "secrets")["remedy"])


def test_missing_secrets_are_found_and_not_made_anew(verdict: Verdict, data_dir: Path) -> None:
    (data_dir / "secrets.toml").unlink()
    assert "restore secrets.toml" in str(finding(verdict("admin", "doctor", "--json"), "secrets")["remedy"])
    assert not (data_dir / "secrets.toml").exists()


def test_keys_that_were_made_with_other_secrets_are_told_at_once_and_found(
    verdict: Verdict, data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = (data_dir / "secrets.toml").read_bytes()
    (data_dir / "secrets.toml").unlink()
    verdict("admin", "keys", "list")
    assert "secrets.toml is not the one" in caplog.text
    found = finding(verdict("admin", "doctor", "--json"), "keys")
    assert found["said"] == "1 unknown"
    assert "kept with the backup" in str(found["remedy"])
    (data_dir / "secrets.toml").write_bytes(kept)
    assert verdict("admin", "doctor").code == 0


def test_a_device_without_its_question_is_found(verdict: Verdict, data_dir: Path) -> None:
    with opened(data_dir) as connection:
        connection.execute("INSERT INTO devices VALUES (?, ?, 7)", (b"d" * 32, b"n" * 32))
    found = finding(verdict("admin", "doctor", "--json"), "devices")
    assert found["findings"] == ["a device is entered for event 7 of the usage, which is no question of a device"]
    assert found["said"] == "1 differ"
    assert "verdict admin backup" in str(found["remedy"])


def test_a_database_that_others_can_read_is_found(verdict: Verdict, data_dir: Path) -> None:
    (data_dir / "verdict.db").chmod(0o644)
    assert "chmod 600" in str(finding(verdict("admin", "doctor", "--json"), "privacy")["remedy"])


@pytest.mark.promise("operator.doctor")
def test_a_reference_to_nothing_is_found(verdict: Verdict, data_dir: Path) -> None:
    with opened(data_dir) as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute("UPDATE credentials SET user_id = 77")
    found = finding(verdict("admin", "doctor", "--json"), "database")
    assert "verdict admin backup" in str(found["remedy"])


def test_a_damaged_database_is_a_finding_with_a_remedy_and_no_traceback(verdict: Verdict, data_dir: Path) -> None:
    for beside in data_dir.glob("verdict.db-*"):
        if beside.is_file():
            beside.unlink()
    (data_dir / "verdict.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 8_192)
    told = verdict("admin", "doctor", "--json")
    assert "verdict admin backup" in str(finding(told, "database")["remedy"])


def issue(data_dir: Path) -> LedgerHead:
    """Write down two verdicts."""

    async def write() -> LedgerHead:
        async with open_database(data_dir / "verdict.db", FakeClock()) as database:
            await Ledger(database).issue(ORIGIN, judged("BTC"), START_MS)
            return await Ledger(database).issue(ORIGIN, judged("ETH"), START_MS)

    return asyncio.run(write())


def test_a_ledger_that_is_whole_is_said_with_its_length_and_head(verdict: Verdict, data_dir: Path) -> None:
    (before,) = [found for found in verdict("admin", "doctor", "--json").json["checks"] if found["check"] == "ledger"]
    assert before["said"] == "no verdict was issued yet"
    head = issue(data_dir)
    told = verdict("admin", "doctor", "--json")
    (found,) = [found for found in told.json["checks"] if found["check"] == "ledger"]
    assert (told.code, found["findings"]) == (0, [])
    assert found["said"] == f"2 verdicts, each chained to the one before; head {head.hash}"
    assert max(map(len, verdict("admin", "doctor").out.splitlines())) <= 80


def test_a_ledger_that_was_changed_is_found(verdict: Verdict, data_dir: Path) -> None:
    issue(data_dir)
    with cheating(data_dir / "verdict.db") as connection:
        connection.execute("UPDATE verdict_ledger SET confidence = 'low' WHERE seq = 2")
    found = finding(verdict("admin", "doctor", "--json"), "ledger")
    assert found["findings"] == ["Entry 2 was changed: its hash does not match."]
    assert "verdict admin backup" in str(found["remedy"])


def test_a_payment_that_is_not_in_the_usage_is_found(verdict: Verdict, data_dir: Path) -> None:
    with opened(data_dir) as connection:
        put(connection, 1)
    found = finding(verdict("admin", "doctor", "--json"), "payments")
    assert found["findings"] == [f"user 7: payment {receipt_id(1)} is settled and not in the usage"]
    assert "verdict admin payments export" in str(found["remedy"])


def test_a_payment_that_nobody_knows_the_end_of_is_found_after_five_minutes(verdict: Verdict, data_dir: Path) -> None:
    now_ms = SystemClock().now_ms()
    with opened(data_dir) as connection:
        put(connection, 1, state="settling", claimed_ms=now_ms - 280_000)
    assert verdict("admin", "doctor").code == 0
    with opened(data_dir) as connection:
        put(connection, 3, state="settling", claimed_ms=now_ms - 301_000)
    found = finding(verdict("admin", "doctor", "--json"), "payments")
    assert found["findings"] == [f"{receipt_id(3)} is open since {iso(now_ms - 301_000)}"]
    assert "verdict admin payments reconcile" in str(found["remedy"])


def test_a_disk_that_is_nearly_full_is_found(verdict: Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    class Disk(NamedTuple):
        total: int
        used: int
        free: int

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(1, 1, 1_000_000))
    assert finding(verdict("admin", "doctor", "--json"), "disk")["findings"] == ["less than 200 MiB are left"]


def test_a_log_that_is_never_folded_is_found(verdict: Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LARGEST_WAL_BYTES", -1)
    assert "fuser" in str(finding(verdict("admin", "doctor", "--json"), "log")["remedy"])


def test_an_engine_that_can_corrupt_the_file_is_found(verdict: Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise StorageError("SQLite 3.40.1 can corrupt a database in WAL mode")

    monkeypatch.setattr(doctor, "check_version", refuse)
    assert finding(verdict("admin", "doctor", "--json"), "SQLite")["remedy"] == "install the package pysqlite3"


def test_text_fits_80_columns_shows_three_findings_of_a_kind_and_says_what_to_do(
    verdict: Verdict, data_dir: Path
) -> None:
    ahead = day_of(SystemClock().now_ms()) + 1
    with opened(data_dir) as connection:
        connection.executemany("INSERT INTO quota VALUES (?, 0, 0, ?, 0, 0)", [(user, ahead) for user in range(1, 6)])
    told = verdict("admin", "doctor")
    lines = told.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "FINDING  days: 5 users are in the future" in lines
    assert "         - and 2 more (--json lists them)" in lines
    assert any(line.startswith("         What to do: set the machine's clock right") for line in lines)


@pytest.mark.parametrize(
    ("variables", "settings", "said"),
    [
        ({}, {"source": "live"}, None),
        ({"HTTPS_PROXY": "p.example:3128"}, {"source": "fixtures"}, None),
        ({"HTTPS_PROXY": "p.example:3128", "NO_PROXY": "*"}, {"source": "live"}, None),
        (
            {"HTTPS_PROXY": "anna:secret@p.example:3128", "NO_PROXY": "coindesk.com"},
            {"source": "live", "wallets_rpc": "http://127.0.0.1:8545,https://node.example/key"},
            "p.example:3128 (HTTPS_PROXY) for Hyperliquid, Binance, CoinGecko, alternative.me, Cointelegraph, node 2",
        ),
        (
            {"HTTP_PROXY": "p.example:80"},
            {"source": "fixtures", "llm_url": "http://model.example/v1", "llm_model": "small"},
            "p.example:80 (HTTP_PROXY) for model",
        ),
        (
            {"HTTPS_PROXY": "p.example:1", "HTTP_PROXY": "q.example:2"},
            {"source": "fixtures", "llm_url": "http://m.example/v1", "llm_model": "s", "rpc_url": "https://n.example"},
            "p.example:1 (HTTPS_PROXY) for payment chain; q.example:2 (HTTP_PROXY) for model",
        ),
    ],
)
def test_the_doctor_says_which_proxy_is_used_for_what(
    variables: dict[str, str], settings: dict[str, str], said: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name.lower(), raising=False)
        monkeypatch.setenv(name, variables.get(name, ""))
    found = check_proxies(Settings.from_environ({f"VERDICT_{name.upper()}": value for name, value in settings.items()}))
    direct = "webhooks, transcript feeds and redirects to other hosts connect directly"
    assert [check.said for check in found] == ([] if said is None else [f"{said}; {direct}"])


def test_a_variable_that_is_no_proxy_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("https_proxy", raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "socks5://anna:secret@p.example")
    [found] = check_proxies(Settings.from_environ({"VERDICT_SOURCE": "live"}))
    assert found.findings[0].startswith("HTTPS_PROXY is not the address of a proxy")
    assert "secret" not in found.findings[0]
