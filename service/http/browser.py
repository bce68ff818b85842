"""Pages for browsers: what everyone of them carries, who may have them, and what others are told instead."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol
from urllib.parse import parse_qsl

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from service.errors import ServiceError
from service.http.accept import prefers_html
from service.http.exchange import Exchange
from service.http.throttle import Throttle
from service.wire.envelope import encode

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""What a page may load and do (CSP level 3): its own scripts and styles, nothing inline, nothing from anywhere else."""

_GUARDS: Final = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=()"),
)
_FLEETING: Final = (b"cache-control", b"no-cache")
_VARY: Final = (b"vary", b"accept")
_ROOT: Final = "/"
_STATIC: Final = "/static/"


class Page(Protocol):
    """An answer to a browser."""

    @property
    def status(self) -> int:
        """HTTP status."""

    @property
    def content_type(self) -> bytes:
        """Media type."""

    @property
    def cache_control(self) -> bytes:
        """How long it may be kept."""

    @property
    def body(self) -> bytes:
        """Its bytes."""


class Site(Protocol):
    """Everything that browsers are shown."""

    @property
    def paths(self) -> Sequence[str]:
        """Every path; a last segment in braces is a parameter."""

    async def answer(self, path: str, segment: str, query: Mapping[str, str]) -> Page:
        """Show a page."""

    def refuse(self, error: ServiceError) -> Page:
        """Show why a page cannot be shown."""


class Browser:
    """Shows one page of the site.

    Whatever is said at its path is said under the policy, failures and JSON too.
    Who asks for no page is answered in JSON as everywhere: at `/` with where to find things. Files are the same for
    everybody. Pages are public: they count to the request rate of the network they are asked from.

    Args:
        site: The pages.
        path: Which one.
        throttle: The request rate.
    """

    def __init__(self, site: Site, path: str, throttle: Throttle) -> None:
        self._site = site
        self._path = path
        self._throttle = throttle
        self._is_file = path.startswith(_STATIC)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Answer; failures are pages, too.

        Raises:
            ServiceError: NOT_FOUND or RATE_LIMITED for who asks for no page.
        """
        exchange: Exchange = scope["verdict"]
        exchange.fields += _GUARDS
        if self._is_file:
            self._throttle.count(None, scope)
            page = await self._ask(exchange, scope)
        elif prefers_html(scope):
            exchange.fields.append(_VARY)
            page = await self._page(exchange, scope)
        else:
            exchange.fields.append(_VARY)
            self._throttle.count(None, scope)
            if self._path != _ROOT:
                raise ServiceError("NOT_FOUND", "this is a page for browsers; /api/cli/manifest lists the routes")
            await _send(scope, send, 200, [(b"content-type", b"application/json"), _FLEETING], INDEX)
            return
        headers = [(b"content-type", page.content_type), (b"cache-control", page.cache_control)]
        await _send(scope, send, page.status, headers, page.body)

    async def _page(self, exchange: Exchange, scope: Scope) -> Page:
        try:
            self._throttle.count(None, scope)
            return await self._ask(exchange, scope)
        except ServiceError as error:
            exchange.fields += [
                (name.lower().encode(), value.encode("latin-1")) for name, value in error.headers.items()
            ]
            return self._site.refuse(error)

    async def _ask(self, exchange: Exchange, scope: Scope) -> Page:
        segment = next(iter(exchange.path_params.values()), "")
        return await self._site.answer(self._path, segment, _values(scope["query_string"]))


INDEX: Final = encode(
    {
        "service": "verdict",
        "manifest": "/api/cli/manifest",
        "openapi": "/openapi.json",
        "docs": "/docs",
        "llms": "/llms.txt",
        "health": "/readyz",
    }
)
"""What stands at `/` for who is no browser."""


def _values(query: bytes) -> dict[str, str]:
    """The values of a query.

    Raises:
        ServiceError: BAD_REQUEST where a name repeats or the text is not UTF-8.
    """
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise ServiceError("BAD_REQUEST", "the query holds bytes that are not UTF-8") from None
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ServiceError("BAD_REQUEST", "a parameter is given more than once")
    return values


async def _send(scope: Scope, send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def routes(site: Site, throttle: Throttle) -> Iterable[Route]:
    """A route for every path of a site.

    Args:
        site: The pages.
        throttle: The request rate.
    """
    return [Route(path, Browser(site, path, throttle), methods=["GET"], name=path) for path in site.paths]
