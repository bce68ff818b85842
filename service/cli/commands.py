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

_ACCOUNT_JSON = SHAPING[0]
_NAMES = ("url", "keystore", "max-price", "max-day")
_NAME = Argument("name", "which", choices=_NAMES, metavar="NAME")
_CONFIG = "service.cli.config_command"

_ACCOUNT_COMMANDS = (
    Command(
        "whoami",
        "show your identity and your plan; costs nothing",
        "service.cli.account_commands:whoami",
        (_ACCOUNT_JSON, *CONNECTING),
        example="verdict whoami",
    ),
    LazyCommand("keys", "create, list, revoke and rotate your own API keys", "service.cli.account_commands:keys"),
    LazyCommand(
        "doctor",
        "check the way from here to the service; exit code 1 on a finding",
        "service.cli.doctor_command:doctor",
    ),
    Command(
        "config list",
        "list the preferences, and where each comes from",
        f"{_CONFIG}:show",
        (_ACCOUNT_JSON,),
        example="verdict config list",
        default=True,
    ),
    Command("config get", "print one value", f"{_CONFIG}:get", (_NAME,), example="verdict config get url"),
    Command(
        "config set",
        "set one value",
        f"{_CONFIG}:choose",
        (_NAME, Argument("value", "the value", metavar="VALUE")),
        example="verdict config set max-price 0.05",
    ),
    Command(
        "config unset", "reset to the default", f"{_CONFIG}:drop", (_NAME,), example="verdict config unset max-price"
    ),
    Command(
        "config path",
        "print the path of the file",
        f"{_CONFIG}:where",
        example="verdict config path",
    ),
)
"""In the order of help."""


_MCP_COMMANDS = (
    LazyCommand(
        "mcp",
        "serve tools to agents by the Model Context Protocol, and set up the programs that use them",
        "service.cli.mcp_commands:group",
    ),
)


STREAMED_COMMANDS = (
    Command(
        "ask",
        "ask a question in plain words",
        "service.cli.ask_command:ask",
        (
            Argument("question", "what you want to know; - reads it from standard input", many=True),
            Argument(
                "--archetype",
                "for whom the answer is written (base)",
                choices=("base", "trader", "analyst", "risk-manager", "explainer"),
            ),
            Argument("--raw", "what was found, as JSON, without prose", kind="flag", exclusive="format"),
            Argument("--explain", "how the question was read: its typed queries", kind="flag", exclusive="format"),
            Argument(
                "--json",
                "the answer as JSON with what it rests on, as is done where the output is no terminal",
                kind="flag",
                exclusive="format",
            ),
            *CONNECTING,
            *PAYING,
        ),
        example='verdict ask "How is SOL doing?"',
        offer="question",
    ),
    Command(
        "watch",
        "follow one of six live streams; opening one uses up a question",
        "service.cli.watch.command:run",
        (
            Argument(
                "stream",
                "which",
                choices=("funding", "regime", "sentiment", "prices", "alerts", "crossings"),
                metavar="STREAM",
            ),
            Argument(
                "symbols",
                "of prices only these coins, with their change in 24 h, which uses up another question",
                many=True,
                metavar="SYMBOL",
            ),
            Argument("--interval", "seconds between events, 10 to 300 (30)", kind="number", metavar="S"),
            Argument("--max", "end after so many events (0: never)", kind="number", metavar="N"),
            Argument("--diff", "after the first event only what changed", kind="flag"),
            Argument("--cursor", "go on after this cursor, leaving out nothing", metavar="CURSOR"),
            Argument(
                "--json",
                "print the lines as they come, as is done where the output is no terminal",
                kind="flag",
                exclusive="format",
            ),
            Argument("--ndjson", "the same", kind="flag", exclusive="format"),
            *CONNECTING,
            PAYING[0],
        ),
        example="verdict watch prices",
        offer="watch",
    ),
)


_ALERTS = "service.cli.alert_commands"
_ALERT_ID = Argument("id", "its id, as `alerts list` shows it", kind="number", metavar="ID")

_ALERT_COMMANDS = (
    Command(
        "alerts add",
        "be told when a price, a verdict, funding, the regime or breadth changes",
        f"{_ALERTS}:add_alert",
        (
            Argument("rule", '"BTC > 120000", "verdict BTC", "funding BTC", regime, "regime BTC" or breadth'),
            Argument(
                "--to",
                "where to: https://…, telegram://BOT_TOKEN/CHAT_ID, ntfy://HOST/TOPIC or mailto:ADDRESS",
                metavar="URL",
                required=True,
            ),
            _ACCOUNT_JSON,
            *CONNECTING,
        ),
        example='verdict alerts add "BTC > 120000" --to https://example.org/hook',
    ),
    Command(
        "alerts list",
        "list your alerts and their state",
        f"{_ALERTS}:list_alerts",
        (_ACCOUNT_JSON, *CONNECTING),
        example="verdict alerts list",
        default=True,
    ),
    Command(
        "alerts deliveries",
        "list the messages of the last week, and whether they arrived",
        f"{_ALERTS}:list_deliveries",
        (_ACCOUNT_JSON, *CONNECTING),
        example="verdict alerts deliveries",
    ),
    Command(
        "alerts remove",
        "delete an alert",
        f"{_ALERTS}:remove_alert",
        (_ALERT_ID, *CONNECTING),
        example="verdict alerts remove 3",
    ),
    Command(
        "alerts test",
        "send a test message",
        f"{_ALERTS}:test_alert",
        (_ALERT_ID, *CONNECTING),
        example="verdict alerts test 3",
    ),
)


_WALLET_JSON = SHAPING[0]

_WALLET_COMMANDS = (
    Command(
        "spending show",
        "show the wallet that pays, the ceilings, and what is signed for today",
        "service.cli.wallet_command:show_wallet",
        (_WALLET_JSON,),
        example="verdict spending",
        default=True,
    ),
    Command(
        "spending receipts",
        "list the receipts kept on this machine, newest first; needs no service",
        "service.cli.wallet_command:show_receipts",
        (_WALLET_JSON,),
        example="verdict spending receipts",
    ),
)


_SHELL_COMMANDS = (
    Command(
        "completions",
        "print the completion script of a shell",
        "service.cli.completions:show",
        (Argument("shell", "which", choices=("bash", "zsh", "fish")),),
        example="verdict completions bash",
        epilog="service.cli.completions:how_to_install",
    ),
)


_LOGIN_COMMANDS = (
    Command(
        "login",
        "sign in with a wallet, or store an API key",
        "service.cli.login_commands:login",
        (
            Argument(
                "--keystore",
                "sign with this file (Web3 Secret Storage); its password is asked for, or VERDICT_KEYSTORE_PASSWORD. "
                "Without it VERDICT_WALLET_KEY signs if it is set, else the browser's wallet",
                metavar="FILE",
                exclusive="way",
            ),
            Argument(
                "--paste", "finish with what the page shows, if it cannot return here", kind="flag", exclusive="way"
            ),
            Argument("--token", "keep an API key, which is asked for or read from stdin", kind="flag", exclusive="way"),
            Argument("--no-browser", "print the page's address, and open nothing", kind="flag"),
            Argument(
                "--json", "print JSON, as is done where the output is no terminal", kind="flag", exclusive="format"
            ),
            *CONNECTING,
        ),
        example="verdict login",
    ),
    Command(
        "logout",
        "end the session and forget it",
        "service.cli.login_commands:logout",
        CONNECTING,
        example="verdict logout",
    ),
)


_API: Final = LazyCommand("api", "send any request and print the answer as it is", "service.cli.api:api")

OVERVIEW: Final = Command(
    "coin overview",
    "price, changes, trends, funding and verdict of one coin; uses up two questions",
    "service.cli.overview:run",
    (Argument("symbol", "a ticker such as BTC, 1 to 20 letters and digits"), *OFFERED),
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
    ("ask and follow", STREAMED_COMMANDS),
    ("read the market", (OVERVIEW, *OFFER_COMMANDS)),
    ("you", (*_LOGIN_COMMANDS, *_ACCOUNT_COMMANDS, *_ALERT_COMMANDS, *_WALLET_COMMANDS)),
    ("other programs", (*_MCP_COMMANDS, _API, *_SHELL_COMMANDS)),
    ("run a service", _OPERATOR_COMMANDS),
)
