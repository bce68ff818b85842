"""What a host asks of programs that visit it.

Source: RFC 9309, Robots Exclusion Protocol.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import quote

from msgspec import Struct

PRODUCT: Final = "verdict"
"""Our product token (§2.2.1)."""

LARGEST: Final = 512 * 1024
"""Bytes that are read of a robots.txt; §2.5 asks for 500 KiB at least."""

_EVERYBODY: Final = "*"
_TOKEN: Final = re.compile(r"[A-Za-z_-]+|\*")
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED: Final = re.compile(r"[A-Za-z0-9._~-]")
_ASCII: Final = "".join(map(chr, range(33, 127)))


class Rule(Struct, frozen=True):
    """One line of a group: whether paths of a pattern may be visited."""

    allows: bool
    pattern: str


class Robots(Struct, frozen=True):
    """The rules for us."""

    rules: Sequence[Rule] = ()

    def allow(self, path: str) -> bool:
        """Whether a path, with its query, may be visited: the longest pattern that matches decides, `allow` in a tie.

        Args:
            path: As it stands in the URL.
        """
        asked, longest, allowed = _spelled(path), -1, True
        for rule in self.rules:
            size = len(rule.pattern)
            if size >= longest and _matches(rule.pattern, asked):
                allowed = rule.allows or (size == longest and allowed)
                longest = size
        return allowed


EVERYTHING: Final = Robots()
"""Where there is no robots.txt, all may be visited."""


def read_robots(text: str) -> Robots:
    """Read a robots.txt: the groups that name us, or where none does, those for everybody.

    Args:
        text: The file. Whatever in it is no rule is passed over, as §2.2 has it.
    """
    groups: dict[str, list[Rule]] = {}
    names: set[str] = set()
    naming = False
    for key, value in _lines(text):
        if key == "user-agent":
            # Only names that may be for us: rules times all the names before them could fill the memory.
            names = (names if naming else set()) | ({_product(value)} & {PRODUCT, _EVERYBODY})
            for name in names:
                groups.setdefault(name, [])
            naming = True
        elif key in {"allow", "disallow"}:
            naming = False
            if value and names:
                rule = Rule(key == "allow", _spelled(value))
                for name in names:
                    groups[name].append(rule)
    return Robots(groups.get(PRODUCT, groups.get(_EVERYBODY, ())))


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.removeprefix("\ufeff").splitlines():
        key, colon, value = line.partition("#")[0].partition(":")
        if colon:
            yield key.strip().lower(), value.strip()


def _product(value: str) -> str:
    found = _TOKEN.match(value)
    return found[0].lower() if found else ""


def _spelled(path: str) -> str:
    """A path in the one spelling in which paths are compared (§2.2.2): what need not be escaped is not."""
    return _ESCAPE.sub(_unescape, quote(path, safe=_ASCII))


def _unescape(found: re.Match[str]) -> str:
    letter = chr(int(found[1], 16))
    return letter if _UNRESERVED.match(letter) else found[0].upper()


def _matches(pattern: str, path: str) -> bool:
    """Whether a path begins as a pattern says; `*` stands for anything, a `$` at its end for the path's end.

    Takes time in proportion to both: the pattern is a stranger's.
    """
    ends = pattern.endswith("$")
    first, *parts = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    if not parts:
        return not ends or path == first
    at, last = len(first), parts.pop()
    for part in parts:
        found = path.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return path.endswith(last) and len(path) - len(last) >= at if ends else path.find(last, at) >= 0
