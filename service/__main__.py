"""The command `verdict`, also as `python -m service`. Imports the standard library only, until a command runs."""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

from service.operator.parser import parse
from service.operator.refusal import FAILED, RefusalError


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
        Its exit code: 0 done, 1 refused or a finding, 2 a mistake in the command line or the settings, 130 interrupted.

    Raises:
        SystemExit: If the command line asks for help or cannot be understood.
    """
    arguments = parse(typed)
    module, _, function = arguments.run.partition(":")
    try:
        code: int = getattr(import_module(module), function)(arguments, environment)
        sys.stdout.flush()
    except RefusalError as refusal:
        sys.stderr.write(f"verdict: {refusal}\n")
        return refusal.code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the output has read enough (`verdict keys list | head`): nothing more is to be flushed there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return code


if __name__ == "__main__":
    sys.exit(main())
