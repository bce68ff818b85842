"""A facilitator on loopback: it checks what it is asked with code that is not ours, and moves its own numbers.

Honest as it stands; `before` and `after` make it lie, hang or lose its answers, with the faults of
`tests/upstream/faults.py`. It keeps spent nonces and balances as a chain does, so that a test can count what money did.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple

import msgspec
from aiohttp import web
from eth_account import Account
from eth_account.messages import encode_typed_data

from service.clock import SECOND_MS, Clock, SystemClock
from service.payments.facilitators.port import Cancelled, Settled, Unknown, Unused
from service.payments.networks import NETWORKS, Network
from service.payments.records import PaymentRecord
from tests.fakes.token_node import Spending, TokenNode
from tests.payments.signing import TYPES
from tests.upstream.conftest import listening

Answer = Callable[[web.Request], Awaitable[web.StreamResponse | None]]
"""A fault, or one that lets some requests pass by answering nothing."""

SIGNER: Final = "0x2222222222222222222222222222222222222222"
PATIENCE_S: Final = 30.0
_LEAST_LEFT_S: Final = 6


class Moved(NamedTuple):
    """Money that moved: addresses in lower case, atomic units, and the transaction that did it."""

    payer: str
    pay_to: str
    value: int
    transaction: str


class Terms(NamedTuple):
    """What is asked for, in one form for both versions of x402; `network` as it was written."""

    network: str
    amount: int
    pay_to: str


class Facilitator:
    """What a running facilitator did, and the strings to pull.

    Attributes:
        url: Where it listens.
        node: The chain that its money moves on.
        before: Answers `/settle` instead of settling; where it answers nothing, all goes on honestly.
        after: Settles, and answers like that.
        repeats: What a payment gets that was settled before: the same success again, or a refusal as on a chain.
        balances: What payers have, by address in lower case; who is not named has enough.
        asked: Bodies of `/settle`, as they came.
        bearers: `Authorization` of each of them, null where there was none.
        verified: How often `/verify` was asked.
        verifying: Answers `/verify` instead.
        moved: What it settled.
        spent: Nonces that are used up: the settling transaction, null where the payer cancelled.
    """

    def __init__(self, clock: Clock, repeats: Literal["replayed", "refused"]) -> None:
        self.url = ""
        self.before: Answer | None = None
        self.after: Answer | None = None
        self.supported: Answer | None = None
        self.repeats = repeats
        self.balances: dict[str, int] = {}
        self.asked: list[dict[str, Any]] = []
        self.bearers: list[str | None] = []
        self.verified = 0
        self.moved: list[Moved] = []
        self.spent: dict[tuple[str, str], str | None] = {}
        self.node = TokenNode(clock, self.balances)
        self.verifying: Answer | None = None

    @property
    def clock(self) -> Clock:
        """By which it judges windows, and makes blocks."""
        return self.node.clock

    @clock.setter
    def clock(self, clock: Clock) -> None:
        self.node.clock = clock

    @property
    def rpc_url(self) -> str:
        """Where its chain answers JSON-RPC."""
        return f"{self.url}/rpc"

    @property
    def got(self) -> Counter[str]:
        """What each payee got, by address in lower case."""
        sums: Counter[str] = Counter()
        for move in self.moved:
            sums[move.pay_to] += move.value
        return sums

    async def look(self, record: PaymentRecord) -> Settled | Unused | Cancelled | Unknown:
        """Be a witness: say what became of a payment."""
        key = (record.payment.payer.lower(), record.payment.nonce.lower())
        if key not in self.spent:
            return Unused(self.clock.now_ms() // SECOND_MS)
        transaction = self.spent[key]
        return Settled(transaction) if transaction else Cancelled()

    def submit(self, signed: dict[str, str]) -> str:
        """Move the money of an authorization, as anybody may who has seen it; return the transaction."""
        key = (signed["from"].lower(), signed["nonce"].lower())
        assert key not in self.spent, "a nonce is spent once"
        transaction = "0x" + sha256(":".join(key).encode()).hexdigest()
        self.spent[key] = transaction
        value = int(signed["value"])
        if key[0] in self.balances:
            self.balances[key[0]] -= value
        self.moved.append(Moved(key[0], signed["to"].lower(), value, transaction))
        transfer = (signed["to"].lower(), value, transaction)
        self.node.ended[key] = Spending(*key, self.node.now_s(), transfer)
        return transaction

    async def settle(self, request: web.Request) -> web.StreamResponse:
        self.bearers.append(request.headers.get("Authorization"))
        body = await request.json()
        self.asked.append(body)
        if self.before and (instead := await self.before(request)):
            return instead
        honest = self._settle(body)
        if self.after and (instead := await self.after(request)):
            return instead
        return web.json_response(honest)

    async def verify(self, request: web.Request) -> web.StreamResponse:
        self.verified += 1
        if self.verifying and (instead := await self.verifying(request)):
            return instead
        body = await request.json()
        reason = self._reason(body)
        answer = {"isValid": reason is None, "payer": body["paymentPayload"]["payload"]["authorization"]["from"]}
        return web.json_response(answer | ({"invalidReason": reason} if reason else {}))

    async def kinds(self, request: web.Request) -> web.StreamResponse:
        self.bearers.append(request.headers.get("Authorization"))
        if self.supported and (instead := await self.supported(request)):
            return instead
        chains = [NETWORKS["eip155:84532"], NETWORKS["eip155:8453"]]
        kinds = [
            {"x402Version": version, "scheme": "exact", "network": network}
            for chain in chains
            for version, network in ((2, chain.chain_id), (1, chain.v1_name))
        ]
        return web.json_response({"kinds": kinds, "extensions": ["bazaar"], "signers": {"eip155:*": [SIGNER]}})

    def _settle(self, body: dict[str, Any]) -> dict[str, Any]:
        signed = body["paymentPayload"]["payload"]["authorization"]
        said = {"network": body["paymentRequirements"]["network"], "payer": signed["from"]}
        done = self.spent.get((signed["from"].lower(), signed["nonce"].lower()))
        if done and self.repeats == "replayed":
            return {"success": True, "transaction": done, **said}
        reason = self._reason(body)
        if reason:
            return {"success": False, "errorReason": reason, "transaction": "", **said}
        return {"success": True, "transaction": self.submit(signed), **said}

    def _reason(self, body: dict[str, Any]) -> str | None:
        """Why a payment is not good, in the order in which the official facilitator finds out; null if it is."""
        payload, row = body["paymentPayload"], body["paymentRequirements"]
        signed = payload["payload"]["authorization"]
        terms = _terms(body)
        chain = _chain(terms.network)
        if chain is None:
            return "invalid_network"
        wrong = _words_differ(payload, row, body["x402Version"]) or _sums_differ(signed, terms)
        return wrong or self._window(signed) or _forged(payload["payload"], row, chain) or self._state(signed)

    def _window(self, signed: dict[str, str]) -> str | None:
        now_s = self.clock.now_ms() // SECOND_MS
        if int(signed["validBefore"]) < now_s + _LEAST_LEFT_S:
            return "invalid_exact_evm_payload_authorization_valid_before"
        if int(signed["validAfter"]) > now_s:
            return "invalid_exact_evm_payload_authorization_valid_after"
        return None

    def _state(self, signed: dict[str, str]) -> str | None:
        payer = signed["from"].lower()
        if (payer, signed["nonce"].lower()) in self.spent:
            return "invalid_exact_evm_nonce_already_used"
        if self.balances.get(payer, int(signed["value"])) < int(signed["value"]):
            return "insufficient_funds"
        return None


def _terms(body: dict[str, Any]) -> Terms:
    row = body["paymentRequirements"]
    amount = row["maxAmountRequired"] if body["x402Version"] == 1 else row["amount"]
    return Terms(row["network"], int(amount), row["payTo"].lower())


def _chain(network: str) -> Network | None:
    return next((chain for chain in NETWORKS.values() if network in {chain.chain_id, chain.v1_name}), None)


def _words_differ(payload: dict[str, Any], row: dict[str, Any], version: int) -> str | None:
    chosen = payload if version == 1 else payload["accepted"]
    if payload["x402Version"] != version:
        return "invalid_x402_version"
    if (chosen["scheme"], row["scheme"]) != ("exact", "exact"):
        return "unsupported_scheme"
    return "network_mismatch" if chosen["network"] != row["network"] else None


def _sums_differ(signed: dict[str, str], terms: Terms) -> str | None:
    if signed["to"].lower() != terms.pay_to:
        return "invalid_exact_evm_payload_recipient_mismatch"
    if int(signed["value"]) != terms.amount:
        return "invalid_exact_evm_payload_authorization_value_mismatch"
    return None


def _forged(paid: dict[str, Any], row: dict[str, Any], chain: Network) -> str | None:
    signed = paid["authorization"]
    domain = {
        "name": row["extra"]["name"],
        "version": row["extra"]["version"],
        "chainId": int(chain.chain_id.removeprefix("eip155:")),
        "verifyingContract": row["asset"],
    }
    message = signed | {name: int(signed[name]) for name in ("value", "validAfter", "validBefore")}
    message["nonce"] = bytes.fromhex(signed["nonce"][2:])
    signer = Account.recover_message(encode_typed_data(domain, TYPES, message), signature=paid["signature"])
    return None if signer.lower() == signed["from"].lower() else "invalid_exact_evm_payload_signature"


def held(until: asyncio.Event) -> Answer:
    """Let requests wait, then go on honestly."""

    async def wait(_: web.Request) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await until.wait()

    return wait


def says(body: object, status: int = 200) -> Answer:
    """Answer this, as JSON or as the bytes it is."""

    async def say(_: web.Request) -> web.StreamResponse:
        content = body if isinstance(body, bytes) else msgspec.json.encode(body)
        return web.Response(status=status, body=content, content_type="application/json")

    return say


@asynccontextmanager
async def facilitator(
    clock: Clock | None = None, repeats: Literal["replayed", "refused"] = "replayed"
) -> AsyncIterator[Facilitator]:
    """Run one in this loop.

    Args:
        clock: Of the windows; the real one if none is given.
        repeats: See `Facilitator`.
    """
    it = Facilitator(clock or SystemClock(), repeats)
    app = web.Application()
    app.router.add_post("/settle", it.settle)
    app.router.add_post("/verify", it.verify)
    app.router.add_get("/supported", it.kinds)
    app.router.add_post("/rpc", it.node.answer)
    async with listening(app) as it.url:
        yield it
