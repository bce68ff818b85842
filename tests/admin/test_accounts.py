"""`verdict admin keys`, `grants` and `usage`."""

import re
from pathlib import Path

import pytest

from service.clock import DAY_MS, SystemClock, day_of, iso
from tests.admin.conftest import Admin, opened

WALLET = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
EVENT = "INSERT INTO usage_events (user_id, offer_id, at_ms, day, bucket, state, run_id) VALUES (?, 'x', 0, ?, ?, ?, 1)"
"""An event of a user, on a day, of a bucket (1 a question, 2 paid), in a state (1 committed, 2 released)."""


@pytest.mark.promise("operator.keys-json", "operator.keys-create", "run.data-dir")
def test_a_key_is_made_with_its_user_in_files_for_their_owner_alone(admin: Admin, data_dir: Path) -> None:
    made = admin("keys create --name first --json")
    assert (made.code, made.err) == (0, "")
    assert list(made.json) == ["key", "prefix", "userId", "tier", "expiresAt"]
    assert re.fullmatch(r"verdict_sk_[0-9A-Za-z]{36}", made.json["key"])
    assert made.json["key"].startswith(made.json["prefix"])
    assert (made.json["userId"], made.json["tier"], made.json["expiresAt"]) == (1, "free", None)
    assert data_dir.stat().st_mode & 0o077 == 0
    assert [(data_dir / name).stat().st_mode & 0o777 for name in ("verdict.db", "secrets.toml")] == [0o600] * 2


@pytest.mark.promise("operator.keys-create")
def test_a_key_makes_a_user_unless_one_or_a_wallet_is_named_and_brings_a_tier(admin: Admin, used: Path) -> None:
    lines = ("", "--user 1", f"--tier access --wallet {WALLET}", f"--wallet {WALLET.lower()}")
    made = [admin(f"keys create --name x --json {line}").json for line in lines]
    assert [key["userId"] for key in made] == [2, 1, 3, 3]
    assert [key["tier"] for key in made] == ["free", "free", "access", "access"]
    text = admin("keys create --name x --user 1 --expires 30d")
    assert re.fullmatch(r"verdict_sk_\w{36}\n", text.out)
    assert "This key is shown once: keep it now. It is for user 1, tier free, until 20" in text.err


@pytest.mark.promise("operator.keys-manage", "keys.shown-once")
def test_keys_are_listed_newest_first_without_the_keys_themselves_and_revoked(admin: Admin, used: Path) -> None:
    second = admin("keys create --name second --expires 1w --json").json
    listed = admin("keys list")
    lines = listed.out.splitlines()
    assert lines[0].split() == ["PREFIX", "USER", "STATE", "LAST", "USED", "NAME"]
    assert lines[1].startswith(second["prefix"])
    assert f"until {second['expiresAt'][:10]}" in lines[1]
    assert "no end" in lines[2]
    assert second["key"] not in listed.out
    assert [key["name"] for key in admin("keys list --json").json["keys"]] == ["second", "first"]
    assert [key["name"] for key in admin("keys list --user 1 --json").json["keys"]] == ["first"]
    revoked = admin("keys revoke", second["prefix"])
    assert revoked.out == f"{second['prefix']} is revoked. A running service stops accepting it within a second.\n"
    assert "revoked 20" in admin("keys list").out.splitlines()[1]


@pytest.mark.parametrize(
    "line",
    ["grants list", "usage", "doctor", "quarantine", "payments list", "keys list", "keys revoke verdict_sk_4kYw"],
)
def test_a_folder_without_a_database_is_refused_with_the_setting_to_change(
    admin: Admin, data_dir: Path, line: str
) -> None:
    refused = admin(line)
    own = " For your own keys at a service, run `verdict keys`." if "keys" in line else ""
    remedy = f"Set VERDICT_DATA_DIR to the service's folder (`make run` keeps it in ./.data).{own}"
    assert (refused.code, refused.err) == (1, f"verdict: There is no database in {data_dir}. {remedy}\n")
    assert not data_dir.exists()


def test_a_folder_that_cannot_be_used_is_refused_in_one_line(admin: Admin, used: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "verdict.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 8192)
    (used / "secrets.toml").chmod(0o644)
    for refused, said in (
        (admin("keys list", port="http"), "verdict: VERDICT_PORT takes a whole number, not 'http'.\n"),
        (admin("keys create --name a", data_dir=str(tmp_path / "file" / "data")), "VERDICT_DATA_DIR"),
        (admin("keys list", data_dir=str(tmp_path / "damaged")), "verdict admin backup"),
        (admin("keys list"), "chmod 600"),
        (admin("keys create --name", "a\x1b[2J"), "--name takes 1 to 80 characters"),
    ):
        assert (refused.code, refused.out, refused.err.count("\n")) == (1, "", 1)
        assert said in refused.err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("usage --user x", "Invalid value for '--user': 'x' is not a whole number from 1."),
        ("usage --user 0", "Invalid value for '--user': '0' is not a whole number from 1."),
        (f"grants revoke {2**63}", "Invalid value for 'ID': "),
        ("grants add --tier pro", "Missing one of the options '--user', '--wallet'."),
        ("keys create --name a --tier gold", "Invalid value for '--tier': 'gold' is not one of"),
        ("doctor --repair --health", "Options '--repair' and '--health' exclude each other."),
        ("init", "Missing option '--new-store'."),
    ],
)
def test_an_option_that_is_not_usable_is_refused_in_one_line(admin: Admin, line: str, said: str) -> None:
    told = admin(line)
    assert (told.code, told.out, said in told.err, told.err.count("\n")) == (1, "", True, 1), told.err


@pytest.mark.promise("operator.grants", "tiers.source")
def test_a_grant_counts_for_its_user_until_it_ends_or_is_taken_back(admin: Admin, used: Path) -> None:
    given = admin("grants add --user 1 --tier pro --expires 30d")
    assert given.out.startswith("Grant 1: pro for user 1, until 20")
    assert admin("keys create --name a --user 1 --json").json["tier"] == "pro"
    assert admin("grants revoke 1").code == 0
    assert admin("keys create --name b --user 1 --json").json["tier"] == "free"
    assert "revoked 20" in admin("grants list").out
    endless = admin("grants add --user 1 --tier pro --expires 999999w --json").json
    assert endless["expiresAt"] == "9999-12-31T23:59:59.999Z"


@pytest.mark.promise("operator.grants")
def test_grants_are_listed_with_the_names_of_the_keys_that_work(admin: Admin, used: Path) -> None:
    for name in ("second", "second", "revoked", "over"):
        admin("keys create --user 1 --name", name)
    with opened(used) as connection:
        connection.execute("UPDATE credentials SET expires_ms = 1 WHERE name = 'over'")
    admin("keys revoke", admin("keys list --json").json["keys"][1]["prefix"])
    admin("grants add --user 1 --tier pro")
    waiting = admin("grants add --tier access --json --wallet", WALLET.lower()).json
    assert list(waiting) == ["id", "userId", "wallet", "tier", "createdAt", "expiresAt", "revokedAt"]
    assert (waiting["userId"], waiting["wallet"], waiting["expiresAt"]) == (None, WALLET, None)
    assert [line.split() for line in admin("grants list").out.splitlines()] == [
        ["ID", "TIER", "STATE", "FOR"],
        ["2", "access", "no", "end", WALLET],
        ["1", "pro", "no", "end", "user", "1", "(second,", "first)"],
    ]
    wallet, user = admin("grants list --json").json["grants"]
    assert (wallet["names"], user["names"], user["userId"]) == ([], ["second", "first"], 1)


@pytest.mark.promise("operator.usage")
def test_users_are_listed_by_name_with_what_they_asked_and_paid_for(admin: Admin, used: Path) -> None:
    today = day_of(SystemClock().now_ms())
    dates = [iso((today - ago) * DAY_MS)[:10] for ago in range(4)]
    admin("keys create --user 1 --name", "Ü" * 70)
    with opened(used) as connection:
        connection.executemany(EVENT, [(1, today - ago, 1, 1) for ago in (0, 0, 29, 30)])
        connection.executemany(EVENT, [(1, today, 1, 2), (2, today - 3, 1, 1), (0, today, 1, 1), (0, today, 1, 2)])
        connection.executemany(EVENT, [(1, today - 1, 2, 1), (2, today - 1, 2, 1), (2, today, 2, 1)])
    assert admin("usage", terminal=True).out.splitlines() == [
        "USER       TODAY  30 DAYS  ALL  PAID  LAST DAY    NAME",
        f"anonymous  1      1        1    0     {dates[0]}  -",
        f"1          2      3        4    1     {dates[0]}  {'Ü' * 29}…",
        f"2          0      1        1    2     {dates[0]}  -",
    ]
    anonymous, first, second = admin("usage --json").json["users"]
    assert (anonymous["userId"], anonymous["names"]) == (None, [])
    assert (first["userId"], first["names"], first["total"]) == (1, ["Ü" * 70, "first"], 4)
    assert second == {
        "userId": 2, "names": [], "today": 0, "total": 1, "paid": 2,
        "days": {dates[3]: 1}, "paidDays": {dates[1]: 1, dates[0]: 1},
    }  # fmt: skip
    assert admin("usage --user 2 --json").json["users"] == [second]
