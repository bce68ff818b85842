"""How often one may ask: a credential by itself, everybody else by the network they come from.

Tokens that were refused have limits of their own (`FailedTokens`).
"""

import ipaddress
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Final

from starlette.types import Scope

from service.access.caller import Caller
from service.access.rate import RequestRate
from service.access.refusal import UnknownTokenError
from service.errors import ServiceError

_IPV6_NETWORK_BITS: Final = 64
"""What one customer is given; the addresses inside cost nothing to change."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Throttle:
    """Counts requests and refuses those that come too fast.

    Args:
        rate: The count.
        trusted_proxies: Networks whose `X-Forwarded-For` is believed.
    """

    def __init__(self, rate: RequestRate, trusted_proxies: Sequence[str]) -> None:
        self._rate = rate
        self._trusted = [ipaddress.ip_network(proxy) for proxy in trusted_proxies]

    def count(self, caller: Caller | None, scope: Scope) -> None:
        """Count a request of a caller, or of a stranger's network.

        Raises:
            ServiceError: RATE_LIMITED with `Retry-After`.
        """
        key: Hashable
        key = (caller.kind, caller.credential_id) if caller is not None else network_of(self.host_of(scope))
        wait_s = self._rate.take(key)
        if wait_s is not None:
            raise too_fast("too many requests; send the next one", wait_s)

    def host_of(self, scope: Scope) -> str:
        """The address a request comes from: the one that our proxies tell of, where it comes through them."""
        host: str = scope["client"][0] if scope["client"] else ""
        return self._forwarded(scope, host) if self._trusted and self._is_ours(address_in(host)) else host

    def _forwarded(self, scope: Scope, proxy: str) -> str:
        """The address nearest to us that is no proxy of ours: what stands before it may be invented.

        What is no address says nothing, or everybody could be a network of its own: the proxy stands for it then.
        """
        lines = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        addresses = map(address_in, reversed(b",".join(lines).decode("latin-1").split(",")))
        nearest = next((address for address in addresses if not self._is_ours(address)), None)
        return proxy if nearest is None else str(nearest)

    def _is_ours(self, address: Address | None) -> bool:
        return address is not None and is_within(address, self._trusted)


def is_within(address: Address, networks: Iterable[Network]) -> bool:
    """Whether an address, or the IPv4 address that it maps, is in one of these networks."""
    forms = (address, address.ipv4_mapped) if isinstance(address, ipaddress.IPv6Address) else (address,)
    return any(form in network for network in networks for form in forms if form is not None)


class FailedTokens:
    """Limits how often refused tokens are sent. It is asked once a token was refused, so it never stops a good one.

    Each (network, token) has a limit, and each network has one for well-formed tokens that were never issued. What
    other clients of the network send does not count to either: neither good tokens nor requests for public pages.

    Args:
        of_token: Counts by network and token.
        of_network: Counts unknown tokens by network.
        host_of: The address that a request comes from.
    """

    def __init__(self, of_token: RequestRate, of_network: RequestRate, host_of: Callable[[Scope], str]) -> None:
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
        f"{what} in {seconds} s",
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
