"""Where a service is: its address, taken apart and written in one way."""

from typing import Final, NamedTuple
from urllib.parse import urlsplit

_PORTS: Final = {"http": 80, "https": 443}
_LIKE: Final = "write it like http://127.0.0.1:8402 or https://verdict.example"


class Address(NamedTuple):
    """Where a service is.

    Attributes:
        secure: Whether it is spoken to over TLS.
        host: A name, or an address; an IPv6 one without its brackets.
        port: The port, also where it was not written.
    """

    secure: bool
    host: str
    port: int

    def __str__(self) -> str:
        """The one way to write it: lower case, the port only where it is not the scheme's own."""
        scheme = "https" if self.secure else "http"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}" + (f":{self.port}" if self.port != _PORTS[scheme] else "")


def read_address(url: str) -> Address:
    """Take an address apart.

    Args:
        url: http or https, a host, perhaps a port; a slash at its end says nothing.

    Raises:
        ValueError: With what is wrong, if it is anything else. What stands before an `@` or after a `?` may be a
            secret, and is not told again.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode()
    except ValueError:  # a port that is none, half a bracket, a name that no resolver takes
        raise ValueError(f"that is no address of a service; {_LIKE}") from None
    if "@" in url:
        raise ValueError(f"an address holds no name or password, for it is shown and logged; {_LIKE}")
    if parts.scheme not in _PORTS or not host or port == 0:
        raise ValueError(f"{_shown(url)} is no address of a service; {_LIKE}")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError(
            f"{_shown(url)} has something after the host, and the service is asked under its own paths; {_LIKE}"
        )
    return Address(parts.scheme == "https", host, port or _PORTS[parts.scheme])


def _shown(url: str) -> str:
    path, mark, _ = url.partition("?")
    return repr(path + mark)
