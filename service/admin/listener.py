"""The listening socket: bound before anything else starts, and passed to the processes that serve."""

import errno
import logging
import socket
import ssl
import threading
from typing import Any, Final

from service.client.errors import RefusalError
from service.settings import Settings, SettingsError

BACKLOG: Final = 2_048
UNSENT_BYTES: Final = 128 * 1024
"""Unsent bytes that the kernel buffers per connection. Without a limit it would buffer megabytes for clients that send
requests and read no answers."""

_REMEDIES: Final = {
    errno.EADDRINUSE: "The port is in use. Stop the program that listens there, or set {port} (0 takes a free port).",
    errno.EACCES: "This user may not use that port. Set {port} to 1024 or more, and use a proxy for a lower port.",
    errno.EADDRNOTAVAIL: "That is not an address of this machine. Set VERDICT_HOST to one, such as 127.0.0.1.",
}
_OTHERWISE: Final = "{reason}. Set VERDICT_HOST and {port}."

_RETRY_S: Final = 0.1
_pause: Final = threading.Event().wait
_log: Final = logging.getLogger("verdict.operator")


def listen(host: str, port: int, port_setting: str = "VERDICT_PORT", *, timeout_s: int = 0) -> socket.socket:
    """Bind and listen.

    Args:
        host: A name or an address, IPv4 or IPv6.
        port: 0 takes a free one.
        port_setting: The setting of the port, for error messages.
        timeout_s: Seconds to wait for a port that is in use.

    Returns:
        A listening socket, not inherited by other programs.

    Raises:
        RefusalError: If that cannot be done, naming the setting to change.
    """
    retries = round(timeout_s / _RETRY_S)
    while True:
        try:
            return _bind(host, port)
        except (OSError, UnicodeError) as error:
            if retries and isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
                if retries == round(timeout_s / _RETRY_S):
                    _log.warning(f"{host}:{port} is in use. Waiting up to {timeout_s} s for it to become free.")
                retries -= 1
                _pause(_RETRY_S)
                continue
            raise RefusalError(_reason(host, port, port_setting, error)) from error


def resolve(host: str, port: int) -> tuple[socket.AddressFamily, tuple[Any, ...]]:
    """The address family and socket address that a host is listened on with.

    Raises:
        OSError: If the host is not known.
        UnicodeError: If it is not a host name.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = found[0]
    return family, address


def _bind(host: str, port: int) -> socket.socket:
    family, address = resolve(host, port)
    return _bounded(socket.create_server(address, family=family, backlog=BACKLOG))


def _reason(host: str, port: int, port_setting: str, error: OSError | UnicodeError) -> str:
    number = error.errno if isinstance(error, OSError) and not isinstance(error, socket.gaierror) else None
    remedy = _REMEDIES.get(number or 0, _OTHERWISE)
    reason = error.strerror if isinstance(error, OSError) else "That is not a host name"
    said = remedy.format(port=port_setting, reason=reason)
    return f"Cannot listen on {host}:{port}. {said}"


def _bounded(listener: socket.socket) -> socket.socket:
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):  # pragma: no branch - other systems lack it
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)  # connections inherit it
    return listener


def url_of(listener: socket.socket, *, tls: bool) -> str:
    """URL of a listening socket for callers on this machine."""
    host, port = listener.getsockname()[:2]
    return f"{'https' if tls else 'http'}://{bracketed(local(host))}:{port}"


def local(address: str) -> str:
    """Where callers on this machine reach what listens on an address: loopback for `0.0.0.0` and `::`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)  # noqa: S104 - recognised, not bound


def bracketed(address: str) -> str:
    """An address as URLs write it: IPv6 in brackets."""
    return f"[{address}]" if ":" in address else address


def check_tls(settings: Settings) -> None:
    """Check certificate and key before a process is started with them.

    Raises:
        SettingsError: If they cannot be used.
    """
    if settings.tls_cert is None or settings.tls_key is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.tls_cert, settings.tls_key)
    except OSError as error:
        raise SettingsError(
            f"VERDICT_TLS_CERT and VERDICT_TLS_KEY cannot be used: {error.strerror or error}. "
            "Name a PEM certificate and its private key."
        ) from error
