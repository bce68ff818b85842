"""The operator's account: whose key signs the transactions that settle payments, and pays for their gas."""

import asyncio

from service.ethereum.keystore import open_keystore
from service.ethereum.signatures import address_of, private_key
from service.ethereum.transactions import Call, Signed, sign_call
from service.settings import Settings, SettingsError


class OperatorAccount:
    """An account by its key. Nobody else may send from it: its transactions are counted here.

    Args:
        secret: 32 bytes: the private key.

    Attributes:
        address: In lower case.

    Raises:
        ValueError: If the bytes are no key.
    """

    def __init__(self, secret: bytes) -> None:
        self._key = private_key(secret)
        self.address = address_of(self._key.public_key).lower()

    def sign(self, call: Call) -> Signed:
        """Sign a call."""
        return sign_call(call, self._key)


async def open_account(settings: Settings) -> OperatorAccount:
    """Take the key from where the operator keeps it; off the loop, since a keystore takes a second or so.

    Raises:
        SettingsError: If there is no key there; the message names the variable.
    """
    return await asyncio.to_thread(_open_account, settings)


def _open_account(settings: Settings) -> OperatorAccount:
    if settings.operator_key is not None:
        try:
            return OperatorAccount(bytes.fromhex(settings.operator_key.text[2:]))
        except ValueError as error:
            raise SettingsError("VERDICT_OPERATOR_KEY is no private key of secp256k1") from error
    if settings.operator_keystore is None or settings.operator_password is None:
        raise SettingsError("VERDICT_OPERATOR_KEY or VERDICT_OPERATOR_KEYSTORE must name the operator's key")
    try:
        content = settings.operator_keystore.read_bytes()
        return OperatorAccount(open_keystore(content, settings.operator_password.text))
    except OSError as error:
        raise SettingsError(f"VERDICT_OPERATOR_KEYSTORE cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise SettingsError(f"VERDICT_OPERATOR_KEYSTORE cannot be used: {error}") from error
