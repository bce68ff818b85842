"""The operator's commands where the store is a PostgreSQL server."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.access.caller import Caller
from service.access.meter import open_meter
from service.clock import SystemClock
from service.settings import Secret
from service.storage.engine import Connection
from service.storage.port import LEADER
from service.storage.postgres import status as standing
from service.storage.postgres.database import open_postgres
from service.storage.postgres.status import ServerStatus
from tests.admin.conftest import Told, Verdict
from tests.fakes.postgres import postgres_dsn

pytestmark = pytest.mark.process

ALL = [
    "secrets",
    "PostgreSQL",
    "database",
    "nodes",
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
]
WALLET = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"


@pytest.fixture
def server() -> Iterator[str]:
    with postgres_dsn() as address:
        yield address


def found(told: Told) -> dict[str, list[str]]:
    """The checks that found something, and what."""
    return {check["check"]: check["findings"] for check in told.json["checks"] if check["findings"]}


def said(told: Told, check: str) -> str:
    return str(next(one["said"] for one in told.json["checks"] if one["check"] == check))


@pytest.mark.promise("operator.doctor")
def test_a_server_is_looked_over_while_the_service_runs_on_it(verdict: Verdict, server: str, tmp_path: Path) -> None:
    verdict("admin", "keys", "create", "--name", "first", store=server)

    async def look() -> Told:
        async with (
            open_postgres(Secret(server), tmp_path / "node" / "verdict.db", SystemClock()) as database,
            database.claim(LEADER),
        ):
            await database.write(lambda _: None)
            return await asyncio.to_thread(verdict, "admin", "doctor", "--json", store=server)

    told = asyncio.run(look())
    assert (told.code, found(told)) == (0, {})
    assert [check["check"] for check in told.json["checks"]] == ALL
    assert said(told, "PostgreSQL").endswith("commits are durable")
    assert "pg_amcheck" in said(told, "database")
    assert said(told, "nodes") == "1 process is connected, from 127.0.0.1; the leader is connected from 127.0.0.1"
    alone = verdict("admin", "doctor", "--json", store=server)
    assert said(alone, "nodes") == "no process of the service is connected; no process is the leader"


def test_counters_on_a_server_are_compared_with_their_events_and_repaired(
    verdict: Verdict, server: str, tmp_path: Path
) -> None:
    verdict("admin", "keys", "create", "--name", "first", store=server)

    def spoil(connection: Connection) -> None:
        connection.execute("UPDATE quota SET counted = 7")

    async def use() -> None:
        async with open_postgres(Secret(server), tmp_path / "node" / "verdict.db", SystemClock()) as database:
            async with open_meter(database, SystemClock()) as meter:
                await meter.charge(Caller(1, "api_key", 1), "coin.risk")
            await database.write(spoil)

    asyncio.run(use())
    assert list(found(verdict("admin", "doctor", "--json", store=server))) == ["counters"]
    repaired = verdict("admin", "doctor", "--repair", "--json", store=server)
    assert (repaired.code, found(repaired)) == (0, {})
    assert repaired.err == "repaired: the counters of 1 users, the days of 0\n"
    assert "1" in verdict("admin", "usage", store=server).out


def test_a_server_that_does_not_answer_is_a_finding_that_shows_no_password(verdict: Verdict) -> None:
    told = verdict("admin", "doctor", "--json", store="postgres://verdict:hidden@127.0.0.1:1/verdict")
    assert told.code == 1
    assert "127.0.0.1:1/verdict does not answer" in found(told)["database"][0]
    assert "hidden" not in told.out + told.err


def test_a_database_that_no_service_has_used_is_a_finding_and_stays_as_it_is(verdict: Verdict) -> None:
    with postgres_dsn(fresh=True) as address:
        for _ in range(2):
            told = verdict("admin", "doctor", "--json", store=address)
            assert found(told)["database"] == ["no service has used it yet"]


def test_a_server_that_may_forget_or_only_follows_is_found(
    verdict: Verdict, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict("admin", "keys", "create", "--name", "first", store=server)
    keeps = {"synchronous_commit": "local", "fsync": "on"}
    told_by = ServerStatus("15.4", begun=True, standby=True, size=0, keeps=keeps, nodes=["a", "b", "a"], leader=None)
    monkeypatch.setattr(standing, "read_server_status", lambda *_: told_by)
    told = verdict("admin", "doctor", "--json", store=server)
    assert found(told) == {
        "PostgreSQL": [
            "synchronous_commit is local: acknowledged writes may be lost",
            "it is a read-only standby",
        ]
    }
    assert said(told, "nodes") == "3 processes are connected, from a, b; no process is the leader"


def test_every_command_of_the_operator_acts_on_the_server(verdict: Verdict, server: str) -> None:
    for words in (
        ("keys", "create", "--name", "first"),
        ("grants", "add", "--wallet", WALLET, "--tier", "pro"),
        ("grants", "list"),
        ("usage",),
        ("payments", "list"),
        ("payments", "export"),
        ("payments", "reconcile"),
        ("wallets", "add", WALLET),
        ("wallets", "list"),
        ("wallets", "remove", WALLET),
    ):
        told = verdict("admin", *words, store=server)
        assert told.code == 0, (words, told.err)
    assert WALLET not in verdict("admin", "wallets", "list", store=server).out
    for refused in (("payments", "show", "rcp_0"), ("walkforward",), ("backup", "copy")):
        told = verdict("admin", *refused, store=server)
        assert (told.code, told.err.count("\n")) == (1, 1)
