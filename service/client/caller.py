"""Builds the client: service URL and token from arguments, environment, configuration and stored credentials."""

from __future__ import annotations

from service.client import config, credentials
from service.client.address import read_address
from service.client.connection import INVALID_CREDENTIAL, ApiConnection, is_token
from service.client.errors import UNKNOWN_CALLER, RefusalError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def url_of(typed: str | None, environment: Mapping[str, str]) -> str:
    """The service's URL: `--url` (None without it), else `VERDICT_URL`, else the configured one, else localhost.

    Raises:
        RefusalError: If it is not a valid service URL.
    """
    chosen = typed if typed is not None else environment.get("VERDICT_URL") or None
    try:
        return str(read_address(chosen if chosen is not None else config.read(environment).url or config.URL))
    except ValueError as error:
        source = "--url" if typed is not None else "VERDICT_URL" if chosen else "url"
        raise RefusalError(f"{source}: {error}") from None


def token_of(environment: Mapping[str, str], url: str) -> str | None:
    """The token: `VERDICT_TOKEN`, else the stored one of that URL, else None.

    Raises:
        RefusalError: If it is not a valid token; the message does not repeat it.
    """
    token = environment.get("VERDICT_TOKEN", "").strip()
    if token and not is_token(token):
        raise RefusalError(f"VERDICT_TOKEN: {INVALID_CREDENTIAL}", UNKNOWN_CALLER)
    kept = None if token else credentials.find(environment, url)
    if kept is not None and not is_token(kept.token):
        raise RefusalError(f"The token that is stored for {url} is not valid. Run `verdict login`.", UNKNOWN_CALLER)
    return token or (None if kept is None else kept.token)


def open_client(typed: str | None, environment: Mapping[str, str], *, token: bool = True) -> ApiConnection:
    """A client for the service at `url_of`, which connects with the first request. Public routes need no token.

    Raises:
        RefusalError: If URL or token is not valid, or stored credentials cannot be read.
    """
    url = url_of(typed, environment)
    return ApiConnection(url, token_of(environment, url) if token else None)
