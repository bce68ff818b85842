"""The numerals of a text, whatever they are written as: those that are ours, and those that only look like figures."""

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from typing import Final, NamedTuple

from service.ask.spelled import spelled_out


class Numeral(NamedTuple):
    """A numeral in ASCII digits.

    Attributes:
        start: Where it begins, sign and currency included.
        end: Where it ends, unit included.
        value: Its magnitude, multiplier included, without sign.
        step: What one unit of its last digit stands for.
        digits: How many significant digits are written.
        sign: `+`, `-` or nothing.
        unit: `usd`, `percent`, `points`, `days`, `hours`, `ordinal`, `place` (into a recording), or nothing.
    """

    start: int
    end: int
    value: Decimal
    step: Decimal
    digits: int
    sign: str
    unit: str


class Moment(NamedTuple):
    """A date, or an instant in UTC to the minute, second or millisecond: `text` is as ISO 8601 begins to write it."""

    start: int
    end: int
    text: str


class Odd(NamedTuple):
    """Something that counts or measures and is written as no figure of ours is."""

    start: int
    end: int
    why: str


Token = Numeral | Moment | Odd

_MOMENT: Final = re.compile(
    r"(?<![\w.,$+-])(\d{4}-\d\d-\d\d)(?:(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d{3})?)?))(?: UTC|Z)(?![^\W_]))?"
    r"(?![^\W_]|[:-]|[.,]\d|[ ]\d)"
)
_PLACE: Final = re.compile(
    r"(?<![\w.,:$+\u2212/-])(?:([1-9]\d?):([0-5]\d)|([1-5]?\d)):([0-5]\d)(?![\w%]|[:.,]\d|[ ]UTC)"
)
"""Minutes and seconds, or hours, minutes and seconds, as a player shows them."""

_RUN: Final = re.compile(r"[0-9](?:[0-9.,]*[0-9])?")
_PLAIN: Final = re.compile(r"(?:0|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d*)(?:\.\d+)?\Z")
_BEFORE: Final = re.compile(r"([+\u2212-]?)(\$?)([+\u2212-]?)\Z")
_AFTER: Final = re.compile(
    r"""
      (?P<scale>[kKMBT])(?![^\W_]|%)
    | (?P<ordinal>st|nd|rd|th)(?![^\W_])
    | [ ]?(?P<percent>%)(?![^\W_])
    | [ ](?P<worded>percent)(?![^\W_])(?![ ]points)
    | [ ](?:percentage[ ])?(?P<points>points?)(?![^\W_])
    | [ -]?(?P<days>d|days?)(?![^\W_])
    | [ -]?(?P<hours>h|hours?)(?![^\W_])
    | [ ](?P<usd>USDC?|dollars?|US[ ]dollars)(?![^\W_])
    """,
    re.VERBOSE,
)
_OTHER_UNIT: Final = re.compile(
    r"""[ -]?(?:
      bps?|basis[ ]points?|x|times|fold|percentile[ ]points|cents?|bucks?|grand
    | s|secs?|seconds?|mins?|minutes?|hrs?|weeks?|wks?|w|months?|mo|years?|yrs?|y|ms
    | euros?|pounds?|yen|[Kk]ilo|mn|mm|mln|bn|bln|tn|trn|mil
    )(?![^\W_])|[ ]?[\u00d7*^/\\=\u2030\u2031\u00b0](?=\d|\s*\d|$)|[ ]?[\u00d7^\u2030\u2031\u00b0]""",
    re.VERBOSE | re.IGNORECASE,
)
LONGEST: Final = 32
"""Characters of a figure at most."""

_SCALES: Final = {"k": 3, "K": 3, "M": 6, "B": 9, "T": 12}
_SPLIT: Final = re.compile(r"\d[*_`~\\]+\.?,?\d|\d[.,]?[*_`~\\]+[.,]?\d")
_ASIDE: Final = re.compile(r"\d[ \t]+\d|\d[ \t]*\n[ \t]*\d")
_ENTITY: Final = re.compile(r"&#?\w{1,31};")
_NOT_OURS: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Me", "So", "Sc", "No", "Nl", "Zl", "Zp"})


def scan(text: str) -> list[Token]:
    """Find every numeral of a text, in order.

    Args:
        text: Finished prose; what must not be read (names, quotes) is blanked out with NUL.

    Returns:
        Figures, dates, and everything else that could be taken for one: digits of other scripts, fractions, numbers
        spelled out or split by markup, units that no figure is shown in. Time is linear in the text.
    """
    found: list[Token] = [*_characters(text), *spelled(text)]
    found.extend(Odd(at.start(), at.end(), "a number split by markup") for at in _SPLIT.finditer(text))
    found.extend(Odd(at.start(), at.end(), "a character written as its code") for at in _ENTITY.finditer(text))
    moments = list(_moments(text))
    blank = list(text)
    for moment in moments:
        blank[moment.start : moment.end] = "\0" * (moment.end - moment.start)
    places = list(_places("".join(blank)))
    for place in places:
        blank[place.start : place.end] = "\0" * (place.end - place.start)
    rest = "".join(blank)
    found.extend(places)
    found.extend(Odd(at.start(), at.end(), "digits beside each other") for at in _ASIDE.finditer(rest))
    found.extend(moments)
    found.extend(_read(rest, run) for run in _RUN.finditer(rest))
    return sorted(found, key=lambda token: (token.start, token.end))


def spelled(text: str) -> Iterator[Odd]:
    """Find the numbers above one that are written in words, ordinals and multiples included."""
    for start, end in spelled_out(text):
        yield Odd(start, end, "a number in words")


def _characters(text: str) -> Iterator[Odd]:
    """Characters that count, hide or imitate: digits of other scripts, fractions, circled ones, invisible ones."""
    for at, character in enumerate(text):
        if character.isascii():
            if character < " " and character not in "\0\n":
                yield Odd(at, at + 1, "a control character")
            continue
        kind = unicodedata.category(character)
        if kind in _NOT_OURS or (kind == "Zs"):
            yield Odd(at, at + 1, "a character that no answer is written with")
        elif unicodedata.numeric(character, None) is not None:
            yield Odd(at, at + 1, "a numeral of another script")
        elif kind == "Mn" and at and text[at - 1].isascii():
            yield Odd(at, at + 1, "a mark on a plain character")
        elif _imitates(character):
            yield Odd(at, at + 1, "a character that imitates another")


def _imitates(character: str) -> bool:
    """Whether it is a wide, styled or otherwise other form of a letter, a digit or a mark that figures have."""
    plain = unicodedata.normalize("NFKC", character)
    return plain != character and any(part.isascii() and (part.isalnum() or part in "%$+-<>`") for part in plain)


def _moments(text: str) -> Iterator[Moment]:
    for at in _MOMENT.finditer(text):
        day, time = at.groups()
        yield Moment(at.start(), at.end(), day if time is None else f"{day}T{time}")


def _places(text: str) -> Iterator[Numeral]:
    for at in _PLACE.finditer(text):
        hours, of_hours, minutes, seconds = (int(part or 0) for part in at.groups())
        value = Decimal((hours * 60 + of_hours + minutes) * 60 + seconds)
        yield Numeral(at.start(), at.end(), value, Decimal(1), _significant(str(value)), "", "place")


def _read(text: str, run: re.Match[str]) -> Token:
    start, end = run.span()
    written = run.group()
    before = _BEFORE.search(text, max(0, start - 3), start)
    assert before is not None  # noqa: S101 - every part of the pattern may be empty
    first, dollar, second = before.groups()
    start = before.start()
    ahead = text[start - 1] if start else " "
    if len(written) > LONGEST or not _PLAIN.match(written) or ahead.isalnum() or ahead in "._,:^#/\\&=~":
        return Odd(start, end, "no figure is written like this")
    if _is_range(first or second, ahead):
        return Odd(start, end, "a range")
    if start == 0 or text[start - 1] == "\n":
        after = text[end : end + 2]
        if after[:1] in {".", ")"} and after[1:] in {"", " ", "\n"}:
            return Odd(start, end, "a numbered list")
    return _with_unit(text, (start, end), written, dollar, (first or second).replace("\u2212", "-"))


def _is_range(sign: str, ahead: str) -> bool:
    """A sign after something that could be another figure's end is a dash between two."""
    return bool(sign) and (ahead.isdigit() or ahead in "%$+-\u2212\u2013\0")


def _with_unit(text: str, span: tuple[int, int], written: str, dollar: str, sign: str) -> Token:
    start, end = span
    value, exponent = Decimal(written.replace(",", "")), -len(written.partition(".")[2])
    unit, scale = "usd" if dollar else "", 0
    after = _AFTER.match(text, end)
    if after is None:
        odd = _OTHER_UNIT.match(text, end)
        if odd or (end < len(text) and (text[end].isalpha() or text[end] in "_:%$#&~")):
            return Odd(start, odd.end() if odd else end, "a unit that no figure is shown in")
    else:
        end = after.end()
        name = after.lastgroup or ""
        if name == "scale":
            scale = _SCALES[after.group("scale")]
        elif unit:
            return Odd(start, end, "two units at once")
        unit = unit or {"scale": "scaled", "worded": "percent"}.get(name, name)
    step = Decimal(1).scaleb(exponent + scale)
    return Numeral(start, end, value.scaleb(scale), step, _significant(written), sign, unit)


def _significant(written: str) -> int:
    return len(written.replace(",", "").replace(".", "").lstrip("0"))
