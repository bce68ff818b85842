import pytest

from tests.admin.conftest import Verdict

WALLET = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"


@pytest.fixture(autouse=True)
def _somebody(verdict: Verdict) -> None:
    verdict("admin", "keys", "create", "--name", "first")


@pytest.mark.promise("operator.grants")
def test_a_grant_is_given_to_a_user_for_a_time_and_listed(verdict: Verdict) -> None:
    given = verdict("admin", "grants", "add", "--user", "1", "--tier", "pro", "--expires", "30d")
    assert given.out.startswith("Grant 1: pro for user 1, until 20")
    listed = verdict("admin", "grants", "list").out.splitlines()
    assert listed[0].split() == ["ID", "TIER", "STATE", "FOR"]
    assert listed[1].split()[:3] == ["1", "pro", "until"]


def test_a_grant_never_ends_after_the_last_instant_that_can_be_written(verdict: Verdict) -> None:
    given = verdict("admin", "grants", "add", "--user", "1", "--tier", "pro", "--expires", "999999w", "--json").json
    assert given["expiresAt"] == "9999-12-31T23:59:59.999Z"


def test_a_grant_to_a_wallet_waits_for_whoever_proves_it(verdict: Verdict) -> None:
    given = verdict("admin", "grants", "add", "--wallet", WALLET.lower(), "--tier", "access", "--json").json
    assert list(given) == ["id", "userId", "wallet", "tier", "createdAt", "expiresAt", "revokedAt"]
    assert (given["userId"], given["wallet"], given["expiresAt"]) == (None, WALLET, None)
    assert "no end" in verdict("admin", "grants", "list").out


@pytest.mark.promise("operator.grants", "tiers.source")
def test_a_grant_applies_to_the_users_next_key_until_it_is_taken_back(verdict: Verdict) -> None:
    verdict("admin", "grants", "add", "--user", "1", "--tier", "access")
    assert verdict("admin", "keys", "create", "--name", "a", "--user", "1", "--json").json["tier"] == "access"
    assert verdict("admin", "grants", "revoke", "1").code == 0
    assert verdict("admin", "keys", "create", "--name", "b", "--user", "1", "--json").json["tier"] == "free"
    assert "revoked 20" in verdict("admin", "grants", "list").out
    assert verdict("admin", "grants", "list", "--json").json["grants"][0]["revokedAt"]


def test_without_grants_the_list_says_so(verdict: Verdict) -> None:
    assert verdict("admin", "grants", "list").out == "There are no grants yet.\n"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["add", "--user", "9", "--tier", "pro"], "verdict: There is no user 9"),
        (["add", "--wallet", "0x1", "--tier", "pro"], "verdict: 0x1 is not a wallet"),
        (["revoke", "9"], "verdict: There is no grant 9"),
        (["add", "--tier", "pro"], "verdict admin grants add: Missing one of the options '--user', '--wallet'."),
        (
            ["add", "--user", "1", "--tier", "free"],
            "verdict admin grants add: Invalid value for '--tier': 'free' is",
        ),
    ],
)
def test_what_cannot_be_granted_is_refused_in_one_line(verdict: Verdict, typed: list[str], said: str) -> None:
    refused = verdict("admin", "grants", *typed)
    assert refused.code == 1
    assert refused.err.startswith(said)
    assert refused.err.count("\n") == 1
