"""What msgspec says of a value that does not fit its type, as a sentence for people: no patterns, no type names."""

import re
from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Final, Literal, NamedTuple, Union, get_args, get_origin

import msgspec

_WORDS: Final = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_UNITS: Final = {"str": ("character", "characters"), "array": ("entry", "entries"), "object": ("member", "members")}
_PLACE: Final = re.compile(r"(.*?)(?: - at `(?:key in )?\$?\.?([^`]*)`)?\Z", re.DOTALL)
_LENGTH: Final = re.compile(r"Expected `(\w+)` of length (>=|<=|>|<)? ?(\d+)")
_BOUND: Final = re.compile(r"Expected `\w+` (>=|<=|>|<) (\S+)")
_KIND: Final = re.compile(r"Expected `([^`]+)`, got `([^`]+)`")
_FIELD: Final = re.compile(r"Object (missing required|contains unknown) field `(.*)`\Z", re.DOTALL)
_STEP: Final = re.compile(r"[^.\[\]]+|\[[^\]]*\]")
_COMPARED: Final = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than", None: "exactly"}
_LONGEST_PLACE: Final = 80


class ValidationFault(NamedTuple):
    """A value that does not fit.

    Attributes:
        place: Path of its field (`messages[...].content`); empty for the whole.
        fault: What is wrong, as it goes on after the name of the place.
        is_sentence: Whether the fault is a sentence by itself: the reason that a struct's own check gives.
    """

    place: str
    fault: str
    is_sentence: bool = False

    def sentence(self, whole: str) -> str:
        """The sentence, without its full stop.

        Args:
            whole: What the value is called where no field is to blame (`the body`).
        """
        return self.fault if self.is_sentence else f"{self.place or whole} {self.fault}"


def explain_invalid(error: Exception, kind: Any = None) -> ValidationFault:
    """Say what does not fit. The value itself is never repeated.

    Args:
        error: As msgspec raised it.
        kind: The type that was decoded: its descriptions say what a field takes.
    """
    found = _PLACE.match(str(error))
    text, place = (found[1], found[2] or "") if found else (str(error), "")
    field = _FIELD.match(text)
    if field:
        name = _visible(field[2])
        if not name:
            return ValidationFault(place[-_LONGEST_PLACE:], "has a field whose name shows nothing, which is not known")
        fault = "is required" if field[1] == "missing required" else f"is not a known field{_known(place, kind)}"
        place = f"{place}.{name}" if place else name
        return ValidationFault(place[-_LONGEST_PLACE:], fault)
    if isinstance(error.__cause__, ValueError):
        return ValidationFault(place[-_LONGEST_PLACE:], str(error.__cause__).rstrip("."), is_sentence=True)
    return ValidationFault(place[-_LONGEST_PLACE:], _fault(text, place, kind))


def _known(place: str, kind: Any) -> str:
    """The names that a struct takes, where an unknown one is on its first level."""
    if place or not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return ""
    names = [field.encode_name for field in msgspec.structs.fields(kind)]
    return f"; known are {', '.join(names)}" if names else ""


def _visible(name: str) -> str:
    """The beginning of a name on one line, without what cannot be printed."""
    return "".join(filter(str.isprintable, " ".join(name[:_LONGEST_PLACE].split()))).strip()


def _fault(text: str, place: str, kind: Any) -> str:
    length, bound, kinds = _LENGTH.match(text), _BOUND.match(text), _KIND.match(text)
    if length:
        unit = _UNITS.get(length[1], ("byte", "bytes"))[length[3] != "1"]
        return f"takes {_COMPARED[length[2]]} {length[3]} {unit}"
    if bound:
        return f"takes a number that is {_COMPARED[bound[1]]} {bound[2].rstrip('.')}"
    if kinds:
        return f"takes {_words(kinds[1])}, not {_words(kinds[2])}"
    takes = next(_takes(kind, _STEP.findall(place)), None)
    if "out of range" in text:
        return "is out of range"
    if takes:
        return f"is not valid: it takes {takes[0].lower()}{takes[1:].rstrip('.')}"
    return "is not JSON" if "malformed" in text else "is not valid"


def _words(kinds: str) -> str:
    return " or ".join(_WORDS.get(each.strip(), "another value") for each in kinds.split("|"))


def _takes(kind: Any, steps: list[str]) -> Iterator[str]:
    """Descriptions or enumerated values of the place in a type."""
    origin = get_origin(kind)
    if origin is Annotated:
        if not steps and get_origin(kind.__origin__) is not Literal:
            yield from (meta.description for meta in kind.__metadata__ if getattr(meta, "description", None))
        yield from _takes(kind.__origin__, steps)
    elif origin in {Union, UnionType}:
        for option in get_args(kind):
            yield from _takes(option, steps)
    elif origin is Literal and not steps:
        yield "one of " + ", ".join(map(str, get_args(kind)))
    elif steps and steps[0].startswith("[") and get_args(kind):
        yield from _takes(get_args(kind)[-1 if origin is dict else 0], steps[1:])
    elif steps and isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        for info in msgspec.structs.fields(kind):
            if info.encode_name == steps[0]:
                yield from _takes(info.type, steps[1:])
