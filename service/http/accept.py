"""Which form of an answer a caller wants, by its `Accept` (RFC 9110 §12.5.1)."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from starlette.types import Scope

Form = Literal["text", "sse", "json"]

MEDIA: Final[Mapping[Form, str]] = {"text": "text/plain", "sse": "text/event-stream", "json": "application/json"}

_HTML: Final = "text/html"
_RANGE: Final = re.compile(r"[ \t]*([!#$%&'*+.^_`|~0-9a-z-]+)/([!#$%&'*+.^_`|~0-9a-z-]+)[ \t]*")
_QUALITY: Final = re.compile(r"[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)[ \t]*")

_Wish = tuple[float, int, int]
"""How much a form is wanted: quality, how precisely it is named, and how early (a lower place counts more)."""


def form_of(scope: Scope, default: Form) -> Form:
    """Choose the form that is wanted most.

    Of forms that are wanted alike, the one that is named more precisely wins, then the one that is named first; where
    none is wanted more than another, and where none of ours is wanted at all, the default.

    Args:
        scope: The request; several `Accept` lines count as one.
        default: What a caller gets that names no form.
    """
    lines = [value for name, value in scope["headers"] if name == b"accept"]
    return choose(b",".join(lines).decode("latin-1"), default)


def choose(accept: str, default: Form) -> Form:
    """As `form_of`, by the header's value."""
    ranges = list(_ranges(accept.lower().split(",")))
    forms: list[Form] = [default, *(form for form in MEDIA if form != default)]
    wishes = {form: _wish(MEDIA[form], ranges) for form in forms}
    best = max(forms, key=wishes.__getitem__)
    return best if wishes[best][0] > 0 else default


def prefers_html(scope: Scope) -> bool:
    """Whether a page is wanted rather than JSON, as browsers say it: what wants everything alike gets JSON."""
    lines = [value for name, value in scope["headers"] if name == b"accept"]
    ranges = list(_ranges(b",".join(lines).decode("latin-1").lower().split(",")))
    wished = _wish(_HTML, ranges)
    return wished[0] > 0 and wished > _wish(MEDIA["json"], ranges)


def _wish(media: str, ranges: Iterable[tuple[str, float]]) -> _Wish:
    """What is said of a media type by the range that names it most precisely."""
    names = ("*/*", f"{media.partition('/')[0]}/*", media)
    found = [(names.index(name), -place, q) for place, (name, q) in enumerate(ranges) if name in names]
    if not found:
        return 0.0, 0, 0
    precision, place, quality = max(found)
    return quality, precision, place if precision else 0


def _ranges(pieces: Iterable[str]) -> Iterable[tuple[str, float]]:
    """Media ranges with their qualities; what is malformed says nothing."""
    for piece in pieces:
        name, *parameters = piece.split(";")
        named = _RANGE.fullmatch(name)
        qualities = [parameter for parameter in parameters if parameter.strip(" \t").startswith("q=")]
        if named is None or len(qualities) > 1:
            continue
        quality = _QUALITY.fullmatch(qualities[0]) if qualities else None
        if quality is not None or not qualities:
            yield f"{named[1]}/{named[2]}", float(quality[1]) if quality else 1.0
