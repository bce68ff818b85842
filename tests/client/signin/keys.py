"""Wallets that are not ours: made, sealed and read by eth_account."""

import json
from pathlib import Path

from eth_account import Account

KEY = "0x" + "4c" * 32
ADDRESS = str(Account.from_key(KEY).address)
PASSWORD = "open sesame"


def write_keystore(path: Path, key: str = KEY) -> str:
    """A keystore file as other wallets write it, with few rounds: its path."""
    path.write_text(json.dumps(Account.encrypt(key, PASSWORD, kdf="pbkdf2", iterations=2)))
    return str(path)
