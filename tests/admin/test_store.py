"""`verdict admin backup`, `init` and `record`, a lost store, and commands where the store is a PostgreSQL server."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.access.caller import Caller
from service.access.meter import open_meter
from service.access.secrets import FILE_NAME, open_secrets
from service.clock import SystemClock
from service.settings import Secret
from service.storage.port import LEADER
from service.storage.postgres import status
from service.storage.postgres.database import open_postgres
from service.storage.postgres.status import ServerStatus
from service.upstream.fixture_set import read_set
from tests.admin.conftest import Admin
from tests.cli.commanding import Told
from tests.fakes.postgres import postgres_dsn
from tests.fakes.serving import run_verdict

WALLET = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
GONE = "postgres://verdict:hidden@127.0.0.1:1/verdict"


def test_a_copy_is_made_and_opens_with_the_same_keys(admin: Admin, used: Path, tmp_path: Path) -> None:
    copied = admin("backup", str(tmp_path / "verdict.db"))
    assert (copied.code, "secrets.toml" in copied.out) == (0, True)
    (tmp_path / FILE_NAME).write_bytes((used / FILE_NAME).read_bytes())
    (tmp_path / FILE_NAME).chmod(0o600)
    assert admin("keys list --json", data_dir=str(tmp_path)).json == admin("keys list --json").json


def test_what_cannot_be_copied_is_refused_in_one_line(admin: Admin, used: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    for told, said in (
        (admin("backup", str(tmp_path / "kept")), "kept"),
        (admin("backup", str(tmp_path / "copy"), data_dir=str(tmp_path)), "VERDICT_DATA_DIR"),
        (admin("backup", str(tmp_path / "copy"), store=GONE), "pg_dump"),
        (admin("keys list", store=GONE), "does not answer"),
    ):
        assert (told.code, told.out, told.err.count("\n")) == (1, "", 1)
        assert said in told.err
        assert "hidden" not in told.err
    assert (tmp_path / "kept").read_text() == "kept"


@pytest.fixture
def lost(used: Path) -> Path:
    """The database file of a used folder: empty."""
    for file in used.glob("verdict.db*"):
        file.unlink() if file.is_file() else None
    (used / "verdict.db").touch()
    return used / "verdict.db"


@pytest.mark.promise("start.lost-store")
@pytest.mark.parametrize(
    "line", ["keys list", "keys create --name x", "usage", "grants list", "payments list", "doctor", "quarantine"]
)
def test_a_lost_store_is_refused_with_the_remedy(admin: Admin, lost: Path, line: str) -> None:
    for left in ("empty", "missing"):
        told = admin(line)
        assert (told.code, told.out) == (1, "")
        assert f"{lost} is {left}, but {lost.parent} was used before: it contains secrets.toml" in told.err
        assert "verdict admin backup" in told.err
        assert "verdict admin init --new-store" in told.err
        lost.unlink(missing_ok=True)


@pytest.mark.process
@pytest.mark.promise("start.lost-store")
@pytest.mark.parametrize("arguments", [["--first-key"], ["--workers", "2"]])
def test_a_start_on_an_empty_file_in_a_used_folder_is_refused(lost: Path, arguments: list[str]) -> None:
    told = run_verdict("serve", *arguments, data_dir=str(lost.parent), port="0", source="fixtures")
    assert told.returncode == 1
    assert f"{lost} is empty, but {lost.parent} was used before" in told.stderr
    assert "verdict admin init --new-store" in told.stderr
    assert lost.stat().st_size == 0


@pytest.mark.promise("start.lost-store")
def test_a_new_store_is_made_knowingly_and_what_is_left_of_the_old_one_is_kept(
    admin: Admin, lost: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: Path, _target: Path) -> None:
        raise PermissionError(13, "Permission denied")

    secrets = (lost.parent / FILE_NAME).read_bytes()
    (lost.parent / "verdict.db-runs").mkdir(exist_ok=True)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", refuse)
        told = admin("init --new-store")
        assert (told.code, "cannot be moved (Permission denied)" in told.err) == (1, True)
    next(lost.parent.glob("lost-store-*")).rmdir()
    told = admin("init --new-store")
    (aside,) = lost.parent.glob("lost-store-*")
    assert (told.code, str(aside) in told.out) == (0, True)
    assert {found.name for found in aside.iterdir()} == {"verdict.db", "verdict.db-runs"}
    assert (lost.parent / FILE_NAME).read_bytes() == secrets
    assert admin("keys list --json").json == {"keys": []}
    before = lost.read_bytes()
    told = admin("init --new-store")
    assert (told.code, "is not empty" in told.err, lost.read_bytes()) == (1, True, before)


@pytest.mark.promise("start.lost-store")
def test_a_new_store_is_refused_where_none_was_lost_and_named_where_it_is_made(admin: Admin, data_dir: Path) -> None:
    for _ in ("no folder", "an empty folder"):
        told = admin("init --new-store")
        assert (told.code, told.out, told.err.count("\n")) == (1, "", 1)
        assert f"No store was lost in {data_dir}" in told.err
        assert "`verdict serve`" in told.err
        assert "VERDICT_DATA_DIR" in told.err
        assert not list(data_dir.glob("*"))
        data_dir.mkdir(exist_ok=True)
    open_secrets(data_dir)
    told = admin("init --new-store")
    assert (told.code, told.err) == (0, "")
    assert f"The store in {data_dir} is new and empty." in told.out
    assert "lost-store" not in told.out


@pytest.mark.parametrize("line", ["grants list", "usage", "payments list", "wallets list", "quarantine"])
def test_an_empty_list_says_which_store_was_read(admin: Admin, used: Path, line: str) -> None:
    assert admin(line).out.endswith(f"\nThe store is in {used}.\n")
    assert str(used) not in admin(f"{line} --json").out


@pytest.mark.promise("operator.record")
def test_a_venue_is_captured_into_a_set_that_can_be_replayed(admin: Admin, venue: str, tmp_path: Path) -> None:
    target = tmp_path / "set"
    refused = admin("record NOPE --out", str(target), hyperliquid_url=venue)
    assert (refused.code, "NOPE" in refused.err, target.exists()) == (1, True, False)
    done = admin("record PUMP --out", str(target), hyperliquid_url=venue)  # young: little to ask for
    assert (done.code, f"VERDICT_FIXTURES_DIR={target}" in done.out) == (0, True)
    metadata, files = read_set(target)
    assert len(files) == len(metadata.files) > 4
    assert "recorded from hyperliquid" in metadata.made
    full = admin("record --out", str(target))
    assert (full.code, full.err) == (1, f"verdict: {target} is not empty. Name a new folder.\n")
    gone = admin("record --out", str(tmp_path / "other"), hyperliquid_url="http://127.0.0.1:9")
    assert (gone.code, [line[:9] for line in gone.err.splitlines()][-1]) == (1, "verdict: ")


@pytest.fixture
def server(admin: Admin) -> Iterator[str]:
    with postgres_dsn() as address:
        assert admin("keys create --name first", store=address).code == 0
        yield address


def found(told: Told) -> dict[str, list[str]]:
    """The checks that found something, and what."""
    return {check["check"]: check["findings"] for check in told.json["checks"] if check["findings"]}


def said(told: Told) -> dict[str, str]:
    return {check["check"]: check["said"] for check in told.json["checks"]}


@pytest.mark.process
@pytest.mark.promise("operator.doctor")
def test_a_server_is_checked_and_repaired_while_the_service_runs_on_it(
    admin: Admin, server: str, tmp_path: Path
) -> None:
    async def use() -> Told:
        clock = SystemClock()
        async with open_postgres(Secret(server), tmp_path / "node" / "verdict.db", clock) as database:
            async with open_meter(database, clock) as meter:
                await meter.charge(Caller(1, "api_key", 1), "coin.risk")
            async with database.claim(LEADER):
                await database.write(lambda _: None)
                told = await asyncio.to_thread(admin, "doctor --json", store=server)
            await database.write(lambda connection: connection.execute("UPDATE quota SET counted = 7").rowcount)
            return told

    told = asyncio.run(use())
    assert (told.code, found(told)) == (0, {})
    checks = "secrets PostgreSQL database nodes counters devices days ledger payments refreshes facilitator quarantine"
    assert list(said(told)) == [*checks.split(), "keys", "settlement", "model", "wallets", "disk"]
    assert said(told)["PostgreSQL"].endswith("commits are durable")
    assert "pg_amcheck" in said(told)["database"]
    assert said(told)["nodes"] == "1 process is connected, from 127.0.0.1, and the leader is connected from 127.0.0.1"
    alone = admin("doctor --json", store=server)
    assert said(alone)["nodes"] == "no process of the service is connected, and no process is the leader"
    assert list(found(alone)) == ["counters"]
    repaired = admin("doctor --repair --json", store=server)
    assert (repaired.code, repaired.err) == (0, "Repaired the counters of 1 user and the days of 0 users.\n")


@pytest.mark.process
def test_a_server_that_is_not_usable_is_a_finding_that_shows_no_password(
    admin: Admin, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = admin("doctor --json", store=GONE)
    assert (told.code, "127.0.0.1:1/verdict does not answer" in found(told)["database"][0]) == (1, True)
    assert "hidden" not in told.out + told.err
    keeps = {"synchronous_commit": "local", "fsync": "on"}
    seen = ServerStatus("15.4", begun=True, standby=True, size=0, keeps=keeps, nodes=["a", "b", "a"], leader=None)
    monkeypatch.setattr(status, "read_server_status", lambda *_: seen)
    told = admin("doctor --json", store=server)
    risk = "The server's setting synchronous_commit is local, so acknowledged writes may be lost."
    assert found(told) == {"PostgreSQL": [risk, "The server is a read-only standby."]}
    assert said(told)["nodes"] == "3 processes are connected, from a, b, and no process is the leader"


@pytest.mark.process
def test_a_database_that_no_service_has_used_is_found_and_made_anew_for_a_used_folder(
    admin: Admin, data_dir: Path
) -> None:
    (data_dir / "verdict.db-runs").mkdir(parents=True)
    with postgres_dsn(fresh=True) as address:
        for _ in range(2):
            assert found(admin("doctor --json", store=address))["database"] == [
                "No service has used this database yet."
            ]
        assert "is empty, but" in admin("keys list", store=address).err
        assert admin("init --new-store", store=address).code == 0
        assert admin("keys list", store=address).code == 0
    assert [aside.name for folder in data_dir.glob("lost-store-*") for aside in folder.iterdir()] == ["verdict.db-runs"]


@pytest.mark.process
def test_every_command_of_the_operator_acts_on_the_server(admin: Admin, server: str) -> None:
    lines = f"grants add --wallet {WALLET} --tier pro|grants list|usage|payments list|payments export"
    for line in f"{lines}|payments reconcile|wallets add {WALLET}|wallets list|wallets remove {WALLET}".split("|"):
        assert admin(line, store=server).code == 0, line
    assert admin("wallets list", store=server).out == (
        "No wallet is watched.\nThe store is on the server that VERDICT_STORE names.\n"
    )
    for line in ("payments show rcp_0", "walkforward", "backup copy"):
        told = admin(line, store=server)
        assert (told.code, told.err.count("\n")) == (1, 1)
