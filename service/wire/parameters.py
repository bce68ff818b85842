"""Kinds of parameters that several routes take, and what no pattern can say of them."""

from typing import Annotated, Final

from msgspec import Meta

from service.clock import parse_iso
from service.errors import ServiceError

SymbolText = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9]{1,20}\Z",
        description="A ticker such as BTC, 1 to 20 letters and digits; case does not matter",
        examples=["BTC"],
    ),
]

PageSize = Annotated[int, Meta(ge=1, le=200, description="How many entries a page holds at most")]

CursorText = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9_-]{1,200}\Z",
        description="The next_cursor of the page before, with the same filters",
    ),
]

Instant = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})\Z",
        description="An ISO 8601 instant with its zone such as 2026-01-31T00:00:00Z (in a URL, + is written %2B)",
        examples=["2026-01-31T00:00:00Z"],
        extra_json_schema={"format": "date-time"},
    ),
]

_END_MS: Final = 253_370_764_800_000
"""9999-01-01T00:00:00Z: what lies in the last year that can be written is a mistake, never a question."""


def instant_ms(text: str, parameter: str) -> int:
    """Read an instant that a caller wrote.

    Args:
        text: What the pattern of `Instant` let through.
        parameter: Its name, for the refusal.

    Returns:
        Epoch milliseconds UTC.

    Raises:
        ServiceError: BAD_REQUEST where there is no such instant, or it lies outside 1970 to 9998.
    """
    try:
        at_ms = parse_iso(text)
    except ValueError:
        at_ms = _END_MS
    if at_ms >= _END_MS:
        raise ServiceError(
            "BAD_REQUEST",
            f"{parameter} is not an instant from 1970 to 9998. Write it like 2026-01-31T00:00:00Z.",
            details={"parameter": parameter},
        )
    return at_ms
