"""Where a person's own files lie.

Source: XDG Base Directory Specification 0.8. A relative path in its variables is invalid and ignored, as it asks.
"""

from collections.abc import Mapping
from pathlib import Path

from service.clients.cli.refusal import RefusalError

_NAME = "verdict"


def config_dir(environment: Mapping[str, str]) -> Path:
    """The folder of what is chosen: `$XDG_CONFIG_HOME/verdict`. It need not exist.

    Raises:
        RefusalError: If there is no home to keep it in.
    """
    return _folder(environment, "XDG_CONFIG_HOME", ".config")


def state_dir(environment: Mapping[str, str]) -> Path:
    """The folder of what is kept from one command to the next: `$XDG_STATE_HOME/verdict`. It need not exist.

    Raises:
        RefusalError: If there is no home to keep it in.
    """
    return _folder(environment, "XDG_STATE_HOME", ".local/state")


def _folder(environment: Mapping[str, str], variable: str, otherwise: str) -> Path:
    chosen = Path(environment.get(variable, ""))
    return (chosen if chosen.is_absolute() else _home(environment) / otherwise) / _NAME


def _home(environment: Mapping[str, str]) -> Path:
    told = Path(environment.get("HOME", ""))
    if told.is_absolute():
        return told
    try:
        return Path.home()
    except RuntimeError:
        raise RefusalError("there is no home folder to keep files in; set HOME, or XDG_STATE_HOME") from None
