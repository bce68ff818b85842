"""Letters instead of those that a terminal does not have: one for one, so that columns and pictures keep their shape.

A terminal of ISO 8859 (or `PYTHONIOENCODING=ascii`) has no arrows, bars and dots. What has no likeness here is shown by
its code, as Python does.
"""

import codecs
from typing import Final

ERRORS: Final = "verdict-letters"
"""Name of the way for `errors=` of a stream, once this is loaded."""

_LIKE: Final = {
    **dict.fromkeys("█▉▊▋▐▇▓", "#"),
    **dict.fromkeys("▌▍▎▏▅▆▒", "="),
    **dict.fromkeys("▁▂▃▄", "_"),
    **dict.fromkeys("─—\N{EN DASH}\N{MINUS SIGN}", "-"),
    **dict.fromkeys("│┤├", "|"),
    **dict.fromkeys("┼└┬", "+"),
    **dict.fromkeys("“”", '"'),
    **dict.fromkeys("▀\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}", "'"),
    **dict.fromkeys("◆●•", "o"),
    **dict.fromkeys("░·", "."),
    "▲": "^",
    "▼": "v",
    "→": ">",
    "←": "<",
    "…": "~",
    "\N{REPLACEMENT CHARACTER}": "?",
    **dict.fromkeys(map(chr, range(0x2800, 0x2900)), "*"),  # braille, of which curves are made
}


def _instead(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)  # noqa: S101 - streams that are written to only encode
    missing = error.object[error.start : error.end]
    return "".join(_LIKE.get(letter) or ascii(letter)[1:-1] for letter in missing), error.end


codecs.register_error(ERRORS, _instead)
