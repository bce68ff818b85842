"""A receipt, as somebody may have got it, and payments as the ledger keeps them, written down by hand."""

from typing import Any, Final

from service.storage.engine import Connection
from service.wire.payment import Receipt
from tests.fakes.clock import START_MS

RECEIPT: Final = Receipt(
    id="rcp_0000000000000000000001",
    route="coin.risk",
    method="GET",
    resource="https://api.example.org/api/cli/coin/risk/BTC",
    request_hash="a" * 64,
    response_hash="b" * 64,
    price_usdc="0.005",
    amount="5000",
    asset="0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    network="eip155:84532",
    payer="0x2B5AD5c4795c026514f8317c7a215E218DcCD6cF",
    pay_to="0x6813Eb9362372EEF6200f3b1dbC3f819671cBA69",
    nonce="0x" + "0" * 63 + "1",
    transaction="0x" + "d" * 64,
    settlement="remote",
    claimed_at="2025-07-25T12:00:00.000Z",
    settled_at="2025-07-25T12:00:02.000Z",
    user_id=7,
)

_ROW: Final[dict[str, Any]] = {
    "state": "delivered",
    "version": 2,
    "network": RECEIPT.network,
    "asset": RECEIPT.asset.lower(),
    "payer": RECEIPT.payer.lower(),
    "pay_to": RECEIPT.pay_to.lower(),
    "value": 5_000,
    "valid_after_s": 0,
    "valid_before_s": START_MS // 1_000 + 60,
    "signature": "0x" + "e" * 130,
    "user_id": 7,
    "offer_id": RECEIPT.route,
    "method": RECEIPT.method,
    "resource": RECEIPT.resource,
    "request_hash": RECEIPT.request_hash,
    "price": 5_000,
    "run_id": 1,
    "claimed_ms": START_MS,
}
_FURTHER: Final[dict[str, dict[str, Any]]] = {
    "claimed": {"due_ms": START_MS + 60_000},  # like `released`, written before migration 31 only
    "released": {},
    "settling": {"due_ms": START_MS + 60_000, "response_hash": RECEIPT.response_hash},
    "failed": {"response_hash": RECEIPT.response_hash, "reason": "insufficient_funds"},
    "settled": {
        "response_hash": RECEIPT.response_hash,
        "tx": RECEIPT.transaction,
        "settlement": "remote",
        "settled_ms": START_MS + 2_000,
        "event_id": 1,
    },
}


def receipt_id(number: int) -> str:
    return f"rcp_{number:022d}"


def put(connection: Connection, number: int, **changes: Any) -> None:
    """Write a payment down: the first of `RECEIPT`, others like it; `state` brings what belongs to it."""
    state = changes.get("state", "delivered")
    further = _FURTHER["settled" if state == "delivered" else state]
    row = {**_ROW, **further, "receipt_id": receipt_id(number), "nonce": f"0x{number:064x}", **changes}
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO payments ({names}) VALUES ({marks})", list(row.values()))  # noqa: S608 - names of columns
