"""`verdict login` and `verdict logout`."""

import sys
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final, NamedTuple
from urllib.parse import urlencode

import click

from service.cli.environment import Environment, VerdictCommand, exclude, json_option, url_option
from service.cli.output_format import put_document, put_lines
from service.cli.spinner import Spinner
from service.cli.terminal import is_terminal, tell
from service.client import browser_login, credentials
from service.client.answer import RefusedError, UnreachableError
from service.client.browser_login import BrowserSession, Callback, open_browser, read_session
from service.client.caller import open_client, url_of
from service.client.connection import INVALID_CREDENTIAL, ApiConnection, is_token
from service.client.credentials import StoredCredential
from service.client.errors import DONE, UNAVAILABLE, UNKNOWN_CALLER, UNREACHABLE, RefusalError
from service.client.sign_in import credential_of, sign_in, sign_out
from service.client.wallet import KEY, open_wallet, read_secret

PAGE: Final = "/auth/cli"
PATIENCE_S: Final = 600.0
"""Longest wait for the browser: the user may have to find the wallet's password first."""

SignedIn = tuple[StoredCredential, str | None]
"""A credential, and a notice of the service for its user, if there is one."""


class _Login(NamedTuple):
    """The inputs of a login."""

    client: ApiConnection
    environment: Mapping[str, str]


@click.command("login", cls=VerdictCommand, example="verdict login")
@click.option(
    "--keystore",
    type=click.Path(),
    metavar="FILE",
    help="Sign with this file (Web3 Secret Storage); its password is asked for, or VERDICT_KEYSTORE_PASSWORD. "
    "Without it VERDICT_WALLET_KEY signs if it is set, else the browser's wallet.",
)
@click.option("--paste", is_flag=True, help="Finish with what the page shows, if it cannot return here.")
@click.option("--token", is_flag=True, help="Keep an API key, which is asked for or read from stdin.")
@click.option("--no-browser", is_flag=True, help="Print the page's address, and open nothing.")
@json_option
@url_option
@click.pass_context
def login(
    context: click.Context,
    *,
    keystore: str | None,
    paste: bool,
    token: bool,
    no_browser: bool,
    url: str | None,
    as_json: bool,
) -> int:
    """Sign in with a wallet, or store an API key."""
    exclude(context, ["keystore", "paste", "token"])
    environment: Environment = context.obj
    variables = environment.variables
    login = _Login(open_client(url, variables, token=False), variables)
    if token:
        credential, notice = _by_token(login)
    elif paste:
        credential, notice = _by_paste(login)
    elif keystore or variables.get(KEY):
        credential, notice = _by_wallet(login, keystore)
    else:
        credential, notice = _by_browser(login, opens=not no_browser)
    kept = credentials.keep(variables, login.client.url, credential)
    browser_login.end_login(variables)
    _tell(login, credential, kept, as_json=environment.prints_json(as_json))
    if notice:
        tell(f"verdict: {notice}")
    return DONE


def _by_token(login: _Login) -> SignedIn:
    token = read_secret("API key", login.environment)
    if not is_token(token):
        raise RefusalError(INVALID_CREDENTIAL, UNKNOWN_CALLER)
    return credential_of(login.client, token), None


def _by_wallet(login: _Login, keystore: str | None) -> SignedIn:
    wallet = open_wallet(login.environment, keystore)
    with Spinner(sys.stderr, login.environment, "signing in"):
        return sign_in(login.client, wallet)


def _by_paste(login: _Login) -> SignedIn:
    state = browser_login.find_login(login.environment, login.client.url) or browser_login.begin_login(
        login.environment, login.client.url
    )
    page = _page(login.client, state=state)
    tell("Sign in on this page if you have not done so yet, and copy what it shows:")
    tell(f"  {page}")
    pasted = read_secret("What the page shows", login.environment).strip()
    try:
        # If the browser could not reach this machine, users copy the URL of its address bar.
        returned = read_session(pasted.partition("?")[2] or pasted, state)
    except ValueError as error:
        raise RefusalError(str(error)) from None
    return _confirmed(login, returned)


def _by_browser(login: _Login, *, opens: bool) -> SignedIn:
    state = browser_login.begin_login(login.environment, login.client.url)
    with Callback(state, f"{login.client.url}{PAGE}/done").open() as callback:
        page = _page(login.client, state=state, port=callback.port)
        opened = opens and is_terminal(sys.stderr) and open_browser(page, login.environment)
        tell(f"{'Your browser opens' if opened else 'Open'} this page to sign in:")
        tell(f"  {page}")
        with Spinner(sys.stderr, login.environment, "waiting for the browser; Ctrl-C ends it", delay_s=0):
            returned = callback.wait(PATIENCE_S)
    if returned is None:
        raise RefusalError(
            "The browser did not return within ten minutes. If the page says that you are signed in, finish with "
            "`verdict login --paste`.",
            UNREACHABLE,
        )
    return _confirmed(login, returned)


def _page(client: ApiConnection, **parameters: object) -> str:
    try:
        client.ask("GET", PAGE, parameters, headers={"Accept": "text/html"})
    except RefusedError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        raise RefusalError(f"{client.url} has no sign-in page. Sign in with `verdict login --keystore FILE`.") from None
    return f"{client.url}{PAGE}?{urlencode(parameters)}"


def _confirmed(login: _Login, returned: BrowserSession) -> SignedIn:
    credential = credential_of(login.client, returned.token, returned.expires_at)
    if (credential.wallet or "").lower() != returned.wallet.lower():
        raise RefusalError(
            "The session belongs to another wallet than it names. Begin again with `verdict login`.",
            UNKNOWN_CALLER,
        )
    return credential, returned.notice


def _tell(login: _Login, credential: StoredCredential, kept: str, *, as_json: bool) -> None:
    url = login.client.url
    if as_json:
        who = {"walletAddress": credential.wallet, "expiresAt": credential.expires_at}
        put_document({"url": url, "kind": credential.kind, **who, "keptIn": kept})
    else:
        name = f" as {credential.wallet}" if credential.wallet else ""
        end = f" until {credential.expires_at[:10]}" if credential.expires_at else ""
        what = "Signed in to" if credential.kind == "session" else "The key works at"
        put_lines([f"{what} {url}{name}{end}. It is stored in {kept}."])
    if login.environment.get("VERDICT_TOKEN"):
        tell("verdict: VERDICT_TOKEN is set, and takes precedence over this login. Unset it to use this login.")


@click.command("logout", cls=VerdictCommand, example="verdict logout")
@url_option
@click.pass_obj
def logout(environment: Environment, url: str | None) -> int:
    """End the session and forget it."""
    variables = environment.variables
    url = url_of(url, variables)
    kept = credentials.find(variables, url)
    # Delete it even if the service cannot be reached: after a logout this machine must have no access.
    credentials.forget(variables, url)
    put_lines([_end(url, kept)])
    if variables.get("VERDICT_TOKEN"):
        tell("verdict: VERDICT_TOKEN is still set, and is used until you unset it.")
    return DONE


def _end(url: str, kept: StoredCredential | None) -> str:
    if kept is None:
        return f"You were not signed in to {url}."
    if kept.kind == "api_key":
        ends = "`verdict keys revoke` with a wallet's session, or the operator's `verdict admin keys revoke`"
        return f"The key for {url} is deleted here. It works until it is revoked by {ends}."
    client = ApiConnection(url, kept.token)
    try:
        sign_out(client)
    except RefusedError as error:
        if error.status not in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            raise _left(kept, str(error), UNAVAILABLE) from None
    except UnreachableError as error:
        raise _left(kept, str(error), UNREACHABLE) from None
    finally:
        client.close()
    return f"Signed out of {url}."


def _left(kept: StoredCredential, reason: str, code: int) -> RefusalError:
    until = f"until {kept.expires_at}" if kept.expires_at else "until it ends by itself"
    return RefusalError(f"The session is deleted here, but the service still accepts it {until}: {reason}", code)
