"""Which addresses a stranger's URL may lead to."""

import socket

import pytest

from service.upstream.ssrf_guard import NotPublicError, is_public, open_public

INSIDE = [
    "127.0.0.1", "127.8.9.10", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "192.0.2.1", "198.18.0.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
    "::", "::1", "fc00::1", "fd12::1", "fe80::1", "fe80::1%eth0", "ff02::1", "2001:db8::1", "2001:0:7f00:1::",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a00:1::",
    "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b:1::7f00:1", "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:a00:1",
    "fec0::1", "3fff::1", "5f00::1", "192.0.0.192", "192.88.99.1", "168.63.129.16", "100.100.100.200", "fd00:ec2::254",
]  # fmt: skip
OUTSIDE = [
    "1.1.1.1", "93.184.216.34", "172.15.0.1", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101",
    "2002:101:101::", "2606:4700::5efe:101:101", "168.63.129.17",
]  # fmt: skip


@pytest.mark.parametrize("address", INSIDE)
def test_what_is_not_on_the_public_internet_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", OUTSIDE)
def test_the_public_internet_is_public(address: str) -> None:
    assert is_public(address)


def test_no_socket_is_made_for_an_address_inside() -> None:
    with pytest.raises(NotPublicError):
        open_public((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80)))


def test_a_socket_is_made_for_an_address_outside() -> None:
    with open_public((socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("2606:4700:4700::1111", 80, 0, 0))) as made:
        assert (made.family, made.type) == (socket.AF_INET6, socket.SOCK_STREAM)
