"""The command line. Standard library only: this is all that `verdict --help` has to import."""

import argparse
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Final, NoReturn

from service import __version__

_WIDTH: Final = 80
_MARGIN: Final = " " * 6
_MOST_WORKERS: Final = 64
_TIERS: Final = ("free", "access", "pro")
_SCHEMES: Final = ("anchored", "rolling")
_STATES: Final = ("claimed", "settling", "settled", "delivered", "released", "failed")

Commands = argparse._SubParsersAction  # noqa: SLF001 - argparse gives the type of `add_subparsers` no public name


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line and whose help fits 80 columns.

    Args:
        prog: The command as it is typed.
        description: What it does.
        more: Writes a further section of the help; called only when help is asked for.
    """

    def __init__(self, prog: str, description: str, more: Callable[[], str] | None = None) -> None:
        super().__init__(prog=prog, description=description, formatter_class=_formatter, allow_abbrev=False)
        self._more = more

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to read more, in one line, with exit code 2."""
        self.exit(2, f"{self.prog}: {message}; see `{self.prog} --help`\n")

    def format_help(self) -> str:
        """Help, and the further section if there is one."""
        return super().format_help() + (self._more() if self._more else "")


def _settings() -> str:
    from service.settings import describe  # noqa: PLC0415 - msgspec is loaded for this help only

    rows = [f"  {row.variable} ({row.default or 'unset'})\n{_indented(row.description)}\n" for row in describe()]
    return "\nsettings (environment variables, with their defaults):\n" + "".join(rows)


def _indented(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=_MARGIN, subsequent_indent=_MARGIN)


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.HelpFormatter(prog, max_help_position=28, width=_WIDTH)


def build_parser() -> Parser:
    """The whole command line of `verdict`.

    Returns:
        A parser whose result carries `run`, the `module:function` of the command (absent where none was named).
    """
    parser = Parser(
        prog="verdict",
        description="Crypto market data you can check and verdicts you can reproduce.",
        more=lambda: "\nSettings are environment variables; `verdict serve --help` lists them.\n",
    )
    parser.add_argument("--version", action="version", version=f"verdict {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    add_operator_commands(commands)
    return parser


def add_operator_commands(commands: "Commands[Parser]") -> None:
    """Add the operator's commands to a command line."""
    _add_serve(commands)
    _add_keys(commands)
    _add_grants(commands)
    _add_payments(commands)
    _add_wallets(commands)
    usage = _add(commands, "usage", "show how many questions users have asked", "service.operator.usage:show")
    usage.add_argument("--user", type=int, metavar="N", help="only this user")
    _add_json(usage)
    doctor = _add(
        commands, "doctor", "check the data folder; exit code 1 on a finding", "service.operator.doctor:check"
    )
    doctor.add_argument("--repair", action="store_true", help="set counters and days right; stop the service first")
    _add_json(doctor)
    backup = _add(commands, "backup", "copy the database while it is in use", "service.operator.backup:copy")
    backup.add_argument("out", metavar="OUT", help="file to write; must not exist yet")
    record = _add(commands, "record", "capture live upstreams as a fixture set", "service.operator.record:capture")
    record.add_argument("--out", required=True, metavar="DIR", help="folder to write; must be new or empty")
    record.add_argument("coins", nargs="*", metavar="COIN", help="only these coins (all that are listed)")
    _add_verdicts(commands)


def _add_verdicts(commands: "Commands[Parser]") -> None:
    verify = _add(
        commands,
        "verify",
        "recompute a saved verdict, without a service; exit code 1 where it differs",
        "service.operator.verify:verify",
    )
    verify.add_argument("file", metavar="FILE", help="an answer of /api/cli/signal; - is standard input")
    scorecard = _add(commands, "scorecard", "show how past verdicts turned out", "service.operator.scorecard:show")
    _add_json(scorecard)
    walkforward = _group(commands, "walkforward", "walk the recorded market forward")
    run = _add(
        walkforward,
        "run",
        "walk the recorded market forward, and say what came of it",
        "service.operator.walkforward:run",
    )
    run.add_argument("--recordings", metavar="DIR", help="a folder of recorded candles and funding; keeps nothing")
    run.add_argument(
        "--scheme",
        choices=_SCHEMES,
        default=_SCHEMES[0],
        help="train on all days before a fold, or on the last 365 (anchored)",
    )
    _add_json(run)


def _add_serve(commands: "Commands[Parser]") -> None:
    serve = _add(commands, "serve", "start the service", "service.operator.serve:serve", more=_settings)
    serve.add_argument(
        "--workers", type=_workers, default=1, metavar="N", help=f"worker processes, 1 to {_MOST_WORKERS} (1)"
    )
    serve.add_argument(
        "--first-key", action="store_true", help="make a fresh key named `make run` and print how to try it"
    )
    serve.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    serve.add_argument("--listener", type=int, help=argparse.SUPPRESS)


def _add_keys(commands: "Commands[Parser]") -> None:
    keys = _group(commands, "keys", "create, list and revoke API keys")
    create = _add(keys, "create", "create a key, shown this once", "service.operator.keys:create")
    create.add_argument("--name", required=True, help="what the key is for")
    create.add_argument("--tier", choices=_TIERS, help="also grant the user this tier")
    create.add_argument("--expires", metavar="30d", help="when key and grant end: 90m, 12h, 30d, 52w (never)")
    create.add_argument("--wallet", metavar="0x…", help="the user who has proven this wallet; made if there is none")
    create.add_argument("--user", type=int, metavar="N", help="an existing user (a new one)")
    _add_json(create)
    listing = _add(keys, "list", "list all keys, newest first", "service.operator.keys:show")
    listing.add_argument("--user", type=int, metavar="N", help="only this user's")
    _add_json(listing)
    revoke = _add(keys, "revoke", "revoke a key at once", "service.operator.keys:revoke")
    revoke.add_argument("prefix", metavar="PREFIX", help="the key's display prefix, as `keys list` shows it")


def _add_grants(commands: "Commands[Parser]") -> None:
    grants = _group(commands, "grants", "give tiers, list them, take them back")
    add = _add(grants, "add", "give a tier to a user or a wallet", "service.operator.grants:add")
    holder = add.add_mutually_exclusive_group(required=True)
    holder.add_argument("--user", type=int, metavar="N", help="a user")
    holder.add_argument("--wallet", metavar="0x…", help="whoever proves this wallet")
    add.add_argument("--tier", choices=_TIERS[1:], required=True, help="the tier")
    add.add_argument("--expires", metavar="30d", help="when it ends: 90m, 12h, 30d, 52w (never)")
    _add_json(add)
    listing = _add(grants, "list", "list all grants, newest first", "service.operator.grants:show")
    _add_json(listing)
    revoke = _add(grants, "revoke", "end a grant at once", "service.operator.grants:revoke")
    revoke.add_argument("grant", type=int, metavar="ID", help="the grant's id, as `grants list` shows it")


def _add_payments(commands: "Commands[Parser]") -> None:
    payments = _group(commands, "payments", "list, explain, resolve, export and verify payments")
    listing = _add(payments, "list", "list payments, newest first", "service.operator.payments:show_all")
    listing.add_argument("--user", type=int, metavar="N", help="only this user's")
    listing.add_argument("--state", choices=_STATES, metavar="STATE", help=f"only these: {', '.join(_STATES)}")
    _add_json(listing)
    show = _add(payments, "show", "show one payment, and its receipt", "service.operator.payments:show")
    show.add_argument("payment", metavar="ID", help="its id, as `payments list` shows it")
    _add_json(show)
    reconcile = _add(
        payments,
        "reconcile",
        "ask now how payments ended; exit code 1 if one stays open",
        "service.operator.reconcile:reconcile",
    )
    reconcile.add_argument("payment", nargs="?", metavar="ID", help="only this one (all whose end is not known)")
    _add_json(reconcile)
    export = _add(payments, "export", "print every receipt, oldest first", "service.operator.payments:export")
    form = export.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="comma-separated, without signatures (the default)")
    form.add_argument("--json", action="store_true", help="print JSON, each receipt with its signature")
    verify = _add(
        payments,
        "verify",
        "say who signed a saved receipt, without a service; exit code 1 if another",
        "service.operator.receipt:verify",
    )
    verify.add_argument("file", metavar="FILE", help="an answer of /api/receipts/{id}; - is standard input")
    verify.add_argument("--signer", metavar="0x…", help="who must have: `receiptSigner` of the service's manifest")


def _add_wallets(commands: "Commands[Parser]") -> None:
    wallets = _group(commands, "wallets", "watch wallets, name them, list them, let them go")
    add = _add(wallets, "add", "watch a wallet", "service.operator.wallets:add")
    add.add_argument("address", metavar="ADDRESS", help="0x and 40 hexadecimal digits")
    add.add_argument("--label", metavar="TEXT", help="what it is called")
    add.add_argument("--kind", metavar="TEXT", help="what it is, in a word: exchange, fund")
    remove = _add(wallets, "remove", "watch a wallet no longer", "service.operator.wallets:remove")
    remove.add_argument("address", metavar="ADDRESS", help="as `wallets list` shows it")
    label = _add(wallets, "label", "call a watched wallet something else", "service.operator.wallets:label")
    label.add_argument("address", metavar="ADDRESS", help="as `wallets list` shows it")
    label.add_argument("label", metavar="LABEL", help="what it is called")
    listing = _add(wallets, "list", "list the watched wallets, by address", "service.operator.wallets:show")
    _add_json(listing)


def _group(commands: "Commands[Parser]", name: str, summary: str) -> "Commands[Parser]":
    group = commands.add_parser(name, help=summary, description=_sentence(summary))
    return group.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)


def _add(
    commands: "Commands[Parser]", name: str, summary: str, run: str, more: Callable[[], str] | None = None
) -> Parser:
    parser = commands.add_parser(name, help=summary, description=_sentence(summary), more=more)
    parser.set_defaults(run=run)
    return parser


def _sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}."


def _add_json(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def _workers(text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text) <= _MOST_WORKERS:
        return int(text)
    raise argparse.ArgumentTypeError(f"takes 1 to {_MOST_WORKERS}, not {text!r}")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read a command line.

    Args:
        arguments: Without the program's name.

    Raises:
        SystemExit: With 2 and one line on stderr where it cannot be understood; with 0 after help or version.
    """
    parser = build_parser()
    found = parser.parse_args(arguments)
    if not hasattr(found, "run"):
        parser.print_help(sys.stderr)
        parser.exit(2)
    return found
