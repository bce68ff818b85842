"""Another interpreter with the same code: how this program starts a process of its own.

`python -m` finds a package where one stands, or where it is installed. This one may be neither: it runs from a clone
that is not installed, or out of one file. So the new process is told where the code of this one lies, and does not
look where one stands, where a folder called `service` may be something else.
"""

import sys
from pathlib import Path
from typing import Final

_START: Final = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module(sys.argv.pop(1), alter_sys=True,"
    " run_name='__main__')"
)


def command_of(module: str, *arguments: str) -> tuple[str, ...]:
    """What starts one of this program's modules, as `python -m` would.

    Args:
        module: Its name, such as `service.walkforward.worker`.
        arguments: What it is given.
    """
    return (sys.executable, "-P", "-c", _START, str(Path(__file__).parent.parent), module, *arguments)
