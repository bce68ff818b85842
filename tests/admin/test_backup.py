from pathlib import Path

import pytest

from tests.admin.conftest import Verdict
from tests.fakes.postgres import postgres_dsn


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
