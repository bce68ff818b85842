"""What is left of a caller's questions, as header fields, and the refusal of a stream.

Source: draft-ietf-httpapi-ratelimit-headers-10 (`RateLimit-Policy`, `RateLimit`), structured fields of RFC 9651.
"""

from functools import cache
from typing import Final, NoReturn

from starlette.types import Receive, Scope, Send

from service.access.standing import Standing
from service.clock import DAY_MS, SECOND_MS, Clock, midnight_after
from service.errors import ServiceError
from service.http.errors import Fields
from service.wire.payment import Period

_DAY_S: Final = DAY_MS // SECOND_MS

_NONE_LEFT: Final = "your questions are spent; come back when one is free again"
NO_FREE_QUESTIONS: Final = (
    "your account has no free questions, since its network had made as many accounts with free questions as it may a "
    "day; sign in again on another UTC day or from another network to get them"
)


def fields(standing: Standing, clock: Clock) -> Fields:
    """The two fields of a quota; none where there is no limit.

    Args:
        standing: The quota.
        clock: Time.

    Returns:
        `RateLimit-Policy` with `q` questions a window of `w` seconds (a starter has no window), and `RateLimit` with
        `r` left and `t` seconds until one is free again (left out where none will be; 1 where the last ones are only
        reserved for calls under way).
    """
    if standing.limit is None or standing.remaining is None:
        return []
    left = b'"questions";r=%d' % standing.remaining
    if standing.busy:
        left = b"%b;t=1" % left
    elif standing.reset_ms is not None:
        left = b"%b;t=%d" % (left, seconds_until(standing.reset_ms, clock.now_ms()))
    return [_policy(standing.limit, standing.period), (b"ratelimit", left)]


@cache
def _policy(limit: int, period: Period) -> tuple[bytes, bytes]:
    window = b";w=%d" % _DAY_S if period == "day" else b""
    return b"ratelimit-policy", b'"questions";q=%d%b' % (limit, window)


def seconds_until(at_ms: int, now_ms: int) -> int:
    """Whole seconds until an instant, rounded up, one at least."""
    return max(1, -((now_ms - at_ms) // SECOND_MS))


class StreamDue:
    """Refuses a stream whose caller has no question left: streams cannot be paid for.

    Args:
        clock: Time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send, standing: Standing) -> None:  # noqa: ARG002
        """Refuse before the first line.

        Raises:
            ServiceError: RATE_LIMITED with `Retry-After`.
        """
        self.written(scope, standing)

    def written(self, scope: Scope, standing: Standing) -> NoReturn:  # noqa: ARG002
        """As the call: a refusal is all that there is.

        Raises:
            ServiceError: RATE_LIMITED with `Retry-After`.
        """
        now_ms = self._clock.now_ms()
        reset_ms = midnight_after(now_ms) if standing.reset_ms is None else standing.reset_ms
        raise ServiceError(
            "RATE_LIMITED",
            f"{_NONE_LEFT if standing.limit else NO_FREE_QUESTIONS}; a stream cannot be paid for",
            headers={"Retry-After": str(seconds_until(reset_ms, now_ms))},
        )
