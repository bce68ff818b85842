"""Other people's text, as a reader sees it: nothing invisible, nothing that steers a terminal, nothing to run.

Text is data. Nothing here or behind it obeys what a text says, and markup is escaped where a text leaves the service.
"""

import re
import unicodedata
from typing import Final

_STEERING: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # control sequences: colours, cursor movements
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*+(?:\x07|\x1b\\|\x9c)"  # titles, links
    r"|\x1b[ -/]*[0-~]?"
)
"""What terminals obey. Source: ECMA-48, 5.4 and 5.6."""

_SPACES: Final = frozenset({"Zs", "Zl", "Zp"})
_HIDDEN: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn"})
_FILLERS: Final = frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10)})
"""Letters and marks by their category that show nothing."""

_HELD: Final = 0x3000
"""Characters below are remembered; all there are would be a hundred megabytes."""


class _Visible(dict[int, str | None]):
    """What becomes of a character, looked up when it is first met: itself, a blank, or nothing."""

    def __missing__(self, code: int) -> str | None:
        letter = chr(code)
        kind = unicodedata.category(letter)
        if letter in "\t\n\v\f\r\x85" or kind in _SPACES:
            seen: str | None = " "
        else:
            seen = None if kind in _HIDDEN or code in _FILLERS or 0xE0100 <= code <= 0xE01EF else letter  # noqa: PLR2004
        if code < _HELD:
            self[code] = seen
        return seen


_VISIBLE: Final = _Visible()


def plain(text: str) -> str:
    """What a reader sees of a text; blanks are single.

    Control, bidirectional, zero-width and unassigned characters go, and so do whole sequences that steer a terminal.
    They part no word: "Bit", a zero-width blank, and "coin" are Bitcoin.
    """
    if not (text.isascii() and text.isprintable()):
        text = _STEERING.sub("", text).translate(_VISIBLE)
    return " ".join(text.split())


def escaped(text: str) -> str:
    """A text whose `<`, `>` and `&` are escaped as in HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
