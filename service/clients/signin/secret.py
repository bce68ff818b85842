"""A secret: from the environment, a prompt that shows nothing of it, or a line of standard input. Never an argument."""

import sys
from collections.abc import Mapping
from getpass import getpass
from typing import Final

from service.clients.cli.refusal import RefusalError
from service.clients.cli.terminal import is_terminal

_LONGEST: Final = 8_192


def secret(prompt: str, environment: Mapping[str, str], variable: str = "") -> str:
    """Get a secret.

    Args:
        prompt: What it is, for a person: `Password of the keystore`.
        environment: Of the process.
        variable: Of the environment, which is looked at first.

    Returns:
        It, not empty.

    Raises:
        RefusalError: If there is none.
    """
    told = environment.get(variable) if variable else None
    text = told or _typed(prompt)
    if not text:
        other = f", or set {variable}" if variable else ""
        raise RefusalError(f"{prompt}: nothing was given; type it, or pipe it in as one line{other}")
    return text


def _typed(prompt: str) -> str:
    if not is_terminal(sys.stdin):
        try:
            return sys.stdin.readline(_LONGEST).rstrip("\r\n")
        except UnicodeDecodeError:
            raise RefusalError(f"{prompt}: what was piped in is no text") from None
    try:
        return getpass(f"{prompt}: ", sys.stderr)
    except EOFError:
        return ""
