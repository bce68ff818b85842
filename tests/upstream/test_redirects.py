"""Redirects of feeds: followed on the publisher's own site, refused elsewhere, remembered where permanent."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from yarl import URL

from service.upstream.failures import UpstreamError
from service.upstream.redirects import Redirects
from service.upstream.session import UpstreamSession, open_session
from tests.fakes.clock import FakeClock
from tests.upstream.conftest import OK, Ok, listening

FEED = "/arc/outboundfeeds/rss/"
WITHOUT_SLASH = "/arc/outboundfeeds/rss"


class Site:
    """A publisher's server. `moves` maps a path to status and Location; every other path answers."""

    def __init__(self) -> None:
        self.url = ""
        self.moves: dict[str, tuple[int, str]] = {}
        self.visited: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.visited.append(request.path)
        if request.path in self.moves:
            status, location = self.moves[request.path]
            return web.Response(status=status, headers={"Location": location})
        return web.Response(body=b'{"ok":true}')


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    made = Site()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", made.answer)
    async with listening(app) as url:
        made.url = url
        yield made


@asynccontextmanager
async def reading(site: Site) -> AsyncIterator[UpstreamSession]:
    async with open_session("coindesk", site.url, FakeClock(), weight_per_minute=1_000, follows=True) as session:
        yield session


async def fetch(session: UpstreamSession, path: str = FEED) -> Ok:
    return (await session.get(path, weight=1, decoder=OK)).value


async def refused(session: UpstreamSession, path: str = FEED) -> tuple[int | None, str]:
    with pytest.raises(UpstreamError) as caught:
        await fetch(session, path)
    return caught.value.upstream_status, caught.value.body


@pytest.mark.promise("feeds.redirects")
async def test_a_feed_whose_slash_form_is_answered_with_308_is_read_and_the_new_form_remembered(site: Site) -> None:
    site.moves[FEED] = (308, WITHOUT_SLASH)
    async with reading(site) as session:
        assert (await fetch(session)).ok
        assert (await fetch(session)).ok
    assert site.visited == [FEED, WITHOUT_SLASH, WITHOUT_SLASH]


async def test_a_temporary_redirect_is_followed_and_not_remembered(site: Site) -> None:
    site.moves[FEED] = (302, WITHOUT_SLASH)
    async with reading(site) as session:
        await fetch(session)
        await fetch(session)
    assert site.visited == [FEED, WITHOUT_SLASH] * 2


async def test_a_remembered_form_that_no_longer_answers_is_forgotten(site: Site) -> None:
    site.moves[FEED] = (301, WITHOUT_SLASH)
    async with reading(site) as session:
        await fetch(session)
        site.moves = {WITHOUT_SLASH: (302, "https://elsewhere.example/")}
        assert (await fetch(session)).ok
    assert site.visited[-2:] == [WITHOUT_SLASH, FEED]


@pytest.mark.promise("feeds.redirects")
@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("https://elsewhere.example/rss", "redirect to another site is not followed"),
        ("http://127.0.0.1:1/rss", "redirect to another site is not followed"),
        ("", "redirect without a usable target"),
        ("https://[", "redirect without a usable target"),
        ("https://user:secret@feeds.example/", "redirect without a usable target"),
        ("/" + "x" * 2_000, "redirect without a usable target"),
        (FEED, "redirect loop"),
        ("/1", "more than 3 redirects"),
    ],
)
async def test_a_redirect_elsewhere_nowhere_or_in_a_circle_is_refused_with_its_reason(
    site: Site, location: str, why: str
) -> None:
    site.moves = {f"/{number}": (308, f"/{number + 1}") for number in range(1, 9)}
    site.moves[FEED] = (308, location)
    async with reading(site) as session:
        assert await refused(session) == (308, why)
        assert session._redirects.take(FEED) is None


async def test_a_session_that_does_not_follow_takes_a_redirect_for_a_failure(site: Site) -> None:
    site.moves[FEED] = (308, WITHOUT_SLASH)
    async with open_session("hyperliquid", site.url, FakeClock(), weight_per_minute=1_000) as session:
        assert (await refused(session))[0] == 308
    assert set(site.visited) == {FEED}


def allowed(base: str, to: str) -> bool:
    redirects = Redirects(URL(base))
    return redirects.is_own(URL(to)) or redirects._is_on_site(URL(to))


@pytest.mark.parametrize(
    ("to", "followed"),
    [
        ("https://www.coindesk.com/x", True),
        ("https://coindesk.com/x", True),
        ("https://feeds.coindesk.com/x", True),
        ("http://feeds.coindesk.com/x", False),
        ("http://www.coindesk.com/x", False),
        ("https://www.coindesk.com:8443/x", False),
        ("https://evilcoindesk.com/x", False),
        ("https://coindesk.com.evil.example/x", False),
        ("https://127.0.0.1/x", False),
    ],
)
def test_only_https_on_the_same_site_is_followed(to: str, followed: bool) -> None:
    assert allowed("https://www.coindesk.com", to) is followed


@pytest.mark.promise("feeds.redirects")
async def test_another_host_of_the_site_must_have_a_public_address(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    async def local(_: str, port: int, **__: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", local)
    site.moves[FEED] = (308, "https://feeds.localhost/rss")
    base = site.url.replace("127.0.0.1", "localhost")
    async with open_session("coindesk", base, FakeClock(), weight_per_minute=1_000, follows=True) as session:
        assert await refused(session) == (None, "address is not public")
