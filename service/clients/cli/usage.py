"""A mistake in the command line, and what may have been meant."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from service.clients.cli.refusal import MISUSED, RefusalError

_SECRET: Final = re.compile(
    r"(?P<shown>[a-z0-9]{1,20}_sk_[0-9A-Za-z]{8})[0-9A-Za-z]+"  # an API key, after what is shown of it everywhere
    r"|eyJ[\w-]+\.[\w-]+\.[\w-]+"  # a session
    r"|(?<![0-9A-Za-z])(?:0x)?[0-9A-Fa-f]{64}(?![0-9A-Za-z])",  # a private key
    re.ASCII,
)


class UsageError(RefusalError):
    """A command line that cannot be understood. A secret in it is not told again: what is told ends up in logs.

    Args:
        message: What is wrong with it.
        whose: What was understood of it: `verdict keys create`.
    """

    def __init__(self, message: str, whose: str) -> None:
        told, secrets = _SECRET.subn(lambda found: f"{found['shown'] or ''}...", message)
        seen = "; a secret that is typed stays in the shell's history: replace it" if secrets else ""
        super().__init__(f"{told}{seen}; see `{whose} --help`", MISUSED)
        self.whose = whose


def meant(typed: str, names: Iterable[str]) -> str:
    """What may have been meant, to be put behind what is wrong; nothing where nothing is close."""
    close = get_close_matches(typed, list(names), n=1)
    return f" (did you mean {close[0]}?)" if close else ""
