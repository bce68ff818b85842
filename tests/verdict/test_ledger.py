"""Verdicts are written down before anybody can know how they turn out, each once, each chained to the last."""

import asyncio
import hashlib
import zlib
from pathlib import Path
from unittest.mock import Mock

import msgspec
import pytest
from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS
from service.errors import ServiceError
from service.storage.database import Database, open_database
from service.storage.engine import Connection, IntegrityError
from service.storage.writer import TransactionError
from service.verdict import ledger as ledger_module
from service.verdict.audit import audit_ledger
from service.verdict.decide import decide
from service.verdict.ledger import COLUMNS, GENESIS, HORIZONS, Ledger, LedgerHead, create_entry, price_of
from service.verdict.ruleset import VERSION_1
from service.wire.verdict import CoinVerdict, VerdictRaw
from tests.fakes.clock import START_MS, FakeClock
from tests.verdict.issuing import ORIGIN, judged, known
from tests.verdict.jcs import write

DAY = START_MS // DAY_MS - 1


@pytest.fixture
def ledger(database: Database) -> Ledger:
    return Ledger(database)


async def entries(database: Database) -> list[dict[str, object]]:
    names = [*COLUMNS, "previous", "hash"]
    rows = await database.read(f"SELECT {', '.join(names)} FROM verdict_ledger ORDER BY seq")  # noqa: S608 - constants
    return [dict(zip(names, row, strict=True)) for row in rows]


async def waits(database: Database) -> list[tuple[object, ...]]:
    return await database.read("SELECT seq, days, due_ms FROM verdict_due ORDER BY seq, days")


async def test_an_empty_ledger_has_the_head_that_the_first_entry_follows(ledger: Ledger) -> None:
    assert await ledger.head() == LedgerHead(0, "0" * 64)


async def test_an_entry_holds_the_whole_verdict_and_what_it_claims(ledger: Ledger, database: Database) -> None:
    verdict = judged("BTC", 117_000.5)
    head = await ledger.issue(ORIGIN, verdict, START_MS)
    (entry,) = await entries(database)
    body = zlib.decompress(bytes(entry.pop("body")))  # type: ignore[call-overload]
    assert msgspec.json.decode(body, type=CoinVerdict) == verdict
    assert body == write(msgspec.to_builtins(verdict))
    assert entry == {
        "seq": 1,
        "kind": "asked",
        "day": None,
        "origin": ORIGIN,
        "symbol": "BTC",
        "issued_ms": START_MS,
        "verdict_id": verdict.verdict_id,
        "verdict": "bull",
        "score": verdict.score,
        "confidence": verdict.confidence,
        "probability_up": None,
        "price": 117_000.5,
        "previous": GENESIS,
        "hash": head.hash,
    }


async def test_an_entry_of_version_1_of_the_rules_holds_the_probability_that_its_score_claimed(
    ledger: Ledger, database: Database
) -> None:
    verdict = judged("BTC", rules=VERSION_1)
    await ledger.issue(ORIGIN, verdict, START_MS)
    (entry,) = await entries(database)
    assert (entry["score"], entry["probability_up"]) == (verdict.score, round(0.5 + verdict.score / 20, 4))


async def test_each_hash_is_the_digest_of_the_one_before_and_of_its_own_entry(
    ledger: Ledger, database: Database
) -> None:
    """By another RFC 8785 than the service's."""
    await ledger.issue(ORIGIN, judged("BTC"), START_MS)
    await ledger.issue_day(ORIGIN, DAY, [judged("BTC", None), judged("PEPE", 0.0123)], START_MS + 1)
    previous = "0" * 64
    for entry in await entries(database):
        assert entry["previous"] == previous
        body = hashlib.sha256(zlib.decompress(bytes(entry["body"]))).hexdigest()  # type: ignore[call-overload]
        columns = {name: entry[name] for name in COLUMNS} | {"body": body}
        previous = hashlib.sha256(previous.encode() + write(columns)).hexdigest()
        assert entry["hash"] == previous
    assert await ledger.head() == LedgerHead(3, previous)


async def test_a_verdict_is_written_once_however_often_it_is_asked_for(ledger: Ledger, database: Database) -> None:
    verdict = judged("BTC")
    others = [Ledger(database) for _ in range(3)]
    told = await asyncio.gather(*(each.issue(ORIGIN, verdict, START_MS) for each in [ledger, *others] * 5))
    await ledger.issue(ORIGIN, judged("ETH"), START_MS)
    told.append(await Ledger(database).issue(ORIGIN, verdict, START_MS + DAY_MS))
    assert set(told) == {LedgerHead(1, (await entries(database))[0]["hash"])}  # type: ignore[arg-type]
    assert [entry["symbol"] for entry in await entries(database)] == ["BTC", "ETH"]


async def test_what_this_process_has_issued_costs_no_transaction(ledger: Ledger, database: Database) -> None:
    first = await ledger.issue(ORIGIN, judged("BTC"), START_MS)
    before = database.transactions
    assert await ledger.issue(ORIGIN, judged("BTC"), START_MS + 5) == first
    assert database.transactions == before


async def test_what_is_remembered_has_a_bound_and_what_is_forgotten_is_not_written_twice(
    ledger: Ledger, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "_REMEMBERED", 2)
    heads = [await ledger.issue(ORIGIN, judged(coin), START_MS) for coin in ("A", "B", "C", "A")]
    assert heads[0] == heads[3]
    assert len(await entries(database)) == 3
    assert [*ledger._issued] == [(ORIGIN, judged(coin).verdict_id) for coin in ("C", "A")]


async def test_the_same_verdict_of_another_history_is_another_entry(ledger: Ledger, database: Database) -> None:
    await ledger.issue(ORIGIN, judged("BTC"), START_MS)
    await ledger.issue("another", judged("BTC"), START_MS)
    assert [entry["origin"] for entry in await entries(database)] == [ORIGIN, "another"]


async def test_a_day_is_written_once_and_beside_what_was_asked_for(ledger: Ledger, database: Database) -> None:
    await ledger.issue(ORIGIN, judged("BTC"), START_MS)
    verdicts = [judged("BTC"), judged("ETH", None)]
    assert await ledger.issue_day(ORIGIN, DAY, verdicts, START_MS)
    assert await ledger.has_day(ORIGIN, DAY)
    assert not await ledger.has_day("another", DAY)
    assert not await Ledger(database).issue_day(ORIGIN, DAY, [judged("SOL")], START_MS)
    assert await ledger.issue_day(ORIGIN, DAY + 1, verdicts, START_MS + DAY_MS)
    assert [(entry["kind"], entry["day"], entry["symbol"]) for entry in await entries(database)] == [
        ("asked", None, "BTC"),
        ("daily", DAY, "BTC"),
        ("daily", DAY, "ETH"),
        ("daily", DAY + 1, "BTC"),
        ("daily", DAY + 1, "ETH"),
    ]


async def test_a_verdict_waits_for_its_outcomes_and_an_abstention_for_none(ledger: Ledger, database: Database) -> None:
    risk = known("SOL", 7.0).raw.risk
    assert risk is not None
    trendless = VerdictRaw(replace(risk, trend_daily=None, trend_weekly=None), None, None, None)
    abstention = decide(replace(known("SOL", 7.0), raw=trendless))
    assert (abstention.verdict, price_of(abstention)) == ("insufficient-evidence", 7.0)
    await ledger.issue_day(ORIGIN, DAY, [judged("BTC", None), abstention, judged("ETH")], START_MS)
    assert await waits(database) == [(3, days, START_MS + days * DAY_MS) for days in (1, 3, 7)]
    assert HORIZONS == (1, 3, 7)


async def test_abstentions_that_somebody_asked_for_are_written_once_an_hour_for_a_coin(
    ledger: Ledger, database: Database
) -> None:
    """They cost nothing, so whoever asks for nothing else must not fill the disk."""
    first = await ledger.issue(ORIGIN, judged("BTC", None, "bull"), START_MS)
    again = await ledger.issue(ORIGIN, judged("BTC", None, "bear"), START_MS + HOUR_MS)
    assert again == first
    others = [
        await ledger.issue(ORIGIN, judged("ETH", None), START_MS + HOUR_MS),
        await ledger.issue("another", judged("BTC", None), START_MS + HOUR_MS),
        await ledger.issue(ORIGIN, judged("BTC", None, "neutral"), START_MS + HOUR_MS + 1),
        await ledger.issue(ORIGIN, judged("BTC"), START_MS + HOUR_MS + 1),
    ]
    assert [head.entries for head in (first, *others)] == [1, 2, 3, 4, 5]
    assert len(await entries(database)) == 5


async def test_a_day_is_written_whole_or_not_at_all(ledger: Ledger, database: Database) -> None:
    twice = [judged("BTC"), judged("ETH"), judged("BTC", 5.0)]
    with pytest.raises(IntegrityError):
        await ledger.issue_day(ORIGIN, DAY, twice, START_MS)
    assert await entries(database) == []
    assert await waits(database) == []


async def test_an_entry_that_fails_in_a_shared_transaction_leaves_no_gap(ledger: Ledger, database: Database) -> None:
    """Closures share one transaction: the next one must chain to what is left after the failed one is undone."""

    def fail(connection: Connection) -> None:
        ledger_module._append(connection, [create_entry("asked", None, ORIGIN, judged("BAD"), START_MS)])
        raise RuntimeError

    done = await asyncio.gather(
        ledger.issue(ORIGIN, judged("A"), START_MS),
        database.write(fail),
        ledger.issue(ORIGIN, judged("B"), START_MS),
        database.write(fail),
        ledger.issue_day(ORIGIN, DAY, [judged("C")], START_MS),
        return_exceptions=True,
    )
    assert [isinstance(found, RuntimeError) for found in done] == [False, True, False, True, False]
    assert [entry["symbol"] for entry in await entries(database)] == ["A", "B", "C"]
    assert (await database.inspect(audit_ledger)).findings == []


async def test_two_stores_on_one_file_append_to_one_chain(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "shared.db"
    async with open_database(path, clock) as one, open_database(path, clock) as two:
        ledgers = [Ledger(one), Ledger(two)]
        days = [[judged(coin) for coin in ("BTC", "ETH", "SOL")] for _ in ledgers]
        told = await asyncio.gather(
            *(ledgers[at % 2].issue(ORIGIN, judged(f"C{at // 2}"), START_MS) for at in range(40)),
            *(each.issue_day(ORIGIN, DAY, day, START_MS) for each, day in zip(ledgers, days, strict=True)),
        )
        assert told[-2:] in ([False, True], [True, False])
        assert told[:40:2] == told[1:40:2]
        assert len(await entries(one)) == 23
        found = await one.inspect(audit_ledger)
        assert (found.findings, found.head) == ([], await ledgers[1].head())


async def test_where_the_store_cannot_write_nothing_is_issued_nor_remembered(
    ledger: Ledger, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        database._writer.session, "begin", Mock(side_effect=TransactionError("not its turn", "SQLITE_BUSY"))
    )
    with pytest.raises(ServiceError) as refused:
        await ledger.issue(ORIGIN, judged("BTC"), START_MS)
    assert refused.value.code == "UNAVAILABLE"
    monkeypatch.undo()
    assert await entries(database) == []
    await ledger.issue(ORIGIN, judged("BTC"), START_MS)
    assert len(await entries(database)) == 1


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE verdict_ledger SET score = 4", "never changed"),
        ("UPDATE OR REPLACE verdict_ledger SET verdict = 'bear' WHERE seq = 1", "never changed"),
        ("DELETE FROM verdict_ledger", "never deleted"),
        ("DELETE FROM verdict_ledger WHERE seq = 2", "never deleted"),
        ("INSERT OR REPLACE INTO verdict_ledger SELECT * FROM verdict_ledger WHERE seq = 1", "follows its head"),
        (
            """INSERT INTO verdict_ledger (seq, kind, day, origin, symbol, issued_ms, verdict_id, verdict, score,
            confidence, probability_up, price, body, previous, hash)
            SELECT 4, kind, day, origin, symbol, issued_ms, verdict_id, verdict, score,
            confidence, probability_up, price, body, hash, printf('%064d', 5) FROM verdict_ledger WHERE seq = 2""",
            "follows its head",
        ),
        ("UPDATE verdict_outcomes SET price = 1", "never changed"),
        ("DELETE FROM verdict_outcomes", "never deleted"),
    ],
)
async def test_the_store_itself_refuses_to_change_what_was_written(
    ledger: Ledger, database: Database, statement: str, said: str
) -> None:
    for coin in ("BTC", "ETH"):
        await ledger.issue(ORIGIN, judged(coin), START_MS)
    outcome = "INSERT INTO verdict_outcomes VALUES (1, 1, ?, 101.0, 1.0, 5, NULL)"
    await database.write(lambda connection: connection.execute(outcome, (START_MS + DAY_MS,)).rowcount)
    with pytest.raises(IntegrityError, match=said):
        await database.write(lambda connection: connection.execute(statement).rowcount)
    assert (await database.inspect(audit_ledger)).findings == []


async def test_what_a_coin_was_judged_on_is_found_again_by_time(ledger: Ledger) -> None:
    first, second = known("BTC", 100.0), known("BTC", 101.0)
    await ledger.issue(ORIGIN, judged("BTC", 100.0), START_MS)
    await ledger.issue_day(ORIGIN, DAY, [judged("BTC", 101.0), judged("ETH", 1.0)], START_MS + 1_000)
    await ledger.issue("another", judged("BTC", 102.0), START_MS + 2_000)
    assert await ledger.since(ORIGIN, "BTC") == START_MS
    assert await ledger.since(ORIGIN, "SOL") is None
    assert await ledger.inputs_before(ORIGIN, "BTC", START_MS - 1) is None
    assert await ledger.inputs_before(ORIGIN, "BTC", START_MS) == (START_MS, first)
    assert await ledger.inputs_before(ORIGIN, "BTC", START_MS + 999) == (START_MS, first)
    assert await ledger.inputs_before(ORIGIN, "BTC", START_MS + 5_000) == (START_MS + 1_000, second)
