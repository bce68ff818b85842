"""Commands that call one API route: send the request, pay if required and allowed, show the answer."""

from __future__ import annotations

import re
import sys

from service.cli import output_format
from service.cli.command import load
from service.cli.spinner import Spinner
from service.cli.terminal import tell
from service.client.answer import RefusedError
from service.client.caller import open_client
from service.client.connection import fill
from service.client.errors import DONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from service.cli.command import Argument, Arguments, Command
    from service.client.answer import RawAnswer
    from service.client.connection import ApiConnection


def show_request(
    typed: str | None,
    environment: Mapping[str, str],
    method: str,
    target: str,
    *,
    as_json: bool,
    price: str,
    counted: bool,
    body: object = None,
) -> int:
    """Print a request and its price without sending it.

    Args:
        typed: The text of `--url`.
        environment: Environment variables.
        method: GET or POST.
        target: Path and query.
        as_json: Whether to print JSON.
        price: Decimal USDC once the quota is spent; empty if the route cannot be paid for.
        counted: Whether it uses up a question.
        body: The JSON body, if there is one.
    """
    from service.client.caller import url_of  # noqa: PLC0415 - where it is shown, not where it is sent

    url = url_of(typed, environment) + target
    if as_json:
        sent = {"method": method, "url": url, "body": body, "counted": counted, "price_usdc": price or None}
        output_format.put(output_format.dump(sent) + "\n")
        return DONE
    lines = [f"{method} {output_format.readable(url)}"]
    if body is not None:
        lines.append(output_format.readable(output_format.dump(body)))
    output_format.put_lines([*lines, f"Would cost {_cost(price, counted=counted)}. Nothing was sent."])
    return DONE


def _cost(price: str, *, counted: bool) -> str:
    if not counted:
        return "nothing"
    return f"one question or, once they are spent, {price} USDC" if price else "one question"


_PAYMENT_REQUIRED = 402
_VIEW_MODULES = {
    "billing": "account",
    "coins": "coin",
    "funding": "market",
    "manifest": "account",
    "narratives": "category",
    "receipts": "account",
    "resolve": "coin",
    "sentiment": "category",
    "signal": "verdicts",
}
"""Module of `show`, where it is not named like the first word of the offer's id."""

_VERSION = 1
"""Schema version of the envelope that the views support."""


def run(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """Call the command's route and print the answer.

    Args:
        arguments: Of a command that has a route.
        environment: Of the process.

    Returns:
        The exit code.

    Raises:
        RefusedError: If the service refuses.
        RefusalError: If payment is required and was not made.
        UnreachableError: If no answer arrived.
        UnreadableAnswerError: If the answer is not one of this API.
    """
    command: Command = arguments.command
    route = command.route
    assert route is not None  # noqa: S101 - every generated row has one
    chosen = request_parameters(arguments)
    path, query = fill(route.path, chosen)
    if arguments.dry_run:
        return show_request(
            arguments.url,
            environment,
            "GET",
            path_with_query(path, query),
            as_json=output_format.format_of(arguments) != "human",
            price=route.price,
            counted=bool(route.price),
        )
    client = open_client(arguments, environment, token=not route.public)
    try:
        answer = ask_or_pay(arguments, environment, client, path, query)
    finally:
        client.close()

    def lines(data: Any, meta: Mapping[str, Any]) -> Iterable[str]:
        return _lines(arguments, environment, answer, data, meta)

    return output_format.write_answer(arguments, environment, answer, lines)


def ask_or_pay(
    arguments: Arguments,
    environment: Mapping[str, str],
    client: ApiConnection,
    path: str,
    query: Mapping[str, object],
) -> RawAnswer:
    """Send a GET; if payment is required, pay as the options of `PAYING` say.

    Raises:
        RefusedError: If the service refuses.
        RefusalError: If payment is required and was not made.
    """

    def send(headers: Mapping[str, str]) -> RawAnswer:
        with Spinner(sys.stderr, environment, "asking"):
            return client.ask("GET", path, query, headers=headers)

    try:
        return send({})
    except RefusedError as refused:
        if refused.status != _PAYMENT_REQUIRED or not hasattr(arguments, "max_price"):
            raise
        from service.cli.payment_prompt import pay  # noqa: PLC0415 - keys and signatures, for a paid call only

        return pay(refused, send, environment, url=arguments.url, yes=arguments.yes, max_price=arguments.max_price)


def view_of(command: Command) -> str:
    """`module:function` of the view: named after the offer, in the module of its subject."""
    assert command.route is not None  # noqa: S101 - every generated row has one
    subject = command.offer.partition(".")[0]
    name = command.route.view or command.offer.replace(".", "_")
    return f"service.cli.show.{_VIEW_MODULES.get(subject, subject)}:{name}"


def request_parameters(arguments: Arguments) -> dict[str, object]:
    """The request's parameters: those fixed by the command and those typed; brief where people read the answer.

    Raises:
        RefusalError: If one is empty, because the path would be another route's.
    """
    found: dict[str, object] = dict(arguments.command.fixed)
    is_read = output_format.format_of(arguments) == "human" and getattr(arguments, "fields", None) is None
    for argument in arguments.command.arguments:
        value = getattr(arguments, argument.key) if argument.parameter else None
        if value == "":
            from service.client.errors import RefusalError  # noqa: PLC0415 - for a mistake only

            raise RefusalError(f"{argument.shown} is empty")
        if value is not None and value is not False:
            found[argument.parameter] = 1 if value is True else _instant(argument, value)
        elif argument.parameter == "detail" and is_read:
            found["detail"] = "brief"
    return found


def _instant(argument: Argument, value: object) -> object:
    """A value as typed; a day where an instant belongs is its first moment, UTC."""
    is_day = argument.metavar == "INSTANT" and isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value)
    return f"{value}T00:00:00Z" if is_day else value


def path_with_query(path: str, query: Mapping[str, object]) -> str:
    """The path with its encoded query."""
    from urllib.parse import urlencode  # noqa: PLC0415 - the library has loaded it by then

    return path + ("?" + urlencode(query) if query else "")


def _check_version(answer: RawAnswer) -> None:
    """Check the envelope's schema version: misread figures are worse than the generic view.

    Raises:
        ValueError: If the version is unknown.
    """
    document = answer.document
    version = document.get("schemaVersion", _VERSION) if isinstance(document, dict) else _VERSION
    if version != _VERSION:
        raise ValueError(version)


def _lines(
    arguments: Arguments, environment: Mapping[str, str], answer: RawAnswer, data: Any, meta: Mapping[str, Any]
) -> Iterable[str]:
    """Lines of the offer's view, or of the generic view if the answer does not match it."""
    where, chosen = output_format.stdout_screen(environment), request_parameters(arguments)
    try:
        _check_version(answer)
        return list(load(view_of(arguments.command))(data, meta, where, chosen))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        # The answer used up a question: show it even if a newer service changed it.
        tell(f"verdict: shown plainly: not as this version knows it ({type(error).__name__})")
        plain: Iterable[str] = load("service.cli.show.plain:plain")(data, meta, where, chosen)
        return plain
