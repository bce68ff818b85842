"""Stored credentials: `credentials.json`, and the platform's keyring if one works.

A credential belongs to the service URL it came from and is never sent to another. The file always says where the token
is, because asking a keyring takes longer than a whole command.

`keyring` is an optional dependency, and may be installed without working: without a desktop its only backend refuses
everything, and a disabled backend stores nothing without an error. So a token counts as stored only when it can be read
back. Backends with a priority below 1 (plain files of keyrings.alt) are no better than our own file.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Literal, NamedTuple

from service.client.address import read_address
from service.client.errors import RefusalError
from service.client.files import locked, read_document, state_dir, write_document, writing

FILE: Final = "credentials.json"
Kind = Literal["session", "api_key"]
Entries = dict[str, dict[str, Any]]

_SERVICE: Final = "verdict"
_RECOMMENDED: Final = 1
"""`keyring.core.recommended`."""


class StoredCredential(NamedTuple):
    """The bearer token of a caller, which is secret, and the wallet that signed in (None for an API key).

    `expires_at` is ISO 8601 UTC; None if there is no expiry or it is not known. `origin` is the program that stored it
    and may replace it: `make run`.
    """

    token: str
    kind: Kind
    wallet: str | None
    expires_at: str | None
    origin: str | None = None

    def __repr__(self) -> str:
        """Without the token: this may end up in a log."""
        return f"StoredCredential({self.kind}, {self.wallet}, until {self.expires_at})"


def keep(environment: Mapping[str, str], url: str, credential: StoredCredential, *, keyring: bool = True) -> str:
    """Store a credential for a service URL, in place of the one before, and return where: `the keyring`, or a path.

    With `keyring` the token goes to the platform's keyring, which may ask for a password, if one works. Raises
    `RefusalError` if it cannot be stored.
    """
    name = _name(url)
    in_keyring = keyring and _keyring(lambda backend: _put(backend, name, credential.token)) is True
    entry = {"kind": credential.kind, "wallet": credential.wallet, "expires_at": credential.expires_at}
    entry |= {"in": "keyring"} if in_keyring else {"token": credential.token}
    entry |= {} if credential.origin is None else {"origin": credential.origin}
    with _changing(environment) as entries:
        entries[name] = entry
    return "the keyring" if in_keyring else str(state_dir(environment) / FILE)


def find(environment: Mapping[str, str], url: str) -> StoredCredential | None:
    """The stored credential of a service URL. Raises `RefusalError` if the file cannot be read."""
    name = _name(url)
    entry = _read(environment).get(name)
    if entry is None:
        return None
    in_keyring = entry.get("in") == "keyring"
    token = _keyring(lambda backend: backend.get_password(_SERVICE, name)) if in_keyring else entry["token"]
    if token is None:
        return None
    return StoredCredential(token, entry["kind"], entry["wallet"], entry["expires_at"], entry.get("origin"))


def forget(environment: Mapping[str, str], url: str) -> None:
    """Delete the credential of a service URL, if any. Raises `RefusalError` if the file cannot be changed."""
    name = _name(url)
    entry = _read(environment).get(name)
    if entry is None:
        return
    if entry.get("in") == "keyring":
        _keyring(lambda backend: backend.delete_password(_SERVICE, name))
    with _changing(environment) as entries:
        entries.pop(name, None)


def _name(url: str) -> str:
    try:
        return str(read_address(url))
    except ValueError as error:
        raise RefusalError(str(error)) from None


@contextmanager
def _changing(environment: Mapping[str, str]) -> Iterator[Entries]:
    file = state_dir(environment) / FILE
    with writing(file), locked(file.with_suffix(".lock")):
        entries = _read(environment)
        yield entries
        write_document(file, entries)


def _read(environment: Mapping[str, str]) -> Entries:
    # The error is left out: it may contain a part of a token.
    advice = "Delete it, and sign in again with `verdict login`."
    return read_document(state_dir(environment) / FILE, _understood, lambda _: advice) or {}


def _understood(document: Any) -> Entries:
    if not isinstance(document, dict) or not all(map(_is_entry, document.values())):
        raise ValueError
    return document


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict) or entry.get("kind") not in ("session", "api_key"):
        return False
    known = all(name in entry and isinstance(entry[name], str | None) for name in ("wallet", "expires_at"))
    return known and (entry.get("in") == "keyring" or isinstance(entry.get("token"), str))


def _put(backend: Any, name: str, token: str) -> bool:
    backend.set_password(_SERVICE, name, token)
    return bool(backend.get_password(_SERVICE, name) == token)


def _keyring(work: Callable[[Any], Any]) -> Any:
    """Use the keyring; None if none works. Backends raise whatever their bus or system raises."""
    try:
        import keyring  # noqa: PLC0415 - takes longer than a whole command

        backend = keyring.get_keyring()
        return work(backend) if backend.priority >= _RECOMMENDED else None
    except Exception:  # noqa: BLE001 - not installed, not loadable or locked: the file or a new sign-in replaces it
        return None
