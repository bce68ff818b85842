"""A caller's quota in responses: its headers, the x402 challenge of a priced route, and the refusal of a stream.

Source: draft-ietf-httpapi-ratelimit-headers-10 (`RateLimit-Policy`, `RateLimit`), structured fields of RFC 9651.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final, NoReturn

from service.access.quota import QuotaStatus
from service.clock import DAY_MS, SECOND_MS, Clock, iso, midnight_after
from service.errors import ServiceError
from service.http.request import RequestContext
from service.http.response import JSON, NO_STORE, HeaderFields, Response, response
from service.payments.challenge import Challenge, ChallengeBuilder, PaymentRejection, X402Version
from service.wire.offer import Offer
from service.wire.payment import Gate, Period, Quota, QuotaWall, ThisQuery, Unlock

_DAY_S: Final = DAY_MS // SECOND_MS

_NONE_LEFT: Final = "Your questions are used up. Try again when one is free again."
NO_FREE_QUESTIONS: Final = (
    "Your account has no free questions, because its network had already made the daily maximum of accounts "
    "with free questions. To get free questions, sign in again on another UTC day or from another network."
)


def quota_headers(standing: QuotaStatus, clock: Clock) -> HeaderFields:
    """The two headers of a quota; none without a limit.

    Args:
        standing: The quota.
        clock: Time.

    Returns:
        `RateLimit-Policy` with `q` questions a window of `w` seconds (a starter has no window), and `RateLimit` with
        `r` left and `t` seconds until one is free again (absent if none will be; 1 if the last ones are only
        reserved).
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


class StreamRefusal:
    """Refuses a stream whose caller has no question left: streams cannot be paid for.

    Args:
        clock: Time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def __call__(self, request: RequestContext, standing: QuotaStatus) -> NoReturn:  # noqa: ARG002
        """Refuse.

        Raises:
            ServiceError: RATE_LIMITED with `Retry-After`.
        """
        now_ms = self._clock.now_ms()
        reset_ms = midnight_after(now_ms) if standing.reset_ms is None else standing.reset_ms
        raise ServiceError(
            "RATE_LIMITED",
            f"{_NONE_LEFT if standing.limit else NO_FREE_QUESTIONS} A stream cannot be paid for.",
            details=quota_details(standing, standing.reset_ms),
            headers={"Retry-After": str(seconds_until(reset_ms, now_ms))},
        )


def quota_wall(period: Period) -> QuotaWall:
    """Which quota a period belongs to."""
    return "grant" if period == "lifetime" else "drip"


def quota_details(standing: QuotaStatus, reset_ms: int | None) -> Mapping[str, object]:
    """`details` of a 429: tier, `used` and `limit`, which quota is spent, and when a question is free again.

    Args:
        standing: The quota.
        reset_ms: When a question becomes free again, epoch milliseconds; null if that is not known.
    """
    return {
        "tier": standing.tier,
        "used": standing.used,
        "limit": standing.limit,
        "quota": {"limit": standing.limit, "wall": quota_wall(standing.period)},
        "reset_at": None if reset_ms is None else iso(reset_ms),
    }


_PAYMENT_REQUIRED: Final = 402
_MOST_CACHED: Final = 256
MAX_VERSION: Final = b"x-x402-max-version"
_PAY: Final = "Sign what `accepts` asks for, and send this request again with the payment in PAYMENT-SIGNATURE."
_LOGIN: Final = "Run `verdict login`. An account has free questions."
_ACCOUNTLESS: Final = "No token was sent. Pay for this call in USDC (x402), or run `verdict login`."
_UPGRADE: Final = "Ask the operator for the access tier (50 questions a day) or pro (no limit)."

_CacheKey = tuple[QuotaStatus | None, bytes, bytes, bytes | None, bytes | None]
"""Everything a challenge depends on: quota, path, query, host and x402 version."""


class PaymentRequiredResponse:
    """Makes the 402 of one priced route.

    Callers with a spent quota get the same challenge, so a few are cached for each route.

    Args:
        offer: The route.
        challenges: Encodes the challenge.
        public_url: Scheme and host that callers use, if the service stands behind a proxy.
    """

    def __init__(self, offer: Offer, challenges: ChallengeBuilder, public_url: str | None) -> None:
        self._offer = offer
        self._challenges = challenges
        self._public_url = public_url
        self._cached: dict[_CacheKey, Response] = {}

    def __call__(
        self, request: RequestContext, standing: QuotaStatus | None, refused: ServiceError | None = None
    ) -> Response:
        """Make the 402.

        Args:
            request: The request.
            standing: The caller's quota; None without an account.
            refused: Why the request's payment was refused: PAYMENT_REQUIRED with a `reason` in its `details`. None: the
                quota is spent, or there is none.
        """
        if refused is not None:
            refusal = PaymentRejection(str((refused.details or {})["reason"]), refused.message)
            url, version = request.url(self._public_url), _version(request)
            return _answer(
                self._challenges.refusal(self._offer, payment_reason(self._offer, standing), refusal, url, version)
            )
        headers = request.headers
        key = standing, request.raw_path, request.scope["query_string"], headers.get(b"host"), headers.get(MAX_VERSION)
        cached = self._cached.get(key)
        if cached is None:
            if len(self._cached) >= _MOST_CACHED:
                self._cached.clear()
            cached = self._cached[key] = _answer(self._challenge(request, standing))
        return cached

    def _challenge(self, request: RequestContext, standing: QuotaStatus | None) -> Challenge:
        url, version = request.url(self._public_url), _version(request)
        return self._challenges.challenge(
            self._offer, payment_reason(self._offer, standing), _sentence(standing), url, version
        )


def payment_reason(offer: Offer, standing: QuotaStatus | None) -> Gate:
    """Why this caller must pay, when a question is free again, and what it can do now."""
    pay = Unlock(method="x402", label=_PAY, price_usdc=offer.price_usdc)
    if standing is None:
        return Gate(
            tier="free",
            used=0,
            limit=0,
            quota=Quota(used=0, limit=0, remaining=0, period="lifetime", wall="grant"),
            reset_at=None,
            upgrade_url=None,
            this_query=ThisQuery(route=offer.id, price_usdc=offer.price_usdc),
            unlock=[pay, Unlock(method="login", label=_LOGIN)],
        )
    reset_at = None if standing.reset_ms is None else iso(standing.reset_ms)
    unlock = [pay, Unlock(method="upgrade", label=_UPGRADE)]
    if reset_at is not None:
        unlock.insert(1, Unlock(method="wait", label="Wait until a question becomes free again.", at=reset_at))
    return Gate(
        tier=standing.tier,
        used=standing.used,
        limit=standing.limit,
        quota=Quota(standing.used, standing.limit, standing.remaining, standing.period, quota_wall(standing.period)),
        reset_at=reset_at,
        upgrade_url=None,
        this_query=ThisQuery(route=offer.id, price_usdc=offer.price_usdc),
        unlock=unlock,
    )


def _version(request: RequestContext) -> X402Version:
    return 2 if request.headers.get(MAX_VERSION) == b"2" else 1


def _sentence(standing: QuotaStatus | None) -> str:
    if standing is None:
        return _ACCOUNTLESS
    if standing.limit == 0:
        return f"{NO_FREE_QUESTIONS} Or pay for this call in USDC (x402)."
    spent = f"Your questions are used up ({standing.used} of {standing.limit} used)."
    wait = "" if standing.reset_ms is None else f", or wait: the next question is free at {iso(standing.reset_ms)}"
    return f"{spent} Pay for this call in USDC (x402){wait}."


def _answer(challenge: Challenge) -> Response:
    return response(_PAYMENT_REQUIRED, [JSON, NO_STORE, (b"payment-required", challenge.header)], challenge.body)
