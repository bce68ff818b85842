"""`verdict whoami` and `verdict keys`: the caller's identity, tier and own API keys."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import click

from service.cli.environment import (
    Duration,
    Environment,
    Utf8Text,
    VerdictCommand,
    VerdictGroup,
    json_option,
    url_option,
)
from service.cli.formatting import day, elapsed_s, moment, span
from service.cli.layout import facts, table
from service.cli.output_format import put_json, put_lines
from service.cli.terminal import Cell, Part, is_terminal, safe, tell
from service.client import credentials
from service.client.answer import CallerQuota, RawAnswer, read_quota, reading
from service.client.connection import ApiConnection
from service.client.errors import DONE, UNKNOWN_CALLER, RefusalError
from service.clock import LATEST_MS, SECOND_MS, SystemClock, iso

_SOURCES: Final = {"default": "", "grant": "granted by the operator", "wallet": "granted to your wallet"}
_KINDS: Final = {"api_key": "an API key", "session": "a session"}


@click.command("whoami", cls=VerdictCommand, example="verdict whoami")
@json_option
@url_option
@click.pass_obj
def whoami(environment: Environment, url: str | None, *, as_json: bool) -> int:
    """Show your identity and your tier; costs nothing."""
    variables = environment.variables
    client = environment.client(url)
    answer = client.ask("GET", "/api/cli/billing/tier")
    data, meta = answer.data, answer.meta  # an answer without them is an error in every output format

    def lines() -> Iterator[str]:
        kept = None if variables.get("VERDICT_TOKEN") else credentials.find(variables, client.url)
        identity, now = data["identity"], meta["ts"]
        stored = ["stored here,", _end(kept.expires_at, now)] if kept else ["in VERDICT_TOKEN"]
        return facts(
            environment.screen,
            [
                ("Tier", [Cell(data["tier"], "strong"), *_tier(data, now)]),
                ("Questions", _left(read_quota(answer.headers))),
                ("Who", [f"user {identity['userId']}"]),
                ("Wallet", [identity["walletAddress"]] if identity["walletAddress"] else []),
                ("Known by", [_KINDS.get(identity["kind"], identity["kind"]), *stored]),
                ("Service", [client.url]),
            ],
        )

    return environment.show(answer, lines, as_json=as_json)


def _tier(data: Mapping[str, Any], now: str) -> Iterator[Part]:
    source = _SOURCES.get(data["source"], data["source"])
    if source:
        yield f", {source},"
    if source or data["expiresAt"]:
        yield _end(data["expiresAt"], now)


def _left(quota: CallerQuota | None) -> list[Part]:
    if quota is None:
        return []
    of = "" if quota.limit is None else f" of {quota.limit}{' a day' if quota.daily else ' to start with'}"
    again = "" if quota.reset_s is None else f", one is free again in {span(quota.reset_s)}"
    return [Cell(f"{quota.left}{of}", None if quota.left else "warn"), f"left{again}"]


def _end(at: str | None, now: str) -> str:
    if at is None:
        return "no expiry"
    left = elapsed_s(now, at)
    return f"until {moment(at)}" + (f", {span(left)} left" if left is not None and left > 0 else "")


KEYS_PATH: Final = "/api/keys"

_KEY: Final = re.compile(r"([a-z0-9]{1,20}_sk_[0-9A-Za-z]{8})[0-9A-Za-z]*\Z", re.ASCII)
_HEADERS: Final = ("PREFIX", "STATE", "LAST USED", "NAME")


class Prefix(click.ParamType[str]):
    """The beginning of a key. The rest of a complete key is a secret, and is dropped."""

    name = "prefix"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The prefix."""
        found = _KEY.match(value)
        if not found:
            self.fail("A key begins like verdict_sk_AbCd1234. `verdict keys list` shows yours.", param, ctx)
        return found[1]


_PREFIX: Final = click.argument("prefix", type=Prefix(), help="The key's display prefix, as `keys list` shows it.")


@click.group("keys", cls=VerdictGroup)
def keys() -> None:
    """Create, list, rotate and revoke your own API keys at a service.

    The keys of a data folder are those of `verdict admin keys`.
    """


@keys.command("create", example="verdict keys create --name laptop")
@click.option("--name", type=Utf8Text(), required=True, help="What the key is for.")
@click.option("--expires", type=Duration(), metavar="30d", help="When it ends: 90m, 12h, 30d, 52w (never).")
@json_option
@url_option
@click.pass_obj
def create_key(environment: Environment, name: str, expires: int | None, url: str | None, *, as_json: bool) -> int:
    """Create an API key, shown this once."""
    body = {"name": name}
    if expires is not None:
        body["expiresAt"] = iso(min(SystemClock().now_ms() + expires, LATEST_MS))
    client = _signed_in(environment, url)
    return _show_key(client, client.ask("POST", KEYS_PATH, body=body), "", as_json=as_json)


@keys.command("list", example="verdict keys list")
@json_option
@url_option
@click.pass_obj
def list_keys(environment: Environment, url: str | None, *, as_json: bool) -> int:
    """List your API keys, newest first."""
    answer = _signed_in(environment, url).ask("GET", KEYS_PATH)

    def lines() -> Iterable[str]:
        rows = [[key["prefix"], _state(key), day(key["last_used_at"]), key["name"]] for key in answer.document["keys"]]
        return table(environment.screen, _HEADERS, rows) if rows else ["You have no keys there yet."]

    return environment.show(answer, lines, as_json=as_json)


@keys.command("revoke", example="verdict keys revoke verdict_sk_AbCd1234")
@_PREFIX
@json_option
@url_option
@click.pass_obj
def revoke_key(environment: Environment, prefix: str, url: str | None, *, as_json: bool) -> int:
    """Revoke an API key of yours at once."""
    answer = _signed_in(environment, url).ask("DELETE", KEYS_PATH, {"prefix": prefix})
    if as_json:
        put_json(answer)
    else:
        put_lines([f"{prefix} is revoked."])
    return DONE


@keys.command("rotate", example="verdict keys rotate verdict_sk_AbCd1234 --grace 12h")
@_PREFIX
@click.option(
    "--grace",
    type=Duration(zero=True),
    default="0m",
    metavar="12h",
    help="How long the old one still works: 90m, 12h, 7d (0m).",
)
@json_option
@url_option
@click.pass_obj
def rotate_key(environment: Environment, prefix: str, grace: int, url: str | None, *, as_json: bool) -> int:
    """Replace an API key of yours. The new one is shown this once."""
    grace_s = grace // SECOND_MS
    body = {"prefix": prefix, "grace_seconds": grace_s}
    old = f" {prefix} works for {span(grace_s)} more." if grace_s else " The old key no longer works."
    client = _signed_in(environment, url)
    return _show_key(client, client.ask("POST", f"{KEYS_PATH}/rotate", body=body), old, as_json=as_json)


def _show_key(client: ApiConnection, answer: RawAnswer, more: str, *, as_json: bool) -> int:
    if as_json:
        put_json(answer)
        return DONE
    made = answer.document
    with reading():
        key, end = safe(made["key"]), f"until {safe(made['expiresAt'])}" if made["expiresAt"] else "no expiry"
    put_lines([key])
    tell(f"This key is shown once: keep it now. It is valid at {client.url}, {end}.{more}")
    return DONE


def _signed_in(environment: Environment, url: str | None) -> ApiConnection:
    token = environment.variables.get("VERDICT_TOKEN", "")
    if token and "." not in token:  # a session is a JWT, which contains dots; the service would only say to sign in
        raise RefusalError(
            "VERDICT_TOKEN is an API key, but keys are managed with a session. Unset it, and run `verdict login`.",
            UNKNOWN_CALLER,
        )
    client = environment.client(url)
    if client.token is None and is_terminal(sys.stderr):
        tell(f"You are not signed in at {client.url}. For the keys of a data folder, use `verdict admin keys`.")
    return client


def _state(key: Mapping[str, Any]) -> str:
    if key["revoked_at"]:
        return f"revoked {day(key['revoked_at'])}"
    return f"until {day(key['expires_at'])}" if key["expires_at"] else "no end"
