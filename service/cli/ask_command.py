"""`verdict ask`: sends a question, pays for it if agreed, and prints the answer as it arrives."""

import codecs
import json
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

from service.cli import api_command, output_format
from service.cli.command import Arguments
from service.cli.markdown import render
from service.cli.spinner import Spinner
from service.client.answer import RawAnswer, RefusedError, UnreachableError, UnreadableAnswerError
from service.client.caller import open_client
from service.client.connection import ApiConnection
from service.client.errors import DONE, RefusalError
from service.client.files import read_whole, state_dir, write_whole

_FILE: Final = "device"
_BYTES: Final = 16


def device_id(environment: Mapping[str, str]) -> str:
    """This device's identifier, 32 hexadecimal digits, made when it is first asked for.

    Args:
        environment: Of the process: where state is kept.

    Raises:
        RefusalError: If it cannot be kept.
    """
    path = state_dir(environment) / _FILE
    try:
        kept = read_whole(path)
        if kept is None:
            kept = secrets.token_hex(_BYTES).encode()
            write_whole(path, kept)
    except OSError as error:
        raise RefusalError(
            f"{path} cannot be kept ({error.strerror}); sign in with `verdict login`, or mend that"
        ) from None
    return kept.decode("ascii", "replace").strip()


PATH: Final = "/api/cli"
PRICE: Final = "0.05"
"""USDC, once the free questions are spent; the manifest says the same."""

_LONGEST: Final = 64_000
"""Letters of a question that are read; the service takes 8,000 characters."""

_KEY_BYTES: Final = 16


def ask(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """Ask a question.

    Raises:
        RefusalError: If there is no question, or it was not paid for.
        RefusedError: If the service says no.
        UnreachableError: If no answer came, or not all of it.
    """
    body: dict[str, object] = {"messages": [{"role": "user", "content": _question(arguments)}]}
    if arguments.archetype:
        body["archetype"] = arguments.archetype
    if arguments.raw or arguments.explain:
        body["raw"] = True
    if arguments.dry_run:
        return api_command.show_request(arguments, environment, "POST", PATH, price=PRICE, counted=True, body=body)
    client = open_client(arguments, environment)
    if client.token is None:
        body["deviceId"] = device_id(environment)
    human = not arguments.raw and not arguments.explain and output_format.format_of(arguments) == "human"
    asking = _Asking(client, body, "text/plain" if human else "application/json")
    try:
        _tell(asking, arguments, environment, human=human)
    finally:
        client.close()
    return DONE


def _tell(asking: "_Asking", arguments: Arguments, environment: Mapping[str, str], *, human: bool) -> None:
    with Spinner(sys.stderr, environment, "asking") as spinner:
        pieces = _pieces(asking, arguments, environment, spinner)
        if not human:
            body = b"".join(pieces)
            spinner.stop()
            answer = RawAnswer(HTTPStatus.OK, {}, body)
            if not isinstance(answer.document, dict):
                raise UnreadableAnswerError("what came is no answer to a question: is that address a Verdict service?")
            if arguments.explain:
                output_format.put_lines(output_format.readable(line) for line in _explanation(answer.document))
            else:
                output_format.put_json(answer)
            return
        for line in render(output_format.stdout_screen(environment), _lines(pieces)):
            spinner.stop()
            output_format.put_lines([line])
            sys.stdout.flush()


def _explanation(raw: Mapping[str, Any]) -> Iterator[str]:
    """How a question was read: each query in words, then all of it as JSON."""
    try:
        titles = [step["result"]["title"] for step in raw["steps"] if step["result"] is not None]
        read = raw["classification"]
    except (KeyError, TypeError):
        raise UnreadableAnswerError("The answer does not say how the question was read. Use a newer service.") from None
    yield from (f"Read as: {title}" for title in titles)
    yield from json.dumps(read, ensure_ascii=False, indent=2).splitlines()


class _Asking:
    """A question that is sent, again if need be, as one: its key has it answered and charged once."""

    def __init__(self, client: ApiConnection, body: Mapping[str, object], accept: str) -> None:
        self.client = client
        self._body = body
        self._headers = {"Accept": accept, "Idempotency-Key": secrets.token_hex(_KEY_BYTES)}

    def pieces(self) -> Iterator[bytes]:
        """The answer as it comes. Where it breaks off it is asked for again, and what has come is left out.

        Raises:
            UnreachableError: If it broke off again, or the service cannot be reached.
        """
        came, again = 0, False
        while True:
            skip = came
            try:
                for piece in self.client.pieces("POST", PATH, body=self._body, headers=self._headers):
                    new = piece[skip:]
                    skip -= len(piece) - len(new)
                    came += len(new)
                    yield new
            except UnreachableError as error:
                if again or not error.sent:
                    raise
                again = True
            else:
                return

    def whole(self, headers: Mapping[str, str]) -> RawAnswer:
        """The same question with these headers too."""
        return self.client.ask("POST", PATH, body=self._body, headers={**self._headers, **headers})


def _pieces(asking: _Asking, arguments: Arguments, environment: Mapping[str, str], spinner: Spinner) -> Iterator[bytes]:
    """The answer, paid for if it must be and may be."""
    try:
        yield from asking.pieces()
    except RefusedError as refused:
        if refused.status != HTTPStatus.PAYMENT_REQUIRED:
            raise
        from service.cli.payment_prompt import pay  # noqa: PLC0415 - keys and curves, which are seldom needed

        spinner.stop()
        yield pay(refused, asking.whole, arguments, environment).body


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """Lines of UTF-8 that comes in any pieces, without their ends."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    rest = ""
    for piece in pieces:
        *lines, rest = (rest + decode(piece)).split("\n")
        yield from lines
    if rest := rest + decode(b"", final=True):
        yield rest


def _question(arguments: Arguments) -> str:
    words = list(arguments.question)
    try:
        text = sys.stdin.read(_LONGEST) if words == ["-"] else " ".join(words)
        text.encode()  # where the locale says nothing of it, what is no text comes as halves of pairs
    except UnicodeError:
        raise RefusalError("what came on standard input is no UTF-8") from None
    if not text.strip():
        raise RefusalError('ask something: verdict ask "How is SOL doing?"')
    return text.strip()
