"""Who asks without a token: a device, by an identifier that says nothing about it."""

import secrets
from collections.abc import Mapping
from typing import Final

from service.clients.cli.refusal import RefusalError
from service.clients.profile.folders import state_dir
from service.clients.profile.private import read_whole, write_whole

_FILE: Final = "device"
_BYTES: Final = 16


def device_id(environment: Mapping[str, str]) -> str:
    """This device's identifier, 32 hexadecimal digits, made when it is first asked for.

    Args:
        environment: Of the process: where state is kept.

    Raises:
        RefusalError: If it cannot be kept.
    """
    path = state_dir(environment) / _FILE
    try:
        kept = read_whole(path)
        if kept is None:
            kept = secrets.token_hex(_BYTES).encode()
            write_whole(path, kept)
    except OSError as error:
        raise RefusalError(
            f"{path} cannot be kept ({error.strerror}); sign in with `verdict login`, or mend that"
        ) from None
    return kept.decode("ascii", "replace").strip()
