"""Days with missing payments: means over a week count their hours, live and in the record; trades need whole days."""

from fractions import Fraction
from math import isnan
from pathlib import Path
from typing import Final

import pytest

from service.analytics.market import MarketAnalytics
from service.analytics.recomputed import recompute
from service.clock import DAY_MS, HOUR_MS
from service.market.models import Bar, PaymentRow, Quote
from service.market.momentum import MOMENTUM, MomentumRefresh, MomentumTable
from service.market.series import ClosedDays, read_days
from service.market.store import MarketStore
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.storage.engine import Connection
from service.verdict.recompute import _funding
from service.walkforward.histories import read_histories
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.postgres import STORES, Kind
from tests.fakes.upgrade import upgrade_of
from tests.market.parts import show_only

DAY: Final = START_MS // DAY_MS
LAST: Final = DAY - 1
END: Final = DAY * DAY_MS
WEEK: Final = range(LAST - 6, LAST + 1)


def week(missing: dict[int, int]) -> list[PaymentRow]:
    """Hourly payments of eight days, each at another rate; of a day (counted from the last) so many are missing."""
    return [
        (day * DAY_MS + hour * HOUR_MS, (hour - 9) * 1e-6 + (day - LAST) * 3e-6, 1.0)
        for day in range(LAST - 7, LAST + 1)
        for hour in range(1, 25)
        if hour > missing.get(day - LAST, 0)
    ]


def mean_apr(rows: list[PaymentRow], days: int) -> float | None:
    """By the definition, in exact fractions."""
    paid = [Fraction(rate) for at_ms, rate, _ in rows if END - days * DAY_MS < at_ms <= END]
    return float(sum(paid) / len(paid) * 8760 * 100) if len(paid) >= 23 * days else None


async def read(database: Database) -> ClosedDays:
    return await database.inspect(lambda connection: read_days(connection, END))


async def of_record(database: Database) -> tuple[float, float]:
    """The means of the last day as verdicts of past days read them."""
    days = await read(database)
    inputs = recompute(MarketAnalytics(days.bars), {coin: _funding(paid) for coin, paid in days.funding.items()})
    of_day, of_week = (float(inputs.figures[f"funding.{name}"][-1, 0]) for name in ("apr_24h", "apr_7d"))
    return of_day, of_week


@pytest.fixture
async def filled(store: MarketStore) -> MarketStore:
    await show_only(store, "one", START_MS, [Quote("BTC", "BTC", 1.0, 2.0, START_MS, 0.0, START_MS)])
    bars = [Bar(day * DAY_MS, 2.0, 4.0, 1.0, 3.0, 10.0, 7) for day in WEEK]
    await store.put_bars("one", "BTC", bars, LAST * DAY_MS)
    return store


@pytest.mark.parametrize(
    "missing", [{}, {-3: 5}, {-3: 7}, {-3: 8}, {-6: 3, -1: 4}, {-6: 4, -1: 4}, {-3: 24}, {-2: 7, 0: 1}, {0: 1}]
)
async def test_live_and_record_agree_on_a_week_with_partly_paid_days(
    filled: MarketStore, database: Database, missing: dict[int, int]
) -> None:
    rows = week(missing)
    await filled.put_payments("one", "BTC", rows)
    await filled.sum_funding("one")
    document = DocumentStore(database).document(MOMENTUM, MomentumTable)
    await MomentumRefresh(database, document, lambda: "one").round()
    assert document.current.value is not None
    live = document.current.value.coins["BTC"]
    of_day, of_week = mean_apr(rows, 1), mean_apr(rows, 7)
    assert (of_week is None) == (sum(missing.values()) > 7)
    recorded_day, recorded_week = await of_record(database)
    assert live.apr_24h == pytest.approx(recorded_day, abs=1e-9) == pytest.approx(of_day, abs=0.50001e-4)
    if of_week is None:
        assert live.apr_7d is None
        assert isnan(recorded_week)
    else:
        assert live.apr_7d == pytest.approx(recorded_week, abs=1e-9) == pytest.approx(of_week, abs=0.50001e-4)


async def test_trades_are_charged_for_whole_days_only(filled: MarketStore, database: Database) -> None:
    rows = week({-3: 1, -2: 2, -1: 20})
    await filled.put_payments("one", "BTC", rows)
    await filled.sum_funding("one")
    assert [(day - LAST, hours) for day, _, hours in (await read(database)).funding["BTC"]][-4:] == [
        (-3, 23.0), (-2, 22.0), (-1, 4.0), (0, 24.0)
    ]  # fmt: skip
    whole = [LAST + day for day in (-7, -6, -5, -4, -3, 0)]
    assert [day for day, _ in (await filled.funding_days())["BTC"]] == whole
    assert await filled.funded_days() == len(whole)
    (history,) = await database.inspect(lambda connection: read_histories(connection, "one", END))
    assert [day for day, _ in history.funding] == whole


@pytest.mark.parametrize("kind", STORES)
async def test_an_upgrade_adds_partly_paid_days_as_far_as_payments_are_stored(
    kind: Kind, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = week({-7: 3, -3: 5})

    def fill(connection: Connection) -> None:
        for coin in ("BTC", "ETH"):
            for row in rows:
                connection.execute("INSERT INTO funding_rates VALUES (?, ?, ?, ?, 'hyperliquid')", (coin, *row))
        for day in range(-20, 0):
            if day not in {-7, -3}:
                connection.execute("INSERT INTO funding_days VALUES ('BTC', ?, 0.5, 24)", (LAST + day,))

    with upgrade_of(kind, tmp_path / "verdict.db", clock, monkeypatch, 35) as upgrade:
        async with upgrade.before() as database:
            await database.write(fill)
        async with upgrade.now() as database:
            found = await database.read("SELECT venue_symbol, day, paid, hours FROM funding_days WHERE paid <> 0.5")
    paid = sum(rate for at_ms, rate, _ in rows if (LAST - 3) * DAY_MS < at_ms <= (LAST - 2) * DAY_MS)
    assert found == [("BTC", LAST - 3, pytest.approx(paid, abs=1e-15), 19.0)]
