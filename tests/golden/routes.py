"""Every route with good parameters and with mistakes."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.golden.answers import Answer
from tests.golden.asking import Request, ask, record, shown
from tests.golden.start import Running

_TARGETS: Final = Path(__file__).resolve().parent / "requests.txt"

_GOOD: Final[Sequence[str]] = (
    "coin/risk/BTC",
    "coins?limit=2",
    "coin/lookup?symbol=XMR",
    "coin/by-id/monero",
    "coin/by-name/Monero",
    "coin/by-contract/0x514910771AF9CA656af840dff83E8264EcF986CA?chain=ethereum",
    "resolve?q=monero",
    "coin/historical/XMR?count=2&unit=d",
    "walkforward?limit=1",
    "signal-quality?asset=XMR&signal_type=verdict",
    "transcripts?limit=1",
    "signal/XMR",
    "wallets",
    "category/sentiment/Privacy",
    "coin/sentiment/XMR",
    "sentiment?action=health",
    "narratives",
    "category/info/Privacy",
    "regime?action=confidence",
    "rwa/symbol/GOLD",
    "rwa/asset/xyz%3AGOLD",
    "rwa/assets?top=1",
    "market/prices?symbols=XMR",
    "market/baselines?symbols=XMR",
    "market/global",
    "market/health",
    "market/crossing",
    "funding/alerts?limit=1",
    "billing/tier",
    "manifest",
)
"""One good request of each route below `/api/cli/`, with a short answer."""

_FREE: Final[Sequence[tuple[str, str, str]]] = (
    ("POST", "/api/auth/nonce", ""),
    ("POST", "/api/auth/login", '{"message":"hello","signature":"0x00"}'),
    ("POST", "/api/auth/login", "{"),
    ("POST", "/api/auth/login", ""),
    ("POST", "/api/auth/logout", ""),
    ("GET", "/api/keys", ""),
    ("POST", "/api/keys", '{"name":"golden"}'),
    ("POST", "/api/keys", '{"name":""}'),
    ("POST", "/api/keys", '{"name":"golden","colour":"red"}'),
    ("DELETE", "/api/keys?prefix=verdict_sk_AAAAAAAA", ""),
    ("POST", "/api/keys/rotate", '{"prefix":"verdict_sk_AAAAAAAA"}'),
    ("GET", "/api/alerts", ""),
    ("POST", "/api/alerts", "{}"),
    ("POST", "/api/alerts", '{"kind":"weather"}'),
    ("DELETE", "/api/alerts?id=alert_none", ""),
    ("GET", "/api/alerts/deliveries", ""),
    ("GET", "/api/alerts/deliveries?limit=1000", ""),
    ("POST", "/api/alerts/test?id=alert_none", ""),
    ("GET", "/api/receipts", ""),
    ("GET", "/api/receipts?limit=0", ""),
    ("GET", "/api/receipts/rcpt_none", ""),
    ("POST", "/api/cli", '{"messages":[]}'),
    ("POST", "/api/cli", '{"messages":[{"role":"user","content":""}]}'),
    ("POST", "/api/cli", '{"messages":[{"role":"user","content":"btc price"}],"colour":"red"}'),
    ("POST", "/api/cli", "btc price"),
    ("POST", "/api/cli", ""),
    ("GET", "/api/cli", ""),
)
"""Routes that cost nothing or take a body: method, target, body."""

_PAGES_READ: Final = 4
_DOCUMENTS: Final = ("/openapi.json", "/llms.txt", "/.well-known/x402", "/robots.txt", "/healthz", "/readyz")
_PAGES: Final = (
    "/",
    "/snapshot.json",
    "/coins.csv",
    "/search?q=btc",
    "/search?q=etherium",
    "/search?q=zzzzqqqq",
    "/search",
    "/coin/BTC",
    "/coin/PENGU",
    "/coin/MATIC",
    "/coin/NOSUCH",
    "/chart/BTC",
    "/chart/NOSUCH",
    "/scorecard",
    "/docs",
    "/account",
    "/auth/cli",
    "/auth/cli/done",
    "/funding",
    "/categories",
    "/walk-forward",
    "/wallets",
    "/shows",
    "/static/site.css",
    "/static/table.js",
    "/static/nothing.js",
    "/favicon.ico",
    "/nothing",
    "/?colour=red",
    "//",
    "/coin/..%2f",
    "/%zz",
)


async def answers_of_routes(running: Running, tokens: Mapping[str, str]) -> list[Answer]:
    """Ask every route, and read lists page by page; `tokens` as `tokens_of` makes them."""
    requests = [*_targets(), *_mistakes(), *_of_accounts()]
    return await record(running, requests, tokens) + await _next_pages(running, tokens)


async def answers_of_pages(running: Running) -> list[Answer]:
    """Read documents and pages."""
    return await record(running, [Request("", "GET", target) for target in (*_DOCUMENTS, *_PAGES)], {})


async def tokens_of(running: Running) -> Mapping[str, str]:
    """Make callers: one without a limit, one with ten questions, one who has spent them, and bad tokens."""
    made = {name: await running.key(name, tier) for name, tier in (("pro", "pro"), ("spent", "free"), ("ended", "pro"))}
    for _ in range(10):
        await ask(running, Request("spent", "GET", "/api/cli/market/crossing"), made)
    await running.operate("admin", "keys", "revoke", made["ended"][: len("verdict_sk_") + 8])
    mistyped = made["pro"][:-1] + ("a" if made["pro"][-1] != "a" else "b")
    return {**made, "mistyped": mistyped, "nonsense": "nonsense"}


def _targets() -> Iterator[Request]:
    for line in _TARGETS.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield Request("pro", "GET", f"/api/cli/{line}")


def _mistakes() -> Iterator[Request]:
    for good in _GOOD:
        target = f"/api/cli/{good}"
        path, _, query = target.partition("?")
        first = query.partition("&")[0] or "colour=red"
        yield Request("pro", "GET", f"{target}{'&' if query else '?'}colour=red")
        yield Request("pro", "GET", f"{path}?{first}&{first}")
        yield Request("pro", "HEAD", target)
        yield Request("pro", "POST", target)
        yield Request("", "OPTIONS", target, headers=(("origin", "https://example.org"),))
        for who in ("", "mistyped", "nonsense", "ended", "spent"):
            yield Request(who, "GET", target)


def _of_accounts() -> Iterator[Request]:
    for method, target, body in _FREE:
        headers = (("content-type", "application/json"),) if body else ()
        for who in ("", "pro"):
            yield Request(who, method, target, body, headers)


async def _next_pages(running: Running, tokens: Mapping[str, str]) -> list[Answer]:
    """Lists read page by page; a cursor is of one service alone, so the page before stands for it."""
    answers = []
    for target in (
        "/api/cli/coins?sort=change_7d&fields=change_7d&limit=30",
        "/api/cli/funding/alerts?limit=7",
        "/api/cli/transcripts?limit=5",
        "/api/cli/wallets?action=movements&contract=0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2&limit=9",
    ):
        more = ""
        for number in range(1, _PAGES_READ + 1):
            reply = await ask(running, Request("pro", "GET", f"{target}{more}"), tokens)
            answers.append(Answer(f"GET {target} · pro · page {number}", shown(reply)))
            cursor = reply.json["data"]["meta"]["next_cursor"]
            if cursor is None:
                break
            more = f"&cursor={cursor}"
    return answers
