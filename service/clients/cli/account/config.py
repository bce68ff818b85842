"""`verdict config`: see and change what is chosen once."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final

from service.clients.cli.output import put
from service.clients.cli.refusal import DONE, RefusalError
from service.clients.cli.screen import Cell
from service.clients.cli.shape import form
from service.clients.cli.tables import table
from service.clients.cli.terminal import screen
from service.clients.profile import config
from service.clients.profile.caller import url_of

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping

_FILE: Final = "the file"


def show(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """List what holds, and why."""
    rows = {name: (value, source) for name, value, source in _holding(arguments, environment)}
    if form(arguments) == "human":
        cells = [[name, value, Cell(source, "dim")] for name, (value, source) in rows.items()]
        sys.stdout.writelines(f"{line}\n" for line in table(screen(environment, sys.stdout), _HEADERS, cells))
    else:
        document = {name: {"value": value, "from": source} for name, (value, source) in rows.items()}
        put(json.dumps(document, ensure_ascii=False) + "\n")
    return DONE


_HEADERS: Final = ("NAME", "VALUE", "FROM")


def get(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Print one value that holds.

    Raises:
        RefusalError: If there is none.
    """
    found = {name: value for name, value, _ in _holding(arguments, environment)}[arguments.name]
    if found is None:
        raise RefusalError(f"no {arguments.name} is chosen; `verdict config set {arguments.name} VALUE` chooses one")
    sys.stdout.write(f"{found}\n")
    return DONE


def choose(arguments: Namespace, environment: Mapping[str, str]) -> int:
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


def drop(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Choose it no more; what holds without a choice holds again."""
    config.write(environment, config.read(environment)._replace(**{config.CHOICES[arguments.name].field: None}))
    return DONE


def where(arguments: Namespace, environment: Mapping[str, str]) -> int:  # noqa: ARG001 - as every command
    """Print where it is kept."""
    sys.stdout.write(f"{config.path(environment)}\n")
    return DONE


def _holding(arguments: Namespace, environment: Mapping[str, str]) -> Iterator[tuple[str, str | None, str]]:
    chosen = config.shown(config.read(environment))
    for name, choice in config.CHOICES.items():
        if name == "url" and environment.get("VERDICT_URL"):
            yield name, url_of(arguments, environment), "VERDICT_URL"
        elif name in chosen:
            yield name, chosen[name], _FILE
        else:
            yield name, choice.otherwise, "default" if choice.otherwise else "-"
