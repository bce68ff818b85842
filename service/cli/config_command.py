"""`verdict config`: shows and changes the client configuration."""

from __future__ import annotations

from typing import Final

from service.cli.layout import table
from service.cli.output_format import format_of, put_document, put_lines, stdout_screen
from service.cli.terminal import Cell
from service.client import config
from service.client.caller import url_of
from service.client.errors import DONE, RefusalError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from service.cli.command import Arguments


_FILE: Final = "the file"


def show(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """List what holds, and why."""
    rows = {name: (value, source) for name, value, source in _holding(arguments, environment)}
    if format_of(arguments) == "human":
        cells = [[name, value, Cell(source, "dim")] for name, (value, source) in rows.items()]
        put_lines(table(stdout_screen(environment), _HEADERS, cells))
    else:
        put_document({name: {"value": value, "from": source} for name, (value, source) in rows.items()})
    return DONE


_HEADERS: Final = ("NAME", "VALUE", "FROM")


def get(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """Print one value that holds.

    Raises:
        RefusalError: If there is none.
    """
    found = {name: value for name, value, _ in _holding(arguments, environment)}[arguments.name]
    if found is None:
        raise RefusalError(f"no {arguments.name} is chosen; `verdict config set {arguments.name} VALUE` chooses one")
    put_lines([found])
    return DONE


def choose(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """Choose one.

    Raises:
        RefusalError: If it cannot be that.
    """
    choice = config.CHOICES[arguments.name]
    try:
        value = choice.read(arguments.value)
    except ValueError as error:
        raise RefusalError(f"{arguments.name}: {error}") from None
    config.write(environment, config.read(environment)._replace(**{choice.field: value}))  # type: ignore[arg-type]
    return DONE


def drop(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """Choose it no more; what holds without a choice holds again."""
    config.write(environment, config.read(environment)._replace(**{config.CHOICES[arguments.name].field: None}))
    return DONE


def where(arguments: Arguments, environment: Mapping[str, str]) -> int:  # noqa: ARG001 - as every command
    """Print where it is kept."""
    put_lines([str(config.path(environment))])
    return DONE


def _holding(arguments: Arguments, environment: Mapping[str, str]) -> Iterator[tuple[str, str | None, str]]:
    chosen = config.shown(config.read(environment))
    for name, choice in config.CHOICES.items():
        if name == "url" and environment.get("VERDICT_URL"):
            yield name, url_of(arguments, environment), "VERDICT_URL"
        elif name in chosen:
            yield name, chosen[name], _FILE
        else:
            yield name, choice.otherwise, "default" if choice.otherwise else "-"
