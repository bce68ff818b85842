"""Upstreams through a proxy of the environment, and what never goes through one."""

import asyncio
from collections.abc import Callable

import msgspec
import pytest
from aiohttp import WSMsgType, web

from service.settings import SettingsError
from service.upstream.completions import ChatMessage, CompletionError, ModelEndpoint, open_completions
from service.upstream.failures import UpstreamError
from service.upstream.feed_fetcher import open_feed_fetcher
from service.upstream.http_client import open_http_client
from service.upstream.push import open_push_client
from service.upstream.session import open_session
from service.upstream.websocket import open_socket
from tests.fakes.clock import FakeClock
from tests.fakes.model import model
from tests.fakes.ports import held_port
from tests.fakes.proxy import FakeProxy, proxy, unset_variables
from tests.upstream.conftest import OK, Ok, Venue, listening

SetProxy = Callable[[FakeProxy], None]
PASSWORD = "correct-horse-7"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    unset_variables(monkeypatch)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> SetProxy:
    def setting(made: FakeProxy) -> None:
        for name in ("HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, f"http://anna:{PASSWORD}@127.0.0.1:{made.port}")

    return setting


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2].partition("/")[0])


async def ask(url: str, clock: FakeClock) -> Ok:
    async with open_session("hyperliquid", url, clock, weight_per_minute=1_200) as session:
        return (await session.post_json("/info", {}, weight=1, decoder=OK)).value


async def test_a_session_asks_through_the_proxy_with_its_credentials(
    venue: Venue, clock: FakeClock, use: SetProxy
) -> None:
    with proxy(upstream_test=port_of(venue.url)) as made:
        use(made)
        assert await ask("http://upstream.test", clock) == Ok(ok=True)
        [asked] = made.asked
    assert (asked.method, asked.target) == ("POST", "http://upstream.test/info")
    assert asked.headers["proxy-authorization"] == "Basic YW5uYTpjb3JyZWN0LWhvcnNlLTc="
    assert "authorization" not in asked.headers


async def test_the_proxy_sees_no_password_of_netrc(
    venue: Venue,
    clock: FakeClock,
    use: SetProxy,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    netrc = tmp_path_factory.mktemp("home") / "netrc"
    netrc.write_text("machine upstream.test login anna password hidden\nmachine 127.0.0.1 login anna password hidden\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with proxy(upstream_test=port_of(venue.url)) as made:
        use(made)
        await ask("http://upstream.test", clock)
    assert "authorization" not in made.asked[0].headers


async def test_credentials_beyond_latin_are_sent_as_utf_8(
    venue: Venue, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with proxy(upstream_test=port_of(venue.url)) as made:
        monkeypatch.setenv("HTTP_PROXY", f"http://%C3%A9:%E2%82%AC@127.0.0.1:{made.port}")
        await ask("http://upstream.test", clock)
    assert made.asked[0].headers["proxy-authorization"] == "Basic w6k64oKs"


async def test_loopback_and_no_proxy_are_asked_directly(
    venue: Venue, clock: FakeClock, use: SetProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    with proxy() as made:
        use(made)
        assert await ask(venue.url, clock) == Ok(ok=True)
        monkeypatch.setenv("NO_PROXY", "upstream.invalid")
        with pytest.raises(UpstreamError):
            await ask("http://upstream.invalid", clock)
    assert made.asked == []


async def test_https_and_secure_sockets_go_through_connect(clock: FakeClock, use: SetProxy) -> None:
    with proxy() as made:
        use(made)
        made.status = 403
        with pytest.raises(UpstreamError) as refused:
            await ask("https://upstream.test", clock)
        async with open_socket("hyperliquid", "wss://socket.test/ws", clock, [], {}) as socket:
            with pytest.raises(UpstreamError) as unheard:
                await socket.first()
        async with open_http_client("facilitator", "https://pay.test:8443/x", deadline_s=20, most=99) as client:
            with pytest.raises(UpstreamError) as unpaid:
                await client.get("/supported")
        endpoint = ModelEndpoint("https://model.test/v1", "small", None, 20.0, 9)
        async with open_completions(endpoint, clock) as completions:
            with pytest.raises(CompletionError) as silent:
                await completions.complete([ChatMessage("user", "?")])
    heads = [(asked.method, asked.target) for asked in made.asked]
    assert sorted(set(heads)) == [
        ("CONNECT", "model.test:443"),
        ("CONNECT", "pay.test:8443"),
        ("CONNECT", "socket.test:443"),
        ("CONNECT", "upstream.test:443"),
    ]
    assert {asked.headers["proxy-authorization"] for asked in made.asked} == {"Basic YW5uYTpjb3JyZWN0LWhvcnNlLTc="}
    said = f"efused by proxy 127.0.0.1:{made.port} (HTTPS_PROXY): status 403"
    assert [refused.value.body, unheard.value.body, unpaid.value.body] == [f"r{said}"] * 3
    assert str(silent.value) == f"R{said}."
    assert not silent.value.used


@pytest.mark.parametrize("url", ["http://upstream.test", "https://upstream.test"])
async def test_a_proxy_that_requires_other_credentials_is_named_without_them(
    url: str, clock: FakeClock, use: SetProxy
) -> None:
    with proxy() as made:
        use(made)
        made.status = 407
        with pytest.raises(UpstreamError) as refused:
            await ask(url, clock)
    variable = url.partition(":")[0].upper() + "_PROXY"
    assert refused.value.body == (
        f"refused by proxy 127.0.0.1:{made.port} ({variable}): status 407, it requires a user and a password that it "
        "accepts"
    )
    assert PASSWORD not in repr(refused.value.details)


async def test_a_proxy_that_cannot_be_reached_is_named_with_its_variable(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held_port() as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://anna:{PASSWORD}@127.0.0.1:{port}")
        with pytest.raises(UpstreamError) as refused:
            await ask("https://upstream.test", clock)
    assert refused.value.body == f"no connection to proxy 127.0.0.1:{port} (HTTPS_PROXY): connection refused"
    monkeypatch.setenv("HTTPS_PROXY", f"http://anna:{PASSWORD}@proxy.invalid:3128")
    with pytest.raises(UpstreamError) as unknown:
        await ask("https://upstream.test", FakeClock())
    assert unknown.value.body == "no connection to proxy proxy.invalid:3128 (HTTPS_PROXY): DNS lookup failed"


async def test_a_variable_that_is_no_proxy_is_refused_when_a_session_opens(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"socks5://anna:{PASSWORD}@proxy.example")
    with pytest.raises(SettingsError, match="HTTPS_PROXY is not the address") as refused:
        await ask("https://upstream.test", clock)
    assert PASSWORD not in str(refused.value)


async def test_a_model_is_asked_through_the_proxy(clock: FakeClock, use: SetProxy) -> None:
    async with model() as fake:
        with proxy(model_test=port_of(fake.url)) as made:
            use(made)
            url = fake.url.replace(f"127.0.0.1:{port_of(fake.url)}", "model.test")
            async with open_completions(ModelEndpoint(url, "small", None, 20.0, 9), clock) as completions:
                assert (await completions.complete([ChatMessage("user", "<data>1<data>")])).text
    assert made.asked[0].target == f"{url}/chat/completions"


async def test_a_facilitator_is_asked_through_the_proxy(clock: FakeClock, use: SetProxy) -> None:
    async def supported(_: web.Request) -> web.Response:
        return web.json_response({"kinds": []})

    app = web.Application()
    app.router.add_get("/supported", supported)
    async with listening(app) as url:
        with proxy(pay_test=port_of(url)) as made:
            use(made)
            async with open_http_client("facilitator", "http://pay.test", deadline_s=20, most=99) as client:
                assert (await client.get("/supported")).body == b'{"kinds": []}'
    assert [asked.target for asked in made.asked] == ["http://pay.test/supported"]


async def test_frames_come_through_the_proxy(clock: FakeClock, use: SetProxy) -> None:
    async def feed(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_str('{"channel":"ok","data":{"ok":true}}')
        assert (await socket.receive()).type in {WSMsgType.CLOSE, WSMsgType.CLOSED}
        return socket

    app = web.Application()
    app.router.add_get("/ws", feed)
    async with listening(app) as url:
        with proxy(socket_test=port_of(url)) as made:
            use(made)
            async with (
                asyncio.timeout(20),
                open_socket("hyperliquid", "ws://socket.test/ws", clock, [], {"ok": OK}) as socket,
            ):
                assert (await socket.first()).value == Ok(ok=True)
    assert made.asked[0].headers["proxy-authorization"].startswith("Basic ")


@pytest.mark.parametrize(
    "url",
    [
        "http://private.test/feed",
        "https://private.test/feed",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data",
        "https://[fd00::1]/",
        "http://127.0.0.1:1/",
        "http://localhost:1/",
    ],
)
async def test_a_url_that_a_user_or_a_feed_names_never_goes_through_the_proxy(
    url: str, clock: FakeClock, use: SetProxy, venue: Venue
) -> None:
    with proxy(private_test=port_of(venue.url)) as made:
        use(made)
        async with open_push_client(clock, private=False) as push:
            assert (await push.post(url, b"{}", {})).error is not None
        async with open_feed_fetcher(clock) as fetcher:
            with pytest.raises(UpstreamError):
                await fetcher.get(url, 99, obey_robots=False)
    assert made.asked == []


async def test_a_redirect_to_another_host_of_a_site_leaves_the_proxy(clock: FakeClock, use: SetProxy) -> None:
    async def moved(_: web.Request) -> web.Response:
        return web.Response(status=301, headers={"Location": "https://inner.news.test/rss"})

    app = web.Application()
    app.router.add_get("/rss", moved)
    async with listening(app) as url:
        with proxy(news_test=port_of(url), inner_news_test=port_of(url)) as made:
            use(made)
            async with open_session(
                "coindesk", "http://news.test", clock, weight_per_minute=99, follows=True
            ) as session:
                with pytest.raises(UpstreamError):
                    await session.get("/rss", weight=1, decoder=msgspec.json.Decoder(Ok))
    assert {asked.target for asked in made.asked} == {"http://news.test/rss"}
