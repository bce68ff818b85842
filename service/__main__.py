"""The command `verdict`, also as `python -m service`. Imports the table of commands only, until one runs."""

from __future__ import annotations

import os
import sys

from service.clients.cli import frame, table
from service.operator import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECTIONS = (*table.SECTIONS, ("run a service", rows.COMMANDS))
"""Every command there is, under titles."""


def main() -> int:
    """Run the command line of this process."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter shows its code: no output is worth a traceback.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    return run(sys.argv[1:], os.environ)


def run(typed: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run one command.

    Args:
        typed: The command line without the program's name.
        environment: Where settings are read from.

    Returns:
        Its exit code, as `service.clients.cli` lists them.
    """
    return frame.run(typed, environment, SECTIONS)


if __name__ == "__main__":
    sys.exit(main())
