"""The table of client commands, by section of the help. Imports almost nothing, because every start loads it."""

import json
from typing import Final

from service.cli.command import (
    CATALOGUE,
    CONNECTING,
    OFFERED,
    PAYING,
    SHAPING,
    Argument,
    Command,
    CommandRoute,
    LazyCommand,
)


def read_catalogue(path: str) -> tuple[Command, ...]:
    """The commands of the offers, as `generate` wrote them."""
    with open(path, "rb") as file:  # noqa: PTH123 - `pathlib` takes longer to load than the commands
        rows = json.load(file)
    return tuple(
        Command(**row)._replace(
            run="service.cli.api_command:run",
            arguments=(
                *(Argument(**own)._replace(choices=tuple(own.get("choices", ()))) for own in row["arguments"]),
                *(OFFERED if row["route"].get("price") else FREE),
            ),
            route=CommandRoute(**row["route"]),
            fixed=tuple((name, value) for name, value in row.get("fixed", ())),
        )
        for row in rows
    )


FREE: Final = (*CONNECTING, *SHAPING, PAYING[0])
"""Options of a command that calls a route that is never counted."""

OFFER_COMMANDS: Final = read_catalogue(CATALOGUE)

_STREAMED_COMMANDS = (
    LazyCommand("ask", "ask a question in plain words", "service.cli.ask_command:ask"),
    LazyCommand(
        "watch", "follow one of six live streams; opening one uses up a question", "service.cli.watch.command:watch"
    ),
)

_ACCOUNT_COMMANDS = (
    LazyCommand("login", "sign in with a wallet, or store an API key", "service.cli.login_commands:login"),
    LazyCommand("logout", "end the session and forget it", "service.cli.login_commands:logout"),
    LazyCommand("whoami", "show your identity and your plan; costs nothing", "service.cli.account_commands:whoami"),
    LazyCommand("keys", "create, list, revoke and rotate your own API keys", "service.cli.account_commands:keys"),
    LazyCommand(
        "doctor",
        "check the way from here to the service; exit code 1 on a finding",
        "service.cli.doctor_command:doctor",
    ),
    LazyCommand("config", "list, get, set and unset preferences", "service.cli.config_command:config"),
    LazyCommand(
        "alerts", "add, list, test and remove alerts, list their deliveries", "service.cli.alert_commands:alerts"
    ),
    LazyCommand(
        "spending", "show the wallet that pays, its ceilings and receipts", "service.cli.spending_commands:spending"
    ),
)

_OTHER_PROGRAMS = (
    LazyCommand(
        "mcp",
        "serve tools to agents by the Model Context Protocol, and set up the programs that use them",
        "service.cli.mcp_commands:group",
    ),
    LazyCommand("api", "send any request and print the answer as it is", "service.cli.api:api"),
    LazyCommand("completions", "print the completion script of a shell", "service.cli.config_command:completions"),
)

OVERVIEW: Final = Command(
    "coin overview",
    "price, changes, trends, funding and verdict of one coin; uses up two questions",
    "service.cli.overview:run",
    (
        Argument("symbol", "a ticker such as BTC, 1 to 20 letters and digits"),
        *OFFERED[:-1],
        OFFERED[-1]._replace(summary="most that each of its two calls may cost, in USDC (0.10)"),
    ),
    example="verdict BTC",
    default=True,
)

_OPERATOR_COMMANDS = (
    LazyCommand("serve", "start the service", "service.admin.serve:serve"),
    LazyCommand(
        "admin", "keys, grants, payments, backup and all else of a data folder", "service.admin.commands:admin"
    ),
    LazyCommand(
        "verify",
        "recompute a saved verdict, without a service; exit code 1 where it differs",
        "service.admin.verify:verify",
    ),
)


SECTIONS = (
    ("ask and follow", _STREAMED_COMMANDS),
    ("read the market", (OVERVIEW, *OFFER_COMMANDS)),
    ("you", _ACCOUNT_COMMANDS),
    ("other programs", _OTHER_PROGRAMS),
    ("run a service", _OPERATOR_COMMANDS),
)
