"""`verdict whoami` and `verdict keys … --mine`: the caller's identity, plan and own API keys."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from service.cli import output_format
from service.cli.command import Arguments
from service.cli.formatting import day, elapsed_s, moment, span
from service.cli.layout import facts, table
from service.cli.output_format import format_of, put_json, put_lines, stdout_screen
from service.cli.terminal import Cell, Display, Part, safe, tell
from service.client.answer import RawAnswer, read_quota, reading
from service.client.connection import ApiConnection
from service.client.errors import DONE, UNKNOWN_CALLER, RefusalError
from service.client.profile import credentials
from service.client.profile.connection import open_client
from service.client.profile.credentials import StoredCredential
from service.clock import LATEST_MS, SECOND_MS, SystemClock, iso

_UNITS_S: Final = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION: Final = re.compile(r"([0-9]{1,6})([mhdw])\Z")


def seconds_in(text: str) -> int:
    """Read `90m`, `12h`, `30d` or `52w`.

    Raises:
        ValueError: If it is no such duration.
    """
    found = _DURATION.match(text)
    if not found:
        raise ValueError(f"a duration is a number and a unit, such as 90m, 12h, 30d or 52w, not {text!r}")
    return int(found[1]) * _UNITS_S[found[2]]


TIER_PATH: Final = "/api/cli/billing/tier"

_SOURCES: Final = {"default": "", "grant": "given by the operator", "wallet": "given to your wallet"}
_KINDS: Final = {"api_key": "an API key", "session": "a session"}


def whoami(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """Ask the service, which counts nothing for it."""
    client = open_client(arguments, environment)
    answer = client.ask("GET", TIER_PATH)

    def lines(*_: object) -> list[str]:
        kept = None if environment.get("VERDICT_TOKEN") else credentials.find(environment, client.url)
        with reading():
            return list(whoami_lines(answer, stdout_screen(environment), client.url, kept))

    return output_format.write_answer(arguments, environment, answer, lines)


def whoami_lines(answer: RawAnswer, on: Display, url: str, kept: StoredCredential | None) -> Iterator[str]:
    """What a person reads.

    Args:
        answer: Of the tier route.
        on: Where it is read.
        url: Where was asked.
        kept: The credential that was used; None where it is of the environment.
    """
    data, now = answer.data, answer.meta["ts"]
    identity = data["identity"]
    yield from facts(
        on,
        [
            ("Tier", [Cell(data["tier"], "strong"), *_plan(data, now)]),
            ("Questions", _left(answer)),
            ("Who", [f"user {identity['userId']}"]),
            ("Wallet", [identity["walletAddress"]] if identity["walletAddress"] else []),
            ("Known by", [_KINDS.get(identity["kind"], identity["kind"]), *_credential(kept, now)]),
            ("Service", [url]),
        ],
    )


def _plan(data: Mapping[str, Any], now: str) -> Iterator[Part]:
    source = _SOURCES.get(data["source"], data["source"])
    if source:
        yield f", {source},"
    if source or data["expiresAt"]:
        yield _end(data["expiresAt"], now)


def _left(answer: RawAnswer) -> list[Part]:
    quota = read_quota(answer.headers)
    if quota is None:
        return []
    of = "" if quota.limit is None else f" of {quota.limit}{' a day' if quota.daily else ' to start with'}"
    again = "" if quota.reset_s is None else f", one is free again in {span(quota.reset_s)}"
    return [Cell(f"{quota.left}{of}", None if quota.left else "warn"), f"left{again}"]


def _credential(kept: StoredCredential | None, now: str) -> Iterator[Part]:
    yield "stored here," if kept else "in VERDICT_TOKEN"
    if kept:
        yield _end(kept.expires_at, now)


def _end(at: str | None, now: str) -> str:
    if at is None:
        return "no expiry"
    left = elapsed_s(now, at)
    return f"until {moment(at)}" + (f", {span(left)} left" if left is not None and left > 0 else "")


KEYS_PATH: Final = "/api/keys"

_KEY: Final = re.compile(r"([a-z0-9]{1,20}_sk_[0-9A-Za-z]{8})[0-9A-Za-z]*\Z", re.ASCII)
_OPERATORS: Final = ("tier", "wallet", "user")
_HEADERS: Final = ("PREFIX", "STATE", "LAST USED", "NAME")


def create_key(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """Make a key and print it, this once."""
    _refuse_operators_options(arguments)
    body = {"name": arguments.name}
    if arguments.expires is not None:
        body["expiresAt"] = _end_of(arguments.expires)
    return _tell(arguments, _signed_in(arguments, environment), KEYS_PATH, body, "")


def rotate_key(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """Replace a key and print the new one, this once."""
    grace_s = _seconds("--grace", arguments.grace)
    prefix = _prefix(arguments.prefix)
    body = {"prefix": prefix, "grace_seconds": grace_s}
    old = f" {prefix} works for {arguments.grace} more." if grace_s else " The old one has ended."
    return _tell(arguments, _signed_in(arguments, environment), f"{KEYS_PATH}/rotate", body, old)


def list_keys(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """List keys, newest first."""
    _refuse_operators_options(arguments)
    answer = _signed_in(arguments, environment).ask("GET", KEYS_PATH)
    with reading():
        rows = [[key["prefix"], _state(key), day(key["last_used_at"]), key["name"]] for key in answer.document["keys"]]
    if format_of(arguments) == "json":
        put_json(answer)
    elif rows:
        put_lines(table(stdout_screen(environment), _HEADERS, rows))
    else:
        put_lines(["You have no keys there yet."])
    return DONE


def revoke_key(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """End a key at once."""
    prefix = _prefix(arguments.prefix)
    _signed_in(arguments, environment).ask("DELETE", KEYS_PATH, {"prefix": prefix})
    put_lines([f"{prefix} is revoked."])
    return DONE


def _tell(arguments: Arguments, client: ApiConnection, path: str, body: Mapping[str, object], more: str) -> int:
    answer = client.ask("POST", path, body=body)
    made = answer.document
    if arguments.json:
        put_json(answer)
        return DONE
    with reading():
        key, end = safe(made["key"]), f"until {safe(made['expiresAt'])}" if made["expiresAt"] else "no expiry"
    put_lines([key])
    tell(f"This key is shown once: keep it now. It is yours, {end}, at {client.url}.{more}")
    return DONE


def _signed_in(arguments: Arguments, environment: Mapping[str, str]) -> ApiConnection:
    token = environment.get("VERDICT_TOKEN", "")
    if token and "." not in token:  # a session is a JWT, in three parts; the service would only say to sign in
        raise RefusalError(
            "VERDICT_TOKEN is an API key, and keys are kept with a session; unset it, and `verdict login`",
            UNKNOWN_CALLER,
        )
    return open_client(arguments, environment)


def _refuse_operators_options(arguments: Arguments) -> None:
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
