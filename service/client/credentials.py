"""Stored credentials: `credentials.json`, and the platform's keyring if one works.

A credential belongs to the service URL it came from and is never sent to another. The file always says where the token
is, because asking a keyring takes longer than a whole command.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

from service.client import keyrings
from service.client.address import read_address
from service.client.errors import RefusalError
from service.client.files import locked, read_whole, state_dir, write_whole

FILE: Final = "credentials.json"
Kind = Literal["session", "api_key"]
Entries = dict[str, dict[str, Any]]


class StoredCredential(NamedTuple):
    """What a service knows a caller by.

    Attributes:
        token: Secret: what is sent as the bearer.
        kind: A session of a wallet, or an API key.
        wallet: The address that signed in; None for a key.
        expires_at: ISO 8601 UTC; None where it has no end, or none that is known.
        origin: What stored it, if that may replace it: `make run`.
    """

    token: str
    kind: Kind
    wallet: str | None
    expires_at: str | None
    origin: str | None = None

    def __repr__(self) -> str:
        """Without the token: this may end up in a log."""
        return f"Credential({self.kind}, {self.wallet}, until {self.expires_at})"


def keep(environment: Mapping[str, str], url: str, credential: StoredCredential, *, keyring: bool = True) -> str:
    """Keep a credential for an address, in place of the one before.

    Args:
        environment: Environment variables.
        url: The address.
        credential: The credential.
        keyring: Whether the token goes to the platform's keyring, which may ask for a password, if one works.

    Returns:
        Where it is kept, in words: `the keyring`, or a path.

    Raises:
        RefusalError: If it can be kept nowhere.
    """
    name = _name(url)
    in_keyring = keyring and keyrings.put(name, credential.token)
    entry = {"kind": credential.kind, "wallet": credential.wallet, "expires_at": credential.expires_at}
    entry |= {"in": "keyring"} if in_keyring else {"token": credential.token}
    entry |= {} if credential.origin is None else {"origin": credential.origin}
    _change(environment, lambda entries: entries.__setitem__(name, entry))
    return "the keyring" if in_keyring else str(state_dir(environment) / FILE)


def find(environment: Mapping[str, str], url: str) -> StoredCredential | None:
    """The credential that is kept for an address.

    Raises:
        RefusalError: If what is kept cannot be read.
    """
    name = _name(url)
    entry = _read(environment).get(name)
    if entry is None:
        return None
    token = keyrings.get(name) if entry.get("in") == "keyring" else entry["token"]
    if token is None:
        return None
    return StoredCredential(token, entry["kind"], entry["wallet"], entry["expires_at"], entry.get("origin"))


def forget(environment: Mapping[str, str], url: str) -> None:
    """Keep no credential for an address any more; that there is none already is well.

    Raises:
        RefusalError: If what is kept cannot be changed.
    """
    name = _name(url)
    entry = _read(environment).get(name)
    if entry is None:
        return
    if entry.get("in") == "keyring":
        keyrings.delete(name)
    _change(environment, lambda entries: entries.pop(name, None))


def _name(url: str) -> str:
    try:
        return str(read_address(url))
    except ValueError as error:
        raise RefusalError(str(error)) from None


def _change(environment: Mapping[str, str], change: Callable[[Entries], object]) -> None:
    file = state_dir(environment) / FILE
    try:
        with locked(file.with_suffix(".lock")):
            entries = _read(environment)
            change(entries)
            write_whole(file, (json.dumps(entries, indent=2) + "\n").encode())
    except OSError as error:
        raise RefusalError(f"{file} cannot be written ({error.strerror})") from None


def _read(environment: Mapping[str, str]) -> Entries:
    file = state_dir(environment) / FILE
    try:
        content = read_whole(file)
        return {} if content is None else _understood(json.loads(content))
    except OSError as error:
        raise RefusalError(f"{file} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        # What is wrong is not said: whatever stands there may be half a token.
        raise RefusalError(f"{file} cannot be understood; delete it, and sign in again with `verdict login`") from None


def _understood(document: object) -> Entries:
    if not isinstance(document, dict) or not all(map(_is_entry, document.values())):
        raise ValueError
    return document


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict) or entry.get("kind") not in {"session", "api_key"}:
        return False
    known = all(name in entry and isinstance(entry[name], str | None) for name in ("wallet", "expires_at"))
    return known and (entry.get("in") == "keyring" or isinstance(entry.get("token"), str))
