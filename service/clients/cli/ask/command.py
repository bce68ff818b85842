"""`verdict ask`: send the question, pay for it where that is agreed to, and set the answer as it comes."""

import codecs
import json
import secrets
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from service.clients.cli.ask.device import device_id
from service.clients.cli.ask.markdown import render
from service.clients.cli.refusal import DONE, RefusalError
from service.clients.cli.spinner import Spinner
from service.clients.cli.terminal import is_terminal, screen
from service.clients.profile.caller import open_client
from service.clients.sdk.answer import Answer, RefusedError, UnreachableError
from service.clients.sdk.client import Client

PATH: Final = "/api/cli"
PRICE: Final = "0.05"
"""USDC, once the free questions are spent; the manifest says the same."""

_LONGEST: Final = 64_000
"""Bytes of a question that are read; the service takes 8,000 characters."""

_PAYMENT_REQUIRED: Final = 402
_KEY_BYTES: Final = 16
_TRIES: Final = 2


def run(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Ask a question.

    Raises:
        RefusalError: If there is no question, or it was not paid for.
        RefusedError: If the service says no.
        UnreachableError: If no answer came, or not all of it.
    """
    body: dict[str, object] = {"messages": [{"role": "user", "content": _question(arguments)}]}
    if arguments.archetype:
        body["archetype"] = arguments.archetype
    machine = arguments.json or arguments.raw or not is_terminal(sys.stdout)
    if arguments.raw:
        body["raw"] = True
    client = open_client(arguments, environment)
    if arguments.dry_run:
        return _rehearse(client, body)
    if client.token is None:
        body["deviceId"] = device_id(environment)
    asking = _Asking(client, body, "application/json" if machine else "text/plain")
    pieces = _pieces(asking, arguments, environment)
    if machine:
        sys.stdout.write(b"".join(pieces).decode().rstrip("\n") + "\n")
        return DONE
    with Spinner(sys.stderr, environment, "asking") as spinner:
        for line in render(screen(environment, sys.stdout), _lines(pieces)):
            spinner.stop()
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    return DONE


class _Asking:
    """A question that is sent, again if need be, as one: its key has it answered and charged once."""

    def __init__(self, client: Client, body: Mapping[str, object], accept: str) -> None:
        self.client = client
        self._body = body
        self._headers = {"Accept": accept, "Idempotency-Key": secrets.token_hex(_KEY_BYTES)}

    def pieces(self) -> Iterator[bytes]:
        """The answer as it comes. Where it breaks off it is asked for again, and what has come is left out.

        Raises:
            UnreachableError: If it broke off again, or there is nobody.
        """
        came = 0
        for tries_left in reversed(range(_TRIES)):
            skip = came
            try:
                for piece in self.client.pieces("POST", PATH, body=self._body, headers=self._headers):
                    new = piece[skip:]
                    skip -= len(piece) - len(new)
                    came += len(new)
                    yield new
            except UnreachableError as error:
                if not (error.sent and tries_left):
                    raise
            else:
                return

    def whole(self, headers: Mapping[str, str]) -> Answer:
        """The same question with these headers too."""
        return self.client.ask("POST", PATH, body=self._body, headers={**self._headers, **headers})


def _pieces(asking: _Asking, arguments: Namespace, environment: Mapping[str, str]) -> Iterator[bytes]:
    """The answer, paid for if it must be and may be."""
    try:
        yield from asking.pieces()
    except RefusedError as refused:
        if refused.status != _PAYMENT_REQUIRED:
            raise
        from service.clients.cli.till import settle  # noqa: PLC0415 - keys and curves, which are seldom needed

        yield settle(refused, asking.whole, arguments, environment).body


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """Lines of UTF-8 that comes in any pieces, without their ends."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    rest = ""
    for piece in pieces:
        *lines, rest = (rest + decode(piece)).split("\n")
        yield from lines
    if rest := rest + decode(b"", final=True):
        yield rest


def _question(arguments: Namespace) -> str:
    words = list(arguments.question)
    text = sys.stdin.read(_LONGEST) if words == ["-"] else " ".join(words)
    if not text.strip():
        raise RefusalError("ask something: verdict ask How is SOL doing?")
    return text.strip()


def _rehearse(client: Client, body: Mapping[str, object]) -> int:
    sys.stdout.write(
        f"POST {client.url}{PATH}\n{json.dumps(body, ensure_ascii=False)}\n"
        f"costs {PRICE} USDC once the free questions are spent; nothing was sent\n"
    )
    return DONE
