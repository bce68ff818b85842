"""A command as a person runs it: standard output is a terminal."""

import io
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

from service.__main__ import run


class Terminal(io.StringIO):
    """What somebody looks at."""

    def isatty(self) -> bool:
        return True


class Seen(NamedTuple):
    """How a command ended, and what was seen of it."""

    code: int
    out: str
    err: str


def at_terminal(typed: Sequence[str], environment: Mapping[str, str]) -> Seen:
    """Run a command to its end; errors go elsewhere, so that nothing turns there."""
    out, err = Terminal(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(typed, environment)
    return Seen(code, out.getvalue(), err.getvalue())
