"""The environment of a command, and the Click classes, types and options that commands share.

A command is a Click function that takes the `Environment` and returns an exit code::

    @click.command("show", cls=VerdictCommand, short_help="Show one payment.")
    @json_option
    @click.pass_obj
    def show(environment: Environment, *, as_json: bool) -> int: ...
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from service.cli.commands import CatalogueRow, LazyCommand
    from service.cli.terminal import Display
    from service.client.answer import RawAnswer
    from service.client.connection import ApiConnection

HELP: Final = {"help_option_names": ["-h", "--help"]}


class Environment:
    """State of one command line, the `obj` of every Click context.

    Args:
        variables: Environment variables of the process.

    Attributes:
        command: The command that was recognized; None until then.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables = variables
        self.command: click.Command | None = None

    @property
    def screen(self) -> Display:
        """Width and colours of standard output."""
        from service.cli.terminal import screen_of  # noqa: PLC0415 - only commands that print tables need it

        return screen_of(self.variables, sys.stdout)

    def prints_json(self, as_json: bool) -> bool:
        """Whether to print JSON: on request, and where standard output is no terminal."""
        return as_json or not sys.stdout.isatty()

    def client(self, url: str | None, *, token: bool = True) -> ApiConnection:
        """A client for the service at `--url`; public routes need no token.

        Raises:
            RefusalError: If URL or token is not valid, or stored credentials cannot be read.
        """
        from service.client.caller import open_client  # noqa: PLC0415 - not every command calls a service

        return open_client(url, self.variables, token=token)

    def show(self, answer: RawAnswer, lines: Callable[[], Iterable[str]], *, as_json: bool) -> int:
        """Print an answer, as it is for programs, else as these lines; the exit code.

        Raises:
            UnreadableAnswerError: If the answer lacks what the lines are made of.
        """
        from service.cli.output_format import put_json, put_lines  # noqa: PLC0415 - as above
        from service.client.answer import reading  # noqa: PLC0415 - as above
        from service.client.errors import DONE  # noqa: PLC0415 - as above

        if self.prints_json(as_json):
            put_json(answer)
        else:
            with reading():
                shown = list(lines())
            put_lines(shown)
        return DONE


class VerdictCommand(click.Command):
    """A command that tells the error report which one it is, and ends its help with an example.

    Args:
        example: A complete line: `verdict backup copy.db`.
        **settings: Of `click.Command`.
    """

    def __init__(self, *args: Any, example: str = "", **settings: Any) -> None:
        super().__init__(*args, **{"context_settings": HELP, **settings})
        self.example = example

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, after noting which command is used."""
        if isinstance(ctx.obj, Environment):
            ctx.obj.command = self
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # Click's parser leaves it out
            raise

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The example, then the epilog."""
        if self.example:
            with formatter.section("Example"):
                formatter.write(f"  {self.example}\n")
        super().format_epilog(ctx, formatter)


class VerdictGroup(click.Group):
    """A group of functions, or of rows whose commands are loaded when they are used.

    A mistyped word is answered with the nearest ones.

    Args:
        default: The command that runs if none is named.
        rows: Its commands, if they are rows of a table.
        **settings: Of `click.Group`.
    """

    command_class = VerdictCommand
    group_class = type

    def __init__(
        self, *args: Any, default: str = "", rows: Sequence[LazyCommand | CatalogueRow] = (), **settings: Any
    ) -> None:
        super().__init__(*args, **{"context_settings": HELP, **settings})
        self.default = default
        self.rows = {row.words.split()[-1]: row for row in rows}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the default command where none is named."""
        if not ctx.resilient_parsing and not {"-h", "--help"} & set(args[:1]):
            if self.default and (not args or args[0].startswith("-")):
                args = [self.default, *args]
            elif not args:
                raise click.UsageError(f"Missing command. Choose from: {', '.join(self.list_commands(ctx))}.", ctx)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Rows in the order of their table, functions by name."""
        return [*self.rows, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a word."""
        row = self.rows.get(cmd_name)
        return super().get_command(ctx, cmd_name) if row is None else row.command()

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of a word."""
        names = self.list_commands(ctx)
        if args[0] not in names and not ctx.resilient_parsing and not args[0].startswith("-"):
            self._suggest(ctx, args)
            raise click.exceptions.NoSuchCommand(args[0], possibilities=names, ctx=ctx)
        return super().resolve_command(ctx, args)

    def _suggest(self, ctx: click.Context, args: list[str]) -> None:
        """Refuse a word that is no command with the first command that takes it: `rwa TSLA` with `rwa symbol TSLA`."""
        from difflib import get_close_matches  # noqa: PLC0415 - for a mistake only
        from shlex import join  # noqa: PLC0415 - as above

        takes = (row for row in self.rows.values() if any(not one.typed for one in getattr(row, "parameters", ())))
        words = next((row.words for row in takes), "")
        if words and not get_close_matches(args[0], self.rows):
            line = join(["verdict", *words.split(), *args])
            raise click.UsageError(f"No such command {args[0]!r}. Did you mean `{line}`?", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The summaries of rows, for which no command is loaded."""
        if not self.rows:
            super().format_commands(ctx, formatter)
            return
        with formatter.section("Commands"):
            formatter.write_dl([(name, row.summary) for name, row in self.rows.items()])


class _TextType(click.ParamType[Any]):
    """A typed text, converted by `parse`, which raises `ValueError` with sentences."""

    name = "text"

    def parse(self, text: str) -> Any:
        return text

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            value.encode()  # shells pass any bytes
            return self.parse(value)
        except UnicodeEncodeError:
            self.fail("The text is not UTF-8.", param, ctx)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Utf8Text(_TextType):
    """Text in UTF-8."""


class WholeNumber(_TextType):
    """An integer in ASCII digits."""

    name = "number"

    def parse(self, text: str) -> int:
        """The number."""
        if not re.fullmatch("-?[0-9]+", text):
            raise ValueError(f"{text!r} is not a whole number.")
        return int(text)


class RowId(_TextType):
    """The id of a user, grant or other row: an integer from 1 to 2^63 - 1."""

    name = "id"

    def parse(self, text: str) -> int:
        """The number."""
        if not (text.isascii() and text.isdigit() and 0 < int(text[:20]) < 2**63):
            raise ValueError(f"{text!r} is not a whole number from 1.")
        return int(text)


class Duration(_TextType):
    """`90m`, `12h`, `30d` or `52w`, as milliseconds.

    Args:
        zero: Whether `0m` is one.
    """

    name = "duration"

    def __init__(self, *, zero: bool = False) -> None:
        self._zero = zero

    def parse(self, text: str) -> int:
        """Milliseconds."""
        from service.clock import DAY_MS, HOUR_MS, MINUTE_MS  # noqa: PLC0415 - this module is loaded at every start

        units_ms = {"m": MINUTE_MS, "h": HOUR_MS, "d": DAY_MS, "w": 7 * DAY_MS}
        found = re.fullmatch("([0-9]{1,6})([mhdw])", text)
        if not found or not (int(found[1]) or self._zero):
            raise ValueError(f"{text!r} is not a duration. Write a number and a unit, such as 90m, 12h, 30d or 52w.")
        return int(found[1]) * units_ms[found[2]]


class Usdc(_TextType):
    """An amount of USDC in decimal notation, as micro-USD."""

    name = "usdc"

    def parse(self, text: str) -> int:
        """Micro-USD."""
        from service.client.config import read_usdc  # noqa: PLC0415 - as above

        return read_usdc(text)


class FieldNames(_TextType):
    """Names separated by commas."""

    name = "names"

    def parse(self, text: str) -> list[str]:
        """The names."""
        names = [name.strip() for name in text.split(",") if name.strip()]
        if not names:
            raise ValueError("No field is named. Write fields like price,trend_daily.")
        return names


url_option: Final = click.option("--url", metavar="URL", help="The service (VERDICT_URL, else what is configured).")
json_option: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
dry_run_option: Final = click.option(
    "--dry-run", is_flag=True, help="Show the request and its price, and send nothing."
)
yes_option: Final = click.option("--yes", is_flag=True, help="Pay without asking, below the ceilings.")


def max_price_of(calls: str) -> Callable[[Any], Any]:
    """The option of the ceiling for `calls`."""
    text = f"Most that {calls} may cost, in USDC (0.10)."
    return click.option("--max-price", type=Usdc(), metavar="USDC", help=text)


max_price_option: Final = max_price_of("one call")

SHAPING: Final = (
    click.option(
        "--json", "as_json", is_flag=True, help="Print the answer as JSON, as is done where the output is no terminal."
    ),
    click.option("--ndjson", is_flag=True, help="Print a JSON object a line: the entries of a list."),
    click.option("--csv", is_flag=True, help="Print comma-separated values, where there are entries."),
    click.option("--fields", type=FieldNames(), metavar="A,B", help="Only these fields, by name, separated by commas."),
)
"""Options of every command that shows the answer of a route."""

PAYING: Final = (dry_run_option, yes_option, max_price_option)
"""Options of every command that calls a priced route; the first alone where the route is free."""


def exclude(ctx: click.Context, names: Sequence[str]) -> None:
    """Check that at most one of these parameters was given.

    Raises:
        click.UsageError: If two were.
    """
    options = {parameter.name: parameter.opts[0] for parameter in ctx.command.params}
    given = [name for name in names if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE]
    if len(given) > 1:
        raise click.UsageError(f"Options {options[given[0]]!r} and {options[given[1]]!r} exclude each other.", ctx)
