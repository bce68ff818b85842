"""The login that was begun and has not ended: `signin.json`, so that `--paste` can finish it."""

import json
import secrets
from collections.abc import Mapping
from typing import Final

from service.clients.cli.refusal import RefusalError
from service.clients.profile.folders import state_dir
from service.clients.profile.private import read_whole, write_whole

FILE: Final = "signin.json"
_STATE_BYTES: Final = 32


def begin(environment: Mapping[str, str], url: str) -> str:
    """Begin a login.

    Returns:
        Its text of 256 random bits, 43 characters that a URL takes as they are.

    Raises:
        RefusalError: If it cannot be kept.
    """
    state = secrets.token_urlsafe(_STATE_BYTES)
    path = state_dir(environment) / FILE
    try:
        write_whole(path, json.dumps({"url": url, "state": state}).encode())
    except OSError as error:
        raise RefusalError(f"{path} cannot be written ({error.strerror})") from None
    return state


def find(environment: Mapping[str, str], url: str) -> str | None:
    """The text of the login that was begun at an address; None if there is none."""
    try:
        document = json.loads(read_whole(state_dir(environment) / FILE) or b"{}")
    except (OSError, ValueError):
        return None  # whatever lies there, a new login takes its place
    begun = isinstance(document, dict) and document.get("url") == url
    return str(document["state"]) if begun and isinstance(document.get("state"), str) else None


def end(environment: Mapping[str, str]) -> None:
    """Forget the login that was begun."""
    (state_dir(environment) / FILE).unlink(missing_ok=True)
