"""`verdict ask`: sends a question, pays for it if agreed, and prints the answer as it arrives."""

import codecs
import json
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

import click

from service.cli import output_format
from service.cli.calling import Paying, show_request
from service.cli.environment import (
    Environment,
    Utf8Text,
    VerdictCommand,
    dry_run_option,
    exclude,
    json_option,
    max_price_option,
    url_option,
    yes_option,
)
from service.cli.markdown import render
from service.cli.spinner import Spinner
from service.client.answer import CHECK_URL, RawAnswer, RefusedError, UnreachableError, UnreadableAnswerError
from service.client.connection import ApiConnection
from service.client.errors import DONE, RefusalError
from service.client.files import read_whole, state_dir, write_whole

_FILE: Final = "device"
_BYTES: Final = 16


def device_id(environment: Mapping[str, str]) -> str:
    """This device's identifier, 32 hexadecimal digits, created when first used; `RefusalError` if it is not stored."""
    path = state_dir(environment) / _FILE
    try:
        kept = read_whole(path)
        if kept is None:
            kept = secrets.token_hex(_BYTES).encode()
            write_whole(path, kept)
    except OSError as error:
        raise RefusalError(
            f"Cannot store {path}: {error.strerror}. Correct this, or sign in with `verdict login`."
        ) from None
    return kept.decode("ascii", "replace").strip()


PATH: Final = "/api/cli"
PRICE: Final = "0.05"
"""USDC, once the free questions are spent; as in the manifest."""

ARCHETYPES: Final = ("base", "trader", "analyst", "risk-manager", "explainer")

_LONGEST: Final = 64_000
"""Letters of a question that are read; the service takes 8,000 characters."""

_KEY_BYTES: Final = 16


@click.command("ask", cls=VerdictCommand, example='verdict ask "How is SOL doing?"')
@click.argument("question", nargs=-1, type=Utf8Text(), help="What you want to know; - reads it from standard input.")
@click.option("--archetype", type=click.Choice(ARCHETYPES), help="For whom the answer is written (base).")
@click.option("--raw", is_flag=True, help="What was found, as JSON, without prose.")
@click.option("--explain", is_flag=True, help="How the question was read: its typed queries.")
@json_option
@url_option
@dry_run_option
@yes_option
@max_price_option
@click.pass_context
def ask(  # noqa: PLR0913 - one for each option
    context: click.Context,
    *,
    question: tuple[str, ...],
    archetype: str | None,
    raw: bool,
    explain: bool,
    as_json: bool,
    url: str | None,
    dry_run: bool,
    yes: bool,
    max_price: int | None,
) -> int:
    """Ask a question in plain words."""
    exclude(context, ["raw", "explain", "as_json"])
    environment: Environment = context.obj
    variables, as_json = environment.variables, environment.prints_json(as_json)
    body: dict[str, object] = {"messages": [{"role": "user", "content": _text(question)}]}
    if archetype:
        body["archetype"] = archetype
    if raw or explain:
        body["raw"] = True
    if dry_run:
        return show_request(environment, url, "POST", PATH, as_json=as_json, price=PRICE, body=body)
    client = environment.client(url)
    if client.token is None:
        body["deviceId"] = device_id(variables)
    human = not (raw or explain or as_json)
    asking = _Asking(client, body, "text/plain" if human else "application/json")
    try:
        with Spinner(sys.stderr, variables, "asking") as spinner:
            pieces = _pieces(asking, Paying(url, yes, max_price), variables, spinner)
            if human:
                _put_prose(pieces, environment, spinner)
            else:
                whole = b"".join(pieces)
                spinner.stop()
                _put_document(RawAnswer(HTTPStatus.OK, asking.paid, whole), explain=explain)
    finally:
        client.close()
    return DONE


def _put_prose(pieces: Iterable[bytes], environment: Environment, spinner: Spinner) -> None:
    for line in render(environment.screen, _lines(pieces)):
        spinner.stop()
        output_format.put_lines([line])
        sys.stdout.flush()


def _put_document(answer: RawAnswer, *, explain: bool) -> None:
    with output_format.paid_not_lost(answer):
        if not isinstance(answer.document, dict):
            raise UnreadableAnswerError(f"The answer is not a JSON object. {CHECK_URL}")
        if explain:
            output_format.put_lines([output_format.readable(line) for line in _explanation(answer.document)])
        else:
            output_format.put_json(answer)


def _explanation(raw: Mapping[str, Any]) -> Iterator[str]:
    """How a question was read: each query in words, then the classification as JSON."""
    try:
        titles = [step["result"]["title"] for step in raw["steps"] if step["result"] is not None]
        read = raw["classification"]
    except (KeyError, TypeError):
        raise UnreadableAnswerError("The answer does not say how the question was read. Use a newer service.") from None
    yield from (f"Read as: {title}" for title in titles)
    yield from json.dumps(read, ensure_ascii=False, indent=2).splitlines()


class _Asking:
    """A question that may be sent twice: its idempotency key makes the service answer and charge it once.

    `paid` holds the headers of the answer that was paid for.
    """

    def __init__(self, client: ApiConnection, body: Mapping[str, object], accept: str) -> None:
        self.client = client
        self.paid: Mapping[str, str] = {}
        self._body = body
        self._headers = {"Accept": accept, "Idempotency-Key": secrets.token_hex(_KEY_BYTES)}

    def pieces(self) -> Iterator[bytes]:
        """The answer as it arrives. After a broken connection it is requested again, without the part that arrived.

        Raises:
            UnreachableError: If the connection broke again, or the service cannot be reached.
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
        """Send the same question with additional headers."""
        return self.client.ask("POST", PATH, body=self._body, headers={**self._headers, **headers})


def _pieces(asking: _Asking, paying: Paying, environment: Mapping[str, str], spinner: Spinner) -> Iterator[bytes]:
    """The answer; pay for it if that is required and allowed."""
    try:
        yield from asking.pieces()
    except RefusedError as refused:
        if refused.status != HTTPStatus.PAYMENT_REQUIRED:
            raise
        from service.cli.payment_prompt import pay  # noqa: PLC0415 - keys and curves, which are seldom needed

        spinner.stop()
        answer = pay(refused, asking.whole, environment, **paying._asdict())
        asking.paid = answer.headers
        yield answer.body


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """The lines, without line ends, of UTF-8 that arrives in pieces."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    rest = ""
    for piece in pieces:
        *lines, rest = (rest + decode(piece)).split("\n")
        yield from lines
    if rest := rest + decode(b"", final=True):
        yield rest


def _text(words: tuple[str, ...]) -> str:
    try:
        text = sys.stdin.read(_LONGEST) if words == ("-",) else " ".join(words)
        text.encode()  # with some locales, invalid bytes are read as surrogates
    except UnicodeError:
        raise RefusalError("Standard input is not valid UTF-8.") from None
    if not text.strip():
        raise RefusalError('The question is empty. Write it like `verdict ask "How is SOL doing?"`.')
    return text.strip()
