"""Request rates by credential, or by network for callers without one: the generic cell rate algorithm, in memory.

Failed tokens have rates of their own.

Source: ITU-T I.371, GCRA, virtual scheduling.
"""

import ipaddress
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from service.access.caller import Caller, UnknownTokenError
from service.clock import Clock
from service.errors import ServiceError

MAX_TRACKED_KEYS: Final = 50_000

_MINUTE_S: Final = 60.0
_ROUNDING_S: Final = 1e-6
"""A wait shorter than this is what adding floats left over."""

_IPV6_NETWORK_BITS: Final = 64
"""What one customer is given; the addresses inside cost nothing to change."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

Scope = Mapping[str, Any]
"""An ASGI scope."""


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
    """

    def __init__(self, rate: RateLimiter, trusted_proxies: Sequence[str]) -> None:
        self._rate = rate
        self._trusted = [ipaddress.ip_network(proxy) for proxy in trusted_proxies]

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

    def host_of(self, scope: Scope) -> str:
        """The client's address: the forwarded one if the request comes through a trusted proxy."""
        host: str = scope["client"][0] if scope["client"] else ""
        return self._forwarded(scope, host) if self._trusted and self._is_trusted_proxy(address_in(host)) else host

    def _forwarded(self, scope: Scope, proxy: str) -> str:
        """The last forwarded address that is not a trusted proxy: the ones before it may be forged.

        Text that is not an address counts as the proxy's own: else a client could invent a network per request.
        """
        lines = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        addresses = map(address_in, reversed(b",".join(lines).decode("latin-1").split(",")))
        nearest = next((address for address in addresses if not self._is_trusted_proxy(address)), None)
        return proxy if nearest is None else str(nearest)

    def _is_trusted_proxy(self, address: Address | None) -> bool:
        return address is not None and is_within(address, self._trusted)


def is_within(address: Address, networks: Iterable[Network]) -> bool:
    """Whether an address, or the IPv4 address that it maps, is in one of these networks."""
    forms = (address, address.ipv4_mapped) if isinstance(address, ipaddress.IPv6Address) else (address,)
    return any(form in network for network in networks for form in forms if form is not None)


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


def address_in(hop: str) -> Address | None:
    """The address in a hop as proxies write it: some add the port it came from, which is new with each connection.

    Args:
        hop: `203.0.113.9`, `203.0.113.9:4711`, `2001:db8::9`, `[2001:db8::9]` or `[2001:db8::9]:4711`.

    Returns:
        The address; null where there is none.
    """
    text = hop.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def network_of(host: str) -> str:
    """The network that counts as one asker: an IPv4 address, or the /64 of an IPv6 one."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(address), _IPV6_NETWORK_BITS), strict=False))
