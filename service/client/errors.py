"""The base class of the client's errors; exit codes, and errors that end a command."""

import re
from collections.abc import Iterable
from typing import Final

DONE: Final = 0
FAILED: Final = 1
"""A mistake in the command line, a bad request, something that cannot be done as asked, or a finding."""

MISUSED: Final = FAILED
UNKNOWN_CALLER: Final = 2
UNPAID: Final = 3
REFUSED: Final = 4
UNAVAILABLE: Final = 5
UNREACHABLE: Final = 6
DEFECT: Final = 7
INTERRUPTED: Final = 130


class VerdictError(Exception):
    """Base class of every error of the client that a caller may catch."""


class RefusalError(VerdictError):
    """A command cannot do what was asked; the message is one line that says what to do.

    Args:
        message: For a person, without the program's name.
        code: The exit code.
    """

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


SECRET: Final = re.compile(
    r"(?P<shown>[a-z0-9]{1,20}_sk_[0-9A-Za-z]{8})[0-9A-Za-z]+"  # an API key, after what is shown of it everywhere
    r"|eyJ[\w-]+\.[\w-]+\.[\w-]+"  # a session
    r"|(?<![0-9A-Za-z])(?:0x)?[0-9A-Fa-f]{64}(?![0-9A-Za-z])",  # a private key
    re.ASCII,
)
"""A secret in a text."""


class UsageError(RefusalError):
    """The command line is not valid. Secrets in the message are masked, because messages end up in logs.

    Args:
        message: What is wrong: a sentence.
        command: The command that was recognized: `verdict admin keys create`.
    """

    def __init__(self, message: str, command: str) -> None:
        masked, secrets = SECRET.subn(lambda found: f"{found['shown'] or ''}...", message.replace("\n\t", " "))
        masked += "" if masked.endswith((".", "?")) else "."
        warning = " A secret on the command line stays in the shell's history: replace it." if secrets else ""
        super().__init__(f"{masked}{warning} See `{command} --help`.", MISUSED)
        self.command = command


def suggestion(typed: str, names: Iterable[str]) -> str:
    """` (did you mean X?)`, to be appended to an error message; empty if no name is close."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for a mistake

    close = get_close_matches(typed, list(names), n=1)
    return f" (did you mean {close[0]}?)" if close else ""
