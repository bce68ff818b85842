"""`verdict admin backup`, `init` and `record`."""

from pathlib import Path

import pytest

from service.access.secrets import FILE_NAME
from service.upstream.fixture_set import read_set
from tests.admin.conftest import Verdict
from tests.fakes.postgres import postgres_dsn
from tests.fakes.serving import run_verdict


def test_a_copy_is_made_and_opens_with_the_same_keys(verdict: Verdict, data_dir: Path, tmp_path: Path) -> None:
    made = verdict("admin", "keys", "create", "--name", "first", "--json").json
    copied = verdict("admin", "backup", str(tmp_path / "verdict.db"))
    assert copied.code == 0
    assert "secrets.toml" in copied.out
    (tmp_path / "secrets.toml").write_bytes((data_dir / "secrets.toml").read_bytes())
    (tmp_path / "secrets.toml").chmod(0o600)
    listed = verdict("admin", "keys", "list", "--json", data_dir=str(tmp_path)).json["keys"]
    assert [key["prefix"] for key in listed] == [made["prefix"]]


def test_a_file_that_exists_is_never_overwritten(verdict: Verdict, tmp_path: Path) -> None:
    verdict("admin", "keys", "create", "--name", "first")
    (tmp_path / "kept").write_text("kept")
    refused = verdict("admin", "backup", str(tmp_path / "kept"))
    assert refused.code == 1
    assert refused.err.startswith("verdict: ")
    assert (tmp_path / "kept").read_text() == "kept"


def test_without_a_database_there_is_nothing_to_copy(verdict: Verdict, tmp_path: Path) -> None:
    refused = verdict("admin", "backup", str(tmp_path / "copy"))
    assert refused.code == 1
    assert "VERDICT_DATA_DIR" in refused.err


def test_a_server_is_copied_by_its_own_tools(verdict: Verdict, tmp_path: Path) -> None:
    refused = verdict("admin", "backup", str(tmp_path / "copy"), store="postgres://verdict:hidden@127.0.0.1:1/verdict")
    assert refused.code == 1
    assert "pg_dump" in refused.err
    assert "hidden" not in refused.err


@pytest.mark.process
def test_commands_act_on_the_server_that_is_set(verdict: Verdict, tmp_path: Path) -> None:
    with postgres_dsn() as address:
        made = verdict("admin", "keys", "create", "--name", "first", "--json", store=address).json
        listed = verdict("admin", "keys", "list", "--json", store=address).json["keys"]
        assert [key["prefix"] for key in listed] == [made["prefix"]]
    refused = verdict("admin", "keys", "list", store="postgres://verdict:hidden@127.0.0.1:1/verdict")
    assert refused.code == 1
    assert "does not answer" in refused.err
    assert "hidden" not in refused.err


@pytest.fixture
def used(verdict: Verdict, data_dir: Path) -> Path:
    """A database file that has been used: there is a key in it."""
    assert verdict("admin", "keys", "create", "--name", "first").code == 0
    return data_dir / "verdict.db"


def lose(database: Path) -> None:
    for file in database.parent.glob(f"{database.name}*"):
        if file.is_file():
            file.unlink()


@pytest.mark.slow
@pytest.mark.promise("start.lost-store")
@pytest.mark.parametrize(
    "command",
    ["keys list", "keys create --name x", "usage", "grants list", "payments list", "doctor", "quarantine"],
)
@pytest.mark.parametrize("left", ["missing", "empty"])
def test_a_lost_store_is_refused_with_the_remedy(verdict: Verdict, used: Path, command: str, left: str) -> None:
    lose(used)
    if left == "empty":
        used.touch()
    told = verdict("admin", *command.split())
    assert told.code == 1
    assert f"{used} is {left}, but {used.parent} was used before: it contains secrets.toml" in told.err
    assert "verdict admin backup" in told.err
    assert "verdict admin init --new-store" in told.err


@pytest.mark.process
@pytest.mark.promise("start.lost-store")
@pytest.mark.parametrize("arguments", [[], ["--first-key"], ["--workers", "2"]], ids=["one", "make run", "workers"])
def test_a_start_on_an_empty_file_in_a_used_folder_is_refused(used: Path, arguments: list[str]) -> None:
    lose(used)
    used.touch()
    told = run_verdict("serve", *arguments, data_dir=str(used.parent), port="0", source="fixtures")
    assert told.returncode == 1
    assert f"{used} is empty, but {used.parent} was used before" in told.stderr
    assert "verdict admin init --new-store" in told.stderr
    assert used.stat().st_size == 0


@pytest.mark.promise("start.lost-store")
def test_a_new_store_is_made_knowingly_and_what_is_left_of_the_old_one_is_kept(verdict: Verdict, used: Path) -> None:
    secrets = (used.parent / FILE_NAME).read_bytes()
    lose(used)
    used.touch()
    (used.parent / "verdict.db-runs").mkdir(exist_ok=True)
    told = verdict("admin", "init", "--new-store")
    assert told.code == 0, told.err
    (aside,) = used.parent.glob("lost-store-*")
    assert str(aside) in told.out
    assert {found.name for found in aside.iterdir()} == {"verdict.db", "verdict.db-runs"}
    assert (used.parent / FILE_NAME).read_bytes() == secrets
    assert verdict("admin", "keys", "list", "--json").json == {"keys": []}


def test_a_new_store_is_made_in_an_empty_folder_too(verdict: Verdict, data_dir: Path) -> None:
    told = verdict("admin", "init", "--new-store")
    assert told.code == 0
    assert "lost-store" not in told.out
    assert verdict("admin", "usage").code == 0
    assert (data_dir / "verdict.db").stat().st_size


def test_a_store_that_has_content_is_never_given_up(verdict: Verdict, used: Path) -> None:
    before = used.read_bytes()
    told = verdict("admin", "init", "--new-store")
    assert told.code == 1
    assert "is not empty" in told.err
    assert used.read_bytes() == before


def test_init_needs_the_confirmation(verdict: Verdict, data_dir: Path) -> None:
    assert "--new-store" in verdict("admin", "init").err
    assert not data_dir.exists()


def test_a_folder_whose_files_cannot_be_moved_is_refused(
    verdict: Verdict, used: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose(used)
    used.touch()

    def refuse(_path: Path, _target: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", refuse)
    told = verdict("admin", "init", "--new-store")
    assert told.code == 1
    assert "cannot be moved (Permission denied)" in told.err


@pytest.mark.process
def test_a_server_is_made_anew_for_a_folder_that_was_used(verdict: Verdict, data_dir: Path) -> None:
    (data_dir / "verdict.db-runs").mkdir(parents=True)
    with postgres_dsn(fresh=True) as address:
        assert "is empty, but" in verdict("admin", "keys", "list", store=address).err
        assert verdict("admin", "init", "--new-store", store=address).code == 0
        assert verdict("admin", "keys", "list", store=address).code == 0
    assert [aside.name for folder in data_dir.glob("lost-store-*") for aside in folder.iterdir()] == ["verdict.db-runs"]


@pytest.mark.promise("operator.record")
def test_a_venue_is_captured_into_a_set_that_can_be_replayed(verdict: Verdict, venue: str, tmp_path: Path) -> None:
    target = tmp_path / "set"
    done = verdict("admin", "record", "--out", str(target), "PUMP", hyperliquid_url=venue)  # young: little to ask for
    assert done.code == 0, done.err
    assert f"VERDICT_FIXTURES_DIR={target}" in done.out
    metadata, files = read_set(target)
    assert len(files) == len(metadata.files) > 4
    assert "recorded from hyperliquid" in metadata.made


def test_a_coin_that_is_not_listed_is_refused_and_nothing_is_written(
    verdict: Verdict, venue: str, tmp_path: Path
) -> None:
    refused = verdict("admin", "record", "--out", str(tmp_path / "set"), "NOPE", hyperliquid_url=venue)
    assert refused.code == 1
    assert "NOPE" in refused.err
    assert not (tmp_path / "set").exists()


def test_a_venue_that_cannot_be_reached_is_refused_in_one_line(verdict: Verdict, tmp_path: Path) -> None:
    refused = verdict("admin", "record", "--out", str(tmp_path / "set"), hyperliquid_url="http://127.0.0.1:9")
    assert refused.code == 1
    assert [line for line in refused.err.splitlines() if line.startswith("verdict: ")]


def test_a_folder_that_holds_something_is_left_alone(verdict: Verdict, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = verdict("admin", "record", "--out", str(tmp_path))
    assert refused.code == 1
    assert refused.err == f"verdict: {tmp_path} is not empty; name a new folder\n"
