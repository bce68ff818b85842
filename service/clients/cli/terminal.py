"""The terminal there is: how wide, and whether in colour.

`NO_COLOR` (https://no-color.org) ends every argument; then `CLICOLOR_FORCE` (https://bixense.com/clicolors) asks for
colour even where nobody seems to look; else there is colour on a terminal that is not `TERM=dumb`.
"""

import os
from collections.abc import Mapping
from typing import Final, TextIO

from service.clients.cli.screen import Screen

_WIDTH: Final = 80
_NARROWEST: Final = 20


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at it, as far as can be told."""
    try:
        return stream.isatty()
    except ValueError:  # it is closed
        return False


def screen(environment: Mapping[str, str], stream: TextIO) -> Screen:
    """What is written to: as wide as `COLUMNS` says, else the terminal, else 80."""
    return Screen(max(_width(environment, stream), _NARROWEST), colour=_colour(environment, stream))


def is_plain(environment: Mapping[str, str]) -> bool:
    """Whether the terminal understands no movement of its cursor."""
    return environment.get("TERM") == "dumb"


def _colour(environment: Mapping[str, str], stream: TextIO) -> bool:
    if environment.get("NO_COLOR"):
        return False
    if environment.get("CLICOLOR_FORCE", "0") not in {"", "0"}:
        return True
    return is_terminal(stream) and not is_plain(environment)


def _width(environment: Mapping[str, str], stream: TextIO) -> int:
    told = environment.get("COLUMNS", "")
    if told.isascii() and told.isdigit() and int(told):
        return int(told)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _WIDTH
    except (OSError, ValueError):  # no terminal, no file, or closed
        return _WIDTH
