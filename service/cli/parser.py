"""Builds the Click command tree from the command table, each command when it is used: this keeps start-up short."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import click

from service import __version__
from service.cli.command import Arguments, LazyCommand, load
from service.cli.environment import HELP, Environment
from service.cli.parameters import Utf8Text, WholeNumber

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from service.cli.command import Argument, Command, Sections

_ABOUT: Final = "Crypto market data you can check and verdicts you can reproduce."
_EPILOG: Final = (
    "`verdict COMMAND --help` explains a command and shows an example. Output is text on a terminal, JSON elsewhere. "
    "`verdict serve --help` lists the environment variables of the service."
)
_ALIKE: Final = 0.75
"""How alike a mistyped word and a command must be, 0 to 1: `coni` and `coin` are."""

_TICKER: Final = re.compile(r"k?[A-Z0-9]{1,20}", re.ASCII)


class RootGroup(click.Group):
    """`verdict`: groups and commands by their first word, listed in the sections of the table.

    Args:
        sections: The command table.
    """

    def __init__(self, sections: Sections) -> None:
        super().__init__("verdict", help=_ABOUT, epilog=_EPILOG, context_settings=HELP, no_args_is_help=True)
        self.params.append(
            click.Option(
                ["--version"], is_flag=True, expose_value=False, is_eager=True, help="Print the version.",
                callback=_print_version,
            )
        )  # fmt: skip
        self._lazy = {row.words: row for _, rows in sections for row in rows if isinstance(row, LazyCommand)}
        self._rows: dict[str, list[Command]] = {}
        self._sections: list[tuple[str, list[str]]] = []
        for title, rows in sections:
            new = dict.fromkeys(row.words.split()[0] for row in rows if row.words.split()[0] not in self._rows)
            self._sections.append((title, list(new)))
            for row in rows:
                if not isinstance(row, LazyCommand):
                    self._rows.setdefault(row.words.split()[0], []).append(row)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read `help COMMAND` as `COMMAND --help`."""
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - Click's signature
        """First words, in the order of the table."""
        return [word for _, words in self._sections for word in words]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - Click's signature
        """The command or group of a first word."""
        if cmd_name in self._lazy:
            return load(self._lazy[cmd_name].where)  # type: ignore[return-value]  # a command, not a function
        rows = self._rows.get(cmd_name)
        if rows is None:
            return None
        return RowCommand(rows[0]) if rows[0].words == cmd_name else WordGroup(cmd_name, rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of a first word. An upper-case ticker is short for `coin overview TICKER`."""
        word = args[0]
        known = self.list_commands(ctx)
        if word not in known and not ctx.resilient_parsing:
            if _TICKER.fullmatch(word):
                return super().resolve_command(ctx, ["coin", "overview", *args])
            raise click.UsageError(f"No such command {word!r}.{self._nearest(ctx, known, args)}", ctx)
        return super().resolve_command(ctx, args)

    def _nearest(self, ctx: click.Context, known: Sequence[str], args: Sequence[str]) -> str:
        """What was probably meant: the nearest command that knows the second word, a longer command, or a coin."""
        import shlex  # noqa: PLC0415 - for a mistake only
        from difflib import get_close_matches  # noqa: PLC0415 - as above

        word, *rest = args
        groups = {name: group for name in known if isinstance(group := self.get_command(ctx, name), click.Group)}
        seconds = {first: group.list_commands(ctx) for first, group in groups.items()}
        near = get_close_matches(word, known, cutoff=_ALIKE)
        near.sort(key=lambda first: not (rest and rest[0] in seconds.get(first, ())))
        longer = [first for first, words in seconds.items() if word in words]
        if near:
            return f" Did you mean `{shlex.join(['verdict', near[0], *rest])}`?"
        if longer:
            return f" Did you mean `{shlex.join(['verdict', longer[0], *args])}`?"
        ticker = next((one for one in rest if _TICKER.fullmatch(one)), word.upper())
        return f" For a coin: `verdict {ticker}`." if _TICKER.fullmatch(ticker) else ""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """One list for each section."""
        for title, words in self._sections:
            with formatter.section(title):
                formatter.write_dl([(word, self._short_help(word)) for word in words])

    def _short_help(self, word: str) -> str:
        if word in self._lazy:
            return self._lazy[word].summary
        rows = self._rows[word]
        # The summary of a command, or the second words of a group.
        return rows[0].summary if rows[0].words == word else ", ".join(row.words.partition(" ")[2] for row in rows)


class WordGroup(click.Group):
    """Commands with the same first word: `coin risk`, `coin historical`.

    Without a second word the row marked `default` runs, if there is one.

    Args:
        word: The first word.
        rows: Its commands.
    """

    def __init__(self, word: str, rows: Sequence[Command]) -> None:
        self._rows = {row.words.split()[1]: row for row in rows}
        default = next((name for name, row in self._rows.items() if row.default), "")
        first = self._rows[default].arguments[:1] if default else ()
        self._takes_symbol = any(argument.key == "symbol" and not argument.named for argument in first)
        coin = " BTC" if self._takes_symbol else ""
        epilog = f"`verdict {word}{coin}` is short for `verdict {word} {default}{coin}`." if default else None
        super().__init__(word, epilog=epilog, context_settings=HELP)
        self._default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the default command where the second word is missing."""
        is_short = bool(self._default) and not self._takes_symbol and not ctx.resilient_parsing
        if is_short and (not args or args[0].startswith("-")):
            if not {"-h", "--help"} & set(args[:1]):
                args = [self._default, *args]
        elif not args and not ctx.resilient_parsing:
            raise click.UsageError(f"Missing command. Choose from: {', '.join(self._rows)}.", ctx)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - Click's signature
        """Second words, in the order of the table."""
        return list(self._rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - Click's signature
        """The command of a second word."""
        row = self._rows.get(cmd_name)
        return None if row is None else RowCommand(row)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of a second word; a symbol alone stands for the overview of a coin."""
        if args[0] not in self._rows and not ctx.resilient_parsing:
            if self._takes_symbol and self._is_symbol(args):
                return super().resolve_command(ctx, [self._default, *args])
            raise click.exceptions.NoSuchCommand(args[0], possibilities=self._rows, ctx=ctx)
        return super().resolve_command(ctx, args)

    def _is_symbol(self, args: Sequence[str]) -> bool:
        """Whether the words are a symbol and options, and not a mistyped command."""
        from difflib import get_close_matches  # noqa: PLC0415 - not for every command

        word, *rest = args
        is_alone = not rest or rest[0].startswith("-")
        is_ticker = _TICKER.fullmatch(word.upper()) is not None
        return is_alone and is_ticker and (word.isupper() or not get_close_matches(word, self._rows))


class RowCommand(click.Command):
    """One row of the command table.

    Args:
        row: The row.
    """

    def __init__(self, row: Command) -> None:
        super().__init__(
            row.words.split()[-1],
            params=[_parameter(argument) for argument in row.arguments],
            help=_sentence(row.summary),
            short_help=row.summary,
            context_settings=HELP,
        )
        self.row = row

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, then check options that exclude each other."""
        if isinstance(ctx.obj, Environment):
            ctx.obj.command = self.row
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            _check_exclusive(ctx, self.row)
        return rest

    def invoke(self, ctx: click.Context) -> int:
        """Run the command's function.

        Returns:
            The exit code.
        """
        code: int = load(self.row.run)(arguments_of(self.row, ctx.params), ctx.obj.variables)
        return code

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """The example."""
        with formatter.section("Example"):
            formatter.write(f"  {self.row.example}\n")


def arguments_of(row: Command, values: Mapping[str, Any]) -> Arguments:
    """The values that a command's function gets: one attribute per argument, and `command`.

    Args:
        row: The command.
        values: Parsed values by the argument's key.
    """
    return Arguments(**{argument.key: values[argument.key] for argument in row.arguments}, command=row)


def _parameter(argument: Argument) -> click.Parameter:
    kind = _type_of(argument)
    if not argument.named:
        return click.Argument(
            [argument.key],
            type=kind,
            metavar=argument.shown,
            help=_sentence(argument.summary),
        )
    settings: dict[str, Any] = (
        {"is_flag": True} if argument.kind == "flag" else {"type": kind, "metavar": argument.shown}
    )
    if argument.default is not None:  # Click takes None for a value, and then misses no required option
        settings["default"] = argument.default
    return click.Option(
        [argument.name, argument.key],
        required=argument.required,
        help=_sentence(_with_choices(argument)),
        **settings,
    )


def _type_of(argument: Argument) -> click.ParamType[Any]:
    return click.Choice(argument.choices) if argument.choices else _Text(argument)


class _Text(click.ParamType[Any]):
    """Text in UTF-8, an integer, or what the argument's own function parses."""

    name = "text"

    def __init__(self, argument: Argument) -> None:
        self._argument = argument

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        Utf8Text().convert(value, param, ctx)
        if self._argument.kind == "number":
            return WholeNumber().convert(value, param, ctx)
        if self._argument.parse:
            try:
                return load(self._argument.parse)(value)
            except ValueError as error:
                self.fail(f"{error}.".replace("..", "."), param, ctx)
        return value


def _check_exclusive(ctx: click.Context, row: Command) -> None:
    given: dict[str, str] = {}
    for argument in row.arguments:
        if ctx.get_parameter_source(argument.key) is not click.core.ParameterSource.COMMANDLINE:
            continue
        other = given.setdefault(argument.exclusive or argument.name, argument.name)
        if other != argument.name:
            raise click.UsageError(f"Options {other!r} and {argument.name!r} exclude each other.", ctx)


def _print_version(ctx: click.Context, _option: click.Parameter, value: object) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"verdict {__version__}")
        ctx.exit()


def _with_choices(argument: Argument) -> str:
    choices = "" if argument.shown == "|".join(argument.choices) else ", ".join(argument.choices)
    return f"{argument.summary}: {choices}" if choices else argument.summary


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
