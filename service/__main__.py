"""The command `verdict`, also as `python -m service`. Imports the table of commands only, until one runs."""

from __future__ import annotations

import os
import sys

if os.name == "nt":
    sys.exit("verdict: Windows is not supported. Use the Windows Subsystem for Linux (WSL).")

try:
    from service.cli import main as cli
    from service.client.errors import INTERRUPTED
except KeyboardInterrupt:  # Ctrl-C during start-up prints no traceback
    raise SystemExit(130) from None

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from io import TextIOWrapper


def main() -> int:
    """Run the command line of this process."""
    # numpy sets this variable while it is imported, which happens on a thread. glibc's setenv(3) is unsafe beside
    # getenv(3) on other threads: the process can end with a segmentation fault.
    os.environ.setdefault("OPENBLAS_MAIN_FREE", "1")
    try:
        _open_what_is_closed()
        for stream in (sys.stdout, sys.stderr):
            _show_what_can_be_shown(stream)  # type: ignore[arg-type]
        return run(sys.argv[1:], os.environ)
    except KeyboardInterrupt:  # before the command's own way had begun, or after its end
        return INTERRUPTED


def run(typed: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run one command.

    Args:
        typed: The command line without the program's name.
        environment: Where settings are read from.

    Returns:
        Its exit code, as `service.cli` lists them.
    """
    return cli.run(typed, environment)


def _show_what_can_be_shown(stream: TextIOWrapper) -> None:
    """Show a letter that the stream's encoding lacks by another, or by its code: no output is worth a traceback."""
    errors = "backslashreplace"
    if stream.isatty() and "utf" not in stream.encoding.lower():
        from service.cli.ascii_fallback import ERRORS as errors  # noqa: N811, PLC0415 - few terminals need it
    stream.reconfigure(errors=errors)


def _open_what_is_closed() -> None:
    """Put something in the place of streams that are closed (`>&-`): no file or connection may come to stand there."""
    for place, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # Nothing can be read there, and what is written to standard output is missed: it fails, as it would have.
            nowhere = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            os.dup2(nowhere, place)
            setattr(sys, name, os.fdopen(place, "r" if name == "stdin" else "w", encoding="utf-8", closefd=False))


if __name__ == "__main__":
    sys.exit(main())
