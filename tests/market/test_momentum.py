"""Momentum of funding: what was paid in a day and a week, how rare the newest payment is, and when it is added up."""

import math
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.clock import DAY_MS, HOUR_MS
from service.market import momentum as room
from service.market.models import PaymentRow, Quote
from service.market.momentum import MOMENTUM, Momentum, MomentumRefresh, MomentumService, MomentumTable
from service.market.store import MarketStore
from service.market.symbols import canonical
from service.storage.database import Database, open_database
from service.storage.documents import DocumentStore
from service.storage.engine import Connection
from tests.fakes.clock import START_MS, FakeClock
from tests.market.parts import show_only
from tests.market.recordings import coins, needs_recordings
from tests.market.test_alerts_recorded import payments

ORIGIN = "one"


class Payroll:
    """A leader and a follower over one store."""

    def __init__(self, database: Database) -> None:
        self.origin = ORIGIN
        self.database = database
        self.store = MarketStore(database)
        self.document_store, self.other = DocumentStore(database), DocumentStore(database)
        self.document = self.document_store.document(MOMENTUM, MomentumTable)
        self.desk = MomentumService(self.document)
        self.follower = MomentumService(self.other.document(MOMENTUM, MomentumTable))
        self.refresh = MomentumRefresh(database, self.document, lambda: self.origin)

    async def list_coins(self, *coins: str) -> None:
        quotes = [Quote(coin, canonical(coin), 1.0, 2.0, START_MS, 0.0, START_MS) for coin in coins]
        await show_only(self.store, self.origin, START_MS, quotes)

    async def pay(self, coin: str, *rows: PaymentRow) -> None:
        await self.store.put_payments(self.origin, coin, rows)

    async def momentum(self, symbol: str) -> Momentum:
        await self.refresh.round()
        found = self.desk.of(symbol)
        assert found is not None
        return found


@pytest.fixture
async def payroll(database: Database) -> Payroll:
    made = Payroll(database)
    await made.list_coins("BTC", "kPEPE", "ETH")
    return made


def hourly(rates: list[float], last_ms: int = START_MS) -> list[PaymentRow]:
    return [(last_ms - (len(rates) - 1 - place) * HOUR_MS, rate, 1.0) for place, rate in enumerate(rates)]


def reckon(rows: list[PaymentRow]) -> Momentum | None:
    """The same by the definitions, in exact fractions."""
    newest_ms, rate, _ = rows[-1]

    def mean(window_ms: int) -> float | None:
        inside = [(Fraction(r), Fraction(h)) for at, r, h in rows if newest_ms - at < window_ms]
        if sum(h for _, h in inside) < Fraction(23, 24) * window_ms / HOUR_MS:
            return None
        return round(float(sum(r * h for r, h in inside) / sum(h for _, h in inside) * 8760 * 100), 4) + 0.0

    others = [r for at, r, _ in rows[:-1] if newest_ms - at < 30 * DAY_MS]
    rank = None
    if len(others) >= 168:
        half = Fraction(sum(r == rate for r in others), 2)
        rank = round(float((sum(r < rate for r in others) + half) / len(others) * 100), 4)
    day = mean(DAY_MS)
    return None if day is None else Momentum(newest_ms, day, mean(7 * DAY_MS), rank, len(others) + 1)


def agree(found: Momentum | None, expected: Momentum | None) -> bool:
    """Equal but for the last digit, where a sum of floats may round otherwise than the exact one."""
    if found is None or expected is None:
        return found is expected
    pairs = [(found.apr_24h, expected.apr_24h), (found.apr_7d, expected.apr_7d)]
    return (
        all(one == other or (one and other and math.isclose(one, other, abs_tol=1.01e-4)) for one, other in pairs)
        and (found.newest_ms, found.percentile_30d, found.payments)
        == (expected.newest_ms, expected.percentile_30d, expected.payments)
    )  # fmt: skip


async def test_means_count_back_from_the_newest_payment_and_are_annualised(payroll: Payroll) -> None:
    rates = [0.00001] * 144 + [0.00003] * 24
    await payroll.pay("kPEPE", *hourly(rates))
    found = await payroll.momentum("PEPE")
    assert found == Momentum(START_MS, 26.28, 11.2629, None, 168)  # (144 x 8.76 + 24 x 26.28) / 168 = 11.26286


async def test_a_payment_for_several_hours_weighs_as_much_as_its_hours(payroll: Payroll) -> None:
    rows = [*hourly([0.00001] * 16), (START_MS + 8 * HOUR_MS, 0.00004, 8.0)]
    await payroll.pay("BTC", *rows)
    found = await payroll.momentum("BTC")
    assert (found.apr_24h, found.apr_7d) == (17.52, None)  # (16 x 8.76 + 8 x 35.04) / 24


async def test_the_newest_payment_is_ranked_among_those_of_thirty_days_equal_ones_counting_half(
    payroll: Payroll,
) -> None:
    month = [0.0001] * 5 + [0.00001] * 360 + [0.00003] * 180 + [0.00002] * 180
    await payroll.pay("BTC", *hourly([*month[5:], 0.00002]))
    await payroll.pay("ETH", *hourly([*month, 0.00005]))
    of_btc = await payroll.momentum("BTC")
    of_eth = await payroll.momentum("ETH")
    # Of 721 payments the oldest is 30 days old and out of the window: 719 others, 359 below, 180 equal.
    assert (of_btc.payments, of_btc.percentile_30d) == (720, round((359 + 90) / 719 * 100, 4))
    assert (of_eth.payments, of_eth.percentile_30d) == (720, 100.0)


@pytest.mark.parametrize(("others", "ranked"), [(167, False), (168, True)])
async def test_under_a_week_of_payments_nothing_is_ranked(payroll: Payroll, others: int, ranked: bool) -> None:
    await payroll.pay("BTC", *hourly([0.00001] * others + [0.00002]))
    assert (await payroll.momentum("BTC")).percentile_30d == (100.0 if ranked else None)


async def test_a_coin_listed_yesterday_has_a_mean_of_the_day_once_23_hours_are_paid(payroll: Payroll) -> None:
    await payroll.pay("BTC", *hourly([0.00001] * 22))
    await payroll.refresh.round()
    assert payroll.desk.of("BTC") is None
    assert payroll.document.current.revision == 0
    await payroll.pay("BTC", *hourly([0.00001], START_MS + HOUR_MS))
    found = await payroll.momentum("BTC")
    assert (found.payments, found.apr_24h, found.apr_7d) == (23, 8.76, None)


@pytest.mark.parametrize(("missed", "day", "week"), [(1, 8.76, 8.76), (2, None, None), (3, None, None)])
async def test_a_gap_is_no_payment_and_makes_no_other_longer(
    payroll: Payroll, missed: int, day: float | None, week: float | None
) -> None:
    rows = hourly([0.00001] * 168)
    await payroll.pay("BTC", *rows[: -4 - missed], *rows[-4:])
    await payroll.refresh.round()
    found = payroll.desk.of("BTC")
    assert ((None, None) if found is None else (found.apr_24h, found.apr_7d)) == (day, week)


@pytest.mark.parametrize(("missed", "week"), [(7, 8.76), (8, None)])
async def test_a_week_needs_161_of_its_hours_wherever_the_others_lack(
    payroll: Payroll, missed: int, week: float | None
) -> None:
    rows = hourly([0.00001] * 168)
    await payroll.pay("BTC", *rows[:60], *rows[60 + missed :])
    found = await payroll.momentum("BTC")
    assert (found.apr_24h, found.apr_7d) == (8.76, week)


async def test_without_new_payments_nothing_is_added_up_and_nothing_is_written(
    payroll: Payroll, monkeypatch: pytest.MonkeyPatch
) -> None:
    await payroll.pay("BTC", *hourly([0.00001] * 24))
    await payroll.pay("ETH", *hourly([0.00002] * 24))
    current, revision = await payroll.momentum("BTC"), payroll.document.current.revision
    asked: list[set[str]] = []
    add_up = room._add_up

    def watched(connection: Connection, of: dict[str, str]) -> dict[str, Momentum]:
        asked.append(set(of))
        return add_up(connection, of)

    monkeypatch.setattr(room, "_add_up", watched)
    await payroll.refresh.round()
    assert (asked, payroll.document.current.revision) == ([], revision)
    await payroll.pay("ETH", *hourly([0.00004], START_MS + HOUR_MS))
    assert (await payroll.momentum("ETH")).newest_ms == START_MS + HOUR_MS
    assert asked == [{"ETH"}]
    assert payroll.desk.of("BTC") is current


async def test_a_coin_that_is_no_longer_listed_is_told_no_more(payroll: Payroll) -> None:
    await payroll.pay("BTC", *hourly([0.00001] * 24))
    await payroll.pay("ETH", *hourly([0.00001] * 24))
    await payroll.refresh.round()
    await payroll.list_coins("BTC")
    await payroll.refresh.round()
    assert payroll.desk.of("ETH") is None
    assert payroll.desk.of("BTC") is not None


async def test_other_processes_read_what_the_leader_put(payroll: Payroll) -> None:
    assert payroll.follower.of("BTC") is None
    await payroll.pay("BTC", *hourly([0.00001] * 200))
    expected = await payroll.momentum("BTC")
    await payroll.other.refresh()
    assert payroll.follower.of("BTC") == expected


async def test_another_history_is_added_up_anew_and_the_old_one_stands_until_then(payroll: Payroll) -> None:
    await payroll.pay("BTC", *hourly([0.00001] * 30))
    old = await payroll.momentum("BTC")
    payroll.origin = "two"
    await payroll.refresh.round()
    assert payroll.desk.of("BTC") is old
    await payroll.list_coins("BTC", "ETH")
    await payroll.pay("BTC", *hourly([0.00003] * 30))
    assert (await payroll.momentum("BTC")).apr_24h == 26.28
    assert payroll.document.current.origin == "two"


async def test_equal_payments_of_another_history_are_that_historys(payroll: Payroll) -> None:
    for payroll.origin in ("one", "two"):
        await payroll.list_coins("BTC")
        await payroll.pay("BTC", *hourly([0.00001] * 30))
        assert (await payroll.momentum("BTC")).apr_24h == 8.76
        assert payroll.document.current.origin == payroll.origin


async def test_what_was_told_stands_while_the_store_already_holds_another_history(payroll: Payroll) -> None:
    await payroll.pay("BTC", *hourly([0.00001] * 30))
    told = await payroll.momentum("BTC")
    await payroll.store.claim("two")
    await payroll.refresh.round()
    assert payroll.desk.of("BTC") is told


async def test_a_coin_that_paid_nothing_for_a_week_begins_anew(payroll: Payroll) -> None:
    await payroll.pay("BTC", *hourly([0.00001] * 30))
    await payroll.pay("ETH", *hourly([0.00001] * 30))
    await payroll.refresh.round()
    await payroll.pay("BTC", (START_MS + 8 * DAY_MS, 0.00001, 1.0))
    await payroll.refresh.round()
    assert payroll.desk.of("BTC") is None
    assert payroll.desk.of("ETH") is not None


async def test_a_rate_that_rounds_to_nothing_is_zero_and_not_minus_zero(payroll: Payroll) -> None:
    await payroll.pay("BTC", *hourly([-1e-12] * 168))
    found = await payroll.momentum("BTC")
    assert found.apr_7d is not None
    assert math.copysign(1, found.apr_24h) == math.copysign(1, found.apr_7d) == 1


rates = st.sampled_from([-0.0001, -0.00002, 0.0, 0.0000125, 0.00003]) | st.floats(-0.01, 0.01)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(rates, st.integers(1, 9)), min_size=24, max_size=400))
async def test_whatever_was_paid_the_store_adds_up_what_exact_fractions_do(paid: list[tuple[float, int]]) -> None:
    rows, at_ms = [], START_MS
    for rate, hours in paid:
        at_ms += hours * HOUR_MS
        rows.append((at_ms, rate, float(hours)))
    with TemporaryDirectory() as folder:
        async with open_database(Path(folder) / "verdict.db", FakeClock()) as database:
            payroll = Payroll(database)
            await payroll.list_coins("BTC")
            await payroll.pay("BTC", *rows)
            await payroll.refresh.round()
            assert agree(payroll.desk.of("BTC"), reckon(rows))


@pytest.mark.recorded
@needs_recordings
async def test_the_momentum_of_recorded_funding_equals_an_independent_computation(payroll: Payroll) -> None:
    paid = {coin: rows for coin in coins() if len(rows := payments(coin, START_MS)[-60 * 24 :]) > 24}
    await payroll.list_coins(*paid)
    for coin, rows in paid.items():
        await payroll.pay(coin, *rows)
    await payroll.refresh.round()
    assert len(paid) >= 35
    for coin, rows in paid.items():
        found = payroll.desk.of(canonical(coin))
        assert found is not None
        assert found.apr_7d is not None
        assert agree(found, reckon(rows)), coin
