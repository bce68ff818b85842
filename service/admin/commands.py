"""The group `verdict admin`: commands on a data folder. Each is imported when it is used."""

from collections.abc import Sequence

import click

from service.cli.command import LazyCommand, load
from service.cli.environment import VerdictGroup

COMMANDS = (
    LazyCommand("keys", "create, list and revoke API keys", "service.admin.accounts:keys"),
    LazyCommand("grants", "give tiers to users and wallets", "service.admin.accounts:grants"),
    LazyCommand("usage", "show how many questions users have asked", "service.admin.accounts:usage"),
    LazyCommand("payments", "list, export, reconcile and resume payments", "service.admin.payments:payments"),
    LazyCommand("receipts", "verify a saved receipt", "service.admin.receipts:receipts"),
    LazyCommand("wallets", "choose the wallets that are watched", "service.admin.wallets:wallets"),
    LazyCommand("backup", "copy the database while it is in use", "service.admin.store:backup"),
    LazyCommand("doctor", "check the data folder; exit code 1 on a finding", "service.admin.doctor:doctor"),
    LazyCommand("quarantine", "list values that are held back, and why", "service.admin.quarantine:quarantine"),
    LazyCommand("record", "capture live upstreams as a fixture set", "service.admin.store:record"),
    LazyCommand("init", "start with an empty store in a folder whose store is lost", "service.admin.store:initialize"),
    LazyCommand("migrate", "copy all stored data to another, empty store", "service.admin.store:migrate"),
    LazyCommand("walkforward", "walk the stored market forward now", "service.admin.walkforward:walkforward"),
)
"""In the order of the help."""

_HELP = (
    "Operate a service: commands on its data folder (VERDICT_DATA_DIR), also while it runs. "
    "`verdict keys`, `verdict spending` and `verdict doctor` are about you as a caller."
)


class AdminGroup(VerdictGroup):
    """A group whose commands are loaded one by one.

    Args:
        rows: Its commands.
    """

    def __init__(self, rows: Sequence[LazyCommand]) -> None:
        super().__init__("admin", help=_HELP)
        self._rows = {row.words: row for row in rows}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - Click's signature
        """In the order of the table."""
        return list(self._rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - Click's signature
        """The command of a word."""
        row = self._rows.get(cmd_name)
        return None if row is None else load(row.where)  # type: ignore[return-value]  # a command, not a function

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of a word. A mistyped one is answered with the nearest."""
        if args[0] not in self._rows and not ctx.resilient_parsing and not args[0].startswith("-"):
            raise click.exceptions.NoSuchCommand(args[0], possibilities=self._rows, ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """The summaries of the table: no command is loaded."""
        with formatter.section("Commands"):
            formatter.write_dl([(row.words, row.summary) for row in self._rows.values()])


admin = AdminGroup(COMMANDS)
