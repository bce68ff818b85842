"""What a command runs in, and the Click classes and options that commands share.

A command is a Click function that takes the `Environment` and returns an exit code::

    @click.command("show", cls=VerdictCommand, short_help="Show one payment.")
    @json_option
    @click.pass_obj
    def show(environment: Environment, *, as_json: bool) -> int: ...
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from service.cli.command import Command, Sections
    from service.cli.terminal import Display

    Function = TypeVar("Function", bound=Callable[..., Any])

HELP: Final = {"help_option_names": ["-h", "--help"]}


class Environment:
    """State of one command line, the `obj` of every Click context.

    Args:
        variables: Environment variables of the process.
        sections: The command table.

    Attributes:
        command: The command that was recognized; None until then.
    """

    def __init__(self, variables: Mapping[str, str], sections: Sections = ()) -> None:
        self.variables = variables
        self.sections = sections
        self.command: click.Command | Command | None = None

    @property
    def screen(self) -> Display:
        """Width and colours of standard output."""
        from service.cli.terminal import screen_of  # noqa: PLC0415 - only commands that print tables need it

        return screen_of(self.variables, sys.stdout)

    def prints_json(self, as_json: bool) -> bool:
        """Whether to print JSON: on request, and where standard output is no terminal."""
        return as_json or not sys.stdout.isatty()


class VerdictCommand(click.Command):
    """A command that is known to the error report, and ends its help with an example.

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
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The example, then the epilog."""
        if self.example:
            with formatter.section("Example"):
                formatter.write(f"  {self.example}\n")
        super().format_epilog(ctx, formatter)


class VerdictGroup(click.Group):
    """A group whose commands are `VerdictCommand`. A mistyped word is answered with the nearest ones.

    Args:
        default: The command that runs if none is named.
        **settings: Of `click.Group`.
    """

    command_class = VerdictCommand
    group_class = type

    def __init__(self, *args: Any, default: str = "", **settings: Any) -> None:
        super().__init__(*args, **{"context_settings": HELP, **settings})
        self._default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the default command where none is named."""
        if not ctx.resilient_parsing and not {"-h", "--help"} & set(args[:1]):
            if self._default and (not args or args[0].startswith("-")):
                args = [self._default, *args]
            elif not args:
                raise click.UsageError(f"Missing command. Choose from: {', '.join(self.list_commands(ctx))}.", ctx)
        return super().parse_args(ctx, args)


def url_option(function: Function) -> Function:
    """Add `--url`, of every command that calls a service."""
    return click.option("--url", metavar="URL", help="The service (VERDICT_URL, else what is configured).")(function)


def json_option(function: Function) -> Function:
    """Add `--json`, as the parameter `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def dry_run_option(function: Function) -> Function:
    """Add `--dry-run`, of every command whose request is counted."""
    return click.option("--dry-run", is_flag=True, help="Show the request and its price, and send nothing.")(function)


def exclude(ctx: click.Context, names: Sequence[str]) -> None:
    """Check that at most one of these parameters was given.

    Raises:
        click.UsageError: If two were.
    """
    options = {parameter.name: parameter.opts[0] for parameter in ctx.command.params}
    given = [name for name in names if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE]
    if len(given) > 1:
        raise click.UsageError(f"Options {options[given[0]]!r} and {options[given[1]]!r} exclude each other.", ctx)
