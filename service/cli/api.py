"""`verdict api PATH`: any request with the stored credential; the answer is printed as it is."""

from __future__ import annotations

import sys
import tempfile
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode

import click

from service.cli import output_format
from service.cli.environment import Environment, VerdictCommand, url_option
from service.cli.error_report import code_for
from service.cli.terminal import is_terminal, safe
from service.client.caller import token_of, url_of
from service.client.connection import TIMEOUT_S, ApiConnection
from service.client.errors import DONE, RefusalError

if TYPE_CHECKING:
    import http.client
    from collections.abc import Mapping

_PREFIX: Final = "/api/cli/"
_SECRETS: Final = frozenset(
    {"authorization", "proxy-authorization", "payment-signature", "x-payment", "cookie", "set-cookie"}
)
_SHOWN_OF_KEY: Final = 19
"""Letters of a key that may be shown: its display prefix."""

_METHODS: Final = ("GET", "HEAD", "POST", "DELETE")
_KEPT: Final = "/?&=%:,"
_PIECE_BYTES: Final = 65_536


def _pair(_ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> list[tuple[str, str]]:
    for value in values:
        if "=" not in value or value.startswith("="):
            raise click.BadParameter(f"{value!r} is not NAME=VALUE.")
    return [(name, value) for name, _, value in (text.partition("=") for text in values)]


@click.command("api", cls=VerdictCommand, example="verdict api coin/risk/BTC -v")
@click.argument("path", metavar="PATH", help="Path of the route: coin/risk/BTC, or from the root: /api/keys.")
@click.option("-q", "--query", multiple=True, metavar="K=V", callback=_pair, help="A query parameter; repeatable.")
@click.option(
    "-X", "--method", type=click.Choice(["GET", "HEAD", "POST", "DELETE"]), help="Method (GET; POST with -d)."
)
@click.option("-d", "--data", metavar="JSON", help="Body; @FILE reads a file, - standard input.")
@click.option("-o", "--output", metavar="FILE", help="Write a successful answer to this file.")
@click.option("-v", "--verbose", is_flag=True, help="Show request and response heads; secrets are left out.")
@click.option("--timeout", type=click.FloatRange(0.1, 3600), metavar="S", help="Longest wait in seconds (60).")
@url_option
@click.pass_obj
def api(  # noqa: PLR0913 - one for each option
    environment: Environment,
    *,
    path: str,
    query: list[tuple[str, str]],
    method: str | None,
    data: str | None,
    output: str | None,
    verbose: bool,
    timeout: float | None,
    url: str | None,
) -> int:
    """Send any request with the stored credential and print the answer as it is.

    It pays for nothing. The exit code is that of other commands: 0 for a success, 3 for 402, and so on.
    """
    target = _target(path, query)
    payload = None if data is None else _body(data)
    base = url_of(url, environment.variables)
    client = ApiConnection(base, token_of(environment.variables, base), timeout_s=timeout or TIMEOUT_S)
    headers = {"Content-Type": "application/json"} if payload is not None else {}
    try:
        verb = method or ("GET" if payload is None else "POST")
        with client.raw(verb, target, payload, headers) as (sent, response):
            if verbose:
                _show_heads(f"{verb} {target} HTTP/1.1", sent, response)
            if output is not None and response.status < HTTPStatus.MULTIPLE_CHOICES:
                _save(response, Path(output))
            else:
                _print(response)
            status = response.status
    finally:
        client.close()
    if status < HTTPStatus.MULTIPLE_CHOICES:
        return DONE
    sys.stderr.write(f"verdict: the service answered {status}.\n")
    return code_for(status)


def _target(path: str, query: list[tuple[str, str]]) -> str:
    if "://" in path:
        raise RefusalError("PATH is a path of the service, not a URL: choose the service with --url.")
    if any(letter <= " " or letter > "~" for letter in path):
        raise RefusalError(f"PATH must be percent-encoded: write {quote(path, safe=_KEPT)}.")

    whole = path if path.startswith("/") else _PREFIX + path
    return whole + (("&" if "?" in whole else "?") + urlencode(query) if query else "")


def _body(data: str) -> bytes:
    if data == "-":
        return sys.stdin.buffer.read()
    if not data.startswith("@"):
        return data.encode()
    try:
        return Path(data[1:]).read_bytes()
    except OSError as error:
        raise RefusalError(f"{data[1:]} cannot be read ({error.strerror}).") from None


def _show_heads(request: str, sent: Mapping[str, str], response: http.client.HTTPResponse) -> None:
    lines = [
        f"> {request}",
        *(f"> {_without_secret(f'{name}: {value}')}" for name, value in sent.items()),
        "",
        f"< HTTP/1.1 {response.status} {response.reason}",
        *(f"< {_without_secret(f'{name}: {value}')}" for name, value in response.getheaders()),
        "",
    ]
    sys.stderr.writelines(f"{safe(line)}\n" for line in lines)


def _without_secret(line: str) -> str:
    name, mark, value = line.partition(": ")
    if name.lower() not in _SECRETS:
        return line
    kind, _, token = value.rpartition(" ")
    shown = token[:_SHOWN_OF_KEY] if "_sk_" in token[:_SHOWN_OF_KEY] else ""
    return f"{name}{mark}{f'{kind} ' if kind else ''}{shown}..."


def _print(response: http.client.HTTPResponse) -> None:
    """Pass on the body as it arrives; on a terminal with control characters escaped."""
    ends_line = True
    while piece := response.read1(_PIECE_BYTES):
        if is_terminal(sys.stdout):
            sys.stdout.write(output_format.readable(piece.decode(errors="replace")))
            sys.stdout.flush()
        else:
            output_format.put_bytes(piece)
        ends_line = piece.endswith(b"\n")
    if not ends_line and is_terminal(sys.stdout):
        sys.stdout.write("\n")


def _save(response: http.client.HTTPResponse, path: Path) -> None:
    """Write the body to a file, which is replaced only when all of it has arrived."""
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            temporary = Path(file.name)
            while piece := response.read1(_PIECE_BYTES):
                file.write(piece)
        temporary.replace(path)
    except OSError as error:
        raise RefusalError(f"{path} cannot be written ({error.strerror}).") from None
    finally:
        if temporary is not None:
            with suppress(FileNotFoundError):
                temporary.unlink()
