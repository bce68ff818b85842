"""Wallets that are watched, by file and by command."""

from pathlib import Path

import pytest

from tests.admin.conftest import Admin

WALLET = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
LISTED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
"""Of EIP-55's own examples."""

pytestmark = pytest.mark.usefixtures("used")


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "wallets.toml"
    path.write_text(f'[[wallet]]\naddress = "{LISTED}"\nlabel = "Tern Foundation"\nkind = "foundation"\n')
    return str(path)


def test_a_wallet_is_added_in_any_case_renamed_removed_and_added_without_a_label(admin: Admin) -> None:
    added = admin("wallets add", WALLET.lower(), "--label", "Somebody known", "--kind", "person")
    assert (added.code, added.out) == (0, f"{WALLET} is watched. A running service begins within a minute.\n")
    row = {"address": WALLET, "label": "Somebody known", "kind": "person"}
    assert admin("wallets list --json").json == {"wallets": [row]}
    labelled = admin("wallets label", WALLET, "new and better")
    assert labelled.out == f"{WALLET} is called new and better now.\n"
    assert [line.split(maxsplit=2) for line in admin("wallets list").out.splitlines()] == [
        ["ADDRESS", "KIND", "LABEL"],
        [WALLET, "person", "new and better"],
    ]
    assert admin("wallets remove", WALLET.lower()).out == f"{WALLET} is no longer watched.\n"
    assert admin("wallets list").out.startswith("No wallet is watched.\n")
    assert admin("wallets add", WALLET).code == 0
    assert admin("wallets list --json").json["wallets"] == [{"address": WALLET, "label": None, "kind": None}]
    assert admin("wallets list").out.splitlines()[1].split() == [WALLET, "-", "-"]


def test_wallets_of_the_file_are_listed_beside_those_that_were_added_and_a_command_wins(
    admin: Admin, file: str
) -> None:
    def listed() -> list[tuple[str, str | None]]:
        found = admin("wallets list --json", wallets_file=file).json["wallets"]
        return [(wallet["address"], wallet["label"]) for wallet in found]

    admin("wallets add", WALLET, wallets_file=file)
    assert listed() == [(LISTED, "Tern Foundation"), (WALLET, None)]
    admin("wallets label", LISTED, "Tern", wallets_file=file)
    assert listed()[0] == (LISTED, "Tern")
    admin("wallets remove", LISTED, wallets_file=file)
    assert listed() == [(WALLET, None)]


def test_with_fixtures_the_recorded_wallets_are_listed(admin: Admin) -> None:
    listed = admin("wallets list --json", source="fixtures").json["wallets"]
    assert len(listed) == 10
    assert {wallet["kind"] for wallet in listed} > {"exchange", "fund", "bridge", "whale"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["add", "0x1"], "'ADDRESS': An address is 0x and 40 hexadecimal digits."),
        (["add", WALLET.replace("d8dA", "D8dA")], "EIP-55 checksum of the address. Is a character wrong? "),
        (["add", WALLET, "--label", ""], "'--label': takes 1 to 80 printable characters."),
        (["add", WALLET, "--kind", "a\u202eb"], "'--kind': takes 1 to 80 printable characters."),
        (["add", WALLET, "--kind", "\udcff"], "'--kind': The text is not UTF-8."),
        (["add", LISTED], f"verdict: {LISTED} is watched already."),
        (["remove", WALLET], f"verdict: {WALLET} is not watched."),
        (["label", WALLET, "x"], f"verdict: {WALLET} is not watched."),
        (["label", WALLET, "x" * 81], "'LABEL': takes 1 to 80 printable characters"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(admin: Admin, file: str, words: list[str], said: str) -> None:
    refused = admin("wallets", *words, wallets_file=file)
    assert (refused.code, refused.out, refused.err.count("\n")) == (1, "", 1)
    assert said in refused.err


def test_a_file_that_cannot_be_used_is_a_setting_to_correct(admin: Admin, tmp_path: Path) -> None:
    missing = str(tmp_path / "none.toml")
    refused = admin("wallets list", wallets_file=missing)
    said = f"verdict: VERDICT_WALLETS_FILE: {missing} cannot be read (No such file or directory).\n"
    assert (refused.code, refused.err) == (1, said)
