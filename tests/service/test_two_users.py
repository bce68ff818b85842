"""Two users, each with a key, a session, receipts, streams and questions; each tries everything on what is the other's.

Whatever it is, it is answered as if it were nowhere, and nothing of the other's has changed afterwards.
"""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

from service.settings import NOBODY
from tests.access import signing
from tests.fakes.asgi import Reply, ask
from tests.payments.signing import header, pay_v2, row, wallet
from tests.service.indoors import RISK, Indoors, Kept
from tests.service.watching import following

JSON = {"content-type": "application/json"}
QUESTION = "/api/cli"
TIER = "/api/cli/billing/tier"


@dataclass
class User:
    """Somebody signed in with a wallet."""

    house: Indoors
    number: int
    session: str = ""
    key: str = ""
    prefix: str = ""

    async def post(self, target: str, body: object, token: str | None = None, **headers: str) -> Reply:
        raw = json.dumps(body).encode()
        app = self.house.service.app
        return await ask(app, target, "POST", key=token, body=raw, headers={**JSON, **headers})

    async def sign_in(self, signer: int | None = None, address: str | None = None) -> Reply:
        """Sign in, perhaps with somebody else's signature or address."""
        nonce = (await self.post("/api/auth/nonce", {})).json["nonce"]
        own = signing.wallet(self.number)
        place = {"domain": "127.0.0.1:8402", "uri": "http://127.0.0.1:8402/"}
        text = signing.message(address or own.address, nonce, self.house.clock.now_ms(), **place)
        signed = signing.sign(signing.wallet(signer or self.number), text)
        return await self.post("/api/auth/login", {"message": text, "signature": signed})

    async def settle_in(self) -> "User":
        self.session = (await self.sign_in()).json["token"]
        made = (await self.post("/api/keys", {"name": f"of {self.number}"}, self.session)).json
        self.key, self.prefix = made["key"], made["prefix"]
        return self

    async def pay(self, target: str = RISK) -> tuple[dict[str, str], Reply]:
        """Pay for a call; the payment, and the answer."""
        payload = pay_v2(wallet(self.number), row(pay_to=NOBODY), now_ms=self.house.clock.now_ms())
        payment = {"payment-signature": header(payload)}
        return payment, await ask(self.house.service.app, target, key=self.key, headers=payment)

    async def belongings(self) -> dict[str, Any]:
        """Everything that is this user's, as it sees it itself."""
        seen = {"alive": [(await self.house.ask(TIER, key=token)).status for token in (self.key, self.session)]}
        keys = (await self.house.ask("/api/keys", key=self.session)).json["keys"]
        receipts = (await self.house.ask("/api/receipts", key=self.key)).json
        left = (await self.house.ask(RISK, "HEAD", key=self.key)).headers["ratelimit"]
        return seen | {"keys": [{**each, "last_used_at": None} for each in keys], "receipts": receipts, "left": left}

    @property
    def tokens(self) -> tuple[str, str]:
        return self.key, self.session


@asynccontextmanager
async def two(kept: Kept, folder: Path) -> AsyncIterator[tuple[User, User]]:
    async with kept.reopened(folder / "data") as house:
        yield await User(house, 1).settle_in(), await User(house, 2).settle_in()


class Names(NamedTuple):
    """What somebody's things are called."""

    prefix: str
    key: str
    receipt: str


def attempts(names: Names) -> Iterator[tuple[str, str, object]]:
    """Method, target and body of what might be tried on keys and receipts of these names."""
    prefix = names.prefix
    for spelt in (prefix, prefix[:-1] + "%", prefix[:-1] + "_", prefix.upper(), f"{prefix} ", names.key):
        yield "DELETE", f"/api/keys?prefix={quote(spelt)}", None
        yield "POST", "/api/keys/rotate", {"prefix": spelt, "grace_seconds": 0}
        yield "POST", "/api/keys/rotate", {"prefix": spelt, "grace_seconds": 604_800}
    yield "GET", f"/api/receipts/{names.receipt}", None
    yield "HEAD", f"/api/receipts/{names.receipt}", None
    yield "GET", f"/api/receipts/{names.receipt.upper()}", None
    for parameter in ("user", "userId", "user_id", "wallet", "id", "token", "prefix"):
        for target in ("/api/receipts", "/api/keys", TIER):
            yield "GET", f"{target}?{parameter}=1", None
        yield "POST", f"/api/auth/logout?{parameter}=1", None
        yield "POST", "/api/keys", {"name": "x", parameter: 1}


async def outcomes(thief: User, names: Names) -> list[tuple[int, int]]:
    """Status and length of what each attempt is answered, with the thief's key and with its session."""
    told = []
    for token in thief.tokens:
        for method, target, body in attempts(names):
            raw = b"" if body is None else json.dumps(body).encode()
            reply = await ask(thief.house.service.app, target, method, key=token, body=raw, headers=JSON)
            told.append((reply.status, len(reply.body)))
    return told


@pytest.mark.slow
@pytest.mark.promise("pay.receipts")
async def test_nobody_can_touch_what_is_somebody_elses_or_learn_that_it_is_there(kept: Kept, tmp_path: Path) -> None:
    async with two(kept, tmp_path) as both:
        nowhere = Names("verdict_sk_ZZZZZZZZ", "verdict_sk_" + "Z" * 36, "rcp_" + "Z" * 22)
        for thief, victim in (both, both[::-1]):
            _, bought = await victim.pay()
            before = [await user.belongings() for user in both]
            told = await outcomes(thief, Names(victim.prefix, victim.key, bought.headers["x-receipt-id"]))
            assert {status for status, _ in told} <= {400, 403, 404}
            assert told == await outcomes(thief, nowhere)
            assert [await user.belongings() for user in both] == before


async def test_a_list_is_ones_own_whosever_cursor_it_is_continued_with(kept: Kept, tmp_path: Path) -> None:
    async with two(kept, tmp_path) as (one, other):
        for user in (one, other, one, other):
            assert (await user.pay())[1].status == 200
        listed = {user.number: (await one.house.ask("/api/receipts", key=user.key)).json for user in (one, other)}
        page = (await one.house.ask("/api/receipts?limit=1", key=one.key)).json
        reply = await one.house.ask(f"/api/receipts?cursor={page['next_cursor']}", key=other.key)
        shown = [each["id"] for each in reply.json.get("receipts", [])]
    mine, others = ({each["id"] for each in listed[number]["receipts"]} for number in (1, 2))
    assert len(mine) == len(others) == 2
    assert not mine & others
    assert not mine & set(shown)


async def test_anothers_payment_buys_nothing_and_names_no_receipt(kept: Kept, tmp_path: Path) -> None:
    async with two(kept, tmp_path) as (one, other):
        payment, bought = await one.pay()
        app, receipt = one.house.service.app, bought.headers["x-receipt-id"]
        before = await one.belongings()
        for token in other.tokens:
            stolen = await ask(app, RISK, key=token, headers=payment)
            assert (stolen.status, stolen.code) == (409, "PAYMENT_REUSED")
            assert receipt not in str(stolen)
        assert await one.belongings() == before
        again = await ask(app, RISK, key=one.key, headers=payment)
        assert (again.body, again.headers["x-receipt-id"]) == (bought.body, receipt)


async def test_an_idempotency_key_is_its_users(kept: Kept, tmp_path: Path) -> None:
    asked = {"messages": [{"role": "user", "content": "price of ETH"}]}
    async with two(kept, tmp_path) as (one, other):
        first = await one.post(QUESTION, asked, one.key, **{"idempotency-key": "same"})
        theirs = await other.post(QUESTION, asked, other.key, **{"idempotency-key": "same"})
        again = await one.post(QUESTION, asked, one.session, **{"idempotency-key": "same"})
    assert first.status == theirs.status == again.status == 200
    assert "idempotency-replayed" not in theirs.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert [reply.headers["ratelimit"] for reply in (first, theirs)] == ['"questions";r=9'] * 2


async def test_a_wallet_signs_in_for_itself_alone(kept: Kept, tmp_path: Path) -> None:
    async with two(kept, tmp_path) as (one, other):
        for reply in (
            await other.sign_in(address=signing.wallet(1).address),
            await other.sign_in(signer=1),
            await one.sign_in(signer=2, address=signing.wallet(1).address),
        ):
            assert (reply.status, reply.code) == (401, "AUTH_INVALID")
        head, claims, mac = other.session.split(".")
        for forged in (f"{head}.{one.session.split('.')[1]}.{mac}", f"{one.session.rsplit('.', 1)[0]}.{mac}"):
            assert (await one.house.ask(TIER, key=forged)).status == 401
        assert claims != one.session.split(".")[1]


async def test_who_leaves_revokes_or_uses_up_harms_only_itself(kept: Kept, tmp_path: Path) -> None:
    async with two(kept, tmp_path) as (one, other), following(one.house, one.key, "prices") as stream:
        await stream.until("event")
        before = await one.belongings()
        while (await one.house.ask(RISK, key=other.key)).status == 200:
            pass
        assert (await one.house.ask(f"/api/keys?prefix={other.prefix}", "DELETE", key=other.session)).status == 200
        assert (await one.house.ask("/api/auth/logout", "POST", key=other.session)).status == 200
        assert [(await one.house.ask(TIER, key=token)).status for token in other.tokens] == [401, 401]
        assert await one.belongings() == before
        await one.house.pass_time(5, 1)
        assert not stream.of("close")
        assert not stream.over
