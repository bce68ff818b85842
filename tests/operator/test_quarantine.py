"""What `verdict doctor` and the metrics say of values that are held back."""

from pathlib import Path

from service.market.plausibility_rules import Reason
from service.market.quarantine import QUARANTINE, Quarantined, Report
from service.market.shelf import Shelf
from service.operator.quarantine import check_quarantine
from service.storage.database import Database, open_database
from service.wiring.readings import read_quarantines
from tests.fakes.clock import START_MS, FakeClock

PRICE = Quarantined("hyperliquid", "SOL", "price", Reason.PRICE_MOVED, START_MS)
WHOLE = Quarantined("hyperliquid", "*", "answer", Reason.COINS_MISSING, START_MS)


async def test_doctor_names_single_values_and_finds_fault_with_whole_answers(tmp_path: Path) -> None:
    async with open_database(tmp_path / "verdict.db", FakeClock()) as database:
        drawer = Shelf(database).drawer(QUARANTINE, Report)
        assert (await database.write(check_quarantine)).said == "no value is held back"
        await drawer.put("live", Report([PRICE]), START_MS)
        found = await database.write(check_quarantine)
        assert (found.said, found.findings) == ("1 values are held back: SOL price (price-moved)", [])
        await drawer.put("live", Report([WHOLE]), START_MS)
        found = await database.write(check_quarantine)
        assert found.findings == ["every answer of hyperliquid is held back: coins-missing"]
        assert found.remedy


async def test_metrics_count_by_source_field_and_reason(database: Database) -> None:
    drawers = [Shelf(database).drawer(name, Report) for name in ("one", "other", "empty")]
    for drawer in drawers[:2]:
        await drawer.put("live", Report([], {"hyperliquid price price-moved": 3}), START_MS)
    reading = read_quarantines(drawers)
    assert (reading.name, reading.labels) == ("quarantined", ("source", "field", "reason"))
    assert reading.values == {("hyperliquid", "price", "price-moved"): 6.0}


async def test_readiness_summarises_what_is_held_back() -> None:
    assert Report([PRICE, WHOLE]).summary() == {
        "values": 2,
        "reasons": {"coins-missing": 1, "price-moved": 1},
        "coins": ["*", "SOL"],
    }
