"""What is refused of every request, whatever its route."""

import pytest
from starlette.middleware import Middleware
from starlette.routing import Route

from service.errors import ServiceError
from service.http.app import App
from service.http.gates.limits import RequestLimitsGate
from service.http.health import Health
from service.http.request import RequestContext
from tests.fakes.asgi import ask, scope_of
from tests.http.test_app import front
from tests.http.wire import HOST, served


async def never(*_: object) -> None:
    raise AssertionError("no application is called")


@pytest.mark.parametrize("hosts", [b"", HOST + HOST, HOST + b"Host: other.example\r\n", b"Host:\r\n"])
async def test_no_host_two_hosts_or_an_empty_one_are_400(hosts: bytes) -> None:
    async with served(front(), shortcut=False) as wire:
        peer = await wire.connect()
        await peer.say(b"GET /keys HTTP/1.1\r\n" + hosts + b"\r\n")
        reply = await peer.reply()
        peer.close()
    assert (reply.status, reply.code) == (400, "BAD_REQUEST")


@pytest.mark.parametrize("host", ["a b", "a/b", "me@a", "a?b", "a:b", "a:", "[::1", "::1", "a\\b", "a,b", "a" * 254])
async def test_a_host_that_is_none_is_400(host: str) -> None:
    reply = await ask(front(), "/keys", host=host)
    assert (reply.status, reply.code) == (400, "BAD_REQUEST")


@pytest.mark.promise("run.hosts", "errors.host-421")
async def test_only_the_hosts_that_are_configured_are_answered_for() -> None:
    app = front(hosts=("api.example.org", "::1"))
    for host in ("api.example.org", "API.Example.org", "api.example.org:8402"):
        assert (await ask(app, "/keys", host=host)).status == 200
    for host in ("example.org", "evil.example", "127.0.0.1", "api.example.org.evil.example"):
        reply = await ask(app, "/keys", host=host)
        assert (reply.status, reply.code) == (421, "WRONG_HOST")


async def test_an_absolute_target_of_a_host_that_is_not_ours_is_421() -> None:
    async with served(front(hosts=("api.example.org",)), shortcut=False) as wire:
        (reply,) = await wire.say(
            b"GET http://evil.example/keys HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        )
    assert (reply.status, reply.code) == (421, "WRONG_HOST")


def health(*hosts: str) -> App:
    checks = Health({"market": lambda: {"ready": True}})
    routes = [Route(path, checks, methods=["GET"], name=path) for path in ("/healthz", "/readyz", "/healthz/deep")]
    return App(routes, [Middleware(RequestLimitsGate, hosts, "verdict_sk_")])


@pytest.mark.parametrize("shortcut", [True, False])
@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/healthz?from=kubelet"])
@pytest.mark.parametrize(
    "head",
    [
        " HTTP/1.1\r\nHost: 10.1.2.3:8402\r\n",
        " HTTP/1.1\r\nHost: localhost\r\n",
        " HTTP/1.1\r\nHost: [::1]:8402\r\n",
        " HTTP/1.1\r\nHost: verdict.example\r\n",
        " HTTP/1.0\r\n",
        " HTTP/1.0\r\nHost:\r\n",
        " HTTP/1.0\r\nHost: other.example\r\n",
    ],
)
async def test_probes_are_answered_whatever_the_host(head: str, path: str, shortcut: bool) -> None:
    async with served(health("verdict.example"), shortcut=shortcut) as wire:
        peer = await wire.connect()
        await peer.say(f"GET {path}{head}\r\n".encode())
        assert (await peer.reply()).status == 200
        peer.close()


async def test_a_probe_opens_no_other_path_to_its_host() -> None:
    async with served(health("verdict.example")) as wire:
        peer = await wire.connect()
        for path, status in (("/healthz", 200), ("/healthz/deep", 421), ("/", 421), ("/%68ealthz", 421)):
            await peer.say(f"GET {path} HTTP/1.1\r\nHost: 10.1.2.3\r\n\r\n".encode())
            assert (await peer.reply()).status == status
        peer.close()


@pytest.mark.parametrize("hosts", ["", "Host: a\r\nHost: a\r\n", "Host: a b\r\n", "Host:\r\n"])
async def test_a_probe_with_http_1_1_names_one_host(hosts: str) -> None:
    async with served(health()) as wire:
        peer = await wire.connect()
        await peer.say(f"GET /healthz HTTP/1.1\r\n{hosts}\r\n".encode())
        assert (await peer.reply()).status == 400
        peer.close()


@pytest.mark.parametrize("repeats", ["Host: a\r\nHost: a\r\n", "Authorization: a\r\nAuthorization: b\r\n"])
async def test_http_1_0_repeats_no_single_header_either(repeats: str) -> None:
    async with served(front(), shortcut=False) as wire:
        (reply,) = await wire.say(f"GET /keys HTTP/1.0\r\n{repeats}\r\n".encode())
    assert (reply.status, reply.code) == (400, "BAD_REQUEST")


@pytest.mark.parametrize(
    ("head", "hosts", "status"),
    [
        ("GET /keys HTTP/1.0\r\n", (), 200),
        ("GET /keys HTTP/1.0\r\nHost:\r\n", (), 200),
        ("HEAD /healthz HTTP/1.0\r\n", (), 404),
        ("POST /keys HTTP/1.0\r\nContent-Length: 0\r\n", (), 200),
        ("GET /keys HTTP/1.0\r\n", ("127.0.0.1",), 200),
        ("GET /keys HTTP/1.0\r\n", ("verdict.example",), 421),
        ("GET /keys HTTP/1.0\r\nHost: verdict.example\r\n", ("verdict.example",), 200),
        ("GET http://verdict.example/keys HTTP/1.0\r\n", ("verdict.example",), 200),
        ("GET http://other.example/keys HTTP/1.0\r\n", ("verdict.example",), 421),
        ("GET http://a.example/keys HTTP/1.0\r\nHost: b.example\r\n", (), 400),
    ],
)
async def test_http_1_0_without_host_names_the_address_that_it_came_to(
    head: str, hosts: tuple[str, ...], status: int
) -> None:
    async with served(front(hosts=hosts), shortcut=False) as wire:
        peer = await wire.connect()
        await peer.say(f"{head}\r\n".encode())
        reply = await peer.closed()
    assert reply.startswith(b"HTTP/1.1 %d " % status)
    assert b"connection: close\r\n" in reply


@pytest.mark.parametrize(
    ("server", "url"),
    [
        (("127.0.0.1", 8402), "http://127.0.0.1:8402/keys"),
        (("::1", 8402), "http://[::1]:8402/keys"),
        (("fe80::1%eth0", 80), "http://[fe80::1]:80/keys"),
        (("::ffff:10.0.0.1", 1), "http://[::ffff:10.0.0.1]:1/keys"),
        (("/run/verdict.sock", None), "http://localhost/keys"),
        (None, "http://localhost/keys"),
    ],
)
def test_a_request_without_host_has_the_url_of_the_address(server: object, url: str) -> None:
    scope = scope_of("/keys", "GET", {}) | {"headers": [], "http_version": "1.0", "server": server}
    request = RequestContext(scope)
    RequestLimitsGate(never, (), "verdict_sk_").check(request)
    assert request.url(None) == url


async def test_hosts_are_remembered_up_to_a_bound() -> None:
    limits = RequestLimitsGate(never, (), "verdict_sk_")
    for number in range(300):
        scope = scope_of("/", "GET", {"host": f"h{number}.example"})
        limits.check(RequestContext(scope))
    assert len(limits._known_hosts) == 256


@pytest.mark.parametrize("count", [32, 33])
async def test_more_than_32_parameters_are_400(count: int) -> None:
    reply = await ask(front(), "/keys?" + "&".join(f"p{number}=1" for number in range(count)))
    assert reply.status == (200 if count == 32 else 400)


@pytest.mark.promise("auth.two-headers")
@pytest.mark.parametrize("name", ["Authorization", "authorization", "Content-Type", "X-Payment", "Payment-Signature"])
async def test_two_of_a_header_that_decides_something_are_400(name: str) -> None:
    async with served(front(), shortcut=False) as wire:
        reply = await wire.get(b"/keys", f"{name}: a".encode(), f"{name.upper()}: b".encode())
        other = await wire.get(b"/keys", b"Accept: a", b"Accept: b", b"X-Forwarded-For: 1", b"X-Forwarded-For: 2")
    assert (reply.status, reply.code) == (400, "BAD_REQUEST")
    assert name.lower() in reply.json["error"]["message"]
    assert other.status == 200


@pytest.mark.promise("auth.key-in-url")
async def test_a_session_in_the_query_is_400_and_is_not_repeated() -> None:
    token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2VjcmV0"
    reply = await ask(front(), f"/keys?access_token={token}")
    assert (reply.status, token in reply.body.decode()) == (400, False)


def test_a_host_setting_may_be_international() -> None:
    scope = scope_of("/", "GET", {"host": "xn--mller-kva.example"})
    limits = RequestLimitsGate(never, ("müller.example",), "verdict_sk_")
    limits.check(RequestContext(scope))
    with pytest.raises(ServiceError, match="does not answer"):
        RequestLimitsGate(never, ("other.example",), "verdict_sk_").check(RequestContext(scope))
