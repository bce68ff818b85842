"""Any offer of the table: asks it, pays where that is asked for and allowed, and shows what came."""

from __future__ import annotations

import sys

from service.clients.cli import shape
from service.clients.cli.loading import load
from service.clients.cli.spinner import Spinner
from service.clients.cli.terminal import screen
from service.clients.profile.caller import open_client
from service.clients.sdk.answer import RefusedError
from service.clients.sdk.client import fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Mapping
    from typing import Any

    from service.clients.cli.command import Command
    from service.clients.sdk.answer import Answer

_PAYMENT_REQUIRED = 402
_VERSION = 1
"""Of the envelope whose data the views know."""


def run(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Ask an offer and print the answer.

    Args:
        arguments: Of a command that has a route.
        environment: Of the process.

    Returns:
        The exit code.

    Raises:
        RefusedError: If the service says no.
        RefusalError: If it is to be paid for and is not.
        UnreachableError: If no answer came.
        UnreadableError: If it is none of this interface.
    """
    command: Command = arguments.command
    route = command.route
    assert route is not None  # noqa: S101 - every generated row has one
    chosen = asked(arguments)
    path, query = fill(route.path, chosen)
    if arguments.dry_run:
        from service.clients.cli import dry_run  # noqa: PLC0415 - where it is asked for

        return dry_run.show(
            arguments, environment, "GET", target(path, query), price=route.price, counted=bool(route.price)
        )
    client = open_client(arguments, environment, token=not route.public)

    def send(headers: Mapping[str, str]) -> Answer:
        with Spinner(sys.stderr, environment, "asking"):
            return client.ask("GET", path, query, headers=headers)

    try:
        answer = send({})
    except RefusedError as refused:
        if refused.status != _PAYMENT_REQUIRED or not route.price:
            raise
        from service.clients.cli.till import settle  # noqa: PLC0415 - keys and signatures, for a paid call only

        answer = settle(refused, send, arguments, environment)
    finally:
        client.close()

    def lines(data: Any, meta: Mapping[str, Any]) -> Iterable[str]:
        return _lines(arguments, environment, answer, data, meta)

    return shape.write(arguments, environment, answer, lines)


def asked(arguments: Namespace) -> dict[str, object]:
    """The parameters of a request: what the command's words decide and what was typed.

    Raises:
        RefusalError: If one is empty: it would be asked somewhere else.
    """
    found: dict[str, object] = dict(arguments.command.fixed)
    for argument in arguments.command.arguments:
        value = getattr(arguments, argument.key) if argument.parameter else None
        if value == "":
            from service.clients.cli.refusal import RefusalError  # noqa: PLC0415 - for a mistake only

            raise RefusalError(f"{argument.shown} is empty")
        if value is not None and value is not False:
            found[argument.parameter] = 1 if value is True else value
    return found


def target(path: str, query: Mapping[str, object]) -> str:
    """A path and its query, as they are sent."""
    from urllib.parse import urlencode  # noqa: PLC0415 - the library has loaded it by then

    return path + ("?" + urlencode(query) if query else "")


def _check_version(answer: Answer) -> None:
    """See that names mean here what they mean there: a figure that is misread is worse than one shown plainly.

    Raises:
        ValueError: If they may not.
    """
    document = answer.document
    version = document.get("schemaVersion", _VERSION) if isinstance(document, dict) else _VERSION
    if version != _VERSION:
        raise ValueError(version)


def _lines(
    arguments: Namespace, environment: Mapping[str, str], answer: Answer, data: Any, meta: Mapping[str, Any]
) -> Iterable[str]:
    """What people read: the view of this offer; plainly, where the answer is not as the view knows it."""
    where, chosen = screen(environment, sys.stdout), asked(arguments)
    view = arguments.command.route.view or arguments.command.offer.replace(".", "_")
    try:
        _check_version(answer)
        return list(load(f"service.clients.cli.show.{view}:lines")(data, meta, where, chosen))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        # The answer has been paid for, with a question at least: a service that is newer is no reason to throw it away.
        sys.stderr.write(f"verdict: shown plainly: not as this version knows it ({type(error).__name__})\n")
        plain: Iterable[str] = load("service.clients.cli.show.plain:lines")(data, meta, where, chosen)
        return plain
