"""Request rates by credential, or by network for callers without one: the generic cell rate algorithm, in memory.

Failed tokens have rates of their own.

Source: ITU-T I.371, GCRA, virtual scheduling.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Final

from service.access.caller import Caller, UnknownTokenError
from service.clock import Clock
from service.errors import ServiceError
from service.networks import Scope, TrustedProxies, network_of

MAX_TRACKED_KEYS: Final = 50_000

_MINUTE_S: Final = 60.0
_ROUNDING_S: Final = 1e-6
"""A wait shorter than this is what adding floats left over."""


class RateLimiter:
    """A rate with bursts for each key. Each process has its own, so several processes allow several times as much.

    Memory is bounded by two generations of keys. The older one is dropped when a full burst would have refilled, or
    beyond `MAX_TRACKED_KEYS`; then a few keys get their burst back early.

    Args:
        clock: Its monotonic time counts.
        per_minute: Sustained requests a minute.
        burst: Requests allowed at once.
    """

    def __init__(self, clock: Clock, per_minute: int, burst: int) -> None:
        self._now = clock.monotonic
        self._interval_s = _MINUTE_S / per_minute
        self._ahead_s = self._interval_s * (burst - 1)
        self._window_s = self._interval_s * burst
        self._young: dict[Hashable, float] = {}
        self._old: dict[Hashable, float] = {}
        self._turn_at = self._now() + self._window_s

    def take(self, key: Hashable) -> float | None:
        """Count a request.

        Args:
            key: The caller.

        Returns:
            None if it is allowed; else the seconds to wait. A refused request is not counted.
        """
        now = self._now()
        if now >= self._turn_at or len(self._young) >= MAX_TRACKED_KEYS:
            self._turn(now)
        due = self._young.get(key)
        if due is None:
            due = self._old.get(key, now)
        due = max(due, now)
        wait_s = due - self._ahead_s - now
        if wait_s > _ROUNDING_S:
            return wait_s
        self._young[key] = due + self._interval_s
        return None

    def _turn(self, now: float) -> None:
        self._old, self._young = self._young, {}
        self._turn_at = now + self._window_s


class RequestLimiter:
    """Counts requests and refuses those above the rate.

    Args:
        rate: Token bucket by key.
        trusted_proxies: Networks whose `X-Forwarded-For` is trusted.

    Attributes:
        host_of: The client's address, by the request.
    """

    def __init__(self, rate: RateLimiter, trusted_proxies: Sequence[str]) -> None:
        self._rate = rate
        self.host_of = TrustedProxies(trusted_proxies).host_of

    def count(self, caller: Caller | None, scope: Scope) -> None:
        """Count a request by its caller, or by its network without one.

        Raises:
            ServiceError: RATE_LIMITED with `Retry-After`.
        """
        key: Hashable
        key = (caller.kind, caller.credential_id) if caller is not None else network_of(self.host_of(scope))
        wait_s = self._rate.take(key)
        if wait_s is not None:
            raise too_fast("Too many requests. Send the next one", wait_s)


class FailedTokens:
    """Limits refused tokens. It counts only after a refusal, so it never stops a valid token.

    Each (network, token) has a limit, and each network has one for well-formed tokens that were never issued.

    Args:
        of_token: Counts by network and token.
        of_network: Counts unknown tokens by network.
        host_of: The address that a request comes from.
    """

    def __init__(self, of_token: RateLimiter, of_network: RateLimiter, host_of: Callable[[Scope], str]) -> None:
        self._of_token = of_token
        self._of_network = of_network
        self._host_of = host_of

    def count(self, error: ServiceError, mark: bytes, scope: Scope) -> None:
        """Count a token that was refused.

        Args:
            error: Why it was refused. What is no fault of the token (503) does not count.
            mark: Its digest.
            scope: The request.

        Raises:
            ServiceError: RATE_LIMITED with `Retry-After`, in place of the refusal.
        """
        if error.code != "AUTH_INVALID":
            return
        network = network_of(self._host_of(scope))
        wait_s = self._of_token.take((network, mark))
        if wait_s is None and isinstance(error, UnknownTokenError):
            wait_s = self._of_network.take(network)
        if wait_s is not None:
            raise too_fast("Too many requests with a token that is not valid. Send the next one", wait_s) from error


def too_fast(what: str, wait_s: float) -> ServiceError:
    """A 429.

    Args:
        what: What is too fast, and what to do; the message goes on with when.
        wait_s: Seconds until the next request may come.
    """
    seconds = str(math.ceil(wait_s))
    return ServiceError(
        "RATE_LIMITED",
        f"{what} in {seconds} s.",
        headers={"Retry-After": seconds, "RateLimit": f'"requests";r=0;t={seconds}'},
    )
