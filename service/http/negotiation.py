"""Content negotiation: which form of a response the caller prefers, by `Accept` (RFC 9110 §12.5.1)."""

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
"""Preference for a form: quality, precision of its media range, and place (earlier counts more)."""


def form_of(scope: Scope, default: Form) -> Form:
    """Choose the preferred form.

    Among equal qualities the more precise media range wins, then the first one. Without a preference, or if no form is
    acceptable, it is the default.

    Args:
        scope: The request; several `Accept` lines count as one.
        default: For callers without a preference.
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
    """Whether HTML is preferred to JSON, as browsers do. `*/*` alone means JSON."""
    lines = [value for name, value in scope["headers"] if name == b"accept"]
    ranges = list(_ranges(b",".join(lines).decode("latin-1").lower().split(",")))
    wished = _wish(_HTML, ranges)
    return wished[0] > 0 and wished > _wish(MEDIA["json"], ranges)


def _wish(media: str, ranges: Iterable[tuple[str, float]]) -> _Wish:
    """The preference for a media type by its most precise media range."""
    names = ("*/*", f"{media.partition('/')[0]}/*", media)
    found = [(names.index(name), -place, q) for place, (name, q) in enumerate(ranges) if name in names]
    if not found:
        return 0.0, 0, 0
    precision, place, quality = max(found)
    return quality, precision, place if precision else 0


def _ranges(pieces: Iterable[str]) -> Iterable[tuple[str, float]]:
    """Media ranges with their qualities; malformed ones are skipped."""
    for piece in pieces:
        name, *parameters = piece.split(";")
        named = _RANGE.fullmatch(name)
        qualities = [parameter for parameter in parameters if parameter.strip(" \t").startswith("q=")]
        if named is None or len(qualities) > 1:
            continue
        quality = _QUALITY.fullmatch(qualities[0]) if qualities else None
        if quality is not None or not qualities:
            yield f"{named[1]}/{named[2]}", float(quality[1]) if quality else 1.0
