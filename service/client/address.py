"""Parses service URLs and writes them in one normal form."""

from typing import Final, NamedTuple
from urllib.parse import urlsplit

_PORTS: Final = {"http": 80, "https": 443}
_LIKE: Final = "Use http://host[:port] or https://host[:port]."


class Address(NamedTuple):
    """A service URL: whether it uses TLS, host (IPv6 without brackets), port (also the default one)."""

    secure: bool
    host: str
    port: int

    def __str__(self) -> str:
        """The normal form: lower case, no default port."""
        scheme = "https" if self.secure else "http"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}" + (f":{self.port}" if self.port != _PORTS[scheme] else "")


def read_address(url: str) -> Address:
    """Parse a service URL: http or https, a host, perhaps a port and a final slash.

    Raises:
        ValueError: If it is anything else. The message omits text before `@` and after `?`: it may be secret.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode()
    except ValueError:  # an invalid port, bracket or host name
        raise ValueError(f"That is not a valid service URL. {_LIKE}") from None
    if "@" in url:
        raise ValueError(f"A service URL must not contain a name or password, because it is shown and logged. {_LIKE}")
    path, mark, _ = url.partition("?")
    if parts.scheme not in _PORTS or not host or port == 0:
        raise ValueError(f"{path + mark!r} is not a valid service URL. {_LIKE}")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError(f"{path + mark!r} has a path or query after the host. {_LIKE}")
    return Address(parts.scheme == "https", host, port or _PORTS[parts.scheme])
