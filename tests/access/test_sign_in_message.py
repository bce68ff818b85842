"""The reader against `siwe`, the reference implementation in Python, as oracle."""

import warnings
from functools import cache
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.access.sign_in import SignInMessage, parse_sign_in_message
from service.clock import iso, parse_iso
from tests.access.signing import message, wallet
from tests.fakes.clock import START_MS

ADDRESS = wallet().address
NONCE = "abcdefgh12345678"

unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
escaped = st.integers(0, 255).map("%{:02X}".format)
segment = st.lists(st.one_of(st.sampled_from(unreserved + "!$&'()*+,;=:@"), escaped), max_size=8).map("".join)
host = st.from_regex(r"[a-z][a-z0-9]{0,8}(\.[a-z]{2,5}){0,2}", fullmatch=True)
authority = st.builds(
    lambda name, port: name if port is None else f"{name}:{port}", host, st.none() | st.integers(1, 65_535)
)


def part(mark: str) -> st.SearchStrategy[str]:
    return st.just("") | segment.map(mark.__add__)


uri = st.builds(
    "{}://{}{}{}{}".format,
    st.sampled_from(["https", "http", "app"]),
    authority,
    st.lists(segment.map("/".__add__), max_size=3).map("".join),
    part("?"),
    part("#"),
)
instant = st.integers(0, 4_000_000_000_000).map(iso)
statement = st.text(alphabet=unreserved + ":/?#[]@!$&'()*+,;= ", min_size=1, max_size=60)


@st.composite
def messages(draw: st.DrawFn) -> str:
    lines = [
        draw(st.sampled_from(["", "https://", "http://"]))
        + draw(authority)
        + " wants you to sign in with your Ethereum account:",
        wallet(draw(st.integers(1, 50))).address,
        "",
        *draw(st.one_of(st.just([]), statement.map(lambda text: [text]))),
        "",
        f"URI: {draw(uri)}",
        "Version: 1",
        f"Chain ID: {draw(st.integers(0, 10**12))}",
        f"Nonce: {draw(st.from_regex('[A-Za-z0-9]{8,40}', fullmatch=True))}",
        f"Issued At: {draw(instant)}",
    ]
    if draw(st.booleans()):
        lines.append(f"Expiration Time: {draw(instant)}")
    if draw(st.booleans()):
        lines.append(f"Not Before: {draw(instant)}")
    if draw(st.booleans()):
        lines.append(f"Request ID: {draw(segment)}")
    if draw(st.booleans()):
        lines += ["Resources:", *(f"- {item}" for item in draw(st.lists(uri, min_size=1, max_size=3)))]
    return "\n".join(lines)


@cache
def siwe() -> Any:
    """The package, which reads its grammars for seconds when it is loaded: not in every process that collects tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own dependencies are deprecated, which is not this test's concern
        return import_module("siwe")


def oracle(text: str) -> SignInMessage:
    """What siwe reads, by its grammar and its validators."""
    found = siwe().SiweMessage.from_message(text, abnf=True)
    at = [None if when is None else parse_iso(when) for when in (found.expiration_time, found.not_before)]
    return SignInMessage(
        found.domain.lower(), found.address, found.chain_id, found.nonce, parse_iso(found.issued_at), *at
    )


def grammar_has(text: str) -> bool:
    """Whether siwe's rendering of EIP-4361's ABNF, without its further validators, knows the text."""
    try:
        siwe().parsed.ABNFParsedMessage(text)
    except ValueError:
        return False
    return True


def ours(text: str) -> SignInMessage | None:
    try:
        return parse_sign_in_message(text)
    except ValueError:
        return None


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(messages())
def test_every_message_is_read_as_siwe_reads_it(text: str) -> None:
    assert parse_sign_in_message(text) == oracle(text)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(messages(), st.data())
def test_nothing_is_read_that_the_grammar_does_not_know(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text) - 1))
    put = data.draw(st.sampled_from(["", *"\n \r\t0Aa:/%[@#?-é\u200b"]))
    changed = text[:at] + put + text[at + data.draw(st.integers(0, 1)) :]
    if ours(changed) is not None:
        assert grammar_has(changed)


GOOD = message(ADDRESS, NONCE, START_MS)


def test_the_fields_that_decide_are_read() -> None:
    after = "\nExpiration Time: 2025-07-25T12:05:00Z\nNot Before: 2025-07-25T13:00:00.5+02:00\nRequest ID: a%20b"
    assert parse_sign_in_message(GOOD + after + "\nResources:\n- https://a.example\n- ipfs://b/c?d#e") == SignInMessage(
        domain="api.example.org",
        address=ADDRESS,
        chain_id=84_532,
        nonce=NONCE,
        issued_ms=START_MS,
        expires_ms=START_MS + 300_000,
        not_before_ms=START_MS - 3_599_500,
    )


def test_the_domain_is_read_in_lower_case_without_its_scheme() -> None:
    assert parse_sign_in_message(message(ADDRESS, NONCE, START_MS, domain="https://API.Example.org:8402")).domain == (
        "api.example.org:8402"
    )


@pytest.mark.parametrize("domain", ["[::1]:8402", "localhost", "127.0.0.1:8402", "xn--e1afmkfd.example"])
def test_domains_of_every_kind_are_read(domain: str) -> None:
    assert parse_sign_in_message(message(ADDRESS, NONCE, START_MS, domain=domain)).domain == domain


@pytest.mark.parametrize(
    "changed",
    [
        {"version": "2"},
        {"version": "1.0"},
        {"chain_id": "0x14a34"},
        {"chain_id": "-1"},
        {"chain_id": "1_0"},
        {"chain_id": "٨٤"},
        {"chain_id": "9" * 21},
        {"nonce": "short12"},
        {"nonce": "with-dash1"},
        {"address": ADDRESS.lower()},
        {"address": ADDRESS.upper().replace("0X", "0x")},
        {"address": ADDRESS[:-1]},
        {"issued_at": "2025-07-25T12:00:00"},
        {"issued_at": "2025-02-30T12:00:00Z"},
        {"issued_at": "2025-07-25 12:00:00Z"},
        {"issued_at": "1753444800000"},
        {"issued_at": "2025-07-25T12:00:00Z" + "0" * 60},
        {"statement": "two\nlines"},
        {"statement": "URI: https://evil.example\nVersion: 1"},
        {"statement": "émigré"},
        {"uri": "not a uri"},
        {"uri": "//no.scheme"},
        {"uri": "https://bad.port:x/"},
        {"uri": "https://bad%zz/"},
        {"uri": "https://[::1/"},
        {"domain": "evil.example/api.example.org"},
        {"domain": "two words"},
        {"after": "\n"},
        {"after": "\nNot Before: 2025-07-25T12:00:00Z\nExpiration Time: 2025-07-25T12:00:00Z"},
        {"after": "\nExpiration Time: never"},
        {"after": "\nResources:\n- nothing"},
        {"after": "\nRole: admin"},
    ],
)
def test_a_message_that_strays_from_the_grammar_is_refused(changed: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"EIP-4361|EIP-55|an instant"):
        parse_sign_in_message(message(ADDRESS, NONCE, START_MS, **changed))


def test_carriage_returns_are_refused() -> None:
    assert ours(GOOD.replace("\n", "\r\n")) is None


def test_reading_takes_time_in_proportion_to_the_length() -> None:
    for hostile in ("a" * 4_000, "a:" * 2_000, "a@" * 2_000, "[" * 4_000, "%" * 4_000, "%41" * 1_300, "\n- a:" * 800):
        for place in ("domain", "statement", "uri", "after"):
            ours(message(ADDRESS, NONCE, START_MS, **{place: hostile}))


@given(st.text())
def test_any_text_is_refused_and_breaks_nothing(text: str) -> None:
    assert ours(text) is None
