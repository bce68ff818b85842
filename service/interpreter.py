"""Starts another Python process with the same code.

`python -m` finds a package in the working directory or an installed one. This program may run from a clone that is not
installed, or from one file, so the new process gets the path of this code and does not search the working directory.

The process gets a pipe as standard input that its parent does not write to after the start, so that it notices the end
of the parent, also by SIGKILL.
"""

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

_START: Final = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module(sys.argv.pop(1), alter_sys=True,"
    " run_name='__main__')"
)

_STDIN: Final = 0


def command_of(module: str, *arguments: str) -> tuple[str, ...]:
    """What starts one of this program's modules, as `python -m` would.

    Args:
        module: Its name, such as `service.walkforward.worker`.
        arguments: What it is given.
    """
    return (sys.executable, "-P", "-c", _START, str(Path(__file__).parent.parent), module, *arguments)


def watch_parent(end: Callable[[], object]) -> None:
    """Wait in a thread for the end of the parent, which closes this process's standard input.

    A thread, so that it works from the first line on: imports and blocking work do not delay it.

    Args:
        end: Called in that thread, once.
    """
    threading.Thread(target=_await_end, args=(end,), daemon=True).start()


def _await_end(end: Callable[[], object]) -> None:
    os.read(_STDIN, 1)  # not through `sys.stdin`: a thread that waits in it at the interpreter's end brings it down
    end()


def command_line() -> list[str]:
    """The program that was started, by absolute path, so that a host finds it without `PATH`."""
    started, launcher = Path(sys.argv[0]).absolute(), Path(sys.executable).with_name("verdict")
    if started.name != "__main__.py":
        return [str(started)]
    return [str(launcher)] if launcher.exists() else [sys.executable, "-m", "service"]
