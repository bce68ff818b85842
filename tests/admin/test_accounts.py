"""`verdict admin keys`, `grants` and `usage`."""

import re
from pathlib import Path

import pytest

from service.clock import DAY_MS, SystemClock, day_of, iso
from tests.admin.conftest import Verdict
from tests.admin.test_doctor import EVENT, opened

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


@pytest.mark.promise("operator.grants")
@pytest.mark.usefixtures("somebody")
def test_a_grant_is_given_to_a_user_for_a_time_and_listed(verdict: Verdict) -> None:
    given = verdict("admin", "grants", "add", "--user", "1", "--tier", "pro", "--expires", "30d")
    assert given.out.startswith("Grant 1: pro for user 1, until 20")
    listed = verdict("admin", "grants", "list").out.splitlines()
    assert listed[0].split() == ["ID", "TIER", "STATE", "FOR"]
    assert listed[1].split()[:3] == ["1", "pro", "until"]


@pytest.mark.usefixtures("somebody")
def test_a_grant_never_ends_after_the_last_instant_that_can_be_written(verdict: Verdict) -> None:
    given = verdict("admin", "grants", "add", "--user", "1", "--tier", "pro", "--expires", "999999w", "--json").json
    assert given["expiresAt"] == "9999-12-31T23:59:59.999Z"


@pytest.mark.usefixtures("somebody")
def test_a_grant_to_a_wallet_waits_for_whoever_proves_it(verdict: Verdict) -> None:
    given = verdict("admin", "grants", "add", "--wallet", WALLET.lower(), "--tier", "access", "--json").json
    assert list(given) == ["id", "userId", "wallet", "tier", "createdAt", "expiresAt", "revokedAt"]
    assert (given["userId"], given["wallet"], given["expiresAt"]) == (None, WALLET, None)
    assert "no end" in verdict("admin", "grants", "list").out


@pytest.mark.promise("operator.grants", "tiers.source")
@pytest.mark.usefixtures("somebody")
def test_a_grant_applies_to_the_users_next_key_until_it_is_taken_back(verdict: Verdict) -> None:
    verdict("admin", "grants", "add", "--user", "1", "--tier", "access")
    assert verdict("admin", "keys", "create", "--name", "a", "--user", "1", "--json").json["tier"] == "access"
    assert verdict("admin", "grants", "revoke", "1").code == 0
    assert verdict("admin", "keys", "create", "--name", "b", "--user", "1", "--json").json["tier"] == "free"
    assert "revoked 20" in verdict("admin", "grants", "list").out
    assert verdict("admin", "grants", "list", "--json").json["grants"][0]["revokedAt"]


PAID_EVENT = """
INSERT INTO usage_events (user_id, offer_id, at_ms, day, bucket, state, run_id) VALUES (?, 'x', 0, ?, 2, 1, 1)
"""


@pytest.mark.promise("operator.usage")
def test_users_are_listed_with_what_they_asked_today_in_a_month_and_ever_and_what_they_paid_for(
    verdict: Verdict, data_dir: Path
) -> None:
    verdict("admin", "keys", "create", "--name", "first")
    today = day_of(SystemClock().now_ms())
    asked = [(1, today, 1), (1, today, 1), (1, today, 2), (1, today - 29, 1), (1, today - 30, 1), (2, today - 3, 1)]
    with opened(data_dir) as connection:
        connection.executemany(EVENT, asked)
        connection.executemany(PAID_EVENT, [(1, today - 1), (2, today - 1), (2, today)])
    assert [line.split() for line in verdict("admin", "usage").out.splitlines()] == [
        ["USER", "TODAY", "30", "DAYS", "ALL", "PAID", "LAST", "DAY"],
        ["1", "2", "3", "4", "1", iso(today * DAY_MS)[:10]],
        ["2", "0", "1", "1", "2", iso(today * DAY_MS)[:10]],
    ]
    (second,) = verdict("admin", "usage", "--user", "2", "--json").json["users"]
    assert second == {
        "userId": 2,
        "today": 0,
        "total": 1,
        "paid": 2,
        "days": {iso((today - 3) * DAY_MS)[:10]: 1},
        "paidDays": {iso((today - 1) * DAY_MS)[:10]: 1, iso(today * DAY_MS)[:10]: 1},
    }


def test_what_devices_without_a_token_asked_stands_before_all_users(verdict: Verdict, data_dir: Path) -> None:
    verdict("admin", "keys", "create", "--name", "first")
    today = day_of(SystemClock().now_ms())
    with opened(data_dir) as connection:
        connection.executemany(EVENT, [(1, today, 1), (0, today, 1), (0, today, 1), (0, today, 2)])
    devices, user = [line.split() for line in verdict("admin", "usage").out.splitlines()[1:]]
    assert devices == ["anonymous", "2", "2", "2", "0", iso(today * DAY_MS)[:10]]
    assert user[:2] == ["1", "1"]
    users = verdict("admin", "usage", "--json").json["users"]
    assert [(said["userId"], said["total"]) for said in users] == [(None, 2), (1, 1)]
