"""`verdict keys … --mine`: your own API keys, at the service where you are signed in."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, Final

from service.clients.cli.account.duration import seconds_in
from service.clients.cli.figures import day
from service.clients.cli.output import put_json
from service.clients.cli.refusal import DONE, UNKNOWN_CALLER, RefusalError
from service.clients.cli.screen import safe
from service.clients.cli.shape import form
from service.clients.cli.tables import table
from service.clients.cli.terminal import screen
from service.clients.profile.caller import open_client
from service.clients.sdk.answer import reading
from service.clock import LATEST_MS, SECOND_MS, SystemClock, iso

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from service.clients.sdk.client import Client

PATH: Final = "/api/keys"

_KEY: Final = re.compile(r"([a-z0-9]{1,20}_sk_[0-9A-Za-z]{8})[0-9A-Za-z]*\Z", re.ASCII)
_OPERATORS: Final = ("tier", "wallet", "user")
_HEADERS: Final = ("PREFIX", "STATE", "LAST USED", "NAME")


def create(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Make a key and print it, this once."""
    _refuse_operators_options(arguments)
    body = {"name": arguments.name}
    if arguments.expires is not None:
        body["expiresAt"] = _end_of(arguments.expires)
    return _tell(arguments, _signed_in(arguments, environment), PATH, body, "")


def rotate(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Replace a key and print the new one, this once."""
    grace_s = _seconds("--grace", arguments.grace)
    prefix = _prefix(arguments.prefix)
    body = {"prefix": prefix, "grace_seconds": grace_s}
    old = f" {prefix} works for {arguments.grace} more." if grace_s else " The old one has ended."
    return _tell(arguments, _signed_in(arguments, environment), f"{PATH}/rotate", body, old)


def show(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """List keys, newest first."""
    _refuse_operators_options(arguments)
    answer = _signed_in(arguments, environment).ask("GET", PATH)
    with reading():
        rows = [[key["prefix"], _state(key), day(key["last_used_at"]), key["name"]] for key in answer.document["keys"]]
    if form(arguments) == "json":
        put_json(answer)
    elif rows:
        sys.stdout.writelines(f"{line}\n" for line in table(screen(environment, sys.stdout), _HEADERS, rows))
    else:
        sys.stdout.write("You have no keys there yet.\n")
    return DONE


def revoke(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """End a key at once."""
    prefix = _prefix(arguments.prefix)
    _signed_in(arguments, environment).ask("DELETE", PATH, {"prefix": prefix})
    sys.stdout.write(f"{prefix} is revoked.\n")
    return DONE


def _tell(arguments: Namespace, client: Client, path: str, body: Mapping[str, object], more: str) -> int:
    answer = client.ask("POST", path, body=body)
    made = answer.document
    if arguments.json:
        put_json(answer)
        return DONE
    with reading():
        key, end = safe(made["key"]), f"until {safe(made['expiresAt'])}" if made["expiresAt"] else "without an end"
    sys.stdout.write(f"{key}\n")
    sys.stderr.write(f"This key is shown once: keep it now. It is yours, {end}, at {client.url}.{more}\n")
    return DONE


def _signed_in(arguments: Namespace, environment: Mapping[str, str]) -> Client:
    token = environment.get("VERDICT_TOKEN", "")
    if token and "." not in token:  # a session is a JWT, in three parts; the service would only say to sign in
        raise RefusalError(
            "VERDICT_TOKEN is an API key, and keys are kept with a session; unset it, and `verdict login`",
            UNKNOWN_CALLER,
        )
    return open_client(arguments, environment)


def _refuse_operators_options(arguments: Namespace) -> None:
    for name in _OPERATORS:
        if getattr(arguments, name, None) is not None:
            raise RefusalError(f"--{name} is for the operator of a service; with --mine all is yours")


def _prefix(typed: str) -> str:
    # Who has lost a key may paste the whole of it; the rest is a secret, and goes nowhere.
    found = _KEY.match(typed)
    if not found:
        raise RefusalError("PREFIX is the beginning of a key, such as verdict_sk_AbCd1234; see `keys list --mine`")
    return found[1]


def _end_of(text: str) -> str:
    return iso(min(SystemClock().now_ms() + _seconds("--expires", text) * SECOND_MS, LATEST_MS))


def _seconds(option: str, text: str) -> int:
    try:
        return seconds_in(text)
    except ValueError as error:
        raise RefusalError(f"{option}: {error}") from None


def _state(key: Mapping[str, Any]) -> str:
    if key["revoked_at"]:
        return f"revoked {day(key['revoked_at'])}"
    return f"until {day(key['expires_at'])}" if key["expires_at"] else "no end"
