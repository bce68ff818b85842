"""How a command says no, and its exit codes."""

from typing import Final

DONE: Final = 0
FAILED: Final = 1
"""A mistake in the command line, a bad request, something that cannot be done as asked, or a finding."""

MISUSED: Final = FAILED
UNKNOWN_CALLER: Final = 2
UNPAID: Final = 3
REFUSED: Final = 4
UNAVAILABLE: Final = 5
UNREACHABLE: Final = 6
DEFECT: Final = 7
INTERRUPTED: Final = 130


class RefusalError(Exception):
    """A command cannot do what was asked; the message is one line that says what to do.

    Args:
        message: For a person, without the program's name.
        code: The exit code.
    """

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code
