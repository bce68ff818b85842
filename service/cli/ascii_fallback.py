"""Replaces characters that a terminal's encoding lacks, one for one, so that columns stay aligned."""

import codecs
from typing import Final

ERRORS: Final = "verdict-letters"
"""Value for `errors=` of a stream, after this module is imported."""

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


def _replacement(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)  # noqa: S101 - streams that are written to only encode
    missing = error.object[error.start : error.end]
    return "".join(_LIKE.get(letter) or ascii(letter)[1:-1] for letter in missing), error.end


codecs.register_error(ERRORS, _replacement)
