"""`verdict admin doctor` on a data folder: what each check finds, and what is said to be done about it."""

import asyncio
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from service.admin import doctor
from service.clock import DAY_MS, SystemClock, day_of, iso
from service.market.plausibility.quarantine import QUARANTINE, QuarantinedValue, QuarantineReport
from service.market.plausibility.rules import RejectReason
from service.storage.database import Database, open_database
from service.storage.documents import DocumentStore
from service.storage.engine import StorageError
from service.verdict.ledger import Ledger, LedgerHead
from service.wiring.metrics import read_quarantine_metrics
from tests.admin.conftest import Admin, Look, opened
from tests.admin.test_accounts import EVENT
from tests.fakes.clock import START_MS, FakeClock
from tests.payments.receipts import put, receipt_id
from tests.verdict.issuing import ORIGIN, cheating, judged

ALL = "SQLite secrets database counters devices days ledger payments refreshes facilitator quarantine keys settlement"
ALL += " model wallets disk privacy log"
QUOTA = "INSERT INTO quota VALUES (?, 0, 0, ?, ?, ?)"
DOCUMENT = "INSERT INTO documents (name, origin, revision, body) VALUES (?, 'live', 1, ?)"
PRICE = QuarantinedValue("hyperliquid", "SOL", "price", RejectReason.PRICE_MOVED, START_MS)
WHOLE = QuarantinedValue("hyperliquid", "*", "answer", RejectReason.COINS_MISSING, START_MS)
AHEAD = day_of(START_MS) + 3_650
NOW_MS = SystemClock().now_ms()


def issue(folder: Path) -> LedgerHead:
    async def write() -> LedgerHead:
        async with open_database(folder / "verdict.db", FakeClock()) as database:
            await Ledger(database).issue(ORIGIN, judged("BTC"), START_MS)
            return await Ledger(database).issue(ORIGIN, judged("ETH"), START_MS)

    return asyncio.run(write())


def forge(folder: Path) -> None:
    issue(folder)
    with cheating(folder / "verdict.db") as connection:
        connection.execute("UPDATE verdict_ledger SET confidence = 'low' WHERE seq = 2")


def damage(folder: Path) -> None:
    for beside in folder.glob("verdict.db-*"):
        beside.unlink() if beside.is_file() else None
    (folder / "verdict.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 8_192)


def sql(*statements: str | tuple[str, tuple[object, ...]]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        with opened(folder) as connection:
            for statement in statements:
                connection.execute(*([statement] if isinstance(statement, str) else statement))

    return spoil


def pays(number: int, **changes: object) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        with opened(folder) as connection:
            put(connection, number, **changes)

    return spoil


def reports(*values: QuarantinedValue) -> tuple[str, tuple[object, ...]]:
    return DOCUMENT, (QUARANTINE, msgspec.json.encode(QuarantineReport(list(values))))


FAILURE = (
    "INSERT INTO documents (name, origin, revision, failed_ms, failed_status, failed_body) VALUES (?, '', 1, ?, ?, ?)"
)
FINDINGS: Mapping[str, tuple[str, Callable[[Path], None], str, str]] = {
    "counters": (
        "counters", sql((QUOTA, (1, NOW_MS // DAY_MS, 5, 5)), *[(EVENT, (1, NOW_MS // DAY_MS, 1, 1))] * 3),
        "User 1: the counters say ", "verdict admin doctor --repair",
    ),
    "a day in the future": (
        "days", sql((QUOTA, (1, AHEAD, 2, 2)), *[(EVENT, (1, AHEAD, 1, 1))] * 2),
        f"User 1 was last seen on {iso(AHEAD * DAY_MS)[:10]}", "clock",
    ),
    "secrets others can read": (
        "secrets", lambda folder: (folder / "secrets.toml").chmod(0o640), "", "chmod 600",
    ),
    "no secrets": (
        "secrets", lambda folder: (folder / "secrets.toml").unlink(), "does not exist.", "Restore secrets.toml",
    ),
    "a device without a question": (
        "devices", sql(("INSERT INTO devices VALUES (?, ?, 7)", (b"d" * 32, b"n" * 32))),
        "A device is recorded for usage event 7, which is not a question of a device.", "verdict admin backup",
    ),
    "a database others can read": (
        "privacy", lambda folder: (folder / "verdict.db").chmod(0o644), "Other users can read ", "chmod 600",
    ),
    "a reference to nothing": (
        "database", sql("PRAGMA foreign_keys=OFF", "UPDATE credentials SET user_id = 77"), "", "verdict admin backup",
    ),
    "a damaged database": ("database", damage, "", "verdict admin backup"),
    "a forged ledger": ("ledger", forge, "Entry 2 was changed: its hash does not match.", "verdict admin backup"),
    "a payment without usage": (
        "payments", pays(1), f"User 7: payment {receipt_id(1)} is settled and not in the usage",
        "verdict admin payments export",
    ),
    "a payment open for long": (
        "payments", pays(3, state="settling", claimed_ms=NOW_MS - 301_000),
        f"Payment {receipt_id(3)} has been open since {iso(NOW_MS - 301_000)}.", "verdict admin payments reconcile",
    ),
    "a whole answer held back": (
        "quarantine", sql(reports(PRICE, WHOLE)), "All answers of hyperliquid are quarantined: coins-missing.",
        "doctor --upstreams",
    ),
    "a failed refresh": (
        "refreshes", sql((FAILURE, ("rwa.listing", START_MS, 451, "restricted location"))),
        "rwa.listing failed at 2025-07-25T12:00:00.000Z with status 451: Restricted location.", "doctor --upstreams",
    ),
    "a refresh without an answer": (
        "refreshes",
        sql("INSERT INTO transcript_sources (origin, source, feed, status, asked_ms) "
            "VALUES ('live', 'show', 'https://show.example', 'failing', 1753444800000)"),
        "Feed show failed at 2025-07-25T12:00:00.000Z: No answer.", "doctor --upstreams",
    ),
    "prices that failed": (
        "refreshes",
        sql("INSERT INTO market_state (id, origin, revision, failed_ms, failed_body) VALUES (1, 'live', 1, 0, 'DNS') "
            "ON CONFLICT DO UPDATE SET failed_ms = 0, failed_body = 'DNS'"),
        "Prices and funding (Hyperliquid) failed at 1970-01-01T00:00:00.000Z: DNS.", "doctor --upstreams",
    ),
}  # fmt: skip


@pytest.mark.promise("meter.counters", "operator.doctor", "doctor.last-failures")
@pytest.mark.parametrize(("check", "spoil", "said", "remedy"), FINDINGS.values(), ids=FINDINGS)
def test_what_is_wrong_is_the_one_finding_with_its_remedy(
    admin: Admin, used: Path, check: str, spoil: Callable[[Path], None], said: str, remedy: str
) -> None:
    spoil(used)
    secrets = [path.name for path in used.glob("secrets.toml")]
    told = admin("doctor --json")
    assert (told.code, told.json["ok"], told.err) == (1, False, "")
    (found,) = [found for found in told.json["checks"] if found["findings"]]
    assert found["check"] == check
    assert said in found["findings"][0]
    assert remedy in found["remedy"]
    assert [path.name for path in used.glob("secrets.toml")] == secrets


def test_a_sound_folder_has_every_check_ok_and_exit_code_0(admin: Admin, used: Path) -> None:
    told = admin("doctor")
    assert told.code == 0
    assert [line.split()[:2] for line in told.out.splitlines()] == [["ok", f"{name}:"] for name in ALL.split()]
    found = admin("doctor --json").json
    assert [check["check"] for check in found["checks"]] == ALL.split()
    assert all(list(check) == ["check", "said", "findings", "remedy"] for check in found["checks"])
    assert all(check["findings"] == [] and check["remedy"] is None for check in found["checks"])


@pytest.mark.promise("meter.counters")
@pytest.mark.parametrize("name", ["counters", "a day in the future"])
def test_counters_and_days_are_repaired(admin: Admin, used: Path, name: str) -> None:
    FINDINGS[name][1](used)
    repaired = admin("doctor --repair --json")
    assert (repaired.code, repaired.json["ok"]) == (0, True)
    counters, days = (("1 user", "0 users"), ("0 users", "1 user"))[name != "counters"]
    assert repaired.err == f"Repaired the counters of {counters} and the days of {days}.\n"
    assert admin("doctor").code == 0


def test_keys_made_with_other_secrets_are_told_at_once_and_found(
    admin: Admin, used: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = (used / "secrets.toml").read_bytes()
    (used / "secrets.toml").unlink()
    admin("keys list")
    assert "secrets.toml is not the one" in caplog.text
    (found,) = [found for found in admin("doctor --json").json["checks"] if found["findings"]]
    assert (found["check"], found["said"], "kept with the backup" in found["remedy"]) == ("keys", "1 unknown", True)
    (used / "secrets.toml").write_bytes(kept)
    assert admin("doctor").code == 0


class _Disk(NamedTuple):
    total: int = 1
    used: int = 1
    free: int = 1_000_000


def _refuse() -> None:
    raise StorageError("SQLite 3.40.1 can corrupt a database in WAL mode")


@pytest.mark.parametrize(
    ("check", "where", "name", "value", "said"),
    [
        ("disk", shutil, "disk_usage", lambda _: _Disk(), "Less than 200 MiB are free."),
        ("log", doctor, "LARGEST_WAL_BYTES", -1, "The write-ahead log is not merged into the database."),
        ("SQLite", doctor, "check_version", _refuse, "SQLite 3.40.1 can corrupt a database in WAL mode."),
    ],
)
def test_a_machine_that_does_not_suit_is_found(
    look: Look, monkeypatch: pytest.MonkeyPatch, check: str, where: object, name: str, value: Any, said: str
) -> None:
    monkeypatch.setattr(where, name, value)
    told, found = look(check)
    assert (told.code, found["findings"]) == (1, [said])
    assert found["remedy"]


def test_what_is_no_fault_is_said(admin: Admin, look: Look, used: Path) -> None:
    assert look("ledger")[1]["said"] == "no verdict was issued yet"
    head = issue(used)
    sql(reports(PRICE))(used)
    pays(1, state="settling", claimed_ms=SystemClock().now_ms() - 200_000)(used)
    assert look("ledger")[1]["said"] == f"2 verdicts, each chained to the one before; head {head.hash}"
    told, held = look("quarantine")
    assert (told.code, held["said"]) == (0, "1 value quarantined: SOL price (price-moved)")


def test_text_fits_80_columns_shows_three_findings_of_a_kind_and_says_what_to_do(admin: Admin, used: Path) -> None:
    issue(used)
    sql(*[(QUOTA, (user, AHEAD, 0, 0)) for user in range(1, 6)])(used)
    for terminal in (False, True):
        lines = admin("doctor", terminal=terminal).out.splitlines()
        assert max(map(len, lines)) <= 80
        assert "FINDING  days: 5 users are in the future" in lines
        assert "         - and 2 more (--json lists them)" in lines
        assert any(line.startswith("         What to do: Correct the machine's clock.") for line in lines)


def test_what_is_held_back_is_listed_with_the_reason_and_since_when(
    admin: Admin, used: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.clock.SystemClock.now_ms", lambda _: START_MS + 300_000)
    assert admin("quarantine").out.startswith("No value is held back.\n")
    assert admin("quarantine --json").json == {"quarantined": []}
    rwa = (DOCUMENT, ("rwa.quarantine", msgspec.json.encode(QuarantineReport([WHOLE]))))
    sql(reports(PRICE), rwa)(used)
    assert admin("quarantine").out.splitlines() == [
        "SOURCE       COIN  FIELD   REASON         FOR",
        "hyperliquid  all   answer  coins-missing  5 min",
        "hyperliquid  SOL   price   price-moved    5 min",
        "",
        "2 held back. `verdict admin doctor --upstreams` asks every upstream now.",
    ]
    assert admin("quarantine --json").json["quarantined"][1] == {
        "source": "hyperliquid", "coin": "SOL", "field": "price", "reason": "price-moved", "since": iso(START_MS),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("origin", "settings", "wallets"),
    [
        ("fixtures:5e05ac4aa258:shifted:+493d", {}, 10),
        ("fixtures:5e05ac4aa258:shifted:+493d", {"source": "live"}, 0),
        ("live", {}, 0),
        ("live", {"source": "fixtures"}, 10),
    ],
)
def test_a_folder_is_judged_by_the_source_of_its_data_unless_one_is_set(
    admin: Admin, used: Path, origin: str, settings: dict[str, str], wallets: int
) -> None:
    """`make run` fills `./.data` from recorded data; the next command is typed without its settings."""
    sql(("INSERT INTO market_state (id, origin, revision) VALUES (1, ?, 1)", (origin,)))(used)
    told = admin("doctor --json", **settings)
    (found,) = [check for check in told.json["checks"] if check["check"] == "wallets"]
    said = f"{wallets} are watched on the recorded chain" if wallets else "no wallet is watched, so no node is called"
    assert found["said"] == said
    assert len(admin("wallets list --json", **settings).json["wallets"]) == wallets
    assumed = origin != "live" and not settings
    assert (
        told.err.startswith("This data folder holds recorded data, so VERDICT_SOURCE=fixtures is assumed.") == assumed
    )
    assert bool(told.err) == assumed


async def test_metrics_and_readiness_sum_up_what_is_held_back(database: Database) -> None:
    documents = [DocumentStore(database).document(name, QuarantineReport) for name in ("one", "other", "empty")]
    for document in documents[:2]:
        await document.put("live", QuarantineReport([], {"hyperliquid price price-moved": 3}), START_MS)
    reading = read_quarantine_metrics(documents)
    assert (reading.name, reading.labels) == ("quarantined", ("source", "field", "reason"))
    assert reading.values == {("hyperliquid", "price", "price-moved"): 6.0}
    assert QuarantineReport([PRICE, WHOLE]).summary() == {
        "values": 2, "reasons": {"coins-missing": 1, "price-moved": 1}, "coins": ["*", "SOL"],
    }  # fmt: skip
