"""Calls the route of a command: sends the request, pays if required and allowed, shows the answer."""

from __future__ import annotations

import re
import sys
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from service.cli.output_format import dump, format_of, put, put_lines, readable, write_answer
from service.cli.show import plain
from service.cli.spinner import Spinner
from service.cli.terminal import tell
from service.client.answer import RefusedError
from service.client.caller import url_of
from service.client.connection import fill
from service.client.errors import DONE, RefusalError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from service.cli.commands import CatalogueRow
    from service.cli.environment import Environment
    from service.cli.output_format import Lines
    from service.cli.show.plain import Shown
    from service.cli.terminal import Display
    from service.client.answer import RawAnswer
    from service.client.connection import ApiConnection

_VERSION = 1
"""Schema version of the envelope that the views support."""

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


class Paying(NamedTuple):
    """Options of payment: the service, whether to pay without asking, the limit (micro-USD; None: as configured)."""

    url: str | None
    yes: bool
    max_price: int | None


def call(row: CatalogueRow, environment: Environment, typed: Mapping[str, Any]) -> int:
    """Call a command's route with the typed options, print the answer and return the exit code.

    Raises:
        RefusedError: If the service refuses.
        RefusalError: If payment is required and was not made.
        UnreachableError: If no answer arrived.
        UnreadableAnswerError: If the answer is not one of this API.
    """
    chosen = request_parameters(row, typed)
    path, query = fill(row.path, chosen)
    if typed["dry_run"]:
        target = with_query(path, query)
        is_human = format_of(typed) == "human"
        return show_request(environment, typed["url"], "GET", target, as_json=not is_human, price=row.price)
    client = environment.client(typed["url"], token=not row.public)
    paying = Paying(typed["url"], typed["yes"], typed["max_price"]) if row.price else None
    try:
        answer = ask_or_pay(environment, client, path, query, paying)
    finally:
        client.close()

    lines = lines_of(view_of(row), answer, environment.screen, chosen)
    return write_answer(environment.screen, typed, answer, lines, entries=row.entries, envelope=row.envelope)


def lines_of(view: Shown, answer: RawAnswer, screen: Display, chosen: Mapping[str, object]) -> Lines:
    """The lines of an answer in its view; names and values, and a notice on stderr, if its form is not known."""

    def lines(data: Any, meta: Mapping[str, Any]) -> Iterable[str]:
        try:
            _check_version(answer)
            return list(view(data, meta, screen, chosen))
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            # The answer used up a question: show it even if a newer service changed it.
            kind = type(error).__name__
            tell(f"verdict: This version does not know the form of the answer ({kind}). Its fields are listed.")
            return list(plain.plain(data, meta, screen, chosen))

    return lines


def show_request(
    environment: Environment,
    url: str | None,
    method: str,
    target: str,
    *,
    as_json: bool,
    price: str,
    counted: bool | None = None,
    body: object = None,
) -> int:
    """Print a request and its price without sending it.

    Args:
        environment: What the command runs in.
        url: The text of `--url`.
        method: GET or POST.
        target: Path and query.
        as_json: Whether to print JSON.
        price: Decimal USDC once the quota is spent; empty if the route cannot be paid.
        counted: Whether it uses up a question; by default if it has a price.
        body: The JSON body, if there is one.
    """
    counted = bool(price) if counted is None else counted
    whole = url_of(url, environment.variables) + target
    if as_json:
        sent = {"method": method, "url": whole, "body": body, "counted": counted, "price_usdc": price or None}
        put(dump(sent) + "\n")
        return DONE
    cost = ("one question" + (f" or, once they are spent, {price} USDC" if price else "")) if counted else "nothing"
    lines = [f"{method} {readable(whole)}", *([] if body is None else [readable(dump(body))])]
    put_lines([*lines, f"Would cost {cost}. Nothing was sent."])
    return DONE


def ask_or_pay(
    environment: Environment, client: ApiConnection, path: str, query: Mapping[str, object], paying: Paying | None
) -> RawAnswer:
    """Send a GET; if payment is required, pay as the options say.

    Raises:
        RefusedError: If the service refuses.
        RefusalError: If payment is required and was not made.
    """

    def send(headers: Mapping[str, str]) -> RawAnswer:
        with Spinner(sys.stderr, environment.variables, "asking"):
            return client.ask("GET", path, query, headers=headers)

    try:
        return send({})
    except RefusedError as refused:
        if refused.status != HTTPStatus.PAYMENT_REQUIRED or paying is None:
            raise
        from service.cli.payment_prompt import pay  # noqa: PLC0415 - keys and signatures, for a paid call only

        return pay(refused, send, environment.variables, **paying._asdict())


def view_of(row: CatalogueRow) -> Shown:
    """The view of a command's answer, named after its offer."""
    return plain.view_of(row.view or row.offer.replace(".", "_"))


def request_parameters(row: CatalogueRow, typed: Mapping[str, Any]) -> dict[str, object]:
    """The request's parameters: those fixed by the command and those typed; brief where people read the answer.

    Raises:
        RefusalError: If one is empty, because the path would be another route's.
    """
    found: dict[str, object] = dict(row.fixed)
    for parameter in row.parameters:
        value = typed[parameter.name]
        if value == "":
            raise RefusalError(f"{parameter.metavar or parameter.name.upper()} is empty.")
        if parameter.kind == "instant" and value and _DAY.fullmatch(value):
            value = f"{value}T00:00:00Z"  # the first moment of that day
        if value is not None and value is not False:
            found[parameter.name] = 1 if value is True else value
        elif parameter.name == "detail" and format_of(typed) == "human" and typed["fields"] is None:
            found["detail"] = "brief"
    return found


def with_query(path: str, query: Mapping[str, object]) -> str:
    """The path with its encoded query."""
    return path + ("?" + urlencode(query) if query else "")


def _check_version(answer: RawAnswer) -> None:
    """Check the envelope's schema version: misread figures are worse than the generic view."""
    document = answer.document
    version = document.get("schemaVersion", _VERSION) if isinstance(document, dict) else _VERSION
    if version != _VERSION:
        raise ValueError(version)
