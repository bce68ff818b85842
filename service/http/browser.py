"""Pages for browsers: their security headers, their request rate, and JSON for other clients."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol
from urllib.parse import parse_qsl

from starlette.routing import Route

from service.access.rate_limiter import RequestLimiter
from service.errors import ServiceError
from service.http.gate import RouteEndpoint
from service.http.negotiation import prefers_html
from service.http.request import RequestContext
from service.http.response import JSON, Response, exact_response, public_error, response
from service.wire.envelope import encode

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
"""Content security policy (CSP level 3): the page's own scripts and styles only, nothing inline."""

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
_NOT_MODIFIED: Final = 304
_FILES: Final = ("/static/", "/chart/")
"""Paths whose document is the same for every caller and every `Accept`."""
_SHARED: Final = frozenset({"/snapshot.json", "/coins.csv"})
"""Documents that the site makes once for everybody. They do not count to the request rate: a refusal costs the same."""


class SitePage(Protocol):
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

    @property
    def gzipped(self) -> bytes:
        """Its bytes compressed; empty if there is no such form."""

    @property
    def etag(self) -> bytes:
        """Its weak validator (RFC 9110 §8.8.3), the same for both forms; empty if it has none."""

    @property
    def location(self) -> bytes:
        """Where the browser goes instead; empty for a page."""


class Site(Protocol):
    """All pages."""

    @property
    def paths(self) -> Sequence[str]:
        """Every path; a last segment in braces is a parameter."""

    async def answer(self, path: str, segment: str, query: Mapping[str, str]) -> SitePage:
        """Show a page."""

    def refuse(self, error: ServiceError) -> SitePage:
        """Show why a page cannot be shown."""


class PageEndpoint(RouteEndpoint):
    """Shows one page of the site.

    Whatever is said at its path is said under the policy, failures and JSON too.
    Who asks for no page is answered in JSON as everywhere: at `/` with where to find things. Files are the same for
    everybody. Pages are public: they count to the request rate of the network they are asked from.

    Args:
        site: The pages.
        path: Which one.
        limiter: The request rate.
    """

    waits = True

    def __init__(self, site: Site, path: str, limiter: RequestLimiter) -> None:
        self._site = site
        self._path = path
        self._limiter = limiter
        self._is_file = path.startswith(_FILES) or path in _SHARED

    async def respond(self, request: RequestContext) -> Response:
        """Answer; failures are pages, too.

        Raises:
            ServiceError: NOT_FOUND or RATE_LIMITED for callers that do not prefer a page.
        """
        request.response_headers += _GUARDS
        if self._is_file:
            if self._path not in _SHARED:
                self._limiter.count(None, request.scope)
            page = await self._ask(request)
        else:
            request.response_headers.append(_VARY)
            if not prefers_html(request.scope):
                return self._index(request)
            page = await self._page(request)
        return page_response(page, request)

    def _index(self, request: RequestContext) -> Response:
        self._limiter.count(None, request.scope)
        if self._path != _ROOT:
            raise ServiceError(
                "NOT_FOUND", "This path is a page for browsers. /api/cli/manifest lists the routes of the API."
            )
        return response(200, [JSON, _FLEETING], INDEX)

    async def _page(self, request: RequestContext) -> SitePage:
        try:
            self._limiter.count(None, request.scope)
            return await self._ask(request)
        except Exception as error:  # noqa: BLE001 -- a defect is logged, and shown as a page too
            failure = public_error(error, request.request_id, request.route)
            request.response_headers += [
                (name.lower().encode(), value.encode("latin-1")) for name, value in failure.headers.items()
            ]
            return self._site.refuse(failure)

    async def _ask(self, request: RequestContext) -> SitePage:
        segment = next(iter(request.path_params.values()), "")
        return await self._site.answer(self._path, segment, _values(request.scope["query_string"]))


class MissingPageEndpoint(PageEndpoint):
    """Shows browsers that a path does not exist.

    Args:
        site: The pages.
        limiter: The request rate.
    """

    def __init__(self, site: Site, limiter: RequestLimiter) -> None:
        super().__init__(site, "", limiter)

    async def _ask(self, request: RequestContext) -> SitePage:  # noqa: ARG002
        raise ServiceError("NOT_FOUND", "There is no page at this address.")


def page_response(page: SitePage, request: RequestContext) -> Response:
    """The response of a page: compressed where the browser takes that, 304 where it has the same page already."""
    headers = [(b"cache-control", page.cache_control)]
    if page.gzipped:
        headers.append((b"vary", b"accept-encoding"))
    if page.etag:
        headers.append((b"etag", page.etag))
        if page.etag in request.headers.get(b"if-none-match", b""):
            return exact_response(_NOT_MODIFIED, headers)
    headers.append((b"content-type", page.content_type))
    if page.location:
        headers.append((b"location", page.location))
    body = page.body
    accepted = request.headers.get(b"accept-encoding", b"").replace(b" ", b"")
    if page.gzipped and b"gzip" in accepted and b"gzip;q=0" not in accepted:
        headers.append((b"content-encoding", b"gzip"))
        body = page.gzipped
    return response(page.status, headers, body)


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
"""The answer at `/` to clients that are not browsers."""


def _values(query: bytes) -> dict[str, str]:
    """The values of a query.

    Raises:
        ServiceError: BAD_REQUEST where a name repeats or the text is not UTF-8.
    """
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise ServiceError("BAD_REQUEST", "The query contains bytes that are not UTF-8.") from None
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ServiceError("BAD_REQUEST", "A parameter is given more than once.")
    return values


def routes(site: Site, limiter: RequestLimiter) -> Iterable[Route]:
    """A route for every path of a site.

    Args:
        site: The pages.
        limiter: The request rate.
    """
    return [Route(path, PageEndpoint(site, path, limiter), methods=["GET"], name=path) for path in site.paths]
