"""Addresses that a stranger's URL may lead to: the public Internet, and nothing of our own."""

import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

from aiohttp.connector import AddrInfoType

_NAT64: Final = IPv6Network("64:ff9b::/96")
_UNICAST: Final = IPv6Network("2000::/3")
"""All of IPv6 that is given out to be routed; beside it stand old ways to carry IPv4, and private NAT64 (RFC 8215)."""

_RESERVED: Final = (
    IPv4Network("192.0.0.0/24"),  # protocol assignments (RFC 6890); Oracle's clouds keep metadata there
    IPv4Network("192.88.99.0/24"),  # relays of 6to4, given up (RFC 7526)
    IPv4Network("168.63.129.16/32"),  # a public address that is Azure's own agent on every machine there
    IPv6Network("3fff::/20"),  # documentation (RFC 9637)
)
"""What `ipaddress` takes for public, and is not."""

_ISATAP: Final = frozenset({0x0000_5EFE, 0x0200_5EFE})
_LAST_32: Final = 0xFFFF_FFFF


class NotPublicError(OSError):
    """A connection to what is not on the public Internet was asked for, and not made."""


def open_public(address: AddrInfoType) -> socket.socket:
    """Make the socket of a connection, for `aiohttp.TCPConnector(socket_factory=...)`.

    It is called with the very address that is connected to next. So a name that resolves differently when it is looked
    up again (DNS rebinding), and a URL that spells an address itself, lead nowhere else than what is judged here.

    Raises:
        NotPublicError: If the address is not public.
    """
    family, kind, protocol, _, to = address
    if not is_public(str(to[0])):
        raise NotPublicError("not a public address")
    return socket.socket(family=family, type=kind, proto=protocol)


def is_public(text: str) -> bool:
    """Whether an address is on the public Internet, as IANA's special-purpose registries have it.

    Args:
        text: An IP address, an IPv6 one perhaps with its zone. What carries an IPv4 address in it (mapped, 6to4, NAT64,
            ISATAP) is judged by that.
    """
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address):
        address = _carried(address) or address
    if isinstance(address, IPv6Address) and address not in _UNICAST:
        return False
    reserved = any(address in network for network in _RESERVED)
    return address.is_global and not address.is_multicast and not reserved


def _carried(address: IPv6Address) -> IPv4Address | None:
    if address in _NAT64 or int(address) >> 32 & _LAST_32 in _ISATAP:
        return IPv4Address(int(address) & _LAST_32)
    return address.ipv4_mapped or address.sixtofour
