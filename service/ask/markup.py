"""What no answer holds, whoever wrote it: addresses, images, links, tags, blocks of code, code that nobody said."""

import re
from collections.abc import Iterator
from typing import Final

from service.ask.evidence import Evidence

_FORBIDDEN: Final = (
    (
        re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}:/{1,}|\bwww\.|\b(?:mailto|javascript|data|tel):\S", re.IGNORECASE),
        "an address",
    ),
    (
        re.compile(
            r"\b[a-z0-9-]{1,63}\.(?:com|net|org|io|xyz|app|dev|finance|info|biz|ru|cn|me|gg|ly|to|ai|co|link|site|online"
            r"|exchange|trade|money|cash|fund|top|vip|pro)\b",
            re.IGNORECASE,
        ),
        "an address",
    ),
    (re.compile(r"<[A-Za-z/!?]|<$"), "a tag"),
    (re.compile(r"!\[|\]\s?\(|\]\s?\[|^\s{0,3}\[[^\]\n]{0,80}\]:", re.MULTILINE), "a link or an image"),
    (re.compile(r"```|~~~|^(?: {4}|\t)", re.MULTILINE), "a block of code"),
    (re.compile(r"\\"), "an escape"),
)
_CODE: Final = re.compile(r"`([^`\n]*)`")
_TICK: Final = re.compile(r"`")


def forbidden(text: str, unquoted: str, evidence: Evidence) -> Iterator[tuple[int, int, str]]:
    """Find what a reader's program would act on, and code that holds nothing that was said or found.

    Args:
        text: Markdown.
        unquoted: The same, with what is a result's own wording blanked out.
        evidence: Names and fields that may stand as code.

    Yields:
        Where it is, and what.
    """
    for pattern, why in _FORBIDDEN:
        for at in pattern.finditer(unquoted):
            yield at.start(), at.end(), why
    if "\0" in text:
        yield text.index("\0"), text.index("\0") + 1, "a control character"
    for code in _CODE.finditer(text):
        if code[1] not in evidence.said and code[1] not in evidence.terms:
            yield code.start(), code.end(), "code that nobody said"
    for tick in _TICK.finditer(_CODE.sub(lambda code: "x" * len(code[0]), text)):
        yield tick.start(), tick.end(), "code without an end"
