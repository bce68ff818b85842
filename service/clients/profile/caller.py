"""The library's client, made of what was typed, the environment, what is configured, and what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from service.clients.cli.refusal import UNKNOWN_CALLER, RefusalError
from service.clients.profile import config, credentials
from service.clients.sdk.address import read_address
from service.clients.sdk.client import Client, is_token

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping


def url_of(arguments: Namespace, environment: Mapping[str, str]) -> str:
    """Where the service is: `--url`, else `VERDICT_URL`, else what is configured, else here.

    Raises:
        RefusalError: If that is no address.
    """
    typed = getattr(arguments, "url", None)
    told = typed if typed is not None else environment.get("VERDICT_URL") or None
    url = told if told is not None else config.read(environment).url or config.URL
    try:
        return str(read_address(url))
    except ValueError as error:
        source = "--url" if typed is not None else "VERDICT_URL" if told else "url"
        raise RefusalError(f"{source}: {error}") from None


def token_of(environment: Mapping[str, str], url: str) -> str | None:
    """Whom to be there: `VERDICT_TOKEN`, else what is kept for that address, else nobody.

    Raises:
        RefusalError: If it is no token; it is not told again.
    """
    told = environment.get("VERDICT_TOKEN", "").strip()
    if told and not is_token(told):
        raise RefusalError("VERDICT_TOKEN is no token: it holds a space or a letter that none has", UNKNOWN_CALLER)
    if told:
        return told
    kept = credentials.find(environment, url)
    return None if kept is None else kept.token


def open_client(arguments: Namespace, environment: Mapping[str, str], *, token: bool = True) -> Client:
    """A client for the service that is meant. It connects when it is first asked.

    Args:
        arguments: With `url`, if the command takes it.
        environment: Settings of clients.
        token: Whether to say who calls; what is public needs nobody.

    Raises:
        RefusalError: If the address or the token is none, or what is kept cannot be read.
    """
    url = url_of(arguments, environment)
    return Client(url, token_of(environment, url) if token else None)
