"""The Click group `verdict`, which makes groups and commands from the table when they are used."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import click

from service import __version__
from service.cli.commands import SECTIONS, CatalogueRow
from service.cli.environment import HELP, VerdictGroup
from service.cli.terminal import cut
from service.client.errors import SECRET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.cli.commands import LazyCommand

_ABOUT: Final = "Crypto market data you can check and verdicts you can reproduce."
_EPILOG: Final = (
    "`verdict COMMAND --help` explains a command and shows an example. Output is text on a terminal, JSON elsewhere. "
    "`verdict serve --help` lists the environment variables of the service."
)
_ALIKE: Final = 0.75
"""How alike a mistyped word and a command must be, 0 to 1: `coni` and `coin` are."""

_MOST_SHOWN: Final = 40
"""Letters of a word that a message repeats."""

_LONGEST_TICKER: Final = 5
"""Letters: a longer word in lower case is a coin's name rather than its ticker."""

_TICKER: Final = re.compile(r"k?[A-Z0-9]{1,20}", re.ASCII)


class RootGroup(click.Group):
    """`verdict`: groups and commands by their first word, listed in the sections of the table."""

    def __init__(self) -> None:
        super().__init__("verdict", help=_ABOUT, epilog=_EPILOG, context_settings=HELP, no_args_is_help=True)
        click.version_option(__version__, message=f"verdict {__version__}", help="Print the version.")(self)
        self.rows: dict[str, list[LazyCommand | CatalogueRow]] = {}
        for _, rows in SECTIONS:
            for row in rows:
                self.rows.setdefault(row.words.partition(" ")[0], []).append(row)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read `help COMMAND` as `COMMAND --help`."""
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - Click's signature
        """First words, in the order of the table."""
        return list(self.rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - Click's signature
        """The command or group of a first word."""
        rows = self.rows.get(cmd_name)
        if rows is None:
            return None
        if rows[0].words == cmd_name:
            return rows[0].command()
        if cmd_name == "coin":
            return CoinGroup(cmd_name, rows=rows, epilog="`verdict coin BTC` is short for `verdict coin overview BTC`.")
        default = next((row.words.split()[1] for row in rows if isinstance(row, CatalogueRow) and row.default), "")
        epilog = f"`verdict {cmd_name}` is short for `verdict {cmd_name} {default}`." if default else None
        return VerdictGroup(cmd_name, rows=rows, default=default, epilog=epilog)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of a first word. An upper-case ticker is short for `coin overview TICKER`."""
        word = args[0]
        if word not in self.rows and not ctx.resilient_parsing:
            if _TICKER.fullmatch(word):
                return super().resolve_command(ctx, ["coin", "overview", *args])
            shown = word if SECRET.search(word) else cut(word, _MOST_SHOWN)  # a whole secret is masked
            raise click.UsageError(f"No such command {shown!r}.{self._nearest(ctx, args)}", ctx)
        return super().resolve_command(ctx, args)

    def _nearest(self, ctx: click.Context, args: Sequence[str]) -> str:
        """What was probably meant: the nearest command that knows the second word, a longer command, or a coin."""
        import shlex  # noqa: PLC0415 - for a mistake only
        from difflib import get_close_matches  # noqa: PLC0415 - as above
        from itertools import takewhile  # noqa: PLC0415 - as above

        word, *rest = args
        groups = {name: group for name in self.rows if isinstance(group := self.get_command(ctx, name), click.Group)}
        seconds = {first: group.list_commands(ctx) for first, group in groups.items()}
        near = get_close_matches(word, self.rows, cutoff=_ALIKE)
        near.sort(key=lambda first: not (rest and rest[0] in seconds.get(first, ())))
        longer = [first for first, words in seconds.items() if word in words]
        words = list(takewhile(lambda one: not one.startswith("-"), args))
        ticker = next(filter(_TICKER.fullmatch, words[1:]), "")
        name = " ".join(words).strip()
        is_name = 0 < len(name) <= _MOST_SHOWN and not ticker
        by_name = f" To find a coin by name: `{shlex.join(['verdict', 'resolve', name])}`." if is_name else ""
        if near:
            return f" Did you mean `{shlex.join(['verdict', near[0], *rest])}`?{by_name if len(words) == 1 else ''}"
        if longer:
            return f" Did you mean `{shlex.join(['verdict', longer[0], *args])}`?"
        if len(words) == 1 and len(word) <= _LONGEST_TICKER and _TICKER.fullmatch(word.upper()):
            ticker = word.upper()
        return (f" For a coin: `verdict {ticker}`." if ticker else "") + by_name

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """One list for each section. A group is described by its second words."""
        listed: set[str] = set()
        for title, rows in SECTIONS:
            words = [word for word in dict.fromkeys(row.words.split()[0] for row in rows) if word not in listed]
            listed.update(words)
            with formatter.section(title):
                formatter.write_dl([(word, self._short_help(word)) for word in words])

    def _short_help(self, word: str) -> str:
        rows = self.rows[word]
        return rows[0].summary if rows[0].words == word else ", ".join(row.words.split()[1] for row in rows)


class CoinGroup(VerdictGroup):
    """`verdict coin`: a symbol in the place of a command stands for its overview."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of a second word."""
        from difflib import get_close_matches  # noqa: PLC0415 - not for every command

        word, *rest = args
        is_alone = not rest or rest[0].startswith("-")
        is_symbol = word not in self.rows and is_alone and _TICKER.fullmatch(word.upper())
        if is_symbol and not ctx.resilient_parsing and (word.isupper() or not get_close_matches(word, self.rows)):
            args = ["overview", *args]
        return super().resolve_command(ctx, args)
