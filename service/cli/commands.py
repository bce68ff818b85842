"""The table of commands, by section of the help. Imports almost nothing, because every start loads it."""

from __future__ import annotations

import gc
import json

# `signal` itself takes four milliseconds to load.
from _signal import SIG_BLOCK, SIG_SETMASK, SIGINT, pthread_sigmask  # type: ignore[import-not-found]
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    import click

CATALOGUE = f"{__file__.removesuffix('commands.py')}catalogue.json"
"""Path of the commands of the offers, written by `make commands`."""


class LazyCommand(NamedTuple):
    """A Click command or group that is imported when it is used.

    Attributes:
        words: As typed after `verdict`: `mcp`.
        summary: For the help, lower case, without a full stop.
        where: `module:name` of the Click command.
    """

    words: str
    summary: str
    where: str

    def command(self) -> click.Command:
        """The Click command."""
        found: click.Command = load(self.where)
        return found


class RouteParameter(NamedTuple):
    """A parameter of a route, as it is typed.

    Attributes:
        name: Of the query or path parameter.
        help: A sentence.
        typed: `--signal-type`; empty for a positional argument.
        kind: `text`, `number`, `instant`, or `flag`, which sets 1.
        choices: Allowed values, if the list is closed.
        metavar: Placeholder in the help.
        required: Whether an option must be given.
    """

    name: str
    help: str
    typed: str = ""
    kind: str = "text"
    choices: tuple[str, ...] = ()
    metavar: str = ""
    required: bool = False


class CatalogueRow(NamedTuple):
    """A command that calls one route and shows its answer.

    Attributes:
        words: As typed after `verdict`: `coin risk`.
        summary: For the help, lower case, without a full stop.
        example: A complete line: `verdict coin risk BTC`.
        offer: Id of its offer.
        path: Path template: `/api/cli/coin/risk/{symbol}`.
        parameters: What may be typed.
        price: USDC per call once the quota is spent, as decimal text; empty if the route is free and never counted.
        entries: Name of the list in the answer's data, if the answer is a list.
        public: Whether it is called without a token.
        envelope: Whether the answer is in the envelope.
        view: Function of `show` that shows the answer; empty if it is named after the offer.
        fixed: Parameters that the command sets itself.
        default: Whether it runs if its last word is left out: `regime` runs `regime active`.
    """

    words: str
    summary: str
    example: str
    offer: str
    path: str
    parameters: tuple[RouteParameter, ...]
    price: str = ""
    entries: str = ""
    public: bool = False
    envelope: bool = True
    view: str = ""
    fixed: Mapping[str, str] = MappingProxyType({})
    default: bool = False

    def command(self) -> click.Command:
        """The Click command."""
        made: click.Command = load("service.cli.route_command:RouteCommand")(self)
        return made


def load(where: str) -> Any:
    """Import `module:name`."""
    module, _, name = where.partition(":")
    # Ctrl-C waits: an interrupt while an extension module loads crashes the interpreter.
    before = pthread_sigmask(SIG_BLOCK, (SIGINT,))
    gc.disable()  # saves a fifth of the time: modules contain no garbage
    try:
        # `importlib` takes a millisecond to load.
        return getattr(__import__(module, None, None, (name,)), name)
    finally:
        gc.freeze()
        gc.enable()
        pthread_sigmask(SIG_SETMASK, before)


def read_catalogue() -> list[CatalogueRow]:
    """The commands of routes, as `generate` wrote them."""
    with open(CATALOGUE, "rb") as file:  # noqa: PTH123 - `pathlib` takes longer to load than the commands
        rows = json.load(file)
    return [
        CatalogueRow(**{**row, "parameters": tuple(RouteParameter(**parameter) for parameter in row["parameters"])})
        for row in rows
    ]


SECTIONS: tuple[tuple[str, tuple[LazyCommand | CatalogueRow, ...]], ...] = (
    (
        "ask and follow",
        (
            LazyCommand("ask", "ask a question in plain words", "service.cli.ask_command:ask"),
            LazyCommand(
                "watch",
                "follow one of six live streams; opening one uses up a question",
                "service.cli.watch.command:watch",
            ),
        ),
    ),
    (
        "read the market",
        (
            LazyCommand(
                "coin overview",
                "price, changes, trends, funding and verdict of one coin; uses up two questions",
                "service.cli.overview:overview",
            ),
            *read_catalogue(),
        ),
    ),
    (
        "you",
        (
            LazyCommand("login", "sign in with a wallet, or store an API key", "service.cli.login_commands:login"),
            LazyCommand("logout", "end the session and forget it", "service.cli.login_commands:logout"),
            LazyCommand(
                "whoami", "show your identity and your tier; costs nothing", "service.cli.account_commands:whoami"
            ),
            LazyCommand(
                "keys", "create, list, revoke and rotate your own API keys", "service.cli.account_commands:keys"
            ),
            LazyCommand(
                "doctor",
                "check the way from here to the service; exit code 1 on a finding",
                "service.cli.doctor_command:doctor",
            ),
            LazyCommand("config", "list, get, set and unset preferences", "service.cli.config_command:config"),
            LazyCommand(
                "alerts",
                "add, list, test and remove alerts, list their deliveries",
                "service.cli.alert_commands:alerts",
            ),
            LazyCommand(
                "spending",
                "show the wallet that pays, its ceilings and receipts",
                "service.cli.spending_commands:spending",
            ),
        ),
    ),
    (
        "other programs",
        (
            LazyCommand(
                "mcp",
                "serve tools to agents by the Model Context Protocol, and set up the programs that use them",
                "service.cli.mcp_commands:group",
            ),
            LazyCommand("api", "send any request and print the answer as it is", "service.cli.api:api"),
            LazyCommand(
                "completions", "print the completion script of a shell", "service.cli.config_command:completions"
            ),
        ),
    ),
    (
        "run a service",
        (
            LazyCommand("serve", "start the service", "service.admin.serve:serve"),
            LazyCommand(
                "admin", "keys, grants, payments, backup and all else of a data folder", "service.admin.commands:admin"
            ),
            LazyCommand(
                "verify",
                "recompute a saved verdict, without a service; exit code 1 where it differs",
                "service.admin.verify:verify",
            ),
        ),
    ),
)
"""Sections of the help of `verdict`, and their commands."""
