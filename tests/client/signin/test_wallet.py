"""Wallets and secrets: read from files, variables, prompts and pipes, and never shown."""

import io
import sys
from pathlib import Path
from unittest.mock import Mock, call

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from service.client import Wallet
from service.client.errors import RefusalError
from service.client.wallet import open_wallet, read_secret
from tests.client.signin.keys import ADDRESS, KEY, PASSWORD, write_keystore

ORDER = "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141"


@pytest.mark.parametrize("written", [KEY, KEY[2:], KEY[2:].upper(), f" {KEY}\n"])
def test_a_key_of_the_environment_signs_as_other_libraries_expect(written: str) -> None:
    wallet, text, digest = open_wallet({"VERDICT_WALLET_KEY": written}, None), "Sign in, naïvely.", bytes(range(32))
    assert repr(wallet) == f"Wallet({ADDRESS})"
    assert Account.recover_message(encode_defunct(text=text), signature=wallet.sign_text(text)) == ADDRESS
    assert Account._recover_hash(digest, signature=wallet.sign_digest(digest)) == ADDRESS


def test_a_keystore_of_another_wallet_comes_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = write_keystore(tmp_path / "key.json")
    environment = {"VERDICT_WALLET_KEY": "0x" + "01" * 32, "VERDICT_KEYSTORE_PASSWORD": PASSWORD}
    for name in (path, "~/key.json"):
        assert open_wallet(environment, name).address == Wallet.from_keystore(name, PASSWORD).address == ADDRESS
    with pytest.raises(RefusalError, match=r"key\.json: The password does not open the keystore"):
        open_wallet({"VERDICT_KEYSTORE_PASSWORD": "wrong"}, path)
    with pytest.raises(ValueError, match="password"):
        Wallet.from_keystore(path, "wrong")
    with pytest.raises(RefusalError, match="Cannot read"):  # before a password is asked for
        open_wallet({}, str(tmp_path / "missing.json"))
    with pytest.raises(RefusalError, match="--keystore FILE"):
        open_wallet({}, None)


@pytest.mark.parametrize("written", ["12", KEY + "0", "0x" + "zz" * 32, "0" * 64, ORDER, "11" * 32 + "\n1"])
def test_what_is_no_key_is_refused_and_not_repeated(written: str) -> None:
    with pytest.raises(RefusalError, match=r"not a private key\. Write it as 64 hexadecimal digits") as refused:
        open_wallet({"VERDICT_WALLET_KEY": written}, None)
    with pytest.raises(ValueError, match="not a private key") as raised:
        Wallet.from_key(written)
    assert written not in f"{refused.value} {raised.value}"


@pytest.mark.parametrize("written", [KEY, KEY[2:]])
def test_a_key_in_place_of_its_file_is_refused_and_not_repeated(written: str) -> None:
    with pytest.raises(RefusalError, match=r"not a private key\. Anyone who saw the command line") as refused:
        open_wallet({}, written)
    assert KEY[2:] not in str(refused.value)


def test_a_secret_is_read_from_its_variable_else_from_a_prompt_without_echo(
    terminal: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Mock(side_effect=["typed", EOFError])
    monkeypatch.setattr("service.client.wallet.getpass", ask)
    assert read_secret("Password", {"PASSWORD": "told"}, "PASSWORD") == "told"
    assert read_secret("Password", {"PASSWORD": ""}, "PASSWORD") == "typed"
    with pytest.raises(RefusalError, match="Nothing was entered"):
        read_secret("Password", {})
    assert ask.call_args_list == [call("Password: ", sys.stderr)] * 2


def test_a_program_pipes_a_secret_in_as_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(" with blanks \r\nmore\n"))
    assert read_secret("Password", {}) == " with blanks "
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(RefusalError, match="pipe it in as one line, or set PASSWORD"):
        read_secret("Password", {}, "PASSWORD")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"pass\xffword\n"), encoding="utf-8"))
    with pytest.raises(RefusalError, match=r"^Password: The piped input is not text.$"):
        read_secret("Password", {})
