import re
from pathlib import Path

import pytest

from tests.admin.conftest import Verdict

WALLET = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"


@pytest.mark.promise("operator.keys-json", "operator.keys-create")
def test_a_key_is_made_with_its_user_and_its_json_has_exactly_five_fields(verdict: Verdict) -> None:
    made = verdict("admin", "keys", "create", "--name", "first", "--json")
    assert made.code == 0
    assert made.err == ""
    assert list(made.json) == ["key", "prefix", "userId", "tier", "expiresAt"]
    assert re.fullmatch(r"verdict_sk_[0-9A-Za-z]{36}", made.json["key"])
    assert made.json["key"].startswith(made.json["prefix"])
    assert (made.json["userId"], made.json["tier"], made.json["expiresAt"]) == (1, "free", None)


def test_without_json_the_key_alone_is_on_stdout_and_advice_on_stderr(verdict: Verdict) -> None:
    made = verdict("admin", "keys", "create", "--name", "first", "--tier", "pro", "--expires", "30d")
    assert re.fullmatch(r"verdict_sk_[0-9A-Za-z]{36}\n", made.out)
    assert re.fullmatch(
        r"This key is shown once: keep it now\. User 1, tier pro, until .{24}, for the service on /.+\.\n", made.err
    )
    assert "without an end" in verdict("admin", "keys", "create", "--name", "second").err


@pytest.mark.promise("run.data-dir")
def test_the_first_command_makes_the_folder_and_its_files_for_their_owner_alone(
    verdict: Verdict, data_dir: Path
) -> None:
    verdict("admin", "keys", "create", "--name", "first")
    assert data_dir.stat().st_mode & 0o077 == 0
    for name in ("verdict.db", "secrets.toml"):
        assert (data_dir / name).stat().st_mode & 0o777 == 0o600


@pytest.mark.promise("operator.keys-create")
def test_each_key_makes_a_new_user_unless_one_is_named(verdict: Verdict) -> None:
    made = [verdict("admin", "keys", "create", "--name", name, "--json").json["userId"] for name in ("a", "b")]
    again = verdict("admin", "keys", "create", "--name", "c", "--user", "1", "--json").json["userId"]
    assert (made, again) == ([1, 2], 1)


@pytest.mark.promise("operator.keys-create")
def test_a_tier_and_a_wallet_come_with_the_key(verdict: Verdict) -> None:
    made = verdict("admin", "keys", "create", "--name", "a", "--tier", "access", "--wallet", WALLET, "--json").json
    other = verdict("admin", "keys", "create", "--name", "b", "--wallet", WALLET.lower(), "--json").json
    assert (made["tier"], other["tier"]) == ("access", "access")
    assert made["userId"] == other["userId"]


@pytest.mark.promise("operator.keys-manage", "keys.shown-once")
def test_keys_are_listed_newest_first_without_the_keys_themselves(verdict: Verdict) -> None:
    first = verdict("admin", "keys", "create", "--name", "first", "--json").json
    second = verdict("admin", "keys", "create", "--name", "second", "--expires", "1w", "--json").json
    listed = verdict("admin", "keys", "list")
    lines = listed.out.splitlines()
    assert lines[0].split() == ["PREFIX", "USER", "STATE", "LAST", "USED", "NAME"]
    assert lines[1].startswith(second["prefix"])
    assert f"until {second['expiresAt'][:10]}" in lines[1]
    assert "no end" in lines[2]
    assert first["key"] not in listed.out
    assert [key["name"] for key in verdict("admin", "keys", "list", "--json").json["keys"]] == ["second", "first"]
    assert [key["name"] for key in verdict("admin", "keys", "list", "--user", "1", "--json").json["keys"]] == ["first"]


@pytest.mark.promise("operator.keys-manage")
def test_a_revoked_key_says_so_in_the_list(verdict: Verdict) -> None:
    prefix = verdict("admin", "keys", "create", "--name", "first", "--json").json["prefix"]
    revoked = verdict("admin", "keys", "revoke", prefix)
    assert (revoked.code, revoked.out) == (0, f"{prefix} is revoked; a running service knows within a second.\n")
    assert "revoked 20" in verdict("admin", "keys", "list").out


def test_a_folder_without_keys_says_so(verdict: Verdict) -> None:
    verdict("admin", "keys", "create", "--name", "first")
    assert verdict("admin", "keys", "list", "--user", "7").out == "There are no keys yet.\n"


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        (["revoke", "verdict_sk_nothere1"], 1, "There is no key verdict_sk_nothere1"),
        (["create", "--name", "a", "--user", "9"], 1, "There is no user 9"),
        (["create", "--name", "a", "--wallet", "0x12"], 1, "0x12 is not a wallet"),
        (["create", "--name", "", "--json"], 1, "--name takes 1 to 80 characters"),
        (["create", "--name", "a\nb"], 1, "--name takes 1 to 80 characters"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(verdict: Verdict, typed: list[str], code: int, said: str) -> None:
    verdict("admin", "keys", "create", "--name", "first")
    refused = verdict("admin", "keys", *typed)
    assert (refused.code, refused.out) == (code, "")
    assert refused.err.startswith(f"verdict: {said}")
    assert refused.err.count("\n") == 1


@pytest.mark.parametrize("typed", [["grants", "list"], ["usage"], ["doctor"], ["quarantine"], ["payments", "list"]])
def test_a_folder_without_a_database_is_refused_with_the_setting_to_change(
    verdict: Verdict, data_dir: Path, typed: list[str]
) -> None:
    refused = verdict("admin", *typed)
    assert refused.code == 1
    assert refused.err == (
        f"verdict: there is no database in {data_dir}; set VERDICT_DATA_DIR to the service's folder "
        "(`make run` keeps it in ./.data)\n"
    )
    assert not data_dir.exists()


@pytest.mark.parametrize("typed", [["list"], ["revoke", "verdict_sk_4kYw0VqG"]])
def test_somebody_without_a_folder_reads_where_their_own_keys_are(verdict: Verdict, typed: list[str]) -> None:
    refused = verdict("admin", "keys", *typed)
    assert refused.code == 1
    assert refused.err.endswith("; your own keys at a service are those of `verdict keys`\n")


def test_a_bad_setting_is_refused_with_exit_code_1(verdict: Verdict) -> None:
    refused = verdict("admin", "keys", "list", port="http")
    assert (refused.code, refused.err) == (1, "verdict: VERDICT_PORT takes a whole number, not 'http'\n")


def test_a_folder_that_cannot_be_made_is_refused_with_the_setting_to_change(verdict: Verdict, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = verdict("admin", "keys", "create", "--name", "a", data_dir=str(tmp_path / "file" / "data"))
    assert refused.code == 1
    assert "VERDICT_DATA_DIR" in refused.err
    assert refused.err.count("\n") == 1


def test_a_damaged_database_is_refused_with_a_remedy(verdict: Verdict, data_dir: Path) -> None:
    data_dir.mkdir()
    (data_dir / "verdict.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 8192)
    refused = verdict("admin", "keys", "list")
    assert refused.code == 1
    assert "verdict admin backup" in refused.err
    assert refused.err.count("\n") == 1


def test_secrets_that_others_can_read_are_refused_with_a_remedy(verdict: Verdict, data_dir: Path) -> None:
    verdict("admin", "keys", "create", "--name", "first")
    (data_dir / "secrets.toml").chmod(0o644)
    refused = verdict("admin", "keys", "list")
    assert refused.code == 1
    assert "chmod 600" in refused.err
