"""Accounts over a month: sign-in, keys, quota, payments, receipts, and what they leave in the store.

Two users sign in, ask, spend their questions, pay in right and wrong ways, and ask on as the data grows old. The
operator's commands then list what is stored.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.golden.answers import Answer, normalised, numbered
from tests.golden.asking import Reply, Request, ask, shown
from tests.golden.idle import ManualClock, run
from tests.golden.start import Running, few_coins, service
from tests.golden.wallets import payment, sign_in, wallet

_START_MS: Final = 1_753_156_800_250
"""2025-07-22T04:00:00.250Z: the recording goes on for three days."""

_DAY_S: Final = 86_400
_MINUTE_MS: Final = 60_000
_CALLS: Final = 300
_ROUTES: Final = (
    "coin/risk/BTC",
    "coin/risk/ETH",
    "coin/historical/SOL?count=5&unit=d",
    "signal/DOGE",
    "regime",
    "market/crossing",
    "market/prices?symbols=BTC",
    "category/info/Meme",
    "rwa/symbol/AAPL",
    "funding/alerts",
    "billing/tier",
    "manifest",
    "coin/risk/NOSUCH",
    "coins?limit=0",
    "regime?action=history",
)
_METHODS: Final = ("GET",) * 9 + ("HEAD",)
_REFUSED: Final[Sequence[tuple[str, Mapping[str, str]]]] = (
    ("too little", {"value": "4999"}),
    ("too much", {"value": "5001"}),
    ("to somebody else", {"to": "0x2222222222222222222222222222222222222222"}),
    ("expired", {"validBefore": "1753156800"}),
    ("not valid yet", {"validAfter": "1999999999", "validBefore": "2000000000"}),
    ("ends in two seconds", {"validBefore": "now"}),
    ("of another network", {"network": "eip155:8453"}),
    ("of no network", {"network": "eip155:1"}),
    ("with a signature of zeros", {"signature": f"0x{'00' * 65}"}),
    ("with a short signature", {"signature": "0x1234"}),
)


class _Script:
    """Sends requests, and keeps the answers.

    Attributes:
        tokens: Of callers, by name.
        answers: So far.
    """

    def __init__(self, running: Running) -> None:
        self.running = running
        self.clock = running.clock
        self.tokens: dict[str, str] = {}
        self.answers: list[Answer] = []

    async def send(
        self, who: str, method: str, target: str, body: str = "", *, note: str = "", **headers: str
    ) -> Reply:
        """Send a request and record its answer."""
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        if body:
            fields["content-type"] = "application/json"
        reply = await ask(self.running, Request(who, method, target, body, tuple(fields.items())), self.tokens)
        self._keep(" · ".join(filter(None, (f"{method} {target}", who, note))), shown(reply))
        return reply

    async def operate(self, *words: str) -> None:
        """Run a command of the operator and record what it prints."""
        output = await self.running.operate(*words)
        said = f"{output.out}{output.err}".replace(self.running.environment["VERDICT_DATA_DIR"], "DATA")
        self._keep(f"verdict {' '.join(words)}", f"exit {output.code}\n\n{said}")

    async def sign_in(self, name: str, number: int, **changed: str) -> None:
        """Sign in; what is changed makes it fail."""
        nonce = (await self.send("", "POST", "/api/auth/nonce", note=name)).json["nonce"]
        body = sign_in(wallet(number), nonce, self.clock.now_ms(), **changed)
        reply = await self.send("", "POST", "/api/auth/login", body, note=f"{name} {' '.join(changed)}".strip())
        if reply.status == 200:
            self.tokens[name] = reply.json["token"]
        await self.send("", "POST", "/api/auth/login", body, note=f"{name}, the same nonce again")

    def _keep(self, title: str, text: str) -> None:
        title = normalised(title)
        again = sum(1 for answer in self.answers if answer.title.partition(" · time ")[0] == title)
        self.answers.append(Answer(f"{title} · time {again + 1}" if again else title, normalised(text)))


def record_accounts(folder: Path) -> Mapping[str, Sequence[Answer]]:
    """Record the script of a month."""

    async def work(clock: ManualClock) -> Sequence[Answer]:
        async with service(folder / "data", clock, fixtures_dir=str(few_coins(folder / "fixtures"))) as running:
            await clock.advance(60)
            script = _Script(running)
            await _sign_in(script)
            await _use_keys(script)
            await _spend(script)
            await _pay(script)
            await _ask_on(script)
            await _let_data_grow_old(script)
            await _list_stored(script)
            return numbered(script.answers)

    return {"accounts": run(work, _START_MS, frozen=False)}


async def _sign_in(script: _Script) -> None:
    for number, name in enumerate(("ann", "bob"), 1):
        await script.sign_in(name, number)
    await script.sign_in("eve", 3, domain="example.org")
    await script.sign_in("eve", 3, address=wallet(4).address)
    await script.sign_in("eve", 3, issued="2025-07-01T00:00:00Z")
    for name in ("ann", "bob"):
        await script.send(name, "GET", "/api/cli/billing/tier")


async def _use_keys(script: _Script) -> None:
    made = await script.send("ann", "POST", "/api/keys", '{"name":"first"}')
    short = await script.send("ann", "POST", "/api/keys", '{"name":"short","expiresAt":"2025-07-23T00:00:00Z"}')
    await script.send("ann", "POST", "/api/keys", '{"name":"past","expiresAt":"2025-07-01T00:00:00Z"}')
    script.tokens["ann's key"] = made.json["key"]
    script.tokens["ann's short key"] = short.json["key"]
    await script.send("ann's key", "GET", "/api/cli/billing/tier")
    await script.send("ann's key", "GET", "/api/keys")
    prefix = made.json["prefix"]
    turned = await script.send("ann", "POST", "/api/keys/rotate", f'{{"prefix":"{prefix}","grace_seconds":60}}')
    script.tokens["ann's new key"] = turned.json["key"]
    for seconds in (0, 61):
        await script.clock.advance(seconds)
        for who in ("ann's key", "ann's new key"):
            await script.send(who, "GET", "/api/cli/billing/tier", note=f"after {seconds} s")
    await script.send("bob", "DELETE", f"/api/keys?prefix={turned.json['prefix']}", note="another's key")
    await script.send("ann", "GET", "/api/keys")
    await script.send("ann", "DELETE", f"/api/keys?prefix={turned.json['prefix']}")
    await script.send("ann's new key", "GET", "/api/cli/billing/tier", note="revoked")
    await script.send("ann", "POST", "/api/alerts", '{"rule":"BTC > 120000","to":"https://example.org/hook"}')
    await script.send("ann", "POST", "/api/alerts", '{"rule":"BTC is high","to":"https://example.org/hook"}')
    await script.send("ann", "POST", "/api/alerts", '{"rule":"regime","to":"http://127.0.0.1/hook"}')
    await script.send("ann", "GET", "/api/alerts")
    await script.send("bob", "DELETE", "/api/alerts?id=1")
    await script.send("ann", "DELETE", "/api/alerts?id=1")


async def _spend(script: _Script) -> None:
    question = '{"messages":[{"role":"user","content":"what is the price of BTC"}]}'
    for number in range(12):
        await script.send("bob", "GET", "/api/cli/coin/risk/BTC", note=f"call {number + 1}")
    await script.send("bob", "POST", "/api/cli", question)
    await script.send("bob", "GET", "/api/cli/watch/prices")
    await script.send("bob", "GET", "/api/cli/billing/tier")
    for note in ("first", "again"):
        await script.send("ann", "POST", "/api/cli", question, note=note, idempotency_key="one", accept="text/plain")
    other = question.replace("BTC", "ETH")
    await script.send("ann", "POST", "/api/cli", other, note="other question", idempotency_key="one")
    await script.send("ann's short key", "GET", "/api/cli/billing/tier")
    await _pass_a_day(script)
    await script.send("ann's short key", "GET", "/api/cli/billing/tier", note="expired")
    for number in range(2):
        await script.send("bob", "GET", "/api/cli/market/crossing", note=f"next day, call {number + 1}")


async def _pay(script: _Script) -> None:
    """Forty payments: fourteen good ones, repeats of them, and those that are refused."""
    target = "/api/cli/market/crossing"
    due = await script.send("bob", "GET", target, note="unpaid")
    challenge = dict(due.headers)["payment-required"]
    bob, now_ms = wallet(2), script.clock.now_ms()
    paid: list[dict[str, str]] = []
    for number in range(14):
        version = 1 + number % 2
        headers = payment(bob, challenge, now_ms, number, version)
        paid.append(headers)
        await script.send("bob", "GET", target, note=f"paid {number}, version {version}", **headers)
        await script.clock.advance(1)
    for number in (0, 1, 2):
        await script.send("bob", "GET", target, note=f"payment {number} again", **paid[number])
        await script.send("bob", "GET", "/api/cli/regime", note=f"payment {number} for another", **paid[number])
        await script.send("ann", "GET", target, note=f"payment {number} of another", **paid[number])
    for number, (note, changed) in enumerate(_REFUSED, 100):
        signed = {name: str(now_ms // 1_000 + 2) if value == "now" else value for name, value in changed.items()}
        await script.send(
            "bob", "GET", target, note=f"payment {note}", **payment(bob, challenge, now_ms, number, 2, signed)
        )
    for number, (who, method, asked, note) in enumerate(
        (
            ("bob", "HEAD", target, "paid, without a body"),
            ("bob", "GET", "/api/cli/billing/tier", "paid, but free"),
            ("bob", "GET", "/api/cli/coin/risk/NOSUCH", "paid, but unknown"),
            ("bob", "GET", "/api/cli/coins?limit=0", "paid, but wrong"),
            ("ann", "GET", target, "paid with questions left"),
            ("", "GET", target, "paid without a token"),
        ),
        200,
    ):
        await script.send(who, method, asked, note=note, **payment(bob, challenge, now_ms, number, 2))
    await script.send("bob", "GET", target, note="no payment", x_payment="nonsense")
    receipts = await script.send("bob", "GET", "/api/receipts?limit=5")
    await script.send("ann", "GET", "/api/receipts")
    identity = receipts.json["receipts"][0]["id"]
    for who in ("bob", "ann", ""):
        await script.send(who, "GET", f"/api/receipts/{identity}")


async def _ask_on(script: _Script) -> None:
    """Many calls in an order drawn once: what each cost shows in the usage at the end."""
    drawn = Random(8402)  # noqa: S311 - the same calls every time
    script.tokens["pro"] = await script.running.key("pro", "pro")
    script.tokens["free"] = await script.running.key("free")
    for number in range(_CALLS):
        who = drawn.choice(("ann", "bob", "pro", "free", "free"))
        method, target = drawn.choice(_METHODS), f"/api/cli/{drawn.choice(_ROUTES)}"
        reply = await ask(script.running, Request(who, method, target), script.tokens)
        body = reply.json if reply.status != 200 and reply.body else {}
        text = f"HTTP {reply.status} {_code(body)}".strip()
        script.answers.append(Answer(f"call {number + 1} · {method} {target} · {who}", text))
        if number == _CALLS // 2:
            await _pass_a_day(script)


async def _pass_a_day(script: _Script) -> None:
    await script.clock.jump(_DAY_S)
    await script.clock.advance(30)


def _code(body: Any) -> str:
    return str(body.get("error", {}).get("code", ""))


async def _let_data_grow_old(script: _Script) -> None:
    """Nothing is fetched for an hour, then for a month, in which the sessions end."""
    for minutes in (2, 18, 40):
        script.clock.at_ms += minutes * _MINUTE_MS
        for target in ("coin/risk/BTC", "signal/BTC", "coins?limit=3", "market/prices?symbols=BTC", "rwa/symbol/AAPL"):
            await script.send("pro", "GET", f"/api/cli/{target}", note=f"{minutes} minutes without data")
    await script.send("", "GET", "/readyz", note="an hour without data")
    await script.clock.jump(31 * _DAY_S)
    for name in ("ann", "bob"):
        await script.send(name, "GET", "/api/cli/billing/tier", note="a month later")


async def _list_stored(script: _Script) -> None:
    for words in (
        ("admin", "usage"),
        ("admin", "usage", "--json"),
        ("admin", "usage", "--user", "2", "--json"),
        ("admin", "payments", "list"),
        ("admin", "payments", "list", "--json"),
        ("admin", "payments", "list", "--state", "failed", "--json"),
        ("admin", "payments", "export", "--csv"),
        ("admin", "payments", "export", "--json"),
        ("admin", "payments", "reconcile"),
        ("admin", "keys", "list", "--json"),
        ("admin", "grants", "list", "--json"),
    ):
        await script.operate(*words)
