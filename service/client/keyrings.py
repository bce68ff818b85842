"""The platform's keyring, where there is one that works.

`keyring` is an optional dependency, and being able to import it says little: without a desktop it has only a backend
that refuses everything, and one that is switched off keeps nothing without a word. So a token counts as kept only when
it can be read again. Those with a priority below 1 (plain files of keyrings.alt) are no better than our own file.
"""

from contextlib import suppress
from typing import Any, Final

SERVICE: Final = "verdict"
_RECOMMENDED: Final = 1
"""`keyring.core.recommended`."""


def put(name: str, token: str) -> bool:
    """Keep a token; whether it is kept."""
    keyring = _working()
    if keyring is None:
        return False
    try:
        keyring.set_password(SERVICE, name, token)
        return bool(keyring.get_password(SERVICE, name) == token)
    except Exception:  # noqa: BLE001 - backends let out whatever their bus or system raises; the file is there for all
        return False


def get(name: str) -> str | None:
    """A token that is kept; None where there is none, or the keyring does not give it."""
    keyring = _working()
    try:
        return None if keyring is None else keyring.get_password(SERVICE, name)
    except Exception:  # noqa: BLE001 - as above; who asks is told to sign in
        return None


def delete(name: str) -> None:
    """Keep a token no more."""
    keyring = _working()
    if keyring is not None:
        with suppress(Exception):  # as above; a token that is not there is as good as deleted
            keyring.delete_password(SERVICE, name)


def _working() -> Any:
    try:
        import keyring  # noqa: PLC0415 - takes longer than a whole command

        backend = keyring.get_keyring()
    except Exception:  # noqa: BLE001 - none installed, or one configured that cannot be loaded
        return None
    return backend if backend.priority >= _RECOMMENDED else None
