import json
from pathlib import Path

import pytest
from eth_account import Account

from service.payments.facilitators.operator_account import open_operator_account
from service.settings import Secret, Settings, SettingsError

KEY = "0x" + "11" * 32
ADDRESS = Account.from_key(KEY).address.lower()


async def test_the_key_may_stand_in_the_environment() -> None:
    assert (await open_operator_account(Settings(operator_key=Secret(KEY)))).address == ADDRESS


async def test_the_key_may_lie_in_a_keystore_file(tmp_path: Path) -> None:
    file = tmp_path / "operator.json"
    file.write_text(json.dumps(Account.encrypt(KEY, "pass", kdf="pbkdf2", iterations=2)))
    account = await open_operator_account(Settings(operator_keystore=file, operator_password=Secret("pass")))
    assert account.address == ADDRESS
    with pytest.raises(SettingsError, match=r"KEYSTORE cannot be used\. The password does not open"):
        await open_operator_account(Settings(operator_keystore=file, operator_password=Secret("word")))
    with pytest.raises(SettingsError, match="KEYSTORE cannot be read: No such file"):
        await open_operator_account(Settings(operator_keystore=tmp_path / "none", operator_password=Secret("pass")))


async def test_a_key_that_cannot_be_had_is_named_and_not_shown() -> None:
    for settings in (Settings(), Settings(operator_keystore=Path("somewhere"))):
        with pytest.raises(SettingsError, match="must name the operator's key"):
            await open_operator_account(settings)
    with pytest.raises(SettingsError, match="VERDICT_OPERATOR_KEY is not a private key") as raised:
        await open_operator_account(Settings(operator_key=Secret("0x" + "ff" * 32)))
    assert "ffff" not in str(raised.value)
