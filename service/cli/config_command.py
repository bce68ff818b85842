"""`verdict config` shows and changes the client configuration; `verdict completions` prints a shell's script."""

from collections.abc import Iterator, Mapping
from typing import Final

import click
from click.shell_completion import ShellComplete, get_completion_class

from service.cli.environment import Environment, Utf8Text, VerdictCommand, VerdictGroup, json_option
from service.cli.layout import table
from service.cli.main import COMPLETE
from service.cli.output_format import put_document, put_lines
from service.cli.terminal import Cell
from service.client import config as settings
from service.client.caller import url_of
from service.client.errors import DONE, RefusalError

_NAME: Final = click.argument("name", type=click.Choice(tuple(settings.CHOICES)), metavar="NAME", help="Which.")

config = VerdictGroup("config", default="list", help="Preferences of the command line.")


@config.command("list", example="verdict config list")
@json_option
@click.pass_obj
def show(environment: Environment, *, as_json: bool) -> int:
    """List the preferences, and where each comes from."""
    rows = list(_holding(environment.variables))
    if environment.prints_json(as_json):
        put_document({name: {"value": value, "from": source} for name, value, source in rows})
    else:
        cells = [[name, value, Cell(source, "dim")] for name, value, source in rows]
        put_lines(table(environment.screen, ("NAME", "VALUE", "FROM"), cells))
    return DONE


@config.command("get", example="verdict config get url")
@_NAME
@click.pass_obj
def get(environment: Environment, name: str) -> int:
    """Print one value."""
    found = {each: value for each, value, _ in _holding(environment.variables)}[name]
    if found is None:
        raise RefusalError(f"{name} is not set. Set it with `verdict config set {name} VALUE`.")
    put_lines([found])
    return DONE


@config.command("set", example="verdict config set max-price 0.05")
@_NAME
@click.argument("value", type=Utf8Text(), help="The value.")
@click.pass_obj
def set_value(environment: Environment, name: str, value: str) -> int:
    """Set one value."""
    try:
        read = settings.CHOICES[name].read(value)
    except ValueError as error:
        raise RefusalError(f"{name}: {error}") from None
    _write(environment, name, read)
    return DONE


@config.command("unset", example="verdict config unset max-price")
@_NAME
@click.pass_obj
def unset(environment: Environment, name: str) -> int:
    """Reset to the default."""
    _write(environment, name, None)
    return DONE


@config.command("path", example="verdict config path")
@click.pass_obj
def path(environment: Environment) -> int:
    """Print the path of the file."""
    put_lines([str(settings.path(environment.variables))])
    return DONE


def _write(environment: Environment, name: str, value: object) -> None:
    chosen = settings.read(environment.variables)._replace(**{settings.CHOICES[name].field: value})  # type: ignore[arg-type]
    settings.write(environment.variables, chosen)


def _holding(variables: Mapping[str, str]) -> Iterator[tuple[str, str | None, str]]:
    """Name, value and source of each preference."""
    chosen = settings.shown(settings.read(variables))
    for name, choice in settings.CHOICES.items():
        if name == "url" and variables.get("VERDICT_URL"):
            yield name, url_of(None, variables), "VERDICT_URL"
        elif name in chosen:
            yield name, chosen[name], "the file"
        else:
            yield name, choice.otherwise, "default" if choice.otherwise else "-"


_INSTALL: Final = """\b
Install:
  bash, in ~/.bashrc:
    source <(verdict completions bash)
  zsh, in ~/.zshrc, after compinit:
    source <(verdict completions zsh)
  fish:
    verdict completions fish > ~/.config/fish/completions/verdict.fish
"""


@click.command("completions", cls=VerdictCommand, example="verdict completions bash", epilog=_INSTALL)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="bash|zsh|fish", help="Which.")
@click.pass_context
def completions(context: click.Context, shell: str) -> int:
    """Print the completion script of a shell."""
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - Click knows each of the three
    # The class's own `source` runs bash to check its version, and fails if bash is missing.
    script = ShellComplete.source(kind(context.find_root().command, {}, "verdict", COMPLETE))
    put_lines([script])
    return DONE
