"""The command `verdict`, also as `python -m service`. Imports the standard library only, until a command runs."""

import os
import sys
from importlib import import_module

from service.operator.parser import parse
from service.operator.refusal import FAILED, RefusalError


def main() -> int:
    """Run one command.

    Returns:
        Its exit code: 0 done, 1 refused or a finding, 2 a mistake in the command line or the settings, 130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter shows its code: no output is worth a traceback.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    arguments = parse(sys.argv[1:])
    module, _, function = arguments.run.partition(":")
    try:
        code: int = getattr(import_module(module), function)(arguments, os.environ)
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
