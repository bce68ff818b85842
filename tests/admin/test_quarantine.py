"""What `verdict doctor` and the metrics say of values that are held back."""

import asyncio
from pathlib import Path

import pytest

from service.admin.doctor_checks import check_quarantine
from service.admin.quarantine import DOCUMENTS
from service.clock import iso
from service.market.plausibility.quarantine import QUARANTINE, QuarantinedValue, QuarantineReport
from service.market.plausibility.rules import RejectReason
from service.storage.database import Database, open_database
from service.storage.documents import DocumentStore
from service.wiring.metrics import read_quarantine_metrics
from tests.admin.conftest import Verdict
from tests.fakes.clock import START_MS, FakeClock

PRICE = QuarantinedValue("hyperliquid", "SOL", "price", RejectReason.PRICE_MOVED, START_MS)
WHOLE = QuarantinedValue("hyperliquid", "*", "answer", RejectReason.COINS_MISSING, START_MS)


async def test_doctor_names_single_values_and_finds_fault_with_whole_answers(tmp_path: Path) -> None:
    async with open_database(tmp_path / "verdict.db", FakeClock()) as database:
        drawer = DocumentStore(database).document(QUARANTINE, QuarantineReport)
        assert (await database.write(check_quarantine)).said == "no value is quarantined"
        await drawer.put("live", QuarantineReport([PRICE]), START_MS)
        found = await database.write(check_quarantine)
        assert (found.said, found.findings) == ("1 values are quarantined: SOL price (price-moved)", [])
        await drawer.put("live", QuarantineReport([WHOLE]), START_MS)
        found = await database.write(check_quarantine)
        assert found.findings == ["every answer of hyperliquid is quarantined: coins-missing"]
        assert found.remedy


async def test_metrics_count_by_source_field_and_reason(database: Database) -> None:
    drawers = [DocumentStore(database).document(name, QuarantineReport) for name in ("one", "other", "empty")]
    for drawer in drawers[:2]:
        await drawer.put("live", QuarantineReport([], {"hyperliquid price price-moved": 3}), START_MS)
    reading = read_quarantine_metrics(drawers)
    assert (reading.name, reading.labels) == ("quarantined", ("source", "field", "reason"))
    assert reading.values == {("hyperliquid", "price", "price-moved"): 6.0}


async def test_readiness_summarises_what_is_held_back() -> None:
    assert QuarantineReport([PRICE, WHOLE]).summary() == {
        "values": 2,
        "reasons": {"coins-missing": 1, "price-moved": 1},
        "coins": ["*", "SOL"],
    }


def test_what_is_held_back_is_listed_with_the_reason_and_since_when(
    verdict: Verdict, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.clock.SystemClock.now_ms", lambda _: START_MS + 300_000)
    verdict("admin", "keys", "create", "--name", "first")
    assert verdict("admin", "quarantine").out == "No value is held back.\n"
    assert verdict("admin", "quarantine", "--json").json == {"quarantined": []}

    async def hold() -> None:
        async with open_database(data_dir / "verdict.db", FakeClock()) as database:
            documents = DocumentStore(database)
            for name, value in ((DOCUMENTS[0], PRICE), (DOCUMENTS[1], WHOLE)):
                await documents.document(name, QuarantineReport).put("live", QuarantineReport([value]), START_MS)

    asyncio.run(hold())
    told = verdict("admin", "quarantine")
    assert told.code == 0
    assert told.out.splitlines() == [
        "SOURCE       COIN  FIELD   REASON         FOR",
        "hyperliquid  all   answer  coins-missing  5 min",
        "hyperliquid  SOL   price   price-moved    5 min",
        "",
        "2 held back. `verdict admin doctor --upstreams` asks every upstream now.",
    ]
    assert verdict("admin", "quarantine", "--json").json["quarantined"][1] == {
        "source": "hyperliquid",
        "coin": "SOL",
        "field": "price",
        "reason": "price-moved",
        "since": iso(START_MS),
    }
