"""`verdict whoami`: whom the service takes you for, and what that lets you do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from service.clients.cli import shape
from service.clients.cli.figures import elapsed_s, moment, span
from service.clients.cli.prose import facts
from service.clients.cli.screen import Cell, Part, Screen
from service.clients.cli.terminal import screen
from service.clients.profile import credentials
from service.clients.profile.caller import open_client
from service.clients.sdk.answer import reading
from service.clients.sdk.quota import read_quota

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping

    from service.clients.profile.credentials import Credential
    from service.clients.sdk.answer import Answer

PATH: Final = "/api/cli/billing/tier"

_SOURCES: Final = {"default": "", "grant": "given by the operator", "wallet": "given to your wallet"}
_KINDS: Final = {"api_key": "an API key", "session": "a session"}


def show(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Ask the service, which counts nothing for it."""
    client = open_client(arguments, environment)
    answer = client.ask("GET", PATH)

    def told(*_: object) -> list[str]:
        kept = None if environment.get("VERDICT_TOKEN") else credentials.find(environment, client.url)
        with reading():
            return list(lines(answer, screen(environment, sys.stdout), client.url, kept))

    return shape.write(arguments, environment, answer, told)


def lines(answer: Answer, on: Screen, url: str, kept: Credential | None) -> Iterator[str]:
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


def _left(answer: Answer) -> list[Part]:
    quota = read_quota(answer.headers)
    if quota is None:
        return []
    of = "" if quota.limit is None else f" of {quota.limit}{' a day' if quota.daily else ' to start with'}"
    again = "" if quota.reset_s is None else f", one is free again in {span(quota.reset_s)}"
    return [Cell(f"{quota.left}{of}", None if quota.left else "warn"), f"left{again}"]


def _credential(kept: Credential | None, now: str) -> Iterator[Part]:
    yield "that is kept here," if kept else "in VERDICT_TOKEN"
    if kept:
        yield _end(kept.expires_at, now)


def _end(at: str | None, now: str) -> str:
    if at is None:
        return "without an end"
    left = elapsed_s(now, at)
    return f"until {moment(at)}" + (f", {span(left)} left" if left is not None and left > 0 else "")
