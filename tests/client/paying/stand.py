"""A service that asks for money, as a test writes it: scripted refusals and answers, and everything a buyer needs."""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from email.utils import formatdate
from hashlib import sha256
from pathlib import Path
from typing import Any

from eth_account import Account
from eth_account.messages import encode_defunct

from service.client.answer import RawAnswer, RefusedError, SentRequest, UnreachableError
from service.client.paying.buyer import Buyer
from service.client.paying.payment_store import PaymentStore
from service.client.paying.terms import Ceilings, PaymentQuote
from service.client.wallet import Wallet
from service.clock import SECOND_MS
from service.wire.canonical import canonical
from tests.fakes.clock import START_MS, FakeClock
from tests.payments.signing import row

SECRET = b"\x11" * 32
PAYEE = "0x2222222222222222222222222222222222222222"
URL = "http://127.0.0.1:8402"
REQUEST = b"GET /api/cli/coin/risk/BTC\n"
ASKED = SentRequest(URL, REQUEST, "ab" * 32)
SIGNER = Account.from_key(b"\x77" * 32)
NAME = "rcp_0123456789abcdefghijkl"
BODY = b'{"schemaVersion":1,"data":{},"meta":{}}'
NOTHING: Mapping[str, str] = {}

Step = RawAnswer | Exception


def asking(
    *rows: Any, asked: SentRequest | None = ASKED, date_ms: int | None = START_MS, date: str | None = None
) -> RefusedError:
    """A 402 that accepts these rows."""
    challenge = {"x402Version": 2, "error": "payment required", "accepts": list(rows or (row(pay_to=PAYEE),))}
    headers = {"payment-required": b64encode(json.dumps(challenge).encode()).decode()}
    if date_ms is not None:
        headers["date"] = formatdate(date_ms / SECOND_MS, usegmt=True) if date is None else date
    document = {"schemaVersion": 1, "error": {"code": "PAYMENT_REQUIRED", "message": "your questions are spent"}}
    return RefusedError(402, headers, document, asked)


def refused(status: int, message: str = "no", **headers: str) -> RefusedError:
    """Another refusal."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return RefusedError(status, fields, {"error": {"code": "X", "message": message}}, ASKED)


def lost() -> UnreachableError:
    return UnreachableError("the connection broke", sent=True)


def answered() -> RawAnswer:
    """An answer that costs nothing."""
    return RawAnswer(200, {}, BODY)


def sold(name: str = NAME) -> RawAnswer:
    """An answer that was paid for."""
    return RawAnswer(200, {"x-receipt-id": name}, BODY)


def payment_in(headers: Mapping[str, str]) -> Any:
    """What a payment header says."""
    return json.loads(b64decode(headers["PAYMENT-SIGNATURE"], validate=True))


class Stand:
    """Both sides of a purchase.

    The service does what `script` says with each request that carries a payment, the last for ever, and keeps the
    headers in `sent`; those of other requests in `proofs`. It writes the honest receipt, changed by `receipt`, `signs`,
    `signature` and `signed` (all of it), or raises `fails`. The buyer's side keeps `told`, `paused` and `agreed`.
    """

    def __init__(self, state: Path, *script: Step | BaseException) -> None:
        self.state, self.script, self.clock = state, list(script), FakeClock()
        self.sent: list[Mapping[str, str]] = []
        self.proofs: list[Mapping[str, str]] = []
        self.told: list[str] = []
        self.paused: list[float] = []
        self.agreed: list[PaymentQuote] = []
        self.receipt: dict[str, Any] = {}
        self.signs, self.signature = SIGNER, NOTHING
        self.signed: Any = None
        self.fails: Exception | None = None
        self.manifest: Any = {"data": {"receiptSigner": SIGNER.address}}
        self.wallet, self.opened = Wallet(SECRET), 0
        self.token: str | None = "verdict_sk_any"

    @property
    def store(self) -> PaymentStore:
        return PaymentStore(self.state, self.clock)

    @property
    def authorizations(self) -> list[Any]:
        return [payment_in(headers)["payload"]["authorization"] for headers in self.sent]

    @property
    def signatures(self) -> list[str]:
        return [payment_in(headers)["payload"]["signature"] for headers in self.sent]

    def buyer(self, ceilings: Ceilings | None = None) -> Buyer:
        agree, tell = self.agreed.append, self.told.append
        return Buyer(self.store, ceilings or Ceilings(), agree, self._open, tell, self._pause, self.clock)

    def buy(self, due: RefusedError | None = None, ceilings: Ceilings | None = None) -> RawAnswer:
        return self.buyer(ceilings).buy(due or asking(), self.send, self)

    def send(self, headers: Mapping[str, str]) -> RawAnswer:
        self.sent.append(headers)
        step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(step, BaseException):
            raise step
        return step

    def ask(self, method: str, path: str, *, headers: Mapping[str, str] = NOTHING) -> RawAnswer:
        """What a receipt is fetched with."""
        assert method == "GET"
        self.proofs.append(headers)
        if self.fails is not None:
            raise self.fails
        if path == "/api/cli/manifest":
            return RawAnswer(200, {}, json.dumps(self.manifest).encode())
        assert path == f"/api/receipts/{NAME}"
        return RawAnswer(200, {}, json.dumps(self.signed or self.written()).encode())

    def written(self) -> dict[str, Any]:
        """The receipt as an honest service writes it, but for what the test changes, signed by eth_account."""
        paid = self.authorizations[-1]
        receipt = {
            "schema": "verdict-receipt/1", "id": NAME, "route": "coin.risk", "method": "GET",
            "resource": f"{URL}/api/cli/coin/risk/BTC", "price_usdc": "0.005", "asset": row()["asset"],
            "transaction": "0x" + "42" * 32, "settlement": "chain", "claimed_at": "2025-07-25T12:00:00.000Z",
            "settled_at": "2025-07-25T12:00:00.000Z", "user_id": 1, "request_hash": sha256(REQUEST).hexdigest(),
            "response_hash": sha256(BODY).hexdigest(), "amount": paid["value"], "network": "eip155:84532",
            "pay_to": paid["to"], "payer": paid["from"], "nonce": paid["nonce"], **self.receipt,
        }  # fmt: skip
        signature: Any = self.signature
        if signature is NOTHING:
            text = json.dumps(receipt) if receipt["amount"] == 2**60 else canonical(receipt).decode()
            signature = f"0x{self.signs.sign_message(encode_defunct(text=text)).signature.hex().removeprefix('0x')}"
        return {"receipt": receipt, "signer": self.signs.address, "signature": signature}

    def pass_seconds(self, seconds: float) -> None:
        self.clock.set_wall(self.clock.at_ms + round(seconds * SECOND_MS))

    def _open(self) -> Wallet:
        self.opened += 1
        return self.wallet

    def _pause(self, seconds: float) -> None:
        self.paused.append(seconds)
        self.pass_seconds(seconds)
