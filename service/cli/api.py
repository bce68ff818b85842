"""`verdict api PATH`: any request with the stored credential; the answer is printed as it is."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode

import click

from service.cli import output_format
from service.cli.environment import Environment, Utf8Text, VerdictCommand, url_option
from service.cli.error_report import code_for
from service.cli.terminal import is_terminal, safe
from service.client.caller import token_of, url_of
from service.client.connection import TIMEOUT_S, ApiConnection, pieces_of
from service.client.errors import DONE, RefusalError

if TYPE_CHECKING:
    import http.client
    from collections.abc import Iterator, Mapping

_PREFIX: Final = "/api/cli/"
_SECRETS: Final = frozenset(
    {"authorization", "proxy-authorization", "payment-signature", "x-payment", "cookie", "set-cookie"}
)
_KEY: Final = re.compile(r"(?P<shown>Bearer [a-z0-9]{1,20}_sk_[0-9A-Za-z]{8})[0-9A-Za-z]+\Z", re.ASCII)
"""A bearer token that is an API key, with its display prefix."""

_METHODS: Final = ("GET", "HEAD", "POST", "DELETE")
_KEPT: Final = "/?&=%:,"


def _pair(_ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> list[tuple[str, str]]:
    for value in values:
        if "=" not in value or value.startswith("="):
            raise click.BadParameter(f"{value!r} is not NAME=VALUE.")
    return [(name, value) for name, _, value in (text.partition("=") for text in values)]


@click.command("api", cls=VerdictCommand, example="verdict api coin/risk/BTC -v")
@click.argument(
    "path", type=Utf8Text(), metavar="PATH", help="Path of the route: coin/risk/BTC, or from the root: /api/keys."
)
@click.option(
    "-q",
    "--query",
    multiple=True,
    type=Utf8Text(),
    metavar="K=V",
    callback=_pair,
    help="A query parameter; repeatable.",
)
@click.option("-X", "--method", type=click.Choice(_METHODS), help="Method (GET; POST with -d).")
@click.option("-d", "--data", type=Utf8Text(), metavar="JSON", help="Body; @FILE reads a file, - standard input.")
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
    except _LocalError as local:
        raise local.error from None
    finally:
        client.close()
    if status < HTTPStatus.MULTIPLE_CHOICES:
        return DONE
    sys.stderr.write(f"verdict: The service answered {status}.\n")
    return code_for(status)


def _target(path: str, query: list[tuple[str, str]]) -> str:
    if "://" in path:
        raise RefusalError("PATH is a path of the service, not a URL. Choose the service with --url.")
    if any(letter <= " " or letter > "~" for letter in path):
        raise RefusalError(f"PATH must be percent-encoded. Write {quote(path, safe=_KEPT)}.")

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
        raise RefusalError(f"Cannot read {data[1:]}: {error.strerror}.") from None


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
    key = _KEY.search(value)
    return f"{name}{mark}{key['shown'] if key else ''}..."


def _print(response: http.client.HTTPResponse) -> None:
    """Pass on the body as it arrives; on a terminal with control characters escaped."""
    ends_line = True
    for piece in pieces_of(response):
        with _local():
            if is_terminal(sys.stdout):
                sys.stdout.write(output_format.readable(piece.decode(errors="replace")))
                sys.stdout.flush()
            else:
                output_format.put_bytes(piece)
        ends_line = piece.endswith(b"\n")
    if not ends_line and is_terminal(sys.stdout):
        sys.stdout.write("\n")


def _save(response: http.client.HTTPResponse, path: Path) -> None:
    """Write the body to a file, which is replaced only when all of it has arrived. A device is written to directly."""
    body = b"".join(pieces_of(response))
    path = path.resolve()
    with _local(path):
        if path.exists() and not path.is_file():
            path.write_bytes(body)
            return
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            draft.write_bytes(body)
            if path.exists():
                draft.chmod(path.stat().st_mode & 0o777)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


class _LocalError(Exception):
    """An error of a local file or pipe, not of the connection."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


@contextmanager
def _local(path: Path | None = None) -> Iterator[None]:
    """Keep errors of local files and pipes apart from those of the connection."""
    try:
        yield
    except OSError as error:
        said = None if path is None else RefusalError(f"Cannot write {path}: {error.strerror}.")
        raise _LocalError(said or error) from None
