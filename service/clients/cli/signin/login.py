"""`verdict login`: by the browser's wallet, a keystore, what the page shows, or a key that there is already."""

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple
from urllib.parse import urlencode

from service.clients.cli.refusal import DONE, UNKNOWN_CALLER, UNREACHABLE, RefusalError
from service.clients.cli.screen import safe
from service.clients.cli.spinner import Spinner
from service.clients.cli.terminal import is_terminal
from service.clients.profile import credentials
from service.clients.profile.caller import open_client
from service.clients.profile.credentials import Credential
from service.clients.sdk.answer import RefusedError
from service.clients.sdk.client import Client, is_token
from service.clients.signin import pending
from service.clients.signin.browser import open_browser
from service.clients.signin.callback import Callback
from service.clients.signin.exchange import sign_in, whose
from service.clients.signin.returned import Returned, read_returned
from service.clients.signin.secret import secret
from service.clients.signin.wallet import KEY, open_wallet

PAGE: Final = "/auth/cli"
PATIENCE_S: Final = 600.0
"""Longest wait for the browser: somebody may have to find the wallet's password first."""

_NOT_FOUND: Final = 404


SignedIn = tuple[Credential, str | None]
"""A credential, and what the service tells its user, if anything."""


class Login(NamedTuple):
    """What a login is begun with."""

    client: Client
    arguments: Namespace
    environment: Mapping[str, str]


def run(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Sign in, and keep the credential for the service's address."""
    login = Login(open_client(arguments, environment, token=False), arguments, environment)
    credential, notice = _way(arguments, environment)(login)
    kept = credentials.keep(environment, login.client.url, credential)
    pending.end(environment)
    _tell(login, credential, kept)
    if notice:
        sys.stderr.write(f"verdict: {safe(notice)}\n")
    return DONE


def _way(arguments: Namespace, environment: Mapping[str, str]) -> Callable[[Login], SignedIn]:
    if arguments.token:
        return _by_token
    if arguments.paste:
        return _by_paste
    if arguments.keystore or environment.get(KEY):
        return _by_wallet
    return _by_browser


def _by_token(login: Login) -> SignedIn:
    token = secret("API key", login.environment)
    if not is_token(token):
        raise RefusalError("that is no API key: it holds a space or a letter that none has", UNKNOWN_CALLER)
    return whose(login.client, token), None


def _by_wallet(login: Login) -> SignedIn:
    wallet = open_wallet(login.environment, login.arguments.keystore)
    with Spinner(sys.stderr, login.environment, "signing in"):
        return sign_in(login.client, wallet)


def _by_paste(login: Login) -> SignedIn:
    state = pending.find(login.environment, login.client.url) or pending.begin(login.environment, login.client.url)
    page = _page(login.client, state=state)
    sys.stderr.write(f"Sign in on this page, unless you have, and copy what it shows:\n  {page}\n")
    pasted = secret("What the page shows", login.environment).strip()
    try:
        # A browser that could not reach this machine has it in its address bar.
        returned = read_returned(pasted.partition("?")[2] or pasted, state)
    except ValueError as error:
        raise RefusalError(str(error)) from None
    return _confirmed(login, returned)


def _by_browser(login: Login) -> SignedIn:
    state = pending.begin(login.environment, login.client.url)
    with Callback(state, f"{login.client.url}{PAGE}/done").open() as callback:
        page = _page(login.client, state=state, port=callback.port)
        _send_to(page, login)
        with Spinner(sys.stderr, login.environment, "waiting for the browser; Ctrl-C ends it", patience_s=0):
            returned = callback.wait(PATIENCE_S)
    if returned is None:
        raise RefusalError(
            "the browser did not return in ten minutes; if the page says that you are signed in, finish with "
            "`verdict login --paste`",
            UNREACHABLE,
        )
    return _confirmed(login, returned)


def _page(client: Client, **parameters: object) -> str:
    try:
        client.ask("GET", PAGE, parameters, headers={"Accept": "text/html"})
    except RefusedError as error:
        if error.status != _NOT_FOUND:
            raise
        raise RefusalError(
            f"{client.url} has no page to sign in on; sign in with `verdict login --keystore FILE`"
        ) from None
    return f"{client.url}{PAGE}?{urlencode(parameters)}"


def _send_to(page: str, login: Login) -> None:
    wanted = not login.arguments.no_browser and is_terminal(sys.stderr)
    opened = wanted and open_browser(page, login.environment)
    sys.stderr.write(f"{'Your browser opens' if opened else 'Open'} this page to sign in:\n  {page}\n")
    sys.stderr.flush()


def _confirmed(login: Login, returned: Returned) -> SignedIn:
    credential = whose(login.client, returned.token, returned.expires_at)
    if (credential.wallet or "").lower() != returned.wallet.lower():
        raise RefusalError("the session that came back is not the wallet's that it names; begin again", UNKNOWN_CALLER)
    return credential, returned.notice


def _tell(login: Login, credential: Credential, kept: str) -> None:
    url = login.client.url
    if login.arguments.json or not is_terminal(sys.stdout):
        told = {
            "url": url,
            "kind": credential.kind,
            "walletAddress": credential.wallet,
            "expiresAt": credential.expires_at,
            "keptIn": kept,
        }
        sys.stdout.write(json.dumps(told) + "\n")
    else:
        who = f" as {credential.wallet}" if credential.wallet else ""
        end = f" until {credential.expires_at[:10]}" if credential.expires_at else ""
        what = "Signed in to" if credential.kind == "session" else "The key works at"
        sys.stdout.write(f"{what} {url}{who}{end}. It is kept in {kept}.\n")
    if login.environment.get("VERDICT_TOKEN"):
        sys.stderr.write("verdict: VERDICT_TOKEN is set, and goes before what is kept; unset it to use this login\n")
