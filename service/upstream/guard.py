"""Addresses that a stranger's URL may lead to: the public Internet, and nothing of our own."""

import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

from aiohttp.connector import AddrInfoType

_NAT64: Final = IPv6Network("64:ff9b::/96")
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
        text: An IP address, an IPv6 one perhaps with its zone. What carries an IPv4 address in it (mapped, 6to4, NAT64)
            is judged by that too.
    """
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address):
        address = _carried(address) or address
    return address.is_global and not address.is_multicast


def _carried(address: IPv6Address) -> IPv4Address | None:
    if address in _NAT64:
        return IPv4Address(int(address) & _LAST_32)
    return address.ipv4_mapped or address.sixtofour
