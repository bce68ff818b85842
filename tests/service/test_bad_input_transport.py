"""Malformed HTTP messages, over sockets of the running service."""

from collections.abc import Iterator

import pytest

from tests.service.attack import CLOSED, OPEN, RISK, Row, Target, asking, attacked, each, posting

pytestmark = pytest.mark.process

LOGIN = "/api/auth/login"
JSON = "Content-Type: application/json"
BEARER = "Authorization: Bearer <KEY>"


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with attacked(tmp_path_factory.mktemp("data")) as running:
        yield running


def chunks(*said: bytes) -> bytes:
    return asking(LOGIN, JSON, "Transfer-Encoding: chunked", method="POST") + b"".join(said)


def bad(name: str, said: bytes) -> Row:
    return Row(name, said, 400, "BAD_REQUEST", CLOSED)


MALFORMED = [
    bad("length beside encoding", asking(LOGIN, JSON, "Transfer-Encoding: chunked", method="POST", body=b"0\r\n\r\n")),
    bad("two lengths that differ", asking(LOGIN, JSON, "Content-Length: 3", method="POST", body=b"{}")),
    bad("a list of lengths", asking(LOGIN, JSON, "Content-Length: 2, 2", method="POST") + b"{}"),
    bad("length with plus", asking(LOGIN, JSON, "Content-Length: +2", method="POST") + b"{}"),
    bad("length with minus", asking(LOGIN, JSON, "Content-Length: -2", method="POST") + b"{}"),
    bad("length in hexadecimal", asking(LOGIN, JSON, "Content-Length: 0x2", method="POST") + b"{}"),
    bad("length with underscore", asking(LOGIN, JSON, "Content-Length: 1_0", method="POST") + b"{}"),
    bad("length beyond 64 bits", asking(LOGIN, JSON, f"Content-Length: {10**30}", method="POST") + b"{}"),
    bad("empty length", asking(LOGIN, JSON, "Content-Length: ", method="POST") + b"{}"),
    bad("unknown encoding", asking(LOGIN, JSON, "Transfer-Encoding: gzip", method="POST") + b"{}"),
    bad("doubled encoding", asking(LOGIN, JSON, "Transfer-Encoding: chunked, chunked", method="POST") + b"0\r\n\r\n"),
    bad(
        "encoding twice",
        asking(LOGIN, JSON, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked", method="POST") + b"0\r\n\r\n",
    ),
    bad("chunked not last", asking(LOGIN, JSON, "Transfer-Encoding: chunked, gzip", method="POST") + b"0\r\n\r\n"),
    bad("chunked not first", asking(LOGIN, JSON, "Transfer-Encoding: gzip, chunked", method="POST") + b"0\r\n\r\n"),
    bad("identity", asking(LOGIN, JSON, "Transfer-Encoding: identity", method="POST") + b"{}"),
    bad("encoding with a vertical tab", asking(LOGIN, JSON, b"Transfer-Encoding: \x0bchunked", method="POST")),
    bad("space before the colon", asking(RISK, "Authorization : Bearer <KEY>")),
    bad("tab before the colon", asking(RISK, "Authorization\t: Bearer <KEY>")),
    bad("no colon", asking(RISK, "Authorization")),
    bad("empty name", asking(RISK, ": value")),
    bad("name with a space", asking(RISK, "X Y: value")),
    bad("name beyond ASCII", asking(RISK, b"X-\xe9: value")),
    bad("bare LF", asking(RISK, BEARER).replace(b"\r\n", b"\n")),
    bad("bare LF after one line", asking(RISK, b"X-A: a\nX-B: b")),
    bad("bare CR", asking(RISK, BEARER).replace(b"\r\n", b"\r")),
    bad("bare CR in a value", asking(RISK, b"X-A: a\rX-B: b")),
    bad("NUL in a value", asking(RISK, b"X-A: a\x00b")),
    bad("NUL in a name", asking(RISK, b"X-\x00A: b")),
    bad("control character in a value", asking(RISK, b"X-A: a\x01b")),
    bad("folded header", asking(RISK, b"X-A: a\r\n b")),
    bad("folded first header", b"GET / HTTP/1.1\r\n Host: a\r\n\r\n"),
    bad("chunk size no number", chunks(b"zz\r\n{}\r\n0\r\n\r\n")),
    bad("chunk size negative", chunks(b"-2\r\n{}\r\n0\r\n\r\n")),
    bad("chunk size with prefix", chunks(b"0x2\r\n{}\r\n0\r\n\r\n")),
    bad("chunk size beyond 64 bits", chunks(b"FFFFFFFFFFFFFFFFF\r\n{}")),
    bad("chunk longer than said", chunks(b"1\r\n{}\r\n0\r\n\r\n")),
    bad("chunk ended by LF", chunks(b"2\n{}\n0\n\n")),
    bad("chunk size followed by CR alone", chunks(b"2\rX{}\r\n0\r\n\r\n")),
    bad("method in lower case", asking(RISK, method="get")),
    bad("method nobody knows", asking(RISK, method="BREW!")),
    bad("no version", b"GET /healthz\r\nHost: a\r\n\r\n"),
    bad("version 0.9", b"GET /healthz HTTP/0.9\r\nHost: a\r\n\r\n"),
    bad("version 2.0", b"GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n"),
    bad("version 1.2", b"GET /healthz HTTP/1.2\r\nHost: a\r\n\r\n"),
    bad("HTTP/2 by prior knowledge", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    bad("another protocol", b"SSH-2.0-OpenSSH_9.9\r\n"),
    bad("TLS where none is spoken", bytes.fromhex("16030100f1010000ed0303") + bytes(230)),
    bad("chunks in HTTP/1.0", chunks(b"0\r\n\r\n").replace(b"HTTP/1.1", b"HTTP/1.0")),
    bad("target beyond ASCII", asking("/api/cli/coin/risk/\u0412\u0422\u0421", BEARER)),
    bad("target with NUL", asking(b"/api/cli/coin/risk/B\x00C", BEARER)),
    bad("target without slash", asking("healthz")),
    bad("target of another scheme", asking("ftp://api.example.org/healthz")),
    bad("target of another host", asking("http://evil.example/healthz")),
    bad("target with user info", asking("http://a@api.example.org/healthz")),
    bad("expectation nobody can meet", asking(LOGIN, JSON, "Expect: 200-ok", method="POST", body=b"{}")),
]

REFUSED = [
    Row("no Host", b"GET /healthz HTTP/1.1\r\n\r\n", 400, "BAD_REQUEST", OPEN),
    Row("a fragment", asking(f"{RISK}#x", BEARER), 400, "BAD_REQUEST", OPEN),
    Row("two Hosts", asking(RISK, "Host: a", "Host: b", BEARER), 400, "BAD_REQUEST", OPEN),
    Row("the same Host twice", asking(RISK, "Host: a", "Host: a", BEARER), 400, "BAD_REQUEST", OPEN),
    Row("empty Host", asking(RISK, "Host: ", BEARER), 400, "BAD_REQUEST", OPEN),
    Row("a Host that is a list", asking(RISK, "Host: a, b", BEARER), 400, "BAD_REQUEST", OPEN),
    Row("a Host that is a URL", asking(RISK, "Host: http://a/", BEARER), 400, "BAD_REQUEST", OPEN),
    Row("a Host with user info", asking(RISK, "Host: a@b", BEARER), 400, "BAD_REQUEST", OPEN),
    Row("a Host with a bad port", asking(RISK, "Host: a:99999999", BEARER), 400, "BAD_REQUEST", OPEN),
    Row("two Authorizations", asking(RISK, BEARER, BEARER), 400, "BAD_REQUEST", OPEN),
    Row("two Authorizations that differ", asking(RISK, BEARER, "authorization: x"), 400, "BAD_REQUEST", OPEN),
    Row("two Content-Types", posting(LOGIN, b"{}", JSON), 400, "BAD_REQUEST", OPEN),
    Row("TRACE", asking(RISK, BEARER, method="TRACE"), 405, "METHOD_NOT_ALLOWED", OPEN),
    Row("TRACE of a path that is none", asking("/nowhere", method="TRACE"), 405, "METHOD_NOT_ALLOWED", OPEN),
    Row("33 parameters", asking(f"{RISK}?" + "&".join(f"p{n}=1" for n in range(33)), BEARER), 400, "BAD_REQUEST", OPEN),
    Row("33 empty parameters", asking(f"{RISK}?" + "&" * 32, BEARER), 400, "BAD_REQUEST", OPEN),
]

TOO_MUCH = [
    Row("CONNECT", asking("api.example.org:443", method="CONNECT"), 405, "METHOD_NOT_ALLOWED", CLOSED),
    *(
        Row(name, said, 431, "HEADERS_TOO_LARGE", CLOSED)
        for name, said in {
            "a header over 16 KB": asking(RISK, "X-A: " + "a" * 16_384),
            "headers over 16 KB": asking(RISK, *[f"X-{n}: {'a' * 400}" for n in range(60)]),
            "over 100 headers": asking(RISK, *[f"X-{n}: a" for n in range(100)]),
            "a name that never ends": b"GET / HTTP/1.1\r\n" + b"X" * 65_536,
            "a 30 MB header": b"GET / HTTP/1.1\r\nX-A: " + b"a" * 30_000_000,
        }.items()
    ),
    *(
        Row(name, said, 414, "URI_TOO_LONG", CLOSED)
        for name, said in {
            "a target over 8 KB": asking("/" + "a" * 8_192),
            "a query over 8 KB": asking(f"{RISK}?" + "a" * 8_192),
            "a target that never ends": b"GET /" + b"a" * 100_000,
        }.items()
    ),
    *(
        Row(name, said, 413, "PAYLOAD_TOO_LARGE", CLOSED)
        for name, said in {
            "a body over 64 KB, declared": asking(LOGIN, JSON, "Content-Length: 65537", method="POST"),
            "a body over 64 KB, sent": posting(LOGIN, b" " * 65_537),
            "a body over 64 KB, in chunks": chunks(b"8000\r\n" + b" " * 32_768 + b"\r\n8001\r\n" + b" " * 32_769),
            "one chunk over 64 KB": chunks(b"10001\r\n" + b" " * 65_537),
            "chunk extensions without end": chunks(b"2;" + b"a" * 600_000),
            "a GET with a body over 64 KB": asking(RISK, BEARER, "Content-Length: 65537"),
        }.items()
    ),
]

ROWS = [*MALFORMED, *REFUSED, *TOO_MUCH]


@pytest.mark.promise("errors.always-json")
@pytest.mark.parametrize("row", each(MALFORMED))
def test_what_is_malformed_is_400_and_ends_the_connection(target: Target, row: Row) -> None:
    assert target.attack(row).fields["connection"] == "close"


@pytest.mark.promise("auth.two-headers")
@pytest.mark.parametrize("row", each(REFUSED))
def test_what_is_well_formed_and_not_wanted_is_refused_and_the_connection_lives_on(target: Target, row: Row) -> None:
    reply = target.attack(row)
    assert reply.status != 405 or "GET" in reply.fields["allow"]


@pytest.mark.promise("errors.headers-431", "errors.target-414", "errors.body-413")
@pytest.mark.parametrize("row", each(TOO_MUCH))
def test_what_is_too_much_is_refused_by_its_own_status_and_ends_the_connection(target: Target, row: Row) -> None:
    target.attack(row)


def test_a_request_hidden_behind_a_malformed_one_is_never_answered(target: Target) -> None:
    for row in MALFORMED:
        with target.connection() as opened:
            opened.say(target.fill_in(row.said) + target.fill_in(asking(RISK, BEARER)))
            assert opened.reply().status == 400, row.name
            assert opened.is_closed(), row.name


def test_a_body_that_a_get_carries_is_not_taken_for_the_next_request(target: Target) -> None:
    smuggled = asking("/healthz", "X-Smuggled: yes")
    with target.connection() as opened:
        opened.say(target.fill_in(asking("/nowhere", BEARER, body=smuggled)) + asking("/readyz"))
        assert opened.reply().status == 404
        assert b'"ready"' in opened.reply().body


@pytest.mark.gate
def test_all_of_it_counts_nothing_and_leaves_the_log_clean(target: Target) -> None:
    before = target.counted()
    for row in ROWS:
        target.ask(row.said)
    assert target.counted() == before
    target.check_unharmed()


@pytest.fixture(scope="module")
def choosy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    settings = {"hosts": "api.example.org, 127.0.0.1", "cors_origins": "https://app.example.org"}
    with attacked(tmp_path_factory.mktemp("data"), **settings) as running:
        yield running


@pytest.mark.promise("errors.host-421", "run.hosts")
@pytest.mark.parametrize("host", ["evil.example", "api.example.org.evil.example", "example.org", "xn--api-"])
def test_a_host_that_is_not_ours_is_421_where_hosts_are_named(choosy: Target, host: str) -> None:
    choosy.attack(Row("", asking("/openapi.json", f"Host: {host}"), 421, "WRONG_HOST", OPEN))
    assert choosy.ask(asking("/openapi.json", "Host: API.example.org:8402")).status == 200
    assert choosy.ask(asking("/healthz", f"Host: {host}")).status == 200


def test_only_named_origins_may_read_answers(choosy: Target, target: Target) -> None:
    ours, other = "Origin: https://app.example.org", "Origin: https://evil.example"
    wanted = "Access-Control-Request-Method: GET"
    preflight = choosy.ask(asking(RISK, ours, wanted, method="OPTIONS"))
    assert (preflight.status, preflight.fields["access-control-allow-origin"]) == (204, "https://app.example.org")
    assert "GET" in preflight.fields["access-control-allow-methods"]
    assert choosy.ask(asking(RISK, ours)).fields["access-control-allow-origin"] == "https://app.example.org"
    for said in (asking(RISK, other, wanted, method="OPTIONS"), asking(RISK, other)):
        assert "access-control-allow-origin" not in choosy.ask(said).fields
        assert "access-control-allow-origin" not in target.ask(said).fields
