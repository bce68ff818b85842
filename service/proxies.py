"""Which proxy a connection goes through, by HTTP_PROXY, HTTPS_PROXY and NO_PROXY.

The rules are curl's: the lower-case variable comes first, NO_PROXY is parted by commas or blanks, an entry of it covers
a host and the hosts below it, perhaps on one port alone, and HTTP_PROXY in capital letters is ignored in a CGI program.
What is on this machine never goes through a proxy.
"""

import re
import socket
from base64 import b64encode
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final
from urllib.parse import quote, unquote, urlsplit

_SCHEMES: Final = {"http": "http", "https": "https", "ws": "http", "wss": "https"}
_PORTS: Final = {"http": 80, "https": 443}
_WHOLE: Final = re.compile(r"(?:[^/?#\t\r\n]*://|(?!(?i:https?):(?!\d+/?\Z)))[^/?#\t\r\n]*/?\Z")
"""A proxy's address has no path. Without slashes `http:` would be read as a host or a user."""

_PLACE: Final = re.compile(r"(?:\[[^\[\]\s]+\]|[\w.-]+)(?::\d*)?\Z")
_PORT: Final = re.compile(r":(\d{1,5})\Z", re.ASCII)
_SEPARATORS: Final = re.compile(r"[,\s]+")


class Proxy:
    """A proxy, spoken to by plain HTTP. Its text is `host:port (VARIABLE)`, without the credentials.

    Args:
        scheme: `http` or `https`: of the URLs it is for.
        value: The variable's: `http://host:port`, perhaps with user and password; `http://` may be left out.

    Attributes:
        host: Name or address; IPv6 without brackets.
        port: 1 to 65535.
        variable: `HTTP_PROXY` or `HTTPS_PROXY`; the lower-case spelling counts too.
        user: Null if it takes no credentials.
        password: Empty if there is none.

    Raises:
        SettingsError: If the value is something else. The message never repeats it.
    """

    __slots__ = ("host", "password", "port", "user", "variable")

    def __init__(self, scheme: str, value: str) -> None:
        try:
            parts = urlsplit(value if "://" in value else f"http://{value}")
            host, port = (parts.hostname or "").encode("idna").decode(), parts.port
            if not _WHOLE.match(value) or not _PLACE.match(parts.netloc.rpartition("@")[2]):
                host = ""
        except ValueError:
            parts, host, port = urlsplit(""), "", None
        user = unquote(parts.username or "") if "@" in parts.netloc else None
        self.variable = f"{scheme.upper()}_PROXY"
        if not host or parts.scheme != "http" or port == 0 or ":" in (user or ""):
            from service.settings import SettingsError  # noqa: PLC0415 - a command does without it

            raise SettingsError(
                f"{self.variable} is not the address of a proxy that can be used. Write it like "
                "http://proxy.example:3128."
            )
        self.host = host
        self.port = port or _PORTS["http"]
        self.user = user
        self.password = unquote(parts.password or "")

    def __repr__(self) -> str:
        """Where it is and which variable says so."""
        return f"{self._authority} ({self.variable})"

    @property
    def address(self) -> str:
        """As aiohttp takes it, with the credentials: it decodes them and encodes them as Latin-1."""
        if self.user is None:
            return f"http://{self._authority}"
        user, password = (quote(text.encode().decode("latin-1"), safe="") for text in (self.user, self.password))
        return f"http://{user}:{password}@{self._authority}"

    @property
    def authorization(self) -> str | None:
        """`Proxy-Authorization` (RFC 7617, UTF-8); null without credentials."""
        if self.user is None:
            return None
        return "Basic " + b64encode(f"{self.user}:{self.password}".encode()).decode()

    @property
    def _authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def proxy_for(url: str) -> Proxy | None:
    """The proxy for a URL; null for a direct connection.

    Args:
        url: `http`, `https`, `ws` or `wss`.

    Raises:
        SettingsError: If the variable for this scheme is not a proxy's address.
    """
    parts = urlsplit(url)
    scheme, host = _SCHEMES.get(parts.scheme, ""), parts.hostname or ""
    if is_loopback(host):
        return None
    proxies = _environment()
    if scheme not in proxies or _is_direct(host, parts.port or _PORTS[scheme], proxies.get("no", "")):
        return None
    return Proxy(scheme, proxies[scheme])


def proxy_address(url: str) -> str | None:
    """What `aiohttp.ClientSession(proxy=...)` takes for a URL that the operator configures; null for none.

    Never use it for what users or other sites name (webhooks, feeds, redirects): the proxy resolves the name, out of
    reach of `ssrf_guard`. Use it instead of aiohttp's `trust_env`, which also sends the passwords of ~/.netrc.

    Raises:
        SettingsError: As `proxy_for`.
    """
    proxy = proxy_for(url)
    return None if proxy is None else proxy.address


def proxy_at(host: str, port: int | None) -> Proxy | None:
    """The proxy at an address, of those that the environment names."""
    for scheme, value in _environment().items():
        if scheme not in _PORTS:
            continue
        with suppress(ValueError):
            proxy = Proxy(scheme, value)
            if (proxy.host, proxy.port) == (host, port):
                return proxy
    return None


def _environment() -> dict[str, str]:
    from urllib.request import getproxies_environment  # noqa: PLC0415 - a command to this machine does without

    return getproxies_environment()


def is_loopback(host: str) -> bool:
    """Whether a host is this machine: `localhost`, a name below it, or an address of it, in any spelling.

    Args:
        host: Name or address; IPv6 without brackets.
    """
    address = _address(host)
    if address is None:
        name = host.lower().rstrip(".")
        return name == "localhost" or name.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        try:
            return IPv4Address(socket.inet_aton(host))  # 127.1 and 2130706433 are addresses too
        except (OSError, ValueError):
            return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def _is_direct(host: str, port: int, no_proxy: str) -> bool:
    """Whether NO_PROXY covers a host: by its name or one above it, its address, or its network."""
    address, name = _address(host), host.lower().rstrip(".")
    entries = list(filter(None, _SEPARATORS.split(no_proxy.lower())))
    return entries == ["*"] or any(_covers(entry, name, address, port) for entry in entries)


def _covers(entry: str, name: str, address: IPv4Address | IPv6Address | None, port: int) -> bool:
    if address is not None and "/" in entry:
        try:
            return address in ip_network(entry, strict=False)
        except ValueError:  # not a network
            return False
    is_bare = entry.count(":") > 1 and not entry.endswith("]") and "]:" not in entry  # IPv6 without brackets
    on = None if is_bare else _PORT.search(entry)
    if on is not None:
        entry = entry[: on.start()]
        if int(on[1]) != port:
            return False
    if address is not None:  # an address has no parent domains: `2.3` does not cover 10.1.2.3
        return _address(entry.strip("[]")) == address
    entry = entry.strip(".")
    return bool(entry) and f".{name}".endswith(f".{entry}")
