"""A mistake in the command line, and what may have been meant."""

from collections.abc import Iterable
from difflib import get_close_matches

from service.clients.cli.refusal import MISUSED, RefusalError


class UsageError(RefusalError):
    """A command line that cannot be understood.

    Args:
        message: What is wrong with it.
        whose: What was understood of it: `verdict keys create`.
    """

    def __init__(self, message: str, whose: str) -> None:
        super().__init__(f"{message}; see `{whose} --help`", MISUSED)
        self.whose = whose


def meant(typed: str, names: Iterable[str]) -> str:
    """What may have been meant, to be put behind what is wrong; nothing where nothing is close."""
    close = get_close_matches(typed, list(names), n=1)
    return f" (did you mean {close[0]}?)" if close else ""
