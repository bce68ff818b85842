"""`verdict wallets`: who is watched, by file and by command."""

from pathlib import Path

import pytest

from tests.admin.conftest import Verdict

WALLET = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
LISTED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
"""Of EIP-55's own examples."""


@pytest.fixture(autouse=True)
def _somebody(verdict: Verdict) -> None:
    verdict("admin", "keys", "create", "--name", "first")


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "wallets.toml"
    path.write_text(f'[[wallet]]\naddress = "{LISTED}"\nlabel = "Tern Foundation"\nkind = "foundation"\n')
    return str(path)


def test_a_wallet_is_added_in_any_case_and_listed_with_its_checksum(verdict: Verdict) -> None:
    added = verdict("admin", "wallets", "add", WALLET.lower(), "--label", "Somebody known", "--kind", "person")
    assert (added.code, added.out) == (0, f"{WALLET} is watched; a running service begins within a minute.\n")
    listed = verdict("admin", "wallets", "list").out.splitlines()
    assert listed[0].split() == ["ADDRESS", "KIND", "LABEL"]
    assert listed[1].split(maxsplit=2) == [WALLET, "person", "Somebody known"]
    assert verdict("admin", "wallets", "list", "--json").json == {
        "wallets": [{"address": WALLET, "label": "Somebody known", "kind": "person"}]
    }


def test_a_removed_wallet_is_gone_and_may_come_again(verdict: Verdict) -> None:
    verdict("admin", "wallets", "add", WALLET, "--label", "old")
    removed = verdict("admin", "wallets", "remove", WALLET.lower())
    assert (removed.code, removed.out) == (0, f"{WALLET} is no longer watched.\n")
    assert verdict("admin", "wallets", "list").out == "No wallet is watched.\n"
    assert verdict("admin", "wallets", "add", WALLET).code == 0
    assert "old" not in verdict("admin", "wallets", "list").out


def test_a_label_is_changed_and_the_kind_stays(verdict: Verdict) -> None:
    verdict("admin", "wallets", "add", WALLET, "--label", "old", "--kind", "fund")
    labelled = verdict("admin", "wallets", "label", WALLET, "new and better")
    assert (labelled.code, labelled.out) == (0, f"{WALLET} is called new and better from now on.\n")
    assert verdict("admin", "wallets", "list").out.splitlines()[1].split(maxsplit=2) == [
        WALLET,
        "fund",
        "new and better",
    ]


def test_the_files_wallets_are_listed_beside_those_that_were_added_and_a_command_wins(
    verdict: Verdict, file: str
) -> None:
    verdict("admin", "wallets", "add", WALLET, wallets_file=file)
    both = verdict("admin", "wallets", "list", "--json", wallets_file=file).json["wallets"]
    assert [wallet["address"] for wallet in both] == [LISTED, WALLET]
    verdict("admin", "wallets", "label", LISTED, "Tern", wallets_file=file)
    assert verdict("admin", "wallets", "list", "--json", wallets_file=file).json["wallets"][0] == {
        "address": LISTED, "label": "Tern", "kind": "foundation"
    }  # fmt: skip
    verdict("admin", "wallets", "remove", LISTED, wallets_file=file)
    left = verdict("admin", "wallets", "list", "--json", wallets_file=file).json["wallets"]
    assert [wallet["address"] for wallet in left] == [WALLET]


def test_with_fixtures_the_recordings_wallets_are_listed(verdict: Verdict) -> None:
    listed = verdict("admin", "wallets", "list", "--json", source="fixtures").json["wallets"]
    assert len(listed) == 10
    assert {wallet["kind"] for wallet in listed} > {"exchange", "fund", "bridge", "whale"}
    assert verdict("admin", "wallets", "list", "--json").json["wallets"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        (["add", "0x1"], 1, "an address is 0x and 40 hexadecimal digits"),
        (["add", WALLET.replace("d8dA", "D8dA")], 1, "the address's capital letters do not match"),
        (["add", WALLET, "--label", ""], 1, "'--label': takes 1 to 80 printable characters"),
        (["add", WALLET, "--kind", "a\u202eb"], 1, "'--kind': takes 1 to 80 printable characters"),
        (["add", LISTED], 1, f"verdict: {LISTED} is watched already"),
        (["remove", WALLET], 1, f"verdict: {WALLET} is not watched"),
        (["remove", "me"], 1, "an address is 0x"),
        (["label", WALLET, "x"], 1, f"verdict: {WALLET} is not watched"),
        (["label", WALLET, "x" * 81], 1, "'LABEL': takes 1 to 80 printable characters"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(
    verdict: Verdict, file: str, typed: list[str], code: int, said: str
) -> None:
    refused = verdict("admin", "wallets", *typed, wallets_file=file)
    assert (refused.code, refused.out) == (code, "")
    assert said in refused.err
    assert refused.err.count("\n") == 1


def test_a_file_that_cannot_be_used_is_a_setting_to_mend(verdict: Verdict, tmp_path: Path) -> None:
    missing = str(tmp_path / "none.toml")
    refused = verdict("admin", "wallets", "list", wallets_file=missing)
    assert refused.code == 1
    assert refused.err == f"verdict: VERDICT_WALLETS_FILE: {missing} cannot be read (No such file or directory)\n"
