"""Networks that callers come from: addresses, the proxies in front of a server, and what counts as one asker."""

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

_IPV6_NETWORK_BITS: Final = 64
"""What one customer is given; the addresses inside cost nothing to change."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

Scope = Mapping[str, Any]
"""An ASGI scope."""


class TrustedProxies:
    """Finds the address of a client behind proxies.

    Args:
        networks: Networks whose `X-Forwarded-For` is trusted.
    """

    def __init__(self, networks: Sequence[str]) -> None:
        self._trusted = [ipaddress.ip_network(network) for network in networks]

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
