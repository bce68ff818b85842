"""How a command says no."""

from typing import Final

DONE: Final = 0
FAILED: Final = 1
MISUSED: Final = 2


class RefusalError(Exception):
    """A command cannot do what was asked; the message is one line that says what to do.

    Args:
        message: For a person, without the program's name.
        code: The exit code: `FAILED`, or `MISUSED` where the command line is at fault.
    """

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code
