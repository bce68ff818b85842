"""How long an answer asks us to stay away."""

from http import HTTPStatus
from typing import Final

import aiohttp

from service.clock import SECOND_MS, Clock
from service.upstream.http_date import parse_http_date

PAUSE_S: Final = 10.0
"""How long a 429 that names no time silences us."""

LONGEST_PAUSE_S: Final = 86_400.0


def asked_pause(response: aiohttp.ClientResponse, clock: Clock) -> float | None:
    """Read `Retry-After` (RFC 9110 §10.2.3).

    Args:
        response: An answer whose head has arrived.
        clock: Now, where the answer has no `Date` of its own.

    Returns:
        Seconds, a day at most; null where no pause is asked for.
    """
    asked = response.headers.get("Retry-After", "").strip()
    if asked.isascii() and asked.isdigit() and len(asked) < 10:  # noqa: PLR2004 longer ones are no durations
        return min(float(asked), LONGEST_PAUSE_S)
    until_ms = parse_http_date(asked)
    if until_ms is not None:
        now_ms = parse_http_date(response.headers.get("Date", "")) or clock.now_ms()
        return min(max(0, until_ms - now_ms) / SECOND_MS, LONGEST_PAUSE_S)
    return PAUSE_S if response.status == HTTPStatus.TOO_MANY_REQUESTS else None
