from pathlib import Path

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from service.client.errors import RefusalError
from service.client.wallet import open_wallet
from tests.client.signin.keys import ADDRESS, KEY, PASSWORD, write_keystore

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def test_a_keystore_of_another_wallet_is_opened_with_its_password(tmp_path: Path) -> None:
    path = write_keystore(tmp_path / "key.json")
    assert open_wallet({"VERDICT_KEYSTORE_PASSWORD": PASSWORD}, path).address == ADDRESS


@pytest.mark.parametrize("written", [KEY, KEY[2:], KEY[2:].upper(), f" {KEY}\n"])
def test_a_key_of_the_environment_is_taken_as_wallets_write_it(written: str) -> None:
    assert open_wallet({"VERDICT_WALLET_KEY": written}, None).address == ADDRESS


def test_a_keystore_that_is_named_goes_before_the_environment(tmp_path: Path) -> None:
    path = write_keystore(tmp_path / "key.json")
    environment = {"VERDICT_WALLET_KEY": "0x" + "01" * 32, "VERDICT_KEYSTORE_PASSWORD": PASSWORD}
    assert open_wallet(environment, path).address == ADDRESS


def test_what_it_signs_is_recognised_by_others() -> None:
    wallet = open_wallet({"VERDICT_WALLET_KEY": KEY}, None)
    text = "Sign in, naïvely."
    assert Account.recover_message(encode_defunct(text=text), signature=wallet.sign_text(text)) == ADDRESS
    digest = bytes(range(32))
    assert Account._recover_hash(digest, signature=wallet.sign_digest(digest)) == ADDRESS


def test_no_key_is_shown_where_a_wallet_is_printed() -> None:
    assert repr(open_wallet({"VERDICT_WALLET_KEY": KEY}, None)) == f"Wallet({ADDRESS})"


@pytest.mark.parametrize("written", ["12", KEY + "0", "0x" + "zz" * 32])
def test_a_key_that_is_none_is_refused_and_not_told_again(written: str) -> None:
    with pytest.raises(RefusalError, match="64 hexadecimal digits") as refused:
        open_wallet({"VERDICT_WALLET_KEY": written}, None)
    assert written not in str(refused.value)


@pytest.mark.parametrize("number", [0, ORDER])
def test_a_number_that_is_no_private_key_is_refused(number: int) -> None:
    with pytest.raises(RefusalError, match="no private key"):
        open_wallet({"VERDICT_WALLET_KEY": f"{number:064x}"}, None)


def test_no_wallet_at_all_is_refused_with_what_to_do() -> None:
    with pytest.raises(RefusalError, match="--keystore FILE"):
        open_wallet({}, None)


def test_a_wrong_password_is_told_beside_the_file(tmp_path: Path) -> None:
    path = write_keystore(tmp_path / "key.json")
    with pytest.raises(RefusalError, match=r"key\.json: the password does not open the keystore"):
        open_wallet({"VERDICT_KEYSTORE_PASSWORD": "wrong"}, path)


def test_a_file_that_is_not_there_is_refused_before_a_password_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(RefusalError, match="cannot be read"):
        open_wallet({}, str(tmp_path / "missing.json"))


def test_a_home_is_understood_in_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write_keystore(tmp_path / "key.json")
    assert open_wallet({"VERDICT_KEYSTORE_PASSWORD": PASSWORD}, "~/key.json").address == ADDRESS


@pytest.mark.parametrize("written", [KEY, KEY[2:]])
def test_a_key_in_place_of_its_file_is_refused_and_not_told_again(written: str) -> None:
    with pytest.raises(RefusalError, match="takes the path of a file, not a key; whoever saw it") as refused:
        open_wallet({}, written)
    assert KEY[2:] not in str(refused.value)
