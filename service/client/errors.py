"""The base class of the client's errors; exit codes, and errors that end a command."""

import re
from collections.abc import Iterable
from typing import Final

DONE: Final = 0
FAILED: Final = 1
"""Usage error, bad request, impossible request, or a finding."""

MISUSED: Final = FAILED
UNKNOWN_CALLER: Final = 2
UNPAID: Final = 3
REFUSED: Final = 4
UNAVAILABLE: Final = 5
UNREACHABLE: Final = 6
DEFECT: Final = 7
INTERRUPTED: Final = 130


class VerdictError(Exception):
    """Base class of every error of the client that a caller may catch.

    The text is one or more whole sentences: what failed, why, what to do. A prefix ends with a colon and a space.
    """


class RefusalError(VerdictError):
    """A command cannot do what was asked. `code` is the exit code."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


SECRET: Final = re.compile(
    r"(?P<shown>[a-z0-9]{1,20}_sk_[0-9A-Za-z]{8})[0-9A-Za-z]+"  # an API key, after its display prefix
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
        warning = " A secret on the command line stays in the shell's history: replace it." if secrets else ""
        super().__init__(f"{ended(masked)}{warning} See `{command} --help`.", MISUSED)
        self.command = command


def ended(text: str) -> str:
    """A text of Click or the service, with a full stop if it has no end mark."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def suggestion(typed: str, names: Iterable[str]) -> str:
    """` Did you mean X?`, to be appended to an error message; empty if no name is close."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for a mistake

    close = get_close_matches(typed, list(names), n=1)
    return f" Did you mean {close[0]}?" if close else ""
